//! The columns of data formats that have a row for each task of each case: one list for all of them.
//!
//! [`columns`] are the columns, [`rows`] the rows of a case; writers of other crates use them too.

use std::io;
use std::time::Duration;

use jurat_core::report::{CaseReport, OutputReport, RunReport, TaskReport, TaskTotal, TaskVerdict, gate_name};
use jurat_format::value::Value;

use crate::case_writer::Scope;
use crate::json_text;

/// One task of one case, or a case that no task applies to.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r> {
    case: &'r CaseReport,
    task: Option<(&'r TaskReport, &'r TaskTotal)>,
    /// The output that it is about, where it is about one.
    output: Option<&'r OutputReport>,
}

impl<'r> Row<'r> {
    fn task(&self) -> Option<&'r TaskReport> {
        self.task.map(|(task, _)| task)
    }

    fn total(&self) -> Option<&'r TaskTotal> {
        self.task.map(|(_, total)| total)
    }

    /// The task, unless the row is about one output of it: what the task took is reported once.
    fn whole(&self) -> Option<&'r TaskReport> {
        self.task().filter(|_| self.output.is_none())
    }

    fn name(&self) -> Option<&'r str> {
        self.output.map(|it| it.name.as_str()).or(self.total().map(|it| it.id.as_str()))
    }

    fn verdict(&self) -> &'static str {
        let of_task = self.output.map(OutputReport::verdict).or(self.task().map(|it| it.verdict));
        of_task.map_or(self.case.verdict.name(), TaskVerdict::name)
    }

    fn label(&self) -> Option<&'r str> {
        self.output.map_or_else(|| self.task()?.label.as_deref(), |it| it.label.as_deref())
    }

    fn score(&self) -> Option<f64> {
        self.output.map_or_else(|| self.task()?.score, |it| it.score)
    }

    fn explanation(&self) -> Option<&'r str> {
        self.output.map_or_else(|| self.task()?.explanation.as_deref(), |it| it.explanation.as_deref())
    }

    fn message(&self) -> Option<&'r str> {
        let of_task = self.output.map(|it| &it.message).or(self.task().map(|it| &it.message));
        Some(of_task.unwrap_or(&self.case.message).as_str()).filter(|it| !it.is_empty())
    }
}

/// What stands in a column of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Datum<'r> {
    /// There is nothing to say.
    Nothing,
    Text(&'r str),
    /// A value of any kind.
    Value(&'r Value),
    /// A whole number.
    Number(u64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

/// What can stand in a column, apart from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Values of any kind.
    Value,
    /// Whole numbers.
    Number,
    /// Numbers.
    Float,
    /// Yes or no.
    Flag,
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    read: for<'r> fn(&Row<'r>) -> Datum<'r>,
    is_observed: bool,
    is_data: bool,
}

impl Column {
    /// What a row has in this column.
    pub fn read<'r>(&self, row: &Row<'r>) -> Datum<'r> {
        (self.read)(row)
    }

    /// The same column, which holds what was judged rather than a result.
    const fn data(self) -> Column {
        Column { is_data: true, ..self }
    }

    /// The same column, which a replay does not reproduce.
    const fn observed(self) -> Column {
        Column { is_observed: true, ..self }
    }
}

/// The columns of a scope, in order.
pub fn columns(scope: Scope) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |it| scope.has_observed() || !it.is_observed)
}

/// The columns that hold results: for callers that have the rows themselves.
pub fn result_columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|it| !it.is_data)
}

/// The columns with these names, in this order; or the first name that no column has.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Column>, &str> {
    names.iter().map(|name| COLUMNS.iter().find(|it| it.name == *name).ok_or(name.as_str())).collect()
}

/// The names of all columns, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|it| it.name)
}

/// The rows of a case, in the order of its tasks. A task whose evaluator has several outputs has a row of its own, and behind it one for each of them. A case
/// that no task applies to has one row.
pub fn rows<'r>(run: &'r RunReport, case: &'r CaseReport) -> impl Iterator<Item = io::Result<Row<'r>>> {
    rows_of(&run.tasks, case)
}

/// The same where no run is known, but its tasks are.
pub fn rows_of<'r>(tasks: &'r [TaskTotal], case: &'r CaseReport) -> impl Iterator<Item = io::Result<Row<'r>>> {
    let rows = |task: &'r TaskReport| [None].into_iter().chain(task.outputs.iter().map(Some)).map(move |it| (task, it));
    let of_case = case.tasks.is_empty().then_some(Ok(Row { case, task: None, output: None }));
    let of_task = move |(task, output)| Ok(Row { case, task: Some((task, total_of(tasks, case, task)?)), output });
    of_case.into_iter().chain(case.tasks.iter().flat_map(rows).map(of_task))
}

