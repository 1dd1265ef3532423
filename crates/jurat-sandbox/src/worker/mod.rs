//! The inside of a worker process.
//!
//! A worker is a program of ours, started anew: it receives what to become, gives up everything that it does not need for that, and only then receives
//! the author's code. For Python it becomes the interpreter; JavaScript it runs itself.
//!
//! Its standard input and output are how it is spoken to. They are moved out of the way before anything else, so that what code prints there is
//! not mistaken for an answer.

#[cfg(target_os = "linux")]
pub(crate) mod calls;
mod copy;
#[cfg(target_os = "linux")]
mod exec_once;
pub(crate) mod harden;
mod javascript;
#[cfg(target_os = "linux")]
pub(crate) mod parent;
mod python;
#[cfg(target_os = "linux")]
mod supervise;

use std::fs::File;
use std::io::Write as _;

use rustix::fd::OwnedFd;

use crate::frame;
use crate::orders::{Orders, Role};

/// The word that makes a program a worker when it is the first argument. `jurat` itself listens to it.
pub const WORD: &str = "__worker";

/// The word after it that makes a worker stand between a program and sockets, in a container.
pub(crate) const FORWARD: &str = "forward";

/// The word that makes a worker start another program and end it with the process that asks: the id of the process that asks, a folder, the program and its arguments follow.
/// What the program reads and writes is what the worker would.
pub const SUPERVISE: &str = "__supervise";

/// The same for a client of a container engine: between the id and the folder come a number of words, and that many words of the command that removes the container. It is
/// run when the client did not end by itself.
pub(crate) const SUPERVISE_CLIENT: &str = "__supervise_client";

/// How workers call code. A change of what a call means changes the number, so that what came of calls before it is not used again.
pub const REVISION: u32 = 2;

/// What interprets JavaScript.
pub(crate) const JAVASCRIPT: &str = "quickjs-ng";

/// Runs as a worker until it is no longer needed. To be called before the program has started any thread.
pub fn main() -> u8 {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(2).is_some_and(|it| it == FORWARD) {
        return crate::jail::inside::stand_between(std::env::args_os().skip(3));
    }
    #[cfg(target_os = "linux")]
    {
        let mut words = std::env::args_os();
        if let Some(word) = words.find(|it| it == SUPERVISE || it == SUPERVISE_CLIENT) {
            return supervise::main(words, word == SUPERVISE_CLIENT);
        }
    }
    share_one_heap();
    let Ok(mut channel) = Channel::take() else { return 1 };
    let body = match frame::read(&mut channel.requests) {
        Ok((frame::ORDERS, body)) => body,
        #[cfg(target_os = "linux")]
        Ok((kind @ (frame::ENTER | frame::JAIL), body)) => return crate::jail::inside::main(channel, kind, &body),
        _ => return 1,
    };
    let Ok(orders) = serde_json::from_slice::<Orders>(&body) else { return 1 };
    let problem = match &orders.role {
        Role::Python { executable, readable, start } => {
            python::become_interpreter(&mut channel, &orders, executable, readable, start)
        }
        Role::Asked { executable, readable, packages } => {
            python::answer_as_interpreter(&mut channel, &orders, executable, readable, *packages)
        }
        Role::JavaScript => javascript::serve(&mut channel, &orders),
    };
    let Err(problem) = problem else { return 0 };
    // The reader may be gone, and then the answer is not needed.
    frame::write(&mut channel.replies, frame::REFUSED, &serde_json::to_vec(&problem).unwrap_or_default())
        .unwrap_or_default();
    1
}

/// Each thread would reserve memory for a heap of its own, which counts against the limit of the worker although nothing is in it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn share_one_heap() {
    // SAFETY: it sets a number, and there are no other threads yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_one_heap() {}

/// How a worker is spoken to.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) requests: File,
    pub(crate) replies: File,
}

impl Channel {
    /// Moves standard input and output out of the way. What is written to standard output from here on goes to standard error.
    fn take() -> std::io::Result<Channel> {
        let (stdin, stdout) = (rustix::io::dup(rustix::stdio::stdin())?, rustix::io::dup(rustix::stdio::stdout())?);
        let nothing: OwnedFd = File::open("/dev/null")?.into();
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Channel { requests: File::from(stdin), replies: File::from(stdout) })
    }

    pub(crate) fn say(&mut self, kind: u8, body: &[u8]) -> std::io::Result<()> {
        self.replies.write_all(&frame::framed(kind, body))
    }
}
