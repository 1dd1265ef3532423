//! `call`: a function of the program that runs the suite. It is given its task as an object, and returns what happened: its final message, events
//! as those of [`super`]'s `command`, or the artifact of the whole run.

use jurat_format::value::{Val, Value, shown};

use super::command::{self, Events};
use super::launch::{ModelAt, TurnInput};
use super::runner::{Performer, Runner};
use super::turn_report::TurnReport;
use crate::artifact::{self, RunArtifact};

pub(super) static RUNNER: Runner = Runner {
    name: "call",
    performer: Performer::Function,
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: None,
    keys: &["call"],
};

#[derive(Debug, Clone, PartialEq)]
pub enum FunctionReturn {
    /// What happened in this turn.
    Report(Box<TurnReport>),
    /// The artifact of the whole run.
    Artifact(Box<RunArtifact>),
}

/// The input of a function in a turn of a case.
pub fn asked_of_function(case: &str, input: &TurnInput<'_>, model: Option<&ModelAt>) -> Value {
    let mut asked = command::asked(input, model);
    if let Val::Map(members) = &mut asked {
        members.insert("case".into(), Val::from(case.to_owned()));
    }
    asked
}

/// What the value that a function returned says; or why it says nothing, in words.
pub fn returned_by_function(value: Value) -> Result<FunctionReturn, String> {
    let report = |report: TurnReport| Ok(FunctionReturn::Report(Box::new(report)));
    match &value {
        Val::Null => report(TurnReport::default()),
        Val::Str(text) => report(command::read_text(text)),
        Val::List(items) => {
            let mut events = Events::default();
            for event in items {
                if event.as_map().is_none() {
                    return Err(format!("an event is an object with a `type`, not {}", shown(event)));
                }
                events.take(event);
            }
            report(events.finish())
        }
        Val::Map(members) if members.get("identity").is_some() || members.get("trace").is_some() => {
            match RunArtifact::read(&value) {
                Ok(artifact) => Ok(FunctionReturn::Artifact(Box::new(artifact))),
                Err(problems) => Err(format!("what it returned is no run artifact: {}", artifact::listed(&problems))),
            }
        }
        other => Err(format!(
            "it may return its final message as text, a list of events, or a run artifact, not {}",
            shown(other)
        )),
    }
}
