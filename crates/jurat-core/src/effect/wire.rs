//! Requests and outcomes as they are stored: JSON texts that are read for years.
//!
//! Members may be added; none changes its meaning. What is absent reads as its default, so new readers understand old texts, and old
//! readers pass over what they do not know.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Answer, Attempt, Deed, Endpoint, Fault, FaultKind, Finish, Message, ModelRequest, Outcome, Returned, Served, Tool,
    ToolCall, ToolChoice, Usage,
};
use crate::check::{Hook, Look};
use crate::value::{Value, parse_json};
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

/// A request as it is stored, with who was asked.
pub fn request_json(endpoint: &Endpoint, request: &ModelRequest) -> String {
    let wire = RequestWire {
        role: request.model.clone(),
        endpoint: EndpointWire {
            codec: endpoint.codec.clone(),
            revision: endpoint.codec_revision,
            address: endpoint.address.clone(),
            model: endpoint.model.clone(),
            settings: endpoint.settings.iter().map(|(name, value)| (name.clone(), raw(value))).collect(),
            headers: endpoint.headers.clone(),
        },
        messages: request.messages.iter().map(MessageWire::from).collect(),
        output: request.output.as_ref().map(raw),
        tools: request.tools.iter().map(ToolWire::from).collect(),
        tool_choice: match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("none".to_owned()),
            ToolChoice::Required => Some("required".to_owned()),
            ToolChoice::Named(name) => Some(format!("tool:{name}")),
        },
        repeat: request.repeat,
    };
    text(&wire)
}

/// Reads a stored request.
pub fn read_request(text: &str) -> Result<(Endpoint, ModelRequest), WireError> {
    let wire: RequestWire = serde_json::from_str(text)?;
    let settings = wire.endpoint.settings.into_iter().map(|(name, it)| value(&it).map(|it| (name, it)));
    let endpoint = Endpoint {
        codec: wire.endpoint.codec,
        codec_revision: wire.endpoint.revision,
        address: wire.endpoint.address,
        model: wire.endpoint.model,
        settings: settings.collect::<Result<_, _>>()?,
        headers: wire.endpoint.headers,
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
        model: wire.role,
        messages: wire.messages.into_iter().map(MessageWire::read).collect::<Result<_, _>>()?,
        output: wire.output.as_deref().map(value).transpose()?,
        tools: wire.tools.into_iter().map(ToolWire::read).collect::<Result<_, _>>()?,
        tool_choice,
        repeat: wire.repeat,
    };
    Ok((endpoint, request))
}

/// A deed as it is stored.
pub fn deed_json(deed: &Deed) -> String {
    let (kind, who) = (deed.kind().to_owned(), deed.doer().to_owned());
    let mut wire = DeedWire { kind, who, tool: None, source: None, arguments: None };
    match deed {
        Deed::ListTools { .. } => {}
        Deed::CallTool { tool, arguments, .. } => {
            wire.tool = Some(tool.clone());
            wire.arguments = Some(raw(arguments));
        }
        Deed::Call { arguments, .. } => wire.arguments = Some(raw(arguments)),
        Deed::Evaluate { source, arguments, .. } => {
            wire.source = Some(source.clone());
            wire.arguments = Some(raw(arguments));
        }
        Deed::Look { .. } | Deed::Hook { .. } => wire.arguments = deed.asked_of_host().as_ref().map(raw),
    }
    text(&wire)
}

/// Reads a stored deed.
pub fn read_deed(text: &str) -> Result<Deed, WireError> {
    let wire: DeedWire = serde_json::from_str(text)?;
    let arguments = wire.arguments.as_deref().map(value).transpose()?.unwrap_or(Value::Null);
    Ok(match wire.kind.as_str() {
        "tools" => Deed::ListTools { server: wire.who },
        "tool" => Deed::CallTool { server: wire.who, tool: wire.tool.unwrap_or_default(), arguments },
        "call" => Deed::Call { name: wire.who, arguments },
        "evaluate" => Deed::Evaluate { evaluator: wire.who, source: wire.source.unwrap_or_default(), arguments },
        "look" => {
            let looks = arguments.as_list().unwrap_or(&[]).iter().map(Look::from_value).collect::<Option<_>>();
            Deed::Look { looks: looks.ok_or_else(|| WireError::Unknown(arguments.to_json()))? }
        }
        "hook" => {
            let hook = arguments.get("hook").and_then(Hook::from_value);
            let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
            Deed::Hook {
                hook: hook.ok_or_else(|| WireError::Unknown(arguments.to_json()))?,
                check_id: text("check_id").unwrap_or_default(),
                description: text("description"),
            }
        }
        _ => return Err(WireError::Unknown(wire.kind)),
    })
}

