//! Anthropic's messages: `POST /v1/messages`.
//!
//! * `max_tokens` is required there. An endpoint without it is an error; the default that definitions get stands in the endpoint's
//!   settings, where it can be seen.
//! * The schema of an answer goes as `output_config.format`. What Anthropic does not enforce (bounds, patterns) goes into descriptions; a schema
//!   that cannot be enforced at all (`$ref`, no object) goes into the prompt. A tool that must be called instead is sent only with
//!   `structured: tool`: current models refuse it.
//! * System messages come first and become `system`. One in the middle of a conversation is an error.
//! * Images and PDF documents that a tool returned stand in its result, after the words.
//! * There is no `seed`.

use std::borrow::Cow;

use jurat_core::effect::{
    Endpoint, Finish, Media, MediaKind, Message, ModelRequest, Part, Reasoning, Served, ToolCall, ToolChoice, Usage,
};
use jurat_format::value::{Map, Val, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Json, Object};
use super::gemini_generate::in_path;
use super::prompt_cache::PromptCache;
use super::settings::{Settings, Thinking};
use super::{
    ANSWER, ANSWER_DESCRIPTION, Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest,
    arguments, envelope, grouped, lenient, logprobs, media, need_objects, not_empty, openai_chat, parsed, states,
    strict, structured, system_first, value_of,
};

/// What it takes beside text.
const TAKES: [(MediaKind, &[&str]); 2] = [(MediaKind::Image, &media::USUAL_IMAGES), (MediaKind::Pdf, &[])];

/// The most tokens of a reply where a provider demands a bound and the author gives none. It stands in the endpoint's settings, so it
/// is seen in what is stored and is part of the key that responses are stored under.
pub const DEFAULT_MAX_TOKENS: i64 = 4096;

pub(super) const HEADERS: &[(&str, &str)] = &[("x-api-key", "${key}"), ("anthropic-version", "2023-06-01")];

pub(super) static ENTRY: Entry = MESSAGES;

const MESSAGES: Entry = Entry {
    name: "anthropic_messages",
    revision: 2,
    headers: HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: |_| true, events: |_| Box::<Stream>::default() }),
    embedding: None,
};

/// The same on Vertex AI, where the path names the model and the body the version.
pub(super) static ON_VERTEX: Entry = Entry {
    name: "vertex_messages",
    revision: 1,
    headers: openai_chat::HEADERS,
    encode: |endpoint, request, Sending { stream, .. }| {
        let body = body_of(endpoint, request, stream, |body| body.member("anthropic_version", "vertex-2023-10-16"))?;
        let method = if stream { "streamRawPredict" } else { "rawPredict" };
        Ok(WireRequest::post(format!("/publishers/anthropic/models/{}:{method}", in_path(&endpoint.model)), body))
    },
    ..MESSAGES
};

fn encode(
    endpoint: &Endpoint,
    request: &ModelRequest,
    Sending { stream, .. }: Sending<'_>,
) -> Result<WireRequest, Unsupported> {
    let body = body_of(endpoint, request, stream, |body| body.member("model", &endpoint.model))?;
    Ok(WireRequest::post("/v1/messages".to_owned(), body))
}

