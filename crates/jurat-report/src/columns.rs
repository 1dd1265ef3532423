//! The columns of data formats that have a row for each task of each case: one list for all of them.

use std::io;
use std::time::Duration;

use jurat_core::value::Value;

use crate::case_writer::Scope;
use crate::model::{CaseReport, RunReport, TaskReport, TaskTotal, gate_name};

/// What there is to say about one task of one case.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r> {
    case: &'r CaseReport,
    task: &'r TaskReport,
    total: &'r TaskTotal,
}

/// What stands in a column of a row.
pub(crate) enum Datum<'r> {
    Nothing,
    Text(&'r str),
    Value(&'r Value),
    Number(u64),
    Float(f64),
    Flag(bool),
}

/// A column.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) read: for<'r> fn(&Row<'r>) -> Datum<'r>,
    is_observed: bool,
}

/// The columns of a scope, in order.
pub(crate) fn columns(scope: Scope) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |it| scope.has_observed() || !it.is_observed)
}

/// The rows of a case, in the order of its tasks.
pub(crate) fn rows<'r>(run: &'r RunReport, case: &'r CaseReport) -> impl Iterator<Item = io::Result<Row<'r>>> {
    case.tasks.iter().map(move |task| Ok(Row { case, task, total: total(run, case, task)? }))
}

/// What is known of a task for all cases.
pub(crate) fn total<'r>(run: &'r RunReport, case: &CaseReport, task: &TaskReport) -> io::Result<&'r TaskTotal> {
    run.tasks.get(task.task).ok_or_else(|| {
        let message = format!("case `{}` has a verdict for task {}, of which the run has none", case.id, task.task);
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

const fn column(name: &'static str, read: for<'r> fn(&Row<'r>) -> Datum<'r>) -> Column {
    Column { name, read, is_observed: false }
}

const fn observed(name: &'static str, read: for<'r> fn(&Row<'r>) -> Datum<'r>) -> Column {
    Column { name, read, is_observed: true }
}

static COLUMNS: &[Column] = &[
    column("record", |it| Datum::Text(&it.case.id)),
    column("prompt", |it| text(it.case.prompt.as_deref())),
    column("subject", |it| text(it.case.subject.as_deref())),
    column("replicate", |it| number(it.case.replicate.map(u64::from))),
    column("case_verdict", |it| Datum::Text(it.case.verdict.name())),
    column("task", |it| Datum::Text(&it.total.id)),
    column("kind", |it| Datum::Text(&it.total.kind)),
    column("gate", |it| text(Some(gate_name(it.total.gate)).filter(|it| !it.is_empty()))),
    column("stage", |it| Datum::Number(it.total.stage as u64)),
    column("verdict", |it| Datum::Text(it.task.verdict.name())),
    column("path", |it| text(it.total.path.as_deref())),
    column("operator", |it| text(it.total.operator.as_deref())),
    column("expected", |it| value(it.task.expected.as_ref())),
    column("actual", |it| value(it.task.actual.as_ref())),
    column("label", |it| text(it.task.label.as_deref())),
    column("score", |it| float(it.task.score)),
    column("explanation", |it| text(it.task.explanation.as_deref())),
    column("message", |it| text(Some(&*it.task.message).filter(|it| !it.is_empty()))),
    column("input_tokens", |it| number(it.task.usage.map(|it| it.input))),
    column("output_tokens", |it| number(it.task.usage.map(|it| it.output))),
    column("cost_usd", |it| float(it.task.cost_usd)),
    column("latency_ms", |it| float(it.task.latency.map(millis))),
    observed("requests", |it| Datum::Number(u64::from(it.task.n_requests))),
    observed("reused", |it| Datum::Flag(it.task.reused)),
    observed("case_duration_ms", |it| Datum::Float(millis(it.case.took))),
];

/// Milliseconds with their microseconds as a fraction.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e3
}

fn text(text: Option<&str>) -> Datum<'_> {
    text.map_or(Datum::Nothing, Datum::Text)
}

fn value(value: Option<&Value>) -> Datum<'_> {
    value.map_or(Datum::Nothing, Datum::Value)
}

fn number<'r>(number: Option<u64>) -> Datum<'r> {
    number.map_or(Datum::Nothing, Datum::Number)
}

fn float<'r>(number: Option<f64>) -> Datum<'r> {
    number.map_or(Datum::Nothing, Datum::Float)
}
