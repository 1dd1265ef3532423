//! The evidence of a probe: a row, and what came of asking a model about it.
//!
//! What a probe adds hides fields of the row with the same names, also where the probe has nothing under that name: a
//! task that reads `cost_usd` must not find what another answer cost. What is not known is absent, never null.

use jurat_format::value::{Map, Val, Value, parse_json};

/// The names that a probe adds to its row when a model was asked in words.
pub const KEYS: [&str; 10] = [
    "input",
    "messages",
    "output",
    "parsed",
    "reasoning",
    "tool_calls",
    "usage",
    "cost_usd",
    "latency_ms",
    "finish_reason",
];

/// The name of an answer before it was transformed.
pub const ORIGINAL: &str = "original_output";

/// The name of the probabilities of an answer's tokens, where the model is asked for them.
pub const LOGPROBS: &str = "logprobs";

/// The names that a probe adds when its subject was given the row itself: what was asked is the row.
pub const KEYS_OF_ROW: [&str; 7] =
    ["output", "reasoning", "tool_calls", "usage", "cost_usd", "latency_ms", "finish_reason"];

/// The names that a probe adds to its row, by what was asked: a prompt, or the whole row.
pub fn keys(whole_row: bool) -> &'static [&'static str] {
    if whole_row { &KEYS_OF_ROW } else { &KEYS }
}

/// One question to a model and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange<'e> {
    /// What was asked in words; nothing when the subject was given the row itself.
    pub asked: Option<Asked<'e>>,
    /// The text of the answer; the value of one to the row itself.
    pub output: Val<'e>,
    /// The answer before it was transformed, when it was.
    pub original: Option<Val<'e>>,
    /// The answer as a value, when it was to be one and is.
    pub parsed: Option<Val<'e>>,
    /// What the model thought before it answered, when its provider shows it.
    pub reasoning: Option<&'e str>,
    /// How likely its tokens were: a list of `{token, logprob, top: [{token, logprob}]}`, when that was asked for.
    pub logprobs: Option<Val<'e>>,
    /// The tools that the model called: a list of `{id, name, arguments}`, with `server`, `output` and `is_error` where it was called.
    pub tool_calls: Val<'e>,
    /// `{input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens}`, when the provider says.
    pub usage: Option<Val<'e>>,
    /// What all answers cost, when the price is known.
    pub cost_usd: Option<f64>,
    /// How long the model took, all its answers together; not known of answers that came in batches.
    pub latency_ms: Option<f64>,
    /// Why the answer ended, when the provider says.
    pub finish_reason: Option<&'e str>,
}

/// What a model was asked in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<'e> {
    pub input: &'e str,
    /// What was sent: a list of `{role, content}`; those that call tools have `tool_calls`, and those of tools `tool_call_id`, `name` and `is_error`.
    pub messages: Val<'e>,
}

