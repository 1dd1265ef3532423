//! The messages between a jail's first process and the process that started it.

use std::collections::BTreeSet;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::{Limit, Mechanism, Protection};

/// What a worker makes of a jail, before it is known what for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Enter {
    /// A file system of its own.
    pub(crate) files: bool,
    /// A list of processes of its own.
    pub(crate) processes: bool,
    /// Queues and a host name of its own.
    pub(crate) ipc: bool,
    /// A network of its own.
    pub(crate) network: bool,
    pub(crate) parent: u32,
}

/// What the first process of a jail receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) work_dir: OsString,
    /// Whether there are namespaces, or only a process that supervises the program.
    pub(crate) is_isolated: bool,
    /// Folders that can be written: where they are, and where they are seen.
    pub(crate) writable: Vec<(OsString, OsString)>,
    pub(crate) read_only: Vec<OsString>,
    /// Ports of its loopback, and the sockets they lead to.
    pub(crate) forwards: Vec<(u16, OsString)>,
    pub(crate) processes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) file_bytes: u64,
    /// The most bytes of files that no folder names any more. With what folders hold they may not be more either, which is looked at outside.
    pub(crate) disk_bytes: u64,
    /// What to enforce.
    pub(crate) protections: BTreeSet<Protection>,
}

impl Orders {
    pub(crate) fn has(&self, protection: Protection) -> bool {
        self.protections.contains(&protection)
    }
}

/// What the first process of a jail says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// The program runs.
    Started { enforced: Vec<(Limit, Mechanism)>, protections: BTreeSet<Protection> },
    /// The bytes of files that no folder names any more, when they are other than before.
    Unlinked { bytes: u64 },
    /// The sandbox cannot be started.
    NoSandbox { step: String, reason: String, errno: i32 },
    /// A folder cannot be used.
    NoFolder { path: OsString, errno: i32 },
    /// The program cannot be started.
    NotStarted { reason: String },
    /// The program has ended, and what it left is being ended.
    Ended { exit: RawExit, stopped: Option<Limit>, memory_bytes: u64, processes: u64 },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RawExit {
    Code(i32),
    Signal(i32),
}
