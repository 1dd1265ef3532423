//! The first process: it starts the program, looks after everything that comes of it, and ends all of it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::forward::Forwards;
use super::guard::Guard;
use super::members::{Members, detached_memory};
use super::root::Made;
use super::{Broken, say};
use crate::frame;
use crate::jail::orders::{Orders, RawExit, Said};
use crate::jail::{Limit, Protection};

/// How often memory and processes are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the program and returns when it has ended and has been reported.
pub(super) fn look_after(
    orders: &Orders,
    control: &mut File,
    stdout: File,
    stdin: &[u8],
    made: Made,
) -> Result<(), Broken> {
    let Made { sockets, mut enforced } = made;
    let forwards = Forwards::listen(sockets).map_err(Broken::at("a port cannot be listened on"))?;
    let guard = Guard::ready(orders, &mut enforced)?;
    if orders.is_isolated {
        // Processes of the same user may inspect this one, unless it is marked as not dumpable.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|it| Broken::at("the first process cannot be closed")(it.into()))?;
    }
    let program = start(orders, guard, stdout, stdin)?;
    // Its ends of what the program writes to are the program's now.
    super::quiet().map_err(Broken::at("standard output cannot be let go of"))?;
    let pidfd = rustix::process::pidfd_open(program, PidfdFlags::empty());
    let pidfd = pidfd.map_err(|it| Broken::at("the program cannot be waited for")(it.into()))?;
    let protections = if orders.is_isolated {
        orders.protections.clone()
    } else {
        orders.protections.iter().copied().filter(|it| is_outer(*it)).collect()
    };
    // The process that started us may be gone, and then we end soon.
    say(control, &Said::Started { enforced, protections }).unwrap_or_default();
    let mut first = First {
        orders,
        program,
        forwards,
        memory: 0,
        processes: 0,
        unlinked: 0,
        exit: None,
        stopped: None,
        kill_at: None,
        is_alone: false,
    };
    first.watch(control, &pidfd);
    Ok(())
}

/// Protections that do not need namespaces.
fn is_outer(protection: Protection) -> bool {
    use Protection::{Count, Disk, Ending, Environment, FileSize, Memory, Output, Time};
    matches!(protection, Environment | Ending | Time | Output | Count | Memory | FileSize | Disk)
}

#[allow(unsafe_code)]
fn start(orders: &Orders, mut guard: Guard, stdout: File, stdin: &[u8]) -> Result<Pid, Broken> {
    let input = input(stdin).map_err(Broken::at("there is no standard input"))?;
    let mut command = Command::new(&orders.argv[0]);
    command.args(&orders.argv[1..]).env_clear().envs(orders.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&orders.work_dir).stdin(input).stdout(stdout);
    // SAFETY: this process has one thread, so its copy may do everything that it could do itself. What it does touches nothing that the two share.
    unsafe { command.pre_exec(move || guard.put_in_force()) };
    let child = command.spawn().map_err(|error| Broken::Program(error.to_string()))?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| Broken::Program("the system gave it no id".to_owned()))
}

