//! A run as one JSON document.
//!
//! ```json
//! {"version":1,"results":{"suite":"…","counts":{},"tasks":[],"cases":[]},"observed":{"run_id":"…"}}
//! ```
//!
//! `results` holds what a replay of the run reproduces byte for byte, `observed` what it does not. Members stand in a fixed order and
//! what is absent is left out, apart from rates, which are `null` when nothing was judged. Cases pass through one by one; what is
//! observed of a single case would have to be held until the last, so it is in JSON lines and CSV only.

use std::io::{self, Write};

use jurat_core::effect::Usage;
use jurat_core::report::{
    CaseCounts, CaseReport, Cause, DimensionTotal, Disagreement, Independence, Observed, OutputReport, RunReport,
    SliceTotal, Spent, SubjectTotal, TaskReport, TaskTotal, gate_name, interval,
};
use jurat_core::statistics::Interval;
use jurat_core::verdict::{CaseVerdict, Counts, Decision, Rule, RuleStanding};

use crate::case_writer::{CaseWriter, Scope};
use crate::columns::{millis, total};
use crate::corrected;
use crate::instant::instant;
use crate::json_text::{Members, object, objects, open_object};
use crate::repetition::write_repetition;
use crate::scenario::write_total;
use crate::stopping::write_stopped;

/// The version of this shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes a run as one JSON document.
pub struct JsonWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    scope: Scope,
    is_first: bool,
}

impl<'r> JsonWriter<'r> {
    /// Begins a run: writes everything that is known of it as a whole.
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, scope: Scope) -> io::Result<JsonWriter<'r>> {
        let mut head = String::new();
        open_object(&mut head, |document| {
            document.number("version", VERSION);
            document.open_object("results", |results| {
                write_run(results, run);
                results.open_list("cases");
            });
        });
        out.write_all(head.as_bytes())?;
        Ok(JsonWriter { out, run, scope, is_first: true })
    }
}

impl CaseWriter for JsonWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let tasks: Vec<(&TaskTotal, &TaskReport)> =
            case.tasks.iter().map(|it| Ok((total(self.run, case, it)?, it))).collect::<io::Result<_>>()?;
        let mut text = String::from(if self.is_first { "\n" } else { ",\n" });
        self.is_first = false;
        object(&mut text, |members| write_case(members, case, &tasks));
        self.out.write_all(text.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        let mut tail = String::from("]}");
        // What calibrations say is no part of the results: a replay has a name of its own, and calibrations are made after runs.
        if self.scope.has_observed() && !self.run.corrected.is_empty() {
            tail.push_str(",\"corrected\":");
            objects(&mut tail, &self.run.corrected, corrected::write_total);
        }
        if self.scope.has_observed() {
            tail.push_str(",\"observed\":");
            object(&mut tail, |observed| write_observed(observed, &self.run.observed));
        }
        tail.push_str("}\n");
        self.out.write_all(tail.as_bytes())?;
        self.out.flush()
    }
}

fn write_run(results: &mut Members<'_>, run: &RunReport) {
    results.text("suite", &run.suite);
    results.text("suite_hash", &run.suite_hash);
    optional(run.description.as_deref(), |it| results.text("description", it));
    results.number("repeat", u64::from(run.repeat.max(1)));
    optional(run.repetition.as_ref(), |it| results.object("repetition", |members| write_repetition(members, it)));
    results.flag("complete", run.is_complete());
    optional(run.stopped, |it| results.text("stopped", it.name()));
    optional(run.stopped_early.as_ref(), |it| results.object("stopped_early", |members| write_stopped(members, it)));
    optional(run.fault.as_deref(), |it| results.text("error", it));
    results.object("case_counts", |it| write_case_counts(it, &run.cases));
    results.object("counts", |it| write_totals(it, &run.counts, run.independence));
    results.object("usage", |it| write_usage(it, &run.usage));
    optional(run.cost_usd, |it| results.float("cost_usd", it));
    if run.n_unpriced > 0 {
        results.number("unpriced", run.n_unpriced);
    }
    results.object("decision", |it| write_decision(it, &run.decision));
    let missed: Vec<String> = run.decision.missed().map(str::to_owned).collect();
    results.texts("missed", &missed);
    results.objects_if_any("causes", &run.causes, write_cause);
    if run.n_other_errors > 0 {
        results.number("other_errors", run.n_other_errors);
    }
    results.objects("tasks", &run.tasks, write_task_total);
    results.objects_if_any("dimensions", &run.dimensions, write_dimension);
    results.objects("slices", &run.slices, write_slice);
    results.objects("subjects", &run.subjects, write_subject);
    if run.n_disagreements > 0 {
        results.number("disagreements", run.n_disagreements);
        results.objects("first_disagreements", &run.disagreements, write_disagreement);
    }
    results.objects_if_any("scenarios", &run.scenarios, write_total);
}

