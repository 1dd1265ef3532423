//! How providers are spoken to, as pure functions.
//!
//! A codec turns a request into the bytes that its provider wants, and what came back into a [`Reply`]. It opens no connection, knows
//! no key and has no clock, so each one is tested by files: a request, the bytes it becomes, what a provider answers and what that means.
//!
//! What is asked for reaches the provider or is [`Unsupported`]; nothing is left out in silence, rewritten or guessed from the name
//! of a model. An evaluation says what was measured only if the bytes that were sent follow from what its author wrote.
//!
//! Each codec is one [`Entry`]: its name, how it writes and reads. Each has a revision. It goes up whenever an equal request becomes other bytes than before,
//! because responses are stored under it; golden files see to that. Who is asked with it is said by a [preset](crate::preset).
//!
//! Providers that speak one codec differ in details, which presets give endpoints as the setting `quirks`: the other name of a member (`max_tokens`,
//! `seed`), `stream_options: none` where that member is refused, `reasoning: object` where settings of reasoning are members of an object.

mod anthropic_messages;
mod application;
mod bedrock_converse;
pub(crate) mod body;
mod envelope;
mod gemini_embed;
mod gemini_generate;
mod lenient;
mod logprobs;
pub(crate) mod media;
mod ollama_chat;
mod ollama_embed;
mod openai_chat;
mod openai_embeddings;
mod openai_responses;
mod prompt_cache;
mod retry_after;
mod settings;
mod stream;
mod strict;
mod structured;
mod vectors;

pub(crate) use gemini_generate::in_path;

use std::fmt;
use std::time::Duration;

use jurat_core::agent::Wire;
use jurat_core::effect::{
    Endpoint, FaultClass, Finish, Logprobs, MOST_LOGPROBS, Message, ModelRequest, Reasoning, Served, ToolCall,
    ToolChoice, Usage, UsedTool,
};
use jurat_core::model::Structured;
use jurat_format::value::{Val, Value, parse_json};
use serde_json::value::RawValue;

pub use anthropic_messages::DEFAULT_MAX_TOKENS;
pub(crate) use ollama_chat::full_address;
pub(crate) use openai_chat::is_openai;
pub use stream::StreamDecoder;
pub(crate) use structured::usual_at as usual_structured;

/// Every codec.
static ENTRIES: &[&Entry] = &[
    &openai_chat::ENTRY,
    &openai_responses::ENTRY,
    &anthropic_messages::ENTRY,
    &gemini_generate::ENTRY,
    &ollama_chat::ENTRY,
    &bedrock_converse::ENTRY,
    &gemini_generate::ON_VERTEX,
    &anthropic_messages::ON_VERTEX,
    &openai_embeddings::ENTRY,
    &gemini_embed::ENTRY,
    &ollama_embed::ENTRY,
    &application::ENTRY,
];

/// What a codec consists of: one entry in a file of its own, and one line of [`ENTRIES`].
pub(crate) struct Entry {
    /// Its name, as endpoints have it.
    name: &'static str,
    /// It goes up whenever an equal request becomes other bytes.
    revision: u32,
    /// The provider's own headers. In their values `${key}` stands for the key.
    headers: &'static [(&'static str, &'static str)],
    encode: fn(&Endpoint, &ModelRequest, Sending<'_>) -> Result<WireRequest, Unsupported>,
    decode: fn(&Endpoint, &[u8]) -> Result<Reply, Failure>,
    /// How replies come in pieces; `None` when they never do.
    pieces: Option<Pieces>,
    /// The codec that asks the same provider for embeddings: itself when it does so.
    embedding: Option<&'static Entry>,
}

/// How replies come in pieces.
struct Pieces {
    /// Server-sent events, rather than a JSON object a line.
    is_sse: fn(&Endpoint) -> bool,
    events: fn(&Endpoint) -> Box<dyn Events>,
}

/// What the events of a reply add up to.
trait Events: fmt::Debug + Send {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure>;
    /// Whether something that the model said has come.
    fn has_begun(&self) -> bool;
    fn finish(self: Box<Self>) -> Result<Reply, Failure>;
}

/// How a request is sent, beside what it asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sending<'s> {
    /// Whether the reply is asked for in pieces.
    pub stream: bool,
    /// The session of an application that the conversation is held in, once there is one.
    pub session: Option<&'s str>,
    /// Whether it is the first request of its session.
    pub is_first: bool,
}

