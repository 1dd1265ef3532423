//! The run of an agent, as one request of its case.

use jurat_format::value::{Map, Val, Value};

use super::Asked;
use crate::agent::AgentCase;
use crate::effect::{Action, Asker, Outcome, Role, Step, StepSite};
use crate::verdict::Verdict;

const SITE: StepSite = StepSite { asker: Asker::Case, slot: 0, turn: 0 };

#[derive(Debug)]
pub(super) struct AgentRun {
    action: Action,
    end: Option<Result<Value, Verdict>>,
}

impl AgentRun {
    pub(super) fn start(case: &AgentCase, asked: Asked<'_>) -> AgentRun {
        let of_subject = || asked.model.to_string();
        let model = case.agent.asks().map(|it| if it == Role::SUBJECT.name() { of_subject() } else { it.to_owned() });
        AgentRun { action: action(case, model, asked.replicate), end: None }
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let request = self.action.clone().into();
        vec![Step { site: SITE, request, max_requests: 1, callable: None }]
    }

    pub(super) fn apply(&mut self, site: StepSite, outcome: Outcome) {
        if site != SITE {
            return;
        }
        self.end = Some(match outcome {
            Outcome::Returned(returned) => Ok(returned.value),
            Outcome::Fault(fault) => Err(Verdict::error(format!("the agent could not be run: {}", fault.message))),
            Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
            Outcome::Answer(_) => Err(Verdict::error("a model is no agent")),
        });
    }

    /// The artifact of the run, or what its case ends with, once it is over.
    pub(super) fn take_end(&mut self) -> Option<Result<Value, Verdict>> {
        self.end.take()
    }
}

/// What an agent is asked to do for a case. `model` is the role of its model.
fn action(case: &AgentCase, model: Option<String>, replicate: u32) -> Action {
    let mut definition = match case.to_value(None, replicate) {
        Val::Map(members) => members,
        _ => Map::default(),
    };
    if let Some(model) = model {
        definition.insert("model".into(), Val::from(model));
    }
    let runner = case.agent.runner.name.to_owned();
    Action::Run { runner, case: case.id.clone(), definition: Val::Map(definition) }
}
