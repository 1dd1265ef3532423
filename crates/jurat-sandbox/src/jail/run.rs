//! Running a program to its end, seen from outside.
//!
//! One thread does all of it, the one that asks: it starts the jail, reads what comes, looks at the clock, and returns when nothing is left. The system ties the
//! jail to that thread, so it ends with it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::cgroup::Cgroup;
#[cfg(target_os = "linux")]
use super::orders::Enter;
use super::orders::{Orders, RawExit, Said};
#[cfg(target_os = "linux")]
use super::spare;
use super::{Ended, Exit, Isolation, JailError, Limit, Mechanism, Network, Program, Protection, Sandbox, StopFlag};
use super::{container, size};
use crate::frame;
#[cfg(target_os = "linux")]
use crate::worker;

/// Takes what a program writes, as it comes.
pub trait Sink {
    /// Takes the next bytes. They may be cut anywhere.
    fn take(&mut self, bytes: &[u8]);
}

impl<F: FnMut(&[u8])> Sink for F {
    fn take(&mut self, bytes: &[u8]) {
        self(bytes);
    }
}

/// How often flags and clocks are looked at when nothing comes.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long the jail may take to end once it should.
const LAST: Duration = Duration::from_secs(5);

/// How long a jail may take to be made.
const START: Duration = Duration::from_secs(30);

/// What one read takes at most.
const CHUNK: usize = 64 << 10;

/// Runs a program in a sandbox to its end. What it writes goes to the sinks as it comes, up to the limit. When this returns, nothing of the program is left, also
/// when it is an error; on the host that holds on Linux only.
///
/// # Errors
/// When the sandbox cannot be started, or the program cannot be started. That a program fails or is stopped is no error: [`Ended`] says so.
pub fn run(
    program: &Program,
    sandbox: &Sandbox,
    stdout: &mut dyn Sink,
    stderr: &mut dyn Sink,
    stop: &StopFlag,
) -> Result<Ended, JailError> {
    if program.argv.is_empty() {
        return Err(JailError::NotStarted { program: String::new(), reason: "no program is named".to_owned() });
    }
    if sandbox.isolation == Isolation::Host && !sandbox.network.forwards().is_empty() {
        return Err(JailError::Unsupported(
            "on the host there are no forwards; listen on a port of the machine instead",
        ));
    }
    let folders = [sandbox.workspace.as_path(), &sandbox.home, &sandbox.tmp];
    for path in folders {
        let problem = |source| JailError::Folder { path: path.to_owned(), source };
        if !path.metadata().map_err(problem)?.is_dir() {
            return Err(problem(io::ErrorKind::NotADirectory.into()));
        }
    }
    let (over, n_looks) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let unlinked = &AtomicU64::new(0);
    std::thread::scope(|scope| {
        if sandbox.has(Protection::Disk) {
            scope.spawn(move || watch_size(&folders, (sandbox, unlinked), &over, &ended));
        }
        let result =
            Running::start(program, sandbox, unlinked).and_then(|mut it| it.watch(stdout, stderr, stop, &n_looks));
        drop(end);
        result
    })
}

/// Looks at the folders of a program until it has ended. Looking takes time with many files, so there are pauses in proportion. Files that were removed while open are on
/// the disk as well.
fn watch_size(
    folders: &[&Path],
    (sandbox, unlinked): (&Sandbox, &AtomicU64),
    over: &mpsc::Sender<Limit>,
    ended: &mpsc::Receiver<()>,
) {
    let mut pause = Duration::from_millis(200);
    while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
        let begun = Instant::now();
        let room = sandbox.limits.disk_bytes.saturating_sub(unlinked.load(Ordering::Relaxed));
        if let Some(limit) = size::excess(folders, room, sandbox.limits.files) {
            over.send(limit).unwrap_or_default();
            return;
        }
        pause = (begun.elapsed() * 5).max(Duration::from_millis(200));
    }
}

/// What supervises the program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The first process of the jail.
    Jail,
    /// An engine, which knows it by this name.
    Container(String),
    /// Only this process.
    #[cfg(not(target_os = "linux"))]
    Direct,
}

