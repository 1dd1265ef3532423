//! `thresholds`: when a run passes.
//!
//! ```yaml
//! thresholds:
//!   pass_rate: 0.9                       # of all counted task results
//!   cases: 0.8                           # of all judged cases
//!   tasks:
//!     tone: 0.95                         # the pass rate of one task
//!     quality: { mean: 4, p10: 3 }       # figures of its score
//!   weights: { tone: 2 }                 # how much a task counts in `pass_rate`
//!   cost_usd: { total: 5, per_case: 0.02 }
//!   latency: { p95: 3s }
//!   max_errors: 1%
//! ```
//!
//! Here they are read and written; `verdict::Decision` compares them with a run.

use std::fmt;
use std::time::Duration;

use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Map, Node, Spanned, Val};
use jurat_format::{codes, duration};

use super::write::Members;

/// What counts as good enough.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thresholds {
    /// The least pass rate over the counted tasks of all cases.
    pub pass_rate: Option<f64>,
    /// The least share of judged cases that pass.
    pub cases: Option<f64>,
    /// What single tasks must reach.
    pub tasks: Vec<TaskThreshold>,
    /// How much tasks count in `pass_rate`; 1 for those that are not listed.
    pub weights: Vec<(Spanned<String>, f64)>,
    /// What all answers together, and those of a case on average, may cost.
    pub cost: CostLimit,
    /// How long the subject may take for a case.
    pub latency: Option<Spanned<Vec<(Statistic, Duration)>>>,
    /// How many cases may end with an error.
    pub max_errors: Option<Tolerance>,
}

/// What one task must reach.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskThreshold {
    pub task: Spanned<String>,
    pub pass_rate: Option<f64>,
    /// Bounds of figures of its score.
    pub score: Vec<(Spanned<Statistic>, Bound)>,
}

/// Limits of cost in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostLimit {
    pub total: Option<f64>,
    /// For a case on average.
    pub per_case: Option<f64>,
}

/// The ends between which a figure must lie; both belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

/// How many cases may end with an error before a run cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// This number of cases.
    Count(u64),
    /// This share of all cases, in percent.
    Percent(f64),
}

/// A figure that sums up many numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Mean,
    /// The smallest number that this share of them does not exceed, from 0 (the smallest of all) to 1 (the largest).
    Quantile(f64),
}

impl Statistic {
    const NAMES: [(&str, Statistic); 12] = [
        ("mean", Statistic::Mean),
        ("median", Statistic::Quantile(0.5)),
        ("min", Statistic::Quantile(0.0)),
        ("max", Statistic::Quantile(1.0)),
        ("p1", Statistic::Quantile(0.01)),
        ("p5", Statistic::Quantile(0.05)),
        ("p10", Statistic::Quantile(0.1)),
        ("p25", Statistic::Quantile(0.25)),
        ("p75", Statistic::Quantile(0.75)),
        ("p90", Statistic::Quantile(0.9)),
        ("p95", Statistic::Quantile(0.95)),
        ("p99", Statistic::Quantile(0.99)),
    ];

    /// The figure with this name.
    pub fn named(name: &str) -> Option<Statistic> {
        Self::NAMES.iter().find(|(it, _)| *it == name).map(|(_, it)| *it)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, it)| *it == self).map_or("quantile", |(name, _)| *name)
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Bound {
    /// Everything from a number on.
    pub fn at_least(least: f64) -> Bound {
        Bound { at_least: Some(least), at_most: None }
    }

    /// Everything up to a number.
    pub fn at_most(most: f64) -> Bound {
        Bound { at_least: None, at_most: Some(most) }
    }

    /// Whether a number lies between its ends.
    pub fn holds(self, number: f64) -> bool {
        self.at_least.is_none_or(|it| number >= it) && self.at_most.is_none_or(|it| number <= it)
    }
}

impl Thresholds {
    /// Whether they say how good results must be. Where they do not, any failure fails the run.
    pub fn judge_quality(&self) -> bool {
        self.pass_rate.is_some() || self.cases.is_some() || !self.tasks.is_empty()
    }

