//! Writing what is stored.
//!
//! This happens once or twice for everything that is asked, so nothing is copied on the way: members are written as they stand, in the order of
//! the structs that read them.

use std::fmt::Write as _;
use std::time::Duration;

use jurat_format::value::{Val, Value, write_json, write_json_text};
use serde::de::IgnoredAny;

use super::micros;
use crate::effect::{
    Action, Answer, Attempt, Endpoint, Fault, FileRef, Media, Message, ModelRequest, Outcome, Part, Printed, Ran,
    Reasoning, Returned, Role, Tool, ToolCall, ToolChoice, UsedTool,
};

pub(super) fn request(endpoint: &Endpoint, request: &ModelRequest) -> String {
    // What is not text is little, unless there are tools.
    let n_bytes = request.messages.iter().map(|it| it.text().len() + 40).sum::<usize>();
    let mut json = String::with_capacity(n_bytes + 512);
    object(&mut json, |members| {
        members.role(&request.model);
        members.object("endpoint", |it| self::endpoint(it, endpoint));
        members.list("messages", &request.messages, message);
        if let Some(schema) = &request.output {
            members.json("output", schema.json(json_of));
        }
        members.some("tools", &request.tools, tool);
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => members.text("tool_choice", "none"),
            ToolChoice::Required => members.text("tool_choice", "required"),
            ToolChoice::Named(name) => members.text("tool_choice", &format!("tool:{name}")),
        }
        if request.repeat > 0 {
            members.number("repeat", request.repeat);
        }
        if request.row != Val::Null {
            members.value("row", &request.row);
        }
        if let Some(logprobs) = request.logprobs {
            members.number("logprobs", logprobs);
        }
        members.some("prompt_cache", &request.prompt_cache, |json, it| json.push_str(&it.to_string()));
    });
    json
}

pub(super) fn action(action: &Action) -> String {
    let mut json = String::with_capacity(256);
    object(&mut json, |members| {
        members.text("kind", action.kind());
        members.text("who", action.performer());
        match action {
            Action::ListTools { .. } => {}
            Action::CallTool { tool, arguments, .. } => {
                members.text("tool", tool);
                members.value("arguments", arguments);
            }
            Action::Call { arguments, .. } => members.value("arguments", arguments),
            Action::Evaluate { source, arguments, .. } => {
                members.text("source", source);
                members.value("arguments", arguments);
            }
            Action::Run { case, definition, .. } => {
                members.text("source", case);
                members.value("arguments", definition);
            }
            Action::Attach { files } => members.value("arguments", &files.iter().map(FileRef::to_value).collect()),
            Action::Look { .. } | Action::Hook { .. } => {
                if let Some(arguments) = action.asked_of_host() {
                    members.value("arguments", &arguments);
                }
            }
        }
    });
    json
}

pub(super) fn outcome(outcome: &Outcome) -> String {
    let n_bytes = if let Outcome::Answer(answer) = outcome { answer.text.len() } else { 0 };
    let mut json = String::with_capacity(n_bytes + 320);
    object(&mut json, |members| match outcome {
        Outcome::Answer(it) => members.object("answer", |members| answer(members, it)),
        Outcome::Returned(it) => members.object("returned", |members| returned(members, it)),
        Outcome::Ran(it) => members.object("returned", |members| ran(members, it)),
        Outcome::Fault(it) => members.object("fault", |members| fault(members, it)),
        Outcome::NotRun(reason) => members.text("not_run", reason.name()),
    });
    json
}

fn endpoint(members: &mut Members<'_>, endpoint: &Endpoint) {
    members.text("codec", &endpoint.codec);
    members.number("revision", endpoint.codec_revision);
    members.some_text("address", &endpoint.address);
    members.some_text("model", &endpoint.model);
    members.some("settings", &endpoint.settings, |json, (name, setting)| {
        json.push('[');
        write_json_text(json, name);
        json.push(',');
        value(json, setting);
        json.push(']');
    });
    members.some("headers", &endpoint.headers, |json, (name, header)| {
        json.push('[');
        write_json_text(json, name);
        json.push(',');
        write_json_text(json, header);
        json.push(']');
    });
    if let Some(shared) = endpoint.shared {
        members.value("shared", &Val::Bool(shared));
    }
}

