//! `final_response_present` and `final_response`: what the run said at its end.

use std::sync::Arc;

use jurat_compare::Assertion;
use jurat_format::value::{Context, Val};

use super::calls::wanted;
use super::decision::{Decided, cannot_tell, mismatch, not_passed};
use super::read::required_comparison;
use super::workspace::{self, looks_of, outside, references, runner, seen_of};
use super::{Look, Needs, Rule, Seen, is_blank, kind};
use crate::comparison;

/// The most that is read of a key output to know whether it says something.
const MOST_KEY_OUTPUT: u64 = 256_000;

/// The runner whose key outputs stand for a final response.
const OPENCLAW: &str = "openclaw";

kind! {
    FINAL_RESPONSE_PRESENT = "final_response_present": "passes if the run has a final response",
    keys: [],
    read: |_, _| Some(Arc::new(FinalResponsePresent)),
    dimensions: ["process"],
    note: "Text that is nothing but space is none. For runs of OpenClaw the last message of the assistant counts too, and so does a key output with text in it.",
}

kind! {
    FINAL_RESPONSE = "final_response": "passes if the final response passes a comparison",
    keys: [comparison::KEYS[0], comparison::KEYS[1], comparison::KEYS[2], comparison::KEYS[3], comparison::KEYS[4]],
    read: |reading, it| {
        let assertion = required_comparison(reading, it, "`final_response` needs an `operator`")?;
        Some(Arc::new(FinalResponse(assertion)))
    },
    dimensions: ["task"],
    note: "`field_path` leads into the text: `@json.total` reads it as JSON. A run that said nothing fails.",
}

#[derive(Debug)]
struct FinalResponsePresent;

impl Rule for FinalResponsePresent {
    fn needs(&self) -> Needs<'_> {
        Needs::Files
    }

    fn looks(&self, evidence: &Val<'_>) -> Vec<Look> {
        if has_response(evidence) {
            return Vec::new();
        }
        key_outputs(evidence).into_iter().flat_map(|it| looks_of(it, MOST_KEY_OUTPUT)).collect()
    }

    fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Decided {
        if evidence.get("trace").is_none() && response(evidence).is_none() {
            return Err(cannot_tell("the evidence has neither a `trace` nor a `final_response`"));
        }
        if has_response(evidence) {
            return Ok(None);
        }
        let outputs = key_outputs(evidence);
        let seen = seen_of(&outputs, MOST_KEY_OUTPUT, seen);
        if seen.iter().any(|(_, seen)| !is_blank(workspace::text(*seen))) {
            return Ok(None);
        }
        outside(&seen)?;
        let n_finals = said(evidence, "final_output").count();
        Ok(Some(mismatch("a final response", if n_finals == 0 { "none" } else { "nothing but space" })))
    }
}

#[derive(Debug)]
struct FinalResponse(Assertion);

impl Rule for FinalResponse {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        if evidence.get("final_response").is_none() && evidence.get("output").is_none() {
            return Err(cannot_tell("the evidence has no `final_response`"));
        }
        let Some(text) = response(evidence) else {
            return Ok(Some(mismatch(format!("a final response: {}", wanted(&self.0)), "none")));
        };
        not_passed(self.0.judge_reply(&Val::from(text), Context::of(evidence))).unwrap_or(Ok(None))
    }
}

/// The texts of events of one kind.
fn said<'e>(evidence: &'e Val<'e>, kind: &'e str) -> impl Iterator<Item = (&'e Val<'e>, &'e str)> {
    let trace = evidence.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    let of_kind = move |it: &&Val<'_>| it.get("event_type").and_then(Val::as_str) == Some(kind);
    trace.iter().filter(of_kind).filter_map(|it| Some((it, it.get("content")?.as_str()?)))
}

/// Whether the trace alone has a final response. An assistant's message is one for `openclaw` only.
fn has_response(evidence: &Val<'_>) -> bool {
    let is_said = |(_, text): (&Val<'_>, &str)| !is_blank(text);
    let by_assistant = |(it, _): &(&Val<'_>, &str)| it.get("role").and_then(Val::as_str) == Some("assistant");
    said(evidence, "final_output").any(is_said)
        || (runner(evidence) == OPENCLAW && said(evidence, "message").filter(by_assistant).any(is_said))
        // What is no run of an agent has its answer elsewhere.
        || (evidence.get("trace").is_none() && response(evidence).is_some_and(|it| !is_blank(it)))
}

/// What was said at the end, as the evidence has it: of a run, or of a question to a model.
fn response<'e>(evidence: &'e Val<'e>) -> Option<&'e str> {
    evidence.get("final_response").or_else(|| evidence.get("output")).and_then(Val::as_str)
}

/// The key outputs that stand for a final response.
fn key_outputs<'e>(evidence: &'e Val<'e>) -> Vec<&'e Val<'e>> {
    let is_key = |it: &&Val<'_>| it.get("artifact_type").and_then(Val::as_str) == Some("openclaw_key_output");
    match runner(evidence) {
        OPENCLAW => references(evidence).iter().filter(is_key).collect(),
        _ => Vec::new(),
    }
}
