//! Converse of Amazon Bedrock: `POST /model/MODEL/converse`, one interface for the models of many vendors.
//!
//! * The schema of an answer goes as `outputConfig.textFormat`, where it is a text of JSON; what models there do not enforce (bounds, patterns) goes into
//!   descriptions, as for Anthropic. A schema that cannot be enforced goes into the prompt.
//! * System messages come first and become `system`. One in the middle of a conversation is an error.
//! * A model can be made to call a tool, and cannot be kept from it. There is no `seed`.
//! * Replies come in one piece: its streams are binary frames of another kind.

use std::borrow::Cow;

use jurat_core::effect::{
    Endpoint, Finish, Media, MediaKind, Message, ModelRequest, Part, Reasoning, ToolCall, ToolChoice, Usage,
};
use jurat_format::value::{Val, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Json, Object};
use super::gemini_generate::in_path;
use super::prompt_cache::PromptCache;
use super::settings::{Settings, Thinking};
use super::{
    ANSWER, ANSWER_DESCRIPTION, Entry, Failure, Reply, Structured, Unsupported, WireRequest, arguments_text, grouped,
    lenient, logprobs, media, need_objects, not_empty, openai_chat, parsed, states, strict, structured, system_first,
    value_of,
};

pub(super) static ENTRY: Entry = Entry {
    name: "bedrock_converse",
    revision: 1,
    headers: openai_chat::HEADERS,
    encode: |endpoint, request, _| {
        let body = body_of(endpoint, request)?;
        Ok(WireRequest::post(format!("/model/{}/converse", in_path(&endpoint.model)), body))
    },
    decode,
    pieces: None,
    embedding: None,
};

/// What it takes beside text. Which of it a model can look at is for the model's vendor to say.
const TAKES: [(MediaKind, &[&str]); 3] = [
    (MediaKind::Image, &media::USUAL_IMAGES),
    (MediaKind::Audio, &["audio/wav", "audio/mpeg", "audio/flac", "audio/ogg"]),
    (MediaKind::Pdf, &[]),
];

/// What it takes of what a tool returned: there is no audio in results.
const TAKES_OF_RESULTS: [(MediaKind, &[&str]); 2] = [(MediaKind::Image, &media::USUAL_IMAGES), (MediaKind::Pdf, &[])];

fn body_of(endpoint: &Endpoint, request: &ModelRequest) -> Result<Vec<u8>, Unsupported> {
    let settings = Settings::of(endpoint)?;
    media::need(request, "Bedrock", &TAKES)?;
    settings.no_seed("Bedrock")?;
    logprobs::none(endpoint, request, "Bedrock")?;
    settings.no_structured("Bedrock", &[Structured::JsonObject])?;
    let enforced = match (&request.output, settings.structured) {
        (Some(schema), None) => match strict::for_anthropic(schema) {
            Some(schema) => Some(schema),
            None => return body_of(endpoint, &structured::prompted(request, Some(Structured::Prompt))),
        },
        (Some(schema), Some(Structured::JsonSchema)) => Some(Cow::Borrowed(&**schema)),
        _ => None,
    };
    let answer_tool = request.output.as_ref().filter(|_| settings.structured == Some(Structured::Tool));
    if answer_tool.is_some() && !request.tools.is_empty() {
        return Err(Unsupported::new("`structured: tool` leaves no room for other tools; leave it out"));
    }
    if request.tool_choice == ToolChoice::None && !request.tools.is_empty() {
        return Err(Unsupported::new("Bedrock cannot keep a model from calling tools; offer it none"));
    }
    let (system, conversation) = system_first(&request.messages, "Bedrock")?;
    need_objects(conversation, "Bedrock")?;
    let conversation = not_empty(conversation);
    let marks = PromptCache::of(request, "Bedrock")?;
    body::write(settings.extra, |body| {
        body.list("messages", grouped(&conversation), |turn, it| write_turn(turn, it, &marks));
        if !system.is_empty() {
            let blocks = system.iter().flat_map(|it| marked(it.text(), marks.ends_with(it)));
            body.list("system", blocks, write_text);
        }
        write_inference(body, &settings);
        if let Some(schema) = answer_tool {
            body.object("toolConfig", |config| {
                config.list("tools", [schema], |tool, it| write_tool(tool, ANSWER, Some(ANSWER_DESCRIPTION), it));
                write_choice(config, &ToolChoice::Named(ANSWER.to_owned()));
            });
        } else if !request.tools.is_empty() {
            body.object("toolConfig", |config| {
                config.list("tools", &request.tools, |tool, it| {
                    write_tool(tool, &it.name, it.description.as_deref(), &it.parameters);
                });
                write_choice(config, &request.tool_choice);
            });
        }
        let effort = settings.reasoning.and_then(|it| if let Thinking::Effort(it) = it { Some(it) } else { None });
        if enforced.is_some() || effort.is_some() {
            body.open_object("outputConfig", |config| {
                config.optional("effort", effort);
                if let Some(schema) = &enforced {
                    config.object("textFormat", |format| write_format(format, schema));
                }
            });
        }
        if let Some(Thinking::Budget(budget)) = settings.reasoning {
            // Converse has no member of its own for it; this is the one of Claude.
            body.open_object("additionalModelRequestFields", |fields| {
                fields.object("thinking", |thinking| {
                    thinking.member("type", "enabled");
                    thinking.member("budget_tokens", &Json(budget));
                });
            });
        }
    })
}

