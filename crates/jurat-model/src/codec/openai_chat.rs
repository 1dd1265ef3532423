//! OpenAI's chat completions: `POST /chat/completions`. Most other servers speak it too.
//!
//! * `max_tokens` is sent as `max_completion_tokens` to `openai.com`, whose reasoning models refuse the old name, and as `max_tokens` to every
//!   other address, where the new name is often unknown. Where that is wrong, `extra` can say it the other way.
//! * The schema of an answer goes as `response_format`, unchanged; `strict` is true when OpenAI's rules for it are met. `structured` says it otherwise.
//! * A result of a tool that failed differs from others by its text alone: the interface has no mark for it.

use std::fmt;

use jurat_core::effect::{
    Endpoint, Finish, Media, MediaKind, Message, ModelRequest, Part, Reasoning, Served, TokenLogprob, ToolCall,
    ToolChoice, Usage,
};
use jurat_format::value::{Map, Val, Value};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::body::{self, Json, Object, SchemaJson};
use super::settings::{Settings, Thinking};
use super::{
    ANSWER, ANSWER_DESCRIPTION, Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest,
    arguments, arguments_text, envelope, lenient, logprobs, media, openai_embeddings, parsed, strict, value_of,
};

pub(super) const HEADERS: &[(&str, &str)] = &[("authorization", "Bearer ${key}")];

pub(super) static ENTRY: Entry = Entry {
    name: "openai_chat",
    revision: 1,
    headers: HEADERS,
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
    media::need(request, "the chat interface of OpenAI", &TAKES)?;
    if request.output.is_some() && settings.structured == Some(Structured::Tool) && !request.tools.is_empty() {
        return Err(Unsupported::new(
            "`structured: tool` leaves no room for other tools; take `prompt` or `json_schema`",
        ));
    }
    let logprobs = logprobs::wanted(endpoint, request);
    if logprobs.is_some() && settings.structured == Some(Structured::Tool) {
        return Err(Unsupported::new("`structured: tool` has no `logprobs`: there are none of the arguments of tools"));
    }
    let is_object = settings.quirk("reasoning") == Some("object");
    let effort = if is_object { None } else { settings.effort("this interface")? };
    let messages = media::followed(&request.messages, |it| goes_behind_results(endpoint, it));
    let body = body::write(settings.extra, |body| {
        body.member("model", &endpoint.model);
        body.list("messages", messages.iter(), write_message);
        body.optional("temperature", settings.temperature.map(Json));
        body.optional("top_p", settings.top_p.map(Json));
        body.optional(max_tokens_name(endpoint, &settings), settings.max_tokens.map(Json));
        let seed = if settings.quirk("seed") == Some("random_seed") { "random_seed" } else { "seed" };
        body.optional(seed, settings.seed.map(Json));
        body.optional("reasoning_effort", effort);
        if let Some(count) = logprobs {
            body.member("logprobs", &true);
            body.optional("top_logprobs", Some(count).filter(|it| *it > 0));
        }
        if let Some(thinking) = settings.reasoning.filter(|_| is_object) {
            body.open_object("reasoning", |reasoning| match thinking {
                Thinking::Effort(effort) => reasoning.member("effort", effort),
                Thinking::Budget(budget) => reasoning.member("max_tokens", &Json(budget)),
            });
        }
        match (&request.output, settings.structured) {
            (None, _) | (Some(_), Some(Structured::Prompt)) => {}
            (Some(_), Some(Structured::JsonObject)) => {
                body.object("response_format", |format| format.member("type", "json_object"));
            }
            (Some(schema), Some(Structured::Tool)) => {
                body.list("tools", [schema], |tool, it| {
                    write_tool(tool, ANSWER, Some(ANSWER_DESCRIPTION), it);
                });
                write_choice(body, ANSWER);
            }
            (Some(schema), Some(Structured::JsonSchema) | None) => {
                body.object("response_format", |format| {
                    format.member("type", "json_schema");
                    format.object("json_schema", |format| {
                        format.member("name", "answer");
                        format.member("schema", &SchemaJson(schema));
                        format.member("strict", &strict::fits_openai(schema));
                    });
                });
            }
        }
        if !request.tools.is_empty() {
            body.list("tools", &request.tools, |tool, it| {
                write_tool(tool, &it.name, it.description.as_deref(), &it.parameters);
            });
        }
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None if request.tools.is_empty() => {}
            ToolChoice::None => body.member("tool_choice", "none"),
            ToolChoice::Required => body.member("tool_choice", "required"),
            ToolChoice::Named(name) => write_choice(body, name),
        }
        if stream {
            body.member("stream", &true);
            if settings.quirk("stream_options") != Some("none") {
                body.object("stream_options", |options| options.member("include_usage", &true));
            }
        }
    })?;
    Ok(WireRequest::post("/chat/completions".to_owned(), body))
}