    /// Whether a score of some task decides.
    pub fn judge_scores(&self) -> bool {
        self.tasks.iter().any(|it| !it.score.is_empty())
    }

    /// The thresholds as they are written.
    pub(super) fn to_value(&self) -> Map<'static> {
        let mut members = Members::default();
        let mut number = |key, it: Option<f64>| it.into_iter().for_each(|it| members.put(key, Val::F(it)));
        number("pass_rate", self.pass_rate);
        number("cases", self.cases);
        if !self.tasks.is_empty() {
            let tasks = self.tasks.iter().map(|it| (it.task.value.clone(), it.to_value()));
            members.put("tasks", Val::Map(tasks.collect()));
        }
        if !self.weights.is_empty() {
            let weights = self.weights.iter().map(|(id, weight)| (id.value.clone(), Val::F(*weight)));
            members.put("weights", Val::Map(weights.collect()));
        }
        if self.cost != CostLimit::default() {
            let ends = [("total", self.cost.total), ("per_case", self.cost.per_case)];
            members.put("cost_usd", Val::Map(numbers(ends)));
        }
        if let Some(latency) = &self.latency {
            let limits = latency.value.iter().map(|(it, limit)| (it.name().to_owned(), duration::write(*limit)));
            members.put("latency", Val::Map(limits.collect()));
        }
        match self.max_errors {
            Some(Tolerance::Count(count)) => members.put("max_errors", Val::from(count)),
            Some(Tolerance::Percent(percent)) => members.put("max_errors", Val::from(format!("{percent}%"))),
            None => {}
        }
        members.0
    }
}

impl TaskThreshold {
    fn to_value(&self) -> Val<'static> {
        if let (Some(rate), []) = (self.pass_rate, self.score.as_slice()) {
            return Val::F(rate);
        }
        let bound = |it: &Bound| match *it {
            Bound { at_least: Some(least), at_most: None } => Val::F(least),
            Bound { at_least, at_most } => Val::Map(numbers([("at_least", at_least), ("at_most", at_most)])),
        };
        let score = self.score.iter().map(|(it, limit)| (it.value.name().to_owned(), bound(limit)));
        let rate = self.pass_rate.map(|it| ("pass_rate".to_owned(), Val::F(it)));
        Val::Map(rate.into_iter().chain(score).collect())
    }
}

