//! Requests and outcomes as they are stored: JSON texts that are read for years.
//!
//! Members may be added; none changes its meaning. What is absent reads as its default, so new readers understand old texts, and old
//! readers pass over what they do not know.

mod written;

use std::sync::Arc;
use std::time::Duration;

use jurat_format::value::{Value, parse_json};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::{
    Action, Answer, Attempt, Endpoint, Fault, FaultClass, FaultKind, FileRef, Finish, Logprobs, Media, MediaDigest,
    MediaKind, Message, ModelRequest, Outcome, Part, Parts, Printed, PrintedText, Ran, Reasoning, Request, Returned,
    Role, Schema, Served, Tool, ToolCall, ToolChoice, Usage, UsedTool,
};
use crate::artifact;
use crate::check::{Hook, Look};
use crate::verdict::StopReason;

/// A stored text that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It is not the JSON that it should be.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A word in it has no meaning.
    #[error("`{0}` is not known")]
    Unknown(String),
}

/// A request as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRequest {
    pub request: Request,
    /// The model that was asked, when one was.
    pub endpoint: Option<Arc<Endpoint>>,
}

impl StoredRequest {
    pub fn read(text: &str) -> Result<StoredRequest, WireError> {
        let wire: RequestWire = serde_json::from_str(text)?;
        match wire.kind {
            Some(_) => Ok(StoredRequest { request: read_action(wire)?.into(), endpoint: None }),
            None => {
                let (endpoint, request) = read_model_request(wire)?;
                Ok(StoredRequest { request: request.into(), endpoint: Some(Arc::new(endpoint)) })
            }
        }
    }

    /// What a model was asked.
    pub fn into_model(self) -> Option<(Arc<Endpoint>, ModelRequest)> {
        match (self.endpoint, self.request) {
            (Some(endpoint), Request::Model(request)) => Some((endpoint, *request)),
            _ => None,
        }
    }

    /// What anything else was asked.
    pub fn into_action(self) -> Option<Action> {
        if let Request::Action(action) = self.request { Some(*action) } else { None }
    }
}

/// A request to a model as it is stored, with the endpoint.
pub fn request_json(endpoint: &Endpoint, request: &ModelRequest) -> String {
    written::request(endpoint, request)
}

fn read_model_request(wire: RequestWire) -> Result<(Endpoint, ModelRequest), WireError> {
    let missing = |field| WireError::from(serde_json::Error::missing_field(field));
    let stored = wire.endpoint.ok_or_else(|| missing("endpoint"))?;
    let settings = stored.settings.into_iter().map(|(name, it)| value(&it).map(|it| (name, it)));
    let endpoint = Endpoint {
        codec: stored.codec,
        codec_revision: stored.revision,
        address: stored.address,
        model: stored.model,
        settings: settings.collect::<Result<_, _>>()?,
        headers: stored.headers,
        shared: stored.shared,
    };
    let tool_choice = match wire.tool_choice.as_deref() {
        None => ToolChoice::Auto,
        Some("none") => ToolChoice::None,
        Some("required") => ToolChoice::Required,
        Some(other) => {
            let name = other.strip_prefix("tool:").ok_or_else(|| WireError::Unknown(other.to_owned()))?;
            ToolChoice::Named(name.to_owned())
        }
    };
    let request = ModelRequest {
        model: Role::parse(&wire.role.ok_or_else(|| missing("role"))?),
        messages: wire
            .messages
            .ok_or_else(|| missing("messages"))?
            .into_iter()
            .map(MessageWire::read)
            .collect::<Result<_, _>>()?,
        output: wire.output.as_deref().map(value).transpose()?.map(Schema::from),
        tools: wire.tools.into_iter().map(ToolWire::read).collect::<Result<_, _>>()?,
        tool_choice,
        repeat: wire.repeat,
        row: wire.row.as_deref().map(value).transpose()?.unwrap_or(Value::Null),
        logprobs: wire.logprobs,
        prompt_cache: wire.prompt_cache,
    };
    Ok((endpoint, request))
}

/// An action as it is stored.
pub fn action_json(action: &Action) -> String {
    written::action(action)
}

