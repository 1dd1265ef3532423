//! Writing a model's answer in the form that an agent speaks.

use jurat_core::agent::Wire;
use jurat_core::effect::{Finish, ToolCall, Usage};
use serde_json::{Value, json};

use super::super::Given;
use crate::codec::{Reply, arguments_text};

/// The answer in a form, whole or in pieces. `number` distinguishes the answers of one agent.
pub(crate) fn answer(format: Wire, model: &str, reply: &Reply, is_streamed: bool, number: u64) -> Given {
    let said = Said { model, reply, number };
    match (format, is_streamed) {
        (Wire::OpenAiChat, false) => Given::json(said.chat().to_string()),
        (Wire::OpenAiChat, true) => Given::events(said.chat_events()),
        (Wire::OpenAiResponses, false) => Given::json(said.response("completed").to_string()),
        (Wire::OpenAiResponses, true) => Given::events(said.response_events()),
        (Wire::Anthropic, false) => Given::json(said.message().to_string()),
        (Wire::Anthropic, true) => Given::events(said.message_events()),
        (Wire::Gemini, false) => Given::json(said.generated().to_string()),
        (Wire::Gemini, true) => Given::events(format!("data: {}\n\n", said.generated())),
    }
}

struct Said<'a> {
    model: &'a str,
    reply: &'a Reply,
    number: u64,
}

