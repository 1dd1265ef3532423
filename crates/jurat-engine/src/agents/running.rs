//! A program run turn by turn, behind walls, with a way to its model and to nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jurat_core::agent::{
    AgentCase, AgentRun, Ending, EndpointFault, Exchanges, Isolation, Launch, Limit, ModelAt, Network, Places, Printed,
    SideFile, Told, TurnInput, TurnRun, Walked, Wire,
};
use jurat_core::artifact::Tokens;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Map, Val, Value};
use jurat_host::program::{FoundProgram, SYSTEM_PATH};
use jurat_host::workspace::{self, Root};
use jurat_model::Model;
use jurat_model::proxy::{
    Listen, Names, OnBehalf, OnSpent, Proxy, ProxyLimits, ProxyOptions, Record, SharedMeter, Spent, Upstream,
    random_key,
};
use jurat_sandbox::jail;

use super::folders::Folders;
use super::ready::{is_beside, named_files, unseen};
use super::secrets::Secrets;
use super::walls::walls;
use super::{EndsWhenDropped, Halt, Ready, Request, Surroundings, artifact_of};
use crate::Models;

/// The port that a program finds its model at, on a loopback that is its own.
const PORT: u16 = 8099;

/// What stands for the key.
const KEY: &str = "jurat-has-the-key";

/// How many requests are refused before an agent that asks beyond its limit is ended. The first few may be those that it makes beside each other.
const MOST_REFUSED: u64 = 4;

/// How much of what a program prints beside its events is shown with an error.
const MOST_STDERR: usize = 2000;

/// Runs a case and makes its artifact.
pub(super) async fn run(
    surroundings: &Surroundings,
    ready: &Ready,
    models: &Models,
    request: &Request,
) -> Result<Value, Halt> {
    let model = match &request.model {
        None => None,
        Some(role) => {
            let model = models.model(role).ok_or_else(|| format!("nobody plays `{role}`"))?;
            Some((models.name(role).unwrap_or_else(|| role.clone()), model))
        }
    };
    let flag = jail::StopFlag::new();
    let ends = EndsWhenDropped(flag.clone());
    let walls = surroundings.worker.clone().ok_or("there is no worker here")?;
    let going = Going {
        case: Arc::clone(&ready.case),
        program: ready.program.clone(),
        passed: ready.secrets.clone(),
        secrets: Secrets::new(&ready.secrets),
        worker: walls,
        is_on_host: surroundings.is_on_host,
        kept: surroundings.kept.clone(),
        suite: surroundings.suite.clone(),
        model,
        role: request.model.clone().unwrap_or_default(),
        replicate: request.replicate,
        proxies: models.proxies().clone(),
        budget: models.shared_budget(),
        flag,
    };
    let made = tokio::task::spawn_blocking(move || going.run()).await;
    drop(ends);
    made.unwrap_or_else(|_| Err("the agent could not be run".into()))
}

/// A run on its way. It has everything of its own, because it goes on a thread of its own.
struct Going {
    case: Arc<AgentCase>,
    program: Option<FoundProgram>,
    /// The variables that are passed on, with their values.
    passed: Vec<(String, String)>,
    secrets: Secrets,
    worker: jurat_sandbox::Program,
    is_on_host: bool,
    kept: PathBuf,
    suite: String,
    model: Option<(String, Arc<Model>)>,
    /// The role that plays its model.
    role: String,
    replicate: u32,
    proxies: jurat_model::Proxies,
    budget: SharedMeter,
    flag: jail::StopFlag,
}

