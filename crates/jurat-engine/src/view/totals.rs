//! The run as a whole, from what its writer counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use jurat_core::check::DIMENSIONS;
use jurat_core::plan::TaskIx;
use jurat_core::report::{
    CaseCounts, DimensionTotal, Independence, JudgedScore, Mean, Observed, RunReport, SliceTotal, SubjectTotal,
    TaskTotal,
};
use jurat_core::statistics::{Confidence, Interval, mean_interval};
use jurat_core::suite::{Gate, Task};
use jurat_core::verdict::{Counts, Decision, StopReason};
use jurat_format::problem::listed_all;
use jurat_store::run::{Code, Column, Ended, StoredSummary};
use serde::de::DeserializeOwned;

use super::causes::{Causes, causes};
use super::disagreements::disagreements;
use super::independence::independence;
use super::{RunView, ViewError};
use crate::options::RecordedOptions;
use crate::shard::missing_words;
use crate::slice::Slice;
use crate::tally::{Given, Scores, Taken, Whole};

pub(super) fn report(view: &RunView) -> Result<RunReport, ViewError> {
    let summary = view.reader.summary()?;
    let whole: Vec<&StoredSummary> = summary.iter().filter(|it| it.slice.is_empty()).collect();
    let of_run: Option<Whole> = whole.iter().find(|it| it.column == Column::CASE).and_then(|it| taken(it));
    let all = of_run.as_ref().map(|it| it.taken.all).unwrap_or_default();
    let tasks = task_totals(view, &whole)?;
    let counted: Vec<Column> = counted_tasks(view);
    let mut report = RunReport {
        suite: view.reader.head().suite.clone(),
        suite_hash: view.reader.head().suite_hash.clone(),
        description: view.suite.description.clone(),
        repeat: view.reader.head().variants.iter().map(|it| it.replicate + 1).max().unwrap_or(1),
        repetition: view.repetition(&[])?,
        tasks,
        dimensions: dimensions(view, &whole)?,
        names_dimensions: !view.suite.dimensions.is_empty()
            || view.suite.tasks.iter().any(|it| !it.dimensions.is_empty()),
        slices: slices(view, &summary, counted.len()),
        subjects: subjects(view, &summary, &counted)?,
        disagreements: Vec::new(),
        n_disagreements: 0,
        scenarios: super::scenarios::totals(view)?,
        has_agents: !view.plan.cases.is_empty(),
        counts: counts(&gates(view), &whole),
        independence: independence(view, &counted, |_| true)?,
        corrected: Vec::new(),
        cases: cases(&whole),
        usage: all.usage(),
        cost_usd: all.cost_usd(),
        n_unpriced: all.unpriced,
        decision: Decision::default(),
        causes: Vec::new(),
        n_other_errors: 0,
        n_errors_without_task: 0,
        stopped: None,
        stopped_early: view.stopped_early()?,
        fault: fault(view)?,
        observed: observed(view, of_run.as_ref())?,
    };
    if report.stopped_early.is_some() {
        report.slices.iter_mut().for_each(|it| it.independence = Independence::Unknown);
    }
    report.stopped = stopped(view.reader.state()?.finish.map(|it| it.ended), &report.counts, &report.cases);
    (report.disagreements, report.n_disagreements) = disagreements(view, &report.subjects)?;
    if report.cases.error > 0 {
        let Causes { causes, n_other, n_without_task } = causes(view)?;
        (report.causes, report.n_other_errors) = (causes, n_other);
        report.n_errors_without_task = n_without_task;
    }
    report.decision = super::metrics::decision(view, &report)?;
    Ok(report)
}

/// What came before the end of a run. A budget that is used up lets the rest of the cases pass without being run, so the run itself ends normally.
pub(super) fn stopped(ended: Option<Ended>, counts: &Counts, cases: &CaseCounts) -> Option<StopReason> {
    match ended {
        Some(Ended::Stopped(reason)) => Some(reason),
        Some(Ended::Done) if counts.not_run + cases.not_run > 0 => Some(StopReason::Budget),
        _ => None,
    }
}

/// The tasks whose verdicts are counted in sums.
fn counted_tasks(view: &RunView) -> Vec<Column> {
    let tasks = view.plan.task_ixs().zip(gates(view));
    tasks.filter(|(_, gate)| gate.is_counted()).map(|(ix, _)| Column::from(ix)).collect()
}

fn task_totals(view: &RunView, whole: &[&StoredSummary]) -> Result<Vec<TaskTotal>, ViewError> {
    let by_column: HashMap<Column, &StoredSummary> = whole.iter().map(|it| (it.column, *it)).collect();
    let tasks = view.plan.task_ixs().zip(&view.suite.tasks).zip(view.plan.stage_numbers());
    let total = |((ix, task), stage)| {
        let column = Column::from(ix);
        let independence = independence(view, &[column], |_| true)?;
        Ok(TaskTotal { independence, ..task_total(task, stage, by_column.get(&column).copied()) })
    };
    tasks.map(total).collect()
}

