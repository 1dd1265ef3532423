//! What is asked of others than models: a tool called, a server asked for its tools, code of the embedding program or of an evaluator called, files looked at, an
//! agent run.

use std::time::Duration;

use jurat_format::value::{Map, Value};

use crate::check::{Hook, Look};

/// Something that others than models do.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
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
    /// Code of the author decides a check.
    Hook {
        hook: Hook,
        /// The check that it decides.
        check_id: String,
        description: Option<String>,
    },
    /// An agent runs a case.
    Run {
        /// Who runs it, by the name of its runner.
        runner: String,
        case: String,
        /// Everything that decides what the run comes to, beside who does it.
        definition: Value,
    },
}

impl Deed {
    /// What is looked at, or called: the part of such a deed that is not who does it.
    pub(super) fn asked_of_host(&self) -> Option<Value> {
        match self {
            Deed::Look { looks } => Some(looks.iter().map(Look::to_value).collect()),
            Deed::Hook { hook, check_id, description } => {
                let members = [
                    ("hook", Some(hook.to_value())),
                    ("check_id", Some(Value::from(check_id.clone()))),
                    ("description", description.clone().map(Value::from)),
                ];
                let members = members.into_iter().filter_map(|(key, it)| Some((key, it?)));
                Some(Value::Map(members.collect::<Map<'static>>()))
            }
            Deed::ListTools { .. }
            | Deed::CallTool { .. }
            | Deed::Call { .. }
            | Deed::Evaluate { .. }
            | Deed::Run { .. } => None,
        }
    }

    /// One word for its kind, as it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Deed::ListTools { .. } => "tools",
            Deed::CallTool { .. } => "tool",
            Deed::Call { .. } => "call",
            Deed::Evaluate { .. } => "evaluate",
            Deed::Look { .. } => "look",
            Deed::Hook { .. } => "hook",
            Deed::Run { .. } => "run",
        }
    }

    /// What is stored as who did it.
    pub fn doer(&self) -> &str {
        match self {
            Deed::ListTools { server } | Deed::CallTool { server, .. } => server,
            Deed::Call { name, .. } => name,
            Deed::Evaluate { evaluator, .. } => evaluator,
            Deed::Look { .. } => "files",
            Deed::Hook { hook, .. } => &hook.callable_name,
            Deed::Run { runner, .. } => runner,
        }
    }
}

/// What a deed came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// The value: the tools of a server, `{text, structured}` of a tool, whatever code returned, that of an evaluator in the form of [`crate::evaluator::transport`],
    /// what was seen at each path, the artifact of an agent's run.
    pub value: Value,
    /// Whether it is an error that the tool or the code reports.
    pub is_error: bool,
    /// What an evaluator printed meanwhile.
    pub printed: Printed,
    pub latency: Duration,
    /// When it was done, in milliseconds since 1970.
    pub at_ms: u64,
}

/// What code printed. It decides nothing, and is kept for whoever wonders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    pub stdout: PrintedText,
    pub stderr: PrintedText,
}

/// The end of what was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedText {
    pub text: String,
    /// How many bytes before it were not kept.
    pub n_dropped: u64,
}

impl PrintedText {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.n_dropped == 0
    }
}
