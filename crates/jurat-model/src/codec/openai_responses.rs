//! OpenAI's responses: `POST /responses`.
//!
//! * The conversation is sent whole each time, and `store: false` with it, so that nothing of an evaluation stays at the provider; a
//!   `store` under `extra` is taken instead.
//! * Tools carry `strict` explicitly: left out, the provider would rewrite their schemas.
//! * There is no `seed`.

use jurat_core::effect::{Endpoint, Finish, Message, ModelRequest, Served, Tool, ToolCall, ToolChoice, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::body::{self, Json, List, SchemaJson};
use super::openai_chat::{self, InputDetails, OutputDetails};
use super::settings::Settings;
use super::{
    Entry, Events, Failure, Pieces, Provider, Reply, Structured, Unsupported, WireRequest, envelope, lenient,
    openai_embeddings, parsed, strict,
};

pub(super) static ENTRY: Entry = Entry {
    name: "openai_responses",
    revision: 1,
    headers: openai_chat::HEADERS,
    encode,
    decode,
    pieces: Some(Pieces { is_sse: true, events: || Box::<Stream>::default() }),
    embedding: Some(&openai_embeddings::ENTRY),
    provider: Some(Provider {
        names: &["openai-responses"],
        doc: "OpenAI's responses",
        example: "gpt-5-mini",
        base_url: "https://api.openai.com/v1",
        base_url_env: "OPENAI_BASE_URL",
        key_env: &["OPENAI_API_KEY"],
        price_list: "openai",
        complete: str::to_owned,
        path: openai_chat::with_version,
        settings: |_, _| (),
    }),
};

fn encode(endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> Result<WireRequest, Unsupported> {
    let settings = Settings::of(endpoint)?;
    settings.no_seed("the responses interface of OpenAI")?;
    settings.no_structured("the responses interface of OpenAI", &[Structured::Tool])?;
    let body = body::write(settings.extra, |body| {
        body.member("model", &endpoint.model);
        body.member("input", &List(|| request.messages.iter().flat_map(items)));
        body.optional("temperature", settings.temperature);
        body.optional("top_p", settings.top_p);
        body.optional("max_output_tokens", settings.max_tokens);
        match (&request.output, settings.structured) {
            (None, _) => {}
            (Some(_), Some(Structured::JsonObject)) => {
                body.object("text", |text| text.member("format", &AnyJson { kind: "json_object" }));
            }
            (Some(schema), _) => {
                let strict = strict::fits_openai(schema);
                let format = Format { kind: "json_schema", name: "answer", schema: SchemaJson(schema), strict };
                body.object("text", |text| text.member("format", &format));
            }
        }
        if !request.tools.is_empty() {
            body.member("tools", &List(|| request.tools.iter().map(ToolWire::from)));
        }
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None if request.tools.is_empty() => {}
            ToolChoice::None => body.member("tool_choice", &"none"),
            ToolChoice::Required => body.member("tool_choice", &"required"),
            ToolChoice::Named(name) => body.member("tool_choice", &NamedTool { kind: "function", name }),
        }
        if settings.extra.is_none_or(|it| it.get("store").is_none()) {
            body.member("store", &false);
        }
        if stream {
            body.member("stream", &true);
        }
    })?;
    Ok(WireRequest { path: "/responses".to_owned(), headers: openai_chat::HEADERS, body })
}

fn decode(body: &[u8]) -> Result<Reply, Failure> {
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
    /// Items that were finished on the way, for servers whose last event leaves them out.
    items: Vec<Item>,
    response: Option<Response>,
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
                let api = envelope::in_success(data).filter(|_| event.code.is_none());
                let word = event.code.as_deref().unwrap_or("server_error");
                return Err(Failure::Api(api.unwrap_or_else(|| envelope::named(word, message))));
            }
            None => {
                if let Some(api) = envelope::in_success(data) {
                    return Err(Failure::Api(api));
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        self.response.ok_or(Failure::Cut)?.into_reply(self.items)
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'m> {
    Message {
        role: &'static str,
        content: &'m str,
    },
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: &'m str,
        name: &'m str,
        arguments: String,
    },
    Output {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: &'m str,
        output: &'m str,
    },
}

/// A message is an item, and each call of a tool is one of its own.
fn items(message: &Message) -> Vec<Input<'_>> {
    match message {
        Message::Tool { call_id, text, .. } => {
            vec![Input::Output { kind: "function_call_output", call_id, output: text }]
        }
        Message::Assistant { text, tool_calls } => {
            let said = (!text.is_empty() || tool_calls.is_empty())
                .then_some(Input::Message { role: "assistant", content: text });
            said.into_iter().chain(tool_calls.iter().map(call)).collect()
        }
        Message::System(text) | Message::User(text) => vec![Input::Message { role: message.role(), content: text }],
    }
}

