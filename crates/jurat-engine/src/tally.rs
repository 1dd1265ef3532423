//! What answers took, added up while they come. Whole numbers, so that the order in which they come does not show.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jurat_core::artifact::{RunArtifact, RunStatus, Tokens};
use jurat_core::effect::{Asker, FaultKind, Finish, Outcome, Slot, StepSite, Usage};
use jurat_core::judge::Marks;
use jurat_core::plan::{CaseIx, CaseLayout, TaskIx};
use jurat_core::report::Spent;
use jurat_format::value::Val;
use jurat_store::run::{CaseTaken, Column, StoredSummary, SummaryRow, Variant};
use serde::{Deserialize, Serialize};

use crate::latencies::Latencies;
use crate::slice::Slice;

/// How many labels of a task are counted by themselves; a task that writes free text has no end of them.
pub(crate) const MOST_LABELS: usize = 100;
const OTHERS: &str = "(others)";

/// How many models are counted by themselves. Where there are more, what each took is added up from the recorded outcomes when it is asked for.
const MOST_MODELS: usize = 100;

/// How many models without a price are named.
const MOST_UNPRICED: usize = 10;

/// Where the outcome of a request comes from, which says who paid for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This process made the request.
    Paid,
    /// An earlier process of this run made it, and the log of the run has it.
    Logged,
    /// The run has it already: cases with equal requests share one response.
    Shared,
    /// An earlier run made it, or another member of the team.
    Reused,
}

impl Origin {
    pub(crate) fn is_reused(self) -> bool {
        matches!(self, Origin::Shared | Origin::Reused)
    }
}

/// The labels and scores that a task gave, as the summary has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) n_scores: u64,
    /// The sum in billionths, so that it does not depend on the order.
    pub(crate) nano_score: i64,
    pub(crate) labels: BTreeMap<String, u64>,
    /// The scores of an evaluation, by dimension.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) dimensions: BTreeMap<String, Scores>,
    /// What its answers took; absent for a task that asks nothing, and in runs of versions that did not count it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<AskedOf>,
}

/// What the answers took that one task, or one model, is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedOf {
    pub(crate) taken: Taken,
    /// How long they took, in buckets.
    pub(crate) latency: Latencies,
    /// The sum of that, in microseconds.
    pub(crate) latency_us: u64,
}

impl Given {
    fn merge(&mut self, other: Given) {
        self.n_scores += other.n_scores;
        self.nano_score = self.nano_score.saturating_add(other.nano_score);
        for (label, n) in other.labels {
            *self.labels.entry(label).or_default() += n;
        }
        for (name, scores) in &other.dimensions {
            self.dimensions.entry(name.clone()).or_default().merge(scores);
        }
        if let Some(asked) = &other.asked {
            self.asked.get_or_insert_default().merge(asked);
        }
    }
}

impl AskedOf {
    fn merge(&mut self, other: &AskedOf) {
        self.taken.merge(&other.taken);
        self.latency.merge(&other.latency);
        self.latency_us = self.latency_us.saturating_add(other.latency_us);
    }

    pub(crate) fn add(&mut self, outcome: &Outcome, is_of_subject: bool, origin: Origin) {
        self.taken.add(outcome, is_of_subject, origin);
        if let Some(latency) = latency(outcome) {
            self.latency.add(latency);
            self.latency_us = self.latency_us.saturating_add(micros(latency));
        }
    }
}

/// Scores, added up in whole numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scores {
    pub(crate) n: u64,
    sum: i64,
    /// The sum of their squares, in the same unit squared.
    squares: u64,
    /// The ends of the scales that they are on, in ten-thousandths.
    ends: Option<(i64, i64)>,
}

