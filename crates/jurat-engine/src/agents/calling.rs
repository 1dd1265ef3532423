//! A function of this program, called turn by turn. No walls are around it: it is as trusted as the program that gives it.

use std::time::Instant;

use jurat_core::agent::{
    AgentRun, Ending, FunctionReturn, Kept, Limit, Places, Told, TurnInput, TurnRun, asked_of_function,
    returned_by_function,
};
use jurat_core::artifact::{self, OutputArtifact, RunArtifact};
use jurat_core::effect::Outcome;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Map, Val, Value};
use jurat_model::proxy::{Listen, Proxy, Spent};

use super::folders::Folders;
use super::running::{Way, exchanges, is_untouched, model_at, prepared, shown, uuid, wire_lines};
use super::secrets::Secrets;
use super::{Halt, Ready, Request, Surroundings, artifact_of};
use crate::Models;
use crate::host_function::call_apart;

/// Where it runs, in one word.
const PLACE: &str = "program";

/// Runs a case and makes its artifact. What the function raises is told as it is: it says nothing about the agent.
pub(super) async fn run(
    surroundings: &Surroundings,
    ready: &Ready,
    models: &Models,
    request: &Request,
) -> Result<Value, Halt> {
    let case = &*ready.case;
    let function = ready.function.as_ref().ok_or("there is no function here")?;
    let (began, began_ms) = (Instant::now(), crate::now_ms());
    let seed = format!("{} {} {}", surroundings.suite, case.id, request.replicate);
    let folders = Folders::make(&seed).map_err(|error| format!("its folders cannot be made: {error}"))?;
    let before = prepared(case, &folders)?;
    let role = request.model.as_deref();
    let played = match role {
        None => None,
        Some(role) => {
            let model = models.model(role).ok_or_else(|| format!("nobody plays `{role}`"))?;
            Some((models.name(role).unwrap_or_else(|| role.to_owned()), model))
        }
    };
    let upstream = played.as_ref().map(|(_, model)| model);
    let (role, proxies, budget) = (role.unwrap_or_default(), models.proxies(), models.shared_budget());
    // A function cannot be ended; what it asks is refused.
    let way = Way { case, model: upstream, role, proxies, budget, on_spent: None };
    let proxy = way.open(&Listen::Loopback)?;
    let port = proxy.as_ref().and_then(Proxy::port);
    let model = upstream.zip(port).map(|(model, port)| {
        let key = proxy.as_ref().and_then(Proxy::key);
        model_at(model, None, port, key)
    });
    let places = Places { workspace: shown(&folders.workspace), home: shown(&folders.home), tmp: shown(&folders.tmp) };
    let mut run = AgentRun {
        case,
        run_id: folders.name.clone(),
        suite: &surroundings.suite,
        model: played.as_ref().map(|(name, _)| (name.as_str(), model.as_ref())),
        turns: Vec::new(),
        exchanges: None,
        kept: Kept::default(),
        began_ms,
        ended_ms: began_ms,
        place: PLACE,
        enforced: Vec::new(),
        program: None,
        replicate: request.replicate,
    };
    let mut session = uuid(&folders.name);
    let mut whole = None;
    for turn in 0..case.turns.len() {
        let (message, started) = (case.message(turn), Instant::now());
        let input = TurnInput {
            agent: &case.agent,
            program: "",
            places: &places,
            turn,
            n_turns: case.turns.len(),
            message: &message,
            system: case.system.as_deref(),
            session: &session,
        };
        let asked = asked_of_function(&case.id, &input, model.as_ref());
        let left = case.agent.limits.time.saturating_sub(began.elapsed());
        let called = tokio::time::timeout(left, call_apart(function, &asked)).await;
        let is_spent = proxy.as_ref().and_then(Proxy::spent) == Some(Spent::Budget);
        let (told, ending) = match called {
            // What it does or raises without its model says nothing about what it would have done with it.
            _ if is_spent => (Told::default(), Ending::Limited(Limit::Budget)),
            Err(_) => (Told::default(), Ending::Limited(Limit::Time)),
            Ok(outcome) => match returned_by_function(returned(outcome)?)? {
                FunctionReturn::Told(told) => (*told, Ending::Exited(0)),
                FunctionReturn::Artifact(_) if case.turns.len() > 1 => {
                    let n = case.turns.len();
                    let turn = turn + 1;
                    return Err(Halt::Fault(format!(
                        "it returned the artifact of a whole run in turn {turn} of {n}; where there are several turns, return events"
                    )));
                }
                FunctionReturn::Artifact(artifact) => {
                    whole = Some(artifact);
                    (Told::default(), Ending::Exited(0))
                }
            },
        };
        session = told.session.clone().unwrap_or(session);
        let is_over = told.fault.is_some() || ending != Ending::Exited(0);
        run.turns.push(TurnRun { message, told, ending, stderr: String::new(), took: started.elapsed() });
        if is_over {
            break;
        }
    }
    let mut logs = Vec::new();
    if let Some(proxy) = proxy {
        // The proxy ends when its last exchange does, and others go on meanwhile.
        let record = tokio::task::spawn_blocking(move || proxy.finish()).await;
        let record = record.map_err(|_| "what it asked its model is not known".to_owned())?;
        if is_untouched(&record) {
            return Err(Halt::Stopped(StopReason::Budget));
        }
        let wire = folders.log(case.agent.runner.name, "wire", "exchanges.jsonl", &wire_lines(&record));
        logs.extend(wire.map_err(|error| format!("what it asked its model cannot be kept: {error}"))?);
        run.exchanges = Some(exchanges(&record));
    }
    let kept = folders.keep(&surroundings.kept, case, &before, logs, (&places.workspace, &Secrets::default()));
    run.kept = kept.map_err(|error| format!("its workspace cannot be looked at: {error}"))?;
    run.ended_ms = crate::now_ms().max(began_ms);
    Ok(match whole {
        Some(artifact) => completed(artifact, &mut run)?,
        None => artifact_of(&mut run)?,
    })
}

