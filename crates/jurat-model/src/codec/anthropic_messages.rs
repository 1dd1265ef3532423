//! Anthropic's messages: `POST /v1/messages`.
//!
//! * `max_tokens` is required there. An endpoint without it is an error; the default that definitions get stands in the endpoint's
//!   settings, where it can be seen.
//! * The schema of an answer goes as `output_config.format`. What Anthropic does not enforce (bounds, patterns) goes into descriptions; a schema
//!   that cannot be enforced at all (`$ref`, no object) goes into the prompt. A tool that must be called instead is sent only with
//!   `structured: tool`: current models refuse it.
//! * System messages come first and become `system`. One in the middle of a conversation is an error.
//! * There is no `seed`.

use std::borrow::Cow;

use jurat_core::effect::{Endpoint, Finish, Message, ModelRequest, Served, Tool, ToolCall, ToolChoice, Usage};
use jurat_format::value::Val;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::body::{self, Json, List};
use super::settings::Settings;
use super::{
    ANSWER, ANSWER_DESCRIPTION, Entry, Events, Failure, Pieces, Provider, Reply, Structured, Unsupported, WireRequest,
    arguments, envelope, has, lenient, parsed, strict, structured, without_last,
};

/// The most tokens of a reply where a provider demands a bound and the author gives none. It stands in the endpoint's settings, so it
/// is seen in what is stored and is part of the key that responses are stored under.
pub const DEFAULT_MAX_TOKENS: i64 = 4096;

pub(super) const HEADERS: &[(&str, &str)] = &[("x-api-key", "${key}"), ("anthropic-version", "2023-06-01")];

pub(super) static ENTRY: Entry = Entry {
    name: "anthropic_messages",
    revision: 2,
    headers: HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: true, events: || Box::<Stream>::default() }),
    embedding: None,
    provider: Some(Provider {
        names: &["anthropic"],
        doc: "Anthropic's messages",
        example: "NAME",
        base_url: "https://api.anthropic.com",
        base_url_env: "ANTHROPIC_BASE_URL",
        key_env: &["ANTHROPIC_API_KEY"],
        price_list: "anthropic",
        complete: str::to_owned,
        path: |it| without_last(it, "v1"),
        settings: |settings, _| {
            if !has(settings, "max_tokens") {
                settings.push(("max_tokens".to_owned(), Val::I(DEFAULT_MAX_TOKENS)));
            }
        },
    }),
};

