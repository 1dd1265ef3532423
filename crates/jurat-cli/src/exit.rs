//! What the exit codes mean. They are part of the interface: scripts read them.

use std::process::ExitCode;

use jurat_core::suite::Thresholds;
use jurat_core::verdict::Counts;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Good,
    /// Something counted failed, or a threshold was missed.
    Failed,
    /// The definition or the command is wrong.
    Wrong,
    /// Something could not be judged.
    Undecided,
    /// Nothing was selected, or nothing could be judged.
    Nothing,
}

pub(crate) const HELP: &str = "\
Exit codes:
  0  passed
  1  something failed, or a threshold was missed
  2  the definition or the command is wrong
  3  something could not be judged
  5  nothing was judged";

impl Exit {
    /// How a run ended. Thresholds, where there are any, decide what counts as a failure.
    pub(crate) fn of_run(counts: &Counts, is_undecided: bool, thresholds: &Thresholds, missed: &[String]) -> Exit {
        let has_thresholds = thresholds.pass_rate.is_some() || !thresholds.tasks.is_empty();
        let failed = if has_thresholds { !missed.is_empty() } else { counts.failed > 0 };
        match () {
            () if is_undecided => Exit::Undecided,
            () if failed => Exit::Failed,
            () if counts.passed + counts.failed == 0 => Exit::Nothing,
            () => Exit::Good,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Good => ExitCode::SUCCESS,
            Exit::Failed => ExitCode::from(1),
            Exit::Wrong => ExitCode::from(2),
            Exit::Undecided => ExitCode::from(3),
            Exit::Nothing => ExitCode::from(5),
        }
    }
}
