//! Standing between jurat and a program that it talks to: a server with tools, a model that is a program.
//!
//! The supervisor starts the program with its own standard input and output, and then lets go of them. It inherits everything that the program leaves behind, and
//! ends all of it when the program ends, when it is asked to (`SIGTERM`), or when jurat ends, in whatever way. A death signal in the program itself would not do: the
//! kernel ties it to the thread that started the program, and threads of jurat come and go.
//!
//! A container is not below the program that asked for it. Its supervisor is given a second command, which removes the container when the program did not end by itself.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::parent;
use crate::jail::inside::Members;

/// The status of a program that cannot be started, as shells have it.
const NOT_STARTED: u8 = 127;

/// How long the command that removes a container may take.
const REMOVAL: Duration = Duration::from_secs(20);

/// What is started, and for which process.
struct Orders {
    parent: u32,
    /// The command that is run when the program was ended; empty for none.
    afterwards: Vec<OsString>,
    folder: PathBuf,
    program: OsString,
    arguments: Vec<OsString>,
}

/// Runs a program until it or jurat ends. The words are the id of the process that asks, the folder, the program and its arguments. For a client of containers
/// (`is_client`) the number of words of the command that removes the container, and that command, come before the folder.
pub(super) fn main(words: impl Iterator<Item = OsString>, is_client: bool) -> u8 {
    let Some(orders) = read(words, is_client) else { return 1 };
    match supervise(&orders) {
        Ok(status) => end_like(status),
        Err(error) => {
            eprintln!("`{}` cannot be started: {error}", orders.program.to_string_lossy());
            NOT_STARTED
        }
    }
}

fn read(mut words: impl Iterator<Item = OsString>, is_client: bool) -> Option<Orders> {
    let parent = words.next()?.to_str()?.parse().ok()?;
    let n_afterwards = if is_client { words.next()?.to_str()?.parse().ok()? } else { 0 };
    let afterwards = words.by_ref().take(n_afterwards).collect();
    Some(Orders {
        parent,
        afterwards,
        folder: words.next()?.into(),
        program: words.next()?,
        arguments: words.collect(),
    })
}

fn supervise(orders: &Orders) -> io::Result<Option<WaitStatus>> {
    let asker = i32::try_from(orders.parent).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let asker = rustix::process::pidfd_open(asker, PidfdFlags::empty())?;
    // Its id was that of the process that asks when the handle was made: otherwise this process would have another parent now.
    let is_there =
        || rustix::process::getppid().is_some_and(|it| it.as_raw_nonzero().get().unsigned_abs() == orders.parent);
    if !is_there() {
        return Err(io::Error::other("the process that asks has ended"));
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let signals = signals()?;
    let program = start(orders)?;
    let nothing: OwnedFd = File::options().read(true).write(true).open("/dev/null")?.into();
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let status = watch(program, &asker, &signals);
    kill_all();
    if status.is_none() {
        remove_container(&orders.afterwards, &signals);
    }
    Ok(status)
}

/// Runs the command that removes a container, for as long as that may take.
fn remove_container(words: &[OsString], signals: &OwnedFd) {
    let Some((program, arguments)) = words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut command) = command.spawn() else { return };
    let until = Instant::now() + REMOVAL;
    while let (Ok(None), Some(left)) = (command.try_wait(), until.checked_duration_since(Instant::now())) {
        let most = Timespec { tv_sec: left.as_secs().try_into().unwrap_or(1), tv_nsec: left.subsec_nanos().into() };
        rustix::event::poll(&mut [PollFd::new(signals, PollFlags::IN)], Some(&most)).map(drop).unwrap_or_default();
        is_asked(signals);
    }
    kill_all();
}

#[allow(unsafe_code)]
fn start(orders: &Orders) -> io::Result<Pid> {
    let own = std::process::id();
    let mut command = Command::new(&orders.program);
    command.args(&orders.arguments).current_dir(&orders.folder).process_group(0);
    // The copy would inherit which signals are blocked.
    let ready = move || {
        hear_signals();
        parent::end_with(own)
    };
    // SAFETY: this process has one thread, so its copy may do everything that it could do itself.
    unsafe { command.pre_exec(ready) };
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("it has no id"))
}

/// Waits for the end of the program, of the process that asks, or for the timeout. Returns how the program ended, if it did.
fn watch(program: Pid, asker: &OwnedFd, signals: &OwnedFd) -> Option<WaitStatus> {
    loop {
        let mut events = [PollFd::new(asker, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        let polled = rustix::event::poll(&mut events, None);
        if !events[0].revents().is_empty() || (polled.is_ok() && is_asked(signals)) {
            return None;
        }
        let ended = buried(program);
        if ended.is_some() {
            return ended;
        }
    }
}

/// Reaps everything that has ended. Returns how the program ended, if it is among it.
fn buried(program: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((id, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if id == program {
            ended = Some(status);
        }
    }
    ended
}

/// Ends everything below. What is started meanwhile is ended in the next round.
fn kill_all() {
    for _ in 0..1000 {
        let members = Members::look();
        if members.is_empty() {
            return;
        }
        members.signal(Signal::KILL);
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
    }
}

/// A descriptor that is ready when a child has ended or when this process is asked to end. Neither is a signal any more.
#[allow(unsafe_code)]
fn signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is plain memory that the calls below fill in, and the descriptor that is returned has no other owner.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Has signals do what they do again.
#[allow(unsafe_code)]
fn hear_signals() {
    // SAFETY: the set is plain memory that the calls fill in and read.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Whether this process was asked to end.
fn is_asked(signals: &OwnedFd) -> bool {
    // As the kernel has it: the number of the signal is the first word.
    let mut record = [0; 128];
    let mut is_asked = false;
    while let Ok(128) = rustix::io::read(signals, &mut record) {
        is_asked |= record.first_chunk::<4>().is_some_and(|it| i32::from_ne_bytes(*it) == libc::SIGTERM);
    }
    is_asked
}

/// Ends as the program ended, so that the caller sees the same status.
fn end_like(status: Option<WaitStatus>) -> u8 {
    let Some(status) = status else { return 1 };
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        rustix::process::setrlimit(rustix::process::Resource::Core, none).unwrap_or_default();
        hear_signals();
        rustix::process::kill_process(rustix::process::getpid(), signal).unwrap_or_default();
    }
    status.exit_status().and_then(|it| u8::try_from(it).ok()).unwrap_or(1)
}