/// What the program reads. A file in memory never blocks.
fn input(bytes: &[u8]) -> io::Result<File> {
    if bytes.is_empty() {
        return File::open("/dev/null");
    }
    let descriptor: OwnedFd = rustix::fs::memfd_create("stdin", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(descriptor);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

struct First<'o> {
    orders: &'o Orders,
    program: Pid,
    forwards: Forwards,
    memory: u64,
    processes: u64,
    unlinked: u64,
    exit: Option<RawExit>,
    stopped: Option<Limit>,
    kill_at: Option<Instant>,
    /// Whether the process that started us is gone.
    is_alone: bool,
}

impl First<'_> {
    fn watch(&mut self, control: &mut File, pidfd: &OwnedFd) {
        let mut look_at = Instant::now() + LOOK;
        while self.exit.is_none() && self.stopped.is_none() {
            self.wait(control, pidfd, look_at);
            self.forwards.pass_on();
            self.listen(control);
            self.bury();
            if Instant::now() >= look_at {
                self.look(control);
                look_at = Instant::now() + LOOK;
            }
            if self.is_alone || self.kill_at.is_some_and(|it| Instant::now() >= it) {
                break;
            }
        }
        let is_ended = self.orders.has(Protection::Ending) || self.exit.is_none();
        // What is left ends with us where it is ours alone; where it is not, it is ended one by one.
        if is_ended && !(self.orders.is_isolated && self.orders.has(Protection::Processes)) {
            self.kill_all();
        }
        let exit = self.exit.unwrap_or(RawExit::Signal(libc::SIGKILL));
        let said = Said::Ended { exit, stopped: self.stopped, memory_bytes: self.memory, processes: self.processes };
        say(control, &said).unwrap_or_default();
    }

    fn wait(&self, control: &File, pidfd: &OwnedFd, look_at: Instant) {
        let own = [PollFd::new(control, PollFlags::IN), PollFd::new(pidfd, PollFlags::IN)];
        let mut fds: Vec<_> = own.into_iter().chain(self.forwards.interests()).collect();
        let until = self.kill_at.map_or(look_at, |it| it.min(look_at)).saturating_duration_since(Instant::now());
        // Rounded up, or the last fraction of a millisecond would be spent asking.
        let until = until.min(LOOK) + Duration::from_millis(1);
        let until = Timespec { tv_sec: 0, tv_nsec: until.as_nanos().try_into().unwrap_or(0) };
        rustix::event::poll(&mut fds, Some(&until)).map(drop).unwrap_or_default();
    }

    /// Reads the control pipe: a request to end, or its end.
    fn listen(&mut self, control: &mut File) {
        let mut fds = [PollFd::new(&*control, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_ready = rustix::event::poll(&mut fds, Some(&now)).is_ok_and(|it| it > 0);
        if !is_ready {
            return;
        }
        // The process that started us sends whole messages, and is trusted to.
        match read_end(control) {
            Some(grace) => {
                if !grace.is_zero() {
                    Members::look().signal(Signal::TERM);
                }
                self.kill_at = Some(Instant::now() + grace);
            }
            None => self.is_alone = true,
        }
    }

    /// Every process whose parent has ended is ours, and has to be reaped here.
    fn bury(&mut self) {
        while let Ok(Some((id, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if id == self.program {
                self.exit = Some(raw(status));
            }
        }
    }

    fn look(&mut self, control: &mut File) {
        let members = Members::look();
        self.processes = self.processes.max(members.n_tasks);
        if self.orders.has(Protection::Count) && members.n_tasks > self.orders.processes {
            self.stopped = Some(Limit::Processes);
        }
        let max = self.orders.memory_bytes;
        let detached = if self.orders.is_isolated && self.orders.has(Protection::Ipc) { detached_memory() } else { 0 };
        self.memory = self.memory.max(members.memory + detached);
        if self.orders.has(Protection::Memory)
            && members.memory + detached > max
            && members.exact_memory() + detached > max
        {
            self.stopped = Some(Limit::Memory);
        }
        if self.orders.has(Protection::Disk) {
            self.look_at_unlinked(members.unlinked_bytes(), control);
        }
    }

    /// Reports what no folder shows, so that it counts with what folders do.
    fn look_at_unlinked(&mut self, bytes: u64, control: &mut File) {
        if bytes > self.orders.disk_bytes {
            self.stopped = Some(Limit::Disk);
        }
        if std::mem::replace(&mut self.unlinked, bytes) != bytes {
            say(control, &Said::Unlinked { bytes }).unwrap_or_default();
        }
    }

    /// Kills all processes below this one. Processes that are forked meanwhile are killed in the next round, and there are fewer each time.
    fn kill_all(&mut self) {
        for _ in 0..1000 {
            let members = Members::look();
            if members.is_empty() {
                return;
            }
            members.signal(Signal::KILL);
            self.bury();
        }
    }
}

fn read_end(control: &mut File) -> Option<Duration> {
    let mut head = [0; 13];
    control.read_exact(&mut head).ok()?;
    let (_, body) = head.split_first_chunk::<5>()?;
    (head[4] == frame::END).then(|| body.first_chunk::<8>().map(|it| Duration::from_millis(u64::from_le_bytes(*it))))?
}

fn raw(status: WaitStatus) -> RawExit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => RawExit::Code(code),
        (None, signal) => RawExit::Signal(signal.unwrap_or(libc::SIGKILL)),
    }
}
