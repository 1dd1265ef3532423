//! A model with tools, asked by jurat itself. Its tools work in the workspace of the run, each in a sandbox of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::agent::{
    Agent, Ending, Exchanges, Limit, Probe, ProbeStep, ProbeTool, SHELL_SECONDS, plain_relative_path,
};
use jurat_core::artifact::RunUsage;
use jurat_core::effect::{ModelRequest, Outcome, Returned, Role};
use jurat_core::tool::{Listing, Offer};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Val, Value};
use jurat_host::program::SYSTEM_PATH;
use jurat_model::Toolbox;
use jurat_sandbox::jail;

use super::folders::Folders;
use super::sandbox::sandbox;
use super::tools::CALL_TIMEOUT;
use super::turns::{Finished, Performed, Performer, Task, Turn, blocking};
use super::{EndsWhenDropped, Halt};
use crate::Stop;
use crate::models::Models;
use crate::perform::{ActionContext, Call};

/// How much of what a tool printed the model is shown.
const MOST_SHOWN: usize = 64 << 10;

/// How often a request may be tried.
const MAX_REQUESTS: u32 = 4;

pub(super) struct ModelTurns<'t> {
    task: Task<'t>,
    role: &'t Role,
    probe: Probe<'t>,
    place: Place,
    exchanges: Exchanges,
    _ends: EndsWhenDropped,
}

impl<'t> ModelTurns<'t> {
    pub(super) async fn open(task: Task<'t>, folders: &Folders) -> Result<ModelTurns<'t>, Halt> {
        let agent = &task.case().agent;
        let role = task.request.model.as_ref().ok_or("a probe needs a model")?;
        let worker = task.environment.worker.clone().ok_or("there is no worker here")?;
        // Its model is asked by jurat, so commands need no network.
        let mut sandbox = sandbox(agent, folders, worker, task.environment.is_on_host);
        sandbox.limits.time = Duration::from_secs(SHELL_SECONDS).min(agent.limits.time);
        let place = Place { sandbox, flag: jail::StopFlag::new() };
        let ends = EndsWhenDropped(place.flag.clone());
        let offers = offers(task.tools, agent, agent.limits.time).await?;
        let probe = Probe::new(task.case(), role.clone(), task.request.replicate, offers);
        Ok(ModelTurns { task, role, probe, place, exchanges: Exchanges::default(), _ends: ends })
    }

    /// Asks and calls until the turn is over, and counts the requests to the model.
    async fn talk(&mut self) -> Result<(), Halt> {
        loop {
            let outcome = match self.probe.step() {
                ProbeStep::Done => return Ok(()),
                ProbeStep::Ask(request) => self.answer(*request).await?,
                ProbeStep::Use(tool, arguments) => {
                    let (text, is_error) = self.place.used(tool, &arguments).await;
                    returned(text, is_error)
                }
                ProbeStep::Call { server, tool, arguments } => {
                    match self.task.tools.call(&server, &tool, &arguments, CALL_TIMEOUT).await {
                        Outcome::Returned(it) => {
                            let text = it.value.get("text").and_then(Val::as_str).map(str::to_owned);
                            returned(cut(text.unwrap_or_else(|| it.value.to_json())), it.is_error)
                        }
                        outcome => outcome,
                    }
                }
            };
            self.probe.apply(outcome);
        }
    }

    async fn answer(&mut self, request: ModelRequest) -> Result<Outcome, Halt> {
        let outcome = asked(self.task.models, request, &self.task.case().id).await;
        self.exchanges.count(&outcome);
        match outcome {
            Outcome::NotRun(reason) => Err(Halt::Stopped(reason)),
            Outcome::Returned(_) | Outcome::Ran(_) => Err("the subject is no model".into()),
            outcome => Ok(outcome),
        }
    }
}

impl Performer for ModelTurns<'_> {
    async fn perform(&mut self, turn: Turn<'_>) -> Result<Performed, Halt> {
        self.probe.begin(turn.message.to_owned());
        let ending = match tokio::time::timeout(turn.left, self.talk()).await {
            Ok(Ok(())) => Ending::Exited(0),
            // What was spent before is reported.
            Ok(Err(Halt::Stopped(StopReason::Budget)))
                if turn.ix > 0 || self.probe.report().usage != RunUsage::default() =>
            {
                Ending::Limited(Limit::Budget)
            }
            Ok(Err(halt)) => return Err(halt),
            Err(_) => Ending::Limited(Limit::Time),
        };
        Ok(Performed { report: self.probe.report().clone(), ending, stderr: String::new() })
    }

    async fn finish(self) -> Result<Finished, Halt> {
        let name = self.task.models.name(self.role).unwrap_or_else(|| self.role.to_string());
        Ok(Finished {
            place: self.place.sandbox.isolation.name(),
            workspace: self.place.sandbox.seen().workspace.to_string_lossy().into_owned(),
            model: Some((name, None)),
            asked: Some(self.exchanges),
            ..Finished::default()
        })
    }
}

/// The tools of servers, under the names that the model knows them by.
async fn offers(tools: &Toolbox, agent: &Agent, timeout: Duration) -> Result<Vec<Offer>, String> {
    let mut listing = Listing::default();
    listing.need(&agent.servers);
    for (ix, server) in (0..).zip(&agent.servers) {
        listing.apply(ix, &tools.list(server, timeout).await);
    }
    listing.failure().map_or_else(|| Ok(listing.offers(&agent.tool_filter)), Err)
}

/// The result of a tool, as the model gets it.
fn returned(text: String, is_error: bool) -> Outcome {
    Outcome::Returned(Box::new(Returned::new(Val::from(text), is_error, Duration::ZERO, crate::now_ms())))
}

async fn asked(models: &Models, request: ModelRequest, case: &str) -> Outcome {
    let (stop, asked) = (Stop::new(), request.clone().into());
    let call = Call {
        case,
        task: "",
        turn: None,
        priority: 0,
        request: &asked,
        key: None,
        not_before_ms: None,
        max_requests: MAX_REQUESTS,
        stop: &stop,
        sent: &|| (),
        failed: &|_| {},
        context: &ActionContext::default(),
    };
    models.ask(&request, call).await
}

/// Where tools work.
struct Place {
    sandbox: jail::Sandbox,
    flag: jail::StopFlag,
}

impl Place {
    /// Uses a tool, and returns its result in words, and whether that is an error.
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
        let seen = self.sandbox.seen();
        let env = [
            ("PATH", Path::new(SYSTEM_PATH)),
            ("HOME", seen.home.as_path()),
            ("TMPDIR", seen.tmp.as_path()),
            ("LANG", Path::new("C.UTF-8")),
        ];
        let env: BTreeMap<_, _> = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let argv = argv.iter().map(|it| (*it).into()).collect();
        let program = jail::Program { argv, env, stdin, work_dir: seen.workspace };
        let (sandbox, flag) = (self.sandbox.clone(), self.flag.clone());
        let run = move || {
            let printed = Arc::new(std::sync::Mutex::new(Vec::new()));
            let take = |printed: &Arc<std::sync::Mutex<Vec<u8>>>| {
                let printed = Arc::clone(printed);
                move |bytes: &[u8]| {
                    printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(bytes);
                }
            };
            let ended = jail::run(&program, &sandbox, &mut take(&printed), &mut take(&printed), &flag);
            let printed = printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let text = cut(String::from_utf8_lossy(&printed).into_owned());
            ended.map(|it| (text, it.exit)).map_err(|error| error.to_string())
        };
        blocking(run).await?
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
