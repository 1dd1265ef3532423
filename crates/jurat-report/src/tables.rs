//! Results as tables: one line for each case, one for each task of a case, one for each task over all cases.

use std::io::{self, Write};
use std::time::Duration;

use jurat_core::verdict::Counts;
use unicode_width::UnicodeWidthStr;

use crate::style::Meaning;
use crate::{Style, visible_line};

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
    let mut rows = vec![header(&["record", "total", "passed", "failed", "skipped", "error", "pass rate", "duration"])];
    for CaseLine { id, counts, took } in cases {
        rows.push(vec![
            text(id),
            number(counts.total()),
            number(counts.passed),
            number(counts.failed).meaning(Meaning::Bad, counts.failed > 0),
            number(counts.skipped),
            number(counts.errored).meaning(Meaning::Unknown, counts.errored > 0),
            right(rate(counts)),
            right(duration(*took)),
        ]);
    }
    write_rows(out, &rows, style)
}

/// Writes the table of tasks.
pub fn write_tasks(out: &mut dyn Write, tasks: &[TaskLine], style: Style) -> io::Result<()> {
    let names =
        ["record", "task", "kind", "gate", "stage", "verdict", "path", "operator", "expected", "actual", "message"];
    let mut rows = vec![header(&names)];
    for task in tasks {
        let verdict = match task.verdict {
            "passed" => text("passed").meaning(Meaning::Good, true),
            "failed" => text("failed").meaning(Meaning::Bad, true),
            "error" => text("error").meaning(Meaning::Unknown, true),
            other => text(other),
        };
        let stage = right(task.stage.to_string());
        let ends = [&task.path, &task.operator, &task.expected, &task.actual].map(|it| text(it));
        let message = cut(&task.message, ROOM_FOR_MESSAGES);
        let starts = [text(&task.record), text(&task.task), text(task.kind), text(task.gate), stage, verdict];
        rows.push(starts.into_iter().chain(ends).chain([message]).collect());
    }
    write_rows(out, &rows, style)
}

/// Writes the table of totals, one line for each task.
pub fn write_totals(out: &mut dyn Write, totals: &[TotalLine], style: Style) -> io::Result<()> {
    write_counts(out, "task", totals, style)
}

/// Writes the table of slices, one line for each group of cases.
pub fn write_slices(out: &mut dyn Write, slices: &[TotalLine], style: Style) -> io::Result<()> {
    write_counts(out, "slice", slices, style)
}

fn write_counts(out: &mut dyn Write, what: &str, totals: &[TotalLine], style: Style) -> io::Result<()> {
    let mut rows = vec![header(&[what, "passed", "failed", "measured", "skipped", "error", "pass rate"])];
    for TotalLine { task, counts } in totals {
        rows.push(vec![
            text(task),
            number(counts.passed),
            number(counts.failed).meaning(Meaning::Bad, counts.failed > 0),
            number(counts.measured),
            number(counts.skipped),
            number(counts.errored).meaning(Meaning::Unknown, counts.errored > 0),
            right(rate(counts)),
        ]);
    }
    write_rows(out, &rows, style)
}

/// A place in a table.
struct Cell {
    text: String,
    is_right: bool,
    meaning: Option<Meaning>,
}

impl Cell {
    fn meaning(self, meaning: Meaning, is_meant: bool) -> Cell {
        Cell { meaning: is_meant.then_some(meaning), ..self }
    }
}

fn header(names: &[&str]) -> Vec<Cell> {
    names.iter().map(|it| text(it).meaning(Meaning::Name, true)).collect()
}

/// How much of a cell is shown; a message says what to do, so it gets more.
const ROOM: usize = 60;
const ROOM_FOR_MESSAGES: usize = 400;

/// Other people's text, on one line.
fn text(text: &str) -> Cell {
    cut(text, ROOM)
}

fn cut(text: &str, room: usize) -> Cell {
    let line = visible_line(text);
    let cut = line.char_indices().nth(room).map_or(line.to_string(), |(at, _)| format!("{}…", &line[..at]));
    Cell { text: cut, is_right: false, meaning: None }
}

fn right(text: String) -> Cell {
    Cell { text, is_right: true, meaning: None }
}

fn number(n: u64) -> Cell {
    right(n.to_string())
}

/// Nothing judged has no rate.
fn rate(counts: &Counts) -> String {
    counts.pass_rate().map_or_else(|| "–".to_owned(), |it| format!("{:.1} %", it * 100.0))
}

fn duration(took: Duration) -> String {
    match took.as_micros() {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        micros => format!("{:.2} s", micros as f64 / 1e6),
    }
}

/// Writes rows so that columns stand under each other; a column that is empty in every row is left out.
fn write_rows(out: &mut dyn Write, rows: &[Vec<Cell>], style: Style) -> io::Result<()> {
    let [header, body @ ..] = rows else { return Ok(()) };
    let width = |column: usize| rows.iter().map(|it| it[column].text.width()).max().unwrap_or(0);
    let kept: Vec<(usize, usize)> = (0..header.len())
        .filter(|column| body.is_empty() || body.iter().any(|row| !row[*column].text.is_empty()))
        .map(|column| (column, width(column)))
        .collect();
    for row in rows {
        let mut line = String::new();
        for (column, width) in &kept {
            let cell = &row[*column];
            let padding = " ".repeat(width - cell.text.width());
            let is_right = cell.is_right || body.first().is_some_and(|it| it[*column].is_right);
            let shown = cell.meaning.map_or_else(|| cell.text.clone(), |it| style.meant(it, &cell.text));
            line += &if is_right { format!("{padding}{shown}  ") } else { format!("{shown}{padding}  ") };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
