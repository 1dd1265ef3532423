//! How providers are spoken to, as pure functions.
//!
//! A codec turns a request into the bytes that its provider wants, and what came back into a [`Reply`]. It opens no connection, knows
//! no key and has no clock, so each one is tested by files: a request, the bytes it becomes, what a provider answers and what that means.
//!
//! What is asked for reaches the provider or is [`Unsupported`]; nothing is left out in silence, rewritten or guessed from the name
//! of a model. An evaluation says what was measured only if the bytes that were sent follow from what its author wrote.
//!
//! Each codec has a revision. It goes up whenever an equal request becomes other bytes than before, because answers are kept under
//! it; golden files see to that.

mod anthropic_messages;
mod body;
mod envelope;
mod gemini_embed;
mod gemini_generate;
mod lenient;
mod ollama_chat;
mod ollama_embed;
mod openai_chat;
mod openai_embeddings;
mod openai_responses;
mod retry_after;
mod settings;
mod stream;
mod strict;
mod structured;
mod vectors;

use std::fmt;
use std::time::Duration;

use jurat_core::effect::{Endpoint, FaultClass, Finish, ModelRequest, Served, ToolCall, ToolChoice, Usage};
use jurat_format::value::Val;

pub(crate) use body::Json;
pub(crate) use openai_chat::is_openai;
pub use stream::StreamDecoder;
pub(crate) use structured::Structured;

/// A way of writing requests and reading replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// OpenAI's chat completions, which most other servers speak too.
    OpenaiChat,
    OpenaiResponses,
    AnthropicMessages,
    /// Gemini's `generateContent`.
    GeminiGenerate,
    /// Ollama's own chat.
    OllamaChat,
    /// OpenAI's embeddings, which most other servers speak too.
    OpenaiEmbeddings,
    /// Gemini's `batchEmbedContents`.
    GeminiEmbed,
    /// Ollama's own embeddings.
    OllamaEmbed,
}

impl Codec {
    /// Every codec.
    pub const ALL: [Codec; 8] = [
        Codec::OpenaiChat,
        Codec::OpenaiResponses,
        Codec::AnthropicMessages,
        Codec::GeminiGenerate,
        Codec::OllamaChat,
        Codec::OpenaiEmbeddings,
        Codec::GeminiEmbed,
        Codec::OllamaEmbed,
    ];