impl Going {
    fn run(self) -> Result<Value, Halt> {
        let case = &*self.case;
        let (began, began_ms) = (Instant::now(), crate::now_ms());
        let seed = format!("{} {} {}", self.suite, case.id, self.replicate);
        let folders = Folders::make(&seed).map_err(|error| format!("its folders cannot be made: {error}"))?;
        let before = prepared(case, &folders)?;
        let proxy = self.proxy(&folders)?;
        let port = proxy.as_ref().map(|it| it.port().unwrap_or(PORT));
        let speaks = case.agent.runner.wire();
        let model = self.model.as_ref().zip(port).map(|((_, model), port)| {
            let key = proxy.as_ref().and_then(Proxy::key);
            model_at(model, speaks, port, key)
        });
        let walls = self.walls(&folders, proxy.is_some());
        let seen = walls.seen();
        let places = Places { workspace: shown(&seen.workspace), home: shown(&seen.home), tmp: shown(&seen.tmp) };
        let mut run = AgentRun {
            case,
            run_id: folders.name.clone(),
            suite: &self.suite,
            model: self.model.as_ref().map(|(name, _)| (name.as_str(), model.as_ref())),
            turns: Vec::new(),
            exchanges: None,
            kept: jurat_core::agent::Kept::default(),
            began_ms,
            ended_ms: began_ms,
            place: walls.isolation.name(),
            enforced: Vec::new(),
            program: self.program.as_ref().map(|it| (it.version.clone(), it.digest.clone())),
            replicate: self.replicate,
        };
        let mut logs = Vec::new();
        let mut session = uuid(&folders.name);
        let mut n_told = 0;
        for turn in 0..case.turns.len() {
            let message = case.message(turn);
            let program = self.program.as_ref().map_or_else(
                || {
                    case.agent
                        .program
                        .clone()
                        .or(case.agent.runner.program().map(|it| it.name.to_owned()))
                        .unwrap_or_default()
                },
                |it| shown(&it.path),
            );
            let input = TurnInput {
                agent: &case.agent,
                program: &program,
                places: &places,
                turn,
                n_turns: case.turns.len(),
                message: &message,
                system: case.system.as_deref(),
                session: &session,
            };
            let start = case.agent.runner.launch(&input, model.as_ref()).ok_or("this runner starts no program")?;
            let left = case.agent.limits.time.saturating_sub(began.elapsed());
            let ran = self.turn(start, &walls, &folders, port, left);
            let Turn { ran, ending } = ran?.ended_by(proxy.as_ref().and_then(Proxy::spent))?;
            let ending = ended_outside(ending, &case.agent.isolation, self.is_on_host, &ran);
            let side = self.side(&folders, &mut n_told)?;
            let told = match &ending {
                Ending::NotStarted(_) => Told::default(),
                _ => case.agent.runner.read(Printed {
                    stdout: &ran.stdout,
                    side: &side,
                    is_text: case.agent.prints_text,
                }),
            };
            if turn == 0
                && matches!(ending, Ending::Exited(1..))
                && let Some(why) = unseen_file(case, &folders.workspace, &ran.stderr)
            {
                return Err(Halt::Fault(why));
            }
            let number = turn + 1;
            let runner = case.agent.runner.name;
            for (kind, name, text) in [
                ("raw_session_trace", format!("stdout-{number}.jsonl"), &ran.stdout),
                ("logs", format!("stderr-{number}.log"), &ran.stderr),
                ("raw_session_trace", format!("trace-{number}.jsonl"), &side),
            ] {
                let log = folders.log(runner, kind, &name, text);
                logs.extend(log.map_err(|error| format!("what it printed cannot be kept: {error}"))?);
            }
            run.enforced = ran.enforced;
            session = told.session.clone().unwrap_or(session);
            let is_over = told.fault.is_some() || ending != Ending::Exited(0);
            run.turns.push(TurnRun { message, told, ending, stderr: end_of(&ran.stderr), took: ran.took });
            if is_over {
                break;
            }
        }
        if let Some(proxy) = proxy {
            let record = proxy.finish();
            if is_untouched(&record) {
                return Err(Halt::Stopped(StopReason::Budget));
            }
            let lines = self.secrets.scrubbed(wire_lines(&record));
            let wire = folders.log(case.agent.runner.name, "wire", "exchanges.jsonl", &lines);
            logs.extend(wire.map_err(|error| format!("what it asked its model cannot be kept: {error}"))?);
            run.exchanges = Some(exchanges(&record));
            if let Some(failed_calls) = case.agent.runner.program().and_then(|it| it.failed_calls) {
                run.fail_calls(&record.exchanges.iter().flat_map(|it| failed_calls(&it.request.text)).collect());
            }
        }
        run.kept = folders
            .keep(&self.kept, case, &before, logs, (&places.workspace, &self.secrets))
            .map_err(|error| format!("its workspace cannot be looked at: {error}"))?;
        run.ended_ms = crate::now_ms().max(began_ms);
        Ok(artifact_of(&mut run)?)
    }

