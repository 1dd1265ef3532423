//! The runs of a project, one line each.

use std::io::{self, Write};

use jurat_core::report::{RunCondition, RunEntry};

use crate::Style;
use crate::instant::{instant, to_the_second};
use crate::json_text::{Members, object};
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::words;

/// The version of the JSON shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes runs as a table, in a window of this width when there is one.
pub fn write_text(out: &mut dyn Write, runs: &[RunEntry], style: Style, width: Option<usize>) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::word("run"),
        Column::text("suite").spare(),
        Column::word("started").spare(),
        Column::number("cases"),
        Column::number("pass rate"),
        Column::message("state"),
    ]);
    for run in runs {
        table.push([
            Cell::message(&run.id),
            Cell::text(&run.suite),
            Cell::from(run.started_at_ms.map_or_else(String::new, to_the_second)),
            run.cases.map_or_else(Cell::default, Cell::from),
            Cell::from(run.cases.map_or_else(String::new, |_| words::rate(run.pass_rate))),
            condition(&run.condition),
        ]);
    }
    table.write(out, style, width)
}

/// Writes runs as one JSON object.
pub fn write_json(out: &mut dyn Write, runs: &[RunEntry]) -> io::Result<()> {
    let mut text = String::new();
    object(&mut text, |members| {
        members.number("version", VERSION);
        members.list("runs", runs, |text, run| object(text, |it| write_run(it, run)));
    });
    writeln!(out, "{text}")
}

fn write_run(members: &mut Members<'_>, run: &RunEntry) {
    members.text("run_id", &run.id);
    members.text("file", &run.file);
    members.text("suite", &run.suite);
    match run.started_at_ms {
        Some(at_ms) => members.text("started_at", &instant(at_ms)),
        None => members.null("started_at"),
    }
    match run.cases {
        Some(cases) => members.number("cases", cases),
        None => members.null("cases"),
    }
    match run.pass_rate {
        Some(rate) => members.float("pass_rate", rate),
        None => members.null("pass_rate"),
    }
    members.text("state", run.condition.name());
    if let Some(reason) = run.condition.reason() {
        members.text("reason", &reason);
    }
}

fn condition(condition: &RunCondition) -> Cell {
    let text = match condition {
        RunCondition::Stopped(reason) => format!("stopped ({})", reason.name().replace('_', " ")),
        RunCondition::Unreadable(reason) => format!("unreadable: {reason}"),
        _ => condition.name().to_owned(),
    };
    Cell::message(&text).meaning(Meaning::Unknown, *condition != RunCondition::Done)
}