impl Scores {
    fn add(&mut self, score: f64, (min, max): (f64, f64)) {
        let unit = |it: f64| (it * 1e4).round() as i64;
        let whole = unit(score);
        self.widen(Some((unit(min), unit(max))));
        self.n += 1;
        self.sum = self.sum.saturating_add(whole);
        self.squares = self.squares.saturating_add(whole.unsigned_abs().saturating_mul(whole.unsigned_abs()));
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / 1e4 / self.n as f64)
    }

    /// Their variance, as that of a sample.
    pub(crate) fn variance(&self) -> f64 {
        let n = self.n as f64;
        let (sum, squares) = (self.sum as f64 / 1e4, self.squares as f64 / 1e8);
        if self.n < 2 { 0.0 } else { ((squares - sum * sum / n) / (n - 1.0)).max(0.0) }
    }

    /// The ends of the scales together.
    pub(crate) fn scale(&self) -> Option<(f64, f64)> {
        self.ends.map(|(min, max)| (min as f64 / 1e4, max as f64 / 1e4))
    }

    fn widen(&mut self, ends: Option<(i64, i64)>) {
        self.ends = match (self.ends, ends) {
            (Some((min, max)), Some((low, high))) => Some((min.min(low), max.max(high))),
            (one, other) => one.or(other),
        };
    }

    pub(crate) fn merge(&mut self, other: &Scores) {
        self.widen(other.ends);
        self.n += other.n;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

/// What the summaries of several runs say beside their counts, added up.
#[derive(Debug)]
pub(crate) struct SummaryBodies {
    whole: Option<Whole>,
    given: Vec<Option<Given>>,
    by_slice: BTreeMap<String, Taken>,
}

impl SummaryBodies {
    pub(crate) fn new(n_tasks: usize) -> SummaryBodies {
        SummaryBodies { whole: None, given: vec![None; n_tasks], by_slice: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, summary: &[StoredSummary]) {
        for row in summary {
            let Some(body) = row.body.as_deref() else { continue };
            match row.column.index().checked_sub(1) {
                None if row.slice.is_empty() => self.add_whole(body),
                None => {
                    let taken: Taken = read_body(body);
                    self.by_slice.entry(row.slice.clone()).or_default().merge(&taken);
                }
                Some(task) => {
                    if let Some(given) = self.given.get_mut(task) {
                        given.get_or_insert_default().merge(read_body(body));
                    }
                }
            }
        }
    }

    fn add_whole(&mut self, body: &str) {
        let other: Whole = read_body(body);
        match &mut self.whole {
            Some(whole) => whole.merge(other),
            none => *none = Some(other),
        }
    }

    /// The tasks whose labels are more than are counted by themselves.
    pub(crate) fn tasks_with_many_labels(&self) -> BTreeSet<TaskIx> {
        let is_many = |it: &Given| it.labels.len() > MOST_LABELS || it.labels.contains_key(OTHERS);
        let tasks = (0..).map(TaskIx).zip(&self.given);
        tasks.filter(|(_, it)| it.as_ref().is_some_and(is_many)).map(|it| it.0).collect()
    }

    /// Counts the labels of a task anew.
    pub(crate) fn recount(&mut self, task: TaskIx, counted: (BTreeMap<String, u64>, u64)) {
        if let Some(given) = self.given.get_mut(task.index()).and_then(Option::as_mut) {
            given.labels = with_others(counted);
        }
    }

    pub(crate) fn rows(&self) -> Vec<SummaryRow> {
        let row = |column, slice: &str, body| SummaryRow { column, slice: slice.to_owned(), body };
        let whole = self.whole.iter().map(|it| row(Column::CASE, "", written(it)));
        let tasks = (0..).map(TaskIx).zip(&self.given);
        let tasks = tasks.filter_map(|(task, it)| Some(row(Column::from(task), "", written(it.as_ref()?))));
        let slices = self.by_slice.iter().map(|(slice, it)| row(Column::CASE, slice, written(it)));
        whole.chain(tasks).chain(slices).collect()
    }
}

fn read_body<T: serde::de::DeserializeOwned + Default>(body: &str) -> T {
    serde_json::from_str(body).unwrap_or_default()
}

fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("numbers and texts are JSON")
}

/// The most frequent labels, and how many others there are.
fn with_others((mut labels, n_others): (BTreeMap<String, u64>, u64)) -> BTreeMap<String, u64> {
    if n_others > 0 {
        *labels.entry(OTHERS.to_owned()).or_default() += n_others;
    }
    labels
}

/// Adds up what answers took, for the run and for each variant.
#[derive(Debug)]
pub(crate) struct Tally {
    layout: CaseLayout,
    whole: Mutex<Taken>,
    by_variant: Vec<Mutex<Taken>>,
    unpriced_models: Mutex<BTreeSet<String>>,
    given: Vec<Mutex<Given>>,
    /// What answers took that cases ask for themselves.
    own: Mutex<AskedOf>,
    models: Mutex<BTreeMap<String, AskedOf>>,
    /// What the cases took that are not stored yet.
    open: Mutex<HashMap<CaseIx, CaseTaken>>,
}

/// What the answers of a run, or of a part of it, took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Taken {
    #[serde(flatten)]
    pub(crate) all: Answers,
    /// Requests that this run made, failed ones included.
    pub(crate) requests: u64,
    pub(crate) failed_requests: u64,
    /// How long the responses of subjects took, in microseconds, and how many there are.
    #[serde(default)]
    subject_micros: u64,
    #[serde(default)]
    subject_answers: u64,
    /// The answers that this run paid for, with those that no case uses because a conversation was begun again; absent in runs of versions
    /// that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    live: Option<Answers>,
    /// Of all answers, those that earlier runs paid for, each counted once; absent in runs of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from_cache: Option<Answers>,
    /// Of all answers, those that the run has in another place, too.
    #[serde(default)]
    shared: u64,
    /// Rows whose own request was answered by the response to another row.
    #[serde(default)]
    pub(crate) shared_rows: u64,
    /// Answers that were cut off at `max_tokens`.
    #[serde(default)]
    pub(crate) truncated: u64,
}