fn write_decision(members: &mut Members<'_>, decision: &Decision) {
    members.text("conclusion", decision.conclusion.name());
    members.text("sentence", &decision.sentence);
    members.objects("rules", &decision.rules, write_rule);
    if !decision.notes.is_empty() {
        members.texts("notes", &decision.notes);
    }
}

fn write_rule(members: &mut Members<'_>, rule: &Rule) {
    members.text("rule", &rule.name);
    optional(rule.bound.at_least, |it| members.float("at_least", it));
    optional(rule.bound.at_most, |it| members.float("at_most", it));
    members.or_null("found", rule.found, Members::float);
    match rule.standing {
        RuleStanding::Met => members.flag("met", true),
        RuleStanding::Missed => members.flag("met", false),
        RuleStanding::Unknown => members.null("met"),
    }
    members.text("sentence", &rule.sentence);
}

fn write_task_total(members: &mut Members<'_>, task: &TaskTotal) {
    members.text("task", &task.id);
    members.text("kind", &task.kind);
    write_gate(members, task);
    members.number("stage", task.stage as u64);
    optional(task.description.as_deref(), |it| members.text("description", it));
    optional(task.path.as_deref(), |it| members.text("path", it));
    optional(task.operator.as_deref(), |it| members.text("operator", it));
    optional(task.scenario.as_deref(), |it| members.text("scenario", it));
    members.object("counts", |it| write_totals(it, &task.counts, task.independence));
    optional(task.score, |score| {
        members.object("score", |it| {
            it.number("n", score.n);
            it.float("mean", score.mean);
        });
    });
    if !task.labels.is_empty() {
        members.objects("labels", &task.labels, |it, (label, n)| {
            it.text("label", label);
            it.number("n", *n);
        });
    }
}

fn write_cause(members: &mut Members<'_>, cause: &Cause) {
    members.number("cases", cause.n_cases);
    members.text("message", &cause.message);
    optional(cause.role.as_deref(), |it| members.text("role", it));
    optional(cause.key_env.as_deref(), |it| members.text("key_env", it));
    optional(cause.remedy.as_deref(), |it| members.text("remedy", it));
    members.texts("tasks", &cause.tasks);
    members.texts("first_cases", &cause.cases);
}

fn write_dimension(members: &mut Members<'_>, dimension: &DimensionTotal) {
    members.text("dimension", &dimension.name);
    optional(dimension.score(), |it| members.float("score", it));
    optional(dimension.judged, |it| {
        members.object("judged", |members| {
            members.number("n", it.n);
            members.float("mean", it.mean);
            write_interval(members, it.interval);
        });
    });
    members.object("counts", |it| write_totals(it, &dimension.counts, dimension.independence));
}

fn write_slice(members: &mut Members<'_>, slice: &SliceTotal) {
    members.text("path", &slice.path);
    members.or_null("value", slice.value.as_deref(), Members::text);
    members.object("counts", |it| write_totals(it, &slice.counts, slice.independence));
}