fn task_total(task: &Task, stage: usize, of_task: Option<&StoredSummary>) -> TaskTotal {
    let mut counts = Counts::default();
    if let Some(summary) = of_task {
        // In its own line a gate says how often it was open, though it is not counted in the sum.
        add(&mut counts, summary, if task.gate.is_counted() { task.gate } else { Gate::None });
    }
    let marks = of_task.and_then(taken::<Given>).unwrap_or_default();
    TaskTotal {
        id: task.id.value.clone(),
        kind: task.kind.name().to_owned(),
        gate: task.gate,
        stage,
        description: task.description.clone(),
        path: task.path_text(),
        scenario: task.scope.as_ref().map(|it| it.value.clone()),
        operator: task.operator_name(),
        counts,
        independence: Independence::default(),
        score: (marks.n_scores > 0)
            .then(|| Mean { n: marks.n_scores, mean: marks.nano_score as f64 / 1e9 / marks.n_scores as f64 }),
        labels: marks.labels.into_iter().collect(),
    }
}

fn add(counts: &mut Counts, summary: &StoredSummary, gate: Gate) {
    let is_counted = gate.is_counted();
    let n = |code: Code| summary.count(code);
    counts.skipped += n(Code::SkippedByGate) + n(Code::SkippedByError);
    counts.not_run += n(Code::NotRun);
    if is_counted {
        counts.passed += n(Code::Passed);
        counts.failed += n(Code::Failed);
        counts.measured += n(Code::Measured);
        counts.errored += n(Code::Error);
    }
}

/// All tasks of a slice together, given which of them are gates.
pub(super) fn counts(gates: &[Gate], slice: &[&StoredSummary]) -> Counts {
    let mut counts = Counts::default();
    for summary in slice {
        if let Some(gate) = summary.column.task().and_then(|it| gates.get(it.index())) {
            add(&mut counts, summary, *gate);
        }
    }
    counts
}

/// What tasks say about each dimension that they name: the usual ones first, in their order, then the others by name.
fn dimensions(view: &RunView, whole: &[&StoredSummary]) -> Result<Vec<DimensionTotal>, ViewError> {
    let mut totals: BTreeMap<(usize, String), Dimension> = BTreeMap::new();
    let key = |name: &str| (DIMENSIONS.iter().position(|it| *it == name).unwrap_or(DIMENSIONS.len()), name.to_owned());
    for summary in whole {
        let Some(task) = summary.column.task().and_then(|it| view.plan.tasks.get(it.index())) else { continue };
        for name in &task.dimensions {
            totals.entry(key(name)).or_default().add(summary, task.gate);
        }
        for (name, scores) in taken::<Given>(summary).unwrap_or_default().dimensions {
            totals.entry(key(&name)).or_default().scores.merge(&scores);
        }
    }
    let judged = |scores: Scores| {
        let mean = scores.mean()?;
        let interval = mean_interval(scores.n, mean, scores.variance(), Confidence::USUAL);
        // No mean lies outside the scale, whatever the arithmetic says about few cases.
        let interval = interval
            .zip(scores.scale())
            .map(|(it, (min, max))| Interval { low: it.low.max(min), high: it.high.min(max) });
        Some(JudgedScore { n: scores.n, mean, interval })
    };
    let total = |((_, name), Dimension { counts, counted, scores })| {
        let independence = independence(view, &counted, |_| true)?;
        Ok(DimensionTotal { name, counts, independence, judged: judged(scores) })
    };
    totals.into_iter().map(total).collect()
}

/// What was counted of a dimension, and of which tasks.
#[derive(Default)]
struct Dimension {
    counts: Counts,
    counted: Vec<Column>,
    scores: Scores,
}

impl Dimension {
    fn add(&mut self, summary: &StoredSummary, gate: Gate) {
        add(&mut self.counts, summary, gate);
        if gate.is_counted() {
            self.counted.push(summary.column);
        }
    }
}

fn gates(view: &RunView) -> Vec<Gate> {
    view.plan.tasks.iter().map(|it| it.gate).collect()
}

/// How the cases of a slice ended.
pub(super) fn cases(slice: &[&StoredSummary]) -> CaseCounts {
    let Some(summary) = slice.iter().find(|it| it.column == Column::CASE) else { return CaseCounts::default() };
    CaseCounts {
        passed: summary.count(Code::Passed),
        failed: summary.count(Code::Failed),
        error: summary.count(Code::Error),
        not_run: summary.count(Code::NotRun),
        measured: summary.count(Code::Measured),
        not_judged: summary.count(Code::NotJudged),
    }
}

