//! Gemini `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::{
    Asked, Format, Framing, Incoming, MustCall, StreamEvent, Streamed, Trouble, any_object, id, items, pieces, text_of,
    tools,
};
use crate::fault::RetryAfter;
use crate::reply::{Finish, Said, Usage};
use crate::request::Request;

pub(super) static FORMAT: Format = Format {
    speaks_at: |path| path.contains("/models/") && (path.ends_with(WHOLE) || path.ends_with(STREAM)),
    read,
    key,
    whole,
    stream,
    framing: Framing::ServerSentEvents,
    error,
    stream_error: |it| StreamEvent::unnamed(&error(it)),
};

const WHOLE: &str = ":generateContent";
const STREAM: &str = ":streamGenerateContent";

fn read(incoming: &Incoming<'_>) -> Result<Asked, String> {
    let body = incoming.body;
    let stream = incoming.path.ends_with(STREAM);
    // Without it the provider streams one JSON array, which no client of ours reads.
    if stream && !parameters(incoming.query).any(|it| it == ("alt", "sse")) {
        return Err("this endpoint streams with `alt=sse` only".to_owned());
    }
    let mut conversation = Vec::new();
    conversation.extend(body.get("systemInstruction").map(|it| ("system".to_owned(), text_of(&it["parts"]))));
    let turn = |it: &Value| {
        // A question without a role is one of the user.
        (it["role"].as_str().unwrap_or("user").to_owned(), text_of(&it["parts"]))
    };
    conversation.extend(incoming.list("contents")?.iter().map(turn));
    let config = &body["generationConfig"];
    let schemas = [&config["responseJsonSchema"], &config["responseSchema"]];
    let schema = schemas.into_iter().find(|it| it.is_object()).cloned();
    let wants_json = config["responseMimeType"] == "application/json";
    if schema.is_some() && !wants_json {
        return Err("a schema needs `responseMimeType: application/json`".to_owned());
    }
    let functions = items(&body["tools"]).flat_map(|it| items(&it["functionDeclarations"]));
    let calling = &body["toolConfig"]["functionCallingConfig"];
    Ok(Asked {
        model: model(incoming.path).to_owned(),
        conversation,
        schema: schema.or_else(|| wants_json.then(any_object)),
        tools: tools(functions, &["parametersJsonSchema", "parameters"], "`functionDeclarations[].name` is missing")?,
        must_call: match (calling["mode"].as_str(), calling["allowedFunctionNames"][0].as_str()) {
            (Some("ANY"), Some(name)) => MustCall::Named(name.to_owned()),
            (Some("ANY"), None) => MustCall::Any,
            _ => MustCall::None,
        },
        stream,
    })
}

fn key(incoming: &Incoming<'_>) -> Option<String> {
    let in_query = || parameters(incoming.query).find(|(name, _)| *name == "key").map(|(_, key)| key);
    Some(incoming.header("x-goog-api-key").or_else(in_query).unwrap_or_default().to_owned())
}

fn whole(request: &Request, said: &Said) -> Value {
    let mut parts = Vec::new();
    if !said.text.is_empty() && said.finish != Finish::Refusal {
        parts.push(json!({ "text": said.text }));
    }
    parts.extend(calls(said));
    response(request, said, parts, Some(said))
}

fn stream(request: &Request, said: &Said) -> Streamed {
    let text = if matches!(said.finish, Finish::Refusal | Finish::Blocked) { "" } else { &said.text };
    let part = |part: Value| StreamEvent::unnamed(&response(request, said, vec![part], None));
    let mut content: Vec<StreamEvent> = pieces(text).into_iter().map(|it| part(json!({ "text": it }))).collect();
    content.extend(calls(said).into_iter().map(part));
    let finish = vec![StreamEvent::unnamed(&response(request, said, Vec::new(), Some(said)))];
    Streamed { content, finish }
}

fn error(trouble: &Trouble<'_>) -> Value {
    let status = match trouble.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        400..500 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    };
    let mut error = json!({ "code": trouble.status, "message": trouble.message, "status": status });
    if let Some(RetryAfter::Body(wait)) = trouble.retry_after {
        let delay = format!("{}s", wait.as_secs_f64());
        error["details"] = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay }]);
    }
    json!({ "error": error })
}

/// `/v1beta/models/MODEL:generateContent`
fn model(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.split_once(':').map_or(last, |(model, _)| model)
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|it| it.split_once('='))
}

fn calls(said: &Said) -> Vec<Value> {
    let call =
        |it: &crate::reply::ToolCall| json!({ "functionCall": { "name": it.name, "args": it.argument_object() } });
    said.calls.iter().map(call).collect()
}

/// A response with these parts; the last one of a reply says how it ended and what it cost.
fn response(request: &Request, said: &Said, parts: Vec<Value>, ended: Option<&Said>) -> Value {
    let mut response = json!({ "modelVersion": request.model, "responseId": id("", request) });
    if said.finish == Finish::Blocked {
        response["promptFeedback"] = json!({ "blockReason": "SAFETY" });
    } else {
        let mut candidate = json!({ "index": 0 });
        if !parts.is_empty() {
            candidate["content"] = json!({ "role": "model", "parts": parts });
        }
        if let Some(said) = ended {
            candidate["finishReason"] = json!(reason(said.finish));
        }
        response["candidates"] = json!([candidate]);
    }
    if let Some(said) = ended {
        response["usageMetadata"] = usage(said.usage);
    }
    response
}

/// Calls end with `STOP` too.
fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Refusal | Finish::Blocked => "SAFETY",
    }
}

/// Reasoning is counted apart from the rest of the output.
fn usage(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    })
}