/// An outcome as it is stored.
pub fn outcome_json(outcome: &Outcome) -> String {
    let wire = match outcome {
        Outcome::Answer(answer) => OutcomeWire::Answer(AnswerWire::from(&**answer)),
        Outcome::Returned(returned) => OutcomeWire::Returned(ReturnedWire {
            value: raw(&returned.value),
            is_error: returned.is_error,
            latency_us: micros(returned.latency),
            at_ms: returned.at_ms,
        }),
        Outcome::Fault(fault) => OutcomeWire::Fault(FaultWire {
            kind: fault.kind.name(),
            message: fault.message.clone(),
            requests: fault.n_requests,
            failed: fault.failed.iter().map(AttemptWire::from).collect(),
        }),
        Outcome::NotRun(reason) => OutcomeWire::NotRun(reason.name().to_owned()),
    };
    text(&wire)
}

/// Reads a stored outcome.
pub fn read_outcome(text: &str) -> Result<Outcome, WireError> {
    Ok(match serde_json::from_str(text)? {
        OutcomeWire::Answer(answer) => Outcome::Answer(Box::new(answer.read()?)),
        OutcomeWire::Returned(returned) => Outcome::Returned(Box::new(Returned {
            value: value(&returned.value)?,
            is_error: returned.is_error,
            latency: Duration::from_micros(returned.latency_us),
            at_ms: returned.at_ms,
        })),
        OutcomeWire::Fault(fault) => Outcome::Fault(Box::new(Fault {
            kind: kind(&fault.kind)?,
            message: fault.message,
            n_requests: fault.requests,
            failed: fault.failed.into_iter().map(AttemptWire::read).collect::<Result<_, _>>()?,
        })),
        OutcomeWire::NotRun(reason) => Outcome::NotRun(StopReason::named(&reason).ok_or(WireError::Unknown(reason))?),
    })
}

#[derive(Serialize, Deserialize)]
struct RequestWire {
    role: String,
    endpoint: EndpointWire,
    messages: Vec<MessageWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_choice: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    repeat: u32,
}

