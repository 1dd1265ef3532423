//! OpenAI's responses: `POST /responses`.
//!
//! * The conversation is sent whole each time, and `store: false` with it, so that nothing of an evaluation stays at the provider; a
//!   `store` under `extra` is taken instead.
//! * Tools carry `strict` explicitly: left out, the provider would rewrite their schemas.
//! * There is no `seed`.

use jurat_core::effect::{
    Endpoint, Finish, Media, MediaKind, Message, ModelRequest, Part, Reasoning, Served, ToolCall, ToolChoice, Usage,
};
use jurat_format::value::{Map, Val, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Json, Object, SchemaJson};
use super::openai_chat::{self, InputDetails, OutputDetails};
use super::settings::Settings;
use super::{
    Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest, arguments_text, envelope,
    lenient, logprobs, media, openai_embeddings, parsed, states, strict, value_of,
};

pub(super) static ENTRY: Entry = Entry {
    name: "openai_responses",
    revision: 1,
    headers: openai_chat::HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: |_| true, events: |_| Box::<Stream>::default() }),
    embedding: Some(&openai_embeddings::ENTRY),
};

fn encode(
    endpoint: &Endpoint,
    request: &ModelRequest,
    Sending { stream, .. }: Sending<'_>,
) -> Result<WireRequest, Unsupported> {
    let settings = Settings::of(endpoint)?;
    media::need(request, "the responses interface of OpenAI", &TAKES)?;
    settings.no_seed("the responses interface of OpenAI")?;
    settings.no_structured("the responses interface of OpenAI", &[Structured::Tool])?;
    let effort = settings.effort("the responses interface of OpenAI")?;
    let count = logprobs::wanted(endpoint, request);
    let has_include = settings.extra.is_some_and(|it| it.get("include").is_some());
    let body = body::write(settings.extra, |body| {
        body.member("model", &endpoint.model);
        body.list("input", request.messages.iter().flat_map(items), write_item);
        body.optional("temperature", settings.temperature.map(Json));
        body.optional("top_p", settings.top_p.map(Json));
        body.optional("max_output_tokens", settings.max_tokens.map(Json));
        if let Some(effort) = effort {
            body.open_object("reasoning", |it| it.member("effort", effort));
        }
        // Nothing is stored there, so what the model thought comes back sealed, and goes along with the results of tools.
        let sealed = effort.map(|_| "reasoning.encrypted_content").filter(|_| !has_include);
        let include: Vec<&str> = sealed.into_iter().chain(count.map(|_| LOGPROBS)).collect();
        if !include.is_empty() {
            body.member("include", &include);
        }
        body.optional("top_logprobs", count.filter(|it| *it > 0));
        if let Some(schema) = &request.output {
            body.open_object("text", |text| {
                text.object("format", |format| match settings.structured {
                    Some(Structured::JsonObject) => format.member("type", "json_object"),
                    _ => {
                        format.member("type", "json_schema");
                        format.member("name", "answer");
                        format.member("schema", &SchemaJson(schema));
                        format.member("strict", &strict::fits_openai(schema));
                    }
                });
            });
        }
        if !request.tools.is_empty() {
            body.list("tools", &request.tools, |body, tool| {
                body.member("type", "function");
                body.member("name", &tool.name);
                body.optional("description", tool.description.as_deref());
                body.member("parameters", &Json(&tool.parameters));
                body.member("strict", &strict::fits_openai(&tool.parameters));
            });
        }
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None if request.tools.is_empty() => {}
            ToolChoice::None => body.member("tool_choice", "none"),
            ToolChoice::Required => body.member("tool_choice", "required"),
            ToolChoice::Named(name) => body.object("tool_choice", |choice| {
                choice.member("type", "function");
                choice.member("name", name);
            }),
        }
        if settings.extra.is_none_or(|it| it.get("store").is_none()) {
            body.member("store", &false);
        }
        if stream {
            body.member("stream", &true);
        }
    })?;
    Ok(WireRequest::post("/responses".to_owned(), body))
}

/// What the probabilities of tokens are asked for by.
const LOGPROBS: &str = "message.output_text.logprobs";

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let response: Response = parsed(body)?;
    if response.output.is_none() {
        return Err(match envelope::in_success(body) {
            Some(api) => Failure::Api(api),
            None => Failure::Garbled("the reply has no output in it".to_owned()),
        });
    }
    response.into_reply(Vec::new())
}

