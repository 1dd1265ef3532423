//! What is reported of a task of a case: the same for a case that was just judged and for one that is read back from a run.

use std::time::Duration;

use jurat_core::case::CaseState;
use jurat_core::effect::{Outcome, StepSite, Usage};
use jurat_core::evaluator::{Evaluation, OutputConfig};
use jurat_core::plan::{Plan, TaskIx};
use jurat_core::report::{OutputReport, TaskReport, TaskVerdict};
use jurat_core::suite::Task;

use jurat_core::verdict::{SkipReason, StopReason, Verdict};
use jurat_format::value::Val;

use crate::tally::taken;

/// What is known of a task by its verdict alone.
pub(crate) fn concluded(plan: &Plan, task: TaskIx, verdict: &Verdict) -> TaskReport {
    let mut report = TaskReport::new(task.index(), TaskVerdict::from(verdict));
    report.message = message(plan, verdict);
    report
}

/// The report with what the task expected and found, and what its judge or evaluator gave.
pub(crate) fn completed(mut report: TaskReport, plan: &Plan, written: &Task, state: &CaseState<'_>) -> TaskReport {
    let task = TaskIx(report.task as u32);
    if !matches!(report.verdict, TaskVerdict::Skipped | TaskVerdict::NotRun) {
        report.expected = written.comparison.as_ref().and_then(|it| state.expected(task, it));
        report.actual = state.compared(task);
    }
    if let Some(reply) = state.result(task).and_then(|it| it.output.as_ref()) {
        let marks = state.marks(task).unwrap_or_default();
        report.label = marks.label;
        report.score = marks.score;
        report.explanation = marks.explanation;
        if report.verdict == TaskVerdict::Measured {
            report.actual = Some(reply.clone());
        }
        report.reply = Some(reply.clone());
    }
    report.outputs = output_reports(plan, state, task);
    report
}

/// The report with what the outcomes of the task took: the site of each, itself, and whether it was there before.
pub(crate) fn with_outcomes<'o>(
    mut report: TaskReport,
    happened: impl Iterator<Item = (StepSite, &'o Outcome, bool)>,
) -> TaskReport {
    let task = TaskIx(report.task as u32);
    let own: Vec<_> = happened.filter(|(site, ..)| site.asker.task() == Some(task)).collect();
    let outcomes = || own.iter().map(|(_, it, _)| *it);
    report.usage = total_usage(outcomes());
    report.cost_usd = total_cost(outcomes());
    report.latency = total_latency(outcomes());
    report.n_requests = outcomes().map(n_requests).sum();
    report.reused = !own.is_empty() && own.iter().all(|(.., is_reused)| *is_reused);
    report
}

/// What there is to say about a verdict, in our words.
pub(crate) fn message(plan: &Plan, verdict: &Verdict) -> String {
    let id = |task: TaskIx| plan.tasks.get(task.index()).map_or("a task", |it| it.id.as_str());
    match verdict {
        Verdict::Failed(mismatch) => mismatch.to_string(),
        Verdict::Error(reason) => reason.0.clone(),
        Verdict::Skipped(SkipReason::GateFailed(gate)) => format!("gate `{}` failed", id(*gate)),
        Verdict::Skipped(SkipReason::Errored(task)) => format!("`{}` could not be judged", id(*task)),
        Verdict::NotRun(reason) => stop_words(*reason).to_owned(),
        Verdict::Passed | Verdict::Measured => String::new(),
    }
}

/// The result of each output of a task's evaluator, where it has several: one alone is the task's own.
fn output_reports(plan: &Plan, state: &CaseState<'_>, task: TaskIx) -> Vec<OutputReport> {
    let planned = &plan.tasks[task.index()];
    if let Some(evaluation) = planned.work.evaluation() {
        let output = state.result(task).and_then(|it| it.output.as_ref());
        let dimensions = evaluation.profile.dimensions.iter();
        return dimensions.filter_map(|it| dimension_report(&planned.id, it, output?)).collect();
    }
    let configs = planned.work.evaluate().map(|it| it.outputs.as_slice()).filter(|it| it.len() > 1);
    let evaluations = configs.unwrap_or_default().iter().zip(state.evaluations(task));
    let report = |(config, evaluation): (&OutputConfig, &Evaluation)| {
        let triple = evaluation.result.as_ref().ok().cloned().unwrap_or_default();
        OutputReport {
            name: format!("{}.{}", planned.id, config.name),
            label: triple.label,
            score: triple.score,
            explanation: triple.explanation,
            message: evaluation.result.as_ref().err().map(ToString::to_string).unwrap_or_default(),
        }
    };
    evaluations.map(report).collect()
}

