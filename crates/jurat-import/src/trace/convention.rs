//! What a span says about models, agents and tools: in the conventions of `OpenInference`, of OpenTelemetry (`gen_ai.*`, also its older
//! events), and of the SDK of Langfuse.

use jurat_format::value::{Val, Value};

use super::message::{Call, Message, from_value, messages_of};
use super::span::Span;
use crate::document::{Object, count, maybe_json, members, plain, text_at};
use crate::secret::is_secret;

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Model,
    Agent,
    Tool,
    Retriever,
    /// Something that decided about answers or documents: a guardrail, an evaluator, a reranker.
    Noted,
    /// A step of a program with models: a chain, an embedding.
    Step,
    /// Not about models at all.
    Other,
}

pub(super) fn kind(span: &Span) -> SpanKind {
    if let Some(kind) = span.text(&["openinference.span.kind"]) {
        return match kind.to_ascii_uppercase().as_str() {
            "LLM" => SpanKind::Model,
            "AGENT" => SpanKind::Agent,
            "TOOL" => SpanKind::Tool,
            "RETRIEVER" => SpanKind::Retriever,
            "GUARDRAIL" | "EVALUATOR" | "RERANKER" => SpanKind::Noted,
            _ => SpanKind::Step,
        };
    }
    if let Some(kind) = span.text(&["langfuse.observation.type"]) {
        return match kind.to_ascii_lowercase().as_str() {
            "generation" => SpanKind::Model,
            "agent" => SpanKind::Agent,
            "tool" => SpanKind::Tool,
            "retriever" => SpanKind::Retriever,
            "guardrail" | "evaluator" => SpanKind::Noted,
            _ => SpanKind::Step,
        };
    }
    match span.text(&["gen_ai.operation.name"]).as_deref() {
        Some("chat" | "text_completion" | "generate_content") => SpanKind::Model,
        Some("invoke_agent" | "create_agent") => SpanKind::Agent,
        Some("execute_tool") => SpanKind::Tool,
        Some(_) => SpanKind::Step,
        None if span.attribute("gen_ai.request.model").is_some() => SpanKind::Model,
        None if span.attributes.members().any(|(key, _)| key.starts_with("gen_ai.") || key.starts_with("llm.")) => {
            SpanKind::Step
        }
        None => SpanKind::Other,
    }
}

/// What a model was sent.
pub(super) fn input(span: &Span) -> Vec<Message> {
    let indexed = openinference(span, "llm.input_messages");
    if !indexed.is_empty() {
        return indexed;
    }
    let mut messages = Vec::new();
    if let Some(system) = span.attribute("gen_ai.system_instructions") {
        messages.push(Message { role: "system".to_owned(), text: parts_text(&read(system)), ..Message::default() });
    }
    if let Some(input) = span.attribute("gen_ai.input.messages") {
        messages.extend(messages_of(&read(input), "user"));
        return messages;
    }
    messages.extend(of_events(span, false));
    if messages.is_empty()
        && let Some(input) = span.attribute("langfuse.observation.input")
    {
        messages.extend(messages_of(&read(input), "user"));
    }
    messages
}

/// What a model answered.
pub(super) fn output(span: &Span) -> Vec<Message> {
    let indexed = openinference(span, "llm.output_messages");
    if !indexed.is_empty() {
        return indexed;
    }
    if let Some(output) = span.attribute("gen_ai.output.messages") {
        return messages_of(&read(output), "assistant");
    }
    let of_events = of_events(span, true);
    match span.attribute("langfuse.observation.output") {
        Some(output) if of_events.is_empty() => messages_of(&read(output), "assistant"),
        _ => of_events,
    }
}

/// A value that may be JSON in a text.
fn read(value: &Value) -> Value {
    value.as_str().map_or_else(|| value.clone(), maybe_json)
}

