//! Ollama chat. It asks for no key, and has no way to mark a refusal or a filter: those are words like others.

use serde_json::{Value, json};

use super::{
    Asked, Format, Framing, Incoming, MustCall, StreamEvent, Streamed, Trouble, any_object, function_tools, pieces,
    turns,
};
use crate::reply::{Finish, Said};
use crate::request::Request;

pub(super) static FORMAT: Format = Format {
    speaks_at: |path| path.ends_with("/api/chat"),
    read,
    key: |_| None,
    whole: |request, said| ended(request, said, &message(&said.text, &calls(said))),
    stream,
    framing: Framing::Lines,
    error,
    stream_error: |it| StreamEvent::unnamed(&error(it)),
};

fn read(incoming: &Incoming<'_>) -> Result<Asked, String> {
    let body = incoming.body;
    let schema = match &body["format"] {
        Value::String(word) if word == "json" => Some(any_object()),
        schema @ Value::Object(_) => Some(schema.clone()),
        Value::Null => None,
        _ => return Err("invalid format".to_owned()),
    };
    Ok(Asked {
        model: incoming.text("model")?,
        conversation: turns(incoming.list("messages")?).collect(),
        schema,
        tools: function_tools(&body["tools"])?,
        must_call: MustCall::None,
        // A client that wants no stream has to say so.
        stream: body["stream"] != false,
    })
}

fn stream(request: &Request, said: &Said) -> Streamed {
    let line = |content: &str, calls: &[Value]| {
        let mut line = begun(request, &message(content, calls));
        line["done"] = json!(false);
        StreamEvent::unnamed(&line)
    };
    let mut content: Vec<StreamEvent> = pieces(&said.text).iter().map(|it| line(it, &[])).collect();
    content.extend(calls(said).into_iter().map(|it| line("", &[it])));
    Streamed { content, finish: vec![StreamEvent::unnamed(&ended(request, said, &message("", &[])))] }
}

fn error(trouble: &Trouble<'_>) -> Value {
    json!({ "error": trouble.message })
}

fn calls(said: &Said) -> Vec<Value> {
    let call =
        |it: &crate::reply::ToolCall| json!({ "function": { "name": it.name, "arguments": it.argument_object() } });
    said.calls.iter().map(call).collect()
}

fn message(content: &str, calls: &[Value]) -> Value {
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn begun(request: &Request, message: &Value) -> Value {
    json!({ "model": request.model, "created_at": "2023-11-14T22:13:20Z", "message": message })
}

fn ended(request: &Request, said: &Said, message: &Value) -> Value {
    let mut ended = begun(request, message);
    ended["done"] = json!(true);
    ended["done_reason"] = json!(if said.finish == Finish::Length { "length" } else { "stop" });
    ended["total_duration"] = json!(2_000_000);
    ended["load_duration"] = json!(0);
    ended["prompt_eval_count"] = json!(said.usage.input);
    ended["prompt_eval_duration"] = json!(1_000_000);
    ended["eval_count"] = json!(said.usage.output);
    ended["eval_duration"] = json!(1_000_000);
    ended
}