/// A reply in pieces. The event that ends it holds the whole reply.
#[derive(Debug, Default)]
struct Stream {
    /// Items that were finished before the end, for servers whose last event leaves them out.
    items: Vec<Box<RawValue>>,
    response: Option<Response>,
    has_begun: bool,
}

impl Events for Stream {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        if data == b"[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = parsed(data)?;
        match event.kind.as_deref() {
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.response = event.response.map(|it| parsed(it.get().as_bytes())).transpose()?;
            }
            Some("response.output_item.done") => self.items.extend(event.item),
            Some("error") => {
                let message = event.message.as_deref().unwrap_or("the stream ended with an error");
                let api = envelope::in_success(data).filter(|_| event.code.0.is_none());
                let word = event.code.0.as_deref().unwrap_or("server_error");
                return Err(Failure::Api(api.unwrap_or_else(|| envelope::named(word, message))));
            }
            None => {
                if let Some(api) = envelope::in_success(data) {
                    return Err(Failure::Api(api));
                }
            }
            Some(kind) => self.has_begun |= kind.ends_with(".delta"),
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        self.response.ok_or(Failure::Cut)?.into_reply(self.items)
    }
}

/// What it takes beside text.
const TAKES: [(MediaKind, &[&str]); 2] = [(MediaKind::Image, &[]), (MediaKind::Pdf, &[])];

/// A part of a conversation.
enum Sent<'m> {
    Said(&'m Message),
    Call(&'m ToolCall),
    /// What the model thought, as it came.
    Thought(&'m Value),
}

/// A message is an item, and so is each call of a tool, and what the model thought before it.
fn items(message: &Message) -> impl Iterator<Item = Sent<'_>> {
    let (has_text, calls, thoughts): (bool, &[ToolCall], &[Value]) = match message {
        Message::Assistant { text, tool_calls, reasoning } => {
            let thoughts = if tool_calls.is_empty() { &[] } else { states(reasoning.as_deref()) };
            (!text.is_empty() || tool_calls.is_empty(), tool_calls, thoughts)
        }
        _ => (true, &[], &[]),
    };
    let thoughts = thoughts.iter().map(Sent::Thought);
    thoughts.chain(has_text.then_some(Sent::Said(message))).chain(calls.iter().map(Sent::Call))
}

fn write_item(body: &mut Object<'_, '_>, item: Sent<'_>) {
    match item {
        Sent::Thought(item) => {
            let members = item.as_map().into_iter().flat_map(Map::iter);
            members.for_each(|(name, value)| body.dynamic(name, &Json(value)));
        }
        Sent::Call(call) => {
            body.member("type", "function_call");
            body.member("call_id", &call.id);
            body.member("name", &call.name);
            body.member("arguments", &arguments_text(call));
        }
        Sent::Said(message @ Message::Tool { call_id, text, .. }) => {
            body.member("type", "function_call_output");
            body.member("call_id", call_id);
            let media = media::of_result(message, &TAKES);
            if media.is_empty() {
                body.member("output", text);
            } else {
                let parts = [None].into_iter().chain(media.into_iter().map(Some));
                body.list("output", parts, |part, it| match it {
                    None => write_text(part, text),
                    Some(it) => write_media(part, it),
                });
            }
        }
        Sent::Said(Message::Parts(parts)) => {
            body.member("role", "user");
            body.list("content", parts.iter(), write_part);
        }
        Sent::Said(other) => {
            body.member("role", other.role());
            body.member("content", other.text());
        }
    }
}

fn write_part(body: &mut Object<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => write_text(body, text),
        Part::Media(it) => write_media(body, it),
    }
}

fn write_text(body: &mut Object<'_, '_>, text: &str) {
    body.member("type", "input_text");
    body.member("text", text);
}

fn write_media(body: &mut Object<'_, '_>, it: &Media) {
    if it.kind == MediaKind::Image {
        body.member("type", "input_image");
        body.member("image_url", &media::data_url(it));
    } else {
        body.member("type", "input_file");
        body.member("filename", media::name_of(it));
        body.member("file_data", &media::data_url(it));
    }
}

#[derive(Debug, Deserialize)]
struct Response {
    output: Option<Vec<Box<RawValue>>>,
    status: lenient::Text,
    id: lenient::Text,
    model: lenient::Text,
    usage: lenient::Object<UsageWire>,
    error: lenient::Object<ErrorWire>,
    incomplete_details: lenient::Object<Incomplete>,
}