fn write_subject(members: &mut Members<'_>, subject: &SubjectTotal) {
    optional(subject.prompt.as_deref(), |it| members.text("prompt", it));
    optional(subject.subject.as_deref(), |it| members.text("subject", it));
    members.object("case_counts", |it| write_case_counts(it, &subject.cases));
    members.object("counts", |it| write_totals(it, &subject.counts, subject.independence));
    members.objects("task_counts", &subject.tasks, write_counts);
    members.object("usage", |it| write_usage(it, &subject.usage));
    optional(subject.cost_usd, |it| members.float("cost_usd", it));
    if subject.n_unpriced > 0 {
        members.number("unpriced", subject.n_unpriced);
    }
    optional(subject.latency, |it| members.float("mean_latency_ms", millis(it)));
}

fn write_disagreement(members: &mut Members<'_>, disagreement: &Disagreement) {
    members.text("case", &disagreement.case);
    let words = |it: &Vec<CaseVerdict>| it.iter().map(|it| it.name()).collect::<Vec<_>>().join(" ");
    let verdicts: Vec<String> = disagreement.verdicts.iter().map(words).collect();
    members.texts("verdicts", &verdicts);
}

fn write_case(members: &mut Members<'_>, case: &CaseReport, tasks: &[(&TaskTotal, &TaskReport)]) {
    members.text("id", &case.id);
    optional(case.prompt.as_deref(), |it| members.text("prompt", it));
    optional(case.subject.as_deref(), |it| members.text("subject", it));
    optional(case.replicate, |it| members.number("replicate", u64::from(it)));
    optional(case.data.source.as_deref(), |it| members.text("source", it));
    optional(case.data.row_number, |it| members.number("row_number", it));
    members.text("verdict", case.verdict.name());
    optional(Some(&*case.message).filter(|it| !it.is_empty()), |it| members.text("message", it));
    members.object("counts", |it| write_counts(it, &case.counts));
    optional(case.data.row.as_ref(), |it| members.value("row", it));
    optional(case.data.input.as_ref(), |it| members.value("input", it));
    optional(case.data.output.as_ref(), |it| members.value("output", it));
    optional(case.evidence.as_deref(), |it| members.text("evidence", it));
    optional(case.usage, |usage| members.object("usage", |it| write_usage(it, &usage)));
    optional(case.cost_usd, |it| members.float("cost_usd", it));
    members.list("tasks", tasks, |text, (total, task)| object(text, |it| write_task(it, total, task)));
}

fn write_task(members: &mut Members<'_>, total: &TaskTotal, task: &TaskReport) {
    members.text("task", &total.id);
    members.text("kind", &total.kind);
    write_gate(members, total);
    members.number("stage", total.stage as u64);
    members.text("verdict", task.verdict.name());
    optional(total.path.as_deref(), |it| members.text("path", it));
    optional(total.operator.as_deref(), |it| members.text("operator", it));
    optional(task.expected.as_ref(), |it| members.value("expected", it));
    optional(task.actual.as_ref(), |it| members.value("actual", it));
    optional(task.label.as_deref(), |it| members.text("label", it));
    optional(task.score, |it| members.float("score", it));
    optional(task.explanation.as_deref(), |it| members.text("explanation", it));
    members.objects_if_any("outputs", &task.outputs, write_output);
    optional(Some(&*task.message).filter(|it| !it.is_empty()), |it| members.text("message", it));
    optional(task.usage, |usage| members.object("usage", |it| write_usage(it, &usage)));
    optional(task.cost_usd, |it| members.float("cost_usd", it));
    optional(task.latency, |it| members.float("latency_ms", millis(it)));
}

fn write_output(members: &mut Members<'_>, output: &OutputReport) {
    members.text("name", &output.name);
    members.text("verdict", output.verdict().name());
    optional(output.label.as_deref(), |it| members.text("label", it));
    optional(output.score, |it| members.float("score", it));
    optional(output.explanation.as_deref(), |it| members.text("explanation", it));
    optional(Some(&*output.message).filter(|it| !it.is_empty()), |it| members.text("message", it));
}

fn write_gate(members: &mut Members<'_>, task: &TaskTotal) {
    let name = gate_name(task.gate);
    if !name.is_empty() {
        members.text("gate", name);
    }
}

