//! What became of a request.

use std::time::Duration;

use super::{FaultClass, Logprobs, Ran, Reasoning, Returned, Role, ToolCall, UsedTool};
use crate::artifact::RunStatus;
use crate::verdict::StopReason;

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A complete answer of a model, whatever it says.
    Answer(Box<Answer>),
    /// The result of an action, whatever it is.
    Returned(Box<Returned>),
    /// An agent ran.
    Ran(Box<Ran>),
    /// No answer.
    Fault(Box<Fault>),
    /// It was never made.
    NotRun(StopReason),
}

impl Outcome {
    /// The fault of its endpoint that the run of an agent ended with, when there was one.
    pub fn endpoint_fault(&self) -> Option<(FaultClass, &str)> {
        let Outcome::Ran(ran) = self else { return None };
        let error = ran.artifact.error.as_ref().filter(|_| ran.artifact.status == RunStatus::ProviderError)?;
        Some((error.error_type.as_deref().and_then(FaultClass::named)?, &error.message))
    }
}

/// A complete answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    /// The tools it wants to call.
    pub tool_calls: Vec<ToolCall>,
    /// The tools that it called itself: an application does, a model cannot.
    pub used: Vec<UsedTool>,
    /// What it thought before, where its provider shows it.
    pub reasoning: Option<Box<Reasoning>>,
    /// How likely its tokens were, where that was asked for.
    pub logprobs: Option<Box<Logprobs>>,
    pub finish: Finish,
    /// The tokens it took, where the provider says.
    pub usage: Option<Usage>,
    /// What it cost in dollars, where usage and price are known.
    pub cost_usd: Option<f64>,
    pub served: Served,
    /// How long the request that was answered took; waiting for a turn and failed requests are not in it.
    pub latency: Duration,
    /// How long its first words took, where it came in pieces.
    pub first_token: Option<Duration>,
    /// When the answer was complete, in milliseconds since 1970.
    pub at_ms: u64,
    /// How many requests it took, failed ones included.
    pub n_requests: u32,
    /// The requests that failed before it.
    pub failed: Vec<Attempt>,
}

impl Answer {
    /// How long the request took, where that says something about the model: not in a batch.
    pub fn measured_latency(&self) -> Option<Duration> {
        self.served.batch.is_none().then_some(self.latency)
    }

    /// Whether it says something, but not how likely its tokens were.
    pub fn lacks_logprobs(&self) -> bool {
        let says_something = !self.text.is_empty() && self.tool_calls.is_empty() && self.finish != Finish::Refusal;
        says_something && self.logprobs.is_none()
    }

    /// An answer of which nothing but the text is known.
    pub fn new(text: impl Into<String>) -> Answer {
        Answer {
            text: text.into(),
            tool_calls: Vec::new(),
            used: Vec::new(),
            reasoning: None,
            logprobs: None,
            finish: Finish::Stop,
            usage: None,
            cost_usd: None,
            served: Served::default(),
            latency: Duration::ZERO,
            first_token: None,
            at_ms: 0,
            n_requests: 1,
            failed: Vec::new(),
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It reached `max_tokens`.
    Length,
    /// It wants tools to be called.
    ToolCalls,
    /// It, or a filter of its provider, refused.
    Refusal,
    /// Something else, in the provider's word.
    Other(String),
}

impl Finish {
    pub fn name(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::ToolCalls => "tool_calls",
            Finish::Refusal => "refusal",
            Finish::Other(word) => word,
        }
    }

    /// The reason that a word of [`Finish::name`] means.
    pub fn named(word: &str) -> Finish {
        match word {
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "tool_calls" => Finish::ToolCalls,
            "refusal" => Finish::Refusal,
            other => Finish::Other(other.to_owned()),
        }
    }
}

/// Tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    /// Of the input tokens: read from the provider's cache.
    pub cached: u64,
    /// Of the output tokens: those of reasoning.
    pub reasoning: u64,
    /// Of the input tokens: written into the provider's cache.
    pub cache_write: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds the tokens of another answer.
    pub fn merge(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// Who answered, as the provider says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Served {
    pub model: Option<String>,
    /// The fingerprint of what ran it.
    pub fingerprint: Option<String>,
    /// The provider's name for the request.
    pub request_id: Option<String>,
    /// The batch that it was sent in, at the price of batches. How long it took says nothing about the model then.
    pub batch: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// What it means for further requests.
    pub class: FaultClass,
    /// What went wrong, in words.
    pub message: String,
    /// The role, or the model, that was asked.
    pub role: Option<Role>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// How many requests were made.
    pub n_requests: u32,
    pub failed: Vec<Attempt>,
}

impl Fault {
    /// A fault of which nothing but the words are known.
    pub fn new(kind: FaultKind, message: impl Into<String>, n_requests: u32) -> Fault {
        let message = message.into();
        Fault { kind, class: kind.into(), message, role: None, key_env: None, n_requests, failed: Vec::new() }
    }