fn message(json: &mut String, message: &Message) {
    // A conversation has hundreds of them, and is written in every turn.
    json.push_str(match message {
        Message::System(_) => r#"{"role":"system","text":"#,
        Message::User(_) | Message::Parts(_) => r#"{"role":"user","text":"#,
        Message::Assistant { .. } => r#"{"role":"assistant","text":"#,
        Message::Tool { .. } => r#"{"role":"tool","text":"#,
    });
    write_json_text(json, message.text());
    let mut members = Members { json, is_first: false };
    match message {
        Message::System(_) | Message::User(_) => {}
        Message::Parts(parts) => members.some("parts", parts.iter().as_slice(), part),
        Message::Assistant { tool_calls, reasoning, .. } => {
            members.some("tool_calls", tool_calls, tool_call);
            members.reasoning(reasoning.as_deref());
        }
        Message::Tool { call_id, name, media, is_error, .. } => {
            members.text("call_id", call_id);
            members.text("name", name);
            members.some("media", media, self::media);
            members.flag("is_error", *is_error);
        }
    }
    json.push('}');
}

fn part(json: &mut String, part: &Part) {
    match part {
        Part::Text(text) => object(json, |members| members.text("text", text)),
        Part::Media(it) => media(json, it),
    }
}

/// Bytes are named by their digest, and stored elsewhere, once.
fn media(json: &mut String, media: &Media) {
    object(json, |members| {
        members.text("kind", media.kind.name());
        members.text("media_type", &media.media_type);
        members.text("digest", &media.digest.to_string());
        members.number("bytes", media.n_bytes);
        members.optional_text("name", media.name.as_deref());
    });
}

fn tool_call(json: &mut String, call: &ToolCall) {
    object(json, |members| {
        members.text("id", &call.id);
        members.text("name", &call.name);
        members.value("arguments", &call.arguments);
    });
}

fn used_tool(json: &mut String, used: &UsedTool) {
    object(json, |members| {
        members.text("id", &used.call.id);
        members.text("name", &used.call.name);
        members.value("arguments", &used.call.arguments);
        members.optional_text("output", used.output.as_deref());
        members.flag("is_error", used.is_error);
    });
}

fn tool(json: &mut String, tool: &Tool) {
    object(json, |members| {
        members.text("name", &tool.name);
        members.optional_text("description", tool.description.as_deref());
        members.value("parameters", &tool.parameters);
    });
}

fn answer(members: &mut Members<'_>, answer: &Answer) {
    members.text("text", &answer.text);
    members.some("tool_calls", &answer.tool_calls, tool_call);
    members.some("used", &answer.used, used_tool);
    members.reasoning(answer.reasoning.as_deref());
    if let Some(logprobs) = &answer.logprobs {
        members.value("logprobs", &logprobs.to_value());
    }
    members.text("finish", answer.finish.name());
    if let Some(usage) = &answer.usage {
        members.object("usage", |members| {
            members.number("input", usage.input);
            members.number("output", usage.output);
            members.number("cached", usage.cached);
            members.number("reasoning", usage.reasoning);
            if usage.cache_write > 0 {
                members.number("cache_write", usage.cache_write);
            }
        });
    }
    if let Some(cost) = answer.cost_usd {
        let cost = serde_json::to_string(&cost).expect("a number is JSON");
        members.number("cost_usd", cost);
    }
    members.optional_text("served_model", answer.served.model.as_deref());
    members.optional_text("fingerprint", answer.served.fingerprint.as_deref());
    members.optional_text("request_id", answer.served.request_id.as_deref());
    members.optional_text("batch", answer.served.batch.as_deref());
    members.time("latency_us", answer.latency);
    if let Some(time) = answer.first_token {
        members.time("first_token_us", time);
    }
    members.number("at_ms", answer.at_ms);
    members.number("requests", answer.n_requests);
    members.some("failed", &answer.failed, attempt);
}

fn returned(members: &mut Members<'_>, returned: &Returned) {
    members.value("value", &returned.value);
    members.some("media", &returned.media, media);
    members.flag("is_error", returned.is_error);
    let Printed { stdout, stderr } = &returned.printed;
    for ([text, n_dropped], it) in [(["stdout", "stdout_dropped"], stdout), (["stderr", "stderr_dropped"], stderr)] {
        members.some_text(text, &it.text);
        if it.n_dropped > 0 {
            members.number(n_dropped, it.n_dropped);
        }
    }
    members.time("latency_us", returned.latency);
    members.number("at_ms", returned.at_ms);
}

