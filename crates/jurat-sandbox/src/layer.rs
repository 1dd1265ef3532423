//! Kinds of protection.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::named::named;

named! {
    /// One kind of protection between the author's code and everything else.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Layer {
        /// Nothing of the environment is passed on.
        Environment = "environment",
        /// Descriptors that were inherited are closed.
        Descriptors = "descriptors",
        /// No new privileges can be had, and capabilities are given up.
        Privileges = "privileges",
        /// Limits of the system: memory, processor time, size of files, open files, no core dumps.
        Limits = "limits",
        /// Landlock: files other than the interpreter, its libraries and packages cannot be opened, TCP not used, processes outside not signalled.
        Landlock = "landlock",
        /// Seccomp: system calls that are not on a list fail.
        Seccomp = "seccomp",
        /// Every call begins with names of its own and with the builtins as they were.
        Names = "names",
        /// A process that has more threads after a call than before it is not used again.
        Threads = "threads",
        /// A process serves one source for its whole life.
        OneSource = "one_source",
    }
}

impl Layer {
    /// Those without which nothing runs unless that was asked for.
    pub const REQUIRED: [Layer; 2] = [Layer::Landlock, Layer::Seccomp];
}

/// Why code of authors cannot be protected on this machine, one sentence for each required layer that it lacks. Nothing is started to find out.
pub fn missing_layers() -> Vec<String> {
    crate::worker::harden::missing_layers()
}

/// The protections that were in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    pub layers: BTreeSet<Layer>,
    /// Why others were not, one sentence each.
    pub missing: Vec<String>,
}

impl InForce {
    /// Whether everything that is required was in force.
    pub fn is_safe(&self) -> bool {
        Layer::REQUIRED.iter().all(|it| self.layers.contains(it))
    }
}