fn write_format(format: &mut Object<'_, '_>, schema: &Value) {
    format.member("type", "json_schema");
    format.object("structure", |structure| {
        structure.object("jsonSchema", |it| {
            it.member("schema", &schema.to_json());
            it.member("name", "answer");
        });
    });
}

fn write_inference(body: &mut Object<'_, '_>, settings: &Settings<'_>) {
    let Settings { temperature, top_p, max_tokens, .. } = settings;
    if [temperature, top_p, max_tokens].iter().any(|it| it.is_some()) {
        body.open_object("inferenceConfig", |config| {
            config.optional("maxTokens", max_tokens.map(Json));
            config.optional("temperature", temperature.map(Json));
            config.optional("topP", top_p.map(Json));
        });
    }
}

/// A block, and a mark after it where everything up to here may be cached.
fn marked<T>(block: T, is_marked: bool) -> impl Iterator<Item = Option<T>> {
    [Some(block)].into_iter().chain(is_marked.then_some(None))
}

fn write_text(block: &mut Object<'_, '_>, text: Option<&str>) {
    match text {
        Some(text) => block.member("text", text),
        None => write_mark(block),
    }
}

fn write_mark(block: &mut Object<'_, '_>) {
    block.object("cachePoint", |point| point.member("type", "default"));
}

fn write_turn(body: &mut Object<'_, '_>, messages: &[&Message], marks: &PromptCache<'_>) {
    let is_marked = marks.ends_with(messages[0]);
    match messages[0] {
        Message::Tool { .. } => {
            body.member("role", "user");
            body.list("content", messages, |block, message| write_result(block, message));
        }
        Message::Assistant { text, tool_calls, reasoning } => {
            body.member("role", "assistant");
            let thoughts = if tool_calls.is_empty() { &[] } else { states(reasoning.as_deref()) };
            let words = (!text.is_empty()).then_some(Block::Text);
            let blocks = thoughts.iter().map(Block::Thought).chain(words).chain(tool_calls.iter().map(Block::Call));
            let mark = is_marked.then_some(Block::Mark);
            body.list("content", blocks.chain(mark), |block, it| match it {
                Block::Mark => write_mark(block),
                Block::Thought(it) => block.member("reasoningContent", &Json(it)),
                Block::Text => block.member("text", text),
                Block::Call(call) => block.object("toolUse", |it| {
                    it.member("toolUseId", &call.id);
                    it.member("name", &call.name);
                    it.member("input", &Json(&call.arguments));
                }),
            });
        }
        Message::Parts(parts) => {
            body.member("role", "user");
            let mark = is_marked.then_some(None);
            body.list("content", parts.iter().map(Some).chain(mark), |block, part| match part {
                Some(Part::Text(text)) => block.member("text", text),
                Some(Part::Media(it)) => write_media(block, it),
                None => write_mark(block),
            });
        }
        other => {
            body.member("role", "user");
            body.list("content", marked(other.text(), is_marked), write_text);
        }
    }
}

/// A part of what a model said.
enum Block<'m> {
    /// What it thought, as it came.
    Thought(&'m Value),
    Text,
    Call(&'m ToolCall),
    /// Everything up to here may be cached.
    Mark,
}

fn write_media(block: &mut Object<'_, '_>, it: &Media) {
    let (kind, format) = match it.kind {
        MediaKind::Image => ("image", it.media_type.strip_prefix("image/").unwrap_or_default()),
        MediaKind::Audio if it.media_type == "audio/mpeg" => ("audio", "mp3"),
        MediaKind::Audio => ("audio", it.media_type.strip_prefix("audio/").unwrap_or_default()),
        MediaKind::Pdf => ("document", "pdf"),
    };
    block.object(kind, |media| {
        media.member("format", format);
        if it.kind == MediaKind::Pdf {
            media.member("name", &document_name(media::name_of(it)));
        }
        media.object("source", |source| source.member("bytes", &media::base64(it)));
    });
}

/// A name with the characters that it may have there.
fn document_name(name: &str) -> String {
    let allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '(' | ')' | '[' | ']');
    name.chars().map(|it| if allowed(it) { it } else { '-' }).collect()
}