/// What some answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answers {
    #[serde(rename = "answers")]
    pub(crate) n: u64,
    input: u64,
    output: u64,
    cached: u64,
    reasoning: u64,
    cache_write: u64,
    pub(crate) nano_usd: u64,
    /// Those without a known cost.
    pub(crate) unpriced: u64,
}

impl Answers {
    fn add(&mut self, usage: &Usage, cost_usd: Option<f64>) {
        self.n += 1;
        self.input += usage.input;
        self.output += usage.output;
        self.cached += usage.cached;
        self.reasoning += usage.reasoning;
        self.cache_write += usage.cache_write;
        match cost_usd {
            Some(cost) => self.nano_usd = self.nano_usd.saturating_add(nano(cost)),
            None => self.unpriced += 1,
        }
    }

    fn merge(&mut self, other: &Answers) {
        self.n += other.n;
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
        self.cache_write += other.cache_write;
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
        self.unpriced += other.unpriced;
    }

    pub(crate) fn usage(&self) -> Usage {
        let Answers { input, output, cached, reasoning, cache_write, .. } = *self;
        Usage { input, output, cached, reasoning, cache_write }
    }

    /// What they cost, as far as that is known; `None` when it is known of none.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        (self.unpriced < self.n).then_some(self.nano_usd as f64 / 1e9)
    }
}

/// The summary row of the whole run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) taken: Taken,
    /// Models that counted their tokens and have no price.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) unpriced_models: BTreeSet<String>,
    /// What answers took that cases asked for themselves; absent in runs of versions that did not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<AskedOf>,
    /// What answers took, by the model that gave them; absent where that was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) models: Option<BTreeMap<String, AskedOf>>,
}

