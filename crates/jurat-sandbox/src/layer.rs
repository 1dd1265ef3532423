//! Kinds of protection.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of protection between the author's code and everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Nothing of the environment is passed on.
    Environment,
    /// Descriptors that were inherited are closed.
    Descriptors,
    /// No new privileges can be had, and capabilities are given up.
    Privileges,
    /// Limits of the system: memory, processor time, size of files, open files, no core dumps.
    Limits,
    /// Landlock: files other than the interpreter, its libraries and packages cannot be opened, TCP not used, processes outside not signalled.
    Landlock,
    /// Seccomp: system calls that are not on a list fail.
    Seccomp,
    /// Every call begins with names of its own and with the builtins as they were.
    Names,
    /// A process that has more threads after a call than before it is not used again.
    Threads,
    /// A process serves one source for its whole life.
    OneSource,
}

impl Layer {
    pub const ALL: [Layer; 9] = [
        Layer::Environment,
        Layer::Descriptors,
        Layer::Privileges,
        Layer::Limits,
        Layer::Landlock,
        Layer::Seccomp,
        Layer::Names,
        Layer::Threads,
        Layer::OneSource,
    ];

    /// Those without which nothing runs unless that was asked for.
    pub const REQUIRED: [Layer; 2] = [Layer::Landlock, Layer::Seccomp];

    /// Its name, as a run says it.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Environment => "environment",
            Layer::Descriptors => "descriptors",
            Layer::Privileges => "privileges",
            Layer::Limits => "limits",
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
            Layer::Names => "names",
            Layer::Threads => "threads",
            Layer::OneSource => "one_source",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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
