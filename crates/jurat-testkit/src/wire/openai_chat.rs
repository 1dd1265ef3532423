//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{
    Asked, CREATED, Format, Framing, Incoming, MustCall, StreamEvent, Streamed, Trouble, any_object, function_tools,
    id, pieces, turns,
};
use crate::reply::{Finish, Said, ToolCall, Usage};
use crate::request::Request;

pub(super) static FORMAT: Format = Format {
    speaks_at: |path| path.ends_with("/chat/completions"),
    read,
    key: |it| Some(it.bearer()),
    whole,
    stream,
    framing: Framing::ServerSentEvents,
    error,
    stream_error: |it| StreamEvent::unnamed(&error(it)),
};

fn read(incoming: &Incoming<'_>) -> Result<Asked, String> {
    let body = incoming.body;
    let format = &body["response_format"];
    let schema = match format["type"].as_str() {
        Some("json_schema") if format["json_schema"]["name"].is_string() => {
            Some(format["json_schema"]["schema"].clone())
        }
        Some("json_schema") => return Err("`response_format.json_schema.name` is missing".to_owned()),
        Some("json_object") => Some(any_object()),
        _ => None,
    };
    Ok(Asked {
        model: incoming.text("model")?,
        conversation: turns(incoming.list("messages")?).collect(),
        schema,
        tools: function_tools(&body["tools"])?,
        must_call: match &body["tool_choice"] {
            Value::String(word) if word == "required" => MustCall::Any,
            choice => choice["function"]["name"].as_str().map_or(MustCall::None, |it| MustCall::Named(it.to_owned())),
        },
        stream: body["stream"] == true,
    })
}

fn whole(request: &Request, said: &Said) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.text, "refusal": null });
    match said.finish {
        Finish::Refusal => {
            message["content"] = Value::Null;
            message["refusal"] = json!(said.text);
        }
        Finish::Blocked => message["content"] = Value::Null,
        _ if said.text.is_empty() && !said.calls.is_empty() => message["content"] = Value::Null,
        _ => {}
    }
    if !said.calls.is_empty() {
        message["tool_calls"] = said.calls.iter().enumerate().map(|(ix, it)| call(request, ix, it)).collect();
    }
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": reason(said.finish) });
    let mut whole = envelope(request, "chat.completion");
    whole["choices"] = json!([choice]);
    whole["usage"] = usage(said.usage);
    whole
}

fn stream(request: &Request, said: &Said) -> Streamed {
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = envelope(request, "chat.completion.chunk");
        chunk["choices"] = choices;
        if wants_usage(request) {
            chunk["usage"] = usage;
        }
        StreamEvent::unnamed(&chunk)
    };
    let delta = |delta: Value, reason: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]), Value::Null)
    };
    let mut content = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    let member = if said.finish == Finish::Refusal { "refusal" } else { "content" };
    content.extend(pieces(&said.text).into_iter().map(|it| delta(json!({ member: it }), None)));
    for (ix, it) in said.calls.iter().enumerate() {
        let mut first = call(request, ix, it);
        first["index"] = json!(ix);
        first["function"]["arguments"] = json!("");
        content.push(delta(json!({ "tool_calls": [first] }), None));
        for piece in pieces(&it.argument_text()) {
            let more = json!({ "index": ix, "function": { "arguments": piece } });
            content.push(delta(json!({ "tool_calls": [more] }), None));
        }
    }
    let mut finish = vec![delta(json!({}), Some(reason(said.finish)))];
    if wants_usage(request) {
        finish.push(chunk(json!([]), usage(said.usage)));
    }
    finish.push(StreamEvent { name: None, data: "[DONE]".to_owned() });
    Streamed { content, finish }
}

/// The envelope of an error; the responses format has the same.
pub(super) fn error(trouble: &Trouble<'_>) -> Value {
    let (kind, code) = match trouble.status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        400..500 => ("invalid_request_error", None),
        _ => ("server_error", None),
    };
    json!({ "error": { "message": trouble.message, "type": kind, "param": null, "code": code } })
}

fn envelope(request: &Request, object: &str) -> Value {
    json!({
        "id": id("chatcmpl-", request),
        "object": object,
        "created": CREATED,
        "model": request.model,
        "system_fingerprint": "fp_testkit",
    })
}

fn call(request: &Request, ix: usize, call: &ToolCall) -> Value {
    json!({
        "id": format!("{}_{ix}", id("call_", request)),
        "type": "function",
        "function": { "name": call.name, "arguments": call.argument_text() },
    })
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Refusal => "stop",
        Finish::Length => "length",
        Finish::Calls => "tool_calls",
        Finish::Blocked => "content_filter",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    })
}

fn wants_usage(request: &Request) -> bool {
    request.json["stream_options"]["include_usage"] == true
}
