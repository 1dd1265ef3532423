//! Requests to anything but a model: a tool is called, a server lists its tools, code of the embedding program or of an evaluator is called, a check looks at
//! files, an agent runs.

use std::time::Duration;

use jurat_format::value::{Map, Value};

use super::{FileRef, Media, Role};
use crate::artifact::{ArtifactProblem, RunArtifact, RunStatus};
use crate::check::{Hook, Look};

/// A request to anything but a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A server is asked which tools it has.
    ListTools {
        /// The server, by its name under `tools`.
        server: String,
    },
    CallTool {
        /// The server, by its name under `tools`.
        server: String,
        tool: String,
        /// What it is called with.
        arguments: Value,
    },
    /// Code of the embedding program is called.
    Call {
        /// What it is called, or what its author wrote.
        name: String,
        /// The values it gets, by name.
        arguments: Value,
    },
    /// An evaluator's function is called.
    Evaluate {
        evaluator: String,
        /// Its code, by [`Code::digest`](crate::evaluator::Code::digest).
        source: String,
        arguments: Value,
    },
    /// A check looks at files.
    Look { looks: Vec<Look> },
    /// Files are read that are sent with a request.
    Attach { files: Vec<FileRef> },
    /// Code of the author decides a check.
    Hook {
        hook: Hook,
        /// The check that it decides.
        check_id: String,
        description: Option<String>,
    },
    /// An agent runs a case.
    Run {
        /// The runner, by its name.
        runner: String,
        case: String,
        /// Everything that decides the result of the run, beside the runner; the model and the replicate are part of it.
        definition: Value,
        /// The role of its model.
        model: Option<Role>,
        replicate: u32,
    },
}

impl Action {
    /// The run of a case by an agent, from its definition as it is stored.
    pub fn run(runner: String, case: String, definition: Value) -> Action {
        let replicate = match definition.get("replicate") {
            Some(Value::I(number)) => u32::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        let model = definition.get("model").and_then(Value::as_str).map(Role::parse);
        Action::Run { runner, case, definition, model, replicate }
    }

    /// What a check looks at or calls, without what performs it.
    pub(super) fn asked_of_host(&self) -> Option<Value> {
        match self {
            Action::Look { looks } => Some(looks.iter().map(Look::to_value).collect()),
            Action::Hook { hook, check_id, description } => {
                let members = [
                    ("hook", Some(hook.to_value())),
                    ("check_id", Some(Value::from(check_id.clone()))),
                    ("description", description.clone().map(Value::from)),
                ];
                let members = members.into_iter().filter_map(|(key, it)| Some((key, it?)));
                Some(Value::Map(members.collect::<Map<'static>>()))
            }
            Action::ListTools { .. }
            | Action::CallTool { .. }
            | Action::Call { .. }
            | Action::Evaluate { .. }
            | Action::Attach { .. }
            | Action::Run { .. } => None,
        }
    }

    /// One word for its kind, as it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Action::ListTools { .. } => "tools",
            Action::CallTool { .. } => "tool",
            Action::Call { .. } => "call",
            Action::Evaluate { .. } => "evaluate",
            Action::Look { .. } => "look",
            Action::Attach { .. } => "attach",
            Action::Hook { .. } => "hook",
            Action::Run { .. } => "run",
        }
    }

    /// The name of what performs it, as it is stored.
    pub fn performer(&self) -> &str {
        match self {
            Action::ListTools { server } | Action::CallTool { server, .. } => server,
            Action::Call { name, .. } => name,
            Action::Evaluate { evaluator, .. } => evaluator,
            Action::Look { .. } | Action::Attach { .. } => "files",
            Action::Hook { hook, .. } => &hook.callable_name,
            Action::Run { runner, .. } => runner,
        }
    }
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// The value: the tools of a server, `{text, structured}` of a tool, whatever code returned, that of an evaluator in the form of [`crate::evaluator::transport`],
    /// what was seen at each path.
    pub value: Value,
    /// What a tool returned beside words.
    pub media: Vec<Media>,
    /// Whether it is an error that the tool or the code reports.
    pub is_error: bool,
    /// What an evaluator printed meanwhile.
    pub printed: Printed,
    pub latency: Duration,
    /// When it was done, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Returned {
    /// What something returned that prints nothing.
    pub fn new(value: Value, is_error: bool, latency: Duration, at_ms: u64) -> Returned {
        Returned { value, media: Vec::new(), is_error, printed: Printed::default(), latency, at_ms }
    }
}

/// The run of an agent that ended, however it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub artifact: RunArtifact,
    /// The artifact as it is stored, and as tasks see it. A recorded one may have members that say nothing, and another order.
    pub document: Value,
    pub latency: Duration,
    /// When it was over, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Ran {
    /// Reads the document of a run, or returns everything that is wrong with it.
    pub fn read(document: Value, latency: Duration, at_ms: u64) -> Result<Ran, Vec<ArtifactProblem>> {
        Ok(Ran { artifact: RunArtifact::read(&document)?, document, latency, at_ms })
    }

    pub fn has_succeeded(&self) -> bool {
        self.artifact.status == RunStatus::Success
    }
}

/// What code printed. It decides nothing, and is stored for reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    pub stdout: PrintedText,
    pub stderr: PrintedText,
}

/// The end of what was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedText {
    pub text: String,
    /// How many bytes before it were dropped.
    pub n_dropped: u64,
}

impl PrintedText {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.n_dropped == 0
    }
}
