//! What is run, and what stands between it and the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::named::named;

/// One program to run in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The program and its arguments. A name without a slash is looked for along the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// Its environment: exactly these variables, nothing is inherited.
    pub env: BTreeMap<OsString, OsString>,
    /// What it reads from standard input.
    pub stdin: Vec<u8>,
    /// Where it starts, as it sees it.
    pub work_dir: PathBuf,
}

/// What stands between a program and the machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// What is started as the first process of the jail: a program that is a worker when it is started so.
    pub worker: crate::Program,
    pub isolation: Isolation,
    /// The folder that it works on. Writable; it sees it at [`Seen::workspace`].
    pub workspace: PathBuf,
    /// Its home: private and writable.
    pub home: PathBuf,
    /// Its folder for temporary files: private and writable.
    pub tmp: PathBuf,
    /// Folders and files that it may read, at their own paths: its installation. What is not there is an error.
    pub read_only: Vec<PathBuf>,
    /// Whom it can speak to.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
    /// Protections to leave out, to show that they hold.
    #[doc(hidden)]
    pub without: BTreeSet<Protection>,
}

impl Sandbox {
    /// A sandbox without a network, with the default limits.
    pub fn new(
        worker: crate::Program,
        isolation: Isolation,
        workspace: impl Into<PathBuf>,
        home: impl Into<PathBuf>,
        tmp: impl Into<PathBuf>,
    ) -> Sandbox {
        Sandbox {
            worker,
            isolation,
            workspace: workspace.into(),
            home: home.into(),
            tmp: tmp.into(),
            read_only: Vec::new(),
            network: Network::Off,
            limits: Limits::default(),
            without: BTreeSet::new(),
        }
    }

    /// How a program in this sandbox sees its folders.
    pub fn seen(&self) -> Seen {
        let moved = |here: &Path, there: &str| match self.isolation {
            Isolation::Host => here.to_owned(),
            Isolation::Namespaces if !self.has(Protection::Files) => here.to_owned(),
            Isolation::Namespaces | Isolation::Container { .. } => PathBuf::from(there),
        };
        Seen {
            workspace: moved(&self.workspace, "/workspace"),
            home: moved(&self.home, "/home/agent"),
            tmp: moved(&self.tmp, "/tmp"),
        }
    }

    pub(crate) fn has(&self, protection: Protection) -> bool {
        !self.without.contains(&protection)
    }
}

/// How a program sees its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub workspace: PathBuf,
    /// Its home, for `HOME`.
    pub home: PathBuf,
    /// Its folder for temporary files, for `TMPDIR`.
    pub tmp: PathBuf,
}

/// Where a program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// In namespaces of the kernel: it sees its folders, the system's programs and what was named, and nothing else. Linux only.
    Namespaces,
    Container {
        /// The command of the engine: `docker` or `podman`.
        engine: PathBuf,
        image: String,
    },
    /// On the machine itself, as the user of jurat, without isolation. Only where it was asked for with `--unsafe-host`.
    Host,
}

impl Isolation {
    /// Its name, as a run says it.
    pub fn name(&self) -> &'static str {
        match self {
            Isolation::Namespaces => "namespaces",
            Isolation::Container { .. } => "container",
            Isolation::Host => "host",
        }
    }
}

/// Whom a program can speak to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Itself: it has a loopback of its own, and nothing leads out of it.
    Off,
    /// Itself, and what listens on unix sockets of this machine: each is a port of its loopback. Names that are allowed are a proxy behind such a port.
    Loopback { forwards: Vec<Forward> },
    /// All names that this machine can reach.
    Host,
}

impl Network {
    /// Its name, as a run says it.
    pub fn name(&self) -> &'static str {
        match self {
            Network::Off => "off",
            Network::Loopback { .. } => "loopback",
            Network::Host => "host",
        }
    }

    pub(crate) fn forwards(&self) -> &[Forward] {
        match self {
            Network::Loopback { forwards } => forwards,
            Network::Off | Network::Host => &[],
        }
    }
}

/// A port of the program's loopback that leads to a socket of this machine. On the host there are no forwards: servers are reached at their own ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// The port, on 127.0.0.1.
    pub port: u16,
    pub socket: PathBuf,
}

/// How much a program may use. All of it counts everything that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take, of real time.
    pub time: Duration,
    /// How long it may take to end after it was asked to.
    pub grace: Duration,
    /// Bytes of standard output and standard error together.
    pub output_bytes: u64,
    /// Processes and threads at the same time.
    pub processes: u64,
    pub memory_bytes: u64,
    /// Bytes that one file may have.
    pub file_bytes: u64,
    /// Bytes that workspace, home and temporary files may have together.
    pub disk_bytes: u64,
    /// Files and folders that workspace, home and temporary files may have together.
    pub files: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(600),
            grace: Duration::from_secs(2),
            output_bytes: 64 << 20,
            processes: 1024,
            memory_bytes: 4 << 30,
            file_bytes: 2 << 30,
            disk_bytes: 4 << 30,
            files: 500_000,
        }
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Protection {
        /// A file system of its own: nothing of the machine is there but what it needs.
        Files = "files",
        /// Processes of its own: it sees no others, and all of them end with the first.
        Processes = "processes",
        /// A network of its own.
        Network = "network",
        /// Queues, semaphores and a host name of its own.
        Ipc = "ipc",
        /// Capabilities are given up, and none can be had.
        Privileges = "privileges",
        /// Landlock: nothing can be written outside of its folders, not even what the file system would allow.
        Landlock = "landlock",
        /// Seccomp: system calls that agents do not need fail.
        Seccomp = "seccomp",
        /// The settings of the kernel cannot be changed through `/proc`.
        Kernel = "kernel",
        /// The environment is what was given.
        Environment = "environment",
        /// Everything is ended with the program.
        Ending = "ending",
        /// The limit of time.
        Time = "time",
        /// The limit of output.
        Output = "output",
        /// The limit of processes.
        Count = "count",
        /// The limit of memory.
        Memory = "memory",
        /// The limit of one file.
        FileSize = "file_size",
        /// The limits of what is left on the disk.
        Disk = "disk",
    }
}
