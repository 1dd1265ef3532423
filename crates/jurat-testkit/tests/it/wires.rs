//! Each wire format, whole and streamed: the shapes by which a client of the provider reads text, calls, the reason of
//! the end, usage, refusals and errors.

use jurat_testkit::{Endpoint, Fault, Reply, RetryAfter, Script, Usage, When, Wire};
use serde_json::{Value, json};

use crate::client::{Answer, post};

/// What is common to all formats, as a client would put it together.
#[derive(Debug, PartialEq)]
struct Read {
    text: String,
    /// `name(arguments)`
    calls: Vec<String>,
    reason: String,
    /// input, output, cached, reasoning; 0 where a format does not report a number.
    usage: [u64; 4],
}

fn path(wire: Wire, stream: bool) -> &'static str {
    match (wire, stream) {
        (Wire::OpenaiChat, _) => "/v1/chat/completions",
        (Wire::OpenaiResponses, _) => "/v1/responses",
        (Wire::AnthropicMessages, _) => "/v1/messages",
        (Wire::GeminiGenerate, false) => "/v1beta/models/test-1:generateContent",
        (Wire::GeminiGenerate, true) => "/v1beta/models/test-1%3AstreamGenerateContent?alt=sse",
        (Wire::OllamaChat, _) => "/api/chat",
    }
}

/// The same question in each format, with a tool that may be called.
fn question(wire: Wire, stream: bool) -> Value {
    let (system, user) = ("be brief", "what is it?");
    let parameters = json!({ "type": "object", "properties": { "q": { "const": "x" } }, "required": ["q"] });
    let turn = json!({ "role": "user", "content": user });
    let turns = json!([{ "role": "system", "content": system }, turn]);
    let function = json!({ "name": "search", "parameters": parameters });
    let wrapped = json!([{ "type": "function", "function": function }]);
    match wire {
        Wire::OpenaiChat => json!({
            "model": "test-1", "stream": stream, "stream_options": { "include_usage": true }, "messages": turns, "tools": wrapped,
        }),
        Wire::OpenaiResponses => json!({
            "model": "test-1", "stream": stream, "instructions": system, "input": [turn],
            "tools": [{ "type": "function", "name": "search", "parameters": parameters }],
        }),
        Wire::AnthropicMessages => json!({
            "model": "test-1", "stream": stream, "max_tokens": 64, "system": system, "messages": [turn],
            "tools": [{ "name": "search", "input_schema": parameters }],
        }),
        Wire::GeminiGenerate => json!({
            "systemInstruction": { "parts": [{ "text": system }] },
            "contents": [{ "role": "user", "parts": [{ "text": user }] }],
            "tools": [{ "functionDeclarations": [{ "name": "search", "parametersJsonSchema": parameters }] }],
        }),
        Wire::OllamaChat => json!({ "model": "test-1", "stream": stream, "messages": turns, "tools": wrapped }),
    }
}

