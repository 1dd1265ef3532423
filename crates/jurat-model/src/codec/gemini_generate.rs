//! Gemini's `generateContent`: `POST /v1beta/models/MODEL:generateContent`.
//!
//! * The schema of an answer goes as `responseJsonSchema`, those of tools as `parametersJsonSchema`: both take JSON Schema as it is.
//! * System messages come first and become `systemInstruction`. One in the middle of a conversation is an error.
//! * Calls of tools often have no id there; such calls are numbered `#0`, `#1`, … A signature that the provider attached to a call must go back with
//!   it, and rides in its id after a colon.
//! * What its filters stopped, of the question or of the answer, is a refusal.

use jurat_core::effect::{
    Endpoint, Finish, Media, MediaKind, Message, ModelRequest, Part, Reasoning, Served, TokenLogprob, ToolCall,
    ToolChoice, Usage,
};
use jurat_format::value::Val;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Json, Object, SchemaJson};
use super::media::Takes;
use super::settings::{Settings, Thinking};
use super::{
    Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest, envelope, gemini_embed,
    grouped, lenient, logprobs, media, need_objects, not_empty, openai_chat, parsed, system_first,
};

pub(super) const HEADERS: &[(&str, &str)] = &[("x-goog-api-key", "${key}")];

pub(super) static ENTRY: Entry = GENERATE;

const GENERATE: Entry = Entry {
    name: "gemini_generate",
    revision: 1,
    headers: HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: |_| true, events: |_| Box::<Stream>::default() }),
    embedding: Some(&gemini_embed::ENTRY),
};

/// The same on Vertex AI, where addresses hold the project and a token is sent.
pub(super) static ON_VERTEX: Entry = Entry {
    name: "vertex_generate",
    revision: 1,
    headers: openai_chat::HEADERS,
    encode: |endpoint, request, Sending { stream, .. }| {
        let body = body_of(endpoint, request)?;
        let path = format!("/publishers/google/models/{}:{}", in_path(&endpoint.model), method(stream));
        Ok(WireRequest::post(path, body))
    },
    embedding: None,
    ..GENERATE
};

fn encode(
    endpoint: &Endpoint,
    request: &ModelRequest,
    Sending { stream, .. }: Sending<'_>,
) -> Result<WireRequest, Unsupported> {
    let body = body_of(endpoint, request)?;
    Ok(WireRequest::post(format!("/v1beta/models/{}:{}", in_path(&endpoint.model), method(stream)), body))
}

fn method(stream: bool) -> &'static str {
    if stream { "streamGenerateContent?alt=sse" } else { "generateContent" }
}

fn body_of(endpoint: &Endpoint, request: &ModelRequest) -> Result<Vec<u8>, Unsupported> {
    let settings = Settings::of(endpoint)?;
    media::need(request, "Gemini", &TAKES)?;
    settings.no_structured("Gemini", &[Structured::Tool])?;
    let (system, conversation) = system_first(&request.messages, "Gemini")?;
    need_objects(conversation, "Gemini")?;
    let results = of_results(&endpoint.model);
    let conversation = media::followed(conversation, |it| media::takes(&TAKES, it) && !media::takes(results, it));
    let conversation = not_empty(&conversation);
    let count = logprobs::wanted(endpoint, request);
    body::write(settings.extra, |body| {
        if !system.is_empty() {
            body.object("systemInstruction", |content| {
                content.list("parts", system, |part, it| part.member("text", it.text()));
            });
        }
        body.list("contents", grouped(&conversation), |turn, it| write_turn(turn, it, results));
        let Settings { temperature, top_p, max_tokens, seed, structured, reasoning, .. } = settings;
        if request.output.is_some()
            || reasoning.is_some()
            || count.is_some()
            || [temperature, top_p, max_tokens, seed].iter().any(Option::is_some)
        {
            body.open_object("generationConfig", |config| {
                config.optional("temperature", temperature.map(Json));
                config.optional("topP", top_p.map(Json));
                config.optional("maxOutputTokens", max_tokens.map(Json));
                config.optional("seed", seed.map(Json));
                if let Some(count) = count {
                    config.member("responseLogprobs", &true);
                    config.optional("logprobs", Some(count).filter(|it| *it > 0));
                }
                if let Some(thinking) = reasoning {
                    config.open_object("thinkingConfig", |it| write_thinking(it, thinking));
                }
                if let Some(schema) = &request.output {
                    config.member("responseMimeType", "application/json");
                    if structured != Some(Structured::JsonObject) {
                        config.member("responseJsonSchema", &SchemaJson(schema));
                    }
                }
            });
        }
        if !request.tools.is_empty() {
            body.list("tools", [&request.tools], |body, tools| {
                body.list("functionDeclarations", tools, |function, tool| {
                    function.member("name", &tool.name);
                    function.optional("description", tool.description.as_deref());
                    function.member("parametersJsonSchema", &Json(&tool.parameters));
                });
            });
            let calling = match &request.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some(("NONE", None)),
                ToolChoice::Required => Some(("ANY", None)),
                ToolChoice::Named(name) => Some(("ANY", Some([name]))),
            };
            if let Some((mode, allowed)) = calling {
                body.open_object("toolConfig", |config| {
                    config.object("functionCallingConfig", |calling| {
                        calling.member("mode", mode);
                        calling.optional("allowedFunctionNames", allowed);
                    });
                });
            }
        }
    })
}

