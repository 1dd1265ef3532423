//! Hooks: a function of the author decides a check, in a Python of its own.
//!
//! One process for each call, with a time limit, in a group that is ended as a whole. It is not in a sandbox: allowing hooks allows
//! their code to do what the author may do. What the function prints is separate from what it returns, and what it returns is read
//! strictly.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jurat_core::check::{Hook, HookAnswer, HookCode};
use jurat_format::value::{Val, Value, parse_json};

/// The default timeout of a hook.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// How much of an answer, or of what is printed, is read.
const MOST_BYTES: u64 = 1 << 20;

/// What runs in the interpreter.
const SHIM: &str = include_str!("hook.py");

/// One call of a hook.
#[derive(Debug, Clone)]
pub struct HookCall {
    pub hook: Hook,
    /// The evidence of the run, as JSON.
    pub artifact: String,
    pub check_id: String,
    /// What the check is for.
    pub description: Option<String>,
    /// The file that the check is defined in. Its directory is where the function runs, and where it imports from first.
    pub source: PathBuf,
    pub python: OsString,
    /// What starts the interpreter and ends it with this process, if anything does: a program and its arguments, which the id of this process, the folder and the
    /// command follow. It ends everything when it gets `SIGTERM`.
    pub supervisor: Vec<OsString>,
    /// How long it may take.
    pub time_limit: Duration,
}

/// Ends a call from elsewhere.
#[derive(Debug, Clone)]
pub struct Ender(Arc<Mutex<Option<Started>>>);

/// A process, and whether it supervises the one that is meant.
#[derive(Debug)]
struct Started {
    child: Child,
    is_supervised: bool,
}

impl Ender {
    /// A call that has not begun.
    pub fn new() -> Ender {
        Ender(Arc::new(Mutex::new(None)))
    }

    /// Ends the process and everything that it started. A call that was ended says so.
    pub fn end(&self) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = child.as_mut() {
            started.end();
        }
    }
}

impl Default for Ender {
    fn default() -> Self {
        Ender::new()
    }
}

/// The interpreter for hooks: that of the virtual environment, else `python3`.
pub fn interpreter(env: &dyn Fn(&str) -> Option<String>) -> OsString {
    match env("VIRTUAL_ENV").filter(|it| !it.is_empty()) {
        Some(environment) => PathBuf::from(environment).join("bin").join("python3").into_os_string(),
        None => "python3".into(),
    }
}

/// Calls a hook and waits for its answer; or says which hook gave none, and why.
pub fn call(call: &HookCall, ender: &Ender) -> Result<HookAnswer, String> {
    let (HookCode::Path(code) | HookCode::Import(code)) = &call.hook.code;
    answer(call, ender).map_err(|why| format!("the hook `{}` of `{code}` {why}", call.hook.callable_name))
}

fn answer(call: &HookCall, ender: &Ender) -> Result<HookAnswer, String> {
    let mut command = command(call);
    command.args(["-c", SHIM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONIOENCODING", "utf-8");
    lead_group(&mut command);
    let python = call.python.to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("needs `{python}`, which cannot be started: {error}"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    *ender.0.lock().unwrap_or_else(PoisonError::into_inner) =
        Some(Started { child, is_supervised: !call.supervisor.is_empty() });
    let asked = asked(call).to_json();
    let (answered, answer) = mpsc::channel();
    thread::spawn(move || {
        // A function that does not read is no fault of ours.
        let _ = stdin.map(|mut it| it.write_all(asked.as_bytes()));
    });
    thread::spawn(move || answered.send(stdout.map(read_some).unwrap_or_default()));
    let (said, printed) = mpsc::channel();
    thread::spawn(move || said.send(stderr.map(read_some).unwrap_or_default()));
    let text = answer.recv_timeout(call.time_limit);
    let mut started = ender.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_late = text.is_err();
    let status = started.as_mut().and_then(|started| {
        if is_late {
            started.end();
        }
        started.wait()
    });
    if is_late {
        return Err(format!("took longer than {} seconds", call.time_limit.as_secs_f64()));
    }
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    if text.trim().is_empty() {
        let printed = printed.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed).trim().to_owned();
        let last = printed.lines().next_back().map(|it| format!(": {it}")).unwrap_or_default();
        let status = status.map(|it| format!(" ({it})")).unwrap_or_default();
        return Err(format!("ended without an answer{status}{last}"));
    }
    read_answer(&text)
}

/// The interpreter, in the folder of the check's definition, with what supervises it.
fn command(call: &HookCall) -> Command {
    let home = call.source.parent().filter(|it| !it.as_os_str().is_empty());
    let Some((program, arguments)) = call.supervisor.split_first() else {
        let mut command = Command::new(&call.python);
        home.map(|it| command.current_dir(it));
        return command;
    };
    let home = std::path::absolute(home.unwrap_or(Path::new("."))).unwrap_or_else(|_| PathBuf::from("/"));
    let mut command = Command::new(program);
    command.args(arguments).arg(std::process::id().to_string()).arg(home).arg(&call.python).current_dir("/");
    command
}

fn asked(call: &HookCall) -> Value {
    let source = call.source.to_string_lossy().into_owned();
    let context = [
        ("check_id", Val::from(call.check_id.clone())),
        ("description", call.description.clone().map_or(Val::Null, Val::from)),
        ("case_source_path", Val::from(source)),
    ];
    let artifact = parse_json(&call.artifact).map_or(Val::Null, |it| it.value.into_owned());
    let members =
        [("artifact", artifact), ("context", Val::Map(context.into_iter().collect())), ("hook", call.hook.to_value())];
    Val::Map(members.into_iter().collect())
}

fn read_answer(text: &str) -> Result<HookAnswer, String> {
    let line = parse_json(text.trim()).map_err(|error| format!("gave an answer that cannot be read: {error}"))?.value;
    if let Some(fault) = line.get("fault").and_then(Val::as_str) {
        return Err(format!("failed: {fault}"));
    }
    let answer = line.get("answer").and_then(HookAnswer::from_value);
    answer.ok_or_else(|| "gave an answer that cannot be read".to_owned())
}

/// Reads up to a limit, and discards the rest: a pipe that is not read would block its writer.
fn read_some(mut from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = from.by_ref().take(MOST_BYTES).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    bytes
}

#[cfg(unix)]
fn lead_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn lead_group(_: &mut Command) {}

impl Started {
    /// Ends the process with everything that it started. After the process was reaped, its group lives on under the same id as long as anything is in it.
    fn end(&mut self) {
        #[cfg(unix)]
        if let Some(id) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            use rustix::process::{Signal, kill_process, kill_process_group};
            let ended =
                if self.is_supervised { kill_process(id, Signal::TERM) } else { kill_process_group(id, Signal::KILL) };
            // What is gone has ended, which is what is wanted.
            ended.unwrap_or_default();
        }
        #[cfg(not(unix))]
        self.child.kill().unwrap_or_default();
    }

    /// Waits for the process. What it left behind in its group is ended, too; a supervisor leaves nothing.
    fn wait(&mut self) -> Option<ExitStatus> {
        let status = self.child.wait().ok();
        if !self.is_supervised {
            self.end();
        }
        status
    }
}
