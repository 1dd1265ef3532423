//! What can go wrong, named for what the caller can do about it.

use jurat_engine::LaunchError;

use crate::Problems;

/// Why something could not be done.
///
/// ```
/// use jurat::{Assertion, Error, Suite, compare::equals};
///
/// let built = Suite::builder("support").task(Assertion::new("paid", "status", equals("paid"))).build();
/// let Err(Error::Suite(problems)) = built else { panic!("it has no records") };
/// assert_eq!(problems.codes().collect::<Vec<_>>(), ["plan::no_cases"]);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The definition is wrong: everything that is wrong with it, as `jurat check` prints it.
    #[error("{0}")]
    Suite(Problems),
    /// A value of the program is none that JSON can write.
    #[error("{what} cannot be written as JSON: {reason}")]
    Value {
        /// Which value.
        what: String,
        /// Why.
        reason: String,
    },
    /// What was asked for does not fit together, or is not there.
    #[error("{0}")]
    Usage(String),
    /// A model cannot be asked.
    #[error("{0}")]
    Model(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run ended before its end. What was asked and answered until then is kept: running again goes on with it.
    #[error("{0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A run, a recording or a value cannot be read.
    #[error("{0}")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A report cannot be written.
    #[error("{0}")]
    Write(#[source] std::io::Error),
}

/// Why a suite cannot be run, in the caller's terms.
pub(crate) fn launch_error(error: LaunchError) -> Error {
    match error {
        LaunchError::Model(error) => Error::Model(Box::new(error)),
        other => Error::Run(Box::new(other)),
    }
}