/// What it takes beside text.
const TAKES: [(MediaKind, &[&str]); 3] = [(MediaKind::Image, &[]), (MediaKind::Audio, &[]), (MediaKind::Pdf, &[])];

/// What the results of tools may hold. Models before Gemini 3 take text alone there.
const OF_RESULTS: [(MediaKind, &[&str]); 2] =
    [(MediaKind::Image, &["image/png", "image/jpeg", "image/webp"]), (MediaKind::Pdf, &[])];

fn of_results(model: &str) -> Takes<'static> {
    let version = model.rsplit('/').next().and_then(|it| it.strip_prefix("gemini-"));
    let version = version.and_then(|it| it.split(['-', '.']).next()).and_then(|it| it.parse::<u32>().ok());
    if version.is_some_and(|it| it >= 3) { &OF_RESULTS } else { &[] }
}

fn write_thinking(config: &mut Object<'_, '_>, thinking: Thinking<'_>) {
    match thinking {
        Thinking::Effort("none") => config.member("thinkingBudget", &0),
        Thinking::Effort(effort) => {
            config.member("includeThoughts", &true);
            config.member("thinkingLevel", effort);
        }
        Thinking::Budget(budget) => {
            config.member("includeThoughts", &true);
            config.member("thinkingBudget", &Json(budget));
        }
    }
}

/// A model's name as a part of a path, or any text as a value of a form.
pub(crate) fn in_path(model: &str) -> String {
    use std::fmt::Write as _;
    let mut path = String::with_capacity(model.len());
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            _ => write!(path, "%{byte:02X}").expect("a text takes everything"),
        }
    }
    path
}

/// Writes the parts of one turn.
fn write_turn(body: &mut Object<'_, '_>, messages: &[&Message], takes: Takes<'_>) {
    body.member("role", if matches!(messages[0], Message::Assistant { .. }) { "model" } else { "user" });
    match messages[0] {
        Message::Tool { .. } => body.list("parts", messages, |part, message| write_result(part, message, takes)),
        Message::Assistant { text, tool_calls, .. } => {
            let text_first = (!text.is_empty()).then_some(None);
            let parts = text_first.into_iter().chain(tool_calls.iter().map(Some));
            body.list("parts", parts, |part, call| match call {
                None => part.member("text", text),
                Some(call) => write_call(part, call),
            });
        }
        Message::Parts(parts) => body.list("parts", parts.iter(), write_part),
        other => body.list("parts", [other.text()], |part, text| part.member("text", text)),
    }
}

fn write_part(body: &mut Object<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => body.member("text", text),
        Part::Media(it) => write_media(body, it),
    }
}

fn write_media(body: &mut Object<'_, '_>, it: &Media) {
    body.object("inlineData", |data| {
        data.member("mimeType", &it.media_type);
        data.member("data", &media::base64(it));
    });
}

fn write_call(part: &mut Object<'_, '_>, call: &ToolCall) {
    let CallId { id, signature } = CallId::read(&call.id);
    part.object("functionCall", |function| {
        function.optional("id", id);
        function.member("name", &call.name);
        function.member("args", &Json(&call.arguments));
    });
    part.optional("thoughtSignature", signature);
}

fn write_result(part: &mut Object<'_, '_>, message: &Message, takes: Takes<'_>) {
    let Message::Tool { call_id, name, text, is_error, .. } = message else { return };
    let media = media::of_result(message, takes);
    part.object("functionResponse", |response| {
        response.optional("id", CallId::read(call_id).id);
        response.member("name", name);
        response.object("response", |it| it.member(if *is_error { "error" } else { "output" }, text));
        if !media.is_empty() {
            response.list("parts", media, write_media);
        }
    });
}

/// What an id holds: the provider's own, if it gave one, and its signature.
struct CallId<'c> {
    id: Option<&'c str>,
    signature: Option<&'c str>,
}

impl<'c> CallId<'c> {
    fn read(text: &'c str) -> CallId<'c> {
        let (id, signature) = match text.split_once(':') {
            Some((id, signature)) => (id, Some(signature)),
            None => (text, None),
        };
        CallId { id: (!id.starts_with('#')).then_some(id), signature }
    }

    fn write(ix: usize, id: Option<&str>, signature: Option<&str>) -> String {
        let id = id.map_or_else(|| format!("#{ix}"), str::to_owned);
        match signature {
            Some(signature) => format!("{id}:{signature}"),
            None => id,
        }
    }
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let mut said = Stream::default();
    said.take(body)?;
    if !said.is_explained {
        return Err(Failure::Garbled("the reply has no candidate in it".to_owned()));
    }
    Ok(said.into_reply())
}

/// A reply in pieces. It is whole when a piece said why the model stopped, or that the question was blocked.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    thoughts: String,
    tool_calls: Vec<ToolCall>,
    tokens: Vec<TokenLogprob>,
    finish_reason: Option<String>,
    block_reason: Option<String>,
    usage: Option<Usage>,
    served: Served,
    /// Whether there was a candidate, or a reason why there is none.
    is_explained: bool,
}