/// The name of the bound of a reply. OpenAI's reasoning models refuse the old one, and most other servers do not know the new one.
fn max_tokens_name(endpoint: &Endpoint, settings: &Settings<'_>) -> &'static str {
    let is_new = settings.quirk("max_tokens") == Some("max_completion_tokens") || is_openai(&endpoint.address);
    if is_new { "max_completion_tokens" } else { "max_tokens" }
}

/// What it takes beside text. Which images a server knows is for it to say: many speak this interface.
const TAKES: [(MediaKind, &[&str]); 3] =
    [(MediaKind::Image, &[]), (MediaKind::Audio, &["audio/wav", "audio/mpeg"]), (MediaKind::Pdf, &[])];

/// The members in which servers give, and take back, what a model thought.
const STATES: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// What follows the results of tools as a message of the user, because results are text there. Mistral takes no such message after a result.
fn goes_behind_results(endpoint: &Endpoint, media: &Media) -> bool {
    !is_of(&endpoint.address, "mistral.ai") && media::takes(&TAKES, media)
}

fn write_message(body: &mut Object<'_, '_>, message: &Message) {
    body.member("role", message.role());
    match message {
        Message::Assistant { text, tool_calls, reasoning } if !tool_calls.is_empty() => {
            body.member("content", &(!text.is_empty()).then_some(text));
            // Servers that think before they call a tool want their thoughts back under the name that they gave them.
            let state = reasoning.as_ref().and_then(|it| it.state());
            for name in STATES {
                body.optional(name, state.and_then(|it| it.get(name)).map(Json));
            }
            body.list("tool_calls", tool_calls, |body, call| {
                body.member("id", &call.id);
                body.member("type", "function");
                body.object("function", |function| {
                    function.member("name", &call.name);
                    function.member("arguments", &arguments_text(call));
                });
            });
        }
        Message::Tool { call_id, text, .. } => {
            body.member("content", text);
            body.member("tool_call_id", call_id);
        }
        Message::Parts(parts) => body.list("content", parts.iter(), write_part),
        other => body.member("content", other.text()),
    }
}

fn write_part(body: &mut Object<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => {
            body.member("type", "text");
            body.member("text", text);
        }
        Part::Media(it) => write_media(body, it),
    }
}

fn write_media(body: &mut Object<'_, '_>, it: &Media) {
    match it.kind {
        MediaKind::Image => {
            body.member("type", "image_url");
            body.object("image_url", |image| image.member("url", &media::data_url(it)));
        }
        MediaKind::Audio => {
            body.member("type", "input_audio");
            body.object("input_audio", |audio| {
                audio.member("data", &media::base64(it));
                audio.member("format", if it.media_type == "audio/wav" { "wav" } else { "mp3" });
            });
        }
        MediaKind::Pdf => {
            body.member("type", "file");
            body.object("file", |file| {
                file.member("filename", media::name_of(it));
                file.member("file_data", &media::data_url(it));
            });
        }
    }
}

fn write_tool(body: &mut Object<'_, '_>, name: &str, description: Option<&str>, parameters: &Value) {
    body.member("type", "function");
    body.object("function", |function| {
        function.member("name", name);
        function.optional("description", description);
        function.member("parameters", &Json(parameters));
        function.optional("strict", strict::fits_openai(parameters).then_some(true));
    });
}

/// Has the model call this tool.
fn write_choice(body: &mut Object<'_, '_>, name: &str) {
    body.object("tool_choice", |choice| {
        choice.member("type", "function");
        choice.object("function", |function| function.member("name", name));
    });
}

/// Whether an address is OpenAI's own, in any of its regions.
pub(crate) fn is_openai(address: &str) -> bool {
    is_of(address, "openai.com")
}

/// Whether the host of an address belongs to a domain.
fn is_of(address: &str, domain: &str) -> bool {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split(['/', ':', '?']).next().unwrap_or(host);
    host.strip_suffix(domain).is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let completion: Completion = parsed(body)?;
    let Some(choice) = completion.choices.into_iter().next() else {
        return Err(Failure::Garbled("the reply has no choice in it".to_owned()));
    };
    let message = choice.message;
    let calls = message.tool_calls.unwrap_or_default().into_iter();
    let tool_calls = calls.map(|it| ToolCall {
        id: it.id.0.unwrap_or_default(),
        name: it.function.name.unwrap_or_default(),
        arguments: lenient::arguments_of(it.function.arguments.as_deref()),
    });
    let Content { text, thoughts } = message.content.unwrap_or_default();
    let said = Said {
        text,
        thoughts: Thoughts {
            inline: thoughts,
            content: message.reasoning_content.0.unwrap_or_default(),
            reasoning: message.reasoning.0.unwrap_or_default(),
            details: message.reasoning_details.iter().flatten().map(|it| value_of(it)).collect(),
        },
        refusal: message.refusal.unwrap_or_default(),
        tool_calls: tool_calls.collect(),
        finish_reason: choice.finish_reason.0,
        logprobs: choice.logprobs.0.map(TokensIn::read).unwrap_or_default(),
    };
    let served = Served {
        model: completion.model.0,
        fingerprint: completion.system_fingerprint.0,
        request_id: completion.id.0,
        batch: None,
    };
    let cost_usd = completion.usage.0.as_ref().and_then(|it| it.cost);
    Ok(Reply { cost_usd, ..said.into_reply(completion.usage.0.map(Usage::from), served) })
}