/// A way of writing requests and reading replies.
#[derive(Clone, Copy)]
pub struct Codec(&'static Entry);

impl Codec {
    pub(crate) const OPENAI_CHAT: Codec = Codec(&openai_chat::ENTRY);
    pub(crate) const OPENAI_RESPONSES: Codec = Codec(&openai_responses::ENTRY);
    pub(crate) const ANTHROPIC_MESSAGES: Codec = Codec(&anthropic_messages::ENTRY);
    pub(crate) const GEMINI_GENERATE: Codec = Codec(&gemini_generate::ENTRY);
    pub(crate) const OLLAMA_CHAT: Codec = Codec(&ollama_chat::ENTRY);
    pub(crate) const BEDROCK_CONVERSE: Codec = Codec(&bedrock_converse::ENTRY);
    pub(crate) const VERTEX_GENERATE: Codec = Codec(&gemini_generate::ON_VERTEX);
    pub(crate) const VERTEX_MESSAGES: Codec = Codec(&anthropic_messages::ON_VERTEX);
    pub(crate) const APPLICATION: Codec = Codec(&application::ENTRY);

    /// Every codec.
    pub fn all() -> impl Iterator<Item = Codec> {
        ENTRIES.iter().map(|it| Codec(it))
    }

    /// Its name, as endpoints have it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The codec of a name.
    pub fn named(name: &str) -> Option<Codec> {
        Codec::all().find(|it| it.name() == name)
    }

    /// The codec that has the form of an agent's requests.
    pub fn of(wire: Wire) -> Codec {
        Codec::named(wire.name()).expect("a form of requests has the name of its codec")
    }

    /// The revision of its bytes.
    pub fn revision(self) -> u32 {
        self.0.revision
    }

    /// The provider's own headers. In their values `${key}` stands for the key; without a key such a header is not sent.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        self.0.headers
    }

    /// The codec that asks the same provider for embeddings; `None` when it has none.
    pub fn embedding(self) -> Option<Codec> {
        self.0.embedding.map(Codec)
    }

    /// Whether it asks for embeddings. Its replies are lists of vectors and never come in pieces.
    pub fn embeds(self) -> bool {
        self.embedding() == Some(self)
    }

    /// Writes a request for an endpoint; with `stream` the reply is asked for in pieces.
    pub fn encode(self, endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> Result<WireRequest, Unsupported> {
        self.encode_in(endpoint, request, Sending { stream, session: None, is_first: true })
    }

    /// Writes a request for an endpoint, in the session of an application where there is one.
    pub fn encode_in(
        self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        sending: Sending<'_>,
    ) -> Result<WireRequest, Unsupported> {
        if request.tools.is_empty() && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_)) {
            return Err(Unsupported::new("a tool must be called, and there is none"));
        }
        let way = endpoint.setting("structured").and_then(Val::as_str).and_then(Structured::named);
        let request = &*structured::prompted(request, way);
        (self.0.encode)(endpoint, request, sending)
    }

    /// Whether an endpoint can be asked as it is written, as far as that depends on no request.
    pub fn check(self, endpoint: &Endpoint) -> Result<(), Unsupported> {
        if self == Codec::APPLICATION {
            return application::check(endpoint);
        }
        self.encode(endpoint, &ModelRequest::new("", vec![Message::User(String::new())]), false).map(drop)
    }

    /// Whether an endpoint can be asked for the probabilities of tokens.
    pub fn check_logprobs(self, endpoint: &Endpoint) -> Result<(), Unsupported> {
        let request = ModelRequest::new("", vec![Message::User(String::new())]);
        self.encode(endpoint, &ModelRequest { logprobs: Some(MOST_LOGPROBS), ..request }, false).map(drop)
    }

    /// Whether an endpoint remembers conversations by a session, so that its answers depend on what it was asked before.
    pub fn has_sessions(self, endpoint: &Endpoint) -> bool {
        self == Codec::APPLICATION && application::of(endpoint).is_ok_and(|it| it.has_sessions())
    }

    /// Whether an endpoint makes the ids of its sessions itself, and says them in its first reply.
    pub(crate) fn names_sessions(self, endpoint: &Endpoint) -> bool {
        self == Codec::APPLICATION && application::of(endpoint).is_ok_and(|it| it.reply.session.is_some())
    }

    /// Whether replies come in pieces, whatever was asked for.
    pub(crate) fn always_streams(self, endpoint: &Endpoint) -> bool {
        self == Codec::APPLICATION && application::form(endpoint).is_some()
    }

    /// Reads a reply that came in one piece.
    pub fn decode(self, endpoint: &Endpoint, received: &Received<'_>) -> Result<Reply, Failure> {
        if !(200..300).contains(&received.status) {
            return Err(Failure::Api(envelope::read(received)));
        }
        let request_id = |name: &str| (received.header)(name).map(str::to_owned);
        let mut reply = (self.0.decode)(endpoint, received.body)?;
        if let Some(id) = ["x-request-id", "request-id", "x-amzn-requestid"].into_iter().find_map(request_id) {
            reply.served.request_id = Some(id);
        }
        // A gateway says in a header what the answer cost.
        let in_header = (received.header)("x-litellm-response-cost").and_then(|it| it.parse().ok());
        reply.cost_usd = reply.cost_usd.or(in_header).filter(|it: &f64| it.is_finite() && *it >= 0.0);
        Ok(reply.counted())
    }

    /// Reads a reply that comes in pieces.
    pub fn stream(self, endpoint: &Endpoint) -> StreamDecoder {
        StreamDecoder::new(self.0, endpoint)
    }
}

