//! Ollama's own chat: `POST /api/chat`.
//!
//! * The schema of an answer goes as `format`, sampling as `options`, into which `options` under `extra` go too (`num_ctx`, …).
//! * A model cannot be made to call a tool there, nor be prevented from it; asking for either is an error.
//! * Calls have no ids; they are numbered `#0`, `#1`, …, and results are identified by the names of their tools.
//! * A result of a tool that failed differs from others by its text alone: the interface has no mark for it.

use jurat_core::effect::{
    Endpoint, Finish, MediaKind, Message, ModelRequest, Reasoning, Served, TokenLogprob, ToolCall, ToolChoice, Usage,
};
use jurat_format::value::Val;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Json, Object, SchemaJson};
use super::settings::Settings;
use super::{
    Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest, envelope, lenient, logprobs,
    media, need_objects, ollama_embed, parsed,
};

pub(super) const HEADERS: &[(&str, &str)] = &[("authorization", "Bearer ${key}")];

pub(super) static ENTRY: Entry = Entry {
    name: "ollama_chat",
    revision: 1,
    headers: HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: |_| false, events: |_| Box::<Stream>::default() }),
    embedding: Some(&ollama_embed::ENTRY),
};

fn encode(
    endpoint: &Endpoint,
    request: &ModelRequest,
    Sending { stream, .. }: Sending<'_>,
) -> Result<WireRequest, Unsupported> {
    let settings = Settings::of(endpoint)?;
    media::need(request, "Ollama", &TAKES)?;
    settings.no_structured("Ollama", &[Structured::Tool])?;
    if request.tool_choice != ToolChoice::Auto && !request.tools.is_empty() {
        return Err(Unsupported::new("Ollama has no `tool_choice`: a model there calls tools as it likes"));
    }
    need_objects(&request.messages, "Ollama")?;
    let effort = settings.effort("Ollama")?;
    let messages = media::followed(&request.messages, |it| media::takes(&TAKES, it));
    let body = body::write(settings.extra, |body| {
        body.member("model", &endpoint.model);
        body.list("messages", messages.iter(), write_message);
        match (&request.output, settings.structured) {
            (None, _) => {}
            (Some(_), Some(Structured::JsonObject)) => body.member("format", "json"),
            (Some(schema), _) => body.member("format", &SchemaJson(schema)),
        }
        if !request.tools.is_empty() {
            body.list("tools", &request.tools, |body, tool| {
                body.member("type", "function");
                body.object("function", |function| {
                    function.member("name", &tool.name);
                    function.optional("description", tool.description.as_deref());
                    function.member("parameters", &Json(&tool.parameters));
                });
            });
        }
        match effort {
            None => {}
            Some("none") => body.member("think", &false),
            Some(effort) => body.member("think", effort),
        }
        let Settings { temperature, top_p, max_tokens, seed, .. } = settings;
        if [temperature, top_p, max_tokens, seed].iter().any(Option::is_some) {
            body.open_object("options", |options| {
                options.optional("temperature", temperature.map(Json));
                options.optional("top_p", top_p.map(Json));
                options.optional("num_predict", max_tokens.map(Json));
                options.optional("seed", seed.map(Json));
            });
        }
        if let Some(count) = logprobs::wanted(endpoint, request) {
            body.member("logprobs", &true);
            body.optional("top_logprobs", Some(count).filter(|it| *it > 0));
        }
        // Left out, it would be true.
        body.member("stream", &stream);
    })?;
    Ok(WireRequest::post("/api/chat".to_owned(), body))
}

/// What it takes beside text.
const TAKES: [(MediaKind, &[&str]); 1] = [(MediaKind::Image, &[])];

fn write_message(body: &mut Object<'_, '_>, message: &Message) {
    body.member("role", message.role());
    match message {
        Message::Parts(parts) => {
            body.member("content", &parts.texts().collect::<Vec<_>>().join("\n"));
            body.member("images", &parts.media().map(media::base64).collect::<Vec<_>>());
        }
        other => body.member("content", other.text()),
    }
    match message {
        Message::Assistant { tool_calls, reasoning, .. } if !tool_calls.is_empty() => {
            let thoughts = reasoning.as_ref().and_then(|it| it.state()).and_then(Val::as_str);
            body.optional("thinking", thoughts);
            body.list("tool_calls", tool_calls, |body, call| {
                body.object("function", |function| {
                    function.member("name", &call.name);
                    function.member("arguments", &Json(&call.arguments));
                });
            });
        }
        Message::Tool { name, .. } => body.member("tool_name", name),
        _ => {}
    }
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let mut stream = Stream::default();
    stream.take(body)?;
    stream.reply()
}

