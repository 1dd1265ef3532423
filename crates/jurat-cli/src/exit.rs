//! What the exit codes mean. They are part of the interface: scripts read them.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Good,
    /// The definition or the command is wrong.
    Wrong,
}

pub(crate) const HELP: &str = "Exit codes: 0 all is well, 2 the definition or the command is wrong.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Good => ExitCode::SUCCESS,
            Exit::Wrong => ExitCode::from(2),
        }
    }
}