/// The body of a request; `first` writes what says who is asked.
fn body_of(
    endpoint: &Endpoint,
    request: &ModelRequest,
    stream: bool,
    first: impl FnOnce(&mut Object<'_, '_>),
) -> Result<Vec<u8>, Unsupported> {
    let settings = Settings::of(endpoint)?;
    media::need(request, "Anthropic", &TAKES)?;
    settings.no_seed("Anthropic")?;
    logprobs::none(endpoint, request, "Anthropic")?;
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
            None => {
                let prompted = structured::prompted(request, Some(Structured::Prompt));
                return body_of(endpoint, &prompted, stream, first);
            }
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
    let (system, conversation) = system_first(&request.messages, "Anthropic")?;
    need_objects(conversation, "Anthropic")?;
    let conversation = not_empty(conversation);
    let marks = PromptCache::of(request, "Anthropic")?;
    body::write(settings.extra, |body| {
        first(body);
        body.member("max_tokens", &Json(max_tokens));
        match system {
            [] => {}
            [only] if !marks.ends_with(only) => body.member("system", &only.text()),
            several => body.list("system", several, |block, it| {
                write_text(block, it.text());
                write_mark(block, marks.ends_with(it));
            }),
        }
        body.list("messages", grouped(&conversation), |turn, it| write_turn(turn, it, &marks));
        body.optional("temperature", settings.temperature.map(Json));
        body.optional("top_p", settings.top_p.map(Json));
        if let Some(schema) = answer_tool {
            body.list("tools", [schema], |tool, it| write_tool(tool, ANSWER, Some(ANSWER_DESCRIPTION), it));
            write_choice(body, "tool", Some(ANSWER));
        }
        let effort = settings.reasoning.and_then(|it| if let Thinking::Effort(it) = it { Some(it) } else { None });
        let effort = effort.filter(|it| *it != "none");
        if let Some(thinking) = settings.reasoning {
            body.open_object("thinking", |it| write_thinking(it, thinking));
        }
        if enforced.is_some() || effort.is_some() {
            body.open_object("output_config", |config| {
                config.optional("effort", effort);
                if let Some(schema) = &enforced {
                    config.object("format", |format| {
                        format.member("type", "json_schema");
                        format.member("schema", &Json(schema));
                    });
                }
            });
        }
        if !request.tools.is_empty() {
            body.list("tools", &request.tools, |tool, it| {
                write_tool(tool, &it.name, it.description.as_deref(), &it.parameters);
            });
            match &request.tool_choice {
                ToolChoice::Auto => {}
                ToolChoice::None => write_choice(body, "none", None),
                ToolChoice::Required => write_choice(body, "any", None),
                ToolChoice::Named(name) => write_choice(body, "tool", Some(name)),
            }
        }
        if stream {
            body.member("stream", &true);
        }
    })
}

fn write_thinking(thinking: &mut Object<'_, '_>, how: Thinking<'_>) {
    match how {
        Thinking::Effort("none") => thinking.member("type", "disabled"),
        Thinking::Effort(_) => thinking.member("type", "adaptive"),
        Thinking::Budget(budget) => {
            thinking.member("type", "enabled");
            thinking.member("budget_tokens", &Json(budget));
        }
    }
}

/// Says that everything up to here may be cached.
fn write_mark(block: &mut Object<'_, '_>, is_marked: bool) {
    if is_marked {
        block.object("cache_control", |control| control.member("type", "ephemeral"));
    }
}

fn write_turn(body: &mut Object<'_, '_>, messages: &[&Message], marks: &PromptCache<'_>) {
    let is_marked = marks.ends_with(messages[0]);
    match messages[0] {
        Message::Tool { .. } => {
            body.member("role", "user");
            body.list("content", messages, |block, message| write_result(block, message));
        }
        Message::Assistant { text, tool_calls, reasoning } if !tool_calls.is_empty() => {
            body.member("role", "assistant");
            let thoughts = states(reasoning.as_deref()).iter().map(Block::Thought);
            let words = (!text.is_empty()).then_some(Block::Text);
            let blocks = thoughts.chain(words).chain(tool_calls.iter().map(Block::Call));
            body.list("content", blocks, |block, it| match it {
                Block::Thought(it) => {
                    let members = it.as_map().into_iter().flat_map(Map::iter);
                    members.for_each(|(name, value)| block.dynamic(name, &Json(value)));
                }
                Block::Text => write_text(block, text),
                Block::Call(call) => {
                    block.member("type", "tool_use");
                    block.member("id", &call.id);
                    block.member("name", &call.name);
                    block.member("input", &Json(&call.arguments));
                }
            });
        }
        Message::Parts(parts) => {
            body.member("role", "user");
            let n_parts = parts.iter().len();
            body.list("content", parts.iter().enumerate(), |block, (ix, it)| {
                write_part(block, it);
                write_mark(block, is_marked && ix + 1 == n_parts);
            });
        }
        other if is_marked => {
            body.member("role", other.role());
            body.list("content", [other.text()], |block, text| {
                write_text(block, text);
                write_mark(block, true);
            });
        }
        other => {
            body.member("role", other.role());
            body.member("content", other.text());
        }
    }
}

