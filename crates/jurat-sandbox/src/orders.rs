//! What a worker receives before it gives up its privileges, and afterwards.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::interpreter::{Packages, Start};
use crate::{Isolation, Layer, Passing};

/// The first message to a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) role: Role,
    pub(crate) isolation: Isolation,
    /// Bytes of memory it may map.
    pub(crate) memory: u64,
    /// The protections to put in force.
    pub(crate) layers: BTreeSet<Layer>,
    /// Whether it continues without those that the system does not have.
    pub(crate) is_unsafe: bool,
    pub(crate) parent: u32,
}

/// What a worker becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// A Python interpreter.
    Python {
        executable: PathBuf,
        /// Files and folders it may read.
        readable: Vec<PathBuf>,
        start: Start,
    },
    /// A Python interpreter that says where its packages are, and ends.
    Asked { executable: PathBuf, readable: Vec<PathBuf>, packages: Packages },
    /// An interpreter of JavaScript.
    JavaScript,
}

/// What a worker receives once it has given up its privileges: the only code it will ever run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) text: String,
    pub(crate) entry: String,
    /// Bytes retained of what is printed.
    pub(crate) output: usize,
    /// Bytes a returned value may have.
    pub(crate) value: usize,
    pub(crate) depth: usize,
    pub(crate) isolation: Isolation,
    /// Whether names are fresh each time.
    pub(crate) fresh: bool,
    /// Whether an error that the sandbox caused says so.
    pub(crate) explains: bool,
    /// How a function of JavaScript takes its arguments, and their names if that is in order.
    pub(crate) passing: Passing,
    pub(crate) names: Vec<String>,
    /// The filter that copies put on themselves, as instructions.
    pub(crate) filter: Vec<(u16, u8, u8, u32)>,
}
