//! What there is to run, and how.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Code that an author wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    pub language: Language,
    pub text: String,
    /// The function that is called.
    pub entry: String,
    /// How calls are isolated from each other.
    pub isolation: Isolation,
    pub limits: Limits,
    /// For Python: an interpreter, or the folder of a virtual environment. Without one it is `python3` as it is found.
    pub python: Option<PathBuf>,
}

impl Source {
    /// Code with the function `evaluate` and the usual limits.
    pub fn new(language: Language, text: impl Into<String>) -> Source {
        Source {
            language,
            text: text.into(),
            entry: "evaluate".to_owned(),
            isolation: Isolation::Process,
            limits: Limits::default(),
            python: None,
        }
    }
}

/// A language that authors write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python, by an interpreter that is installed.
    Python,
    /// JavaScript, by the built-in interpreter.
    JavaScript,
    /// TypeScript: JavaScript once its types are blanked.
    TypeScript,
}

/// How the calls of one source are isolated from each other. Those of different sources never share a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// One process for many calls. Names are fresh each time; modules that were imported and what is built in are shared.
    Process,
    /// A process for each call, copied from one that never ran the code.
    Fork,
}

/// What code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// How long one call may take, of real time.
    pub deadline: Duration,
    /// How much memory its process may map, in bytes.
    pub memory: u64,
    /// How many bytes of standard output and of standard error are retained, each. The end is retained.
    pub output: usize,
    /// How many bytes a returned value may have when it is written down.
    pub value: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { deadline: Duration::from_secs(30), memory: 1 << 30, output: 1 << 20, value: 1 << 20 }
    }
}