fn call(call: &ToolCall) -> Input<'_> {
    let arguments = openai_chat::arguments_text(call);
    Input::Call { kind: "function_call", call_id: &call.id, name: &call.name, arguments }
}

#[derive(Serialize)]
struct AnyJson {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Format<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    schema: SchemaJson<'s>,
    strict: bool,
}

#[derive(Serialize)]
struct ToolWire<'t> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'t str>,
    parameters: Json<'t>,
    strict: bool,
}

impl<'t> From<&'t Tool> for ToolWire<'t> {
    fn from(tool: &'t Tool) -> ToolWire<'t> {
        ToolWire {
            kind: "function",
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: Json(&tool.parameters),
            strict: strict::fits_openai(&tool.parameters),
        }
    }
}

#[derive(Serialize)]
struct NamedTool<'t> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'t str,
}

#[derive(Debug, Deserialize)]
struct Response {
    output: Option<Vec<Item>>,
    #[serde(default, deserialize_with = "lenient::text")]
    status: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<UsageWire>,
    #[serde(default, deserialize_with = "lenient::object")]
    error: Option<ErrorWire>,
    #[serde(default, deserialize_with = "lenient::object")]
    incomplete_details: Option<Incomplete>,
}

#[derive(Debug, Deserialize)]
struct Incomplete {
    #[serde(default, deserialize_with = "lenient::text")]
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ErrorWire {
    #[serde(default, deserialize_with = "lenient::text")]
    code: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<Part>>,
    #[serde(default, deserialize_with = "lenient::text")]
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    refusal: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UsageWire {
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::object")]
    input_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct Event<'d> {
    #[serde(rename = "type", borrow)]
    kind: Option<std::borrow::Cow<'d, str>>,
    #[serde(borrow)]
    response: Option<&'d RawValue>,
    item: Option<Item>,
    message: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    code: Option<String>,
}

impl Response {
    fn into_reply(self, items: Vec<Item>) -> Result<Reply, Failure> {
        match self.status.as_deref() {
            Some("failed" | "cancelled") => {
                let (code, message) = self.error.map_or((None, None), |it| (it.code, it.message));
                let message = message.unwrap_or_else(|| "the provider gave up".to_owned());
                return Err(Failure::Api(envelope::named(code.as_deref().unwrap_or("server_error"), &message)));
            }
            Some("queued" | "in_progress") => return Err(Failure::Garbled("the reply is not finished".to_owned())),
            _ => {}
        }
        let output = self.output.filter(|it| !it.is_empty()).unwrap_or(items);
        let (mut text, mut refusal, mut tool_calls) = (String::new(), String::new(), Vec::new());
        for item in output {
            match item.kind.as_str() {
                "function_call" => tool_calls.push(ToolCall {
                    id: item.call_id.unwrap_or_default(),
                    name: item.name.unwrap_or_default(),
                    arguments: lenient::arguments_of(item.arguments.as_deref()),
                }),
                "message" => {
                    for part in item.content.into_iter().flatten() {
                        match part.kind.as_str() {
                            "refusal" => refusal.push_str(&part.refusal.unwrap_or_default()),
                            _ => text.push_str(&part.text.unwrap_or_default()),
                        }
                    }
                }
                _ => {}
            }
        }
        let finish = match (self.status.as_deref(), self.incomplete_details.and_then(|it| it.reason)) {
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
        let usage = self.usage.map(|it| Usage {
            input: it.input_tokens.unwrap_or(0),
            output: it.output_tokens.unwrap_or(0),
            cached: it.input_tokens_details.and_then(|it| it.cached_tokens).unwrap_or(0),
            reasoning: it.output_tokens_details.and_then(|it| it.reasoning_tokens).unwrap_or(0),
        });
        let served = Served { model: self.model, fingerprint: None, request_id: self.id };
        Ok(Reply { text: if refusal.is_empty() { text } else { refusal }, tool_calls, finish, usage, served })
    }
}
