//! The run artifact: one document that says what an agent was asked, what it did, what came of it and what it cost.
//!
//! The program that ran the agent writes it once; checks and judges only ever read it, so judging again never runs anything. It is the
//! format that other programs exchange, which is why reading is strict ([`RunArtifact::read`] returns everything that is wrong) and what is written reads
//! back the same. What tasks see of it is [`crate::evidence::run`].

mod read;
mod write;

pub(crate) use read::is_identifier;
pub use read::{ArtifactProblem, listed};

use jurat_format::choices;
use jurat_format::value::Value;

/// One run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RunArtifact {
    pub identity: Identity,
    pub status: RunStatus,
    pub timing: Timing,
    pub request: RunRequest,
    pub provider: Provider,
    pub usage: RunUsage,
    pub trace: Vec<Event>,
    /// The files it left that its author declared.
    pub output_artifacts: Vec<OutputArtifact>,
    /// Why it did not succeed; absent on success, there on everything else.
    pub error: Option<RunFault>,
    pub runner_metadata: Value,
}

/// Which run it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub run_id: String,
    pub case_id: String,
    pub suite_id: String,
    pub run_profile_id: String,
    /// What ran it: `openclaw`, `llm_probe`, `command` and so on.
    pub runner_type: String,
}

choices! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RunStatus {
        /// The agent ended by itself and said something.
        Success = "success",
        /// It ended in another way.
        Failed = "failed",
        /// It took too long.
        TimedOut = "timed_out",
        /// It said nothing, or its configuration was refused.
        Invalid = "invalid",
        /// The endpoint of its model failed.
        ProviderError = "provider_error",
        /// Its model refused.
        Refused = "refused",
    }
}

/// When a run was asked for, began and ended: dates as they were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timing {
    /// When it was asked for.
    pub queued_at: Option<String>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_seconds: Option<f64>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    pub requested_model: String,
    pub gateway: Option<String>,
    /// How: an object with `temperature`, `top_p`, `max_tokens`, `seed`, `max_turns`, `timeout_seconds`, `retries` and `tool_choice`.
    pub execution_parameters: Value,
    pub metadata: Value,
}

/// Who answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provider {
    pub gateway: Option<String>,
    pub provider_name: Option<String>,
    /// What they call the model.
    pub provider_model_id: Option<String>,
    /// Their name for the request.
    pub request_id: Option<String>,
    /// Their name for the answer.
    pub response_id: Option<String>,
    pub finish_reason: Option<String>,
    /// The same in their own word.
    pub native_finish_reason: Option<String>,
    pub metadata: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunUsage {
    pub normalized: Tokens,
    /// What it cost in dollars.
    pub cost_usd: Option<f64>,
    /// What the provider says, as it says it.
    pub raw_provider_usage: Option<Value>,
}

/// Tokens; what is not known is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub total: Option<u64>,
    pub reasoning: Option<u64>,
    /// Of those read: from a cache.
    pub cached_input: Option<u64>,
    pub cache_write: Option<u64>,
}

impl Tokens {
    /// Input and output tokens, and their sum.
    pub fn of(input: Option<u64>, output: Option<u64>) -> Tokens {
        let total = input.zip(output).map(|(input, output)| input + output);
        Tokens { input, output, total, ..Tokens::default() }
    }

    /// The names of the counts, in the order of the fields.
    pub const NAMES: [&'static str; 6] = [
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "reasoning_tokens",
        "cached_input_tokens",
        "cache_write_tokens",
    ];
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, where it is known.
    pub timestamp: Option<String>,
    pub metadata: Option<Value>,
    pub what: Happening,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// A message.
    Message {
        /// `system`, `user`, `assistant` or `tool`.
        role: String,
        content: Value,
        /// Who, when roles are not enough.
        name: Option<String>,
    },
    /// The agent called a tool.
    ToolCall {
        /// What the call is known by.
        call_id: Option<String>,
        tool_name: String,
        /// What it was called with, as it was written.
        raw_arguments: Value,
        /// The same as an object, where it is one.
        parsed_arguments: Option<Value>,
    },
    /// A tool came back.
    ToolResult {
        call_id: Option<String>,
        /// Whether it is an error; `None` when it is not known.
        is_error: Option<bool>,
        output: Value,
    },
    /// The runner did something.
    Runner { name: String, detail: Value },
    /// The final message of the agent.
    FinalOutput { content: Option<String> },
}

impl Happening {
    /// The name of the kind, as it is stored.
    pub fn name(&self) -> &'static str {
        match self {
            Happening::Message { .. } => "message",
            Happening::ToolCall { .. } => "tool_call",
            Happening::ToolResult { .. } => "tool_result",
            Happening::Runner { .. } => "runner",
            Happening::FinalOutput { .. } => "final_output",
        }
    }
}

/// A file that a run left.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputArtifact {
    /// What it is known by.
    pub artifact_id: String,
    /// What kind of file: `<runner>_key_output` for what the author declared.
    pub artifact_type: String,
    pub uri: String,
    pub media_type: Option<String>,
    pub byte_size: Option<u64>,
    /// Its SHA-256.
    pub sha256: Option<String>,
    /// Anything else; `workspace_relative_path` says where it stood.
    pub metadata: Option<Value>,
}

/// Why a run did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFault {
    pub code: String,
    pub message: String,
    /// The kind, in the runner's word.
    pub error_type: Option<String>,
    /// Whether trying again may help.
    pub retryable: Option<bool>,
    pub provider_code: Option<String>,
    pub metadata: Option<Value>,
}

/// The version of the format.
pub const SCHEMA_VERSION: u32 = 1;
