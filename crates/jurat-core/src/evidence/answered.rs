//! What was asked and answered in a case, without what it took: the part of the evidence that a label is about.
//!
//! A label of one run counts in a later one when its digest is the same there. Seconds, tokens, dollars, the name of the model, ids that a provider
//! draws and the number of a repetition differ between runs with equal answers, and what a model read from an answer is a judgement of it. None of
//! them is part of what people labelled.

use std::borrow::Cow;

use jurat_format::value::{Map, Val};

/// What a case is, which says what its evidence holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceKind {
    /// A row that holds its answer. All of it is the author's.
    Record,
    /// A row that a model was asked about.
    Probe,
    /// A conversation along a graph.
    Scenario,
    /// The run of an agent.
    Run,
}

/// What of a probe is not its question or its answer.
const OF_PROBE: [&str; 4] = ["usage", "cost_usd", "latency_ms", "finish_reason"];
/// What of a call of a tool the provider makes up.
const CALL_IDS: [&str; 3] = ["id", "call_id", "tool_call_id"];
/// What of a turn the subject was asked and did.
const OF_TURN: [&str; 6] = ["node_id", "question_text", "sent", "raw_response", "tool_calls", "failure"];
/// What of an event of an agent's run happened, in the order in which it is written. What runners say about themselves names models and sessions.
const OF_EVENT: [(&str, &[&str]); 4] = [
    ("message", &["event_type", "role", "name", "content"]),
    ("tool_call", &["event_type", "tool_name", "raw_arguments", "parsed_arguments"]),
    ("tool_result", &["event_type", "status", "output"]),
    ("final_output", &["event_type", "content"]),
];

/// What was asked and answered, of the evidence of a case.
///
/// ```
/// use jurat_core::evidence::answered::{EvidenceKind, answered};
/// use jurat_format::value::parse_json;
///
/// let evidence = parse_json(r#"{"question": "Capital of Peru?", "output": "Lima", "latency_ms": 320.5}"#)?.value;
/// assert_eq!(answered(&evidence, EvidenceKind::Probe).to_json(), r#"{"question":"Capital of Peru?","output":"Lima"}"#);
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
pub fn answered<'e>(evidence: &Val<'e>, kind: EvidenceKind) -> Val<'e> {
    match kind {
        EvidenceKind::Record => evidence.clone(),
        EvidenceKind::Probe => probe(evidence),
        EvidenceKind::Scenario => scenario(evidence),
        EvidenceKind::Run => run(evidence),
    }
}

/// The digest of what was asked and answered, as 32 hexadecimal digits.
pub fn digest(evidence: &Val<'_>, kind: EvidenceKind) -> String {
    blake3::hash(answered(evidence, kind).to_json().as_bytes()).to_hex()[..32].to_owned()
}

fn probe<'e>(evidence: &Val<'e>) -> Val<'e> {
    members(evidence, |key, value| match key {
        "tool_calls" => Some(each(value, without_ids)),
        "messages" => Some(each(value, |it| changed(&without_ids(it), "tool_calls", |it| each(it, without_ids)))),
        key if OF_PROBE.contains(&key) => None,
        _ => Some(value.clone()),
    })
}

fn scenario<'e>(evidence: &Val<'e>) -> Val<'e> {
    members(evidence, |key, value| match key {
        "scenario_id" | "status" => Some(value.clone()),
        "history" => Some(each(value, |turn| only(turn, &OF_TURN))),
        _ => None,
    })
}

fn run<'e>(evidence: &Val<'e>) -> Val<'e> {
    members(evidence, |key, value| match key {
        "identity" => Some(only(value, &["case_id"])),
        "status" | "final_response" | "workspace" => Some(value.clone()),
        "tool_calls" => Some(each(value, without_ids)),
        "trace" => Some(trace(value)),
        "output_artifacts" => {
            Some(each(value, |it| only(it, &["artifact_id", "artifact_type", "byte_size", "sha256"])))
        }
        _ => None,
    })
}

fn trace<'e>(events: &Val<'e>) -> Val<'e> {
    let shown = |event: &Val<'e>| {
        let kind = event.get("event_type").and_then(Val::as_str)?;
        let (_, keys) = OF_EVENT.iter().find(|it| it.0 == kind)?;
        Some(only(event, keys))
    };
    events.as_list().unwrap_or_default().iter().filter_map(shown).collect()
}

fn without_ids<'e>(call: &Val<'e>) -> Val<'e> {
    members(call, |key, value| (!CALL_IDS.contains(&key)).then(|| value.clone()))
}