fn returned(outcome: Outcome) -> Result<Value, String> {
    match outcome {
        Outcome::Returned(returned) if returned.is_error => {
            Err(returned.value.as_str().map_or_else(|| returned.value.to_json(), str::to_owned))
        }
        Outcome::Returned(returned) => Ok(returned.value),
        Outcome::Fault(fault) => Err(fault.message),
        Outcome::Answer(_) | Outcome::NotRun(_) => Err("it was not called".to_owned()),
    }
}

/// An artifact that a function made, with what only the program around it knows: what became of the workspace, and what is kept of it.
fn completed(artifact: Value, run: &mut AgentRun<'_>) -> Result<Value, String> {
    let Val::Map(mut members) = artifact else { return Err("an artifact is an object".to_owned()) };
    let ours = run.artifact().to_value();
    let mut metadata = match members.get("runner_metadata") {
        Some(Val::Map(metadata)) => metadata.clone(),
        _ => Map::default(),
    };
    for (key, value) in ours.get("runner_metadata").and_then(Val::as_map).into_iter().flat_map(Map::iter) {
        if metadata.get(key).is_none() {
            metadata.insert(key.to_owned().into(), value.clone());
        }
    }
    members.insert("runner_metadata".into(), Val::Map(metadata));
    // What it made without its endpoint says nothing about what it would have made with it.
    if run.exchanges.as_ref().is_some_and(|it| it.failed.is_some()) {
        for key in ["status", "error"] {
            members.insert(key.into(), ours.get(key).cloned().unwrap_or(Val::Null));
        }
    }
    let mut outputs = members.get("output_artifacts").and_then(Val::as_list).map(<[_]>::to_vec).unwrap_or_default();
    outputs.extend(run.kept.outputs.iter().map(OutputArtifact::to_value));
    members.insert("output_artifacts".into(), Val::List(outputs));
    let artifact = Val::Map(members);
    match RunArtifact::read(&artifact) {
        Ok(_) => Ok(artifact),
        Err(problems) => Err(format!("what was made of the run is no artifact: {}", artifact::listed(&problems))),
    }
}
