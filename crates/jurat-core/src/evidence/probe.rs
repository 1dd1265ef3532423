//! The evidence of a probe: a row, and what came of asking a model about it.
//!
//! What a probe adds hides fields of the row with the same names, also where the probe has nothing under that name: a
//! task that reads `cost_usd` must not find what somebody else's answer cost. What is not known is absent, never null.

use crate::effect::{Answer, Message, ModelRequest, ToolCall};
use crate::plan::PlannedAsk;
use crate::value::{Context, Map, Val, Value, parse_json};

/// What is asked about a row: one of the prompts, of one model. The replicate is part of the question, so that asking again is asking anew.
pub fn request(
    ask: &PlannedAsk,
    prompt: usize,
    model: &str,
    row: &Val<'_>,
    replicate: u32,
) -> Result<ModelRequest, String> {
    let context = Context::of(row);
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &ask.system {
        messages.push(Message::System(system.bound(context)?));
    }
    let (_, prompt) = ask.prompts.get(prompt).ok_or("there is no such prompt")?;
    messages.push(Message::User(prompt.bound(context)?));
    Ok(ModelRequest { output: ask.output.clone(), repeat: replicate, ..ModelRequest::new(model, messages) })
}

/// The evidence of a probe that was answered.
pub fn evidence<'e>(ask: &PlannedAsk, row: Val<'e>, request: &'e ModelRequest, answer: &'e Answer) -> Val<'e> {
    let object = |members: [(&'static str, Val<'e>); 3]| Val::Map(members.into_iter().collect());
    let said = |message: &'e Message| {
        let members = [("role", Val::from(message.role())), ("content", Val::from(message.text()))];
        Val::Map(members.into_iter().collect())
    };
    let called = |call: &'e ToolCall| {
        object([
            ("id", Val::from(call.id.as_str())),
            ("name", Val::from(call.name.as_str())),
            ("arguments", call.arguments.borrowed()),
        ])
    };
    let asked = request.messages.iter().rev().find(|it| matches!(it, Message::User(_)));
    let exchange = Exchange {
        input: asked.map_or("", Message::text),
        messages: request.messages.iter().map(said).collect(),
        output: &answer.text,
        parsed: ask.output.as_ref().and_then(|_| ask.form.read(&answer.text).ok()),
        tool_calls: answer.tool_calls.iter().map(called).collect(),
        usage: answer.usage.map(|it| {
            object([
                ("input_tokens", Val::from(it.input)),
                ("output_tokens", Val::from(it.output)),
                ("total_tokens", Val::from(it.total())),
            ])
        }),
        cost_usd: answer.cost_usd,
        latency_ms: answer.latency.as_micros() as f64 / 1e3,
        finish_reason: Some(answer.finish.name()),
    };
    exchange.over(row)
}

/// The names that a probe adds to its row.
pub const KEYS: [&str; 9] =
    ["input", "messages", "output", "parsed", "tool_calls", "usage", "cost_usd", "latency_ms", "finish_reason"];

/// One question to a model and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange<'e> {
    /// The prompt, filled in.
    pub input: &'e str,
    /// What was sent: a list of `{role, content}`.
    pub messages: Val<'e>,
    /// The text of the answer.
    pub output: &'e str,
    /// The answer as a value, when it was to be one and is.
    pub parsed: Option<Val<'e>>,
    /// The tools that the answer calls: a list of `{id, name, arguments}`.
    pub tool_calls: Val<'e>,
    /// `{input_tokens, output_tokens, total_tokens}`, when the provider says.
    pub usage: Option<Val<'e>>,
    /// What the answer cost, when the price is known.
    pub cost_usd: Option<f64>,
    /// How long the answer took.
    pub latency_ms: f64,
    /// Why the answer ended, when the provider says.
    pub finish_reason: Option<&'e str>,
}

