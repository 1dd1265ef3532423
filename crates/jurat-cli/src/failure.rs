//! Why a command cannot do what it was asked to, told in one place.

use std::io::{self, Write};

use jurat_engine::view::{ExplainError, ViewError};
use jurat_engine::{LaunchError, RunError};
use jurat_store::run::RunFileError;
use jurat_store::{DatabaseError, ProjectError};

use crate::drawing::DrawError;
use crate::exit::Exit;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// For this reason, with its remedy.
    Reason(String),
    /// Nobody reads any more, which is their right.
    NobodyReads,
}

/// What a command came to. A reason why it could not go on is told.
pub(crate) fn told(result: Result<Exit, Failure>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure::NobodyReads) => Exit::Good,
        Err(Failure::Reason(reason)) => {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&reason));
            Exit::Wrong
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Failure {
        Failure::Reason(reason)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Reason(format!("the output cannot be written: {error}")),
        }
    }
}

impl From<DrawError> for Failure {
    fn from(error: DrawError) -> Failure {
        match error {
            DrawError::View(error) => error.into(),
            DrawError::Output(error) => error.into(),
        }
    }
}

macro_rules! in_words {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::Reason(error.to_string())
            }
        })*
    };
}

in_words!(ViewError, ExplainError, LaunchError, RunError, RunFileError, DatabaseError, ProjectError);
