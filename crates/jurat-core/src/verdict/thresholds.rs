//! `thresholds`: when a run passes.
//!
//! ```yaml
//! thresholds:
//!   pass_rate: 0.9                       # of all counted task results
//!   cases: 0.8                           # of all judged cases
//!   tasks:
//!     tone: 0.95                         # the pass rate of one task
//!     quality: { mean: 4, p10: 3 }       # statistics of its score
//!   weights: { tone: 2 }                 # how much a task counts in `pass_rate`
//!   cost_usd: { total: 5, per_case: 0.02 }
//!   latency: { p95: 3s }
//!   max_errors: 1%
//! ```
//!
//! Here they are read; [`super::Decision`] compares them with a run.

use std::fmt;
use std::time::Duration;

use jurat_format::field::Field;
use jurat_format::form::{DefaultValue, Form, Object};
use jurat_format::id::same_id;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, Node, Spanned, Val};
use jurat_format::{codes, duration};

use crate::section::{Heading, Section};

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
    /// Bounds of statistics of its score.
    pub score: Vec<(Spanned<Statistic>, Bound)>,
}

/// Limits of cost in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostLimit {
    pub total: Option<f64>,
    /// For a case on average.
    pub per_case: Option<f64>,
}

/// The ends between which a metric must lie; both belong to it.
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

/// A number that sums up many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Mean,
    /// The smallest number that this share of them does not exceed, from 0 (the smallest of all) to 1 (the largest).
    Quantile(f64),
}

impl Statistic {
    /// Every statistic: its name, and what it is.
    const NAMED: [(&'static str, Statistic, &'static str); 12] = [
        ("mean", Statistic::Mean, "the mean"),
        ("median", Statistic::Quantile(0.5), "the value that half of them do not exceed"),
        ("min", Statistic::Quantile(0.0), "the smallest"),
        ("max", Statistic::Quantile(1.0), "the largest"),
        ("p1", Statistic::Quantile(0.01), "the value that 1 % of them do not exceed"),
        ("p5", Statistic::Quantile(0.05), "the value that 5 % of them do not exceed"),
        ("p10", Statistic::Quantile(0.1), "the value that 10 % of them do not exceed"),
        ("p25", Statistic::Quantile(0.25), "the value that 25 % of them do not exceed"),
        ("p75", Statistic::Quantile(0.75), "the value that 75 % of them do not exceed"),
        ("p90", Statistic::Quantile(0.9), "the value that 90 % of them do not exceed"),
        ("p95", Statistic::Quantile(0.95), "the value that 95 % of them do not exceed"),
        ("p99", Statistic::Quantile(0.99), "the value that 99 % of them do not exceed"),
    ];

    /// The statistic with this name.
    pub fn named(name: &str) -> Option<Statistic> {
        Self::NAMED.iter().find(|(it, ..)| *it == name).map(|(_, it, _)| *it)
    }

    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, it, _)| *it == self).map_or("quantile", |(name, ..)| *name)
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

    /// Whether single tasks decide and all others do not.
    pub fn leave_out_tasks(&self) -> bool {
        self.pass_rate.is_none() && self.cases.is_none() && !self.tasks.is_empty()
    }

    /// Whether one of them is about the task with this id.
    pub fn names(&self, task: &str) -> bool {
        self.tasks.iter().any(|it| same_id(&it.task.value, task))
    }

    /// Whether a score of some task decides.
    pub fn judge_scores(&self) -> bool {
        self.tasks.iter().any(|it| !it.score.is_empty())
    }
}

const AT_LEAST: Field<f64> = Field::optional("at_least", shape::NUMBER, "the smallest value that is accepted");
const AT_MOST: Field<f64> = Field::optional("at_most", shape::NUMBER, "the largest value that is accepted");

static BOUND: Object = Object { what: "a bound", keys: &[AT_LEAST.key, AT_MOST.key] };

/// A field for each statistic, all of this shape.
const fn statistics<V>(shape: Shape<V>) -> [Field<V>; Statistic::NAMED.len()] {
    let mut fields = [Field::optional("", shape, ""); Statistic::NAMED.len()];
    let mut ix = 0;
    while ix < fields.len() {
        let (name, _, doc) = Statistic::NAMED[ix];
        fields[ix] = Field::optional(name, shape, doc);
        ix += 1;
    }
    fields
}