fn encode(endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> Result<WireRequest, Unsupported> {
    let settings = Settings::of(endpoint)?;
    settings.no_seed("Anthropic")?;
    settings.no_structured("Anthropic", &[Structured::JsonObject])?;
    let Some(max_tokens) = settings.max_tokens else {
        return Err(Unsupported::new("Anthropic needs `max_tokens`; set it"));
    };
    if request.tools.iter().any(|it| it.name == ANSWER) {
        return Err(Unsupported(format!("a tool cannot be called `{ANSWER}`: answers with a schema use that name")));
    }
    let answer_tool = request.output.as_ref().filter(|_| settings.structured == Some(Structured::Tool));
    let enforced = match (&request.output, settings.structured) {
        (Some(schema), None) => match strict::for_anthropic(schema) {
            Some(schema) => Some(schema),
            // What cannot be enforced is asked for in words.
            None => return encode(endpoint, &structured::prompted(request, Some(Structured::Prompt)), stream),
        },
        (Some(schema), Some(Structured::JsonSchema)) => Some(Cow::Borrowed(&**schema)),
        _ => None,
    };
    if let Some(schema) = answer_tool {
        if !request.tools.is_empty() {
            return Err(Unsupported::new("`structured: tool` leaves no room for other tools; leave it out"));
        }
        if schema.get("type").and_then(Val::as_str) != Some("object") {
            return Err(Unsupported::new("Anthropic answers with objects; give `output` the type `object`"));
        }
    }
    let n_system = request.messages.iter().take_while(|it| matches!(it, Message::System(_))).count();
    let (system, conversation) = request.messages.split_at(n_system);
    let turns = turns(conversation)?;
    let body = body::write(settings.extra, |body| {
        body.member("model", &endpoint.model);
        body.member("max_tokens", &Json(max_tokens));
        match system {
            [] => {}
            [only] => body.member("system", &only.text()),
            several => body.member("system", &List(|| several.iter().map(|it| Block::text(it.text())))),
        }
        body.member("messages", &turns);
        body.optional("temperature", settings.temperature);
        body.optional("top_p", settings.top_p);
        if let Some(schema) = answer_tool {
            let description = Some(ANSWER_DESCRIPTION);
            body.member("tools", &[ToolWire { name: ANSWER, description, input_schema: Json(schema) }]);
            body.member("tool_choice", &Choice { kind: "tool", name: Some(ANSWER) });
        }
        if let Some(schema) = &enforced {
            let format = Format { kind: "json_schema", schema: Json(schema) };
            body.object("output_config", |config| config.member("format", &format));
        }
        if !request.tools.is_empty() {
            body.member("tools", &List(|| request.tools.iter().map(ToolWire::from)));
            match &request.tool_choice {
                ToolChoice::Auto => {}
                ToolChoice::None => body.member("tool_choice", &Choice { kind: "none", name: None }),
                ToolChoice::Required => body.member("tool_choice", &Choice { kind: "any", name: None }),
                ToolChoice::Named(name) => body.member("tool_choice", &Choice { kind: "tool", name: Some(name) }),
            }
        }
        if stream {
            body.member("stream", &true);
        }
    })?;
    Ok(WireRequest { path: "/v1/messages".to_owned(), headers: HEADERS, body })
}

/// The conversation. Results of tools that follow each other are one turn of the user: the provider wants those of one turn together.
fn turns(messages: &[Message]) -> Result<Vec<Turn<'_>>, Unsupported> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut is_after_result = false;
    for message in messages {
        let is_result = matches!(message, Message::Tool { .. });
        match message {
            Message::System(_) => {
                return Err(Unsupported::new("Anthropic takes system messages before the conversation only"));
            }
            Message::User(text) => turns.push(Turn { role: "user", content: Content::Text(text) }),
            // Empty turns are refused, and say nothing.
            Message::Assistant { text, tool_calls } if tool_calls.is_empty() && text.is_empty() => continue,
            Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
                turns.push(Turn { role: "assistant", content: Content::Text(text) });
            }
            Message::Assistant { text, tool_calls } => {
                let mut blocks: Vec<Block<'_>> = Vec::new();
                if !text.is_empty() {
                    blocks.push(Block::text(text));
                }
                for call in tool_calls {
                    blocks.push(Block {
                        id: Some(&call.id),
                        name: Some(&call.name),
                        input: Some(input(call)?),
                        ..Block::of("tool_use")
                    });
                }
                turns.push(Turn { role: "assistant", content: Content::Blocks(blocks) });
            }
            Message::Tool { call_id, text, is_error, .. } => {
                let result = Block {
                    tool_use_id: Some(call_id),
                    content: Some(text),
                    is_error: is_error.then_some(true),
                    ..Block::of("tool_result")
                };
                match turns.last_mut() {
                    Some(Turn { content: Content::Blocks(blocks), .. }) if is_after_result => blocks.push(result),
                    _ => turns.push(Turn { role: "user", content: Content::Blocks(vec![result]) }),
                }
            }
        }
        is_after_result = is_result;
    }
    Ok(turns)
}

fn input(call: &ToolCall) -> Result<Json<'_>, Unsupported> {
    match call.arguments.as_map() {
        Some(_) => Ok(Json(&call.arguments)),
        None => Err(Unsupported(format!("Anthropic takes objects as arguments; those of `{}` are none", call.name))),
    }
}

fn decode(body: &[u8]) -> Result<Reply, Failure> {
    let message: MessageIn<'_> = parsed(body)?;
    let mut said = Said { stop_reason: message.stop_reason, ..Said::default() };
    for block in message.content {
        match block.kind.as_deref() {
            Some("text") => said.text.push_str(&block.text.unwrap_or_default()),
            Some("tool_use") => said.call(
                block.id.unwrap_or_default(),
                block.name.unwrap_or_default(),
                block.input.map_or("", RawValue::get),
            ),
            _ => {}
        }
    }
    let served = Served { model: message.model, fingerprint: None, request_id: message.id };
    Ok(said.into_reply(message.usage.map(Usage::from), served))
}

/// A message, read in one piece or in many.
#[derive(Debug, Default)]
struct Said {
    text: String,
    answer: Option<String>,
    tool_calls: Vec<ToolCall>,
    stop_reason: Option<String>,
}

impl Said {
    fn call(&mut self, id: String, name: String, input: &str) {
        if name == ANSWER {
            self.answer = Some(if input.is_empty() { "{}".to_owned() } else { input.to_owned() });
        } else {
            self.tool_calls.push(ToolCall { id, name, arguments: arguments(input) });
        }
    }

    fn into_reply(self, usage: Option<Usage>, served: Served) -> Reply {
        let finish = match self.stop_reason.as_deref() {
            Some("refusal") => Finish::Refusal,
            Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
            Some("tool_use") if !self.tool_calls.is_empty() => Finish::ToolCalls,
            Some("end_turn" | "stop_sequence" | "tool_use") | None => Finish::Stop,
            Some(other) => Finish::Other(other.to_owned()),
        };
        Reply { text: self.answer.unwrap_or(self.text), tool_calls: self.tool_calls, finish, usage, served }
    }
}

/// A reply in pieces. It is whole after `message_stop`.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    calls: Vec<CallPieces>,
    stop_reason: Option<String>,
    usage: Option<UsageWire>,
    served: Served,
    is_done: bool,
}

