//! Which request of a case this is.

use crate::plan::TaskIx;

/// Which request of a case this is. Together with the case, which names its subject and its replicate, it names an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepSite {
    /// Who asks.
    pub asker: Asker,
    /// Which of its judges: members of a panel in order, each as often as it is repeated. A subject has one seat.
    pub seat: u32,
    /// How often it was asked before with the problem stated, because its answer was not valid.
    pub turn: u32,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asker {
    /// The case itself asks its subject.
    Case,
    /// A task asks a judge.
    Task(TaskIx),
}

impl Asker {
    /// The task, when it is one.
    pub fn task(self) -> Option<TaskIx> {
        match self {
            Asker::Task(ix) => Some(ix),
            Asker::Case => None,
        }
    }
}