/// A reply in pieces, one a line. It is whole after the piece that says `done`.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    thoughts: String,
    tool_calls: Vec<ToolCall>,
    tokens: Vec<TokenLogprob>,
    done_reason: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
    is_done: bool,
}

impl Events for Stream {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        let piece: Piece<'_> = parsed(data)?;
        let Some(message) = piece.message else {
            return Err(match envelope::in_success(data) {
                Some(api) => Failure::Api(api),
                None => Failure::Garbled("the reply has no message in it".to_owned()),
            });
        };
        self.model = piece.model.0.or(self.model.take());
        self.text.push_str(&message.content.unwrap_or_default());
        self.thoughts.push_str(&message.thinking.unwrap_or_default());
        for call in message.tool_calls.into_iter().flatten() {
            let id = format!("#{}", self.tool_calls.len());
            let args = lenient::arguments_of(call.function.arguments);
            self.tool_calls.push(ToolCall { id, name: call.function.name, arguments: args });
        }
        logprobs::add(&mut self.tokens, piece.logprobs.into_iter().flatten());
        if piece.done {
            self.is_done = true;
            self.done_reason = piece.done_reason.0;
            // A prompt that was read before is not counted again there.
            let counted = piece.prompt_eval_count.0.or(piece.eval_count.0).is_some();
            self.usage = counted.then(|| Usage {
                input: piece.prompt_eval_count.get(),
                output: piece.eval_count.get(),
                ..Usage::default()
            });
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.thoughts.is_empty() || !self.tool_calls.is_empty()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        self.reply()
    }
}

impl Stream {
    fn reply(self) -> Result<Reply, Failure> {
        if !self.is_done {
            return Err(Failure::Cut);
        }
        let finish = match self.done_reason.as_deref() {
            Some("length") => Finish::Length,
            _ if !self.tool_calls.is_empty() => Finish::ToolCalls,
            Some("stop") | None => Finish::Stop,
            Some(other) => Finish::Other(other.to_owned()),
        };
        let served = Served { model: self.model, ..Served::default() };
        let state = if self.thoughts.is_empty() { Val::Null } else { Val::from(self.thoughts.clone()) };
        let reasoning = Reasoning::new(self.thoughts, state);
        let (text, tool_calls, usage) = (self.text, self.tool_calls, self.usage);
        let logprobs = logprobs::all(self.tokens);
        Ok(Reply { text, tool_calls, reasoning, logprobs, finish, usage, served, ..Reply::default() })
    }
}

#[derive(Deserialize)]
struct Piece<'d> {
    model: lenient::Text,
    #[serde(borrow)]
    message: Option<MessageIn<'d>>,
    #[serde(default)]
    done: bool,
    done_reason: lenient::Text,
    prompt_eval_count: lenient::Count,
    eval_count: lenient::Count,
    logprobs: Option<Vec<logprobs::TokenIn>>,
}

#[derive(Deserialize)]
struct MessageIn<'d> {
    content: Option<String>,
    thinking: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallIn<'d>>>,
}

#[derive(Deserialize)]
struct CallIn<'d> {
    #[serde(borrow)]
    function: FunctionIn<'d>,
}

#[derive(Deserialize)]
struct FunctionIn<'d> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'d RawValue>,
}

/// `OLLAMA_HOST` may be a host, a port or both, and the address that a server listens on.
pub(crate) fn full_address(written: &str) -> String {
    let (scheme, rest) = written.trim().split_once("://").unwrap_or(("", written.trim()));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = if matches!(host, "" | "0.0.0.0") { "127.0.0.1" } else { host };
    let port = match (port, scheme) {
        (Some(port), _) => format!(":{port}"),
        (None, "") => ":11434".to_owned(),
        (None, _) => String::new(),
    };
    let scheme = if scheme.is_empty() { "http" } else { scheme };
    format!("{scheme}://{host}{port}{path}")
}