fn read_action(wire: RequestWire) -> Result<Action, WireError> {
    let arguments = wire.arguments.as_deref().map(value).transpose()?.unwrap_or(Value::Null);
    let who = wire.who.ok_or_else(|| serde_json::Error::missing_field("who"))?;
    let kind = wire.kind.unwrap_or_default();
    Ok(match kind.as_str() {
        "tools" => Action::ListTools { server: who },
        "tool" => Action::CallTool { server: who, tool: wire.tool.unwrap_or_default(), arguments },
        "call" => Action::Call { name: who, arguments },
        "evaluate" => Action::Evaluate { evaluator: who, source: wire.source.unwrap_or_default(), arguments },
        "run" => Action::run(who, wire.source.unwrap_or_default(), arguments),
        "look" => {
            let looks = arguments.as_list().unwrap_or(&[]).iter().map(Look::from_value).collect::<Option<_>>();
            Action::Look { looks: looks.ok_or_else(|| WireError::Unknown(arguments.to_json()))? }
        }
        "attach" => {
            let files = arguments.as_list().unwrap_or(&[]).iter().map(FileRef::from_value).collect::<Option<_>>();
            Action::Attach { files: files.ok_or_else(|| WireError::Unknown(arguments.to_json()))? }
        }
        "hook" => {
            let hook = arguments.get("hook").and_then(Hook::from_value);
            let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
            Action::Hook {
                hook: hook.ok_or_else(|| WireError::Unknown(arguments.to_json()))?,
                check_id: text("check_id").unwrap_or_default(),
                description: text("description"),
            }
        }
        _ => return Err(WireError::Unknown(kind)),
    })
}

/// An outcome as it is stored.
pub fn outcome_json(outcome: &Outcome) -> String {
    written::outcome(outcome)
}

/// Reads an outcome of a request of a [kind](Request::kind).
pub fn read_outcome(kind: &str, text: &str) -> Result<Outcome, WireError> {
    Ok(match serde_json::from_str(text)? {
        OutcomeWire::Answer(answer) => Outcome::Answer(Box::new(answer.read()?)),
        OutcomeWire::Returned(returned) if kind == "run" => {
            let latency = Duration::from_micros(returned.latency_us);
            let ran = Ran::read(value(&returned.value)?, latency, returned.at_ms);
            Outcome::Ran(Box::new(ran.map_err(|problems| WireError::Unknown(artifact::listed(&problems)))?))
        }
        OutcomeWire::Returned(returned) => Outcome::Returned(Box::new(Returned {
            value: value(&returned.value)?,
            media: returned.media.into_iter().map(PartWire::read_media).collect::<Result<_, _>>()?,
            is_error: returned.is_error,
            printed: Printed {
                stdout: PrintedText { text: returned.stdout, n_dropped: returned.stdout_dropped },
                stderr: PrintedText { text: returned.stderr, n_dropped: returned.stderr_dropped },
            },
            latency: Duration::from_micros(returned.latency_us),
            at_ms: returned.at_ms,
        })),
        OutcomeWire::Fault(fault) => Outcome::Fault(Box::new(fault.read()?)),
        OutcomeWire::NotRun(reason) => Outcome::NotRun(StopReason::named(&reason).ok_or(WireError::Unknown(reason))?),
    })
}

/// A request of any kind. What a model was asked has no `kind`: it was there before the others.
#[derive(Deserialize)]
struct RequestWire {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    who: Option<String>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    endpoint: Option<EndpointWire>,
    #[serde(default)]
    messages: Option<Vec<MessageWire>>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
    #[serde(default)]
    tools: Vec<ToolWire>,
    #[serde(default)]
    tool_choice: Option<String>,
    #[serde(default)]
    repeat: u32,
    #[serde(default)]
    row: Option<Box<RawValue>>,
    #[serde(default)]
    logprobs: Option<u32>,
    #[serde(default)]
    prompt_cache: Vec<u32>,
}

#[derive(Deserialize)]
struct EndpointWire {
    codec: String,
    revision: u32,
    #[serde(default)]
    address: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    settings: Vec<(String, Box<RawValue>)>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    shared: Option<bool>,
}

