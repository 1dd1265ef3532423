//! A program, run turn by turn in its sandbox, with access to its model and to nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jurat_core::agent::{
    AgentCase, Ending, Isolation, Launch, Limit, Mechanism, Network, Places, Printed, SideFile, TranscriptFiles,
    TurnInput, TurnReport,
};
use jurat_core::artifact::OutputArtifact;
use jurat_host::program::{FoundProgram, SYSTEM_PATH};
use jurat_host::workspace::{self, Root};
use jurat_model::proxy::{Listen, OnSpent, Spent};
use jurat_sandbox::jail;

use super::access::{Access, PORT, limit_of_spent};
use super::folders::Folders;
use super::ready::{is_beside, named_files, unseen};
use super::sandbox::sandbox;
use super::secrets::Secrets;
use super::turns::{Finished, Performed, Performer, Task, Turn, blocking};
use super::{EndsWhenDropped, Halt};

/// How many requests are refused before an agent that asks beyond its limit is ended. The first few may be those that it makes beside each other.
const MOST_REFUSED: u64 = 4;

/// How much of what a program prints beside its events is shown with an error.
const MOST_STDERR: usize = 2000;

pub(super) struct ProgramTurns<'t> {
    task: Task<'t>,
    program: Arc<Sandboxed>,
    access: Access,
    places: Places,
    /// The lines of the transcript that earlier turns had.
    n_lines: usize,
    logs: Vec<OutputArtifact>,
    enforced: Vec<(Limit, Mechanism)>,
    _ends: EndsWhenDropped,
}

/// A program in its sandbox. Turns block, so each has a thread of its own and shares this.
struct Sandboxed {
    case: Arc<AgentCase>,
    found: Option<FoundProgram>,
    /// The variables that are passed on, with their values.
    passed: Vec<(String, String)>,
    secrets: Secrets,
    folders: Arc<Folders>,
    sandbox: jail::Sandbox,
    is_on_host: bool,
    port: Option<u16>,
    flag: jail::StopFlag,
}

impl<'t> ProgramTurns<'t> {
    pub(super) fn open(task: Task<'t>, folders: &Arc<Folders>) -> Result<ProgramTurns<'t>, Halt> {
        let is_on_host = task.environment.is_on_host;
        let worker = task.environment.worker.clone().ok_or("there is no worker here")?;
        let flag = jail::StopFlag::new();
        let listen = if is_on_host { Listen::Loopback } else { Listen::Unix(folders.sockets.join("m")) };
        let access = Access::open(task, &listen, Some(on_spent(flag.clone())))?;
        let mut sandbox = sandbox(&task.case().agent, folders, worker, is_on_host);
        if !is_on_host {
            sandbox.network = network(task.case(), folders, access.port().is_some());
        }
        sandbox.read_only.extend(named_files(task.case()));
        sandbox.read_only.extend(task.ready.program.iter().flat_map(|it| it.read_only.clone()));
        let seen = sandbox.seen();
        let places = Places { workspace: shown(&seen.workspace), home: shown(&seen.home), tmp: shown(&seen.tmp) };
        let _ends = EndsWhenDropped(flag.clone());
        let program = Arc::new(Sandboxed {
            case: Arc::clone(&task.ready.case),
            found: task.ready.program.clone(),
            passed: task.ready.secrets.clone(),
            secrets: Secrets::new(&task.ready.secrets),
            folders: Arc::clone(folders),
            sandbox,
            is_on_host,
            port: access.port(),
            flag,
        });
        Ok(ProgramTurns { task, program, access, places, n_lines: 0, logs: Vec::new(), enforced: Vec::new(), _ends })
    }

    /// How the program is started for a turn.
    fn launch(&self, turn: Turn<'_>) -> Option<Launch> {
        let case = &self.program.case;
        let runner = case.agent.runner;
        let named = || case.agent.program.clone().or(runner.program().map(|it| it.name.to_owned())).unwrap_or_default();
        let program = self.program.found.as_ref().map_or_else(named, |it| shown(&it.path));
        let input = TurnInput {
            agent: &case.agent,
            program: &program,
            places: &self.places,
            turn: turn.ix,
            n_turns: case.turns.len(),
            message: turn.message,
            system: case.system.as_deref(),
            session: turn.session,
            servers: &self.access.servers,
        };
        runner.launch(&input, self.access.at())
    }

    /// How a turn ended. A program that was interrupted because it asked for more than it may ended at that limit.
    fn ending(&self, ran: &Ran) -> Result<Ending, Halt> {
        let spent = || self.access.spent().map(|it| Ending::Limited(limit_of_spent(it)));
        let ending = ran.ending.clone().or_else(spent).ok_or("the run was interrupted")?;
        Ok(ended_outside(ending, &self.program.case.agent.isolation, self.program.is_on_host, ran))
    }

    fn log(&mut self, ran: &Ran, side: &str, turn: usize) -> Result<(), String> {
        let number = turn + 1;
        for (kind, name, text) in [
            ("raw_session_trace", format!("stdout-{number}.jsonl"), ran.stdout.as_str()),
            ("logs", format!("stderr-{number}.log"), &ran.stderr),
            ("raw_session_trace", format!("trace-{number}.jsonl"), side),
        ] {
            let log = self.program.folders.log(self.program.case.agent.runner.name, kind, &name, text);
            self.logs.extend(log.map_err(|error| format!("what it printed cannot be stored: {error}"))?);
        }
        Ok(())
    }
}

impl Performer for ProgramTurns<'_> {
    async fn perform(&mut self, turn: Turn<'_>) -> Result<Performed, Halt> {
        let launch = self.launch(turn).ok_or("this runner starts no program")?;
        let (program, left, n_lines) = (Arc::clone(&self.program), turn.left, self.n_lines);
        let ran = blocking(move || {
            let ran = program.turn(launch, left)?;
            let side = program.side(n_lines);
            Ok::<_, String>((ran, side))
        });
        let (ran, side) = self.access.beside(self.task, ran).await??;
        let ending = self.ending(&ran)?;
        let Side { text: side, log, n_lines } = side?;
        self.n_lines = n_lines;
        let case = &*self.program.case;
        let printed = Printed { stdout: &ran.stdout, side: &side, log: &log, is_text: case.agent.prints_text };
        let report = match &ending {
            Ending::NotStarted(_) => TurnReport::default(),
            _ => case.agent.runner.read(printed),
        };
        if turn.ix == 0
            && matches!(ending, Ending::Exited(1..))
            && let Some(why) = unseen_file(case, &self.program.folders.workspace, &ran.stderr)
        {
            return Err(Halt::Fault(why));
        }
        self.log(&ran, &side, turn.ix)?;
        self.enforced = ran.enforced;
        Ok(Performed { report, ending, stderr: end_of(&ran.stderr) })
    }