    /// Its name, as endpoints have it.
    pub fn name(self) -> &'static str {
        match self {
            Codec::OpenaiChat => "openai_chat",
            Codec::OpenaiResponses => "openai_responses",
            Codec::AnthropicMessages => "anthropic_messages",
            Codec::GeminiGenerate => "gemini_generate",
            Codec::OllamaChat => "ollama_chat",
            Codec::OpenaiEmbeddings => "openai_embeddings",
            Codec::GeminiEmbed => "gemini_embed",
            Codec::OllamaEmbed => "ollama_embed",
        }
    }

    /// The codec of a name.
    pub fn named(name: &str) -> Option<Codec> {
        Codec::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The revision of its bytes.
    pub fn revision(self) -> u32 {
        match self {
            Codec::OpenaiChat => openai_chat::REVISION,
            Codec::OpenaiResponses => openai_responses::REVISION,
            Codec::AnthropicMessages => anthropic_messages::REVISION,
            Codec::GeminiGenerate => gemini_generate::REVISION,
            Codec::OllamaChat => ollama_chat::REVISION,
            Codec::OpenaiEmbeddings => openai_embeddings::REVISION,
            Codec::GeminiEmbed => gemini_embed::REVISION,
            Codec::OllamaEmbed => ollama_embed::REVISION,
        }
    }

    /// The provider's own headers. In their values `${key}` stands for the key.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Codec::OpenaiChat | Codec::OpenaiResponses | Codec::OpenaiEmbeddings => openai_chat::HEADERS,
            Codec::AnthropicMessages => anthropic_messages::HEADERS,
            Codec::GeminiGenerate | Codec::GeminiEmbed => gemini_generate::HEADERS,
            Codec::OllamaChat | Codec::OllamaEmbed => ollama_chat::HEADERS,
        }
    }

    /// The codec that asks the same provider for embeddings; `None` when it has none.
    pub fn embedding(self) -> Option<Codec> {
        match self {
            Codec::OpenaiChat | Codec::OpenaiResponses | Codec::OpenaiEmbeddings => Some(Codec::OpenaiEmbeddings),
            Codec::GeminiGenerate | Codec::GeminiEmbed => Some(Codec::GeminiEmbed),
            Codec::OllamaChat | Codec::OllamaEmbed => Some(Codec::OllamaEmbed),
            Codec::AnthropicMessages => None,
        }
    }

    /// Whether it asks for embeddings. Its replies are lists of vectors and never come in pieces.
    pub fn embeds(self) -> bool {
        self.embedding() == Some(self)
    }

    /// Writes a request for an endpoint; with `stream` the reply is asked for in pieces.
    pub fn encode(self, endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> Result<WireRequest, Unsupported> {
        if request.tools.is_empty() && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_)) {
            return Err(Unsupported::new("a tool must be called, and there is none"));
        }
        let way = endpoint.setting("structured").and_then(Val::as_str).and_then(Structured::named);
        let request = &*structured::prompted(request, way);
        match self {
            Codec::OpenaiChat => openai_chat::encode(endpoint, request, stream),
            Codec::OpenaiResponses => openai_responses::encode(endpoint, request, stream),
            Codec::AnthropicMessages => anthropic_messages::encode(endpoint, request, stream),
            Codec::GeminiGenerate => gemini_generate::encode(endpoint, request, stream),
            Codec::OllamaChat => ollama_chat::encode(endpoint, request, stream),
            Codec::OpenaiEmbeddings => openai_embeddings::encode(endpoint, request),
            Codec::GeminiEmbed => gemini_embed::encode(endpoint, request),
            Codec::OllamaEmbed => ollama_embed::encode(endpoint, request),
        }
    }

    /// Reads a reply that came in one piece.
    pub fn decode(self, received: &Received<'_>) -> Result<Reply, Failure> {
        if !(200..300).contains(&received.status) {
            return Err(Failure::Api(envelope::read(received)));
        }
        let request_id = |name: &str| (received.header)(name).map(str::to_owned);
        let mut reply = match self {
            Codec::OpenaiChat => openai_chat::decode(received.body),
            Codec::OpenaiResponses => openai_responses::decode(received.body),
            Codec::AnthropicMessages => anthropic_messages::decode(received.body),
            Codec::GeminiGenerate => gemini_generate::decode(received.body),
            Codec::OllamaChat => ollama_chat::decode(received.body),
            Codec::OpenaiEmbeddings => openai_embeddings::decode(received.body),
            Codec::GeminiEmbed => gemini_embed::decode(received.body),
            Codec::OllamaEmbed => ollama_embed::decode(received.body),
        }?;
        if let Some(id) = request_id("x-request-id").or_else(|| request_id("request-id")) {
            reply.served.request_id = Some(id);
        }
        Ok(reply.counted())
    }

    /// Reads a reply that comes in pieces.
    pub fn stream(self) -> StreamDecoder {
        StreamDecoder::new(self)
    }
}

/// A request as it is sent: a POST to the endpoint's address with `path` after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// What comes after the address.
    pub path: String,
    /// The provider's own headers ([`Codec::headers`]). In their values `${key}` stands for the key; without a key such a header is not sent.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body, which is JSON.
    pub body: Vec<u8>,
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
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its words; those of a refusal when it refused.
    pub text: String,
    /// The tools it wants to call.
    pub tool_calls: Vec<ToolCall>,
    pub finish: Finish,
    pub usage: Option<Usage>,
    pub served: Served,
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

/// The JSON of a reply.
fn parsed<'b, T: serde::Deserialize<'b>>(body: &'b [u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| match envelope::in_success(body) {
        Some(api) => Failure::Api(api),
        None => {
            Failure::Garbled(format!("the reply is not what was promised: {error}; it is {}", envelope::start(body)))
        }
    })
}

/// The tool whose arguments are the answer, where a schema is sent as a tool.
const ANSWER: &str = "jurat_answer";

/// What that tool is for.
const ANSWER_DESCRIPTION: &str = "Gives the answer. Call it exactly once.";

/// The arguments of a call, which some providers send as a text of JSON. What is no JSON stays text.
fn arguments(text: &str) -> jurat_format::value::Value {
    match jurat_format::value::parse_json(if text.trim().is_empty() { "{}" } else { text }) {
        Ok(record) => record.value.into_owned(),
        Err(_) => text.to_owned().into(),
    }
}
