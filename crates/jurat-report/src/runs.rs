//! The runs of a project, one line each.

use std::io::{self, Write};

use jurat_core::report::{RunCondition, RunEntry};

use crate::Style;
use crate::instant::{instant, to_the_second};
use crate::json_text::{Members, write_line};
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
    write_line(out, |members| {
        members.number("version", VERSION);
        members.objects("runs", runs, write_run);
    })
}

fn write_run(members: &mut Members<'_>, run: &RunEntry) {
    members.text("run_id", &run.id);
    members.text("file", &run.file);
    members.text("suite", &run.suite);
    members.or_null("started_at", run.started_at_ms.map(instant).as_deref(), Members::text);
    members.or_null("cases", run.cases, Members::number);
    members.or_null("pass_rate", run.pass_rate, Members::float);
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
