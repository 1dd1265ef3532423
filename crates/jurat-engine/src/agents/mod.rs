//! Agents: made ready before anything is asked, and run, each in a place of its own.
//!
//! What an agent is told and what its output means is the core's; walls around programs are the sandbox's, the way to models the proxy's. Here a run goes from a fresh
//! workspace to its artifact: [`ready`] finds what is needed and what decides the result, [`running`] starts programs turn by turn, [`probing`] asks a model itself,
//! [`calling`] calls functions of this program, [`kept`] keeps what is left.

mod calling;
mod kept;
mod probing;
mod ready;
mod running;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jurat_core::agent::{AgentCase, AgentRun, Runner};
use jurat_core::artifact::{self, RunArtifact};
use jurat_core::effect::{Deed, Fault, FaultKind, Outcome, Printed, Returned};
use jurat_core::scenario::Function;
use jurat_core::value::{Map, Val, Value, parse_json};
use jurat_model::Toolbox;
use jurat_sandbox::jail::StopFlag;
use tokio::sync::Semaphore;

use crate::Models;
use crate::perform::Doer;

pub use ready::AgentError;
pub(crate) use ready::{Surroundings, check_wire, endpoint_value};

/// The agents of a plan, ready to run.
#[derive(Debug)]
pub(crate) struct Agents {
    by_case: BTreeMap<String, Ready>,
    surroundings: Surroundings,
    /// How many run at a time.
    permits: Semaphore,
}

impl Default for Agents {
    fn default() -> Agents {
        Agents { by_case: BTreeMap::new(), surroundings: Surroundings::default(), permits: Semaphore::new(1) }
    }
}

/// A case with everything that was found out about who runs it.
#[derive(Debug)]
struct Ready {
    case: Arc<AgentCase>,
    program: Option<jurat_host::program::FoundProgram>,
    /// The function that runs it.
    function: Option<Function>,
    /// What decides the result beside the definition of the case, without the model.
    digest: Map<'static>,
    /// The variables that are passed on, with their values.
    secrets: Vec<(String, String)>,
}

impl Agents {
    /// Who runs a case with a model.
    pub(crate) fn doer(&self, case: &str, endpoint: Option<Value>) -> Option<Doer> {
        let ready = self.by_case.get(case)?;
        let mut digest = ready.digest.clone();
        digest.insert("endpoint".into(), endpoint.unwrap_or(Val::Null));
        // A function is known by its name alone, and may be another one in the next version of the program.
        Some(Doer { digest: Val::Map(digest), is_reusable: ready.function.is_none() })
    }

    /// Runs a case. Dropping the future ends everything that it started.
    pub(crate) async fn run(&self, models: &Models, tools: &Toolbox, case: &str, definition: &Value) -> Outcome {
        let fault = |message: String| Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, message, 1)));
        let Some(ready) = self.by_case.get(case) else {
            return fault(format!("there is nobody here who runs `{case}`"));
        };
        // Functions are calls of this program: only as many cases are open as it is asked for at a time.
        let permit = match ready.function {
            Some(_) => None,
            None => match self.permits.acquire().await {
                Ok(permit) => Some(permit),
                Err(_) => return fault("no agent is run any more".to_owned()),
            },
        };
        let started = std::time::Instant::now();
        let asked = Request::of(definition);
        let made = match ready.case.agent.runner {
            Runner::Recorded => recorded(&ready.case),
            Runner::Call => calling::run(&self.surroundings, ready, models, &asked).await,
            Runner::LlmProbe => probing::run(&self.surroundings, ready, models, tools, &asked).await,
            _ => running::run(&self.surroundings, ready, models, &asked).await,
        };
        drop(permit);
        match made {
            Ok(value) => {
                let is_error = value.get("status").and_then(Val::as_str) != Some("success");
                let (latency, at_ms) = (started.elapsed(), crate::now_ms());
                Outcome::Returned(Box::new(Returned { value, is_error, printed: Printed::default(), latency, at_ms }))
            }
            Err(message) => fault(message),
        }
    }
}

/// What a run is asked for, beside its case.
#[derive(Debug, Clone)]
struct Request {
    /// The role that plays the model.
    model: Option<String>,
    replicate: u32,
}

impl Request {
    fn of(definition: &Value) -> Request {
        let replicate = match definition.get("replicate") {
            Some(Val::I(number)) => u32::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        Request { model: definition.get("model").and_then(Val::as_str).map(str::to_owned), replicate }
    }
}

/// What an agent is asked to do for a case, as an effect. `model` is the role that plays its model.
pub(crate) fn deed(case: &AgentCase, model: Option<&str>, replicate: u32) -> Deed {
    let mut definition = match case.to_value(None, replicate) {
        Val::Map(members) => members,
        _ => Map::default(),
    };
    if let Some(model) = model {
        definition.insert("model".into(), Val::from(model.to_owned()));
    }
    let runner = case.agent.runner.name().to_owned();
    Deed::Run { runner, case: case.id.clone(), definition: Val::Map(definition) }
}

/// Whether a run may stand for others: only one that succeeded does.
pub(crate) fn may_stand(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Returned(it) if it.value.get("status").and_then(Val::as_str) == Some("success"))
}

/// An artifact that was recorded.
fn recorded(case: &AgentCase) -> Result<Value, String> {
    let path = case.artifact.clone().unwrap_or_default();
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
    let value = parse_json(&text).map_err(|error| format!("`{shown}` is not JSON: {error}"))?.value;
    match RunArtifact::read(&value) {
        Ok(_) => Ok(value.into_owned()),
        Err(problems) => Err(format!("`{shown}` is no run artifact: {}", artifact::listed(&problems))),
    }
}

/// The artifact of a run, as a document.
fn artifact_of(run: &AgentRun<'_>) -> Result<Value, String> {
    let value = run.artifact().to_value();
    match RunArtifact::read(&value) {
        Ok(_) => Ok(value),
        Err(problems) => Err(format!("what was made of the run is no artifact: {}", artifact::listed(&problems))),
    }
}

/// Ends what runs when nobody waits for it any more.
struct EndsWhenDropped(StopFlag);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// The directory that holds what a run kept, when it is one of ours.
pub(crate) fn directory_of(evidence: &Val<'_>, root: &std::path::Path) -> Option<PathBuf> {
    let name = evidence.get("runner_metadata")?.get("directory")?.as_str()?;
    let is_plain = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    is_plain.then(|| root.join(name))
}