impl Whole {
    /// Adds another run. What one of them did not count by model is not known of both.
    fn merge(&mut self, other: Whole) {
        self.taken.merge(&other.taken);
        self.unpriced_models.extend(other.unpriced_models);
        while self.unpriced_models.len() > MOST_UNPRICED {
            self.unpriced_models.pop_last();
        }
        self.own = match (self.own, other.own) {
            (Some(mut own), Some(other)) => {
                own.merge(&other);
                Some(own)
            }
            _ => None,
        };
        self.models = self.models.take().zip(other.models).map(|(mut models, others)| {
            others.iter().for_each(|(model, it)| models.entry(model.clone()).or_default().merge(it));
            models
        });
        self.models = self.models.take().filter(|it| it.len() <= MOST_MODELS);
    }
}

/// Dollars in whole billionths, so that sums do not depend on their order.
fn nano(usd: f64) -> u64 {
    (usd * 1e9).round() as u64
}

impl Taken {
    /// How many of the answers were paid for by earlier runs.
    pub(crate) fn reused(&self) -> Option<u64> {
        let old = || self.live.map(|it| self.all.n.saturating_sub(it.n));
        self.from_cache.map(|it| it.n).or_else(old)
    }

    /// What the reused answers cost when they were paid for.
    pub(crate) fn reused_cost_usd(&self) -> Option<f64> {
        self.from_cache.as_ref().filter(|it| it.n > 0).and_then(Answers::cost_usd)
    }

    /// How many answers are those of another case, or of another request of the same case.
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// What this run paid, in billionths of a dollar.
    pub(crate) fn nano_usd(&self) -> u64 {
        self.live.map_or(0, |it| it.nano_usd)
    }

    /// Counts a request that was made, whether or not a case uses its outcome.
    pub(crate) fn pay(&mut self, outcome: &Outcome) {
        let (n_requests, n_failed) = requests(outcome);
        self.requests += u64::from(n_requests);
        self.failed_requests += u64::from(n_failed);
        if let Some((usage, cost_usd)) = taken(outcome) {
            self.live.get_or_insert_default().add(&usage, cost_usd);
        }
    }

    /// How long a response of the subject took on average, as it was recorded.
    pub(crate) fn mean_latency(&self) -> Option<Duration> {
        self.subject_micros.checked_div(self.subject_answers).map(Duration::from_micros)
    }

    /// What this run spent itself.
    pub(crate) fn spent(&self) -> Option<Spent> {
        let live = self.live?;
        Some(Spent { n_responses: live.n, usage: live.usage(), cost_usd: live.cost_usd(), n_unpriced: live.unpriced })
    }

    fn add(&mut self, outcome: &Outcome, is_of_subject: bool, origin: Origin) {
        self.live.get_or_insert_default();
        let from_cache = self.from_cache.get_or_insert_default();
        let answer = taken(outcome);
        match (origin, answer) {
            (Origin::Reused, Some((usage, cost_usd))) => from_cache.add(&usage, cost_usd),
            (Origin::Paid, _) => self.pay(outcome),
            (Origin::Shared, Some(_)) => self.shared += 1,
            _ => {}
        }
        let Some((usage, cost_usd)) = answer else { return };
        if let Some(latency) = latency(outcome).filter(|_| is_of_subject) {
            self.subject_micros = self.subject_micros.saturating_add(micros(latency));
            self.subject_answers += 1;
        }
        self.truncated += match outcome {
            Outcome::Answer(answer) => u64::from(answer.finish == Finish::Length),
            Outcome::Ran(ran) => count_of_run(&ran.artifact, "truncated_responses"),
            Outcome::Returned(_) | Outcome::Fault(_) | Outcome::NotRun(_) => 0,
        };
        self.all.add(&usage, cost_usd);
    }

    fn merge(&mut self, other: &Taken) {
        self.all.merge(&other.all);
        self.requests += other.requests;
        self.failed_requests += other.failed_requests;
        self.subject_micros = self.subject_micros.saturating_add(other.subject_micros);
        self.subject_answers += other.subject_answers;
        if let Some(live) = &other.live {
            self.live.get_or_insert_default().merge(live);
        }
        if let Some(from_cache) = &other.from_cache {
            self.from_cache.get_or_insert_default().merge(from_cache);
        }
        self.shared += other.shared;
        self.shared_rows += other.shared_rows;
        self.truncated += other.truncated;
    }
}

