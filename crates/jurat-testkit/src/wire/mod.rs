//! The wire formats of the providers, from the side of the server. One file for each; [`Wire`] is the list.

mod anthropic_messages;
mod gemini_generate;
mod ollama_chat;
mod openai_chat;
mod openai_responses;

use serde_json::{Value, json};

use crate::fault::RetryAfter;
use crate::reply::Said;
use crate::request::{Request, Tool};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// OpenAI chat completions: `/v1/chat/completions`
    OpenaiChat,
    /// OpenAI responses: `/v1/responses`
    OpenaiResponses,
    /// Anthropic messages: `/v1/messages`
    AnthropicMessages,
    /// Gemini: `/v1beta/models/MODEL:generateContent`, and `:streamGenerateContent?alt=sse`
    GeminiGenerate,
    /// Ollama chat: `/api/chat`
    OllamaChat,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 5] =
        [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::AnthropicMessages, Wire::GeminiGenerate, Wire::OllamaChat];

    pub(crate) fn format(self) -> &'static Format {
        match self {
            Wire::OpenaiChat => &openai_chat::FORMAT,
            Wire::OpenaiResponses => &openai_responses::FORMAT,
            Wire::AnthropicMessages => &anthropic_messages::FORMAT,
            Wire::GeminiGenerate => &gemini_generate::FORMAT,
            Wire::OllamaChat => &ollama_chat::FORMAT,
        }
    }

    /// The format that is spoken at this path.
    pub(crate) fn at(path: &str) -> Option<Wire> {
        Wire::ALL.into_iter().find(|it| (it.format().speaks_at)(path))
    }
}

/// How one provider reads and writes. Nothing here knows sockets or HTTP.
pub(crate) struct Format {
    /// Whether this is a path of the provider. It comes without its query, and with `%3A` read as `:`.
    pub(crate) speaks_at: fn(&str) -> bool,
    /// Understands a request, or says what the provider would not accept.
    pub(crate) read: fn(&Incoming<'_>) -> Result<Asked, String>,
    /// The key that a request carries; `None` when the provider asks for none.
    pub(crate) key: fn(&Incoming<'_>) -> Option<String>,
    /// A reply in one piece.
    pub(crate) whole: fn(&Request, &Said) -> Value,
    pub(crate) stream: fn(&Request, &Said) -> Streamed,
    /// How the pieces are set apart.
    pub(crate) framing: Framing,
    /// The body of an error.
    pub(crate) error: fn(&Trouble<'_>) -> Value,
    /// An error in the middle of a stream.
    pub(crate) stream_error: fn(&Trouble<'_>) -> StreamEvent,
}

/// A request before it is understood.
pub(crate) struct Incoming<'m> {
    /// Without its query, and with `%3A` read as `:`.
    pub(crate) path: &'m str,
    pub(crate) query: &'m str,
    pub(crate) headers: &'m [(String, String)],
    pub(crate) body: &'m Value,
}

/// What a request asks for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) model: String,
    /// (role, text), in order.
    pub(crate) conversation: Vec<(String, String)>,
    pub(crate) schema: Option<Value>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) must_call: MustCall,
    pub(crate) stream: bool,
}

/// Which tool a request insists on.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum MustCall {
    #[default]
    None,
    Any,
    Named(String),
}

/// A reply in pieces.
pub(crate) struct Streamed {
    pub(crate) content: Vec<StreamEvent>,
    /// What marks the reply as complete.
    pub(crate) finish: Vec<StreamEvent>,
}

/// One piece of a stream.
pub(crate) struct StreamEvent {
    /// The name, where the format gives names to its events.
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

/// How the pieces of a stream are set apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framing {
    ServerSentEvents,
    /// One JSON value a line.
    Lines,
}

/// An error to be reported.
pub(crate) struct Trouble<'t> {
    pub(crate) status: u16,
    pub(crate) message: &'t str,
    pub(crate) retry_after: Option<RetryAfter>,
}

impl Asked {
    /// The tool that must be called. Of several the first.
    pub(crate) fn called(&self) -> Option<&Tool> {
        match &self.must_call {
            MustCall::None => None,
            MustCall::Any => self.tools.first(),
            MustCall::Named(name) => self.tools.iter().find(|it| it.name == *name),
        }
    }
}

impl Incoming<'_> {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The key of `authorization: Bearer KEY`; empty when there is none.
    fn bearer(&self) -> String {
        self.header("authorization").and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default().to_owned()
    }

    /// A member that must be text.
    fn text(&self, name: &str) -> Result<String, String> {
        let text = self.body[name].as_str().filter(|it| !it.is_empty());
        text.map(str::to_owned).ok_or_else(|| format!("`{name}` is missing or is no text"))
    }

    /// A member that must be a list with something in it.
    fn list(&self, name: &str) -> Result<&[Value], String> {
        let list = self.body[name].as_array().filter(|it| !it.is_empty());
        list.map(Vec::as_slice).ok_or_else(|| format!("`{name}` is missing or is no list with items"))
    }
}

impl StreamEvent {
    fn unnamed(data: &Value) -> StreamEvent {
        StreamEvent { name: None, data: data.to_string() }
    }

    /// An event whose data repeat its name as `type`.
    fn typed(name: &'static str, mut data: Value) -> StreamEvent {
        data["type"] = json!(name);
        StreamEvent { name: Some(name), data: data.to_string() }
    }
}

impl Framing {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Framing::ServerSentEvents => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
        }
    }

    pub(crate) fn written(self, event: &StreamEvent) -> String {
        let data = &event.data;
        match (self, event.name) {
            (Framing::ServerSentEvents, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
            (Framing::ServerSentEvents, None) => format!("data: {data}\n\n"),
            (Framing::Lines, _) => format!("{data}\n"),
        }
    }
}

/// The items of a list; none when it is no list.
fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Tools, each with a name and with its schema under one of these keys.
fn tools<'v>(tools: impl Iterator<Item = &'v Value>, schemas: &[&str], unnamed: &str) -> Result<Vec<Tool>, String> {
    let read = |it: &Value| {
        let name = it["name"].as_str().ok_or(unnamed)?;
        let schema = schemas.iter().map(|key| &it[*key]).find(|it| it.is_object());
        Ok(Tool { name: name.to_owned(), parameters: schema.cloned().unwrap_or_default() })
    };
    tools.map(read).collect()
}

/// Tools as OpenAI's chat and Ollama have them.
fn function_tools(list: &Value) -> Result<Vec<Tool>, String> {
    tools(items(list).map(|it| &it["function"]), &["parameters"], "`tools[].function.name` is missing")
}

/// The text of a message: a string, or what is text among its parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Messages with a role and a content.
fn turns(messages: &[Value]) -> impl Iterator<Item = (String, String)> {
    messages.iter().map(|it| (it["role"].as_str().unwrap_or_default().to_owned(), text_of(&it["content"])))
}

/// A text in pieces of a few characters.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(12).map(|it| it.iter().collect()).collect()
}

/// An id that is the same for the same request.
fn id(prefix: &str, request: &Request) -> String {
    format!("{prefix}{:016x}{:04x}", request.digest(), request.repeat)
}

/// When every reply was made: tests compare bytes.
const CREATED: u64 = 1_700_000_000;

/// The schema of anything, for clients that ask for JSON without a schema.
fn any_object() -> Value {
    json!({ "type": "object" })
}