#[derive(Debug, Deserialize)]
struct Incomplete {
    reason: lenient::Text,
}

#[derive(Debug, Deserialize)]
struct ErrorWire {
    code: lenient::Text,
    message: lenient::Text,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<PartIn>>,
    summary: Option<Vec<PartIn>>,
    encrypted_content: lenient::Text,
    call_id: lenient::Text,
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct PartIn {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    refusal: Option<String>,
    logprobs: Option<Vec<logprobs::TokenIn>>,
}

#[derive(Debug, Deserialize)]
struct UsageWire {
    input_tokens: lenient::Count,
    output_tokens: lenient::Count,
    input_tokens_details: lenient::Object<InputDetails>,
    output_tokens_details: lenient::Object<OutputDetails>,
}

#[derive(Deserialize)]
struct Event<'d> {
    #[serde(rename = "type", borrow)]
    kind: Option<std::borrow::Cow<'d, str>>,
    #[serde(borrow)]
    response: Option<&'d RawValue>,
    item: Option<Box<RawValue>>,
    message: Option<String>,
    code: lenient::Text,
}

impl Response {
    fn into_reply(self, items: Vec<Box<RawValue>>) -> Result<Reply, Failure> {
        match self.status.0.as_deref() {
            Some("failed" | "cancelled") => {
                let (code, message) = self.error.0.map_or((None, None), |it| (it.code.0, it.message.0));
                let message = message.unwrap_or_else(|| "the provider gave up".to_owned());
                return Err(Failure::Api(envelope::named(code.as_deref().unwrap_or("server_error"), &message)));
            }
            Some("queued" | "in_progress") => return Err(Failure::Garbled("the reply is not finished".to_owned())),
            _ => {}
        }
        let output = self.output.filter(|it| !it.is_empty()).unwrap_or(items);
        let (mut text, mut refusal, mut tool_calls) = (String::new(), String::new(), Vec::new());
        let mut tokens = Vec::new();
        let (mut thoughts, mut sealed) = (String::new(), Vec::new());
        for raw in output {
            let item: Item = parsed(raw.get().as_bytes())?;
            match item.kind.as_str() {
                "reasoning" => {
                    let shown = item.summary.into_iter().chain(item.content).flatten().filter_map(|it| it.text);
                    shown.for_each(|it| thoughts.push_str(&it));
                    // Without its seal the provider would look for it where nothing is stored.
                    if item.encrypted_content.0.is_some() {
                        sealed.push(value_of(&raw));
                    }
                }
                "function_call" => tool_calls.push(ToolCall {
                    id: item.call_id.0.unwrap_or_default(),
                    name: item.name.unwrap_or_default(),
                    arguments: lenient::arguments_of(item.arguments.as_deref()),
                }),
                "message" => {
                    for part in item.content.into_iter().flatten() {
                        match part.kind.as_str() {
                            "refusal" => refusal.push_str(&part.refusal.unwrap_or_default()),
                            _ => {
                                text.push_str(&part.text.unwrap_or_default());
                                logprobs::add(&mut tokens, part.logprobs.into_iter().flatten());
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        let finish = match (self.status.0.as_deref(), self.incomplete_details.0.and_then(|it| it.reason.0)) {
            _ if !refusal.is_empty() => Finish::Refusal,
            (Some("incomplete"), Some(reason)) => match reason.as_str() {
                "max_output_tokens" => Finish::Length,
                "content_filter" => Finish::Refusal,
                _ => Finish::Other(reason),
            },
            (Some("incomplete"), None) => Finish::Other("incomplete".to_owned()),
            _ if !tool_calls.is_empty() => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        let usage = self.usage.0.map(|it| Usage {
            input: it.input_tokens.get(),
            output: it.output_tokens.get(),
            cached: it.input_tokens_details.0.map_or(0, |it| it.cached_tokens.get()),
            reasoning: it.output_tokens_details.0.map_or(0, |it| it.reasoning_tokens.get()),
            cache_write: 0,
        });
        let served = Served { model: self.model.0, request_id: self.id.0, ..Served::default() };
        let reasoning = Reasoning::new(thoughts, if sealed.is_empty() { Val::Null } else { Val::List(sealed) });
        let text = if refusal.is_empty() { text } else { refusal };
        let logprobs = logprobs::all(tokens);
        Ok(Reply { text, tool_calls, reasoning, logprobs, finish, usage, served, ..Reply::default() })
    }
}
