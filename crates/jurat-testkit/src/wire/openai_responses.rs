//! OpenAI responses.

use serde_json::{Value, json};

use super::{
    Asked, CREATED, Format, Framing, Incoming, MustCall, StreamEvent, Streamed, Trouble, any_object, id, items,
    openai_chat, pieces, tools, turns,
};
use crate::reply::{Finish, Said, Usage};
use crate::request::Request;

pub(super) static FORMAT: Format = Format {
    speaks_at: |path| path.ends_with("/responses"),
    read,
    key: |it| Some(it.bearer()),
    whole: |request, said| response(request, said, &output(request, said)),
    stream,
    framing: Framing::ServerSentEvents,
    error: openai_chat::error,
    stream_error,
};

fn read(incoming: &Incoming<'_>) -> Result<Asked, String> {
    let body = incoming.body;
    let mut conversation = Vec::new();
    conversation.extend(body["instructions"].as_str().map(|it| ("system".to_owned(), it.to_owned())));
    match &body["input"] {
        Value::String(text) => conversation.push(("user".to_owned(), text.clone())),
        Value::Array(items) if !items.is_empty() => conversation.extend(turns(items)),
        _ => return Err("`input` is missing or empty".to_owned()),
    }
    let format = &body["text"]["format"];
    let schema = match format["type"].as_str() {
        Some("json_schema") if format["name"].is_string() => Some(format["schema"].clone()),
        Some("json_schema") => return Err("`text.format.name` is missing".to_owned()),
        Some("json_object") => Some(any_object()),
        _ => None,
    };
    Ok(Asked {
        model: incoming.text("model")?,
        conversation,
        schema,
        tools: tools(
            items(&body["tools"]).filter(|it| it["type"] == "function"),
            &["parameters"],
            "`tools[].name` is missing",
        )?,
        must_call: match &body["tool_choice"] {
            Value::String(word) if word == "required" => MustCall::Any,
            choice => choice["name"].as_str().map_or(MustCall::None, |it| MustCall::Named(it.to_owned())),
        },
        stream: body["stream"] == true,
    })
}

fn stream(request: &Request, said: &Said) -> Streamed {
    let items = output(request, said);
    let mut started = response(request, said, &[]);
    started["status"] = json!("in_progress");
    started["usage"] = Value::Null;
    started["incomplete_details"] = Value::Null;
    let mut events = vec![
        ("response.created", json!({ "response": started })),
        ("response.in_progress", json!({ "response": started })),
    ];
    for (ix, item) in items.iter().enumerate() {
        events.extend(item_events(ix, item));
    }
    let last = if is_incomplete(said.finish) { "response.incomplete" } else { "response.completed" };
    events.push((last, json!({ "response": response(request, said, &items) })));
    let numbered = |(n, (name, mut data)): (usize, (&'static str, Value))| {
        data["sequence_number"] = json!(n);
        StreamEvent::typed(name, data)
    };
    let mut content: Vec<StreamEvent> = events.into_iter().enumerate().map(numbered).collect();
    let finish = content.split_off(content.len() - 1);
    Streamed { content, finish }
}

fn stream_error(trouble: &Trouble<'_>) -> StreamEvent {
    let error = json!({ "code": "server_error", "message": trouble.message });
    StreamEvent::typed("response.failed", json!({ "response": { "status": "failed", "error": error } }))
}

fn response(request: &Request, said: &Said, output: &[Value]) -> Value {
    let reason = if said.finish == Finish::Length { "max_output_tokens" } else { "content_filter" };
    let incomplete = is_incomplete(said.finish);
    json!({
        "id": id("resp_", request),
        "object": "response",
        "created_at": CREATED,
        "model": request.model,
        "status": if incomplete { "incomplete" } else { "completed" },
        "error": null,
        "incomplete_details": incomplete.then(|| json!({ "reason": reason })),
        "output": output,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage(said.usage),
    })
}

/// The items of the output: what was said, and each call.
fn output(request: &Request, said: &Said) -> Vec<Value> {
    let status = if is_incomplete(said.finish) { "incomplete" } else { "completed" };
    let mut items = Vec::new();
    if !said.text.is_empty() || said.calls.is_empty() && said.finish != Finish::Blocked {
        let part = match said.finish {
            Finish::Refusal => json!({ "type": "refusal", "refusal": said.text }),
            _ => json!({ "type": "output_text", "text": said.text, "annotations": [] }),
        };
        let id = id("msg_", request);
        items.push(json!({ "id": id, "type": "message", "role": "assistant", "status": status, "content": [part] }));
    }
    for (ix, call) in said.calls.iter().enumerate() {
        items.push(json!({
            "id": format!("{}_{ix}", id("fc_", request)),
            "call_id": format!("{}_{ix}", id("call_", request)),
            "type": "function_call",
            "status": "completed",
            "name": call.name,
            "arguments": call.argument_text(),
        }));
    }
    items
}

/// An item of the output as it grows.
fn item_events(ix: usize, item: &Value) -> Vec<(&'static str, Value)> {
    let event = |name: &'static str, mut data: Value| {
        data["item_id"] = item["id"].clone();
        data["output_index"] = json!(ix);
        (name, data)
    };
    let part = &item["content"][0];
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    let mut growth = Vec::new();
    if item["type"] == "function_call" {
        begun["arguments"] = json!("");
        let arguments = item["arguments"].as_str().unwrap_or_default();
        let delta = |it| event("response.function_call_arguments.delta", json!({ "delta": it }));
        growth.extend(pieces(arguments).into_iter().map(delta));
        growth.push(event("response.function_call_arguments.done", json!({ "arguments": arguments })));
    } else {
        begun["content"] = json!([]);
        let (member, delta, done) = if part["type"] == "refusal" {
            ("refusal", "response.refusal.delta", "response.refusal.done")
        } else {
            ("text", "response.output_text.delta", "response.output_text.done")
        };
        let text = part[member].as_str().unwrap_or_default();
        let mut empty = part.clone();
        empty[member] = json!("");
        growth.push(event("response.content_part.added", json!({ "content_index": 0, "part": empty })));
        growth.extend(pieces(text).into_iter().map(|it| event(delta, json!({ "content_index": 0, "delta": it }))));
        growth.push(event(done, json!({ "content_index": 0, member: text })));
        growth.push(event("response.content_part.done", json!({ "content_index": 0, "part": part })));
    }
    let mut events = vec![("response.output_item.added", json!({ "output_index": ix, "item": begun }))];
    events.extend(growth);
    events.push(("response.output_item.done", json!({ "output_index": ix, "item": item })));
    events
}

fn is_incomplete(finish: Finish) -> bool {
    matches!(finish, Finish::Length | Finish::Blocked)
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.input + usage.output,
    })
}