/// What an evaluation says about one dimension: the judge's score, and beside it what checks come to.
fn dimension_report(task: &str, name: &str, output: &Val<'_>) -> Option<OutputReport> {
    let part = output.get("dimensions")?.get(name)?;
    let number = |of: &Val<'_>, key: &str| of.get(key).and_then(Val::as_f64);
    let (judge, checks) = (part.get("judge")?, part.get("checks")?);
    let mut parts: Vec<String> = Vec::new();
    if let Some(stdev) = number(judge, "stdev") {
        let (low, high) = (number(judge, "min")?, number(judge, "max")?);
        parts.push(format!("judges from {low} to {high}, standard deviation {stdev:.2}"));
    }
    let count = |key: &str| number(checks, key).unwrap_or(0.0);
    let decided = count("passed") + count("failed");
    if let Some(score) = number(checks, "score") {
        parts.push(format!("checks {} of {decided} passed, which is {score:.1}", count("passed")));
    }
    if count("error") > 0.0 {
        parts.push(format!("{} of the checks could not be decided", count("error")));
    }
    let score = number(part, "score")?;
    if number(judge, "score").is_some_and(|it| it != score) {
        parts.push(format!("the judge said {}, and a failed check changed it", number(judge, "score")?));
    }
    let evidence = part.get("evidence").and_then(Val::as_list).unwrap_or(&[]);
    let evidence: Vec<&str> = evidence.iter().filter_map(Val::as_str).collect();
    if !evidence.is_empty() {
        parts.push(evidence.join("; "));
    }
    Some(OutputReport {
        name: format!("{task}.{name}"),
        label: None,
        score: Some(score),
        explanation: (!parts.is_empty()).then(|| parts.join("; ")),
        message: String::new(),
    })
}

pub(crate) fn total_usage<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<Usage> {
    let mut total: Option<Usage> = None;
    for outcome in outcomes {
        match outcome {
            Outcome::Answer(answer) if answer.usage.is_none() => {}
            outcome => {
                if let Some((usage, _)) = taken(outcome) {
                    total.get_or_insert_default().merge(&usage);
                }
            }
        }
    }
    total
}

pub(crate) fn total_cost<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<f64> {
    let costs = outcomes.filter_map(|it| taken(it).and_then(|(_, cost)| cost));
    let nano: Vec<u64> = costs.map(|it| (it * 1e9).round() as u64).collect();
    nano.into_iter().reduce(u64::saturating_add).map(|it| it as f64 / 1e9)
}

fn total_latency<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<Duration> {
    let mut total: Option<Duration> = None;
    for outcome in outcomes {
        if let Outcome::Answer(answer) = outcome {
            *total.get_or_insert_default() += answer.latency;
        }
    }
    total
}

fn n_requests(outcome: &Outcome) -> u32 {
    match outcome {
        Outcome::Answer(answer) => answer.n_requests,
        Outcome::Fault(fault) => fault.n_requests,
        Outcome::Returned(_) | Outcome::Ran(_) | Outcome::NotRun(_) => 0,
    }
}

/// Why something was not run, in words.
pub(crate) fn stop_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Budget => "the rest of the budget does not cover it",
        StopReason::Deadline => "the time limit came first",
        StopReason::FailFast => "something failed before it, and the run was to stop then",
        StopReason::Interrupted => "the run was interrupted",
        StopReason::EndpointFault => "the endpoint fails every request, and the run was stopped",
        StopReason::Decided => "enough was known before it",
    }
}
