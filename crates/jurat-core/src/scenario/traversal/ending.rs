//! The end of a conversation: what happened is put together, and criteria are decided.

use std::collections::BTreeMap;

use jurat_format::value::{Map, Val};

use super::super::TurnFailure;
use super::super::execution::{End, Execution, Status};
use super::{Phase, Traversal, named};
use crate::effect::{Action, Outcome};
use crate::tool::why;

impl Traversal<'_> {
    pub(super) fn conclude_unclear(&mut self, failure: TurnFailure, fault: jurat_compare::Fault) {
        self.conclude(Status::Error, Some(failure));
        match &mut self.phase {
            Phase::Concluding { execution, .. } => execution.unclear = Some(fault),
            Phase::Done(end) => {
                if let End::Execution(execution) = &mut **end {
                    execution.unclear = Some(fault);
                }
            }
            _ => {}
        }
    }

    /// The conversation is over: criteria are decided.
    pub(super) fn conclude(&mut self, status: Status, failure: Option<TurnFailure>) {
        let mut final_state = self.after_turn();
        final_state.failure = None;
        let execution = Execution {
            scenario_id: self.scenario.scenario.name.clone(),
            status,
            path: std::mem::take(&mut self.path),
            history: std::mem::take(&mut self.history),
            final_state,
            outcome_results: Map::default(),
            outcome_errors: Map::default(),
            terminal_failure: failure.map(|it| (self.node().id.clone(), it)),
            replicate: self.replicate,
            unclear: None,
        };
        let evidence = execution.to_value();
        let calls =
            (0..).zip(&self.scenario.scenario.outcomes).filter(|(_, it)| it.check.is_none()).filter_map(|(ix, it)| {
                let callable = it.evaluate.as_ref()?;
                let arguments = Val::Map([("result", evidence.clone())].into_iter().collect::<Map<'_>>());
                Some((ix, Action::Call { name: named(callable, &it.name), arguments }))
            });
        let (calls, execution) = (calls.collect(), Box::new(execution));
        self.phase = Phase::Concluding { calls, execution, decided: BTreeMap::new() };
        self.after_decisions();
    }

    pub(super) fn decided(&mut self, criterion: u32, outcome: Outcome) {
        let Phase::Concluding { calls, decided, .. } = &mut self.phase else { return };
        if !calls.iter().any(|(it, _)| *it == criterion) {
            return;
        }
        calls.retain(|(it, _)| *it != criterion);
        let value = match outcome {
            Outcome::Returned(it) if !it.is_error => Ok(it.value),
            other => Err(why(&other)),
        };
        decided.insert(criterion, value);
        self.after_decisions();
    }

    pub(super) fn after_decisions(&mut self) {
        match std::mem::replace(&mut self.phase, Phase::Listing) {
            Phase::Concluding { mut execution, calls, decided } if calls.is_empty() => {
                execution.decide(&self.scenario.scenario.outcomes, decided);
                self.phase = Phase::Done(Box::new(End::Execution(execution)));
            }
            phase => self.phase = phase,
        }
    }
}