    /// The way to the model, and to names that are allowed.
    fn proxy(&self, folders: &Folders) -> Result<Option<Proxy>, String> {
        let listen = if self.is_on_host { Listen::Loopback } else { Listen::Unix(folders.sockets.join("m")) };
        let model = self.model.as_ref().map(|(_, model)| model);
        let (role, proxies, budget) = (self.role.as_str(), &self.proxies, self.budget.clone());
        let way = Way { case: &self.case, model, role, proxies, budget, on_spent: Some(self.on_spent()) };
        way.open(&listen)
    }

    /// An agent whose budget is used up is ended at once; one that has reached a limit of its own, when it does not stop asking.
    fn on_spent(&self) -> OnSpent {
        let flag = self.flag.clone();
        OnSpent(Box::new(move |spent, n_refused| match spent {
            Spent::Budget => flag.insist(),
            _ if n_refused >= MOST_REFUSED => flag.raise(),
            _ => {}
        }))
    }

    fn walls(&self, folders: &Folders, has_proxy: bool) -> jail::Walls {
        let agent = &self.case.agent;
        let mut walls = walls(agent, folders, self.worker.clone(), self.is_on_host);
        if !self.is_on_host {
            walls.network = match agent.network() {
                Network::Host => jail::Network::Host,
                _ if has_proxy => {
                    let forward = jail::Forward { port: PORT, socket: folders.sockets.join("m") };
                    jail::Network::Loopback { forwards: vec![forward] }
                }
                _ => jail::Network::Off,
            };
        }
        walls.read_only.extend(named_files(&self.case));
        walls.read_only.extend(self.program.iter().flat_map(|it| it.read_only.clone()));
        walls
    }

    fn turn(
        &self,
        launch: Launch,
        walls: &jail::Walls,
        folders: &Folders,
        port: Option<u16>,
        left: Duration,
    ) -> Result<Ran, String> {
        for file in &launch.files {
            // An earlier turn may have left links.
            let written = jail::write_within(&folders.home, Path::new(&file.path), file.text.as_bytes());
            written.map_err(|error| format!("`{}` cannot be written: {error}", file.path))?;
        }
        let program = self.program_of(launch, walls, port);
        let mut walls = walls.clone();
        walls.limits.wall = left.max(Duration::from_millis(1));
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let ended = jail::run(
            &program,
            &walls,
            &mut |bytes: &[u8]| stdout.extend_from_slice(bytes),
            &mut |bytes: &[u8]| stderr.extend_from_slice(bytes),
            &self.flag,
        );
        let text = |bytes: Vec<u8>| self.secrets.scrubbed(String::from_utf8_lossy(&bytes).into_owned());
        match ended {
            Ok(ended) => Ok(Ran {
                ending: ending(ended.exit),
                stdout: text(stdout),
                stderr: text(stderr),
                took: ended.wall,
                enforced: ended
                    .enforced
                    .iter()
                    .filter_map(|(limit, by)| Some((limit_of(*limit)?, by.name().to_owned())))
                    .collect(),
            }),
            Err(error) => Err(error.to_string()),
        }
    }

