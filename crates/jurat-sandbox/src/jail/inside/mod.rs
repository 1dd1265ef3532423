//! The inside of a jail: its first process, and how it gets there.
//!
//! A worker leaves the machine's namespaces for new ones and starts a copy of itself, which is the first process of the jail. The copy builds the file system, gives
//! the program what it may have, starts it, and looks after it: it passes on connections, buries what has ended, looks at memory, and ends everything at the end. The
//! kernel ends the jail with its first process, the first process with the worker, and the worker with the process that started it.

mod calls;
mod first;
mod forward;
mod guard;
mod members;
mod namespaces;
mod others;
mod root;
mod target;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal};

use super::orders::{Enter, Orders, Said};
use crate::frame;
use crate::worker::{Channel, parent};

pub(crate) use forward::stand_between;
pub(crate) use members::Members;

/// Why a jail is not made.
#[derive(Debug)]
enum Broken {
    Sandbox { step: &'static str, error: io::Error },
    Folder { path: std::ffi::OsString, error: io::Error },
    Program(String),
}

impl Broken {
    fn at(step: &'static str) -> impl FnOnce(io::Error) -> Broken {
        move |error| Broken::Sandbox { step, error }
    }

    fn said(self) -> Said {
        let errno = |it: &io::Error| it.raw_os_error().unwrap_or(0);
        match self {
            Broken::Sandbox { step, error } => {
                Said::NoSandbox { step: step.to_owned(), errno: errno(&error), reason: error.to_string() }
            }
            Broken::Folder { path, error } => Said::NoFolder { path, errno: errno(&error) },
            Broken::Program(reason) => Said::NotStarted { reason },
        }
    }
}

/// Makes a jail and waits for its end, or looks after a program without one.
pub(crate) fn main(channel: Channel, kind: u8, body: &[u8]) -> u8 {
    let Channel { requests: control, replies: stdout } = channel;
    let result = if kind == frame::ENTER {
        serde_json::from_slice(body).map_err(drop).and_then(|it| isolated(&it, control, stdout))
    } else {
        watched(body, control, stdout)
    };
    u8::from(result.is_err())
}

/// Makes namespaces, becomes the parent of the first process in them, and waits for its end.
fn isolated(what: &Enter, mut control: File, stdout: File) -> Result<(), ()> {
    let tied = || parent::end_with(what.parent).map_err(Broken::at("the jail cannot be tied to jurat"));
    let system = if what.files { others::system() } else { Vec::new() };
    let entered = namespaces::enter(what).and_then(|()| tied());
    if let Err(broken) = entered {
        return say(&mut control, &broken.said()).map_err(drop);
    }
    // The holder of one end is notified when the other end is closed.
    let (alive, held) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(drop)?;
    match namespaces::copy().map_err(drop)? {
        Some(first) => {
            // The reader waits until these are closed.
            drop((stdout, alive));
            quiet().map_err(drop)?;
            let ended = rustix::process::waitpid(Some(first), rustix::process::WaitOptions::empty());
            // All processes in the jail have ended. The kernel takes a while to clear namespaces away, which is not worth waiting for.
            drop((control, held));
            ended.map(drop).map_err(drop)
        }
        None => {
            drop(held);
            let result = end_with(&alive).map_err(Broken::at("the jail cannot be tied to jurat"));
            let begun = result.and_then(|()| root::begin(what, system));
            // This worker may never be needed.
            let Ok((frame::JAIL, orders)) = frame::read(&mut control) else { return Ok(()) };
            let looked_after = begun.and_then(|()| received(&orders, &mut control)).and_then(|(orders, stdin)| {
                let made = root::build(&orders)?;
                first::look_after(&orders, &mut control, stdout, &stdin, made)
            });
            if let Err(broken) = looked_after {
                say(&mut control, &broken.said()).map_err(drop)?;
            }
            Ok(())
        }
    }
}

/// Supervises a program without a sandbox: it inherits what the program leaves behind, and ends it.
fn watched(orders: &[u8], mut control: File, stdout: File) -> Result<(), ()> {
    let heir = Pid::from_raw(i32::try_from(std::process::id()).map_err(drop)?);
    let inherits = rustix::process::set_child_subreaper(heir).map_err(io::Error::from);
    let result = inherits.map_err(Broken::at("what the program leaves behind cannot be inherited"));
    let looked_after = result
        .and_then(|()| received(orders, &mut control))
        .and_then(|(orders, stdin)| first::look_after(&orders, &mut control, stdout, &stdin, root::Made::default()));
    if let Err(broken) = looked_after {
        say(&mut control, &broken.said()).map_err(drop)?;
    }
    Ok(())
}

/// What is to be run, and what it reads.
fn received(orders: &[u8], control: &mut File) -> Result<(Orders, Vec<u8>), Broken> {
    let garbled = || Broken::Program("its orders cannot be read".to_owned());
    let orders = serde_json::from_slice(orders).map_err(|_| garbled())?;
    match frame::read(control) {
        Ok((frame::INPUT, stdin)) => Ok((orders, stdin)),
        _ => Err(garbled()),
    }
}

fn say(control: &mut File, said: &Said) -> io::Result<()> {
    frame::write(control, frame::SAID, &serde_json::to_vec(said)?)
}

/// Ends when the process ends that holds the other end of a pipe, which is the parent. It may have ended before it could be tied to, and then the pipe is closed; a parent
/// outside of the namespace has no id here to compare.
fn end_with(alive: &OwnedFd) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_gone = rustix::event::poll(&mut [PollFd::new(alive, PollFlags::IN)], Some(&now))? > 0;
    if is_gone { Err(io::Error::other("it has ended")) } else { Ok(()) }
}

/// Lets go of standard output and error.
fn quiet() -> io::Result<()> {
    let nothing: OwnedFd = File::options().write(true).open("/dev/null")?.into();
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(rustix::stdio::dup2_stderr(&nothing)?)
}