/// A value as the JSON that all formats have for it.
pub fn json(value: &Value) -> String {
    let mut text = String::new();
    json_text::value(&mut text, value);
    text
}

/// What is known of a task for all cases.
pub(crate) fn total<'r>(run: &'r RunReport, case: &CaseReport, task: &TaskReport) -> io::Result<&'r TaskTotal> {
    total_of(&run.tasks, case, task)
}

fn total_of<'r>(tasks: &'r [TaskTotal], case: &CaseReport, task: &TaskReport) -> io::Result<&'r TaskTotal> {
    tasks.get(task.task).ok_or_else(|| {
        let message = format!("case `{}` has a verdict for task {}, of which the run has none", case.id, task.task);
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

const fn column(name: &'static str, kind: Kind, read: for<'r> fn(&Row<'r>) -> Datum<'r>) -> Column {
    Column { name, kind, read, is_observed: false, is_data: false }
}

static COLUMNS: &[Column] = &[
    column("record", Kind::Text, |it| Datum::Text(&it.case.id)),
    column("prompt", Kind::Text, |it| text(it.case.prompt.as_deref())),
    column("subject", Kind::Text, |it| text(it.case.subject.as_deref())),
    column("replicate", Kind::Number, |it| number(it.case.replicate.map(u64::from))),
    column("case_verdict", Kind::Text, |it| Datum::Text(it.case.verdict.name())),
    column("task", Kind::Text, |it| text(it.name())),
    column("kind", Kind::Text, |it| text(it.total().map(|it| it.kind.as_str()))),
    column("gate", Kind::Text, |it| text(it.total().map(|it| gate_name(it.gate)).filter(|it| !it.is_empty()))),
    column("stage", Kind::Number, |it| number(it.total().map(|it| it.stage as u64))),
    column("verdict", Kind::Text, |it| Datum::Text(it.verdict())),
    column("path", Kind::Text, |it| text(it.whole().and_then(|_| it.total()?.path.as_deref()))),
    column("operator", Kind::Text, |it| text(it.whole().and_then(|_| it.total()?.operator.as_deref()))),
    column("expected", Kind::Value, |it| value(it.whole().and_then(|it| it.expected.as_ref()))),
    column("actual", Kind::Value, |it| value(it.whole().and_then(|it| it.actual.as_ref()))),
    column("label", Kind::Text, |it| text(it.label())),
    column("score", Kind::Float, |it| float(it.score())),
    column("explanation", Kind::Text, |it| text(it.explanation())),
    column("message", Kind::Text, |it| text(it.message())),
    column("input_tokens", Kind::Number, |it| number(it.whole().and_then(|it| it.usage).map(|it| it.input))),
    column("output_tokens", Kind::Number, |it| number(it.whole().and_then(|it| it.usage).map(|it| it.output))),
    column("cost_usd", Kind::Float, |it| float(it.whole().and_then(|it| it.cost_usd))),
    column("latency_ms", Kind::Float, |it| float(it.whole().and_then(|it| it.latency).map(millis))),
    column("requests", Kind::Number, |it| Datum::Number(it.whole().map_or(0, |it| u64::from(it.n_requests))))
        .observed(),
    column("reused", Kind::Flag, |it| Datum::Flag(it.task().is_some_and(|it| it.reused))).observed(),
    column("case_input_tokens", Kind::Number, |it| number(it.case.usage.map(|it| it.input))),
    column("case_output_tokens", Kind::Number, |it| number(it.case.usage.map(|it| it.output))),
    column("case_cost_usd", Kind::Float, |it| float(it.case.cost_usd)),
    column("case_duration_ms", Kind::Float, |it| Datum::Float(millis(it.case.took))).observed(),
    column("source", Kind::Text, |it| text(it.case.data.source.as_deref())).data(),
    column("row_number", Kind::Number, |it| number(it.case.data.row_number)).data(),
    column("row", Kind::Value, |it| value(it.case.data.row.as_ref())).data(),
    column("input", Kind::Value, |it| value(it.case.data.input.as_ref())).data(),
    column("output", Kind::Value, |it| value(it.case.data.output.as_ref())).data(),
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