    fn program_of(&self, launch: Launch, walls: &jail::Walls, port: Option<u16>) -> jail::Program {
        let seen = walls.seen();
        let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
        let mut put = |name: &str, value: OsString| drop(env.insert(name.into(), value));
        let mut search: Vec<PathBuf> = self.program.iter().flat_map(|it| it.search.clone()).collect();
        search.extend(std::env::split_paths(SYSTEM_PATH));
        put("PATH", std::env::join_paths(search).unwrap_or_else(|_| SYSTEM_PATH.into()));
        put("HOME", seen.home.clone().into());
        put("TMPDIR", seen.tmp.clone().into());
        put("LANG", "C.UTF-8".into());
        put("TERM", "dumb".into());
        put("NO_COLOR", "1".into());
        // Outside of a sandbox a program reaches every name by itself.
        if let (Network::Allow(_), Some(port), false) = (self.case.agent.network(), port, self.is_on_host) {
            let proxy = format!("http://127.0.0.1:{port}");
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
                put(name, proxy.clone().into());
            }
            for name in ["NO_PROXY", "no_proxy"] {
                put(name, "127.0.0.1,localhost".into());
            }
        }
        for (name, value) in launch.env.into_iter().chain(self.passed.iter().cloned()) {
            put(&name, value.into());
        }
        // Arguments that name files beside the definition are the files that the program sees.
        let folder = &self.case.agent.folder;
        let beside = |it: String| match is_beside(folder, &it) {
            true => std::path::absolute(folder.join(&it)).map_or_else(|_| it.into(), PathBuf::into_os_string),
            false => it.into(),
        };
        let argv = launch.argv.into_iter().map(beside).collect();
        jail::Program { argv, env, stdin: launch.stdin.into_bytes(), work_dir: seen.workspace }
    }

    /// What else than its output tells what a program did in this turn.
    fn side(&self, folders: &Folders, n_told: &mut usize) -> Result<String, String> {
        let text = match self.case.agent.runner.program().and_then(|it| it.side_file) {
            None => return Ok(String::new()),
            Some(SideFile::Text(name)) => {
                let copy = folders.sockets.join("side");
                match workspace::keep(home(folders), name, &copy, self.case.agent.limits.output) {
                    Ok(kept) => fs::read_to_string(copy.join(kept.path)).unwrap_or_default(),
                    Err(_) => String::new(),
                }
            }
            Some(SideFile::OpenClawState(state)) => {
                let lines = openclaw_lines(folders, state)?;
                let new = lines.get(*n_told..).unwrap_or_default().join("\n");
                *n_told = lines.len();
                new
            }
        };
        Ok(self.secrets.scrubbed(text))
    }
}

/// A turn that was run.
struct Ran {
    /// `None` when it was interrupted.
    ending: Option<Ending>,
    stdout: String,
    stderr: String,
    took: Duration,
    enforced: Vec<(Limit, String)>,
}

/// A turn with how it ended.
struct Turn {
    ran: Ran,
    ending: Ending,
}

impl Ran {
    /// A program that was interrupted because it asked for more than it may ended at that limit.
    fn ended_by(mut self, spent: Option<Spent>) -> Result<Turn, String> {
        let ending = self.ending.take().or(spent.map(|it| Ending::Limited(limit_of_spent(it))));
        let ending = ending.ok_or("the run was interrupted")?;
        Ok(Turn { ran: self, ending })
    }
}

/// How a turn ended, where that says that it never began: an engine of containers ends with these statuses when it fails itself (125), or
/// when the program cannot be invoked (126) or found (127). A program that ends with one of them has printed something before, most likely.
fn ended_outside(ending: Ending, isolation: &Isolation, is_on_host: bool, ran: &Ran) -> Ending {
    let Isolation::Container { image, engine } = isolation else { return ending };
    let what = match ending {
        Ending::Exited(125) => format!("`{engine}` could not run the image `{image}`"),
        Ending::Exited(126) => format!("the program cannot be invoked in the image `{image}`"),
        Ending::Exited(127) => format!("there is no such program in the image `{image}`"),
        _ => return ending,
    };
    if is_on_host || !ran.stdout.trim().is_empty() {
        return ending;
    }
    let said = end_of(&ran.stderr);
    Ending::NotStarted(if said.is_empty() { what } else { format!("{what}: {said}") })
}

/// Makes a workspace and looks at it.
pub(super) fn prepared(case: &AgentCase, folders: &Folders) -> Result<Walked, String> {
    if let Some(template) = &case.workspace {
        let copied = workspace::copy_template(template, &folders.workspace);
        copied.map_err(|error| format!("its workspace cannot be made from `{}`: {error}", template.display()))?;
    }
    workspace::walk(&folders.workspace).map_err(|error| format!("its workspace cannot be looked at: {error}"))
}

/// The home of an agent. No link of a program's own state is absolute.
fn home(folders: &Folders) -> Root<'_> {
    Root { folder: &folders.home, seen: "" }
}

