//! A gate for people who look at a terminal.

use std::io::{self, Write};

use jurat_core::gate::{ConditionReport, GateReport, GateVerdict, Rehearsal};

use super::{ADVICE, summary};
use crate::Style;
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::visible::visible_line;
use crate::words::counted;

/// Writes a gate as a table, in a window of this width when there is one.
pub fn write_text(out: &mut dyn Write, report: &GateReport, style: Style, window: Option<usize>) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::text("gate"),
        Column::word("verdict"),
        Column::message("found"),
        Column::message("wanted"),
        Column::message("why"),
    ]);
    for condition in &report.conditions {
        table.push([
            Cell::text(&condition.id),
            verdict(condition),
            Cell::message(&condition.found_words),
            Cell::message(&condition.wanted_words),
            Cell::message(&condition.reason),
        ]);
    }
    if !table.is_empty() {
        table.write(out, style, window)?;
        writeln!(out)?;
    }
    let mut asks_for_more = false;
    for condition in report.conditions.iter().filter(|it| it.verdict != GateVerdict::Pass) {
        writeln!(out, "{}", visible_line(&condition.sentence))?;
        asks_for_more |= condition.more.is_some_and(|it| it.rows.is_some());
    }
    if asks_for_more {
        writeln!(out, "{ADVICE}")?;
    }
    if report.ignores_missing {
        writeln!(out, "cases that could not be judged are not counted (`missing: observed`)")?;
    }
    writeln!(out, "{}", style.meant(meaning(report.verdict), &summary(report)))
}

fn verdict(condition: &ConditionReport) -> Cell {
    let advisory = if condition.advisory { " (advisory)" } else { "" };
    Cell::from(format!("{}{advisory}", condition.verdict.name())).meaning(meaning(condition.verdict), true)
}

fn meaning(verdict: GateVerdict) -> Meaning {
    match verdict {
        GateVerdict::Pass => Meaning::Good,
        GateVerdict::Fail => Meaning::Bad,
        GateVerdict::Undecided => Meaning::Unknown,
    }
}

/// Writes how often a gate passes when nothing changed.
pub fn write_rehearsal(out: &mut dyn Write, rehearsal: &Rehearsal) -> io::Result<()> {
    let Rehearsal { splits, passed, failed, undecided, failures } = rehearsal;
    let ways = counted(*splits, "way");
    writeln!(out, "repetitions of the same run split into halves in {ways}:")?;
    writeln!(out, "  passed     {passed}\n  failed     {failed}\n  undecided  {undecided}")?;
    for (id, n) in failures {
        writeln!(out, "`{}` failed {}", visible_line(id), counted(*n, "time"))?;
    }
    if rehearsal.is_too_tight() {
        writeln!(out, "this gate is too tight: it fails more than 5 % of changes that are none")?;
    }
    Ok(())
}
