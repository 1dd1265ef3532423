//! Agents: made ready before anything is asked, and run, each in a workspace of its own.
//!
//! How an agent is started and what its output means is the core's; the sandbox isolates programs, and the proxy passes on their requests to models. [`ready`] finds what
//! a run needs and what decides its result. [`turns`] is the one loop that takes a run from a fresh workspace to its artifact; a turn is performed by a [`program`], a
//! [`function`] of this program, or a model ([`probe`]). [`access`] is the proxy to the model and to servers with [`tools`], [`folders`] are the workspace and what is beside it, [`sandbox`] the sandbox,
//! and [`stored`] is what is left of it.

mod access;
mod folders;
mod function;
mod probe;
mod program;
mod ready;
mod sandbox;
mod secrets;
mod stored;
mod tools;
mod turns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_core::agent::{Agent, AgentCase, Performer};
use jurat_core::artifact::{self, RunArtifact};
use jurat_core::effect::{Fault, FaultKind, Outcome, Ran, Role};
use jurat_core::scenario::Function;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Map, Val, Value, parse_json};
use jurat_model::Toolbox;
use jurat_sandbox::jail::StopFlag;
use tokio::sync::Semaphore;

use crate::budget::Admitted;
use crate::models::Models;
use crate::perform;
use crate::tally::taken_by_run;
use crate::{Budget, Stop};

use function::FunctionTurns;
use probe::ModelTurns;
use program::ProgramTurns;
pub(crate) use ready::{AgentEnvironment, Obstacle, endpoint_value};
use turns::{Begun, Task};

/// The agents of a plan, ready to run.
#[derive(Debug)]
pub(crate) struct Agents {
    by_case: BTreeMap<String, Ready>,
    environment: AgentEnvironment,
    /// How many programs run at a time.
    programs: Semaphore,
    /// How many functions are called at a time: they mostly wait.
    calls: Semaphore,
}

impl Default for Agents {
    fn default() -> Agents {
        let (programs, calls) = (Semaphore::new(1), Semaphore::new(1));
        Agents { by_case: BTreeMap::new(), environment: AgentEnvironment::default(), programs, calls }
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
    /// What runs a case with a model, and with servers that have tools.
    pub(crate) fn performer(
        &self,
        case: &str,
        endpoint: Option<Value>,
        servers: &BTreeMap<String, perform::Performer<'static>>,
    ) -> Option<perform::Performer<'static>> {
        let ready = self.by_case.get(case)?;
        let mut digest = ready.digest.clone();
        digest.insert("endpoint".into(), endpoint.unwrap_or(Val::Null));
        let used = ready.case.agent.servers.iter().filter_map(|it| servers.get(it));
        let keys: Vec<Value> = used.clone().filter_map(|it| it.key.digest().cloned()).collect();
        if !keys.is_empty() {
            digest.insert("servers".into(), keys.into_iter().collect());
        }
        // What lies in a file is read sooner than it is looked up; a function is known by its name alone, and may be another one in the next
        // version of the program.
        // What tools returned is part of the run.
        let uses_shared = used.clone().all(|it| it.is_shared);
        let is_shared = !ready.case.agent.runner.is_recorded() && ready.function.is_none() && uses_shared;
        Some(perform::Performer::of_actions(Val::Map(digest), is_shared))
    }

    /// Runs a case. Dropping the future ends everything that it started.
    pub(crate) async fn run(
        &self,
        models: &Models,
        tools: &Toolbox,
        (case, request): (&str, Request),
        stop: &Stop,
    ) -> Outcome {
        let fault = |message: String| Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, message, 0)));
        let Some(ready) = self.by_case.get(case) else {
            return fault(format!("the run has no case `{case}`"));
        };
        let is_run = !ready.case.agent.runner.is_recorded();
        // What waits for others is not in flight.
        let turn = async {
            let permits = if ready.function.is_some() { &self.calls } else { &self.programs };
            let permit = permits.acquire().await;
            if is_run && !admitted(models.budget(), &ready.case.agent).await {
                return Err(StopReason::Budget);
            }
            Ok(permit)
        };
        let permit = tokio::select! {
            biased;
            reason = stop.closed() => Err(reason),
            permit = turn => permit,
        };
        let permit = match permit {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return fault("agents are not started any more".to_owned()),
            Err(reason) => return Outcome::NotRun(reason),
        };
        let started = std::time::Instant::now();
        let made = made(Task { environment: &self.environment, ready, models, tools, request: &request }).await;
        drop(permit);
        match made {
            Ok((artifact, document)) => {
                // Where the requests were not ours to count, what it says about them counts.
                if is_run && request.model.is_none() {
                    let (usage, cost_usd) = taken_by_run(&artifact);
                    models.budget().charge(usage, cost_usd);
                }
                let (latency, at_ms) = (started.elapsed(), crate::now_ms());
                Outcome::Ran(Box::new(Ran { artifact, document, latency, at_ms }))
            }
            Err(Halt::Fault(message)) => fault(message),
            Err(Halt::Stopped(reason)) => Outcome::NotRun(reason),
        }
    }
}