/// The events of a transcript, from a copy of the database that holds them; or from the file that older versions write.
fn openclaw_lines(folders: &Folders, state: &str) -> Result<Vec<String>, String> {
    const DATABASE: &str = "agents/main/agent/openclaw-agent.sqlite";
    const MOST_BYTES: u64 = 1 << 30;
    let copy = folders.sockets.join("state");
    let database = format!("{state}/{DATABASE}");
    let home = home(folders);
    if workspace::keep(home, &database, &copy, MOST_BYTES).is_ok() {
        // What was not merged yet stands in a log beside it.
        let _ = workspace::keep(home, &format!("{database}-wal"), &copy, MOST_BYTES);
        let lines = jurat_store::openclaw_transcript(&copy.join(&database));
        let _ = fs::remove_dir_all(&copy);
        return lines;
    }
    let sessions = format!("{state}/agents/main/sessions");
    let mut lines = Vec::new();
    for name in workspace::names(home, &sessions).iter().filter(|it| it.ends_with(".jsonl")) {
        if let Ok(kept) = workspace::keep(home, &format!("{sessions}/{name}"), &copy, MOST_BYTES) {
            let text = fs::read_to_string(copy.join(kept.path)).unwrap_or_default();
            lines.extend(text.lines().map(str::to_owned));
        }
    }
    Ok(lines)
}

/// An argument that names a file which the program could not find, and what to do about it: the agent did nothing wrong then.
fn unseen_file(case: &AgentCase, workspace: &Path, stderr: &str) -> Option<String> {
    const WORDS: [&str; 4] = ["No such file", "not found", "annot find", "an't open"];
    if !WORDS.iter().any(|it| stderr.contains(it)) {
        return None;
    }
    let folder = &case.agent.folder;
    let is_missing = |it: &&String| {
        let name = it.rsplit('/').next().unwrap_or_default();
        !it.starts_with('-') && !name.is_empty() && stderr.contains(name) && !workspace.join(it).exists()
    };
    case.agent.args.iter().filter(is_missing).find_map(|it| unseen(folder, it))
}

/// The way to a model, and to names that are allowed.
pub(super) struct Way<'w> {
    pub(super) case: &'w AgentCase,
    pub(super) model: Option<&'w Arc<Model>>,
    pub(super) role: &'w str,
    pub(super) proxies: &'w jurat_model::Proxies,
    pub(super) budget: SharedMeter,
    /// What is done when nothing more may be asked.
    pub(super) on_spent: Option<OnSpent>,
}

impl Way<'_> {
    /// Opens it; nothing when it would lead nowhere.
    pub(super) fn open(self, listen: &Listen) -> Result<Option<Proxy>, String> {
        let agent = &self.case.agent;
        let names = match agent.network() {
            Network::Allow(names) => names,
            Network::Off | Network::Loopback | Network::Host => Vec::new(),
        };
        let upstream = match self.model {
            Some(model) if agent.network() != Network::Off => Upstream::Model(Arc::clone(model)),
            _ if !names.is_empty() => Upstream::Nobody,
            _ => return Ok(None),
        };
        let limits = &agent.limits;
        // Every user of the machine can reach a port.
        let key = (*listen == Listen::Loopback).then(random_key);
        let options = ProxyOptions {
            key,
            limits: ProxyLimits { requests: limits.requests, tokens: limits.tokens, usd: limits.cost_usd },
            names: Names::read(names.iter().map(String::as_str))
                .map_err(|name| format!("`{name}` under `allow` is no name of a host"))?,
            proxies: self.proxies.clone(),
            now_ms: crate::now_ms,
            meter: Some(self.budget),
            on_spent: self.on_spent,
            on_behalf: OnBehalf { case: self.case.id.clone(), role: self.role.to_owned(), ..OnBehalf::default() },
            ..ProxyOptions::to(upstream)
        };
        Proxy::start(listen, options).map(Some).map_err(|error| error.to_string())
    }
}

