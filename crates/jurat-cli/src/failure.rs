//! Why a command cannot do what it was asked to, printed in one place.

use std::io::{self, Write};

use jurat::Problems;
use jurat::view::{ExplainError, ViewError};
use jurat_format::problem::{Problem, Severity};

use crate::exit::Exit;
use crate::format::style;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// For this reason, with its remedy.
    Reason(String),
    /// The problems of a suite, which were printed.
    Printed,
    /// The reader of the output went away.
    OutputClosed,
}

/// How a command ended. The reason of a failure is printed.
pub(crate) fn exit(result: Result<Exit, Failure>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure::OutputClosed) => Exit::Good,
        Err(Failure::Printed) => Exit::Wrong,
        Err(Failure::Reason(reason)) => {
            print_reason(&reason);
            Exit::Wrong
        }
    }
}

/// Prints why something cannot be done.
pub(crate) fn print_reason(reason: &str) {
    let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(reason));
}

/// Writes what is wrong with a definition, without what only a run refuses.
pub(crate) fn print_problems(problems: &Problems) -> io::Result<()> {
    let found: Vec<Problem> = without_notes(problems);
    if found.is_empty() {
        return Ok(());
    }
    let mut out = io::stderr().lock();
    let style = style(&out);
    jurat_report::write_problems(&mut out, &found, problems.sources(), style)?;
    jurat_report::write_summary(&mut out, &found, style)?;
    out.flush()
}

/// The errors and warnings.
pub(crate) fn without_notes(problems: &Problems) -> Vec<Problem> {
    problems.as_slice().iter().filter(|it| it.severity() != Severity::Note).cloned().collect()
}

/// Why a command that compares has nothing to say.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// There is nothing to compare.
    Nothing(String),
    Failure(Failure),
}

/// How such a command ended: having nothing to compare has an exit code of its own.
pub(crate) fn exit_unless_nothing(result: Result<Exit, Stopped>) -> Exit {
    match result {
        Ok(code) => code,
        Err(Stopped::Failure(failure)) => exit(Err(failure)),
        Err(Stopped::Nothing(reason)) => {
            print_reason(&reason);
            Exit::Nothing
        }
    }
}

impl From<jurat::Error> for Stopped {
    fn from(error: jurat::Error) -> Stopped {
        match error {
            jurat::Error::Nothing(reason) => Stopped::Nothing(reason),
            error => Stopped::Failure(error.into()),
        }
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failure(failure)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Failure(error.into())
    }
}

impl From<String> for Stopped {
    fn from(reason: String) -> Stopped {
        Stopped::Failure(reason.into())
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
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Reason(format!("the output cannot be written: {error}")),
        }
    }
}

impl From<jurat::Error> for Failure {
    fn from(error: jurat::Error) -> Failure {
        if let Some(problems) = error.problems() {
            return print_problems(problems).map_or_else(Failure::from, |()| Failure::Printed);
        }
        match error {
            jurat::Error::Write(error) => error.into(),
            error => Failure::Reason(error.to_string()),
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

in_words!(ViewError, ExplainError);