/// The requests to models behind an outcome, and how many of them failed.
fn requests(outcome: &Outcome) -> (u32, u32) {
    match outcome {
        Outcome::Answer(answer) => (answer.n_requests, answer.n_requests.saturating_sub(1)),
        // Code that takes too long, or a tool that fails, is no request to a model.
        Outcome::Fault(fault) if fault.role.is_none() && matches!(fault.kind, FaultKind::Timeout | FaultKind::Tool) => {
            (0, 0)
        }
        Outcome::Fault(fault) => (fault.n_requests, fault.n_requests),
        Outcome::Ran(ran) => requests_of_run(&ran.artifact),
        Outcome::Returned(_) | Outcome::NotRun(_) => (0, 0),
    }
}

/// Adds an outcome to what its case took.
pub(crate) fn add_to_case(case: &mut CaseTaken, outcome: &Outcome, is_reused: bool) {
    let (n_requests, n_failed) = requests(outcome);
    case.requests += u64::from(n_requests);
    case.failed_requests += u64::from(n_failed);
    case.latency_us = case.latency_us.saturating_add(latency(outcome).map_or(0, micros));
    let Some((usage, cost_usd)) = taken(outcome) else { return };
    case.answers += 1;
    case.reused += u64::from(is_reused);
    case.input += usage.input;
    case.output += usage.output;
    match cost_usd {
        Some(cost) => case.nano_usd = case.nano_usd.saturating_add(nano(cost)),
        None => case.unpriced += 1,
    }
}

fn micros(latency: Duration) -> u64 {
    u64::try_from(latency.as_micros()).unwrap_or(u64::MAX)
}

/// The model that gave an answer, as its provider calls it, or as it was asked for.
pub(crate) fn model_of<'m>(outcome: &'m Outcome, asked: &'m str) -> Option<&'m str> {
    match outcome {
        Outcome::Answer(answer) => Some(answer.served.model.as_deref().unwrap_or(asked)),
        Outcome::Ran(_) | Outcome::Returned(_) | Outcome::Fault(_) | Outcome::NotRun(_) => None,
    }
}

/// What an answer took and cost; what a whole run of an agent did.
pub(crate) fn taken(outcome: &Outcome) -> Option<(Usage, Option<f64>)> {
    match outcome {
        Outcome::Answer(answer) => Some((answer.usage.unwrap_or_default(), answer.cost_usd)),
        Outcome::Ran(ran) => Some(taken_by_run(&ran.artifact)),
        Outcome::Returned(_) | Outcome::Fault(_) | Outcome::NotRun(_) => None,
    }
}

/// How long a response or a whole run of an agent took.
pub(crate) fn latency(outcome: &Outcome) -> Option<Duration> {
    match outcome {
        Outcome::Answer(answer) => answer.measured_latency(),
        Outcome::Ran(ran) => Some(ran.latency),
        Outcome::Returned(_) | Outcome::Fault(_) | Outcome::NotRun(_) => None,
    }
}

/// What the run of an agent took and cost, by its artifact.
pub(crate) fn taken_by_run(artifact: &RunArtifact) -> (Usage, Option<f64>) {
    let Tokens { input, output, cached_input, reasoning, .. } = artifact.usage.normalized;
    let [input, output, cached, reasoning] = [input, output, cached_input, reasoning].map(Option::unwrap_or_default);
    let counted = Usage { input, output, cached, reasoning, cache_write: 0 };
    let nothing = (counted == Usage::default() && asked_none(artifact)).then_some(0.0);
    (counted, artifact.usage.cost_usd.or(nothing))
}

/// Whether an agent certainly got no answer of a model: its endpoint failed, or it has none and was cut off from everything else.
fn asked_none(artifact: &RunArtifact) -> bool {
    let text = |key: &str| artifact.runner_metadata.get(key).and_then(Val::as_str);
    let is_cut_off = matches!(text("place"), Some("namespaces" | "container")) && text("network") == Some("off");
    let has_no_model = artifact.request.requested_model == "none";
    artifact.status == RunStatus::ProviderError || (has_no_model && is_cut_off)
}