/// Where a program finds its model.
pub(super) fn model_at(model: &Model, speaks: Option<Wire>, port: u16, key: Option<&str>) -> ModelAt {
    let endpoint = model.endpoint();
    // A model that is not asked over HTTP is asked in the agent's place, however it asks.
    let wire = Wire::NAMED.iter().find(|(name, _)| *name == endpoint.codec).map(|(_, wire)| *wire);
    let name = if wire.is_some() { &endpoint.model } else { LOCAL };
    let wire = wire.or(speaks).unwrap_or(Wire::OpenAiChat);
    ModelAt {
        wire,
        base_url: format!("http://127.0.0.1:{port}"),
        model: name.to_owned(),
        key: key.unwrap_or(KEY).to_owned(),
        price: model.price().map(|it| (it.input, it.output)),
        max_tokens: model.max_tokens(),
    }
}

/// What a model is called that has no name of its own.
const LOCAL: &str = "model";

/// How a program ended; `None` when it was interrupted.
fn ending(exit: jail::Exit) -> Option<Ending> {
    Some(match exit {
        jail::Exit::Code(code) => Ending::Exited(code),
        jail::Exit::Signal(signal) => Ending::Signalled(signal),
        jail::Exit::Stopped(limit) => Ending::Limited(limit_of(limit).unwrap_or(Limit::Workspace)),
        jail::Exit::Interrupted => return None,
    })
}

fn limit_of(limit: jail::Limit) -> Option<Limit> {
    Some(match limit {
        jail::Limit::Wall => Limit::Time,
        jail::Limit::Output => Limit::Output,
        jail::Limit::Processes => Limit::Processes,
        jail::Limit::Memory => Limit::Memory,
        jail::Limit::Disk => Limit::Workspace,
        jail::Limit::FileSize | jail::Limit::Files => return None,
    })
}

pub(super) fn exchanges(record: &Record) -> Exchanges {
    let usage = record.usage;
    let is_counted = usage.total() > 0;
    let known = |count: u64| is_counted.then_some(count);
    Exchanges {
        n_requests: record.n_requests,
        tokens: Tokens {
            input: known(usage.input),
            output: known(usage.output),
            total: known(usage.total()),
            reasoning: known(usage.reasoning),
            cached_input: known(usage.cached),
            cache_write: None,
        },
        n_uncounted: record.n_uncounted,
        cost_usd: record.cost_usd.filter(|_| is_counted),
        spent: record.spent.map(limit_of_spent),
        failed: record.failure().map(|it| {
            let code = it.status.map_or_else(|| "no_reply".to_owned(), |it| format!("status_{it}"));
            EndpointFault { code, message: it.message.clone(), class: it.class }
        }),
        refusal: record.refusal().map(str::to_owned),
        n_refusals: record.n_refusals(),
        n_failures: record.n_failures(),
    }
}

/// Whether the budget was used up before anything was asked: there is nothing to tell then.
pub(super) fn is_untouched(record: &Record) -> bool {
    record.spent == Some(Spent::Budget) && record.n_requests == 0
}

fn limit_of_spent(spent: Spent) -> Limit {
    match spent {
        Spent::Requests => Limit::Requests,
        Spent::Tokens => Limit::Tokens,
        Spent::Usd => Limit::Cost,
        Spent::Budget => Limit::Budget,
    }
}

/// What passed between an agent and its model, one exchange a line.
pub(super) fn wire_lines(record: &Record) -> String {
    let mut lines = String::new();
    for exchange in &record.exchanges {
        let text = |it: &str| Val::from(it.to_owned());
        let members = [
            ("at_ms", Val::from(exchange.at_ms)),
            ("method", text(&exchange.method)),
            ("path", text(&exchange.path)),
            ("request", text(&exchange.request.text)),
            ("status", exchange.status.map_or(Val::Null, |it| Val::from(u32::from(it)))),
            ("reply", text(&exchange.reply.text)),
            ("error", exchange.error.as_deref().map_or(Val::Null, text)),
        ];
        lines.push_str(&Val::Map(members.into_iter().collect::<Map<'static>>()).to_json());
        lines.push('\n');
    }
    lines
}

/// A UUID that is made from a name.
pub(super) fn uuid(name: &str) -> String {
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}-{}-4{}-8{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The end of a text, without what a terminal would take for orders.
fn end_of(text: &str) -> String {
    let text = text.trim_end();
    let mut from = text.len().saturating_sub(MOST_STDERR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].chars().filter(|it| !it.is_control() || *it == '\n').collect()
}