impl<'e> Exchange<'e> {
    /// The evidence: the row, with what the exchange adds.
    ///
    /// ```
    /// use jurat_core::evidence::probe::Exchange;
    /// use jurat_core::value::{Val, parse_json};
    ///
    /// let row = parse_json(r#"{"question": "Capital of Peru?", "usage": "geography"}"#)?.value;
    /// let exchange = Exchange {
    ///     input: "Answer in one word. Capital of Peru?",
    ///     messages: parse_json(r#"[{"role": "user", "content": "Answer in one word. Capital of Peru?"}]"#)?.value,
    ///     output: "Lima",
    ///     parsed: None,
    ///     tool_calls: Val::List(vec![]),
    ///     usage: None,
    ///     cost_usd: None,
    ///     latency_ms: 320.0,
    ///     finish_reason: Some("stop"),
    /// };
    /// let evidence = exchange.over(row);
    /// assert_eq!(evidence.get("output").and_then(Val::as_str), Some("Lima"));
    /// assert_eq!(evidence.get("question").and_then(Val::as_str), Some("Capital of Peru?"));
    /// assert_eq!(evidence.get("usage"), None);
    /// # Ok::<(), jurat_core::value::JsonError>(())
    /// ```
    pub fn over(self, row: Val<'e>) -> Val<'e> {
        let row = match row {
            Val::Map(map) => map,
            // A row that is not an object has one name, as it has without a probe.
            other => [("value", other)].into_iter().collect(),
        };
        let kept = row.into_iter().filter(|(key, _)| !KEYS.contains(&&**key));
        let added = [
            ("input", Some(Val::from(self.input))),
            ("messages", Some(self.messages)),
            ("output", Some(Val::from(self.output))),
            ("parsed", self.parsed),
            ("tool_calls", Some(self.tool_calls)),
            ("usage", self.usage),
            ("cost_usd", self.cost_usd.map(Val::F)),
            ("latency_ms", Some(Val::F(self.latency_ms))),
            ("finish_reason", self.finish_reason.map(Val::from)),
        ];
        let added = added.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Val::Map(kept.chain(added).collect::<Map<'e>>())
    }
}

/// The JSON Schema of what a probe adds. `parsed` is whatever `output` of `ask` says it is.
pub fn schema() -> Value {
    let schema = r#"{
        "type": "object",
        "properties": {
            "input": {"type": "string", "description": "the prompt, filled in"},
            "messages": {
                "type": "array",
                "description": "what was sent",
                "items": {
                    "type": "object",
                    "properties": {"role": {"enum": ["system", "user", "assistant"]}, "content": {"type": "string"}},
                    "required": ["role", "content"],
                    "additionalProperties": false
                }
            },
            "output": {"type": "string", "description": "the text of the answer"},
            "parsed": {"description": "the answer as a value, when `output` of `ask` says what it must be and it is that"},
            "tool_calls": {
                "type": "array",
                "description": "the tools that the answer calls",
                "items": {
                    "type": "object",
                    "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "arguments": {}},
                    "required": ["id", "name", "arguments"],
                    "additionalProperties": false
                }
            },
            "usage": {
                "type": "object",
                "description": "tokens, when the provider says how many",
                "properties": {
                    "input_tokens": {"type": "integer", "minimum": 0},
                    "output_tokens": {"type": "integer", "minimum": 0},
                    "total_tokens": {"type": "integer", "minimum": 0}
                },
                "required": ["input_tokens", "output_tokens", "total_tokens"],
                "additionalProperties": false
            },
            "cost_usd": {"type": "number", "minimum": 0, "description": "what the answer cost, when the price is known"},
            "latency_ms": {"type": "number", "minimum": 0, "description": "how long the answer took"},
            "finish_reason": {"type": "string", "description": "why the answer ended, when the provider says"}
        },
        "required": ["input", "messages", "output", "tool_calls", "latency_ms"]
    }"#;
    parse_json(schema).expect("the schema is JSON").value.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Exchange<'static> {
        let json = |text: &'static str| parse_json(text).expect("this is JSON").value;
        Exchange {
            input: "Capital of Peru?",
            messages: json(
                r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of Peru?"}]"#,
            ),
            output: "{\"city\": \"Lima\"}",
            parsed: Some(json(r#"{"city": "Lima"}"#)),
            tool_calls: json(r#"[{"id": "c1", "name": "look_up", "arguments": {"of": "Peru"}}]"#),
            usage: Some(json(r#"{"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}"#)),
            cost_usd: Some(0.0001),
            latency_ms: 320.5,
            finish_reason: Some("stop"),
        }
    }

    #[track_caller]
    fn over(exchange: Exchange<'_>, row: &str, evidence: &str) {
        assert_eq!(exchange.over(parse_json(row).expect("a row is JSON").value).to_string(), evidence);
    }

    #[test]
    fn what_a_probe_adds_hides_what_the_row_has() {
        let sparse = Exchange { parsed: None, usage: None, cost_usd: None, finish_reason: None, ..whole() };
        let sparse = Exchange { messages: Val::List(vec![]), tool_calls: Val::List(vec![]), ..sparse };
        let rest = "\"input\": \"Capital of Peru?\", \"messages\": [], \"output\": \"{\\\"city\\\": \\\"Lima\\\"}\", \
                    \"tool_calls\": [], \"latency_ms\": 320.5";
        over(sparse.clone(), r#"{"id": 7, "cost_usd": 3, "parsed": 1}"#, &format!("{{\"id\": 7, {rest}}}"));
        over(sparse, "[1]", &format!("{{\"value\": [1], {rest}}}"));
    }

    #[test]
    fn the_schema_knows_every_name_and_accepts_the_evidence() {
        let schema = schema();
        let named: Vec<&str> = schema.get("properties").and_then(Val::as_map).expect("properties").keys().collect();
        assert_eq!(named, KEYS);
        let evidence = whole().over(Val::Map(Map::default()));
        let keys: Vec<&str> = evidence.as_map().expect("an object").keys().collect();
        assert_eq!(keys, KEYS);
        let plain = |value: &Val<'_>| serde_json::from_str(&value.to_json()).expect("JSON");
        let validator = jsonschema::draft202012::new(&plain(&schema)).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(&plain(&evidence)).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
