//! What can go wrong, named for what the caller can do about it.

use jurat_engine::{LaunchError, RunError};
use jurat_format::codes;
use jurat_format::problem::Code;
use jurat_format::source::Sources;

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
    /// There is nothing to look at: runs that share no case cannot be compared.
    #[error("{0}")]
    Nothing(String),
    /// A model cannot be asked.
    #[error("{0}")]
    Model(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run ended before its end. Requests and responses until then are stored: running again resumes it.
    #[error("{0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A run, a recording or a value cannot be read.
    #[error("{0}")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A report cannot be written.
    #[error("{0}")]
    Write(#[source] std::io::Error),
}

impl Error {
    /// The problems of the suite that are the reason, with their places.
    pub fn problems(&self) -> Option<&Problems> {
        match self {
            Error::Suite(problems) => Some(problems),
            Error::Model(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Whether two rows have the same id, which is a mistake in the data rather than in the run.
    pub fn is_duplicate_id(&self) -> bool {
        let Error::Run(error) = self else { return false };
        matches!(error.downcast_ref(), Some(LaunchError::Run(RunError::Duplicate(_) | RunError::Duplicates(_))))
    }
}

/// The problems that are about models.
static OF_MODELS: [&Code; 8] = [
    &codes::BAD_MODEL,
    &codes::BAD_SCRIPT,
    &codes::MISSING_FUNCTION,
    &codes::NO_MODEL,
    &codes::NO_SCRIPT,
    &codes::SEVERAL_MODELS,
    &codes::UNKNOWN_PROVIDER,
    &codes::UNSET_VARIABLE,
];

/// Why a suite cannot be run, in the caller's terms.
pub(crate) fn launch_error(error: LaunchError, sources: &Sources) -> Error {
    match error {
        LaunchError::Unready(found) => {
            let is_of_models = found.iter().all(|it| OF_MODELS.iter().any(|code| it.code.name == code.name));
            let problems = Problems::new(found, sources.clone());
            if is_of_models { Error::Model(Box::new(problems)) } else { Error::Suite(problems) }
        }
        LaunchError::Model(error) => Error::Model(Box::new(error)),
        LaunchError::Filter(_) | LaunchError::Stop(_) | LaunchError::Share(_) => Error::Usage(error.to_string()),
        LaunchError::Rerun(error) => Error::Read(Box::new(error)),
        LaunchError::Recording(error) => Error::Read(Box::new(error)),
        other => Error::Run(Box::new(other)),
    }
}
