//! What formats of other programs share: JSON written piece by piece, moments and what a case was about.

use std::io::{self, Write};

use jiff::Timestamp;
use jurat_core::report::{CaseReport, RunReport, TaskReport, TaskVerdict};
use jurat_format::value::{Map, Val, Value};
use jurat_report::Scope;

/// An object of values that may be absent.
pub(super) fn object<const N: usize>(members: [(&'static str, Option<Value>); N]) -> Value {
    let there = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
    Val::Map(there.collect::<Map<'static>>())
}

pub(super) fn text(text: impl Into<String>) -> Option<Value> {
    Some(Val::from(text.into()))
}

/// A number, unless it is not finite: JSON has none of those.
pub(super) fn number(number: f64) -> Option<Value> {
    number.is_finite().then_some(Val::F(number))
}

pub(super) fn count(count: u64) -> Option<Value> {
    Some(i64::try_from(count).map_or(Val::U(count), Val::I))
}

/// A value as people read it: text as it is, anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

/// When a run began. What a replay reproduces has no moments, and other programs need one.
pub(super) fn started(run: &RunReport, scope: Scope) -> Timestamp {
    let ms = if scope == Scope::ResultsOnly { 0 } else { run.observed.started_at_ms };
    i64::try_from(ms).ok().and_then(|it| Timestamp::from_millisecond(it).ok()).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The id of a run, which is the same for equal results where only those are written.
pub(super) fn run_id(run: &RunReport, scope: Scope) -> String {
    if scope == Scope::ResultsOnly { run.suite_hash.chars().take(16).collect() } else { run.observed.run_id.clone() }
}

/// What a case was asked and what came back, as far as it is known.
pub(super) fn asked_and_answered(case: &CaseReport) -> (Option<Value>, Option<Value>) {
    let row = |names: &[&str]| {
        let row = case.data.row.as_ref()?;
        names.iter().find_map(|it| row.get(it)).cloned()
    };
    let input = case.data.input.clone().or_else(|| row(&["input", "question", "prompt", "query", "user_input"]));
    let output = case.data.output.clone().or_else(|| row(&["output", "answer", "response", "agent_response"]));
    (input, output)
}

/// The number that stands for a task: its score, else 1 or 0 for passed or failed.
pub(super) fn score(task: &TaskReport) -> Option<f64> {
    let of_verdict = match task.verdict {
        TaskVerdict::Passed => Some(1.0),
        TaskVerdict::Failed => Some(0.0),
        _ => None,
    };
    task.score.or(of_verdict)
}

/// Why a task ended as it did: the words of its judge, and ours.
pub(super) fn explanation(task: &TaskReport) -> Option<String> {
    let ours = Some(task.message.as_str()).filter(|it| !it.is_empty());
    let parts: Vec<&str> = ours.into_iter().chain(task.explanation.as_deref()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Writes items of a list one after the other.
#[derive(Default)]
pub(super) struct Items {
    n_items: u64,
}

impl Items {
    pub(super) fn write(&mut self, out: &mut dyn Write, item: &Value) -> io::Result<()> {
        let before = if self.n_items == 0 { "\n" } else { ",\n" };
        self.n_items += 1;
        write!(out, "{before}{}", item.to_json())
    }
}