/// A part of what a model said.
enum Block<'m> {
    /// What it thought, as it came: with its signature, and unchanged, or the conversation is refused.
    Thought(&'m Value),
    Text,
    Call(&'m ToolCall),
}

fn write_text(block: &mut Object<'_, '_>, text: &str) {
    block.member("type", "text");
    block.member("text", text);
}

fn write_part(block: &mut Object<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => write_text(block, text),
        Part::Media(it) => write_media(block, it),
    }
}

fn write_media(block: &mut Object<'_, '_>, it: &Media) {
    block.member("type", if it.kind == MediaKind::Pdf { "document" } else { "image" });
    block.object("source", |source| {
        source.member("type", "base64");
        source.member("media_type", &it.media_type);
        source.member("data", &media::base64(it));
    });
    if it.kind == MediaKind::Pdf {
        block.optional("title", it.name.as_deref());
    }
}

fn write_result(block: &mut Object<'_, '_>, message: &Message) {
    let Message::Tool { call_id, text, is_error, .. } = message else { return };
    block.member("type", "tool_result");
    block.member("tool_use_id", call_id);
    // An error with anything but text in it is refused.
    let media = if *is_error { Vec::new() } else { media::of_result(message, &TAKES) };
    if media.is_empty() {
        block.member("content", text);
    } else {
        let blocks = [None].into_iter().chain(media.into_iter().map(Some));
        block.list("content", blocks, |block, it| match it {
            None => write_text(block, text),
            Some(it) => write_media(block, it),
        });
    }
    block.optional("is_error", is_error.then_some(true));
}

fn write_tool(body: &mut Object<'_, '_>, name: &str, description: Option<&str>, schema: &Value) {
    body.member("name", name);
    body.optional("description", description);
    body.member("input_schema", &Json(schema));
}

fn write_choice(body: &mut Object<'_, '_>, kind: &str, name: Option<&str>) {
    body.object("tool_choice", |choice| {
        choice.member("type", kind);
        choice.optional("name", name);
    });
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let message: MessageIn<'_> = parsed(body)?;
    let mut said = Said { stop_reason: message.stop_reason.0, ..Said::default() };
    for raw in message.content {
        let block: BlockIn<'_> = parsed(raw.get().as_bytes())?;
        match block.kind.as_deref() {
            Some("thinking" | "redacted_thinking") => said.think(&block.thinking.unwrap_or_default(), value_of(raw)),
            Some("text") => said.text.push_str(&block.text.unwrap_or_default()),
            Some("tool_use") => said.call(
                block.id.0.unwrap_or_default(),
                block.name.unwrap_or_default(),
                block.input.map_or("", RawValue::get),
            ),
            _ => {}
        }
    }
    let served = Served { model: message.model.0, request_id: message.id.0, ..Served::default() };
    Ok(said.into_reply(message.usage.0.map(Usage::from), served))
}

/// A message, read in one piece or in many.
#[derive(Debug, Default)]
struct Said {
    text: String,
    thoughts: String,
    /// What it thought, as it came.
    blocks: Vec<Value>,
    answer: Option<String>,
    tool_calls: Vec<ToolCall>,
    stop_reason: Option<String>,
}

impl Said {
    fn think(&mut self, text: &str, block: Value) {
        self.thoughts.push_str(text);
        self.blocks.push(block);
    }

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
        let state = if self.blocks.is_empty() { Val::Null } else { Val::List(self.blocks) };
        let reasoning = Reasoning::new(self.thoughts, state);
        let text = self.answer.unwrap_or(self.text);
        Reply { text, tool_calls: self.tool_calls, reasoning, finish, usage, served, ..Reply::default() }
    }
}

/// A reply in pieces. It is whole after `message_stop`.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    thoughts: Vec<ThoughtPieces>,
    calls: Vec<CallPieces>,
    stop_reason: Option<String>,
    usage: Option<UsageWire>,
    served: Served,
    is_done: bool,
}