    async fn finish(mut self) -> Result<Finished, Halt> {
        let Sandboxed { sandbox, found, secrets, .. } = &*self.program;
        Ok(Finished {
            place: sandbox.isolation.name(),
            workspace: self.places.workspace,
            model: self.access.model.take(),
            program: found.as_ref().map(|it| (it.version.clone(), it.digest.clone())),
            secrets: secrets.clone(),
            logs: self.logs,
            enforced: self.enforced,
            record: self.access.finish().await?,
            ..Finished::default()
        })
    }
}

/// An agent whose budget is used up is ended at once; one that has reached a limit of its own, when it does not stop asking.
fn on_spent(flag: jail::StopFlag) -> OnSpent {
    OnSpent(Box::new(move |spent, n_refused| match spent {
        Spent::Budget => flag.insist(),
        _ if n_refused >= MOST_REFUSED => flag.raise(),
        _ => {}
    }))
}

fn network(case: &AgentCase, folders: &Folders, has_proxy: bool) -> jail::Network {
    match case.agent.network() {
        Network::Host => jail::Network::Host,
        _ if has_proxy => {
            let forward = jail::Forward { port: PORT, socket: folders.sockets.join("m") };
            jail::Network::Loopback { forwards: vec![forward] }
        }
        _ => jail::Network::Off,
    }
}

impl Sandboxed {
    fn turn(&self, launch: Launch, left: Duration) -> Result<Ran, String> {
        for file in &launch.files {
            // An earlier turn may have left links.
            let written = jail::write_within(&self.folders.home, Path::new(&file.path), file.text.as_bytes());
            written.map_err(|error| format!("`{}` cannot be written: {error}", file.path))?;
        }
        let program = self.program_of(launch);
        let mut sandbox = self.sandbox.clone();
        sandbox.limits.time = left.max(Duration::from_millis(1));
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let ended = jail::run(
            &program,
            &sandbox,
            &mut |bytes: &[u8]| stdout.extend_from_slice(bytes),
            &mut |bytes: &[u8]| stderr.extend_from_slice(bytes),
            &self.flag,
        )
        .map_err(|error| error.to_string())?;
        let text = |bytes: Vec<u8>| self.secrets.scrubbed(String::from_utf8_lossy(&bytes).into_owned());
        let enforced = ended.enforced.iter().filter_map(|(limit, by)| Some((limit_of(*limit)?, by.name().to_owned())));
        Ok(Ran { ending: ending(ended.exit), stdout: text(stdout), stderr: text(stderr), enforced: enforced.collect() })
    }