fn parts_text(value: &Value) -> String {
    match value {
        Val::List(parts) => {
            let texts =
                parts.iter().filter_map(|it| text_at(it, "content").or_else(|| text_at(it, "text")).or(it.as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        other => plain(other),
    }
}

/// Messages whose members are attributes with numbers: `llm.input_messages.0.message.role`.
fn openinference(span: &Span, prefix: &str) -> Vec<Message> {
    if let Some(Val::List(items)) = span.attribute(prefix) {
        // Tables of Phoenix hold lists of objects with dotted keys.
        return items.iter().map(|it| from_value(&nested(it, "message."), "user")).collect();
    }
    let mut messages: Vec<Message> = Vec::new();
    for ix in 0.. {
        let prefix = format!("{prefix}.{ix}.message.");
        let text = |key: &str| span.text(&[&format!("{prefix}{key}")]);
        let is_there = span.attributes.members().any(|(key, _)| key.starts_with(&prefix));
        if !is_there {
            break;
        }
        messages.push(Message {
            role: text("role").unwrap_or_else(|| "user".to_owned()),
            text: text("content").unwrap_or_else(|| openinference_parts(span, &prefix)),
            name: text("name"),
            call_id: text("tool_call_id"),
            calls: openinference_calls(span, &prefix),
            n_media: openinference_media(span, &prefix),
        });
    }
    messages
}

/// An object whose keys begin with a prefix, without it.
fn nested(value: &Value, prefix: &str) -> Value {
    let mut object = Object::new();
    for (key, value) in members(value) {
        object.put(key.strip_prefix(prefix).unwrap_or(key), value.clone());
    }
    object.into()
}

fn openinference_parts(span: &Span, prefix: &str) -> String {
    let mut texts = Vec::new();
    for ix in 0.. {
        let prefix = format!("{prefix}contents.{ix}.message_content.");
        let Some(kind) = span.text(&[&format!("{prefix}type")]) else { break };
        texts.push(span.text(&[&format!("{prefix}text")]).unwrap_or_else(|| format!("[{kind}]")));
    }
    texts.join("\n")
}

/// How many parts of a message are no text.
fn openinference_media(span: &Span, prefix: &str) -> usize {
    let kinds = (0..).map_while(|ix| span.text(&[&format!("{prefix}contents.{ix}.message_content.type")]));
    kinds.filter(|it| it != "text").count()
}

fn openinference_calls(span: &Span, prefix: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    for ix in 0.. {
        let prefix = format!("{prefix}tool_calls.{ix}.tool_call.");
        let text = |key: &str| span.text(&[&format!("{prefix}{key}")]);
        let Some(name) = text("function.name") else { break };
        let arguments = span.attribute(&format!("{prefix}function.arguments")).cloned().unwrap_or(Val::Null);
        calls.push(Call::new(text("id"), name, &arguments));
    }
    calls
}

/// Messages in events, as OpenTelemetry had them first.
fn of_events(span: &Span, is_output: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for event in &span.events {
        let Some(name) = event.name.strip_prefix("gen_ai.") else { continue };
        let value = Value::from(event.attributes.clone());
        let role = name.strip_suffix(".message");
        match (is_output, name, role) {
            (true, "choice", _) => {
                let message = value.get("message").map(read).unwrap_or(value);
                messages.push(from_value(&message, "assistant"));
            }
            (false, _, Some(role)) => {
                let mut message = from_value(&value, role);
                role.clone_into(&mut message.role);
                messages.push(message);
            }
            _ => {}
        }
    }
    messages
}

/// A call of a tool that has a span of its own.
pub(super) struct ToolSpan {
    pub(super) call: Call,
    pub(super) output: Option<Value>,
}

pub(super) fn tool(span: &Span) -> ToolSpan {
    let name = span.text(&["gen_ai.tool.name", "tool.name"]).unwrap_or_else(|| span.name.clone());
    let id = span.text(&["gen_ai.tool.call.id", "tool_call.id", "tool.id"]);
    let arguments = first(
        span,
        &["gen_ai.tool.call.arguments", "tool_call.function.arguments", "input.value", "langfuse.observation.input"],
    );
    let output = first(span, &["gen_ai.tool.call.result", "output.value", "langfuse.observation.output"]);
    ToolSpan { call: Call::new(id, name, &arguments.unwrap_or(Val::Null)), output }
}

fn first(span: &Span, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|it| span.attribute(it)).cloned()
}

/// What a retriever found.
pub(super) fn documents(span: &Span) -> Value {
    let mut documents = Vec::new();
    for ix in 0.. {
        let prefix = format!("retrieval.documents.{ix}.document.");
        let members = span.attributes.members().filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?, value)));
        let document: Object = members.fold(Object::new(), |document, (key, value)| document.with(key, value.clone()));
        if document.is_empty() {
            break;
        }
        documents.push(Value::from(document));
    }
    match documents.is_empty() {
        true => {
            first(span, &["retrieval.documents", "output.value", "langfuse.observation.output"]).unwrap_or(Val::Null)
        }
        false => Val::List(documents),
    }
}

/// What a guardrail, an evaluator or a reranker was given and what it said.
pub(super) fn noted(span: &Span) -> Value {
    let mut detail = Object::new();
    let kind = span.text(&["openinference.span.kind", "langfuse.observation.type"]);
    detail.put_some("kind", kind.map(|it| Val::from(it.to_ascii_lowercase())));
    detail.put_some("input", first(span, &["input.value", "langfuse.observation.input"]));
    detail.put_some("output", first(span, &["output.value", "langfuse.observation.output"]));
    detail.into()
}

/// The texts of the documents that a retriever found.
pub(super) fn document_texts(span: &Span) -> Vec<String> {
    const TEXTS: [&str; 4] = ["content", "page_content", "text", "document"];
    let found = read(&documents(span));
    let text_of = |it: &Value| TEXTS.iter().find_map(|key| text_at(it, key)).map_or_else(|| plain(it), str::to_owned);
    match &found {
        Val::List(items) => items.iter().map(text_of).collect(),
        Val::Null => Vec::new(),
        Val::Map(map) => match map.get("documents").and_then(Val::as_list) {
            Some(items) => items.iter().map(text_of).collect(),
            None => vec![text_of(&found)],
        },
        other => vec![plain(other)],
    }
}