/// The members of an object that have one of these keys, in the order of the keys.
fn only<'e>(object: &Val<'e>, keys: &[&'static str]) -> Val<'e> {
    let found = keys.iter().filter_map(|key| Some((Cow::Borrowed(*key), object.get(key)?.clone())));
    Val::Map(found.collect::<Map<'e>>())
}

fn changed<'e>(object: &Val<'e>, key: &str, change: impl Fn(&Val<'e>) -> Val<'e>) -> Val<'e> {
    members(object, |it, value| Some(if it == key { change(value) } else { value.clone() }))
}

/// An object with what becomes of each member; anything else as it is.
fn members<'e>(object: &Val<'e>, part: impl Fn(&str, &Val<'e>) -> Option<Val<'e>>) -> Val<'e> {
    let Val::Map(map) = object else { return object.clone() };
    let left = map.iter().filter_map(|(key, value)| Some((Cow::Owned(key.to_owned()), part(key, value)?)));
    Val::Map(left.collect::<Map<'e>>())
}

fn each<'e>(list: &Val<'e>, change: impl Fn(&Val<'e>) -> Val<'e>) -> Val<'e> {
    list.as_list().map_or_else(|| list.clone(), |items| items.iter().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    #[track_caller]
    fn leaves(kind: EvidenceKind, evidence: &str, rest: &str) {
        let evidence = parse_json(evidence).expect("evidence is JSON").value;
        assert_eq!(answered(&evidence, kind).to_json(), rest);
    }

    #[test]
    fn a_row_is_its_author_s_whatever_its_members_are_called() {
        let row = r#"{"id":7,"model":"m","latency_ms":3,"tool_calls":[{"id":"c1"}]}"#;
        leaves(EvidenceKind::Record, row, row);
        leaves(EvidenceKind::Record, "[1]", "[1]");
    }

    #[test]
    fn a_probe_is_its_row_what_was_sent_and_what_came_back() {
        leaves(
            EvidenceKind::Probe,
            r#"{"question": "Where?", "input": "Where?", "messages": [
                {"role": "assistant", "content": "", "tool_calls": [{"id": "call_8f", "name": "look", "arguments": {"id": 3}}]},
                {"role": "tool", "content": "Lima", "tool_call_id": "call_8f", "name": "look"}],
                "output": "Lima", "parsed": {"id": "lima"}, "tool_calls": [{"id": "call_8f", "name": "look", "arguments": {"id": 3}, "output": "Lima"}],
                "usage": {"input_tokens": 9}, "cost_usd": 0.01, "latency_ms": 320.5, "finish_reason": "stop"}"#,
            r#"{"question":"Where?","input":"Where?","messages":[{"role":"assistant","content":"","tool_calls":[{"name":"look","arguments":{"id":3}}]},{"role":"tool","content":"Lima","name":"look"}],"output":"Lima","parsed":{"id":"lima"},"tool_calls":[{"name":"look","arguments":{"id":3},"output":"Lima"}]}"#,
        );
    }

    #[test]
    fn a_conversation_is_its_turns_without_what_was_read_from_them() {
        leaves(
            EvidenceKind::Scenario,
            r#"{"scenario_id": "s", "status": "completed", "path": ["a"], "turn_count": 1, "history": [
                {"node_id": "a", "question_text": "Where?", "raw_response": "Lima", "parsed": {"city": "Lima"}, "verify_result": true,
                 "rubric": {}, "usage": {"input_tokens": 3}, "cost_usd": 1.5, "tool_calls": [{"tool": "look", "arguments": {}}]}],
                "final_state": {"turn": 1}, "outcome_results": {"ok": true}, "terminal_failure": null, "replicate": 2}"#,
            r#"{"scenario_id":"s","status":"completed","history":[{"node_id":"a","question_text":"Where?","raw_response":"Lima","tool_calls":[{"tool":"look","arguments":{}}]}]}"#,
        );
    }

    #[test]
    fn a_run_of_an_agent_is_what_it_said_did_and_left() {
        leaves(
            EvidenceKind::Run,
            r#"{"identity": {"run_id": "r1", "case_id": "c", "runner_type": "command"}, "status": "success", "timing": {"duration_seconds": 3},
                "request": {"requested_model": "m"}, "provider": {"request_id": "x"}, "usage": {"cost_usd": 1},
                "trace": [{"sequence": 0, "event_type": "runner", "name": "start", "detail": {"model": "m"}},
                          {"sequence": 1, "event_type": "message", "timestamp": "t", "role": "user", "content": "Go"},
                          {"sequence": 2, "event_type": "tool_call", "call_id": "c9", "tool_name": "ls", "raw_arguments": "{}"},
                          {"sequence": 3, "event_type": "tool_result", "call_id": "c9", "status": "success", "output": "a"}],
                "output_artifacts": [{"artifact_id": "o", "artifact_type": "t", "uri": "file:///tmp/1", "sha256": "ff"}],
                "runner_metadata": {"model": "m"}, "final_response": "Done", "tool_calls": [{"call_id": "c9", "name": "ls"}], "workspace": {"added": ["a"]}}"#,
            r#"{"identity":{"case_id":"c"},"status":"success","trace":[{"event_type":"message","role":"user","content":"Go"},{"event_type":"tool_call","tool_name":"ls","raw_arguments":"{}"},{"event_type":"tool_result","status":"success","output":"a"}],"output_artifacts":[{"artifact_id":"o","artifact_type":"t","sha256":"ff"}],"final_response":"Done","tool_calls":[{"name":"ls"}],"workspace":{"added":["a"]}}"#,
        );
    }
}