/// Names are unique.
impl PartialEq for Codec {
    fn eq(&self, other: &Codec) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Codec {}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a setting is there.
pub(crate) fn has(settings: &[(String, Value)], name: &str) -> bool {
    settings.iter().any(|(it, _)| it == name)
}

/// A path without its last segment, where it is this one.
pub(crate) fn without_last<'p>(path: &'p str, segment: &str) -> &'p str {
    match path.strip_suffix(segment) {
        Some("") => "",
        Some(rest) if rest.ends_with('/') => rest.trim_end_matches('/'),
        _ => path,
    }
}

/// A request as it is sent: to the endpoint's address with `path` after it, and with the [headers](Codec::headers) of the codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    pub method: &'static str,
    /// What comes after the address.
    pub path: String,
    /// What the body is; `None` without one.
    pub content_type: Option<&'static str>,
    pub body: Vec<u8>,
}

impl WireRequest {
    /// A POST of JSON.
    pub(crate) fn post(path: String, body: Vec<u8>) -> WireRequest {
        WireRequest { method: "POST", path, content_type: Some("application/json"), body }
    }
}

/// What came back.
#[derive(Clone, Copy)]
pub struct Received<'a> {
    pub status: u16,
    /// The value of a header, by its name in lower case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    pub body: &'a [u8],
    /// When it came, in milliseconds since 1970.
    pub at_ms: u64,
}

impl fmt::Debug for Received<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("status", &self.status).field("n_bytes", &self.body.len()).finish()
    }
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Its words; those of a refusal when it refused.
    pub text: String,
    /// The tools it wants to call.
    pub tool_calls: Vec<ToolCall>,
    /// The tools that an application called itself.
    pub used: Vec<UsedTool>,
    /// What it thought before, where its provider shows it.
    pub reasoning: Option<Box<Reasoning>>,
    /// How likely its tokens were, where that was asked for.
    pub logprobs: Option<Box<Logprobs>>,
    pub finish: Finish,
    pub usage: Option<Usage>,
    /// What it cost in dollars, where a gateway says.
    pub cost_usd: Option<f64>,
    pub served: Served,
    /// The session of an application that it belongs to, where that says so.
    pub session: Option<String>,
    /// How long the first words took, where it came in pieces.
    pub first_token: Option<Duration>,
}