/// Adds the wish for a reply by this schema.
fn with_schema(wire: Wire, mut question: Value, schema: &Value) -> Value {
    match wire {
        Wire::OpenaiChat => {
            question["response_format"] =
                json!({ "type": "json_schema", "json_schema": { "name": "v", "schema": schema } });
        }
        Wire::OpenaiResponses => {
            question["text"] = json!({ "format": { "type": "json_schema", "name": "v", "schema": schema } });
        }
        Wire::AnthropicMessages => {
            question["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
        }
        Wire::GeminiGenerate => {
            question["generationConfig"] =
                json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
        }
        Wire::OllamaChat => question["format"] = schema.clone(),
    }
    question
}

/// Adds that the tool must be called; Ollama has no way to say so.
fn with_force(wire: Wire, mut question: Value) -> Option<Value> {
    match wire {
        Wire::OpenaiChat => {
            question["tool_choice"] = json!({ "type": "function", "function": { "name": "search" } });
        }
        Wire::OpenaiResponses => question["tool_choice"] = json!({ "type": "function", "name": "search" }),
        Wire::AnthropicMessages => question["tool_choice"] = json!({ "type": "tool", "name": "search" }),
        Wire::GeminiGenerate => {
            question["toolConfig"] =
                json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["search"] } });
        }
        Wire::OllamaChat => return None,
    }
    Some(question)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn call(name: &Value, arguments: &str) -> String {
    format!("{}({arguments})", text(name))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn read_whole(wire: Wire, body: &Value) -> Read {
    let usage = |usage: &Value| usage_of(wire, usage);
    match wire {
        Wire::OpenaiChat => {
            let choice = &body["choices"][0];
            let message = &choice["message"];
            let calls = list(&message["tool_calls"]);
            let calls = calls.iter().map(|it| call(&it["function"]["name"], &text(&it["function"]["arguments"])));
            let text = text(&message["content"]) + &text(&message["refusal"]);
            Read {
                text,
                calls: calls.collect(),
                reason: self::text(&choice["finish_reason"]),
                usage: usage(&body["usage"]),
            }
        }
        Wire::OpenaiResponses => {
            let items = list(&body["output"]);
            let parts = items.iter().flat_map(|it| list(&it["content"]));
            let calls = items.iter().filter(|it| it["type"] == "function_call");
            let details = text(&body["incomplete_details"]["reason"]);
            let refused = items.iter().any(|it| it["content"][0]["type"] == "refusal");
            Read {
                text: parts.map(|it| text(&it["text"]) + &text(&it["refusal"])).collect(),
                calls: calls.map(|it| call(&it["name"], &text(&it["arguments"]))).collect(),
                reason: format!("{}{details}{}", text(&body["status"]), if refused { " refusal" } else { "" }),
                usage: usage(&body["usage"]),
            }
        }
        Wire::AnthropicMessages => {
            let blocks = list(&body["content"]);
            let calls = blocks.iter().filter(|it| it["type"] == "tool_use");
            Read {
                text: blocks.iter().map(|it| text(&it["text"])).collect(),
                calls: calls.map(|it| call(&it["name"], &it["input"].to_string())).collect(),
                reason: text(&body["stop_reason"]),
                usage: usage(&body["usage"]),
            }
        }
        Wire::GeminiGenerate => {
            let candidate = &body["candidates"][0];
            let parts = list(&candidate["content"]["parts"]);
            let calls = parts.iter().map(|it| &it["functionCall"]).filter(|it| it.is_object());
            let blocked = text(&body["promptFeedback"]["blockReason"]);
            Read {
                text: parts.iter().map(|it| text(&it["text"])).collect(),
                calls: calls.map(|it| call(&it["name"], &it["args"].to_string())).collect(),
                reason: format!(
                    "{}{}",
                    text(&candidate["finishReason"]),
                    if blocked.is_empty() { "" } else { "blocked" }
                ),
                usage: usage(&body["usageMetadata"]),
            }
        }
        Wire::OllamaChat => {
            let message = &body["message"];
            let calls = list(&message["tool_calls"]);
            let calls = calls.iter().map(|it| call(&it["function"]["name"], &it["function"]["arguments"].to_string()));
            let reason = text(&body["done_reason"]);
            Read { text: text(&message["content"]), calls: calls.collect(), reason, usage: usage(body) }
        }
    }
}

fn usage_of(wire: Wire, usage: &Value) -> [u64; 4] {
    let get = |name: &str| number(usage.pointer(name).unwrap_or(&Value::Null));
    match wire {
        Wire::OpenaiChat => [
            get("/prompt_tokens"),
            get("/completion_tokens"),
            get("/prompt_tokens_details/cached_tokens"),
            get("/completion_tokens_details/reasoning_tokens"),
        ],
        Wire::OpenaiResponses => [
            get("/input_tokens"),
            get("/output_tokens"),
            get("/input_tokens_details/cached_tokens"),
            get("/output_tokens_details/reasoning_tokens"),
        ],
        Wire::AnthropicMessages => {
            let cached = get("/cache_read_input_tokens");
            [get("/input_tokens") + cached, get("/output_tokens"), cached, 0]
        }
        Wire::GeminiGenerate => {
            let reasoning = get("/thoughtsTokenCount");
            let cached = get("/cachedContentTokenCount");
            [get("/promptTokenCount"), get("/candidatesTokenCount") + reasoning, cached, reasoning]
        }
        Wire::OllamaChat => [get("/prompt_eval_count"), get("/eval_count"), 0, 0],
    }
}

/// Puts a stream together in the way of the provider. `None` when what marks its end is missing.
fn read_stream(wire: Wire, answer: &Answer) -> Option<Read> {
    let events = answer.events();
    let values: Vec<Value> = events.iter().filter_map(|it| serde_json::from_str(it).ok()).collect();
    let mut read = Read { text: String::new(), calls: Vec::new(), reason: String::new(), usage: [0; 4] };
    match wire {
        Wire::OpenaiChat => {
            (events.last() == Some(&"[DONE]")).then_some(())?;
            let mut calls: Vec<(String, String)> = Vec::new();
            for value in &values {
                let choice = &value["choices"][0];
                let delta = &choice["delta"];
                read.text += &(text(&delta["content"]) + &text(&delta["refusal"]));
                for it in list(&delta["tool_calls"]) {
                    let ix = number(&it["index"]) as usize;
                    if ix == calls.len() {
                        calls.push((text(&it["function"]["name"]), String::new()));
                    }
                    calls[ix].1 += &text(&it["function"]["arguments"]);
                }
                read.reason += &text(&choice["finish_reason"]);
                if value["usage"].is_object() {
                    read.usage = usage_of(wire, &value["usage"]);
                }
            }
            read.calls = calls.into_iter().map(|(name, arguments)| format!("{name}({arguments})")).collect();
        }
        Wire::OpenaiResponses => {
            let last = values.last().filter(|it| it["response"]["usage"].is_object())?;
            read = read_whole(wire, &last["response"]);
            let deltas = |kinds: &[&str]| -> String {
                values
                    .iter()
                    .filter(|it| kinds.iter().any(|kind| it["type"] == *kind))
                    .map(|it| text(&it["delta"]))
                    .collect()
            };
            // What grew is what was there in the end.
            assert_eq!(deltas(&["response.output_text.delta", "response.refusal.delta"]), read.text);
            let arguments: String = read.calls.iter().map(|it| it.replace("search(", "").replace(')', "")).collect();
            assert_eq!(deltas(&["response.function_call_arguments.delta"]), arguments);
            let numbers: Vec<u64> = values.iter().map(|it| number(&it["sequence_number"])).collect();
            assert_eq!(numbers, (0..values.len() as u64).collect::<Vec<_>>());
        }
        Wire::AnthropicMessages => {
            (values.last()?["type"] == "message_stop").then_some(())?;
            let mut open = (Value::Null, String::new());
            for value in &values {
                match value["type"].as_str()? {
                    "content_block_start" => open = (value["content_block"].clone(), String::new()),
                    "content_block_delta" => {
                        read.text += &text(&value["delta"]["text"]);
                        open.1 += &text(&value["delta"]["partial_json"]);
                    }
                    "content_block_stop" if open.0["type"] == "tool_use" => {
                        read.calls.push(call(&open.0["name"], &open.1));
                    }
                    "message_delta" => {
                        read.reason = text(&value["delta"]["stop_reason"]);
                        read.usage = usage_of(wire, &value["usage"]);
                    }
                    _ => {}
                }
            }
        }
        Wire::GeminiGenerate | Wire::OllamaChat => {
            for value in &values {
                let part = read_whole(wire, value);
                read.text += &part.text;
                read.calls.extend(part.calls);
                read.reason += &part.reason;
                read.usage = part.usage;
            }
            (!read.reason.is_empty()).then_some(())?;
        }
    }
    Some(read)
}

#[track_caller]
fn ask(script: Script, wire: Wire, stream: bool) -> Read {
    ask_this(script, wire, stream, &question(wire, stream))
}

#[track_caller]
fn ask_this(script: Script, wire: Wire, stream: bool, question: &Value) -> Read {
    let endpoint = Endpoint::start(script);
    let answer = post(endpoint.port(), path(wire, stream), question);
    assert_eq!((answer.status, answer.complete), (200, true), "{wire:?} {answer:?}");
    if stream {
        read_stream(wire, &answer).unwrap_or_else(|| panic!("{wire:?}: the stream has no end: {}", answer.body))
    } else {
        read_whole(wire, &answer.json())
    }
}

/// Every format, whole and streamed.
fn all() -> impl Iterator<Item = (Wire, bool)> {
    Wire::ALL.into_iter().flat_map(|it| [(it, false), (it, true)])
}

/// How each format names a reason, in the order of [`Wire::ALL`].
#[track_caller]
fn reasons(reply: &Reply, expected: [&str; 5]) {
    for (wire, stream) in all() {
        let said = ask(Script::new().reply(reply.clone()), wire, stream).reason;
        let ix = Wire::ALL.iter().position(|it| *it == wire).expect("it is in the list");
        assert_eq!(said, expected[ix], "{wire:?} {stream}");
    }
}

#[test]
fn every_format_says_the_same() {
    let words = "naïve café: “déjà vu” 🦀 and a few words more, so that there are several pieces\nand lines";
    let usage = Usage { input: 100, output: 20, cached: 40, reasoning: 5 };
    for (wire, stream) in all() {
        let read = ask(Script::new().reply(Reply::text(words).usage(usage)), wire, stream);
        assert_eq!(read.text, words, "{wire:?} {stream}");
        assert_eq!(read.calls, Vec::<String>::new());
        let shown = match wire {
            Wire::AnthropicMessages => [100, 20, 40, 0],
            Wire::OllamaChat => [100, 20, 0, 0],
            _ => [100, 20, 40, 5],
        };
        assert_eq!(read.usage, shown, "{wire:?} {stream}");
    }
    reasons(&Reply::text(words), ["stop", "completed", "end_turn", "STOP", "stop"]);
    reasons(
        &Reply::text(words).cut_off(),
        ["length", "incompletemax_output_tokens", "max_tokens", "MAX_TOKENS", "length"],
    );
}

#[test]
fn every_format_reads_the_same_question() {
    for (wire, stream) in all() {
        let endpoint = Endpoint::start(Script::new().keep_requests());
        post(endpoint.port(), path(wire, stream), &question(wire, stream));
        let requests = endpoint.requests();
        let request = requests.first().expect("a request");
        let pair = |role: &str, text: &str| (role.to_owned(), text.to_owned());
        assert_eq!((request.wire, request.stream, request.model.as_str()), (wire, stream, "test-1"));
        assert_eq!(request.conversation, [pair("system", "be brief"), pair("user", "what is it?")]);
        assert_eq!(request.prompt, "what is it?");
        assert_eq!(request.tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["search"]);
    }
}

#[test]
fn every_format_calls_tools() {
    let reply = Reply::calls([("search", json!({ "q": "crabs and other animals" })), ("search", json!({}))]);
    for (wire, stream) in all() {
        let read = ask(Script::new().reply(reply.clone()), wire, stream);
        assert_eq!(read.calls, [r#"search({"q":"crabs and other animals"})"#, "search({})"], "{wire:?} {stream}");
        assert_eq!(read.text, "");
    }
    reasons(&reply, ["tool_calls", "completed", "tool_use", "STOP", "stop"]);
    for (wire, stream) in all() {
        let Some(question) = with_force(wire, question(wire, stream)) else { continue };
        let read = ask_this(Script::new(), wire, stream, &question);
        assert_eq!((read.calls, read.text), (vec![r#"search({"q":"x"})"#.to_owned()], String::new()), "{wire:?}");
    }
}

#[test]
fn every_format_fills_in_the_same_schema() {
    let schema = json!({
        "type": "object",
        "properties": { "label": { "enum": ["a", "b", "c"] }, "score": { "type": "integer" } },
        "required": ["label", "score"],
    });
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let mut said = Vec::new();
    for (wire, stream) in all() {
        let read = ask_this(Script::new(), wire, stream, &with_schema(wire, question(wire, stream), &schema));
        let value: Value = serde_json::from_str(&read.text).expect("JSON");
        assert!(validator.is_valid(&value), "{wire:?} {value}");
        said.push(value);
    }
    assert!(said.iter().all(|it| *it == said[0]), "{said:?}");
}

#[test]
fn every_format_refuses_in_its_own_way() {
    let refusal = Reply::refusal("no");
    reasons(&refusal, ["stop", "completed refusal", "refusal", "SAFETY", "stop"]);
    reasons(&Reply::blocked(), ["content_filter", "incompletecontent_filter", "refusal", "blocked", "stop"]);
    for (wire, stream) in all() {
        let text = ask(Script::new().reply(refusal.clone()), wire, stream).text;
        assert_eq!(text, if wire == Wire::GeminiGenerate { "" } else { "no" }, "{wire:?} {stream}");
    }
    let endpoint = Endpoint::start(Script::new().reply(refusal));
    let chat = post(endpoint.port(), path(Wire::OpenaiChat, false), &question(Wire::OpenaiChat, false)).json();
    assert_eq!(chat["choices"][0]["message"]["refusal"], "no");
    assert_eq!(chat["choices"][0]["message"]["content"], Value::Null);
}

#[test]
fn every_format_has_its_own_envelope_for_errors() {
    let shown = |wire: Wire, status: u16, stream: bool| {
        let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::status(status)));
        let answer = post(endpoint.port(), path(wire, stream), &question(wire, stream));
        assert_eq!(answer.status, status);
        let mut body = answer.json();
        if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
            assert!(error.remove("message").is_some_and(|it| it.is_string()));
        }
        body
    };
    for stream in [false, true] {
        let limited = json!({ "error": { "type": "requests", "param": null, "code": "rate_limit_exceeded" } });
        assert_eq!(shown(Wire::OpenaiChat, 429, stream), limited);
        assert_eq!(shown(Wire::OpenaiResponses, 429, stream), limited);
        assert_eq!(shown(Wire::OpenaiResponses, 500, stream)["error"]["type"], "server_error");
        let anthropic = shown(Wire::AnthropicMessages, 429, stream);
        assert_eq!((&anthropic["type"], &anthropic["error"]["type"]), (&json!("error"), &json!("rate_limit_error")));
        assert_eq!(shown(Wire::AnthropicMessages, 529, stream)["error"]["type"], "overloaded_error");
        assert_eq!(
            shown(Wire::GeminiGenerate, 503, stream),
            json!({ "error": { "code": 503, "status": "UNAVAILABLE" } })
        );
        assert_eq!(shown(Wire::OllamaChat, 500, stream), json!({ "error": "this failure is part of the test" }));
    }
    let wait = std::time::Duration::from_millis(1500);
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::rate_limited(RetryAfter::Body(wait))));
    let answer = post(endpoint.port(), path(Wire::GeminiGenerate, false), &question(Wire::GeminiGenerate, false));
    assert_eq!(answer.json()["error"]["details"][0]["retryDelay"], "1.5s");
}

#[test]
fn every_stream_can_lose_its_end() {
    for wire in Wire::ALL {
        for fault in [Fault::NoFinish, Fault::TruncatedBody, Fault::CutBody, Fault::StreamError] {
            let endpoint = Endpoint::start(Script::new().fault(When::Always, fault.clone()));
            let answer = post(endpoint.port(), path(wire, true), &question(wire, true));
            assert_eq!(answer.complete, fault != Fault::CutBody, "{wire:?} {fault:?}");
            assert!(read_stream(wire, &answer).is_none(), "{wire:?} {fault:?} {}", answer.body);
            endpoint.wait_until(|it| it.broken == 1);
        }
    }
}

#[test]
fn a_dribbled_stream_is_the_same_stream() {
    for wire in Wire::ALL {
        let quick = Script::new().reply(Reply::text("crème brûlée"));
        let slow = Script::new().reply(Reply::text("crème brûlée")).pace(std::time::Duration::from_micros(50));
        assert_eq!(ask(quick, wire, true), ask(slow, wire, true));
    }
}

#[test]
fn each_provider_insists_on_what_it_insists_on() {
    let endpoint = Endpoint::start(Script::new());
    let status = |wire: Wire, stream: bool, change: &dyn Fn(&mut Value)| {
        let mut question = question(wire, stream);
        change(&mut question);
        post(endpoint.port(), path(wire, stream), &question).status
    };
    let without = |name: &'static str| move |it: &mut Value| drop(it.as_object_mut().and_then(|it| it.remove(name)));
    for (wire, name) in [
        (Wire::OpenaiChat, "model"),
        (Wire::OpenaiChat, "messages"),
        (Wire::OpenaiResponses, "input"),
        (Wire::AnthropicMessages, "max_tokens"),
        (Wire::AnthropicMessages, "messages"),
        (Wire::GeminiGenerate, "contents"),
        (Wire::OllamaChat, "messages"),
    ] {
        assert_eq!(status(wire, false, &|_| {}), 200);
        assert_eq!(status(wire, false, &without(name)), 400, "{wire:?} without {name}");
    }
    let system = json!({ "role": "system", "content": "x" });
    assert_eq!(status(Wire::AnthropicMessages, false, &|it| it["messages"] = json!([system])), 400);
    let schema = json!({ "responseJsonSchema": {} });
    assert_eq!(status(Wire::GeminiGenerate, false, &|it| it["generationConfig"] = schema.clone()), 400);
    let unframed = "/v1beta/models/test-1:streamGenerateContent";
    assert_eq!(post(endpoint.port(), unframed, &question(Wire::GeminiGenerate, true)).status, 400);
    // Ollama streams by default.
    let answer = {
        let mut question = question(Wire::OllamaChat, true);
        without("stream")(&mut question);
        post(endpoint.port(), path(Wire::OllamaChat, true), &question)
    };
    assert!(answer.events().len() > 1, "{}", answer.body);
}
