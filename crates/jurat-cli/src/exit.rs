//! What the exit codes mean. They are part of the interface: scripts read them.

use jurat::Conclusion;
use jurat::gate::GateVerdict;

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
    /// A budget or a limit was reached.
    Limited,
    /// Nothing was selected, or nothing could be judged.
    Nothing,
    /// A gate has not enough data to decide.
    NotEnough,
    /// Ctrl-C.
    Interrupted,
}

pub(crate) const HELP: &str = "\
Exit codes:
  0    passed
  1    failed: a task failed, or a threshold was missed
  2    the definition or the command is wrong
  3    errors: some cases could not be judged
  4    a budget or a time limit was reached
  5    nothing was judged, no case was selected, or runs share no case
  6    a gate has not enough data to decide
  130  interrupted";

impl Exit {
    /// How a run ended.
    pub(crate) fn of_run(conclusion: Conclusion) -> Exit {
        match conclusion {
            Conclusion::Passed => Exit::Good,
            Conclusion::Failed => Exit::Failed,
            Conclusion::Undecided => Exit::Undecided,
            Conclusion::Limited => Exit::Limited,
            Conclusion::Nothing => Exit::Nothing,
            Conclusion::Interrupted => Exit::Interrupted,
        }
    }

    /// What a gate concluded.
    pub(crate) fn of_gate(verdict: GateVerdict) -> Exit {
        match verdict {
            GateVerdict::Pass => Exit::Good,
            GateVerdict::Fail => Exit::Failed,
            GateVerdict::Undecided => Exit::NotEnough,
        }
    }

    /// The worst of several, in the order in which `docs/reference/results.md` lists them.
    pub(crate) fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
        const WORST_FIRST: [Exit; 7] = [
            Exit::Wrong,
            Exit::Interrupted,
            Exit::Limited,
            Exit::Undecided,
            Exit::Failed,
            Exit::NotEnough,
            Exit::Nothing,
        ];
        let exits: Vec<Exit> = exits.into_iter().collect();
        WORST_FIRST.into_iter().find(|it| exits.contains(it)).unwrap_or(Exit::Good)
    }

    /// The number that the process ends with.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::Wrong => 2,
            Exit::Undecided => 3,
            Exit::Limited => 4,
            Exit::Nothing => 5,
            Exit::NotEnough => 6,
            Exit::Interrupted => 130,
        }
    }
}