/// The requests that an agent made to its model, and how many of them failed, by its artifact.
fn requests_of_run(artifact: &RunArtifact) -> (u32, u32) {
    let count = |key| u32::try_from(count_of_run(artifact, key)).unwrap_or(0);
    (count("requests"), count("failed_requests"))
}

fn count_of_run(artifact: &RunArtifact, key: &str) -> u64 {
    match artifact.runner_metadata.get(key) {
        Some(Val::I(count)) => u64::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

impl Tally {
    /// A tally of a run whose earlier processes have paid for something already.
    pub(crate) fn new(n_tasks: usize, n_variants: usize, layout: CaseLayout, paid: Taken) -> Tally {
        Tally {
            layout,
            whole: Mutex::new(paid),
            by_variant: (0..n_variants).map(|_| Mutex::default()).collect(),
            unpriced_models: Mutex::default(),
            given: (0..n_tasks).map(|_| Mutex::default()).collect(),
            own: Mutex::default(),
            models: Mutex::default(),
            open: Mutex::default(),
        }
    }

    /// Counts what a judge gave beside its verdict.
    pub(crate) fn mark(&self, task: TaskIx, marks: &Marks) {
        let mut given = self.given[task.index()].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(score) = marks.score {
            given.n_scores += 1;
            given.nano_score = given.nano_score.saturating_add((score * 1e9).round() as i64);
        }
        if let Some(label) = &marks.label {
            let is_room = given.labels.len() < MOST_LABELS || given.labels.contains_key(label);
            *given.labels.entry(if is_room { label.clone() } else { OTHERS.to_owned() }).or_default() += 1;
        }
    }

    /// Counts the score that an evaluation gave in each dimension.
    pub(crate) fn mark_dimensions(&self, task: TaskIx, output: &Val<'_>) {
        let mut given = self.given[task.index()].lock().unwrap_or_else(PoisonError::into_inner);
        let end = |key: &str| output.get("scale").and_then(|it| it.get(key)).and_then(Val::as_f64);
        let scale = (end("min").unwrap_or(0.0), end("max").unwrap_or(10.0));
        let dimensions = output.get("dimensions").and_then(Val::as_map);
        for (name, it) in dimensions.into_iter().flat_map(jurat_format::value::Map::iter) {
            if let Some(score) = it.get("score").and_then(Val::as_f64) {
                given.dimensions.entry(name.to_owned()).or_default().add(score, scale);
            }
        }
    }

    /// Counts an outcome; `asked` is the model that was asked for.
    pub(crate) fn add(&self, case_ix: CaseIx, site: StepSite, asked: &str, outcome: &Outcome, origin: Origin) {
        let is_of_subject = site.asker.task().is_none() && Slot::numbered(site.slot) == Some(Slot::Subject);
        {
            let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
            whole.add(outcome, is_of_subject, origin);
            let is_of_row = is_of_subject && site.asker == Asker::Case && site.turn == 0;
            whole.shared_rows += u64::from(is_of_row && origin == Origin::Shared);
        }
        // The whole has what earlier processes paid for; parts have it when a case uses it.
        let origin = if origin == Origin::Logged { Origin::Paid } else { origin };
        if let Some(variant) = self.layout.variant(case_ix).and_then(|it| self.by_variant.get(it)) {
            variant.lock().unwrap_or_else(PoisonError::into_inner).add(outcome, is_of_subject, origin);
        }
        let is_silent = requests(outcome) == (0, 0) && taken(outcome).is_none();
        if is_silent {
            return;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        add_to_case(open.entry(case_ix).or_default(), outcome, origin.is_reused());
        match site.asker.task().and_then(|it| self.given.get(it.index())) {
            Some(given) => {
                let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
                given.asked.get_or_insert_default().add(outcome, is_of_subject, origin);
            }
            None => {
                let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                own.add(outcome, is_of_subject, origin);
            }
        }
        if let Some(model) = model_of(outcome, asked) {
            self.add_to_model(model, outcome, is_of_subject, origin);
        }
    }

    fn add_to_model(&self, model: &str, outcome: &Outcome, is_of_subject: bool, origin: Origin) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_model) = models.get_mut(model) {
            of_model.add(outcome, is_of_subject, origin);
        } else if models.len() <= MOST_MODELS {
            models.entry(model.to_owned()).or_default().add(outcome, is_of_subject, origin);
        }
    }

    /// What a case took that is stored now.
    pub(crate) fn take(&self, case_ix: CaseIx) -> Option<CaseTaken> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&case_ix)
    }

    /// The tasks that gave more labels than are counted by themselves: which of them were, depends on the order in which they came.
    pub(crate) fn tasks_with_other_labels(&self) -> Vec<TaskIx> {
        let has_others =
            |given: &Mutex<Given>| given.lock().unwrap_or_else(PoisonError::into_inner).labels.contains_key(OTHERS);
        (0..).map(TaskIx).zip(&self.given).filter(|(_, it)| has_others(it)).map(|(ix, _)| ix).collect()
    }

    /// Counts the labels of a task anew: the most frequent, and how many others there are.
    pub(crate) fn recount(&self, task: TaskIx, counted: (BTreeMap<String, u64>, u64)) {
        self.given[task.index()].lock().unwrap_or_else(PoisonError::into_inner).labels = with_others(counted);
    }

    /// Notes the model of a response whose tokens are known and whose cost is not: it has no price.
    pub(crate) fn note_price(&self, outcome: &Outcome, asked: &str) {
        let Some((usage, None)) = taken(outcome) else { return };
        let model = if let Outcome::Ran(ran) = outcome { &ran.artifact.request.requested_model } else { asked };
        if model.is_empty() || usage.total() == 0 {
            return;
        }
        let mut models = self.unpriced_models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() < MOST_UNPRICED && !models.contains(model) {
            models.insert(model.to_owned());
        }
    }

    /// The rows of the summary that say what each task gave.
    pub(crate) fn task_rows(&self) -> Vec<SummaryRow> {
        let mut rows = Vec::new();
        for (ix, given) in self.given.iter().enumerate() {
            let given = given.lock().unwrap_or_else(PoisonError::into_inner);
            if *given != Given::default() {
                let body = serde_json::to_string(&*given).expect("numbers and texts are JSON");
                rows.push(SummaryRow { column: Column::from(TaskIx(ix as u32)), slice: String::new(), body });
            }
        }
        rows
    }

    /// The rows of the summary that say it.
    pub(crate) fn rows(&self, variants: &[Variant]) -> Vec<SummaryRow> {
        let read = |taken: &Mutex<Taken>| *taken.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |slice: String, body: String| SummaryRow { column: Column::CASE, slice, body };
        let unpriced_models = self.unpriced_models.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = *self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let models = Some(models).filter(|it| it.len() <= MOST_MODELS);
        let whole = Whole { taken: read(&self.whole), unpriced_models, own: Some(own), models };
        let whole = serde_json::to_string(&whole).expect("numbers and texts are JSON");
        let mut rows = vec![row(String::new(), whole)];
        rows.extend(self.task_rows());
        let mut by_slice: BTreeMap<String, Taken> = BTreeMap::new();
        for (variant, taken) in variants.iter().zip(&self.by_variant) {
            let Variant { prompt, subject, .. } = variant.clone();
            by_slice.entry(Slice::Subject { prompt, subject }.to_string()).or_default().merge(&read(taken));
        }
        if variants.len() > 1 {
            let body = |taken: &Taken| serde_json::to_string(taken).expect("numbers are JSON");
            rows.extend(by_slice.into_iter().map(|(slice, taken)| row(slice, body(&taken))));
        }
        rows
    }
}
