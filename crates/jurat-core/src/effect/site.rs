//! Which request of a case this is.

use crate::task_index::TaskIx;

/// Which request of a case this is. Together with the case, which names its subject and its replicate, it names an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepSite {
    pub asker: Asker,
    /// Which of its judges: members of a panel in order, each as often as it is repeated. A subject has one slot.
    pub slot: u32,
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
    /// A turn of a scenario; turns are counted from 0. Its slots are those of [`Slot`].
    Turn(u32),
}

/// Who is asked in a turn of a scenario, as the number of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The subject. `turn` of the site counts how often it was given results of tools.
    Subject,
    /// A tool; `turn` counts the calls of this turn.
    Tool,
    /// The model that reads the answer.
    Parser,
    /// Code that updates the state.
    Update,
    /// Code that says what is handed over to this turn.
    Handover,
    /// Code of an edge; `turn` is the place of the edge among those of the node.
    Edge,
    /// A server that is asked for its tools; `turn` is its place among the servers of the turn.
    Tools,
    /// Code that decides a criterion, after the last turn; `turn` is the place of the criterion.
    Outcome,
    /// Files that are read before they are sent.
    Attach,
    /// Code that transforms an answer before it is judged.
    Transform,
    /// A model that rates traits: one of the requests that the rubric takes.
    Rubric(u32),
}

impl Slot {
    /// The number of the slot, as it is stored.
    pub fn number(self) -> u32 {
        match self {
            Slot::Subject => 0,
            Slot::Tool => 1,
            Slot::Parser => 2,
            Slot::Update => 3,
            Slot::Handover => 4,
            Slot::Edge => 5,
            Slot::Tools => 6,
            Slot::Outcome => 7,
            Slot::Attach => 8,
            Slot::Transform => 9,
            Slot::Rubric(ix) => ix.saturating_add(16),
        }
    }

    /// The slot with this number.
    pub fn numbered(number: u32) -> Option<Slot> {
        Some(match number {
            0 => Slot::Subject,
            1 => Slot::Tool,
            2 => Slot::Parser,
            3 => Slot::Update,
            4 => Slot::Handover,
            5 => Slot::Edge,
            6 => Slot::Tools,
            7 => Slot::Outcome,
            8 => Slot::Attach,
            9 => Slot::Transform,
            other => Slot::Rubric(other.checked_sub(16)?),
        })
    }
}

/// The slot of a task that reads files before its judges are asked: none of its judges has it.
pub const TASK_ATTACH: u32 = 1 << 30;

impl Asker {
    /// The turn of a scenario, when it is one.
    pub fn turn(self) -> Option<u32> {
        match self {
            Asker::Turn(turn) => Some(turn),
            Asker::Case | Asker::Task(_) => None,
        }
    }

    /// The task, when it is one.
    pub fn task(self) -> Option<TaskIx> {
        match self {
            Asker::Task(ix) => Some(ix),
            Asker::Case | Asker::Turn(_) => None,
        }
    }
}