/// A call whose input comes in pieces.
#[derive(Debug, Default)]
struct CallPieces {
    index: u64,
    id: String,
    name: String,
    /// What the first piece says; replaced by later ones if there are any.
    whole: String,
    pieces: String,
}

impl Events for Stream {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        let event: Event<'_> = parsed(data)?;
        match event.kind.as_deref() {
            Some("error") => {
                let api = envelope::in_success(data);
                return Err(Failure::Api(
                    api.unwrap_or_else(|| envelope::named("api_error", "the stream ended with an error")),
                ));
            }
            Some("message_start") => {
                if let Some(message) = event.message {
                    self.served = Served { model: message.model, fingerprint: None, request_id: message.id };
                    self.count(message.usage);
                }
            }
            Some("content_block_start") => {
                if let Some(block) = event.content_block {
                    self.text.push_str(&block.text.unwrap_or_default());
                    if block.kind.as_deref() == Some("tool_use") {
                        self.calls.push(CallPieces {
                            index: event.index.unwrap_or(0),
                            id: block.id.unwrap_or_default(),
                            name: block.name.unwrap_or_default(),
                            whole: block.input.map_or("", RawValue::get).to_owned(),
                            pieces: String::new(),
                        });
                    }
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.delta {
                    self.text.push_str(&delta.text.unwrap_or_default());
                    let index = event.index.unwrap_or(0);
                    if let Some(call) = self.calls.iter_mut().find(|it| it.index == index) {
                        call.pieces.push_str(&delta.partial_json.unwrap_or_default());
                    }
                }
            }
            Some("message_delta") => {
                self.stop_reason = event.delta.and_then(|it| it.stop_reason).or(self.stop_reason.take());
                self.count(event.usage);
            }
            Some("message_stop") => self.is_done = true,
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        if !self.is_done {
            return Err(Failure::Cut);
        }
        let mut said = Said { text: self.text, stop_reason: self.stop_reason, ..Said::default() };
        for call in self.calls {
            said.call(call.id, call.name, if call.pieces.is_empty() { &call.whole } else { &call.pieces });
        }
        Ok(said.into_reply(self.usage.map(Usage::from), self.served))
    }
}

impl Stream {
    /// Later counts replace earlier ones: they are running totals.
    fn count(&mut self, usage: Option<UsageWire>) {
        let Some(usage) = usage else { return };
        let so_far = self.usage.take().unwrap_or_default();
        self.usage = Some(UsageWire {
            input_tokens: usage.input_tokens.or(so_far.input_tokens),
            output_tokens: usage.output_tokens.or(so_far.output_tokens),
            cache_read_input_tokens: usage.cache_read_input_tokens.or(so_far.cache_read_input_tokens),
            cache_creation_input_tokens: usage.cache_creation_input_tokens.or(so_far.cache_creation_input_tokens),
        });
    }
}

#[derive(Serialize)]
struct Turn<'m> {
    role: &'static str,
    content: Content<'m>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'m> {
    Text(&'m str),
    Blocks(Vec<Block<'m>>),
}

#[derive(Serialize, Default)]
struct Block<'m> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

impl<'m> Block<'m> {
    fn of(kind: &'static str) -> Block<'m> {
        Block { kind, ..Block::default() }
    }

    fn text(text: &'m str) -> Block<'m> {
        Block { text: Some(text), ..Block::of("text") }
    }
}

#[derive(Serialize)]
struct ToolWire<'t> {
    name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'t str>,
    input_schema: Json<'t>,
}

impl<'t> From<&'t Tool> for ToolWire<'t> {
    fn from(tool: &'t Tool) -> ToolWire<'t> {
        ToolWire { name: &tool.name, description: tool.description.as_deref(), input_schema: Json(&tool.parameters) }
    }
}

#[derive(Serialize)]
struct Choice<'t> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'t str>,
}

#[derive(Serialize)]
struct Format<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Json<'s>,
}

#[derive(Deserialize)]
struct MessageIn<'d> {
    #[serde(borrow)]
    content: Vec<BlockIn<'d>>,
    #[serde(default, deserialize_with = "lenient::text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct BlockIn<'d> {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct UsageWire {
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_creation_input_tokens: Option<u64>,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let cached = wire.cache_read_input_tokens.unwrap_or(0);
        let fresh = wire.input_tokens.unwrap_or(0).saturating_add(wire.cache_creation_input_tokens.unwrap_or(0));
        Usage { input: fresh.saturating_add(cached), output: wire.output_tokens.unwrap_or(0), cached, reasoning: 0 }
    }
}

#[derive(Deserialize)]
struct Event<'d> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    message: Option<Start>,
    #[serde(borrow)]
    content_block: Option<BlockIn<'d>>,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default, deserialize_with = "lenient::text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    stop_reason: Option<String>,
}
