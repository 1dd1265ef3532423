//! Anthropic messages.

use serde_json::{Value, json};

use super::{
    Asked, Format, Framing, Incoming, MustCall, StreamEvent, Streamed, Trouble, id, items, pieces, text_of, tools,
    turns,
};
use crate::reply::{Finish, Said, Usage};
use crate::request::Request;

pub(super) static FORMAT: Format = Format {
    speaks_at: |path| path.ends_with("/messages"),
    read,
    key: |it| Some(it.header("x-api-key").unwrap_or_default().to_owned()),
    whole,
    stream,
    framing: Framing::ServerSentEvents,
    error,
    stream_error,
};

fn read(incoming: &Incoming<'_>) -> Result<Asked, String> {
    let body = incoming.body;
    if incoming.header("anthropic-version").is_none() {
        return Err("anthropic-version: header is required".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|it| it == 0) {
        return Err("max_tokens: Field required".to_owned());
    }
    let said: Vec<(String, String)> = turns(incoming.list("messages")?).collect();
    // With the beta header, system messages may come in the middle; agents do that.
    let is_beta = incoming.header("anthropic-beta").is_some();
    let is_role = |it: &str| matches!(it, "user" | "assistant") || is_beta && it == "system";
    if let Some((role, _)) = said.iter().find(|(role, _)| !is_role(role)) {
        return Err(format!("messages: the role `{role}` is none of `user`, `assistant`"));
    }
    let system = body.get("system").map(|it| ("system".to_owned(), text_of(it)));
    // The second place is that of the beta.
    let formats = [&body["output_config"]["format"], &body["output_format"]];
    let format = formats.into_iter().find(|it| it["type"] == "json_schema");
    let choice = &body["tool_choice"];
    Ok(Asked {
        model: incoming.text("model")?,
        conversation: system.into_iter().chain(said).collect(),
        schema: format.map(|it| it["schema"].clone()),
        tools: tools(items(&body["tools"]), &["input_schema"], "tools: a tool has no `name`")?,
        must_call: match (choice["type"].as_str(), choice["name"].as_str()) {
            (Some("any"), _) => MustCall::Any,
            (Some("tool"), Some(name)) => MustCall::Named(name.to_owned()),
            _ => MustCall::None,
        },
        stream: body["stream"] == true,
    })
}

fn whole(request: &Request, said: &Said) -> Value {
    let mut message = message(request);
    message["content"] = json!(blocks(request, said));
    message["stop_reason"] = json!(reason(said.finish));
    message["usage"] = usage(said.usage);
    message
}

fn stream(request: &Request, said: &Said) -> Streamed {
    let mut started = message(request);
    started["usage"] = usage(Usage { output: 1, ..said.usage });
    let mut content =
        vec![StreamEvent::typed("message_start", json!({ "message": started })), StreamEvent::typed("ping", json!({}))];
    for (ix, block) in blocks(request, said).iter().enumerate() {
        content.extend(block_events(ix, block));
    }
    let delta = json!({ "stop_reason": reason(said.finish), "stop_sequence": null });
    let finish = vec![
        StreamEvent::typed("message_delta", json!({ "delta": delta, "usage": usage(said.usage) })),
        StreamEvent::typed("message_stop", json!({})),
    ];
    Streamed { content, finish }
}

fn error(trouble: &Trouble<'_>) -> Value {
    let kind = match trouble.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    let error = json!({ "type": kind, "message": trouble.message });
    json!({ "type": "error", "error": error, "request_id": "req_testkit" })
}

fn stream_error(trouble: &Trouble<'_>) -> StreamEvent {
    let error = json!({ "type": "overloaded_error", "message": trouble.message });
    StreamEvent::typed("error", json!({ "error": error }))
}

fn message(request: &Request) -> Value {
    json!({
        "id": id("msg_", request),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn blocks(request: &Request, said: &Said) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !said.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": said.text }));
    }
    for (ix, call) in said.calls.iter().enumerate() {
        let id = format!("{}_{ix}", id("toolu_", request));
        blocks.push(json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.argument_object() }));
    }
    blocks
}

fn block_events(ix: usize, block: &Value) -> Vec<StreamEvent> {
    let mut begun = block.clone();
    let (kind, member, text) = if block["type"] == "text" {
        begun["text"] = json!("");
        ("text_delta", "text", block["text"].as_str().unwrap_or_default().to_owned())
    } else {
        begun["input"] = json!({});
        ("input_json_delta", "partial_json", block["input"].to_string())
    };
    let delta = |it| {
        let delta = json!({ "type": kind, member: it });
        StreamEvent::typed("content_block_delta", json!({ "index": ix, "delta": delta }))
    };
    let mut events = vec![StreamEvent::typed("content_block_start", json!({ "index": ix, "content_block": begun }))];
    events.extend(pieces(&text).into_iter().map(delta));
    events.push(StreamEvent::typed("content_block_stop", json!({ "index": ix })));
    events
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Calls => "tool_use",
        Finish::Refusal | Finish::Blocked => "refusal",
    }
}

/// What came from the cache is counted apart from the rest of the input.
fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}
