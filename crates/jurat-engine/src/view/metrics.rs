//! What the thresholds of a suite are compared with: counts from the summary, metrics of scores from their columns, latencies from the recorded
//! answers. Only what some threshold asks for is read, and none of it is held in memory.

use jurat_core::effect::wire::read_outcome;
use jurat_core::effect::{Asker, FaultClass, Outcome, Slot};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::report::RunReport;
use jurat_core::statistics::quantile;
use jurat_core::suite::Statistic;
use jurat_core::verdict::{Decision, Metrics, Sample, StopReason, TaskMetrics};
use jurat_format::id::same_id;
use jurat_store::run::{Column, StoredEffect};

use super::{RunView, ViewError};
use crate::RunError;
use crate::tally::latency;

/// Whether a run passed, by the thresholds of its suite.
pub(super) fn decision(view: &RunView, report: &RunReport) -> Result<Decision, ViewError> {
    let thresholds = &view.suite.thresholds;
    let tasks = view.plan.task_ixs().zip(&report.tasks).map(|(ix, task)| {
        Ok(TaskMetrics {
            id: &task.id,
            scenario: task.scenario.as_deref().filter(|_| report.scenarios.len() > 1),
            is_counted: task.is_counted(),
            counts: task.counts,
            scores: scores(view, ix, &task.id)?,
        })
    });
    let stopped_by = match report.stopped {
        Some(StopReason::EndpointFault) => first_fatal_fault(view)?,
        _ => None,
    };
    let metrics = Metrics {
        cases: report.cases,
        counts: report.counts,
        tasks: tasks.collect::<Result<_, ViewError>>()?,
        cost_usd: report.cost_usd,
        n_unpriced: report.n_unpriced,
        latency: latencies(view)?,
        stopped: report.stopped,
        stopped_by: stopped_by.as_deref(),
        missing: report.fault.as_deref(),
    };
    Ok(Decision::of(thresholds, &metrics))
}

/// The fault that stopped a run, in words: the first in the order of cases, so that a replay finds the same.
fn first_fatal_fault(view: &RunView) -> Result<Option<String>, ViewError> {
    for effect in view.reader.effects() {
        let outcome = outcome_of(&effect?)?;
        if let Some((class, cause)) = fatal_fault(outcome) {
            let remedy = class.remedy().map_or_else(String::new, |it| format!("; {it}"));
            return Ok(Some(format!("every request fails: {cause}{remedy}")));
        }
    }
    Ok(None)
}

/// A fault that every further request would meet, in words.
fn fatal_fault(outcome: Outcome) -> Option<(FaultClass, String)> {
    let (class, cause) = match outcome {
        Outcome::Fault(mut fault) => {
            // Whether the request would have been made once more says nothing about the cause.
            if let Some(last) = fault.failed.pop() {
                fault.message = last.message;
            }
            (fault.class, fault.cause())
        }
        of_agent => of_agent.endpoint_fault().map(|(class, message)| (class, message.to_owned()))?,
    };
    class.is_fatal().then_some((class, cause))
}

/// The metrics of a task's scores that thresholds ask for.
fn scores(view: &RunView, task: TaskIx, id: &str) -> Result<Sample, ViewError> {
    let own = view.suite.thresholds.tasks.iter().filter(|it| same_id(&it.task.value, id));
    let wanted: Vec<Statistic> = own.flat_map(|it| it.score.iter().map(|(statistic, _)| statistic.value)).collect();
    sample(&wanted, |take| Ok(view.reader.each_score(Column::from(task), take)?))
}

/// The metrics of the time that the subject took for each case.
fn latencies(view: &RunView) -> Result<Sample, ViewError> {
    let limits = view.suite.thresholds.latency.iter().flat_map(|it| &it.value);
    let wanted: Vec<Statistic> = limits.map(|(statistic, _)| *statistic).collect();
    sample(&wanted, |take| each_latency(view, take))
}

/// Metrics of numbers that are read again for each of them.
fn sample(
    wanted: &[Statistic],
    mut each: impl FnMut(&mut dyn FnMut(f64)) -> Result<(), ViewError>,
) -> Result<Sample, ViewError> {
    let mut sample = Sample::default();
    if wanted.is_empty() {
        return Ok(sample);
    }
    // Whole billionths, so that the order in which cases were done does not show.
    let mut nanos: i128 = 0;
    each(&mut |number| {
        sample.n += 1;
        nanos += (number * 1e9).round() as i128;
    })?;
    for statistic in wanted {
        let value = match statistic {
            Statistic::Mean => (sample.n > 0).then(|| nanos as f64 / 1e9 / sample.n as f64),
            Statistic::Quantile(share) => quantile(*share, &mut each)?,
        };
        sample.values.extend(value.map(|it| (*statistic, it)));
    }
    Ok(sample)
}

/// How long the subject took for each case in which it answered, in seconds: all its answers together.
fn each_latency(view: &RunView, take: &mut dyn FnMut(f64)) -> Result<(), ViewError> {
    let mut last: Option<(CaseIx, f64)> = None;
    for effect in view.reader.effects() {
        let effect = effect?;
        let Some(seconds) = seconds_of_subject(&effect)? else { continue };
        last = Some(match last {
            Some((case_ix, before)) if case_ix == effect.case_ix => (case_ix, before + seconds),
            Some((_, whole)) => {
                take(whole);
                (effect.case_ix, seconds)
            }
            None => (effect.case_ix, seconds),
        });
    }
    last.into_iter().for_each(|(_, whole)| take(whole));
    Ok(())
}

fn seconds_of_subject(effect: &StoredEffect) -> Result<Option<f64>, ViewError> {
    let is_subject = matches!(effect.site.asker, Asker::Case | Asker::Turn(_))
        && Slot::numbered(effect.site.slot) == Some(Slot::Subject);
    if !is_subject {
        return Ok(None);
    }
    Ok(latency(&outcome_of(effect)?).map(|it| it.as_secs_f64()))
}

fn outcome_of(effect: &StoredEffect) -> Result<Outcome, ViewError> {
    read_outcome(&effect.kind, &effect.outcome).map_err(|it| ViewError::Run(RunError::from(it)))
}
