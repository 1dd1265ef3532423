//! Gemini's `generateContent`: `POST /v1beta/models/MODEL:generateContent`.
//!
//! * The schema of an answer goes as `responseJsonSchema`, those of tools as `parametersJsonSchema`: both take JSON Schema as it is.
//! * System messages come first and become `systemInstruction`. One in the middle of a conversation is an error.
//! * Calls of tools often have no id there; such calls are numbered `#0`, `#1`, … A signature that the provider attached to a call must go back with
//!   it, and rides in its id after a colon.
//! * What its filters stopped, of the question or of the answer, is a refusal.

use jurat_core::effect::{Endpoint, Finish, Message, ModelRequest, Served, Tool, ToolCall, ToolChoice, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::body::{self, Json, SchemaJson};
use super::settings::Settings;
use super::{
    Entry, Events, Failure, Pieces, Provider, Reply, Structured, Unsupported, WireRequest, envelope, gemini_embed,
    lenient, parsed, without_last,
};

pub(super) const HEADERS: &[(&str, &str)] = &[("x-goog-api-key", "${key}")];

pub(super) static ENTRY: Entry = Entry {
    name: "gemini_generate",
    revision: 1,
    headers: HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: true, events: || Box::<Stream>::default() }),
    embedding: Some(&gemini_embed::ENTRY),
    provider: Some(Provider {
        names: &["gemini", "google"],
        doc: "Gemini's `generateContent`",
        example: "NAME",
        base_url: "https://generativelanguage.googleapis.com",
        base_url_env: "GOOGLE_GEMINI_BASE_URL",
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        price_list: "gemini",
        complete: str::to_owned,
        path: |it| without_last(without_last(it, "v1beta"), "v1"),
        settings: |_, _| (),
    }),
};

fn encode(endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> Result<WireRequest, Unsupported> {
    let settings = Settings::of(endpoint)?;
    settings.no_structured("Gemini", &[Structured::Tool])?;
    let n_system = request.messages.iter().take_while(|it| matches!(it, Message::System(_))).count();
    let (system, conversation) = request.messages.split_at(n_system);
    let contents = contents(conversation)?;
    let body = body::write(settings.extra, |body| {
        if !system.is_empty() {
            let parts = system.iter().map(|it| Part { text: Some(it.text()), ..Part::default() }).collect();
            body.member("systemInstruction", &Content { role: None, parts });
        }
        body.member("contents", &contents);
        let Settings { temperature, top_p, max_tokens, seed, structured, .. } = settings;
        if request.output.is_some() || [temperature, top_p, max_tokens, seed].iter().any(Option::is_some) {
            body.object("generationConfig", |config| {
                config.optional("temperature", temperature);
                config.optional("topP", top_p);
                config.optional("maxOutputTokens", max_tokens);
                config.optional("seed", seed);
                if let Some(schema) = &request.output {
                    config.member("responseMimeType", &"application/json");
                    if structured != Some(Structured::JsonObject) {
                        config.member("responseJsonSchema", &SchemaJson(schema));
                    }
                }
            });
        }
        if !request.tools.is_empty() {
            let functions = request.tools.iter().map(ToolWire::from).collect();
            body.member("tools", &[Functions { functions }]);
            let calling = match &request.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some(Calling { mode: "NONE", allowed: None }),
                ToolChoice::Required => Some(Calling { mode: "ANY", allowed: None }),
                ToolChoice::Named(name) => Some(Calling { mode: "ANY", allowed: Some([name]) }),
            };
            if let Some(calling) = calling {
                body.object("toolConfig", |config| config.member("functionCallingConfig", &calling));
            }
        }
    })?;
    let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Ok(WireRequest { path: format!("/v1beta/models/{}:{method}", in_path(&endpoint.model)), headers: HEADERS, body })
}

/// A model's name as a part of a path.
pub(super) fn in_path(model: &str) -> String {
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

/// The conversation. Results of tools that follow each other are one turn.
fn contents(messages: &[Message]) -> Result<Vec<Content<'_>>, Unsupported> {
    let mut contents: Vec<Content<'_>> = Vec::new();
    let mut is_after_result = false;
    for message in messages {
        let (role, parts) = match message {
            Message::System(_) => {
                return Err(Unsupported::new("Gemini takes system messages before the conversation only"));
            }
            Message::User(text) => ("user", vec![Part { text: Some(text), ..Part::default() }]),
            // Empty turns are refused, and say nothing.
            Message::Assistant { text, tool_calls } if tool_calls.is_empty() && text.is_empty() => continue,
            Message::Assistant { text, tool_calls } => {
                let said = (!text.is_empty()).then(|| Ok(Part { text: Some(text), ..Part::default() }));
                ("model", said.into_iter().chain(tool_calls.iter().map(call)).collect::<Result<_, _>>()?)
            }
            Message::Tool { call_id, name, text, is_error } => {
                let response = if *is_error {
                    Response { output: None, error: Some(text) }
                } else {
                    Response { output: Some(text), error: None }
                };
                let result = FunctionResponse { id: CallId::read(call_id).id, name, response };
                ("user", vec![Part { function_response: Some(result), ..Part::default() }])
            }
        };
        let is_result = matches!(message, Message::Tool { .. });
        match contents.last_mut() {
            Some(last) if is_result && is_after_result => last.parts.extend(parts),
            _ => contents.push(Content { role: Some(role), parts }),
        }
        is_after_result = is_result;
    }
    Ok(contents)
}

