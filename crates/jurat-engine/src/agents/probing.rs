//! A model with tools, asked by jurat itself. Its tools work in the workspace of the run, each behind walls of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jurat_core::agent::{
    Agent, AgentRun, Ending, Exchanges, Kept, Limit, Probe, ProbeStep, ProbeTool, SHELL_SECONDS, TurnRun,
    plain_relative_path,
};
use jurat_core::artifact::RunUsage;
use jurat_core::effect::{ModelRequest, Outcome, Printed, Returned};
use jurat_core::tool::{Listing, Offer};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Val, Value};
use jurat_host::program::SYSTEM_PATH;
use jurat_model::Toolbox;
use jurat_sandbox::jail;

use super::folders::Folders;
use super::running::prepared;
use super::secrets::Secrets;
use super::walls::walls;
use super::{EndsWhenDropped, Halt, Ready, Request, Surroundings, artifact_of};
use crate::perform::{Perform, Question};
use crate::{Models, Stop};

/// How much of what a tool printed the model is shown.
const MOST_SHOWN: usize = 64 << 10;

/// How often a request may be tried.
const MAX_REQUESTS: u32 = 4;

/// Runs a case and makes its artifact.
pub(super) async fn run(
    surroundings: &Surroundings,
    ready: &Ready,
    models: &Models,
    tools: &Toolbox,
    request: &Request,
) -> Result<Value, Halt> {
    let case = &*ready.case;
    let role = request.model.as_deref().ok_or("a probe needs a model")?;
    let (began, began_ms) = (Instant::now(), crate::now_ms());
    let seed = format!("{} {} {}", surroundings.suite, case.id, request.replicate);
    let folders = Folders::make(&seed).map_err(|error| format!("its folders cannot be made: {error}"))?;
    let before = prepared(case, &folders)?;
    let worker = surroundings.worker.clone().ok_or("there is no worker here")?;
    // Its model is asked by jurat, so commands need no network.
    let mut walls = walls(&case.agent, &folders, worker, surroundings.is_on_host);
    walls.limits.wall = Duration::from_secs(SHELL_SECONDS).min(case.agent.limits.time);
    let place = Place { walls, flag: jail::StopFlag::new() };
    let _ends = EndsWhenDropped(place.flag.clone());
    let offers = offers(tools, &case.agent, case.agent.limits.time).await?;
    let mut probe = Probe::new(case, role, request.replicate, offers);
    let (mut turns, mut n_requests) = (Vec::new(), 0);
    for turn in 0..case.turns.len() {
        let (message, started) = (case.message(turn), Instant::now());
        probe.begin(message.clone());
        let left = case.agent.limits.time.saturating_sub(began.elapsed());
        let talk = talk(&mut probe, models, tools, &place, (&case.id, &mut n_requests));
        let ending = match tokio::time::timeout(left, talk).await {
            Ok(Ok(())) => Ending::Exited(0),
            // What was spent before is told.
            Ok(Err(Halt::Stopped(StopReason::Budget))) if turn > 0 || probe.told().usage != RunUsage::default() => {
                Ending::Limited(Limit::Budget)
            }
            Ok(Err(halt)) => return Err(halt),
            Err(_) => Ending::Limited(Limit::Time),
        };
        let told = probe.told().clone();
        let is_over = told.fault.is_some() || ending != Ending::Exited(0);
        turns.push(TurnRun { message, told, ending, stderr: String::new(), took: started.elapsed() });
        if is_over {
            break;
        }
    }
    let seen = place.walls.seen().workspace.to_string_lossy().into_owned();
    let kept = folders
        .keep(&surroundings.kept, case, &before, Vec::new(), (&seen, &Secrets::default()))
        .map_err(|error| format!("its workspace cannot be looked at: {error}"))?;
    let name = models.name(role).unwrap_or_else(|| role.to_owned());
    let mut run = AgentRun {
        case,
        run_id: folders.name.clone(),
        suite: &surroundings.suite,
        model: Some((&name, None)),
        turns,
        exchanges: Some(Exchanges { n_requests, ..Exchanges::default() }),
        kept: Kept { directory: folders.name.clone(), ..kept },
        began_ms,
        ended_ms: crate::now_ms().max(began_ms),
        place: place.walls.isolation.name(),
        enforced: Vec::new(),
        program: None,
        replicate: request.replicate,
    };
    Ok(artifact_of(&mut run)?)
}

/// The tools of servers, under the names that the model knows them by.
async fn offers(tools: &Toolbox, agent: &Agent, patience: Duration) -> Result<Vec<Offer>, String> {
    let mut listing = Listing::default();
    listing.need(&agent.servers);
    for (ix, server) in (0..).zip(&agent.servers) {
        listing.apply(ix, &tools.list(server, patience).await);
    }
    listing.failure().map_or_else(|| Ok(listing.offers(&agent.tool_filter)), Err)
}

