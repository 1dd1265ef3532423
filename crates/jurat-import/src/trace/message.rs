//! Messages of a chat, in the forms that instrumentation records them.

use jurat_format::value::{Val, Value};

use crate::document::{first_of, maybe_json, plain, text_at};

/// A message.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) text: String,
    pub(crate) name: Option<String>,
    /// The call that a message of a tool answers.
    pub(crate) call_id: Option<String>,
    pub(crate) calls: Vec<Call>,
    /// How many of its parts are no text: images, recordings, files.
    pub(crate) n_media: usize,
}

/// A tool that a model calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// The arguments as text, as they came.
    pub(crate) raw: String,
    /// The same as an object, when they are one.
    pub(crate) arguments: Option<Value>,
}

impl Call {
    pub(crate) fn new(id: Option<String>, name: String, arguments: &Value) -> Call {
        let raw = if matches!(arguments, Val::Null) { String::new() } else { plain(arguments) };
        let parsed = match arguments {
            Val::Str(text) => maybe_json(text),
            other => other.clone(),
        };
        let arguments = matches!(parsed, Val::Map(_)).then_some(parsed);
        Call { id: id.filter(|it| !it.is_empty()), name, raw, arguments }
    }
}

/// The messages that a value is: a list of them, one, an object with `messages`, or text.
pub(crate) fn messages_of(value: &Value, role: &str) -> Vec<Message> {
    let is_message = |it: &Value| text_at(it, "role").is_some();
    match value {
        Val::List(items) if items.iter().all(is_message) => items.iter().flat_map(|it| parts_of(it, role)).collect(),
        Val::Map(map) if map.get("messages").is_some_and(|it| it.as_list().is_some()) => {
            map.get("messages").map(|it| messages_of(it, role)).unwrap_or_default()
        }
        value if is_message(value) => parts_of(value, role),
        Val::Null => Vec::new(),
        other => vec![Message { role: role.to_owned(), text: plain(other), ..Message::default() }],
    }
}

/// A message; of several results of tools in one message, a message for each.
fn parts_of(value: &Value, role: &str) -> Vec<Message> {
    let parts = value.get("parts").or_else(|| value.get("content")).and_then(Val::as_list).unwrap_or_default();
    let results = parts.iter().filter(|it| matches!(text_at(it, "type"), Some("tool_call_response" | "tool_result")));
    let results: Vec<Message> = results.map(result).collect();
    if results.is_empty() { vec![from_value(value, role)] } else { results }
}

fn result(part: &Value) -> Message {
    let id = first_of(part, &["id", "tool_use_id", "tool_call_id"]).map(plain);
    let text = first_of(part, &["response", "result", "content"]).map(plain).unwrap_or_default();
    Message { role: "tool".to_owned(), text, call_id: id, ..Message::default() }
}

/// One message.
pub(crate) fn from_value(value: &Value, role: &str) -> Message {
    let own = |key: &str| text_at(value, key).map(str::to_owned);
    let role = own("role").unwrap_or_else(|| role.to_owned());
    let role = match role.as_str() {
        "model" | "ai" => "assistant".to_owned(),
        "developer" => "system".to_owned(),
        "human" => "user".to_owned(),
        "function" => "tool".to_owned(),
        _ => role,
    };
    let (mut texts, mut calls, mut n_media) = (Vec::new(), Vec::new(), 0);
    let content = value.get("parts").or_else(|| value.get("content"));
    match content {
        Some(Val::List(parts)) => n_media = parts.iter().filter(|it| part(it, &mut texts, &mut calls)).count(),
        Some(Val::Null) | None => {}
        Some(other) => texts.push(plain(other)),
    }
    let listed = value.get("tool_calls").and_then(Val::as_list).unwrap_or_default();
    calls.extend(listed.iter().filter_map(call));
    Message {
        role,
        text: texts.join("\n"),
        name: own("name"),
        call_id: own("tool_call_id").or_else(|| own("id").filter(|_| value.get("role").is_none())),
        calls,
        n_media,
    }
}

/// A part of a message: text, a call, or something that cannot be written as text. Says whether it is the last.
fn part(part: &Value, texts: &mut Vec<String>, calls: &mut Vec<Call>) -> bool {
    let kind = text_at(part, "type").unwrap_or("text");
    match kind {
        "tool_call" | "tool_use" => calls.extend(call(part)),
        "text" | "input_text" | "output_text" | "reasoning" => {
            let text = first_of(part, &["content", "text"]).map(plain).or_else(|| part.as_str().map(str::to_owned));
            texts.extend(text.filter(|_| kind != "reasoning"));
        }
        other => {
            texts.push(format!("[{other}]"));
            return true;
        }
    }
    false
}

/// A call: of OpenAI (`function` with text), of OpenTelemetry and Anthropic (`name` with an object), or of Inspect (`function` as name).
pub(crate) fn call(value: &Value) -> Option<Call> {
    let id = first_of(value, &["id", "tool_call_id"]).map(plain);
    let inner = value.get("function").filter(|it| it.as_map().is_some()).unwrap_or(value);
    let name = first_of(inner, &["name", "function"]).and_then(Val::as_str)?.to_owned();
    let arguments = first_of(inner, &["arguments", "input", "args"]).cloned().unwrap_or(Val::Null);
    Some(Call::new(id, name, &arguments))
}