/// What the writer counted beside verdicts: what answers took, or what a task gave.
pub(super) fn taken<T: DeserializeOwned>(summary: &StoredSummary) -> Option<T> {
    summary.body.as_deref().and_then(|it| serde_json::from_str(it).ok())
}

fn by_slice(summary: &[StoredSummary]) -> Vec<(Slice, Vec<&StoredSummary>)> {
    let mut slices: BTreeMap<&str, Vec<&StoredSummary>> = BTreeMap::new();
    for row in summary.iter().filter(|it| !it.slice.is_empty()) {
        slices.entry(&row.slice).or_default().push(row);
    }
    slices.into_iter().filter_map(|(name, rows)| Some((Slice::parse(name)?, rows))).collect()
}

/// The groups of `group_by`: in the order of the paths, then of the values.
fn slices(view: &RunView, summary: &[StoredSummary], n_tasks: usize) -> Vec<SliceTotal> {
    let mut totals: Vec<(usize, SliceTotal)> = Vec::new();
    for (slice, rows) in by_slice(summary) {
        if let Slice::Group { path, value } = slice {
            let place = view.plan.group_by.iter().position(|it| it.to_string() == path).unwrap_or(usize::MAX);
            let counts = counts(&gates(view), &rows);
            let independence = of_slice(view, &rows, &counts, n_tasks);
            totals.push((place, SliceTotal { path, value, counts, independence }));
        }
    }
    totals.sort_by(|(left, one), (right, other)| {
        (left, one.value.is_none(), &one.value).cmp(&(right, other.value.is_none(), &other.value))
    });
    totals.into_iter().map(|(_, total)| total).collect()
}

/// How much the judgements of a slice are worth. Run files do not say which rows a slice holds, so nothing shows how alike the judgements of its
/// rows are, and each row counts once. How many clusters it holds is not known either.
fn of_slice(view: &RunView, slice: &[&StoredSummary], counts: &Counts, n_tasks: usize) -> Independence {
    if view.plan.cluster_by.is_some() {
        return Independence::Unknown;
    }
    let n_variants = view.reader.head().n_variants().get();
    if n_tasks * n_variants <= 1 {
        return Independence::Full;
    }
    let rows = cases(slice).total().div_ceil(n_variants as u64);
    match rows.min(counts.passed + counts.failed) {
        0 | 1 => Independence::Unknown,
        rows => Independence::Worth(rows as f64),
    }
}

/// Prompts and subjects in the order in which they were written.
fn subjects(view: &RunView, summary: &[StoredSummary], counted: &[Column]) -> Result<Vec<SubjectTotal>, ViewError> {
    let found = by_slice(summary);
    let mut totals: Vec<SubjectTotal> = Vec::new();
    for variant in &view.reader.head().variants {
        let name = |it: &String| (!it.is_empty()).then(|| it.clone());
        let (prompt, subject) = (name(&variant.prompt), name(&variant.subject));
        let is_there = totals.iter().any(|it| it.prompt == prompt && it.subject == subject);
        if is_there || (prompt.is_none() && subject.is_none()) {
            continue;
        }
        let own = Slice::Subject { prompt: variant.prompt.clone(), subject: variant.subject.clone() };
        let Some((_, rows)) = found.iter().find(|(slice, _)| *slice == own) else { continue };
        let taken: Taken =
            rows.iter().find(|it| it.column == Column::CASE).and_then(|it| taken(it)).unwrap_or_default();
        let variants = &view.reader.head().variants;
        let is_own =
            |ix: usize| variants.get(ix).is_some_and(|it| it.prompt == variant.prompt && it.subject == variant.subject);
        totals.push(SubjectTotal {
            independence: independence(view, counted, is_own)?,
            prompt,
            subject,
            counts: counts(&gates(view), rows),
            cases: cases(rows),
            tasks: task_counts(view, rows),
            usage: taken.all.usage(),
            cost_usd: taken.all.cost_usd(),
            n_unpriced: taken.all.unpriced,
            latency: taken.mean_latency(),
        });
    }
    Ok(totals)
}

/// How often each task of a slice ended how.
fn task_counts(view: &RunView, slice: &[&StoredSummary]) -> Vec<Counts> {
    let of_task = |task: TaskIx| {
        let mut counts = Counts::default();
        for summary in slice.iter().filter(|it| it.column == Column::from(task)) {
            // In its own line a gate says how often it was open.
            add(&mut counts, summary, Gate::None);
        }
        counts
    };
    view.plan.task_ixs().map(of_task).collect()
}

