//! The judges of a run compared with people: labels matched to cases, and handed to [`jurat_core::calibration`].
//!
//! Cases are found by the index of the run file, so a few hundred labels of a run with a million cases cost a few hundred look-ups, and one pass over a column of verdicts.

mod corrections;
mod judged;
mod matching;
mod probing;
mod sampling;

use jurat_core::calibration::{
    Calibration, Drift, JudgeIdentity, MeasureOptions, Rated, RatedCase, Scale, gold, measure, self_preference,
};
use jurat_core::label::Standing;
use jurat_core::plan::TaskIx;
use jurat_core::suite::TaskKind;
use jurat_format::problem::{Problems, listed};

pub use corrections::corrections;
pub use probing::{ProbeError, ProbeSuite, probe_suite};
pub use sampling::{SampleOptions, queue, queued_task, sample, scale};

use judged::{Judged, agreement_within};
use matching::{Matched, match_labels};

use crate::judge_definition::judge_parts;
use crate::view::{ExplainError, RunView, ViewError};

/// How a judge is compared with people.
#[derive(Debug, Clone, Default)]
pub struct CalibrateOptions {
    /// The task; not needed where one alone is judged.
    pub task: Option<String>,
    /// Whether labels have an order, which is that of the judge's `enum`.
    pub is_ordered: bool,
    pub measure: MeasureOptions,
    /// An earlier calibration to compare with.
    pub earlier: Option<Calibration>,
    /// The moment, in milliseconds since 1970.
    pub now_ms: u64,
}

/// Why a judge cannot be compared with people.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    NoTask(#[from] ExplainError),
    #[error("the run has no task that a judge could be calibrated for")]
    NoJudge,
    #[error("the run has several judges: name one with `--task`: {tasks}")]
    SeveralJudges { tasks: String },
    #[error("`{task}` gave no verdict, label or score in this run")]
    NothingJudged { task: String },
    /// Exit code 5.
    #[error("no label is about a case of this run that `{task}` judged: {why}")]
    NothingLabelled { task: String, why: String },
}

/// Compares the judge of a run with labels. What is wrong with labels is added to `problems`; `None` when something is.
pub fn calibrate(
    view: &RunView,
    labels: &Standing,
    options: &CalibrateOptions,
    problems: &mut Problems,
) -> Result<Option<Calibration>, CalibrateError> {
    let task = task(view, options.task.as_deref())?;
    let name = view.plan().tasks[task.index()].id.clone();
    let judged = Judged::of(view, task, labels, options.is_ordered)?;
    let judged = judged.ok_or_else(|| CalibrateError::NothingJudged { task: name.clone() })?;
    let Matched { rated, annotators, counts } = match_labels(view, &judged, labels, problems)?;
    if problems.n_errors() > 0 {
        return Ok(None);
    }
    if rated.is_empty() {
        let why = format!(
            "{} about cases that it does not have, {} about other answers, {} about cases without a verdict, {} about other tasks, {} without a label",
            counts.unmatched, counts.other_answer, counts.judge_error, counts.other_task, counts.empty
        );
        return Err(CalibrateError::NothingLabelled { task: name, why });
    }
    let (parts, models) = judge_parts(view, task);
    let join = |of: fn(&(String, String)) -> &str| {
        models.iter().map(of).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let judge = JudgeIdentity {
        model: join(|it| &it.0),
        settings: join(|it| &it.1),
        served: judged::served(view, task)?,
        parts: parts.digests(),
    };
    let confidence = options.measure.confidence;
    let figures = measure(&rated, &judged.scale, &annotators, &judged.population, options.measure);
    let cases = rated_cases(&rated, &judged.scale);
    let drift = options
        .earlier
        .as_ref()
        .map(|it| Drift::between(it.run_id.as_deref().unwrap_or_default(), &it.cases, &cases, confidence));
    let has_subjects = view.head().variants.iter().any(|it| !it.subject.is_empty());
    let preference = (has_subjects && !judge.model.is_empty())
        .then(|| self_preference(&rated, &judged.scale, &judge.model, confidence));
    let within = agreement_within(view, task, confidence)?;
    Ok(Some(Calibration {
        version: 1,
        suite: view.head().suite.clone(),
        task: name,
        judge_key: parts.key(),
        judge,
        labels: counts,
        confidence: confidence.level(),
        figures,
        slots: judged::slots(view, task, &models, confidence)?,
        judge_within: within.as_ref().and_then(|it| it.1),
        repetitions: within.map(|it| it.0),
        probes: Vec::new(),
        self_preference: preference,
        drift,
        cases,
        made_at: Some(Calibration::moment(options.now_ms)),
        run_id: Some(view.head().id.clone()),
    }))
}

fn rated_cases(rated: &[Rated], scale: &Scale) -> Vec<RatedCase> {
    let mut cases: Vec<RatedCase> = rated
        .iter()
        .map(|it| RatedCase {
            case: it.case.clone(),
            people: gold(&it.people, scale).map(|it| scale.shown(it)),
            judge: scale.shown(it.judge),
        })
        .collect();
    cases.sort_by(|one, other| one.case.cmp(&other.case));
    cases
}

/// The task that is meant: the one that is named, else the only one that a judge decides, else the only one that may be right or wrong.
fn task(view: &RunView, name: Option<&str>) -> Result<TaskIx, CalibrateError> {
    if let Some(name) = name {
        return Ok(view.task(name, &[])?);
    }
    let tasks = || view.plan().task_ixs().zip(&view.suite().tasks);
    let judges: Vec<TaskIx> = tasks().filter(|it| matches!(it.1.kind, TaskKind::Judge(_))).map(|it| it.0).collect();
    let others: Vec<TaskIx> = tasks().map(|it| it.0).collect();
    match if judges.is_empty() { others } else { judges }.as_slice() {
        [] => Err(CalibrateError::NoJudge),
        [one] => Ok(*one),
        several => {
            let names: Vec<&str> = several.iter().map(|it| view.plan().tasks[it.index()].id.as_str()).collect();
            Err(CalibrateError::SeveralJudges { tasks: listed(names) })
        }
    }
}