    /// What went wrong and who was asked: equal for every fault with one cause.
    pub fn cause(&self) -> String {
        self.with_notes(self.who())
    }

    /// What went wrong, who was asked, and how many requests were made when there were several.
    pub fn text(&self) -> String {
        let n_requests = (self.n_requests > 1).then(|| format!("{} requests", self.n_requests));
        self.with_notes(self.who().chain(n_requests))
    }

    fn who(&self) -> impl Iterator<Item = String> {
        let kind = |it: &Role| if it.name().contains('/') { "model" } else { "role" };
        let role = self.role.as_ref().map(|it| format!("{} {it}", kind(it)));
        // Other faults would be the same with another key.
        let is_about_key = matches!(self.class, FaultClass::WrongKey | FaultClass::ExhaustedQuota);
        role.into_iter().chain(self.key_env.clone().filter(|_| is_about_key))
    }

    fn with_notes(&self, notes: impl Iterator<Item = String>) -> String {
        let notes: Vec<String> = notes.collect();
        if notes.is_empty() { self.message.clone() } else { format!("{} ({})", self.message, notes.join(", ")) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The endpoint answered with this status.
    Status(u16),
    /// No answer in time.
    Timeout,
    /// No connection.
    Connect,
    /// The connection ended in the middle.
    Cut,
    /// What came is not what the provider's interface promises.
    Garbled,
    /// The provider cannot do what was asked.
    Unsupported,
    /// A script has no line for it, or a program gave no answer.
    NoAnswer,
    /// A judge refused, or never gave a valid answer.
    Judging,
    /// The time of its turn was over.
    TurnDeadline,
    /// The time of its case was over.
    CaseDeadline,
    /// A server with tools, or code, could not be asked.
    Tool,
    /// It was dropped by the second Ctrl-C.
    Cancelled,
    /// A replay met a request that the recording does not have.
    Diverged,
}

impl FaultKind {
    /// Those that have one word, as they are stored: all but a status.
    const NAMED: [(&'static str, FaultKind); 12] = [
        ("timeout", FaultKind::Timeout),
        ("connect", FaultKind::Connect),
        ("cut", FaultKind::Cut),
        ("garbled", FaultKind::Garbled),
        ("unsupported", FaultKind::Unsupported),
        ("no_answer", FaultKind::NoAnswer),
        ("judging", FaultKind::Judging),
        ("turn_deadline", FaultKind::TurnDeadline),
        ("case_deadline", FaultKind::CaseDeadline),
        ("tool", FaultKind::Tool),
        ("cancelled", FaultKind::Cancelled),
        ("diverged", FaultKind::Diverged),
    ];

    /// How it is stored.
    pub fn name(self) -> String {
        match self {
            FaultKind::Status(status) => format!("status:{status}"),
            kind => Self::NAMED.iter().find(|(_, it)| *it == kind).map_or("", |(name, _)| name).to_owned(),
        }
    }

    /// The kind that a text of [`FaultKind::name`] means.
    pub fn named(text: &str) -> Option<FaultKind> {
        let known = Self::NAMED.iter().find(|(name, _)| *name == text).map(|(_, it)| *it);
        known.or_else(|| Some(FaultKind::Status(text.strip_prefix("status:")?.parse().ok()?)))
    }
}

/// One request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub kind: FaultKind,
    /// What went wrong, in words; the body of an error is in it, cut.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// How long the request took.
    pub took: Duration,
}