fn observed(view: &RunView, whole: Option<&Whole>) -> Result<Observed, ViewError> {
    let taken = whole.map(|it| &it.taken);
    let state = view.reader.state()?;
    let stats = view.reader.effect_stats()?;
    let options = RecordedOptions::of(view.reader.head());
    let mut served_by: Vec<String> = stats.served.into_iter().filter_map(|(model, _)| model).collect();
    served_by.sort_unstable();
    Ok(Observed {
        run_id: view.reader.head().id.clone(),
        file: shown_path(view.reader.path()),
        started_at_ms: view.reader.head().created_at_ms,
        wall: state.finish.map_or(Duration::ZERO, |it| it.wall),
        // Requests without a response are recorded, too, and counted until the run has ended.
        n_answers: taken.map_or(stats.asked, |it| it.all.n),
        n_reused: taken.and_then(Taken::reused).unwrap_or(stats.reused),
        spent: taken.and_then(Taken::spent),
        reused_cost_usd: taken.and_then(Taken::reused_cost_usd),
        n_shared: taken.map_or(0, Taken::shared),
        oldest_reused_ms: stats.oldest_reused_ms,
        served_by,
        n_tool_calls: stats.tool_calls,
        n_reused_tool_calls: stats.reused_tool_calls,
        n_requests: taken.map_or(0, |it| it.requests),
        n_failed_requests: taken.map_or(0, |it| it.failed_requests),
        n_truncated: taken.map_or(0, |it| it.truncated),
        resumed: view.reader.document(crate::definition::RESUMED)?.is_some(),
        replay_of: options.replay_of.clone(),
        unsafe_code: options.unsafe_code,
        notes: [
            selected(&options),
            options.unsafe_host.then(|| ON_HOST.to_owned()),
            options.batch.then(|| IN_BATCHES.to_owned()),
            taken.and_then(truncated),
            taken.and_then(shared_rows),
            whole.and_then(|it| unpriced(&it.unpriced_models)),
        ]
        .into_iter()
        .flatten()
        .collect(),
    })
}

/// That only some of the rows ran, so that nothing is known of the others.
fn selected(options: &RecordedOptions) -> Option<String> {
    let words = options.selection_words();
    (!words.is_empty()).then(|| format!("only a part of the rows was selected: {}", words.join(", ")))
}

/// That responses were cut off, which a score may be due to.
fn truncated(taken: &Taken) -> Option<String> {
    let were = if taken.truncated == 1 { "response was" } else { "responses were" };
    let cut_off = || format!("{} {were} cut off at `max_tokens`; raise it, or judge with care", taken.truncated);
    (taken.truncated > 0).then(cut_off)
}

/// That rows were answered together, which the interval of their pass rate does not know.
fn shared_rows(taken: &Taken) -> Option<String> {
    let (n, are) = (taken.shared_rows, if taken.shared_rows == 1 { "row makes" } else { "rows make" });
    let not_independent = || {
        format!(
            "{n} {are} the same request as a row before and share its response, yet intervals count them as independent; \
             remove repeated rows, or name what they have in common as `cluster_by`"
        )
    };
    (n > 0).then(not_independent)
}

/// Which models have no price, and how to give one.
fn unpriced(models: &BTreeSet<String>) -> Option<String> {
    let names = listed_all(models.iter().map(String::as_str));
    let example = "`models: { judge: { model: …, price: { input: 0.25, output: 2 } } }`";
    let sentence = format!(
        "the price of {names} is not known; write it into the suite, in dollars for a million tokens, for example {example}"
    );
    (!models.is_empty()).then_some(sentence)
}

/// What a reader of such a run must know.
const ON_HOST: &str = "agents ran on the machine itself, with nothing between (`--unsafe-host`)";

const IN_BATCHES: &str = "new requests were sent in batches where the provider has them, at half the price and without a latency (`--batch`)";

/// A path as it would be typed here.
fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|it| path.strip_prefix(it).ok().map(Path::to_owned));
    short.as_deref().unwrap_or(path).display().to_string()
}

/// Why not all cases are there, when the run was not stopped.
fn fault(view: &RunView) -> Result<Option<String>, ViewError> {
    let fault = match view.reader.state()?.finish.map(|it| it.ended) {
        None if view.reader.is_being_written() => "the run is still in progress",
        None => "the run was killed; the command that began it resumes it",
        Some(Ended::Failed) => match missing_words(&view.reader) {
            Some(missing) => return Ok(Some(missing)),
            None => "the run failed before its end",
        },
        Some(Ended::DuplicateIds) => "the run failed at its end, because rows have the same id",
        Some(Ended::Done | Ended::Stopped(_)) => return Ok(None),
    };
    Ok(Some(fault.to_owned()))
}