/// A program that runs.
struct Running<'w> {
    sandbox: &'w Sandbox,
    /// Bytes of files that were removed while open, as the first process reports them.
    unlinked: &'w AtomicU64,
    name: String,
    child: Child,
    /// How the first process of the jail is spoken to. Containers have none.
    control: Option<UnixStream>,
    came: Vec<u8>,
    unsent: Vec<u8>,
    cgroup: Option<Cgroup>,
    kind: Kind,
    /// Becomes readable when the process has ended.
    handle: Option<OwnedFd>,
    begun: Instant,
    /// Why it is being ended, and when its grace is over.
    ending: Option<(Exit, Instant)>,
    /// Whether it was killed without grace.
    is_insisted: bool,
    enforced: Vec<(Limit, Mechanism)>,
    protections: Vec<Protection>,
    last: Option<Said>,
}

impl<'w> Running<'w> {
    fn start(program: &Program, sandbox: &'w Sandbox, unlinked: &'w AtomicU64) -> Result<Running<'w>, JailError> {
        let name = program.argv[0].to_string_lossy().into_owned();
        let begun = Instant::now();
        let mut running = match &sandbox.isolation {
            Isolation::Container { engine, image } => {
                let (container, arguments) = container::arguments(program, sandbox, image);
                find(engine).map_err(|error| not_started(engine.as_os_str(), &error))?;
                let mut command = client(sandbox, engine, &container);
                command.args(arguments).stdin(Stdio::piped());
                let child = spawned(
                    &mut command,
                    std::env::vars_os().collect::<Vec<_>>().iter().map(|(name, value)| (name, value)),
                    engine.as_os_str(),
                )?;
                Running::of(
                    (sandbox, unlinked),
                    name,
                    child,
                    None,
                    program.stdin.clone(),
                    Kind::Container(container),
                    begun,
                )
            }
            #[cfg(not(target_os = "linux"))]
            Isolation::Namespaces => return Err(super::probe::unavailable_here().into()),
            #[cfg(not(target_os = "linux"))]
            Isolation::Host => {
                let mut command = Command::new(&program.argv[0]);
                command.args(&program.argv[1..]).current_dir(&program.work_dir).stdin(Stdio::piped());
                let child = spawned(&mut command, program.env.iter(), &program.argv[0])?;
                Running::of((sandbox, unlinked), name, child, None, program.stdin.clone(), Kind::Direct, begun)
            }
            #[cfg(target_os = "linux")]
            Isolation::Namespaces | Isolation::Host => {
                let worker = spare::worker(&wanted(sandbox)).map_err(|error| JailError::NotStarted {
                    program: sandbox.worker.path.display().to_string(),
                    reason: error.to_string(),
                })?;
                let orders = serde_json::to_vec(&orders(program, sandbox)).map_err(io::Error::from)?;
                let mut unsent = frame::framed(frame::JAIL, &orders);
                unsent.extend(frame::framed(frame::INPUT, &program.stdin));
                let mut running = Running::of(
                    (sandbox, unlinked),
                    name,
                    worker.child,
                    Some(worker.control),
                    unsent,
                    Kind::Jail,
                    begun,
                );
                running.cgroup = worker.cgroup;
                if let Some(cgroup) = &mut running.cgroup {
                    cgroup.limit(&sandbox.limits, |it| sandbox.has(it));
                }
                running
            }
        };
        running.enforced.extend(running.outer_limits());
        Ok(running)
    }

    fn of(
        (sandbox, unlinked): (&'w Sandbox, &'w AtomicU64),
        name: String,
        child: Child,
        control: Option<UnixStream>,
        unsent: Vec<u8>,
        kind: Kind,
        begun: Instant,
    ) -> Running<'w> {
        #[cfg(target_os = "linux")]
        let handle = i32::try_from(child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .and_then(|it| rustix::process::pidfd_open(it, rustix::process::PidfdFlags::empty()).ok());
        #[cfg(not(target_os = "linux"))]
        let handle = None;
        Running {
            sandbox,
            unlinked,
            name,
            child,
            control,
            came: Vec::new(),
            unsent,
            cgroup: None,
            kind,
            handle,
            begun,
            ending: None,
            is_insisted: false,
            enforced: Vec::new(),
            protections: Vec::new(),
            last: None,
        }
    }

    /// What is enforced from outside, whatever runs.
    fn outer_limits(&self) -> Vec<(Limit, Mechanism)> {
        let own = [
            (Protection::Time, Limit::Time, Mechanism::Clock),
            (Protection::Output, Limit::Output, Mechanism::Reader),
            (Protection::Disk, Limit::Disk, Mechanism::Polling),
            (Protection::Disk, Limit::Files, Mechanism::Polling),
        ];
        let own =
            own.into_iter().filter(|(protection, ..)| self.sandbox.has(*protection)).map(|(_, limit, by)| (limit, by));
        let engine = [Limit::Processes, Limit::Memory, Limit::FileSize].map(|it| (it, Mechanism::Engine));
        own.chain(engine.into_iter().filter(|_| matches!(self.kind, Kind::Container(_)))).collect()
    }

    fn watch(
        &mut self,
        stdout: &mut dyn Sink,
        stderr: &mut dyn Sink,
        stop: &StopFlag,
        sizes: &mpsc::Receiver<Limit>,
    ) -> Result<Ended, JailError> {
        let (mut out, mut err) = (Pipe::new(self.child.stdout.take()), Pipe::new(self.child.stderr.take()));
        let mut passed = 0;
        let max = if self.sandbox.has(Protection::Output) { self.sandbox.limits.output_bytes } else { u64::MAX };
        let mut is_over = None;
        loop {
            self.wait(&out, &err);
            self.write();
            let n_read = out.read(stdout, &mut passed, max)? + err.read(stderr, &mut passed, max)?;
            self.read()?;
            if out.n_bytes + err.n_bytes > max {
                self.end(Exit::Stopped(Limit::Output));
            }
            if stop.is_insistent() {
                self.end_at_once();
            } else if stop.is_raised() {
                self.end(Exit::Interrupted);
            }
            if self.sandbox.has(Protection::Time) && self.begun.elapsed() > self.sandbox.limits.time {
                self.end(Exit::Stopped(Limit::Time));
            }
            if let Ok(limit) = sizes.try_recv() {
                self.end(Exit::Stopped(limit));
            }
            self.insist();
            // The processes that held the other ends are gone with the jail; what they wrote can still be read.
            if is_over.is_none() && self.is_gone()? {
                is_over = Some(Instant::now());
                self.handle = None;
            }
            let is_drained = out.is_closed() && err.is_closed();
            if let Some(since) = is_over
                && (is_drained || (n_read == 0 && since.elapsed() > LAST))
            {
                break;
            }
        }
        self.read()?;
        self.ended(out.n_bytes, err.n_bytes)
    }

    /// Whether nothing of the program is there any more. A jail closes its line when every process in it has ended; its worker then has nothing left to do but to end.
    fn is_gone(&mut self) -> io::Result<bool> {
        let has_let_go = self.kind == Kind::Jail && self.control.is_none();
        Ok(has_let_go || self.child.try_wait()?.is_some())
    }

    /// Waits for an event, for one poll interval at most.
    fn wait(&self, out: &Pipe<impl std::os::fd::AsFd>, err: &Pipe<impl std::os::fd::AsFd>) {
        let mut fds = Vec::with_capacity(4);
        fds.extend(out.source.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        fds.extend(err.source.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        let writes = if self.unsent.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        if let Some(control) = &self.control {
            fds.push(PollFd::new(control, PollFlags::IN | writes));
        } else if let Some(stdin) = self.child.stdin.as_ref().filter(|_| !self.unsent.is_empty()) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        // The end of the process is an event, too; where the system does not report it, it is polled.
        fds.extend(self.handle.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        let interval = Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL.as_nanos().try_into().unwrap_or(0) };
        rustix::event::poll(&mut fds, Some(&interval)).map(drop).unwrap_or_default();
    }

    /// Sends what is left to be said, as far as it goes.
    fn write(&mut self) {
        let target: &mut dyn io::Write = match (&mut self.control, &mut self.child.stdin) {
            (Some(control), _) => control,
            (None, Some(stdin)) => stdin,
            (None, None) => return,
        };
        while !self.unsent.is_empty() {
            match target.write(&self.unsent[..self.unsent.len().min(CHUNK)]) {
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The program no longer reads; its end is reported another way.
                Err(_) => self.unsent.clear(),
            }
        }
        // The end of its input is all that a container waits for.
        if self.control.is_none() {
            self.child.stdin = None;
        }
    }

    /// Reads what the first process says.
    fn read(&mut self) -> Result<(), JailError> {
        let Some(control) = &mut self.control else { return Ok(()) };
        let mut chunk = [0; 4096];
        let is_closed = loop {
            match control.read(&mut chunk) {
                Ok(0) => break true,
                Ok(n) => self.came.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break true,
            }
        };
        if is_closed {
            self.control = None;
        }
        while let Ok(Some((frame::SAID, body))) = frame::take(&mut self.came, 1 << 20) {
            match serde_json::from_slice(&body).map_err(io::Error::from)? {
                Said::Started { enforced, protections } => {
                    self.enforced.extend(enforced);
                    self.protections = protections.into_iter().collect();
                }
                Said::Unlinked { bytes } => self.unlinked.store(bytes, Ordering::Relaxed),
                said => self.last = Some(said),
            }
        }
        Ok(())
    }

    /// Begins to end the program, once.
    fn end(&mut self, why: Exit) {
        if self.ending.is_some() || self.last.is_some() {
            return;
        }
        // A program that takes too much is not asked: it would take more meanwhile.
        let is_asked = matches!(why, Exit::Interrupted | Exit::Stopped(Limit::Time));
        let grace = if is_asked { self.sandbox.limits.grace } else { Duration::ZERO };
        self.end_within(why, grace);
    }

    /// Ends the program without asking it, also when it was asked before.
    fn end_at_once(&mut self) {
        if self.is_insisted || self.last.is_some() {
            return;
        }
        self.is_insisted = true;
        let why = self.ending.map_or(Exit::Interrupted, |(why, _)| why);
        self.end_within(why, Duration::ZERO);
    }

    fn end_within(&mut self, why: Exit, grace: Duration) {
        let is_asked = !grace.is_zero();
        self.ending = Some((why, Instant::now() + grace + LAST));
        match (&self.kind, &self.sandbox.isolation) {
            (Kind::Container(container), Isolation::Container { engine, .. }) => {
                let seconds = grace.as_secs().to_string();
                let words: &[&str] =
                    if is_asked { &["stop", "--time", &seconds, container] } else { &["kill", container] };
                quietly(engine.as_os_str(), words);
            }
            #[cfg(not(target_os = "linux"))]
            (Kind::Direct, _) => {
                let signal = if is_asked { rustix::process::Signal::TERM } else { rustix::process::Signal::KILL };
                self.signal_group(signal);
            }
            _ => {
                let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
                self.unsent.extend(frame::framed(frame::END, &millis.to_le_bytes()));
                self.write();
            }
        }
    }

    /// Ends what did not end when it was asked to, and what does not start.
    fn insist(&mut self) {
        let is_late = self.ending.is_some_and(|(_, until)| Instant::now() > until);
        let is_stuck = self.protections.is_empty()
            && self.control.is_some()
            && self.sandbox.isolation == Isolation::Namespaces
            && self.begun.elapsed() > START;
        if is_late || is_stuck {
            self.kill();
        }
    }

    fn kill(&mut self) {
        if let (Kind::Container(container), Isolation::Container { engine, .. }) = (&self.kind, &self.sandbox.isolation)
        {
            quietly(engine.as_os_str(), &["rm", "--force", container]);
        }
        #[cfg(not(target_os = "linux"))]
        self.signal_group(rustix::process::Signal::KILL);
        // The first process of the jail ends with its parent, and everything in the jail with it.
        self.child.kill().unwrap_or_default();
    }

    #[cfg(not(target_os = "linux"))]
    fn signal_group(&self, signal: rustix::process::Signal) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        group.map(|it| rustix::process::kill_process_group(it, signal).unwrap_or_default()).unwrap_or_default();
    }

    fn ended(&mut self, stdout_bytes: u64, stderr_bytes: u64) -> Result<Ended, JailError> {
        let time = self.begun.elapsed();
        let killed_by_kernel = self.cgroup.as_ref().is_some_and(Cgroup::ran_out_of_memory);
        let (mut memory, mut processes) = (None, None);
        let own = match self.last.take() {
            Some(Said::Ended { exit, stopped, memory_bytes, processes: n_processes }) => {
                (memory, processes) = (Some(memory_bytes), Some(n_processes));
                match (stopped, exit) {
                    (Some(limit), _) => Exit::Stopped(limit),
                    (None, RawExit::Signal(_)) if killed_by_kernel => Exit::Stopped(Limit::Memory),
                    (None, RawExit::Signal(libc::SIGXFSZ)) => Exit::Stopped(Limit::FileSize),
                    (None, RawExit::Signal(signal)) => Exit::Signal(signal),
                    (None, RawExit::Code(code)) => Exit::Code(code),
                }
            }
            Some(Said::NoFolder { path, errno }) => {
                return Err(JailError::Folder { path: path.into(), source: io::Error::from_raw_os_error(errno) });
            }
            Some(Said::NotStarted { reason }) => {
                return Err(JailError::NotStarted { program: self.name.clone(), reason });
            }
            #[cfg(target_os = "linux")]
            Some(Said::NoSandbox { step, reason, errno }) => {
                return Err(super::probe::unavailable(&step, &reason, errno).into());
            }
            _ if self.kind != Kind::Jail => {
                let status = self.child.wait()?;
                match (status.code(), std::os::unix::process::ExitStatusExt::signal(&status)) {
                    (Some(code), _) => Exit::Code(code),
                    (None, signal) => Exit::Signal(signal.unwrap_or(0)),
                }
            }
            _ if self.ending.is_some() => Exit::Interrupted,
            _ => return Err(JailError::Lost(format!("its worker ended with {}", self.child.wait()?))),
        };
        let exit = self.ending.map_or(own, |(why, _)| why);
        #[cfg(target_os = "linux")]
        if self.kind == Kind::Jail {
            spare::prepare(&wanted(self.sandbox));
        }
        let by_cgroup = self.cgroup.as_ref().map(Cgroup::enforces).unwrap_or_default();
        self.enforced.retain(|(limit, _)| !by_cgroup.iter().any(|(it, _)| it == limit));
        self.enforced.extend(by_cgroup);
        self.enforced.sort_unstable();
        let (enforced, protections) = (std::mem::take(&mut self.enforced), std::mem::take(&mut self.protections));
        Ok(Ended {
            exit,
            time,
            stdout_bytes,
            stderr_bytes,
            peak_memory_bytes: memory,
            peak_processes: processes,
            enforced,
            protections,
        })
    }
}