fn write_counts(members: &mut Members<'_>, counts: &Counts) {
    members.number("total", counts.total());
    members.number("passed", counts.passed);
    members.number("failed", counts.failed);
    members.number("measured", counts.measured);
    members.number("skipped", counts.skipped);
    members.number("error", counts.errored);
    members.number("not_run", counts.not_run);
    members.or_null("pass_rate", counts.pass_rate(), Members::float);
}

/// The counts of many cases, with how sure their rate is.
fn write_totals(members: &mut Members<'_>, counts: &Counts, independence: Independence) {
    write_counts(members, counts);
    write_interval(members, interval(counts, independence));
}

pub(crate) fn write_interval(members: &mut Members<'_>, interval: Option<Interval>) {
    optional(interval, |Interval { low, high }| {
        members.object("interval", |it| {
            it.float("low", low);
            it.float("high", high);
        });
    });
}

fn write_case_counts(members: &mut Members<'_>, counts: &CaseCounts) {
    members.number("total", counts.total());
    for (verdict, n) in counts.each() {
        members.number(verdict.name(), n);
    }
}

/// Tokens, wherever they are written.
pub(crate) fn write_usage(members: &mut Members<'_>, usage: &Usage) {
    members.number("input", usage.input);
    members.number("output", usage.output);
    members.number("cached", usage.cached);
    members.number("reasoning", usage.reasoning);
    // Few providers say it, and results without it stay as they were.
    if usage.cache_write > 0 {
        members.number("cache_write", usage.cache_write);
    }
}

fn write_observed(members: &mut Members<'_>, observed: &Observed) {
    members.text("run_id", &observed.run_id);
    members.text("file", &observed.file);
    members.text("started_at", &instant(observed.started_at_ms));
    members.float("wall_ms", millis(observed.wall));
    members.number("answers", observed.n_answers);
    members.number("reused", observed.n_reused);
    members.number("shared", observed.n_shared);
    optional(observed.reused_cost_usd, |it| members.float("reused_cost_usd", it));
    optional(observed.oldest_reused_ms, |it| members.text("oldest_reused_at", &instant(it)));
    members.texts("served_by", &observed.served_by);
    members.number("tool_calls", observed.n_tool_calls);
    members.number("reused_tool_calls", observed.n_reused_tool_calls);
    optional(observed.spent, |spent| members.object("spent", |it| write_spent(it, &spent)));
    members.number("requests", observed.n_requests);
    members.number("failed_requests", observed.n_failed_requests);
    members.number("truncated", observed.n_truncated);
    members.flag("resumed", observed.resumed);
    optional(observed.replay_of.as_deref(), |it| members.text("replay_of", it));
    if observed.unsafe_code {
        members.flag("unsafe_code", true);
    }
    members.texts("notes", &observed.notes);
}

/// What the run spent itself; responses that it reused are not in it.
fn write_spent(members: &mut Members<'_>, spent: &Spent) {
    members.number("responses", spent.n_responses);
    members.object("usage", |it| write_usage(it, &spent.usage));
    optional(spent.cost_usd, |it| members.float("cost_usd", it));
    if spent.n_unpriced > 0 {
        members.number("unpriced", spent.n_unpriced);
    }
}

/// Writes what there is, and nothing where there is nothing.
pub(crate) fn optional<T>(there: Option<T>, write: impl FnOnce(T)) {
    if let Some(it) = there {
        write(it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn written(usage: Usage, expected: &str) {
        let mut text = String::new();
        crate::json_text::object(&mut text, |it| write_usage(it, &usage));
        assert_eq!(text, expected);
    }

    #[test]
    fn tokens_that_were_written_into_a_cache_are_named() {
        let usage = Usage { input: 9, output: 4, cached: 1, reasoning: 2, cache_write: 3 };
        written(usage, r#"{"input":9,"output":4,"cached":1,"reasoning":2,"cache_write":3}"#);
        let usage = Usage { cache_write: 0, ..usage };
        written(usage, r#"{"input":9,"output":4,"cached":1,"reasoning":2}"#);
    }
}