fn numbers<const N: usize>(members: [(&'static str, Option<f64>); N]) -> Map<'static> {
    members.into_iter().filter_map(|(key, it)| Some((key.to_owned(), Val::F(it?)))).collect()
}

const SHARE: (f64, f64) = (0.0, 1.0);
const AMOUNT: (f64, f64) = (0.0, f64::INFINITY);
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const SHARE_FORM: Form = Form::Number(SHARE.0, SHARE.1);
const AMOUNT_FORM: Form = Form::Number(AMOUNT.0, AMOUNT.1);
const ANY_FORM: Form = Form::Number(ANY.0, ANY.1);

static BOUND: Keys = Keys {
    what: "a bound",
    keys: &[
        Key::optional("at_least", ANY_FORM, "the smallest value that is accepted"),
        Key::optional("at_most", ANY_FORM, "the largest value that is accepted"),
    ],
};

const BOUND_FORM: Form = Form::Either(&[ANY_FORM, Form::Object(&BOUND)]);

/// The figures of many numbers, each with this form.
const fn figures(form: Form) -> [Key; 12] {
    [
        Key::optional("mean", form, "the mean"),
        Key::optional("median", form, "the value that half of them do not exceed"),
        Key::optional("min", form, "the smallest"),
        Key::optional("max", form, "the largest"),
        Key::optional("p1", form, "the value that 1 % of them do not exceed"),
        Key::optional("p5", form, "the value that 5 % of them do not exceed"),
        Key::optional("p10", form, "the value that 10 % of them do not exceed"),
        Key::optional("p25", form, "the value that 25 % of them do not exceed"),
        Key::optional("p75", form, "the value that 75 % of them do not exceed"),
        Key::optional("p90", form, "the value that 90 % of them do not exceed"),
        Key::optional("p95", form, "the value that 95 % of them do not exceed"),
        Key::optional("p99", form, "the value that 99 % of them do not exceed"),
    ]
}

const SCORES: [Key; 12] = figures(BOUND_FORM);

static TASK: Keys = Keys {
    what: "the threshold of a task",
    keys: &[
        Key::optional("pass_rate", SHARE_FORM, "the minimum pass rate of the task"),
        SCORES[0],
        SCORES[1],
        SCORES[2],
        SCORES[3],
        SCORES[4],
        SCORES[5],
        SCORES[6],
        SCORES[7],
        SCORES[8],
        SCORES[9],
        SCORES[10],
        SCORES[11],
    ],
};

static LATENCY: Keys = Keys { what: "`latency`", keys: &figures(duration::FORM) };

static COST: Keys = Keys {
    what: "`cost_usd`",
    keys: &[
        Key::optional("total", AMOUNT_FORM, "the maximum for all answers together, in dollars"),
        Key::optional("per_case", AMOUNT_FORM, "the maximum average for the answers of a case, in dollars"),
    ],
};

pub(super) static THRESHOLDS: Keys = Keys {
    what: "`thresholds`",
    keys: &[
        Key::optional(
            "pass_rate",
            SHARE_FORM,
            "the minimum share of counted task results, over all cases, that passed",
        ),
        Key::optional("cases", SHARE_FORM, "the minimum share of judged cases that passed"),
        Key::optional(
            "tasks",
            Form::Map(&Form::Either(&[SHARE_FORM, Form::Object(&TASK)])),
            "by task: the minimum pass rate, or bounds for its pass rate and for statistics of its score",
        ),
        Key::optional("weights", Form::Map(&AMOUNT_FORM), "by task: the weight of its results in `pass_rate`")
            .default("`1` for each task"),
        Key::optional(
            "cost_usd",
            Form::Either(&[AMOUNT_FORM, Form::Object(&COST)]),
            "the maximum cost: of all answers, or of a case on average",
        ),
        Key::optional(
            "latency",
            Form::Object(&LATENCY),
            "the maximum time that the subject takes for a case, by statistic, such as `p95: 3s`",
        ),
        Key::optional(
            "max_errors",
            Form::Either(&[Form::Integer(0), Form::Percent]),
            "the maximum number of cases with an error, or their share",
        )
        .default("`0`"),
    ],
};

/// Reads thresholds into those of the files before: a later file replaces what it names, except that what several say about one task must all hold.
pub(super) fn read(reading: &mut Reading<'_>, thresholds: &mut Thresholds, node: &Node<'_>) {
    let Some(fields) = Fields::read(reading, &THRESHOLDS, node) else { return };
    if let Some(node) = fields.get("pass_rate") {
        thresholds.pass_rate = reading.number("`pass_rate`", SHARE, node);
    }
    if let Some(node) = fields.get("cases") {
        thresholds.cases = reading.number("`cases`", SHARE, node);
    }
    if let Some(node) = fields.get("tasks") {
        let tasks = by_task(reading, "`tasks` in `thresholds`", "an object of task ids and pass rates", node, task);
        thresholds.tasks.extend(tasks);
    }
    if let Some(node) = fields.get("weights") {
        let weight = |reading: &mut Reading<'_>, id: Spanned<String>, node: &Node<'_>| {
            Some((id.clone(), reading.number(&format!("the weight of `{}`", id.value), AMOUNT, node)?))
        };
        thresholds.weights.extend(by_task(reading, "`weights`", "an object of task ids and weights", node, weight));
    }
    if let Some(node) = fields.get("cost_usd") {
        thresholds.cost = cost(reading, node);
    }
    if let Some(node) = fields.get("latency") {
        thresholds.latency = latency(reading, node);
    }
    if let Some(node) = fields.get("max_errors") {
        thresholds.max_errors = tolerance(reading, node);
    }
}

/// Reads an object with an entry for each of some tasks.
fn by_task<T>(
    reading: &mut Reading<'_>,
    what: &str,
    needs: &str,
    node: &Node<'_>,
    read: impl Fn(&mut Reading<'_>, Spanned<String>, &Node<'_>) -> Option<T>,
) -> Vec<T> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, needs, node);
        return Vec::new();
    };
    let id = |key: &str, span| Spanned::new(key.to_owned(), span);
    entries.iter().filter_map(|it| read(reading, id(&it.key, it.key_span), &it.value)).collect()
}