    fn program_of(&self, launch: Launch) -> jail::Program {
        let seen = self.sandbox.seen();
        let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
        let mut put = |name: &str, value: OsString| drop(env.insert(name.into(), value));
        let mut search: Vec<PathBuf> = self.found.iter().flat_map(|it| it.search.clone()).collect();
        search.extend(std::env::split_paths(SYSTEM_PATH));
        put("PATH", std::env::join_paths(search).unwrap_or_else(|_| SYSTEM_PATH.into()));
        put("HOME", seen.home.clone().into());
        put("TMPDIR", seen.tmp.clone().into());
        put("LANG", "C.UTF-8".into());
        put("TERM", "dumb".into());
        put("NO_COLOR", "1".into());
        // Outside of a sandbox a program reaches every name by itself.
        if let (Network::Allow(_), Some(port), false) = (self.case.agent.network(), self.port, self.is_on_host) {
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

    /// The trace that the program wrote beside its output in this turn.
    fn side(&self, n_lines: usize) -> Result<Side, String> {
        let side_file = self.case.agent.runner.program().and_then(|it| it.side_file);
        let none = Side { text: String::new(), log: String::new(), n_lines };
        let side = match side_file {
            None => none,
            Some(SideFile::Text(name)) => Side { text: self.side_text(name), ..none },
            Some(SideFile::Logged { text, log }) => {
                Side { text: self.side_text(text), log: self.side_text(log), ..none }
            }
            Some(SideFile::Transcript(files)) => {
                let lines = transcript(&self.folders, files)?;
                let text = lines.get(n_lines..).unwrap_or_default().join("\n");
                Side { text, n_lines: lines.len(), ..none }
            }
        };
        let Side { text, log, n_lines } = side;
        Ok(Side { text: self.secrets.scrubbed(text), log: self.secrets.scrubbed(log), n_lines })
    }

    /// The text of a file in the home of the program; nothing when it cannot be read.
    fn side_text(&self, name: &str) -> String {
        let copy = self.folders.sockets.join("side");
        let copied = workspace::keep(home(&self.folders), name, &copy, self.case.agent.limits.output);
        copied.ok().and_then(|it| fs::read_to_string(copy.join(it.path)).ok()).unwrap_or_default()
    }
}

/// What a program wrote beside its output.
struct Side {
    text: String,
    log: String,
    /// How many lines a transcript has by now.
    n_lines: usize,
}

/// A turn that was run.
struct Ran {
    /// `None` when it was interrupted.
    ending: Option<Ending>,
    stdout: String,
    stderr: String,
    enforced: Vec<(Limit, Mechanism)>,
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

/// The home of an agent. No link of a program's own state is absolute.
fn home(folders: &Folders) -> Root<'_> {
    Root { folder: &folders.home, seen: "" }
}

/// The events of a transcript: from a copy of the database that has them, or from files of lines.
fn transcript(folders: &Folders, files: TranscriptFiles) -> Result<Vec<String>, String> {
    const MOST_BYTES: u64 = 1 << 30;
    let TranscriptFiles { database, query, folder } = files;
    let (copy, home) = (folders.sockets.join("state"), home(folders));
    if workspace::keep(home, database, &copy, MOST_BYTES).is_ok() {
        // What was not merged yet stands in a log beside it.
        let _ = workspace::keep(home, &format!("{database}-wal"), &copy, MOST_BYTES);
        let lines = jurat_store::transcript_lines(&copy.join(database), query);
        let _ = fs::remove_dir_all(&copy);
        return lines;
    }
    let mut lines = Vec::new();
    for name in workspace::names(home, folder).iter().filter(|it| it.ends_with(".jsonl")) {
        if let Ok(copied) = workspace::keep(home, &format!("{folder}/{name}"), &copy, MOST_BYTES) {
            let text = fs::read_to_string(copy.join(copied.path)).unwrap_or_default();
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
        jail::Limit::Time => Limit::Time,
        jail::Limit::Output => Limit::Output,
        jail::Limit::Processes => Limit::Processes,
        jail::Limit::Memory => Limit::Memory,
        jail::Limit::Disk => Limit::Workspace,
        jail::Limit::FileSize | jail::Limit::Files => return None,
    })
}

fn shown(path: &Path) -> String {
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