/// A choice, read in one piece or in many.
#[derive(Debug, Default)]
struct Said {
    text: String,
    thoughts: Thoughts,
    refusal: String,
    tool_calls: Vec<ToolCall>,
    finish_reason: Option<String>,
    logprobs: Vec<TokenLogprob>,
}

impl Said {
    fn has_begun(&self) -> bool {
        let Thoughts { inline, content, reasoning, .. } = &self.thoughts;
        [&self.text, &self.refusal, inline, content, reasoning].iter().any(|it| !it.is_empty())
    }

    fn into_reply(mut self, usage: Option<Usage>, served: Served) -> Reply {
        if let Some(ix) = self.tool_calls.iter().position(|it| it.name == ANSWER) {
            self.text = arguments_text(&self.tool_calls.swap_remove(ix));
        }
        let finish = match self.finish_reason.as_deref() {
            _ if !self.refusal.is_empty() => Finish::Refusal,
            Some("content_filter") => Finish::Refusal,
            Some("length") => Finish::Length,
            // Some servers say `stop` although tools are called.
            _ if !self.tool_calls.is_empty() => Finish::ToolCalls,
            Some("stop" | "tool_calls") | None => Finish::Stop,
            Some(other) => Finish::Other(other.to_owned()),
        };
        let text = if self.refusal.is_empty() { self.text } else { self.refusal };
        Reply {
            text,
            tool_calls: self.tool_calls,
            reasoning: self.thoughts.into_reasoning(),
            logprobs: logprobs::all(self.logprobs),
            finish,
            usage,
            served,
            ..Reply::default()
        }
    }
}

/// What a model thought: each server has its own place for it.
#[derive(Debug, Default)]
struct Thoughts {
    /// Parts of the content.
    inline: String,
    content: String,
    reasoning: String,
    details: Vec<Value>,
}

impl Thoughts {
    fn into_reasoning(self) -> Option<Box<Reasoning>> {
        let Thoughts { inline, content, reasoning, details } = self;
        let mut state: Map<'static> = Map::default();
        for (name, text) in [("reasoning_content", &content), ("reasoning", &reasoning)] {
            if !text.is_empty() {
                state.insert(name.into(), Val::from(text.clone()));
            }
        }
        if !details.is_empty() {
            state.insert("reasoning_details".into(), Val::List(details));
        }
        let text = [inline, content, reasoning].into_iter().find(|it| !it.is_empty()).unwrap_or_default();
        Reasoning::new(text, if state.is_empty() { Val::Null } else { Val::Map(state) })
    }
}

/// A reply in pieces. It is whole when a piece said why the model stopped, and `[DONE]` or the usage came after it.
#[derive(Debug, Default)]
struct Stream {
    said: Said,
    calls: Vec<CallPieces>,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    served: Served,
    is_done: bool,
}

