//! What runs code.

use std::sync::Arc;

use crate::returned::{Failure, Return};
use crate::{InForce, Pending, Signature, Source};

/// Runs code of authors.
///
/// Both functions return at once; what they return is awaited, or waited for.
pub trait CodeRunner: Send + Sync {
    /// Prepares code to be called: it is parsed, nothing of it is run.
    fn prepare(&self, source: Source) -> Pending<Result<Prepared, Refused>>;

    /// Calls code once for each of the arguments. There are as many results, in the same order, and none depends on another: a call that
    /// raises, takes too long or ends its process is an error of its own, and the calls after it are made all the same.
    fn call(&self, prepared: &Prepared, batch: Vec<Arguments>) -> Pending<Vec<Result<Return, Failure>>>;
}

/// The arguments of one call: a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments(String);

impl Arguments {
    /// Takes the text of a JSON object.
    ///
    /// # Errors
    /// When the text is something else.
    pub fn from_json(text: impl Into<String>) -> Result<Arguments, serde_json::Error> {
        let text = text.into();
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text)?;
        Ok(Arguments(text.trim_ascii().to_owned()))
    }

    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// Code that can be called.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) source: Arc<Source>,
    pub(crate) job: Arc<crate::orders::Job>,
    pub(crate) signature: Option<Signature>,
    pub(crate) in_force: InForce,
    pub(crate) interpreter: String,
}

impl Prepared {
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What its function takes, when that is known without running it.
    pub fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// What interprets it, as exactly as it is known: version, platform and the packages that it finds. Where two agree, the same code means the same.
    pub fn interpreter(&self) -> &str {
        &self.interpreter
    }

    /// The protections under which it runs.
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }
}

/// Why code is not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It does not parse.
    #[error("{message}{}", at(.line, .column))]
    Source {
        message: String,
        /// Where, from 1.
        line: Option<u32>,
        /// Where in the line, from 1.
        column: Option<u32>,
    },
    /// It has no such function.
    #[error("there is no function `{entry}` on the top level")]
    NoFunction {
        /// The function that was to be called.
        entry: String,
        functions: Vec<String>,
    },
    /// There is no such interpreter, or it does not start.
    #[error("{0}")]
    Interpreter(String),
    /// The system has no means to isolate the code.
    #[error("code of authors is not run here: {}; `--unsafe-code` runs it without that protection", .0.join("; "))]
    Unprotected(Vec<String>),
}

fn at(line: &Option<u32>, column: &Option<u32>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        (Some(line), None) => format!(" (line {line})"),
        _ => String::new(),
    }
}