#[derive(Deserialize)]
struct MessageWire {
    role: String,
    text: String,
    #[serde(default)]
    parts: Vec<PartWire>,
    #[serde(default)]
    media: Vec<PartWire>,
    #[serde(default)]
    tool_calls: Vec<ToolCallWire>,
    #[serde(default)]
    reasoning: Option<ReasoningWire>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    is_error: bool,
}

/// A text, or media by their digest.
#[derive(Deserialize)]
struct PartWire {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    digest: String,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
struct ReasoningWire {
    #[serde(default)]
    text: String,
    #[serde(default)]
    state: Option<Box<RawValue>>,
}

impl ReasoningWire {
    fn read(self) -> Result<Option<Box<Reasoning>>, WireError> {
        let state = self.state.as_deref().map(value).transpose()?;
        Ok(Reasoning::new(self.text, state.unwrap_or(Value::Null)))
    }
}

#[derive(Deserialize)]
struct ToolCallWire {
    id: String,
    name: String,
    arguments: Box<RawValue>,
}

/// A call, and what came of it.
#[derive(Deserialize)]
struct UsedToolWire {
    id: String,
    name: String,
    arguments: Box<RawValue>,
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct ToolWire {
    name: String,
    #[serde(default)]
    description: Option<String>,
    parameters: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeWire {
    Answer(Box<AnswerWire>),
    Returned(ReturnedWire),
    Fault(FaultWire),
    NotRun(String),
}

#[derive(Deserialize)]
struct ReturnedWire {
    value: Box<RawValue>,
    #[serde(default)]
    media: Vec<PartWire>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stdout_dropped: u64,
    #[serde(default)]
    stderr: String,
    #[serde(default)]
    stderr_dropped: u64,
    #[serde(default)]
    latency_us: u64,
    #[serde(default)]
    at_ms: u64,
}

#[derive(Deserialize)]
struct AnswerWire {
    text: String,
    #[serde(default)]
    tool_calls: Vec<ToolCallWire>,
    #[serde(default)]
    used: Vec<UsedToolWire>,
    #[serde(default)]
    reasoning: Option<ReasoningWire>,
    #[serde(default)]
    logprobs: Option<Box<RawValue>>,
    finish: String,
    #[serde(default)]
    usage: Option<UsageWire>,
    #[serde(default)]
    cost_usd: Option<f64>,
    #[serde(default)]
    served_model: Option<String>,
    #[serde(default)]
    fingerprint: Option<String>,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    batch: Option<String>,
    #[serde(default)]
    latency_us: u64,
    #[serde(default)]
    first_token_us: Option<u64>,
    #[serde(default)]
    at_ms: u64,
    requests: u32,
    #[serde(default)]
    failed: Vec<AttemptWire>,
}

#[derive(Deserialize)]
struct UsageWire {
    input: u64,
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache_write: u64,
}

#[derive(Deserialize)]
struct FaultWire {
    kind: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    key_env: Option<String>,
    message: String,
    requests: u32,
    #[serde(default)]
    failed: Vec<AttemptWire>,
}

#[derive(Deserialize)]
struct AttemptWire {
    kind: String,
    message: String,
    #[serde(default)]
    retry_after_us: Option<u64>,
    #[serde(default)]
    took_us: u64,
}

impl MessageWire {
    fn read(self) -> Result<Message, WireError> {
        Ok(match self.role.as_str() {
            "system" => Message::System(self.text),
            "user" if !self.parts.is_empty() => {
                let parts = self.parts.into_iter().map(PartWire::read);
                Message::Parts(Parts::new(parts.collect::<Result<_, _>>()?))
            }
            "user" => Message::User(self.text),
            "assistant" => {
                let tool_calls = self.tool_calls.into_iter().map(ToolCallWire::read).collect::<Result<_, _>>()?;
                let reasoning = self.reasoning.map(ReasoningWire::read).transpose()?.flatten();
                Message::Assistant { text: self.text, tool_calls, reasoning }
            }
            "tool" => Message::Tool {
                call_id: self.call_id.unwrap_or_default(),
                name: self.name.unwrap_or_default(),
                text: self.text,
                media: self.media.into_iter().map(PartWire::read_media).collect::<Result<_, _>>()?,
                is_error: self.is_error,
            },
            _ => return Err(WireError::Unknown(self.role)),
        })
    }
}

impl PartWire {
    fn read(self) -> Result<Part, WireError> {
        if let Some(text) = self.text {
            return Ok(Part::Text(text));
        }
        self.read_media().map(Part::Media)
    }

    fn read_media(self) -> Result<Media, WireError> {
        let kind = MediaKind::named(&self.kind).ok_or(WireError::Unknown(self.kind))?;
        let digest = MediaDigest::parse(&self.digest).ok_or(WireError::Unknown(self.digest))?;
        Ok(Media::stored(kind, &self.media_type, digest, self.bytes, self.name))
    }
}

impl ToolCallWire {
    fn read(self) -> Result<ToolCall, WireError> {
        Ok(ToolCall { id: self.id, name: self.name, arguments: value(&self.arguments)? })
    }
}

impl UsedToolWire {
    fn read(self) -> Result<UsedTool, WireError> {
        let call = ToolCall { id: self.id, name: self.name, arguments: value(&self.arguments)? };
        Ok(UsedTool { call, output: self.output, is_error: self.is_error })
    }
}

impl ToolWire {
    fn read(self) -> Result<Tool, WireError> {
        Ok(Tool { name: self.name, description: self.description, parameters: value(&self.parameters)? })
    }
}

impl AnswerWire {
    fn read(self) -> Result<Answer, WireError> {
        let usage = |it: UsageWire| {
            let UsageWire { input, output, cached, reasoning, cache_write } = it;
            Usage { input, output, cached, reasoning, cache_write }
        };
        Ok(Answer {
            text: self.text,
            tool_calls: self.tool_calls.into_iter().map(ToolCallWire::read).collect::<Result<_, _>>()?,
            used: self.used.into_iter().map(UsedToolWire::read).collect::<Result<_, _>>()?,
            reasoning: self.reasoning.map(ReasoningWire::read).transpose()?.flatten(),
            logprobs: self.logprobs.as_deref().map(logprobs).transpose()?,
            finish: Finish::named(&self.finish),
            usage: self.usage.map(usage),
            cost_usd: self.cost_usd,
            served: Served {
                model: self.served_model,
                fingerprint: self.fingerprint,
                request_id: self.request_id,
                batch: self.batch,
            },
            latency: Duration::from_micros(self.latency_us),
            first_token: self.first_token_us.map(Duration::from_micros),
            at_ms: self.at_ms,
            n_requests: self.requests,
            failed: self.failed.into_iter().map(AttemptWire::read).collect::<Result<_, _>>()?,
        })
    }
}

impl FaultWire {
    fn read(self) -> Result<Fault, WireError> {
        let kind = kind(&self.kind)?;
        // Files of earlier versions have no class; a word of a later version is read as the kind's.
        let class = self.class.as_deref().and_then(FaultClass::named).unwrap_or(kind.into());
        let failed = self.failed.into_iter().map(AttemptWire::read).collect::<Result<_, _>>()?;
        let FaultWire { message, role, key_env, requests: n_requests, .. } = self;
        let role = role.map(|it| Role::parse(&it));
        Ok(Fault { kind, class, message, role, key_env, n_requests, failed })
    }
}

impl AttemptWire {
    fn read(self) -> Result<Attempt, WireError> {
        Ok(Attempt {
            kind: kind(&self.kind)?,
            message: self.message,
            retry_after: self.retry_after_us.map(Duration::from_micros),
            took: Duration::from_micros(self.took_us),
        })
    }
}

fn kind(word: &str) -> Result<FaultKind, WireError> {
    FaultKind::named(word).ok_or_else(|| WireError::Unknown(word.to_owned()))
}

fn logprobs(raw: &RawValue) -> Result<Box<Logprobs>, WireError> {
    let read = Logprobs::from_value(&value(raw)?).ok_or_else(|| WireError::Unknown("logprobs".to_owned()))?;
    Ok(Box::new(read))
}

fn value(raw: &RawValue) -> Result<Value, WireError> {
    parse_json(raw.get()).map(|it| it.value.into_owned()).map_err(|error| WireError::Unknown(error.to_string()))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