const SCORES: [Field<Bound>; Statistic::NAMED.len()] =
    statistics(Shape::new(const { Form::Either(&[shape::NUMBER.form, Form::Object(&BOUND)]) }, bound));

const LATENCIES: [Field<Duration>; Statistic::NAMED.len()] = statistics(duration::SHAPE);

const TASK_PASS_RATE: Field<f64> = Field::optional("pass_rate", shape::SHARE, "the minimum pass rate of the task");

static TASK: Object = Object {
    what: "the threshold of a task",
    keys: &{
        let mut keys = [TASK_PASS_RATE.key; SCORES.len() + 1];
        let mut ix = 0;
        while ix < SCORES.len() {
            keys[ix + 1] = SCORES[ix].key;
            ix += 1;
        }
        keys
    },
};

static LATENCY_LIMITS: Object = Object {
    what: "`latency`",
    keys: &{
        let mut keys = [LATENCIES[0].key; LATENCIES.len()];
        let mut ix = 0;
        while ix < LATENCIES.len() {
            keys[ix] = LATENCIES[ix].key;
            ix += 1;
        }
        keys
    },
};

const TOTAL: Field<f64> = Field::optional("total", shape::AMOUNT, "the maximum for all answers together, in dollars");
const PER_CASE: Field<f64> =
    Field::optional("per_case", shape::AMOUNT, "the maximum average for the answers of a case, in dollars");

static COST: Object = Object { what: "`cost_usd`", keys: &[TOTAL.key, PER_CASE.key] };

const PASS_RATE: Field<f64> = Field::optional(
    "pass_rate",
    shape::SHARE,
    "the minimum share of counted task results, over all cases, that passed",
);
const CASES: Field<f64> = Field::optional("cases", shape::SHARE, "the minimum share of judged cases that passed");
const TASKS: Field<Vec<TaskThreshold>> = Field::optional(
    "tasks",
    Shape::new(const { Form::Map(&Form::Either(&[shape::SHARE.form, Form::Object(&TASK)])) }, tasks),
    "by task: the minimum pass rate, or bounds for its pass rate and for statistics of its score",
);
const WEIGHTS: Field<Vec<(Spanned<String>, f64)>> = Field::optional(
    "weights",
    Shape::new(const { Form::Map(&shape::AMOUNT.form) }, weights),
    "by task: the weight of its results in `pass_rate`",
)
.default_words("`1` for each task");
const COST_USD: Field<CostLimit> = Field::optional(
    "cost_usd",
    Shape::new(const { Form::Either(&[shape::AMOUNT.form, Form::Object(&COST)]) }, cost),
    "the maximum cost: of all answers, or of a case on average",
);
const LATENCY: Field<Spanned<Vec<(Statistic, Duration)>>> = Field::optional(
    "latency",
    Shape::new(Form::Object(&LATENCY_LIMITS), latency),
    "the maximum time that the subject takes for a case, by statistic, such as `p95: 3s`",
);
const MAX_ERRORS: Field<Tolerance> = Field::optional(
    "max_errors",
    Shape::new(Form::Either(&[Form::Integer(0), Form::Percent]), tolerance),
    "the maximum number of cases with an error, or their share",
)
.printed_default(DefaultValue::Integer(0));

pub(crate) static THRESHOLDS: Object = Object {
    what: "`thresholds`",
    keys: &[PASS_RATE.key, CASES.key, TASKS.key, WEIGHTS.key, COST_USD.key, LATENCY.key, MAX_ERRORS.key],
};

pub(crate) const SECTION: Section<Thresholds> =
    Heading::new("thresholds", Form::Object(&THRESHOLDS), "what the run must reach to pass", &[])
        .read(|reading, _, thresholds, at| read(reading, thresholds, at.node));