impl Said<'_> {
    fn id(&self, kind: &str) -> String {
        format!("{kind}_{}", self.number)
    }

    /// Ids that a script left out are made up: agents need them to match results with calls.
    fn calls(&self) -> impl Iterator<Item = (String, &ToolCall)> {
        let number = self.number;
        self.reply.tool_calls.iter().enumerate().map(move |(n, it)| {
            let id = if it.id.is_empty() { format!("call_{number}_{n}") } else { it.id.clone() };
            (id, it)
        })
    }

    fn usage(&self) -> Usage {
        self.reply.usage.unwrap_or_default()
    }

    fn chat_reason(&self) -> &'static str {
        match self.reply.finish {
            Finish::Length => "length",
            Finish::Refusal => "content_filter",
            _ if !self.reply.tool_calls.is_empty() => "tool_calls",
            _ => "stop",
        }
    }

    fn chat_usage(&self) -> Value {
        let Some(usage) = self.reply.usage else { return Value::Null };
        json!({
            "prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total(),
            "prompt_tokens_details": { "cached_tokens": usage.cached },
            "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
        })
    }

    fn chat_calls(&self) -> Vec<Value> {
        let call = |(n, (id, call)): (usize, (String, &ToolCall))| {
            json!({
                "index": n, "id": id, "type": "function",
                "function": { "name": call.name, "arguments": arguments_text(call) },
            })
        };
        self.calls().enumerate().map(call).collect()
    }

    fn chat(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.reply.text });
        let calls = self.chat_calls();
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        json!({
            "id": self.id("chatcmpl"), "object": "chat.completion", "created": 0, "model": self.model,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.chat_reason() }],
            "usage": self.chat_usage(),
        })
    }

    fn chat_events(&self) -> String {
        let chunk = |choices: Value, usage: Value| {
            let chunk = json!({
                "id": self.id("chatcmpl"), "object": "chat.completion.chunk", "created": 0, "model": self.model,
                "choices": choices, "usage": usage,
            });
            format!("data: {chunk}\n\n")
        };
        let delta = |delta: Value, reason: Value| {
            chunk(json!([{ "index": 0, "delta": delta, "finish_reason": reason }]), Value::Null)
        };
        let mut events = delta(json!({ "role": "assistant", "content": "" }), Value::Null);
        if !self.reply.text.is_empty() {
            events += &delta(json!({ "content": self.reply.text }), Value::Null);
        }
        for call in self.chat_calls() {
            events += &delta(json!({ "tool_calls": [call] }), Value::Null);
        }
        events += &delta(json!({}), self.chat_reason().into());
        events += &chunk(json!([]), self.chat_usage());
        events + "data: [DONE]\n\n"
    }

    fn items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        if !self.reply.text.is_empty() || self.reply.tool_calls.is_empty() {
            let part = json!({ "type": "output_text", "text": self.reply.text, "annotations": [] });
            items.push(json!({
                "id": self.id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": [part],
            }));
        }
        for (id, call) in self.calls() {
            items.push(json!({
                "id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
                "name": call.name, "arguments": arguments_text(call),
            }));
        }
        items
    }

    fn response(&self, status: &str) -> Value {
        let usage = self.usage();
        let reason = match self.reply.finish {
            Finish::Length => Some("max_output_tokens"),
            Finish::Refusal => Some("content_filter"),
            _ => None,
        };
        let reason = reason.filter(|_| status == "completed");
        let status = if reason.is_some() { "incomplete" } else { status };
        let details = reason.map_or(Value::Null, |it| json!({ "reason": it }));
        let mut response = json!({
            "id": self.id("resp"), "object": "response", "created_at": 0, "model": self.model, "status": status,
            "error": null, "incomplete_details": details, "output": self.items(), "parallel_tool_calls": true,
            "tool_choice": "auto", "tools": [], "usage": null,
        });
        if status == "in_progress" {
            response["output"] = json!([]);
        } else if self.reply.usage.is_some() {
            response["usage"] = json!({
                "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached },
                "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": usage.reasoning },
                "total_tokens": usage.total(),
            });
        }
        response
    }

    fn response_events(&self) -> String {
        let mut events = Events::default();
        events.add("response.created", json!({ "response": self.response("in_progress") }));
        events.add("response.in_progress", json!({ "response": self.response("in_progress") }));
        for (n, item) in self.items().into_iter().enumerate() {
            let id = item["id"].clone();
            let place = |more: Value| {
                let mut place = json!({ "output_index": n, "item_id": id });
                for (key, value) in more.as_object().into_iter().flatten() {
                    place[key] = value.clone();
                }
                place
            };
            let mut begun = item.clone();
            begun["status"] = "in_progress".into();
            if item["type"] == "message" {
                begun["content"] = json!([]);
                let (part, text) = (&item["content"][0], &item["content"][0]["text"]);
                let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
                events.add("response.output_item.added", json!({ "output_index": n, "item": begun }));
                events.add("response.content_part.added", place(json!({ "content_index": 0, "part": empty })));
                events.add("response.output_text.delta", place(json!({ "content_index": 0, "delta": text })));
                events.add("response.output_text.done", place(json!({ "content_index": 0, "text": text })));
                events.add("response.content_part.done", place(json!({ "content_index": 0, "part": part })));
            } else {
                let arguments = item["arguments"].clone();
                begun["arguments"] = "".into();
                events.add("response.output_item.added", json!({ "output_index": n, "item": begun }));
                events.add("response.function_call_arguments.delta", place(json!({ "delta": arguments })));
                events.add("response.function_call_arguments.done", place(json!({ "arguments": arguments })));
            }
            events.add("response.output_item.done", json!({ "output_index": n, "item": item }));
        }
        let response = self.response("completed");
        let last = if response["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
        events.add(last, json!({ "response": response }));
        events.text
    }

    fn blocks(&self) -> Vec<Value> {
        let mut blocks = Vec::new();
        if !self.reply.text.is_empty() {
            blocks.push(json!({ "type": "text", "text": self.reply.text }));
        }
        for (id, call) in self.calls() {
            blocks.push(json!({ "type": "tool_use", "id": id, "name": call.name, "input": input(call) }));
        }
        blocks
    }

    fn stop_reason(&self) -> &'static str {
        match self.reply.finish {
            Finish::Length => "max_tokens",
            Finish::Refusal => "refusal",
            _ if !self.reply.tool_calls.is_empty() => "tool_use",
            _ => "end_turn",
        }
    }

    fn message_usage(&self) -> Value {
        let usage = self.usage();
        json!({
            "input_tokens": usage.input - usage.cached.min(usage.input), "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0,
        })
    }

    fn message(&self) -> Value {
        json!({
            "id": self.id("msg"), "type": "message", "role": "assistant", "model": self.model,
            "content": self.blocks(), "stop_reason": self.stop_reason(), "stop_sequence": null,
            "usage": self.message_usage(),
        })
    }

    fn message_events(&self) -> String {
        let mut events = Events::default();
        let mut begun = self.message();
        begun["content"] = json!([]);
        begun["stop_reason"] = Value::Null;
        events.add("message_start", json!({ "message": begun }));
        for (n, block) in self.blocks().into_iter().enumerate() {
            let (empty, delta) = if block["type"] == "text" {
                (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] }))
            } else {
                let mut empty = block.clone();
                empty["input"] = json!({});
                (empty, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
            };
            events.add("content_block_start", json!({ "index": n, "content_block": empty }));
            events.add("content_block_delta", json!({ "index": n, "delta": delta }));
            events.add("content_block_stop", json!({ "index": n }));
        }
        let delta = json!({ "stop_reason": self.stop_reason(), "stop_sequence": null });
        events.add("message_delta", json!({ "delta": delta, "usage": self.message_usage() }));
        events.add("message_stop", json!({}));
        events.text
    }

    fn generated(&self) -> Value {
        let mut parts = Vec::new();
        if !self.reply.text.is_empty() {
            parts.push(json!({ "text": self.reply.text }));
        }
        for (id, call) in self.calls() {
            parts.push(json!({ "functionCall": { "id": id, "name": call.name, "args": input(call) } }));
        }
        let reason = match self.reply.finish {
            Finish::Length => "MAX_TOKENS",
            Finish::Refusal => "SAFETY",
            _ => "STOP",
        };
        let mut generated = json!({
            "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": reason, "index": 0 }],
            "modelVersion": self.model, "responseId": self.id("response"),
        });
        if let Some(usage) = self.reply.usage {
            generated["usageMetadata"] = json!({
                "promptTokenCount": usage.input, "candidatesTokenCount": usage.output - usage.reasoning.min(usage.output),
                "thoughtsTokenCount": usage.reasoning, "cachedContentTokenCount": usage.cached,
                "totalTokenCount": usage.total(),
            });
        }
        generated
    }
}

/// Events with their names, which repeat in the data.
#[derive(Default)]
struct Events {
    text: String,
    n_events: u64,
}

impl Events {
    fn add(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        if name.starts_with("response.") {
            data["sequence_number"] = self.n_events.into();
        }
        self.n_events += 1;
        self.text += &format!("event: {name}\ndata: {data}\n\n");
    }
}

fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments.to_json()).unwrap_or(Value::Null)
}