/// Why a run leaves no artifact.
#[derive(Debug)]
enum Halt {
    /// Something is wrong with jurat or the machine, in words.
    Fault(String),
    /// It was not to go on.
    Stopped(StopReason),
}

impl From<String> for Halt {
    fn from(message: String) -> Halt {
        Halt::Fault(message)
    }
}

impl From<&str> for Halt {
    fn from(message: &str) -> Halt {
        Halt::Fault(message.to_owned())
    }
}

/// Waits until the budget has room for what a run may take by its own limits, or returns that it never will.
async fn admitted(budget: &Budget, agent: &Agent) -> bool {
    let limits = &agent.limits;
    let calls = if agent.asks().is_some() { limits.requests.unwrap_or(1) } else { 0 };
    loop {
        let settled = budget.settled();
        match budget.admits(limits.tokens, limits.cost_usd, calls) {
            Admitted::Yes(()) => return true,
            Admitted::Wait => settled.await,
            Admitted::No => return false,
        }
    }
}

/// What a run is asked for, beside its case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The role of its model.
    pub(crate) model: Option<Role>,
    pub(crate) replicate: u32,
}

/// An artifact that was recorded, and its document.
pub(crate) fn recorded_artifact(path: &Path) -> Result<(RunArtifact, Value), String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
    let value = parse_json(&text).map_err(|error| format!("`{shown}` is not JSON: {error}"))?.value;
    match RunArtifact::read(&value) {
        Ok(artifact) => Ok((artifact, value.into_owned())),
        Err(problems) => Err(format!("`{shown}` is no run artifact: {}", artifact::listed(&problems))),
    }
}

/// The artifact of a run, and its document.
async fn made(task: Task<'_>) -> Result<(RunArtifact, Value), Halt> {
    let performer = &task.ready.case.agent.runner.performer;
    if let Performer::Recorded = performer {
        return Ok(recorded_artifact(task.case().artifact.as_deref().unwrap_or(Path::new("")))?);
    }
    let begun = Begun::new(task).await?;
    let folders = std::sync::Arc::clone(&begun.folders);
    let artifact = match performer {
        Performer::Program(_) | Performer::Command => begun.run(task, ProgramTurns::open(task, &folders)?).await?,
        Performer::Function => begun.run(task, FunctionTurns::open(task, &folders)?).await?,
        Performer::Model => begun.run(task, ModelTurns::open(task, &folders).await?).await?,
        Performer::Recorded => return Err("a recorded run is not run".into()),
    };
    // Dates and names that a program reports may be none.
    let document = artifact.to_value();
    let wrong = |problems: Vec<_>| format!("what was made of the run is no artifact: {}", artifact::listed(&problems));
    RunArtifact::read(&document).map_err(wrong)?;
    Ok((artifact, document))
}

/// Ends what runs when the future that waits for it is dropped.
struct EndsWhenDropped(StopFlag);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.insist();
    }
}

/// Where what agents leave is stored, in the directory of the project.
pub(crate) const AGENT_FILES: &str = "agents";

/// The directory that holds what is stored of a run, when it is one of ours.
pub(crate) fn directory_of(evidence: &Val<'_>, root: &Path) -> Option<PathBuf> {
    let name = evidence.get("runner_metadata")?.get("directory")?.as_str()?;
    let is_plain = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    is_plain.then(|| root.join(name))
}