fn task(reading: &mut Reading<'_>, task: Spanned<String>, node: &Node<'_>) -> Option<TaskThreshold> {
    let what = format!("the threshold of `{}`", task.value);
    if node.entries().is_none() {
        let pass_rate = Some(reading.number(&what, SHARE, node)?);
        return Some(TaskThreshold { task, pass_rate, score: Vec::new() });
    }
    let fields = Fields::read(reading, &TASK, node)?;
    let pass_rate = fields.get("pass_rate").and_then(|it| reading.number("`pass_rate`", SHARE, it));
    let score = Statistic::NAMES.iter().filter_map(|(name, statistic)| {
        let bound = bound(reading, &format!("`{name}`"), fields.get(name)?)?;
        Some((Spanned::new(*statistic, fields.key_span(name)?), bound))
    });
    let score: Vec<(Spanned<Statistic>, Bound)> = score.collect();
    Some(TaskThreshold { task, pass_rate, score })
}

/// A bare number is the least that is good enough.
fn bound(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Bound> {
    if node.entries().is_none() {
        return Some(Bound::at_least(reading.number(what, ANY, node)?));
    }
    let fields = Fields::read(reading, &BOUND, node)?;
    let mut end = |key| fields.get(key).map(|it| reading.number(&format!("`{key}`"), ANY, it));
    let (at_least, at_most) = (end("at_least").flatten(), end("at_most").flatten());
    if let Some((least, most)) = at_least.zip(at_most).filter(|(least, most)| least > most) {
        let problem =
            Problem::new(&codes::WRONG_VALUE, format!("{what} cannot be at least {least} and at most {most}"));
        reading.problem(problem.at(node.span, "no number is").help("write the smaller number as `at_least`"));
        return None;
    }
    Some(Bound { at_least, at_most })
}

/// A bare number is for the whole run.
fn cost(reading: &mut Reading<'_>, node: &Node<'_>) -> CostLimit {
    if node.entries().is_none() {
        return CostLimit { total: reading.number("`cost_usd`", AMOUNT, node), per_case: None };
    }
    let Some(fields) = Fields::read(reading, &COST, node) else { return CostLimit::default() };
    let mut limit = |key| fields.get(key).and_then(|it| reading.number(&format!("`{key}`"), AMOUNT, it));
    CostLimit { total: limit("total"), per_case: limit("per_case") }
}

fn latency(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Spanned<Vec<(Statistic, Duration)>>> {
    if node.entries().is_none() {
        let message = format!("`latency` must be an object, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_TYPE, message).at(node.span, "of which figure?");
        reading.problem(problem.help("write `latency: { p95: 3s }`: 95 % of all cases take at most 3 seconds"));
        return None;
    }
    let fields = Fields::read(reading, &LATENCY, node)?;
    let limits = Statistic::NAMES.iter().filter_map(|(name, statistic)| {
        Some((*statistic, duration::read(reading, &format!("`{name}`"), fields.get(name)?)?))
    });
    Some(Spanned::new(limits.collect(), fields.head()))
}

fn tolerance(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Tolerance> {
    let read = match &node.content {
        Content::Scalar(Val::I(count)) => u64::try_from(*count).ok().map(Tolerance::Count),
        Content::Scalar(Val::Str(text)) => percent(text).map(Tolerance::Percent),
        _ => None,
    };
    if read.is_none() {
        let message = format!("`max_errors` must be a count or a share in percent, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "neither");
        reading.problem(problem.help("write a number of cases such as `5`, or a share of them such as `1%`"));
    }
    read
}

fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number)
}