/// An error must not leave anything behind either.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // A group can be removed only when no process is in it.
        #[cfg(target_os = "linux")]
        if self.kind == Kind::Jail && self.control.is_none() && self.cgroup.is_none() {
            return spare::bury(self.child.id());
        }
        self.kill();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// What a program writes to.
struct Pipe<R> {
    source: Option<R>,
    n_bytes: u64,
}

impl<R: io::Read + std::os::fd::AsFd> Pipe<R> {
    fn new(source: Option<R>) -> Pipe<R> {
        source.as_ref().map(never_block).unwrap_or_default();
        Pipe { source, n_bytes: 0 }
    }

    fn is_closed(&self) -> bool {
        self.source.is_none()
    }

    /// Reads what is there, passes on what may be, and returns how much it was. Not all of it at once: clocks are looked at in between.
    fn read(&mut self, sink: &mut dyn Sink, passed: &mut u64, max: u64) -> io::Result<u64> {
        let Some(source) = &mut self.source else { return Ok(0) };
        let mut chunk = [0; CHUNK];
        let mut n_read = 0;
        for _ in 0..16 {
            match source.read(&mut chunk) {
                Ok(0) => {
                    self.source = None;
                    break;
                }
                Ok(n) => {
                    n_read += n as u64;
                    let n_passed = usize::try_from(max - *passed).unwrap_or(usize::MAX).min(n);
                    if n_passed > 0 {
                        sink.take(&chunk[..n_passed]);
                        *passed += n_passed as u64;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.n_bytes += n_read;
        Ok(n_read)
    }
}

/// Has reads and writes return at once. Where that cannot be had, they take as long as they take.
fn never_block(end: &impl std::os::fd::AsFd) {
    if let Ok(flags) = rustix::fs::fcntl_getfl(end) {
        rustix::fs::fcntl_setfl(end, flags | rustix::fs::OFlags::NONBLOCK).unwrap_or_default();
    }
}

/// Looks for an engine as the system would: what starts it could say only in its output that there is none.
fn find(engine: &Path) -> io::Result<()> {
    if engine.components().count() > 1 {
        return engine.metadata().map(drop);
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&search).any(|it| it.join(engine).is_file());
    if is_there { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ENOENT)) }
}

fn not_started(program: &OsStr, error: &io::Error) -> JailError {
    JailError::NotStarted { program: program.to_string_lossy().into_owned(), reason: error.to_string() }
}

/// The client of an engine, which ends with this process, and whose container does as well.
#[cfg(target_os = "linux")]
fn client(sandbox: &Sandbox, engine: &Path, container: &str) -> Command {
    let removal = ["rm", "--force", container];
    let mut command = Command::new(&sandbox.worker.path);
    command.args(&sandbox.worker.arguments).arg(worker::SUPERVISE_CLIENT).arg(std::process::id().to_string());
    command.arg((1 + removal.len()).to_string()).arg(engine).args(removal).arg("/").arg(engine);
    command
}

#[cfg(not(target_os = "linux"))]
fn client(_: &Sandbox, engine: &Path, _: &str) -> Command {
    Command::new(engine)
}

fn spawned<'e>(
    command: &mut Command,
    env: impl Iterator<Item = (&'e OsString, &'e OsString)>,
    name: &OsStr,
) -> Result<Child, JailError> {
    // Ctrl-C in a terminal is not for it: it is ended in order.
    command.env_clear().envs(env).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(|error| not_started(name, &error))?;
    child.stdin.as_ref().map(never_block).unwrap_or_default();
    Ok(child)
}

fn quietly(program: &OsStr, words: &[&str]) {
    let command =
        Command::new(program).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut command) = command {
        std::thread::spawn(move || command.wait().map(drop).unwrap_or_default());
    }
}