fn ran(members: &mut Members<'_>, ran: &Ran) {
    members.value("value", &ran.document);
    members.flag("is_error", !ran.has_succeeded());
    members.time("latency_us", ran.latency);
    members.number("at_ms", ran.at_ms);
}

fn fault(members: &mut Members<'_>, fault: &Fault) {
    members.text("kind", &fault.kind.name());
    members.text("class", fault.class.name());
    members.text("message", &fault.message);
    if let Some(role) = &fault.role {
        members.role(role);
    }
    members.optional_text("key_env", fault.key_env.as_deref());
    members.number("requests", fault.n_requests);
    members.some("failed", &fault.failed, attempt);
}

fn attempt(json: &mut String, attempt: &Attempt) {
    object(json, |members| {
        members.text("kind", &attempt.kind.name());
        members.text("message", &attempt.message);
        if let Some(wait) = attempt.retry_after {
            members.time("retry_after_us", wait);
        }
        members.time("took_us", attempt.took);
    });
}

/// A value as it stands. One with numbers that JSON does not have, which only YAML can write, becomes `null` as it does for providers.
fn value(json: &mut String, value: &Value) {
    if is_json(value) {
        write_json(json, value);
    } else {
        json.push_str("null");
    }
}

fn json_of(value: &Value) -> String {
    let mut json = String::new();
    self::value(&mut json, value);
    json
}

fn is_json(value: &Val<'_>) -> bool {
    match value {
        Val::F(number) => number.is_finite(),
        Val::Big(text) => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        Val::List(items) => items.iter().all(is_json),
        Val::Map(map) => map.iter().all(|(_, it)| is_json(it)),
        Val::Null | Val::Bool(_) | Val::I(_) | Val::U(_) | Val::Str(_) => true,
    }
}

fn object(json: &mut String, fill: impl FnOnce(&mut Members<'_>)) {
    json.push('{');
    fill(&mut Members { json, is_first: true });
    json.push('}');
}

/// The members of an object that is being written. Their names need no escapes.
struct Members<'j> {
    json: &'j mut String,
    is_first: bool,
}

impl Members<'_> {
    fn key(&mut self, key: &'static str) {
        self.json.push_str(if std::mem::replace(&mut self.is_first, false) { "\"" } else { ",\"" });
        self.json.push_str(key);
        self.json.push_str("\":");
    }

    fn text(&mut self, key: &'static str, text: &str) {
        self.key(key);
        write_json_text(self.json, text);
    }

    fn role(&mut self, role: &Role) {
        match role.number() {
            None => self.text("role", role.name()),
            Some(_) => self.text("role", &role.to_string()),
        }
    }

    fn reasoning(&mut self, reasoning: Option<&Reasoning>) {
        let Some(reasoning) = reasoning else { return };
        self.object("reasoning", |members| {
            members.text("text", &reasoning.text);
            if let Some(state) = reasoning.state() {
                members.value("state", state);
            }
        });
    }

    fn some_text(&mut self, key: &'static str, text: &str) {
        self.optional_text(key, Some(text).filter(|it| !it.is_empty()));
    }

    fn optional_text(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn number(&mut self, key: &'static str, number: impl std::fmt::Display) {
        self.key(key);
        write!(self.json, "{number}").expect("memory can be written to");
    }

    fn time(&mut self, key: &'static str, time: Duration) {
        self.number(key, micros(time));
    }

    /// What is only there when it is true.
    fn flag(&mut self, key: &'static str, flag: bool) {
        if flag {
            self.key(key);
            self.json.push_str("true");
        }
    }

    fn value(&mut self, key: &'static str, value: &Value) {
        self.key(key);
        self::value(self.json, value);
    }

    fn json(&mut self, key: &'static str, json: &str) {
        self.key(key);
        self.json.push_str(json);
    }

    fn object(&mut self, key: &'static str, fill: impl FnOnce(&mut Members<'_>)) {
        self.key(key);
        object(self.json, fill);
    }

    fn list<T>(&mut self, key: &'static str, items: &[T], mut item: impl FnMut(&mut String, &T)) {
        self.key(key);
        self.json.push('[');
        for (ix, it) in items.iter().enumerate() {
            if ix > 0 {
                self.json.push(',');
            }
            item(self.json, it);
        }
        self.json.push(']');
    }

    /// A list that is only there when something is in it.
    fn some<T>(&mut self, key: &'static str, items: &[T], item: impl FnMut(&mut String, &T)) {
        if !items.is_empty() {
            self.list(key, items, item);
        }
    }
}