impl Reply {
    /// Some servers say that nothing was read and nothing written. That is no count, and must not cost nothing.
    fn counted(mut self) -> Reply {
        self.usage = self.usage.filter(|it| it.total() > 0);
        self
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The provider says so.
    Api(ApiError),
    /// What came is not what the provider's interface promises, in words.
    Garbled(String),
    /// It ended before it was complete.
    Cut,
}

/// What a provider says went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The status, or the one that the error means where it came in the middle of a stream.
    pub status: u16,
    /// What it means for further requests.
    pub class: FaultClass,
    /// What it says; the start of the body where that has no message.
    pub message: String,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether asking again is useless, although the status would allow it.
    pub is_final: bool,
}

/// What was asked for and cannot be had from this provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

impl Unsupported {
    fn new(message: impl Into<String>) -> Unsupported {
        Unsupported(message.into())
    }
}

/// The error in an envelope that came without a status of its own, as in the results of a batch.
pub(crate) fn error_in(body: &[u8]) -> Option<Failure> {
    envelope::in_success(body).map(Failure::Api)
}

/// The JSON of a reply.
fn parsed<'b, T: serde::Deserialize<'b>>(body: &'b [u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| match envelope::in_success(body) {
        Some(api) => Failure::Api(api),
        None => {
            Failure::Garbled(format!("the reply is not what was promised: {error}; it is {}", envelope::start(body)))
        }
    })
}

/// The system messages of a conversation, and the rest, for a provider that takes the former apart.
fn system_first<'m>(messages: &'m [Message], provider: &str) -> Result<(&'m [Message], &'m [Message]), Unsupported> {
    let is_system = |it: &Message| matches!(it, Message::System(_));
    let n_system = messages.iter().take_while(|it| is_system(it)).count();
    let (system, rest) = messages.split_at(n_system);
    match rest.iter().any(is_system) {
        true => Err(Unsupported(format!("{provider} takes system messages before the conversation only"))),
        false => Ok((system, rest)),
    }
}

/// A conversation without empty turns of the model, for a provider that refuses them.
fn not_empty(conversation: &[Message]) -> Vec<&Message> {
    let is_empty = |it: &Message| matches!(it, Message::Assistant { text, tool_calls, .. } if text.is_empty() && tool_calls.is_empty());
    conversation.iter().filter(|it| !is_empty(it)).collect()
}

/// Turns, for a provider that wants the results of tools that follow each other in one.
fn grouped<'g, 'm>(messages: &'g [&'m Message]) -> impl Iterator<Item = &'g [&'m Message]> {
    let is_result = |it: &Message| matches!(it, Message::Tool { .. });
    messages.chunk_by(move |one, next| is_result(one) && is_result(next))
}

/// What a provider wants back with the calls of a message, as a list of what it gave.
fn states(reasoning: Option<&Reasoning>) -> &[Value] {
    reasoning.and_then(Reasoning::state).and_then(Val::as_list).unwrap_or_default()
}

/// The value that raw JSON is.
fn value_of(json: &RawValue) -> Value {
    parse_json(json.get()).map_or(Val::Null, |it| it.value.into_owned())
}

/// Refuses calls whose arguments are no objects, for a provider that takes no others.
fn need_objects(messages: &[Message], provider: &str) -> Result<(), Unsupported> {
    let calls = messages.iter().filter_map(|it| match it {
        Message::Assistant { tool_calls, .. } => Some(tool_calls),
        _ => None,
    });
    match calls.flatten().find(|it| it.arguments.as_map().is_none()) {
        Some(call) => {
            Err(Unsupported(format!("{provider} takes objects as arguments; those of `{}` are none", call.name)))
        }
        None => Ok(()),
    }
}

/// The tool whose arguments are the answer, where a schema is sent as a tool.
const ANSWER: &str = "jurat_answer";

/// What that tool is for.
const ANSWER_DESCRIPTION: &str = "Gives the answer. Call it exactly once.";

/// The arguments of a call, which some providers send as a text of JSON. What is no JSON stays text.
pub(crate) fn arguments(text: &str) -> Value {
    match parse_json(if text.trim().is_empty() { "{}" } else { text }) {
        Ok(record) => record.value.into_owned(),
        Err(_) => text.to_owned().into(),
    }
}

/// Arguments as a text of JSON. What was no JSON when the model wrote it goes back as it was.
pub(crate) fn arguments_text(call: &ToolCall) -> String {
    match call.arguments.as_str() {
        Some(text) => text.to_owned(),
        None => call.arguments.to_json(),
    }
}