fn call(call: &ToolCall) -> Result<Part<'_>, Unsupported> {
    if call.arguments.as_map().is_none() {
        return Err(Unsupported(format!("Gemini takes objects as arguments; those of `{}` are none", call.name)));
    }
    let CallId { id, signature } = CallId::read(&call.id);
    let function_call = Some(FunctionCall { id, name: &call.name, args: Json(&call.arguments) });
    Ok(Part { function_call, thought_signature: signature, ..Part::default() })
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

fn decode(body: &[u8]) -> Result<Reply, Failure> {
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
    tool_calls: Vec<ToolCall>,
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

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        if self.finish_reason.is_none() && self.block_reason.is_none() {
            return Err(Failure::Cut);
        }
        Ok(self.into_reply())
    }
}

impl Stream {
    fn add(&mut self, piece: Generated<'_>) {
        self.served.model = piece.model_version.or(self.served.model.take());
        self.served.request_id = piece.response_id.or(self.served.request_id.take());
        self.usage = piece.usage_metadata.map(Usage::from).or(self.usage);
        if let Some(reason) = piece.prompt_feedback.and_then(|it| it.block_reason) {
            self.is_explained = true;
            self.block_reason = Some(reason);
        }
        let Some(candidate) = piece.candidates.into_iter().flatten().next() else { return };
        self.is_explained = true;
        self.finish_reason = candidate.finish_reason.or(self.finish_reason.take());
        for part in candidate.content.into_iter().flat_map(|it| it.parts).flatten() {
            if part.thought != Some(true) {
                self.text.push_str(&part.text.unwrap_or_default());
            }
            if let Some(call) = part.function_call {
                let id = CallId::write(self.tool_calls.len(), call.id.as_deref(), part.thought_signature.as_deref());
                let args = lenient::arguments_of(call.args);
                self.tool_calls.push(ToolCall { id, name: call.name, arguments: args });
            }
        }
    }

    fn into_reply(self) -> Reply {
        let finish = match (self.block_reason, self.finish_reason.as_deref()) {
            (Some(_), _) => Finish::Refusal,
            (_, Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY")) => {
                Finish::Refusal
            }
            (_, Some("MAX_TOKENS")) => Finish::Length,
            _ if !self.tool_calls.is_empty() => Finish::ToolCalls,
            (_, Some("STOP") | None) => Finish::Stop,
            (_, Some(other)) => Finish::Other(other.to_lowercase()),
        };
        Reply { text: self.text, tool_calls: self.tool_calls, finish, usage: self.usage, served: self.served }
    }
}

#[derive(Serialize)]
struct Content<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'m>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Part<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'m str>,
}

#[derive(Serialize)]
struct FunctionCall<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m str>,
    name: &'m str,
    args: Json<'m>,
}

#[derive(Serialize)]
struct FunctionResponse<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m str>,
    name: &'m str,
    response: Response<'m>,
}

#[derive(Serialize)]
struct Response<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'m str>,
}

#[derive(Serialize)]
struct Functions<'t> {
    #[serde(rename = "functionDeclarations")]
    functions: Vec<ToolWire<'t>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolWire<'t> {
    name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'t str>,
    parameters_json_schema: Json<'t>,
}

impl<'t> From<&'t Tool> for ToolWire<'t> {
    fn from(tool: &'t Tool) -> ToolWire<'t> {
        ToolWire {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters_json_schema: Json(&tool.parameters),
        }
    }
}

#[derive(Serialize)]
struct Calling<'t> {
    mode: &'static str,
    #[serde(rename = "allowedFunctionNames", skip_serializing_if = "Option::is_none")]
    allowed: Option<[&'t str; 1]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated<'d> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'d>>>,
    prompt_feedback: Option<Feedback>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage_metadata: Option<UsageWire>,
    #[serde(default, deserialize_with = "lenient::text")]
    model_version: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    response_id: Option<String>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'d> {
    #[serde(borrow)]
    content: Option<ContentIn<'d>>,
    #[serde(default, deserialize_with = "lenient::text")]
    finish_reason: Option<String>,
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
    #[serde(default, deserialize_with = "lenient::text")]
    id: Option<String>,
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
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    tool_use_prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cached_content_token_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    candidates_token_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    thoughts_token_count: Option<u64>,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let reasoning = wire.thoughts_token_count.unwrap_or(0);
        let used = wire.tool_use_prompt_token_count.unwrap_or(0);
        Usage {
            input: wire.prompt_token_count.unwrap_or(0).saturating_add(used),
            output: wire.candidates_token_count.unwrap_or(0).saturating_add(reasoning),
            cached: wire.cached_content_token_count.unwrap_or(0),
            reasoning,
        }
    }
}