#[derive(Serialize, Deserialize)]
struct EndpointWire {
    codec: String,
    revision: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    address: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    settings: Vec<(String, Box<RawValue>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct MessageWire {
    role: String,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize, Deserialize)]
struct ToolCallWire {
    id: String,
    name: String,
    arguments: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
struct ToolWire {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    parameters: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeWire {
    Answer(AnswerWire),
    Returned(ReturnedWire),
    Fault(FaultWire),
    NotRun(String),
}

#[derive(Serialize, Deserialize)]
struct DeedWire {
    kind: String,
    who: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct ReturnedWire {
    value: Box<RawValue>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(default)]
    latency_us: u64,
    #[serde(default)]
    at_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct AnswerWire {
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallWire>,
    finish: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    served_model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default)]
    latency_us: u64,
    #[serde(default)]
    at_ms: u64,
    requests: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<AttemptWire>,
}

#[derive(Serialize, Deserialize)]
struct UsageWire {
    input: u64,
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    reasoning: u64,
}

#[derive(Serialize, Deserialize)]
struct FaultWire {
    kind: String,
    message: String,
    requests: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<AttemptWire>,
}

#[derive(Serialize, Deserialize)]
struct AttemptWire {
    kind: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_us: Option<u64>,
    #[serde(default)]
    took_us: u64,
}

impl From<&Message> for MessageWire {
    fn from(message: &Message) -> MessageWire {
        let mut wire = MessageWire {
            role: message.role().to_owned(),
            text: message.text().to_owned(),
            tool_calls: Vec::new(),
            call_id: None,
            name: None,
            is_error: false,
        };
        match message {
            Message::System(_) | Message::User(_) => {}
            Message::Assistant { tool_calls, .. } => {
                wire.tool_calls = tool_calls.iter().map(ToolCallWire::from).collect();
            }
            Message::Tool { call_id, name, is_error, .. } => {
                wire.call_id = Some(call_id.clone());
                wire.name = Some(name.clone());
                wire.is_error = *is_error;
            }
        }
        wire
    }
}

impl MessageWire {
    fn read(self) -> Result<Message, WireError> {
        Ok(match self.role.as_str() {
            "system" => Message::System(self.text),
            "user" => Message::User(self.text),
            "assistant" => {
                let tool_calls = self.tool_calls.into_iter().map(ToolCallWire::read).collect::<Result<_, _>>()?;
                Message::Assistant { text: self.text, tool_calls }
            }
            "tool" => Message::Tool {
                call_id: self.call_id.unwrap_or_default(),
                name: self.name.unwrap_or_default(),
                text: self.text,
                is_error: self.is_error,
            },
            _ => return Err(WireError::Unknown(self.role)),
        })
    }
}

impl From<&ToolCall> for ToolCallWire {
    fn from(call: &ToolCall) -> ToolCallWire {
        ToolCallWire { id: call.id.clone(), name: call.name.clone(), arguments: raw(&call.arguments) }
    }
}

impl ToolCallWire {
    fn read(self) -> Result<ToolCall, WireError> {
        Ok(ToolCall { id: self.id, name: self.name, arguments: value(&self.arguments)? })
    }
}

impl From<&Tool> for ToolWire {
    fn from(tool: &Tool) -> ToolWire {
        ToolWire { name: tool.name.clone(), description: tool.description.clone(), parameters: raw(&tool.parameters) }
    }
}

impl ToolWire {
    fn read(self) -> Result<Tool, WireError> {
        Ok(Tool { name: self.name, description: self.description, parameters: value(&self.parameters)? })
    }
}

impl From<&Answer> for AnswerWire {
    fn from(answer: &Answer) -> AnswerWire {
        let usage =
            |it: &Usage| UsageWire { input: it.input, output: it.output, cached: it.cached, reasoning: it.reasoning };
        AnswerWire {
            text: answer.text.clone(),
            tool_calls: answer.tool_calls.iter().map(ToolCallWire::from).collect(),
            finish: answer.finish.name().to_owned(),
            usage: answer.usage.as_ref().map(usage),
            cost_usd: answer.cost_usd,
            served_model: answer.served.model.clone(),
            fingerprint: answer.served.fingerprint.clone(),
            request_id: answer.served.request_id.clone(),
            latency_us: micros(answer.latency),
            at_ms: answer.at_ms,
            requests: answer.n_requests,
            failed: answer.failed.iter().map(AttemptWire::from).collect(),
        }
    }
}

impl AnswerWire {
    fn read(self) -> Result<Answer, WireError> {
        let usage =
            |it: UsageWire| Usage { input: it.input, output: it.output, cached: it.cached, reasoning: it.reasoning };
        Ok(Answer {
            text: self.text,
            tool_calls: self.tool_calls.into_iter().map(ToolCallWire::read).collect::<Result<_, _>>()?,
            finish: Finish::named(&self.finish),
            usage: self.usage.map(usage),
            cost_usd: self.cost_usd,
            served: Served { model: self.served_model, fingerprint: self.fingerprint, request_id: self.request_id },
            latency: Duration::from_micros(self.latency_us),
            at_ms: self.at_ms,
            n_requests: self.requests,
            failed: self.failed.into_iter().map(AttemptWire::read).collect::<Result<_, _>>()?,
        })
    }
}

impl From<&Attempt> for AttemptWire {
    fn from(attempt: &Attempt) -> AttemptWire {
        AttemptWire {
            kind: attempt.kind.name(),
            message: attempt.message.clone(),
            retry_after_us: attempt.retry_after.map(micros),
            took_us: micros(attempt.took),
        }
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

fn text(wire: &impl Serialize) -> String {
    serde_json::to_string(wire).expect("texts, numbers and lists are JSON")
}

/// A value as it stands. Numbers that JSON does not have, which only YAML can write, become `null` as they do for providers.
fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_json()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn value(raw: &RawValue) -> Result<Value, WireError> {
    parse_json(raw.get()).map(|it| it.value.into_owned()).map_err(|error| WireError::Unknown(error.to_string()))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