/// What the outermost span was asked, when that is text, or an object with one text or a text that is called a question.
pub(super) fn question(span: &Span) -> Option<String> {
    const NAMES: [&str; 6] = ["question", "query", "input", "user_input", "prompt", "message"];
    let value = read(&first(span, &["input.value", "langfuse.observation.input"])?);
    let found = match &value {
        Val::Str(said) => Some(said.to_string()),
        Val::Map(map) => {
            let named = NAMES.iter().find_map(|it| text_at(&value, it));
            let only = || map.iter().next().filter(|_| map.len() == 1).and_then(|(_, it)| it.as_str());
            named.or_else(only).map(str::to_owned)
        }
        _ => None,
    };
    found.filter(|it| !it.trim().is_empty() && !matches!(kind(span), SpanKind::Model))
}

/// The model that was asked for, and the one that answered.
pub(super) fn models(span: &Span) -> (Option<String>, Option<String>) {
    let parameters = span.attribute("llm.invocation_parameters").map(read);
    let asked = parameters.as_ref().and_then(|it| text_at(it, "model")).map(str::to_owned);
    let served = span.text(&["gen_ai.response.model", "llm.model_name", "langfuse.observation.model.name"]);
    let asked = asked.or_else(|| span.text(&["gen_ai.request.model"])).or_else(|| served.clone());
    (asked, served)
}

/// With what settings a model was asked.
pub(super) fn parameters(span: &Span) -> Object {
    let mut settings = Object::new();
    let recorded = span.attribute("llm.invocation_parameters").map(read).unwrap_or(Val::Null);
    let requested = span.attributes.members().filter_map(|(key, it)| Some((key.strip_prefix("gen_ai.request.")?, it)));
    for (key, value) in members(&recorded).chain(requested).filter(|(key, _)| *key != "model" && !is_secret(key)) {
        settings.put(key, value.clone());
    }
    settings
}

/// Tokens of one request, in the order of the artifact: input, output, total, reasoning, from a cache, into a cache.
pub(super) fn tokens(span: &Span) -> [Option<u64>; 6] {
    let usage = span.attribute("langfuse.observation.usage_details").map(read).unwrap_or(Val::Null);
    let of = |keys: &[&str], members: &[&str]| {
        let attribute = keys.iter().find_map(|it| span.attribute(it)).and_then(count);
        attribute.or_else(|| members.iter().find_map(|it| usage.get(it)).and_then(count))
    };
    [
        of(
            &["llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
            &["input", "prompt_tokens"],
        ),
        of(
            &["llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
            &["output", "completion_tokens"],
        ),
        of(&["llm.token_count.total"], &["total", "total_tokens"]),
        of(
            &["llm.token_count.completion_details.reasoning", "gen_ai.usage.reasoning.output_tokens"],
            &["output_reasoning", "reasoning"],
        ),
        of(
            &["llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens"],
            &["cache_read_input_tokens", "input_cached_tokens"],
        ),
        of(
            &["llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens"],
            &["cache_creation_input_tokens"],
        ),
    ]
}

/// What a request cost, in dollars.
pub(super) fn cost(span: &Span) -> Option<f64> {
    let total = span.attribute("llm.cost.total").and_then(Val::as_f64);
    total.or_else(|| {
        let details = span.attribute("langfuse.observation.cost_details").map(read)?;
        let sum = || details.as_map().map(|it| it.iter().filter_map(|(_, it)| it.as_f64()).sum());
        details.get("total").and_then(Val::as_f64).or_else(sum)
    })
}

pub(super) fn finish_reason(span: &Span) -> Option<String> {
    span.text(&["llm.finish_reason"]).or_else(|| match span.attribute("gen_ai.response.finish_reasons") {
        Some(Val::List(items)) => items.first().map(plain),
        Some(other) => Some(plain(other)),
        None => None,
    })
}

/// The final output that the outermost span records, when that is text.
pub(super) fn final_response(span: &Span) -> Option<String> {
    let is_text = |value: &Value| value.as_str().is_some_and(|it| !it.trim_start().starts_with(['{', '[']));
    let mime = span.text(&["output.mime_type"]);
    let output = span.attribute("output.value").filter(|_| mime.is_none_or(|it| it.starts_with("text/")));
    let output = output.or_else(|| span.attribute("langfuse.observation.output"));
    output.filter(|it| is_text(it)).map(plain).filter(|it| !it.trim().is_empty())
}

/// Session, user, tags and further values that the program attached.
pub(super) fn labels(span: &Span, into: &mut Object) {
    let put = |key: &str, names: &[&str], into: &mut Object| {
        if into.get(key).is_none()
            && let Some(value) = names.iter().find_map(|it| span.attribute(it))
        {
            into.put(key, read(value));
        }
    };
    put("session", &["session.id", "gen_ai.conversation.id"], into);
    put("user", &["user.id"], into);
    put("tags", &["tag.tags", "langfuse.trace.tags"], into);
    put("metadata", &["metadata"], into);
    for (key, value) in span.attributes.members() {
        if let Some(key) = key.strip_prefix("langfuse.trace.metadata.")
            && into.get(key).is_none()
        {
            into.put(
                key,
                value.as_str().map_or_else(|| value.clone(), |it| Val::from(it.trim_matches('"').to_owned())),
            );
        }
    }
}