fn write_result(block: &mut Object<'_, '_>, message: &Message) {
    let Message::Tool { call_id, text, is_error, .. } = message else { return };
    // Claude refuses an error with anything but text in it.
    let media = if *is_error { Vec::new() } else { media::of_result(message, &TAKES_OF_RESULTS) };
    block.object("toolResult", |result| {
        result.member("toolUseId", call_id);
        let blocks = [None].into_iter().chain(media.into_iter().map(Some));
        result.list("content", blocks, |block, it| match it {
            None => block.member("text", text),
            Some(it) => write_media(block, it),
        });
        result.optional("status", is_error.then_some("error"));
    });
}

fn write_tool(body: &mut Object<'_, '_>, name: &str, description: Option<&str>, schema: &Value) {
    body.object("toolSpec", |tool| {
        tool.member("name", name);
        // A description that is empty is refused.
        tool.optional("description", description.filter(|it| !it.is_empty()));
        tool.object("inputSchema", |it| it.member("json", &Json(schema)));
    });
}

fn write_choice(config: &mut Object<'_, '_>, choice: &ToolChoice) {
    match choice {
        ToolChoice::Auto | ToolChoice::None => {}
        ToolChoice::Required => config.object("toolChoice", |it| it.object("any", |_| ())),
        ToolChoice::Named(name) => {
            config.object("toolChoice", |it| it.object("tool", |tool| tool.member("name", name)));
        }
    }
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let response: Response<'_> = parsed(body)?;
    let (mut text, mut tool_calls) = (String::new(), Vec::new());
    let (mut thoughts, mut sealed) = (String::new(), Vec::new());
    for block in response.output.message.content {
        text.push_str(&block.text.unwrap_or_default());
        if let Some(raw) = block.reasoning_content {
            let content: ReasoningIn = parsed(raw.get().as_bytes())?;
            thoughts.push_str(&content.reasoning_text.0.and_then(|it| it.text.0).unwrap_or_default());
            sealed.push(value_of(raw));
        }
        tool_calls.extend(block.tool_use.map(|it| ToolCall {
            id: it.tool_use_id.0.unwrap_or_default(),
            name: it.name,
            arguments: lenient::arguments_of(it.input),
        }));
    }
    if let Some(ix) = tool_calls.iter().position(|it| it.name == ANSWER) {
        text = arguments_text(&tool_calls.swap_remove(ix));
    }
    let finish = match response.stop_reason.0.as_deref() {
        Some("guardrail_intervened" | "content_filtered") => Finish::Refusal,
        Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
        _ if !tool_calls.is_empty() => Finish::ToolCalls,
        Some("end_turn" | "stop_sequence" | "tool_use") | None => Finish::Stop,
        Some(other) => Finish::Other(other.to_owned()),
    };
    let usage = response.usage.0.map(Usage::from);
    let reasoning = Reasoning::new(thoughts, if sealed.is_empty() { Val::Null } else { Val::List(sealed) });
    Ok(Reply { text, tool_calls, reasoning, finish, usage, ..Reply::default() })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'d> {
    #[serde(borrow)]
    output: Output<'d>,
    stop_reason: lenient::Text,
    usage: lenient::Object<UsageWire>,
}

#[derive(Deserialize)]
struct Output<'d> {
    #[serde(borrow)]
    message: MessageIn<'d>,
}

#[derive(Deserialize)]
struct MessageIn<'d> {
    #[serde(borrow)]
    content: Vec<BlockIn<'d>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockIn<'d> {
    text: Option<String>,
    #[serde(borrow)]
    tool_use: Option<ToolUse<'d>>,
    #[serde(borrow)]
    reasoning_content: Option<&'d RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReasoningIn {
    reasoning_text: lenient::Object<ReasoningText>,
}

#[derive(Deserialize)]
struct ReasoningText {
    text: lenient::Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolUse<'d> {
    tool_use_id: lenient::Text,
    name: String,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageWire {
    input_tokens: lenient::Count,
    output_tokens: lenient::Count,
    cache_read_input_tokens: lenient::Count,
    cache_write_input_tokens: lenient::Count,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Usage {
        let cached = wire.cache_read_input_tokens.get();
        let cache_write = wire.cache_write_input_tokens.get();
        let fresh = wire.input_tokens.get().saturating_add(cache_write);
        Usage {
            input: fresh.saturating_add(cached),
            output: wire.output_tokens.get(),
            cached,
            reasoning: 0,
            cache_write,
        }
    }
}
