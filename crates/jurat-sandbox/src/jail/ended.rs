//! How a program ended.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Protection, Unavailable};
use crate::named::named;

/// How a program ended, and what isolated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub exit: Exit,
    /// How long it took, of real time.
    pub time: Duration,
    /// Bytes it wrote to standard output, those that were not passed on included.
    pub stdout_bytes: u64,
    /// Bytes it wrote to standard error, those that were not passed on included.
    pub stderr_bytes: u64,
    /// The most memory it was seen to use, in bytes. None when it was not measured.
    pub peak_memory_bytes: Option<u64>,
    /// The most processes and threads it was seen to have. None when it was not measured.
    pub peak_processes: Option<u64>,
    /// What enforced each limit. A limit that is not here was not enforced.
    pub enforced: Vec<(Limit, Mechanism)>,
    pub protections: Vec<Protection>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with a status.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It went beyond a limit and was ended with everything that it had started.
    Stopped(Limit),
    /// It was ended because that was asked for.
    Interrupted,
}

impl Exit {
    /// Whether it ended by itself and says that all is well.
    pub fn is_success(self) -> bool {
        self == Exit::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "ended with status {code}"),
            Exit::Signal(signal) => write!(f, "ended by signal {signal}"),
            Exit::Stopped(limit) => write!(f, "was stopped: it went beyond its limit of {limit}"),
            Exit::Interrupted => f.write_str("was interrupted"),
        }
    }
}

named! {
    /// Something a program may use only so much of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Limit {
        /// Time.
        Time = "time",
        Output = "output",
        Processes = "processes",
        Memory = "memory",
        /// The size of one file.
        FileSize = "file size",
        /// The size of all files.
        Disk = "disk space",
        /// The number of files.
        Files = "files",
    }
}

named! {
    /// What enforces a limit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mechanism {
        /// jurat's clock.
        Clock = "clock",
        /// jurat, which reads what is written.
        Reader = "reader",
        /// A control group: the kernel refuses.
        Cgroup = "cgroup",
        /// The largest process id of the namespace: the kernel refuses.
        PidMax = "pid_max",
        /// A limit of the system for each user: the kernel refuses.
        Rlimit = "rlimit",
        /// Looking ten times a second, and ending what is beyond.
        Polling = "polling",
        /// The engine of the container.
        Engine = "engine",
    }
}

/// Why a program was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    /// The sandbox cannot be started here.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The program cannot be started.
    #[error("`{program}` cannot be started: {reason}")]
    NotStarted { program: String, reason: String },
    /// A folder or file of the sandbox cannot be used.
    #[error("`{}` cannot be used: {source}", .path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// What was asked for cannot be had with this isolation.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The first process of the jail went away, and with it everything in it.
    #[error("the jail ended before the program in it: {0}")]
    Lost(String),
    /// The system refused something.
    #[error("the jail cannot be made: {0}")]
    System(#[from] io::Error),
}