/// A block of thoughts that comes in pieces.
#[derive(Debug, Default)]
struct ThoughtPieces {
    index: u64,
    text: String,
    signature: String,
    /// What is sealed comes whole.
    data: Option<String>,
}

impl ThoughtPieces {
    fn into_block(self) -> (String, Value) {
        let members = match self.data {
            Some(data) => vec![("type", "redacted_thinking".to_owned()), ("data", data)],
            None => {
                vec![("type", "thinking".to_owned()), ("thinking", self.text.clone()), ("signature", self.signature)]
            }
        };
        let block = members.into_iter().map(|(name, text)| (name, Val::from(text))).collect::<Map<'static>>();
        (self.text, Val::Map(block))
    }
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
                    self.served = Served { model: message.model.0, request_id: message.id.0, ..Served::default() };
                    self.count(message.usage.0);
                }
            }
            Some("content_block_start") => {
                if let Some(block) = event.content_block {
                    self.text.push_str(&block.text.unwrap_or_default());
                    if matches!(block.kind.as_deref(), Some("thinking" | "redacted_thinking")) {
                        self.thoughts.push(ThoughtPieces {
                            index: event.index.get(),
                            text: block.thinking.unwrap_or_default(),
                            signature: block.signature.unwrap_or_default(),
                            data: block.data,
                        });
                    } else if block.kind.as_deref() == Some("tool_use") {
                        self.calls.push(CallPieces {
                            index: event.index.get(),
                            id: block.id.0.unwrap_or_default(),
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
                    let index = event.index.get();
                    if let Some(thought) = self.thoughts.iter_mut().find(|it| it.index == index) {
                        thought.text.push_str(&delta.thinking.unwrap_or_default());
                        thought.signature.push_str(&delta.signature.unwrap_or_default());
                    }
                    if let Some(call) = self.calls.iter_mut().find(|it| it.index == index) {
                        call.pieces.push_str(&delta.partial_json.unwrap_or_default());
                    }
                }
            }
            Some("message_delta") => {
                self.stop_reason = event.delta.and_then(|it| it.stop_reason.0).or(self.stop_reason.take());
                self.count(event.usage.0);
            }
            Some("message_stop") => self.is_done = true,
            _ => {}
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.thoughts.is_empty() || !self.calls.is_empty()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        if !self.is_done {
            return Err(Failure::Cut);
        }
        let mut said = Said { text: self.text, stop_reason: self.stop_reason, ..Said::default() };
        for (text, block) in self.thoughts.into_iter().map(ThoughtPieces::into_block) {
            said.think(&text, block);
        }
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
            output_tokens_details: lenient::Object(usage.output_tokens_details.0.or(so_far.output_tokens_details.0)),
        });
    }
}

#[derive(Deserialize)]
struct MessageIn<'d> {
    #[serde(borrow)]
    content: Vec<&'d RawValue>,
    id: lenient::Text,
    model: lenient::Text,
    stop_reason: lenient::Text,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct BlockIn<'d> {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: lenient::Text,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct UsageWire {
    input_tokens: lenient::Count,
    output_tokens: lenient::Count,
    cache_read_input_tokens: lenient::Count,
    cache_creation_input_tokens: lenient::Count,
    output_tokens_details: lenient::Object<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    thinking_tokens: lenient::Count,
    reasoning_tokens: lenient::Count,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let cached = wire.cache_read_input_tokens.get();
        let cache_write = wire.cache_creation_input_tokens.get();
        let fresh = wire.input_tokens.get().saturating_add(cache_write);
        let reasoning = wire.output_tokens_details.0.map_or(0, |it| it.thinking_tokens.or(it.reasoning_tokens).get());
        Usage { input: fresh.saturating_add(cached), output: wire.output_tokens.get(), cached, reasoning, cache_write }
    }
}

#[derive(Deserialize)]
struct Event<'d> {
    #[serde(rename = "type")]
    kind: Option<String>,
    index: lenient::Count,
    message: Option<Start>,
    #[serde(borrow)]
    content_block: Option<BlockIn<'d>>,
    delta: Option<Delta>,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct Start {
    id: lenient::Text,
    model: lenient::Text,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: lenient::Text,
}
