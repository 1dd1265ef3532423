//! Workers that are started before they are needed, and buried after they have ended.
//!
//! A worker takes longer to start than everything else that a jail needs, and it can make namespaces without knowing what for. So when one program has ended, a worker for the next
//! is started. The system ties workers to the thread that started them; here that is one that lives as long as this process.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, WaitOptions};

use super::cgroup::Cgroup;
use super::orders::Enter;
use crate::{Program, frame};

/// A worker that waits for its orders.
pub(super) struct Worker {
    pub(super) child: Child,
    pub(super) control: UnixStream,
    /// Everything that it starts is in it.
    pub(super) cgroup: Option<Cgroup>,
}

/// What a worker is started for: a program that is one, and the namespaces that it makes. Without any it looks after a program of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) program: Program,
    /// The process that wants it: a copy of a process must not take what belongs to the original.
    pub(super) process: u32,
    pub(super) enter: Option<Enter>,
}

/// Takes a worker that was started before, or has one started.
pub(super) fn worker(wanted: &Wanted) -> io::Result<Worker> {
    if let Some(mut worker) = spares().remove(wanted)
        && matches!(worker.child.try_wait(), Ok(None))
    {
        return Ok(worker);
    }
    let (answer, answered) = mpsc::channel();
    let lost = || io::Error::other("the thread that starts workers has ended");
    send(Task::Start(wanted.clone(), answer)).ok_or_else(lost)?;
    answered.recv().map_err(|_| lost())?
}

/// Has a worker started for the next program, unless one waits already.
pub(super) fn prepare(wanted: &Wanted) {
    // Where there is none in time, it is started when it is needed.
    send(Task::Prepare(wanted.clone())).unwrap_or_default();
}

/// Waits for the end of a worker that is about to end. The caller need not wait for what the kernel still has to clear away.
pub(super) fn bury(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        send(Task::Bury(id)).unwrap_or_default();
    }
}

enum Task {
    Start(Wanted, Sender<io::Result<Worker>>),
    Prepare(Wanted),
    Bury(Pid),
}

/// Hands a task to the thread, which is started when it is first needed. A copy of this process that was made since has none, and must not use what belongs to the original.
fn send(task: Task) -> Option<()> {
    static THREAD: Mutex<Option<(u32, Sender<Task>)>> = Mutex::new(None);
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::process::id();
    if thread.as_ref().is_none_or(|(of, _)| *of != own) {
        let (tasks, tasked) = mpsc::channel();
        std::thread::Builder::new().name("workers".to_owned()).spawn(move || serve(&tasked)).ok()?;
        *thread = Some((own, tasks));
    }
    thread.as_ref()?.1.send(task).ok()
}

fn serve(tasks: &Receiver<Task>) {
    for task in tasks {
        match task {
            Task::Start(wanted, answer) => answer.send(start(&wanted)).unwrap_or_default(),
            Task::Prepare(wanted) => {
                if !spares().contains_key(&wanted)
                    && let Ok(worker) = start(&wanted)
                {
                    spares().insert(wanted, worker);
                }
            }
            Task::Bury(id) => rustix::process::waitpid(Some(id), WaitOptions::empty()).map(drop).unwrap_or_default(),
        }
    }
}

/// One for each program. They end with this process, because their control pipe closes.
fn spares() -> MutexGuard<'static, HashMap<Wanted, Worker>> {
    static SPARES: LazyLock<Mutex<HashMap<Wanted, Worker>>> = LazyLock::new(Mutex::default);
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(wanted: &Wanted) -> io::Result<Worker> {
    let (mut control, theirs) = UnixStream::pair()?;
    let mut command = Command::new(&wanted.program.path);
    command.args(&wanted.program.arguments).env_clear().current_dir("/");
    // Ctrl-C in a terminal is not for it: it is ended in order.
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn()?;
    let mut cgroup = None;
    if let Some(enter) = &wanted.enter {
        // Before it starts anything itself.
        cgroup = Cgroup::make(child.id());
        control.write_all(&frame::framed(frame::ENTER, &serde_json::to_vec(enter)?))?;
    }
    control.set_nonblocking(true)?;
    Ok(Worker { child, control, cgroup })
}
