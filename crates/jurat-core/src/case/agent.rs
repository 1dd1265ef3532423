//! The run of an agent, as one request of its case.

use jurat_format::value::{Val, Value};

use super::Asked;
use crate::agent::AgentCase;
use crate::effect::{Action, Asker, Outcome, Role, Step, StepSite};
use crate::evidence::run;
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
            Outcome::Ran(ran) => Ok(run::evidence_of(ran.document)),
            Outcome::Fault(fault) => Err(Verdict::error(format!("the agent could not be run: {}", fault.message))),
            Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
            Outcome::Answer(_) | Outcome::Returned(_) => Err(Verdict::error("what answered is no agent")),
        });
    }

    /// The evidence of the run, or what its case ends with, once it is over.
    pub(super) fn take_end(&mut self) -> Option<Result<Value, Verdict>> {
        self.end.take()
    }
}

/// What an agent is asked to do for a case. `model` is the role of its model.
fn action(case: &AgentCase, model: Option<String>, replicate: u32) -> Action {
    let mut definition = case.to_value(None, replicate);
    if let (Val::Map(members), Some(model)) = (&mut definition, model) {
        members.insert("model".into(), Val::from(model));
    }
    Action::run(case.agent.runner.name.to_owned(), case.id.clone(), definition)
}