/// A call whose arguments come in pieces.
#[derive(Debug, Default)]
struct CallPieces {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Events for Stream {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let chunk: Chunk = parsed(data)?;
        let Some(choices) = chunk.choices else {
            return match envelope::in_success(data) {
                Some(api) => Err(Failure::Api(api)),
                None => Ok(()),
            };
        };
        self.served.model = chunk.model.0.or(self.served.model.take());
        self.served.fingerprint = chunk.system_fingerprint.0.or(self.served.fingerprint.take());
        self.served.request_id = chunk.id.0.or(self.served.request_id.take());
        self.cost_usd = chunk.usage.0.as_ref().and_then(|it| it.cost).or(self.cost_usd);
        self.usage = chunk.usage.0.map(Usage::from).or(self.usage);
        for choice in choices.into_iter().filter(|it| it.index.get() == 0) {
            self.said.finish_reason = choice.finish_reason.0.or(self.said.finish_reason.take());
            self.said.logprobs.extend(choice.logprobs.0.map(TokensIn::read).unwrap_or_default());
            let Some(delta) = choice.delta else { continue };
            let Content { text, thoughts } = delta.content.unwrap_or_default();
            self.said.text.push_str(&text);
            let said = &mut self.said.thoughts;
            said.inline.push_str(&thoughts);
            said.content.push_str(&delta.reasoning_content.0.unwrap_or_default());
            said.reasoning.push_str(&delta.reasoning.0.unwrap_or_default());
            said.details.extend(delta.reasoning_details.iter().flatten().map(|it| value_of(it)));
            self.said.refusal.push_str(&delta.refusal.unwrap_or_default());
            delta.tool_calls.into_iter().flatten().for_each(|it| self.add(it));
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.said.has_begun() || !self.calls.is_empty()
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, Failure> {
        if self.said.finish_reason.is_none() || !(self.is_done || self.usage.is_some()) {
            return Err(Failure::Cut);
        }
        let calls = self.calls.into_iter();
        self.said.tool_calls =
            calls.map(|it| ToolCall { id: it.id, name: it.name, arguments: arguments(&it.arguments) }).collect();
        Ok(Reply { cost_usd: self.cost_usd, ..self.said.into_reply(self.usage, self.served) })
    }
}

impl Stream {
    fn add(&mut self, piece: CallWire) {
        let index = piece.index.get();
        let call = match self.calls.iter().position(|it| it.index == index) {
            Some(ix) => &mut self.calls[ix],
            None => {
                self.calls.push(CallPieces { index, ..CallPieces::default() });
                self.calls.last_mut().expect("one was pushed")
            }
        };
        if let Some(id) = piece.id.0 {
            call.id = id;
        }
        call.name.push_str(&piece.function.name.unwrap_or_default());
        call.arguments.push_str(&lenient::arguments_piece(piece.function.arguments.as_deref()));
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    id: lenient::Text,
    model: lenient::Text,
    system_fingerprint: lenient::Text,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct Choice {
    message: MessageIn,
    finish_reason: lenient::Text,
    logprobs: lenient::Object<TokensIn>,
}

#[derive(Deserialize)]
struct TokensIn {
    content: Option<Vec<logprobs::TokenIn>>,
}

impl TokensIn {
    fn read(self) -> Vec<TokenLogprob> {
        let mut tokens = Vec::new();
        logprobs::add(&mut tokens, self.content.into_iter().flatten());
        tokens
    }
}

#[derive(Deserialize)]
struct MessageIn {
    content: Option<Content>,
    reasoning_content: lenient::Text,
    reasoning: lenient::Text,
    reasoning_details: Option<Vec<Box<RawValue>>>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallWire>>,
}

/// Text, or parts of which some are text and some are thoughts.
#[derive(Default)]
struct Content {
    text: String,
    thoughts: String,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content { text: text.to_owned(), thoughts: String::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut content = Content::default();
        while let Some(part) = parts.next_element::<PartIn>()? {
            content.text.push_str(part.text.as_deref().unwrap_or_default());
            let thoughts = part.thinking.into_iter().flatten().filter_map(|it| it.text);
            thoughts.for_each(|it| content.thoughts.push_str(&it));
        }
        Ok(content)
    }
}

#[derive(Deserialize)]
struct PartIn {
    text: Option<String>,
    thinking: Option<Vec<PartIn>>,
}

#[derive(Deserialize)]
struct CallWire {
    index: lenient::Count,
    id: lenient::Text,
    function: FunctionIn,
}

#[derive(Deserialize)]
struct FunctionIn {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct UsageWire {
    prompt_tokens: lenient::Count,
    completion_tokens: lenient::Count,
    prompt_tokens_details: lenient::Object<InputDetails>,
    completion_tokens_details: lenient::Object<OutputDetails>,
    /// Where `DeepSeek` counts what it read from its cache.
    prompt_cache_hit_tokens: lenient::Count,
    /// What `OpenRouter` charges.
    cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InputDetails {
    pub(super) cached_tokens: lenient::Count,
    #[serde(default)]
    pub(super) cache_write_tokens: lenient::Count,
}

#[derive(Debug, Deserialize)]
pub(super) struct OutputDetails {
    pub(super) reasoning_tokens: lenient::Count,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let details = wire.prompt_tokens_details.0;
        let cached = details.as_ref().map(|it| it.cached_tokens).unwrap_or_default().or(wire.prompt_cache_hit_tokens);
        Usage {
            input: wire.prompt_tokens.get(),
            output: wire.completion_tokens.get(),
            cached: cached.get(),
            reasoning: wire.completion_tokens_details.0.map_or(0, |it| it.reasoning_tokens.get()),
            cache_write: details.map_or(0, |it| it.cache_write_tokens.get()),
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<ChunkChoice>>,
    id: lenient::Text,
    model: lenient::Text,
    system_fingerprint: lenient::Text,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    index: lenient::Count,
    delta: Option<MessageIn>,
    finish_reason: lenient::Text,
    logprobs: lenient::Object<TokensIn>,
}