impl Events for Stream {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        let piece: Generated<'_> = parsed(data)?;
        if piece.error.is_some() {
            let api = envelope::in_success(data);
            return Err(Failure::Api(api.unwrap_or_else(|| envelope::named("INTERNAL", "an error without words"))));
        }
        self.add(piece);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.thoughts.is_empty() || !self.tool_calls.is_empty()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        if self.finish_reason.is_none() && self.block_reason.is_none() {
            return Err(Failure::Cut);
        }
        Ok(self.into_reply())
    }
}

impl Stream {
    fn add(&mut self, piece: Generated<'_>) {
        self.served.model = piece.model_version.0.or(self.served.model.take());
        self.served.request_id = piece.response_id.0.or(self.served.request_id.take());
        self.usage = piece.usage_metadata.0.map(Usage::from).or(self.usage);
        if let Some(reason) = piece.prompt_feedback.and_then(|it| it.block_reason) {
            self.is_explained = true;
            self.block_reason = Some(reason);
        }
        let Some(candidate) = piece.candidates.into_iter().flatten().next() else { return };
        self.is_explained = true;
        self.finish_reason = candidate.finish_reason.0.or(self.finish_reason.take());
        self.tokens.extend(candidate.logprobs_result.into_iter().flat_map(TokensIn::read));
        for part in candidate.content.into_iter().flat_map(|it| it.parts).flatten() {
            let said = if part.thought == Some(true) { &mut self.thoughts } else { &mut self.text };
            said.push_str(&part.text.unwrap_or_default());
            if let Some(call) = part.function_call {
                let id = CallId::write(self.tool_calls.len(), call.id.0.as_deref(), part.thought_signature.as_deref());
                let args = lenient::arguments_of(call.args);
                self.tool_calls.push(ToolCall { id, name: call.name, arguments: args });
            }
        }
    }

    fn into_reply(self) -> Reply {
        let finish = match (&self.block_reason, self.finish_reason.as_deref()) {
            (Some(_), _) => Finish::Refusal,
            (_, Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY")) => {
                Finish::Refusal
            }
            (_, Some("MAX_TOKENS")) => Finish::Length,
            _ if !self.tool_calls.is_empty() => Finish::ToolCalls,
            (_, Some("STOP") | None) => Finish::Stop,
            (_, Some(other)) => Finish::Other(other.to_lowercase()),
        };
        let Stream { text, thoughts, tool_calls, tokens, usage, served, .. } = self;
        // What must go back is in the ids of calls.
        let reasoning = Reasoning::new(thoughts, Val::Null);
        Reply {
            text,
            tool_calls,
            reasoning,
            logprobs: logprobs::all(tokens),
            finish,
            usage,
            served,
            ..Reply::default()
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated<'d> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'d>>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: lenient::Object<UsageWire>,
    model_version: lenient::Text,
    response_id: lenient::Text,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'d> {
    #[serde(borrow)]
    content: Option<ContentIn<'d>>,
    finish_reason: lenient::Text,
    logprobs_result: Option<TokensIn>,
}

/// The tokens that were written, and for each of them the most likely ones in its place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokensIn {
    #[serde(default)]
    chosen_candidates: Vec<logprobs::CandidateIn>,
    #[serde(default)]
    top_candidates: Vec<TopIn>,
}

#[derive(Deserialize)]
struct TopIn {
    #[serde(default)]
    candidates: Vec<logprobs::CandidateIn>,
}

impl TokensIn {
    fn read(self) -> Vec<TokenLogprob> {
        let top = self
            .top_candidates
            .into_iter()
            .map(|it| it.candidates.into_iter().filter_map(logprobs::CandidateIn::read).collect());
        let tokens = self.chosen_candidates.into_iter().zip(top.chain(std::iter::repeat_with(Vec::new)));
        tokens.filter_map(|(token, top)| Some(TokenLogprob { token: token.read()?, top })).collect()
    }
}

#[derive(Deserialize)]
struct ContentIn<'d> {
    #[serde(borrow)]
    parts: Option<Vec<PartIn<'d>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartIn<'d> {
    text: Option<String>,
    thought: Option<bool>,
    #[serde(borrow)]
    function_call: Option<FunctionCallIn<'d>>,
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct FunctionCallIn<'d> {
    id: lenient::Text,
    name: String,
    #[serde(borrow)]
    args: Option<&'d RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageWire {
    prompt_token_count: lenient::Count,
    tool_use_prompt_token_count: lenient::Count,
    cached_content_token_count: lenient::Count,
    candidates_token_count: lenient::Count,
    thoughts_token_count: lenient::Count,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let reasoning = wire.thoughts_token_count.get();
        let used = wire.tool_use_prompt_token_count.get();
        Usage {
            input: wire.prompt_token_count.get().saturating_add(used),
            output: wire.candidates_token_count.get().saturating_add(reasoning),
            cached: wire.cached_content_token_count.get(),
            reasoning,
            cache_write: 0,
        }
    }
}