/// Asks and calls until the turn is over, and counts the requests to the model.
async fn talk(
    probe: &mut Probe<'_>,
    models: &Models,
    tools: &Toolbox,
    place: &Place,
    (case, n_requests): (&str, &mut u64),
) -> Result<(), Halt> {
    loop {
        let outcome = match probe.step() {
            ProbeStep::Done => return Ok(()),
            ProbeStep::Ask(request) => {
                let outcome = asked(models, &request, case).await;
                *n_requests += match &outcome {
                    Outcome::NotRun(reason) => return Err(Halt::Stopped(*reason)),
                    Outcome::Returned(_) => return Err("the subject is no model".into()),
                    Outcome::Answer(answer) => u64::from(answer.n_requests),
                    Outcome::Fault(fault) => u64::from(fault.n_requests),
                };
                outcome
            }
            ProbeStep::Use(tool, arguments) => {
                let (text, is_error) = place.used(tool, &arguments).await;
                returned(text, is_error)
            }
            ProbeStep::Call { server, tool, arguments } => {
                match tools.call(&server, &tool, &arguments, Duration::from_secs(600)).await {
                    Outcome::Returned(it) => {
                        let text = it.value.get("text").and_then(Val::as_str).map(str::to_owned);
                        returned(cut(text.unwrap_or_else(|| it.value.to_json())), it.is_error)
                    }
                    outcome => outcome,
                }
            }
        };
        probe.apply(outcome);
    }
}

/// What a tool came to, as the model is told it.
fn returned(text: String, is_error: bool) -> Outcome {
    let (value, printed) = (Val::from(text), Printed::default());
    Outcome::Returned(Box::new(Returned { value, is_error, printed, latency: Duration::ZERO, at_ms: crate::now_ms() }))
}

async fn asked(models: &Models, request: &ModelRequest, case: &str) -> Outcome {
    let stop = Stop::new();
    let question = Question {
        case,
        task: "",
        turn: None,
        priority: 0,
        request,
        max_requests: MAX_REQUESTS,
        stop: &stop,
        sent: &|| (),
    };
    models.perform(question).await
}

/// Where tools work.
struct Place {
    walls: jail::Walls,
    flag: jail::StopFlag,
}

impl Place {
    /// Uses a tool: what it came to in words, and whether that is an error.
    async fn used(&self, tool: ProbeTool, arguments: &Value) -> (String, bool) {
        let text = |key: &str| arguments.get(key).and_then(Val::as_str).map(str::to_owned);
        let path = || {
            let path = text("path").ok_or_else(|| "`path` is missing".to_owned())?;
            plain_relative_path(&path).ok_or_else(|| format!("`{path}` leads out of the workspace"))
        };
        let ran = match tool {
            ProbeTool::ExecShell => match text("command") {
                Some(command) => self.ran(&["/bin/bash", "-c", &command], Vec::new()).await,
                None => Err("`command` is missing".to_owned()),
            },
            ProbeTool::ReadFile => match path() {
                Ok(path) => self.ran(&["/bin/cat", "--", &path], Vec::new()).await,
                Err(why) => Err(why),
            },
            ProbeTool::WriteFile => match (path(), text("content")) {
                (Ok(path), Some(content)) => {
                    let script = "mkdir -p -- \"$(dirname -- \"$1\")\" && cat > \"$1\"";
                    self.ran(&["/bin/sh", "-c", script, "sh", &path], content.into_bytes()).await
                }
                (Err(why), _) => Err(why),
                (_, None) => Err("`content` is missing".to_owned()),
            },
        };
        match ran {
            Ok((text, jail::Exit::Code(0))) => (text, false),
            Ok((text, exit)) => (format!("{text}\nthe command {exit}").trim_start().to_owned(), true),
            Err(why) => (why, true),
        }
    }

    async fn ran(&self, argv: &[&str], stdin: Vec<u8>) -> Result<(String, jail::Exit), String> {
        let seen = self.walls.seen();
        let env = [
            ("PATH", Path::new(SYSTEM_PATH)),
            ("HOME", seen.home.as_path()),
            ("TMPDIR", seen.tmp.as_path()),
            ("LANG", Path::new("C.UTF-8")),
        ];
        let env: BTreeMap<_, _> = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let argv = argv.iter().map(|it| (*it).into()).collect();
        let program = jail::Program { argv, env, stdin, work_dir: seen.workspace };
        let (walls, flag) = (self.walls.clone(), self.flag.clone());
        let run = move || {
            let printed = Arc::new(std::sync::Mutex::new(Vec::new()));
            let take = |printed: &Arc<std::sync::Mutex<Vec<u8>>>| {
                let printed = Arc::clone(printed);
                move |bytes: &[u8]| {
                    printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(bytes);
                }
            };
            let ended = jail::run(&program, &walls, &mut take(&printed), &mut take(&printed), &flag);
            let printed = printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let text = cut(String::from_utf8_lossy(&printed).into_owned());
            ended.map(|it| (text, it.exit)).map_err(|error| error.to_string())
        };
        tokio::task::spawn_blocking(run).await.unwrap_or_else(|_| Err("the tool could not be used".to_owned()))
    }
}

/// What is shown of a text, with a word about the rest.
fn cut(text: String) -> String {
    if text.len() <= MOST_SHOWN {
        return text;
    }
    let mut end = MOST_SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n… {} more bytes", &text[..end], text.len() - end)
}