impl<'e> Exchange<'e> {
    /// The evidence: the row, with what the exchange adds.
    ///
    /// ```
    /// use jurat_core::evidence::probe::{Asked, Exchange};
    /// use jurat_format::value::{Val, parse_json};
    ///
    /// let row = parse_json(r#"{"question": "Capital of Peru?", "usage": "geography"}"#)?.value;
    /// let asked = Asked {
    ///     input: "Answer in one word. Capital of Peru?",
    ///     messages: parse_json(r#"[{"role": "user", "content": "Answer in one word. Capital of Peru?"}]"#)?.value,
    /// };
    /// let exchange = Exchange {
    ///     asked: Some(asked),
    ///     output: Val::from("Lima"),
    ///     original: None,
    ///     parsed: None,
    ///     reasoning: None,
    ///     logprobs: None,
    ///     tool_calls: Val::List(vec![]),
    ///     usage: None,
    ///     cost_usd: None,
    ///     latency_ms: Some(320.0),
    ///     finish_reason: Some("stop"),
    /// };
    /// let evidence = exchange.over(row);
    /// assert_eq!(evidence.get("output").and_then(Val::as_str), Some("Lima"));
    /// assert_eq!(evidence.get("question").and_then(Val::as_str), Some("Capital of Peru?"));
    /// assert_eq!(evidence.get("usage"), None);
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn over(self, row: Val<'e>) -> Val<'e> {
        let row = match row {
            Val::Map(map) => map,
            // A row that is not an object has one name, as it has without a probe.
            other => [("value", other)].into_iter().collect(),
        };
        let hidden = keys(self.asked.is_none());
        // Rows may have members of these names, and few probes do.
        let (has_original, has_logprobs) = (self.original.is_some(), self.logprobs.is_some());
        let hides =
            |key: &str| hidden.contains(&key) || (key == ORIGINAL && has_original) || (key == LOGPROBS && has_logprobs);
        let others: Vec<_> = row.into_iter().filter(|(key, _)| !hides(key)).collect();
        let (input, messages) = self.asked.map(|it| (Val::from(it.input), it.messages)).unzip();
        let added = [
            ("input", input),
            ("messages", messages),
            ("output", Some(self.output)),
            (ORIGINAL, self.original),
            ("parsed", self.parsed),
            ("reasoning", self.reasoning.map(Val::from)),
            (LOGPROBS, self.logprobs),
            ("tool_calls", Some(self.tool_calls)),
            ("usage", self.usage),
            ("cost_usd", self.cost_usd.map(Val::F)),
            ("latency_ms", self.latency_ms.map(Val::F)),
            ("finish_reason", self.finish_reason.map(Val::from)),
        ];
        let added = added.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Val::Map(others.into_iter().chain(added).collect::<Map<'e>>())
    }
}

/// The JSON Schema of what a probe adds. `parsed` is whatever `output` of `ask` says it is.
pub fn schema() -> Value {
    parse_json(include_str!("probe.schema.json")).expect("the schema is JSON").value.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Exchange<'static> {
        let json = |text: &'static str| parse_json(text).expect("this is JSON").value;
        let messages =
            json(r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of Peru?"}]"#);
        Exchange {
            asked: Some(Asked { input: "Capital of Peru?", messages }),
            output: Val::from("{\"city\": \"Lima\"}"),
            original: None,
            reasoning: Some("It is Lima."),
            logprobs: None,
            parsed: Some(json(r#"{"city": "Lima"}"#)),
            tool_calls: json(r#"[{"id": "c1", "name": "look_up", "arguments": {"of": "Peru"}}]"#),
            usage: Some(json(
                r#"{"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, "cached_tokens": 0, "cache_write_tokens": 0,
                    "reasoning_tokens": 2}"#,
            )),
            cost_usd: Some(0.0001),
            latency_ms: Some(320.5),
            finish_reason: Some("stop"),
        }
    }

    #[track_caller]
    fn over(exchange: Exchange<'_>, row: &str, evidence: &str) {
        assert_eq!(exchange.over(parse_json(row).expect("a row is JSON").value).to_string(), evidence);
    }

    #[test]
    fn what_a_probe_adds_hides_what_the_row_has() {
        let sparse =
            Exchange { parsed: None, reasoning: None, usage: None, cost_usd: None, finish_reason: None, ..whole() };
        let asked = Some(Asked { input: "Capital of Peru?", messages: Val::List(vec![]) });
        let sparse = Exchange { asked, tool_calls: Val::List(vec![]), ..sparse };
        let rest = "\"input\": \"Capital of Peru?\", \"messages\": [], \"output\": \"{\\\"city\\\": \\\"Lima\\\"}\", \
                    \"tool_calls\": [], \"latency_ms\": 320.5";
        over(sparse.clone(), r#"{"id": 7, "cost_usd": 3, "parsed": 1}"#, &format!("{{\"id\": 7, {rest}}}"));
        over(sparse, "[1]", &format!("{{\"value\": [1], {rest}}}"));
    }

    #[test]
    fn a_subject_that_is_given_the_row_hides_neither_its_input_nor_its_messages() {
        let exchange = Exchange { asked: None, output: Val::I(42), parsed: None, reasoning: None, ..whole() };
        let exchange = Exchange { tool_calls: Val::List(vec![]), usage: None, cost_usd: None, ..exchange };
        over(
            exchange,
            r#"{"input": "6 * 7", "messages": [], "output": 41}"#,
            r#"{"input": "6 * 7", "messages": [], "output": 42, "tool_calls": [], "latency_ms": 320.5, "finish_reason": "stop"}"#,
        );
    }

    #[test]
    fn the_schema_knows_every_name_and_accepts_the_evidence() {
        let schema = schema();
        let named: Vec<&str> = schema.get("properties").and_then(Val::as_map).expect("properties").keys().collect();
        let known: Vec<&str> = named.iter().copied().filter(|it| *it != LOGPROBS).collect();
        assert_eq!(known, KEYS);
        let logprobs = parse_json(r#"[{"token": "{", "logprob": -0.5, "top": [{"token": "{", "logprob": -0.5}]}]"#);
        let whole = Exchange { logprobs: Some(logprobs.expect("this is JSON").value), ..whole() };
        let evidence = whole.over(Val::Map(Map::default()));
        let keys: Vec<&str> = evidence.as_map().expect("an object").keys().collect();
        assert_eq!(keys, named);
        let plain = |value: &Val<'_>| serde_json::from_str(&value.to_json()).expect("JSON");
        let validator = jsonschema::draft202012::new(&plain(&schema)).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(&plain(&evidence)).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