/// Reads thresholds into those of the files before: a later file replaces what it names, except that what several say about one task must all hold.
pub(crate) fn read(reading: &mut Reading<'_>, thresholds: &mut Thresholds, node: &Node<'_>) {
    let Some(fields) = THRESHOLDS.fields(reading, node) else { return };
    thresholds.pass_rate = fields.read(reading, &PASS_RATE).or(thresholds.pass_rate);
    thresholds.cases = fields.read(reading, &CASES).or(thresholds.cases);
    thresholds.tasks.extend(fields.read(reading, &TASKS).unwrap_or_default());
    thresholds.weights.extend(fields.read(reading, &WEIGHTS).unwrap_or_default());
    thresholds.cost = fields.read(reading, &COST_USD).unwrap_or(thresholds.cost);
    thresholds.latency = fields.read(reading, &LATENCY).or(thresholds.latency.take());
    thresholds.max_errors = fields.read(reading, &MAX_ERRORS).or(thresholds.max_errors);
}

fn tasks(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Vec<TaskThreshold>> {
    by_task(reading, "`tasks` in `thresholds`", "an object of task ids and pass rates", node, task)
}

fn weights(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(Spanned<String>, f64)>> {
    by_task(reading, what, "an object of task ids and weights", node, |reading, id, node| {
        let weight = (shape::AMOUNT.read)(reading, &format!("the weight of `{}`", id.value), node)?;
        Some((id, weight))
    })
}

/// Reads an object with an entry for each of some tasks.
fn by_task<T>(
    reading: &mut Reading<'_>,
    what: &str,
    needs: &str,
    node: &Node<'_>,
    read: impl Fn(&mut Reading<'_>, Spanned<String>, &Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, needs, node);
        return None;
    };
    let id = |key: &str, span| Spanned::new(key.to_owned(), span);
    Some(entries.iter().filter_map(|it| read(reading, id(&it.key, it.key_span), &it.value)).collect())
}

fn task(reading: &mut Reading<'_>, task: Spanned<String>, node: &Node<'_>) -> Option<TaskThreshold> {
    let what = format!("the threshold of `{}`", task.value);
    if node.entries().is_none() {
        let pass_rate = Some((shape::SHARE.read)(reading, &what, node)?);
        return Some(TaskThreshold { task, pass_rate, score: Vec::new() });
    }
    let fields = TASK.fields(reading, node)?;
    let pass_rate = fields.read(reading, &TASK_PASS_RATE);
    let score = SCORES.iter().zip(&Statistic::NAMED).filter_map(|(field, (_, statistic, _))| {
        let bound = fields.read(reading, field)?;
        Some((Spanned::new(*statistic, fields.key_span(field)?), bound))
    });
    let score: Vec<(Spanned<Statistic>, Bound)> = score.collect();
    Some(TaskThreshold { task, pass_rate, score })
}

/// A bare number is the least that is good enough.
fn bound(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Bound> {
    if node.entries().is_none() {
        return Some(Bound::at_least((shape::NUMBER.read)(reading, what, node)?));
    }
    let fields = BOUND.fields(reading, node)?;
    let (at_least, at_most) = (fields.read(reading, &AT_LEAST), fields.read(reading, &AT_MOST));
    if let Some((least, most)) = at_least.zip(at_most).filter(|(least, most)| least > most) {
        let problem =
            Problem::new(&codes::WRONG_VALUE, format!("{what} cannot be at least {least} and at most {most}"));
        reading.problem(problem.at(node.span, "no number is").help("write the smaller number as `at_least`"));
        return None;
    }
    Some(Bound { at_least, at_most })
}

/// A bare number is for the whole run.
fn cost(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<CostLimit> {
    if node.entries().is_none() {
        return Some(CostLimit { total: (shape::AMOUNT.read)(reading, what, node), per_case: None });
    }
    let fields = COST.fields(reading, node)?;
    Some(CostLimit { total: fields.read(reading, &TOTAL), per_case: fields.read(reading, &PER_CASE) })
}

fn latency(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Spanned<Vec<(Statistic, Duration)>>> {
    if node.entries().is_none() {
        let message = format!("`latency` must be an object, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_TYPE, message).at(node.span, "of which statistic?");
        reading.problem(problem.help("write `latency: { p95: 3s }`: 95 % of all cases take at most 3 seconds"));
        return None;
    }
    let fields = LATENCY_LIMITS.fields(reading, node)?;
    let limits = LATENCIES
        .iter()
        .zip(&Statistic::NAMED)
        .filter_map(|(field, (_, statistic, _))| Some((*statistic, fields.read(reading, field)?)));
    Some(Spanned::new(limits.collect(), fields.head()))
}

fn tolerance(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Tolerance> {
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
