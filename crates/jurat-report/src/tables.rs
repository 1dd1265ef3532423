//! Results as tables: one line for each case, one for each task of a case, one for each task over all cases.

use std::io::{self, Write};
use std::time::Duration;

use jurat_core::verdict::Counts;

use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::{Style, words};

/// A case, as the table of cases shows it.
#[derive(Debug, Clone)]
pub struct CaseLine {
    /// Its id.
    pub id: String,
    /// How many of its tasks ended how.
    pub counts: Counts,
    /// How long it took.
    pub took: Duration,
}

/// A task of a case, as the table of tasks shows it.
#[derive(Debug, Clone, Default)]
pub struct TaskLine {
    /// The case.
    pub record: String,
    /// The task.
    pub task: String,
    /// `assert` or `judge`.
    pub kind: &'static str,
    /// `gate`, `required` or nothing.
    pub gate: &'static str,
    /// The stage, from 1.
    pub stage: usize,
    /// How it ended, in one word.
    pub verdict: &'static str,
    /// Where it looked.
    pub path: String,
    /// How it compared.
    pub operator: String,
    /// What it expected.
    pub expected: String,
    /// What it found.
    pub actual: String,
    /// Why it failed, was skipped or could not be judged.
    pub message: String,
}

/// A task over all cases, or all tasks over a slice of them.
#[derive(Debug, Clone)]
pub struct TotalLine {
    /// The task, or the slice.
    pub task: String,
    /// How often it ended how.
    pub counts: Counts,
}

/// Writes the table of cases.
pub fn write_cases(out: &mut dyn Write, cases: &[CaseLine], style: Style) -> io::Result<()> {
    let figures = ["total", "passed", "failed", "skipped", "error", "pass rate", "duration"].map(Column::figure);
    let mut table = Table::new([Column::text("record")].into_iter().chain(figures).collect());
    for CaseLine { id, counts, took } in cases {
        table.push([
            Cell::text(id),
            Cell::from(counts.total()),
            Cell::from(counts.passed),
            Cell::from(counts.failed).meaning(Meaning::Bad, counts.failed > 0),
            Cell::from(counts.skipped),
            Cell::from(counts.errored).meaning(Meaning::Unknown, counts.errored > 0),
            Cell::from(words::rate(counts.pass_rate())),
            Cell::from(words::duration(*took)),
        ]);
    }
    table.write(out, style, None)
}

/// Writes the table of tasks.
pub fn write_tasks(out: &mut dyn Write, tasks: &[TaskLine], style: Style) -> io::Result<()> {
    let starts = ["record", "task", "kind", "gate"].map(Column::text);
    let ends = ["verdict", "path", "operator", "expected", "actual", "message"].map(Column::text);
    let mut table = Table::new(starts.into_iter().chain([Column::figure("stage")]).chain(ends).collect());
    for task in tasks {
        let verdict = match task.verdict {
            "passed" => Cell::text("passed").meaning(Meaning::Good, true),
            "failed" => Cell::text("failed").meaning(Meaning::Bad, true),
            "error" => Cell::text("error").meaning(Meaning::Unknown, true),
            other => Cell::text(other),
        };
        let starts = [&task.record, &task.task, task.kind, task.gate].map(Cell::text);
        let ends = [&task.path, &task.operator, &task.expected, &task.actual].map(|it| Cell::text(it));
        let stage = Cell::from(task.stage as u64);
        table.push(starts.into_iter().chain([stage, verdict]).chain(ends).chain([Cell::message(&task.message)]));
    }
    table.write(out, style, None)
}

/// Writes the table of totals, one line for each task.
pub fn write_totals(out: &mut dyn Write, totals: &[TotalLine], style: Style) -> io::Result<()> {
    write_counts(out, "task", totals, style)
}

/// Writes the table of slices, one line for each group of cases.
pub fn write_slices(out: &mut dyn Write, slices: &[TotalLine], style: Style) -> io::Result<()> {
    write_counts(out, "slice", slices, style)
}

fn write_counts(out: &mut dyn Write, what: &'static str, totals: &[TotalLine], style: Style) -> io::Result<()> {
    let figures = ["passed", "failed", "measured", "skipped", "error", "pass rate"].map(Column::figure);
    let mut table = Table::new([Column::text(what)].into_iter().chain(figures).collect());
    for TotalLine { task, counts } in totals {
        table.push([
            Cell::text(task),
            Cell::from(counts.passed),
            Cell::from(counts.failed).meaning(Meaning::Bad, counts.failed > 0),
            Cell::from(counts.measured),
            Cell::from(counts.skipped),
            Cell::from(counts.errored).meaning(Meaning::Unknown, counts.errored > 0),
            Cell::from(words::rate(counts.pass_rate())),
        ]);
    }
    table.write(out, style, None)
}