/// The worker that this sandbox needs.
#[cfg(target_os = "linux")]
fn wanted(sandbox: &Sandbox) -> spare::Wanted {
    let enter = Enter {
        files: sandbox.has(Protection::Files),
        processes: sandbox.has(Protection::Processes),
        ipc: sandbox.has(Protection::Ipc),
        network: sandbox.has(Protection::Network) && sandbox.network != Network::Host,
        parent: std::process::id(),
    };
    spare::Wanted {
        program: sandbox.worker.clone(),
        process: std::process::id(),
        enter: (sandbox.isolation == Isolation::Namespaces).then_some(enter),
    }
}

fn orders(program: &Program, sandbox: &Sandbox) -> Orders {
    let seen = sandbox.seen();
    let folders = [(&sandbox.workspace, &seen.workspace), (&sandbox.home, &seen.home), (&sandbox.tmp, &seen.tmp)];
    let writable = folders.map(|(here, there)| (here.as_os_str().to_owned(), there.as_os_str().to_owned())).to_vec();
    let mut env: Vec<_> = program.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    if !sandbox.has(Protection::Environment) {
        env.extend(std::env::vars_os());
    }
    Orders {
        argv: program.argv.clone(),
        env,
        work_dir: program.work_dir.clone().into_os_string(),
        is_isolated: sandbox.isolation == Isolation::Namespaces,
        writable,
        read_only: sandbox.read_only.iter().map(|it| it.as_os_str().to_owned()).collect(),
        forwards: sandbox.network.forwards().iter().map(|it| (it.port, it.socket.as_os_str().to_owned())).collect(),
        processes: sandbox.limits.processes,
        memory_bytes: sandbox.limits.memory_bytes,
        file_bytes: sandbox.limits.file_bytes,
        disk_bytes: sandbox.limits.disk_bytes,
        protections: Protection::ALL.into_iter().filter(|it| sandbox.has(*it)).collect(),
    }
}
