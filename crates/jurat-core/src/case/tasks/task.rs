//! How far one task of a case has come.

use super::{Ready, ReadyRequest};
use crate::effect::{Action, Asker, StepSite, TASK_ATTACH};
use crate::evaluator::Evaluation;
use crate::judge::{Asking, TaskResult};
use crate::plan::TaskIx;
use crate::verdict::Verdict;

#[derive(Debug, Clone)]
pub(super) enum TaskState {
    /// It is not for this case.
    Absent,
    /// Something it depends on is not done.
    Waiting,
    /// Models are asked: its judges, or the model that gives its evaluator embeddings.
    Asking(Vec<Asking>),
    /// Files are read that its judges are sent.
    Attaching(Action),
    /// Something other than a model acts for it.
    Acting(Action),
    Done(TaskResult),
    /// It is done, with the result of each output of its evaluator.
    Evaluated(TaskResult, Vec<Evaluation>),
}

impl TaskState {
    pub(super) fn result(&self) -> Option<&TaskResult> {
        match self {
            TaskState::Done(result) | TaskState::Evaluated(result, _) => Some(result),
            TaskState::Absent
            | TaskState::Waiting
            | TaskState::Attaching(_)
            | TaskState::Asking(_)
            | TaskState::Acting(_) => None,
        }
    }

    /// Whether it waits for outcomes of requests.
    pub(super) fn is_asking(&self) -> bool {
        matches!(self, TaskState::Asking(_) | TaskState::Acting(_) | TaskState::Attaching(_))
    }

    pub(super) fn ended(verdict: Verdict) -> TaskState {
        TaskState::Done(TaskResult { verdict, output: None, said: Vec::new() })
    }

    pub(super) fn failed(reason: impl Into<String>) -> TaskState {
        TaskState::ended(Verdict::error(reason))
    }

    /// The requests that may be made for it now.
    pub(super) fn steps(&self, task: TaskIx) -> impl Iterator<Item = Ready<'_>> {
        let asker = Asker::Task(task);
        let slots = if let TaskState::Asking(slots) = self { slots.as_slice() } else { &[] };
        let action = match self {
            TaskState::Acting(action) => Some((action, 0)),
            TaskState::Attaching(action) => Some((action, TASK_ATTACH)),
            _ => None,
        };
        let asked = (0..).zip(slots).filter_map(move |(slot, asking)| {
            let (turn, request, max_requests) = asking.step()?;
            let site = StepSite { asker, slot, turn };
            Some(Ready { site, request: ReadyRequest::Model(request), max_requests })
        });
        asked.chain(action.map(move |(action, slot)| Ready {
            site: StepSite { asker, slot, turn: 0 },
            request: ReadyRequest::Action(action),
            max_requests: 1,
        }))
    }
}
