//! A case in short: what became of each of its tasks, and why.

use std::io::{self, Write};

use crate::Style;
use crate::columns::total;
use crate::model::{CaseReport, RunReport, TaskVerdict, gate_name};
use crate::style::Meaning;
use crate::table::{Cell, Column, ROOM, Table};
use crate::words::{self, case_name, cut};

/// How much of a name is shown.
const ROOM_FOR_NAMES: usize = 200;

/// Writes a case with its tasks, a line each, in a window of this width when there is one.
pub fn write_brief(
    out: &mut dyn Write,
    run: &RunReport,
    case: &CaseReport,
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    let name = style.meant(Meaning::Name, &cut(&case_name(case), ROOM_FOR_NAMES));
    let verdict = case.verdict.name().replace('_', " ");
    writeln!(out, "{name}: {verdict}")?;
    let suite = format!("{} in run {}", run.suite, run.observed.run_id);
    writeln!(out, "  suite     {}", cut(&suite, ROOM_FOR_NAMES))?;
    writeln!(out)?;
    let mut table = Table::new(vec![
        Column::text("task"),
        Column::word("kind").spare(),
        Column::word("gate"),
        Column::word("verdict"),
        Column::text("found"),
        Column::message("why"),
    ]);
    for task in &case.tasks {
        let total = total(run, case, task)?;
        let verdict = Cell::from(task.verdict.name().replace('_', " "));
        let verdict = match task.verdict {
            TaskVerdict::Passed => verdict.meaning(Meaning::Good, true),
            TaskVerdict::Failed => verdict.meaning(Meaning::Bad, true),
            TaskVerdict::Error => verdict.meaning(Meaning::Unknown, true),
            TaskVerdict::Measured | TaskVerdict::Skipped | TaskVerdict::NotRun => verdict,
        };
        // A judge's own words are the best there is to say about a verdict that needs no reason of ours.
        let why = if task.message.is_empty() { task.explanation.as_deref().unwrap_or_default() } else { &task.message };
        table.push([
            Cell::text(&total.id),
            Cell::text(&total.kind),
            Cell::from(gate_name(total.gate).to_owned()),
            verdict,
            Cell::from(task.actual.as_ref().map_or_else(String::new, |it| words::value(it, ROOM))),
            Cell::message(why),
        ]);
    }
    table.write(out, style, width)
}
