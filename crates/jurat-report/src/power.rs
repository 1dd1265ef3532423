//! What rows could show, before anything is asked.

use std::io::{self, Write};

use jurat_core::power::{Combination, PowerReport, RowsFor, Stopping};

use crate::Style;
use crate::json::optional;
use crate::json_text::{Members, write_line};
use crate::table::{Cell, Column, Table};
use crate::words::{self, grouped};

/// The version of the JSON. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes it as text, in a window of this width when there is one.
pub fn write_power(out: &mut dyn Write, report: &PowerReport, style: Style, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "{}", assumptions(report))?;
    if report.questions.is_empty() {
        writeln!(
            out,
            "nothing to show: name a difference with `--effect 5`, or write conditions on pass rates into `gates`"
        )?;
    } else {
        writeln!(out)?;
        questions(report).write(out, style, width)?;
    }
    writeln!(out)?;
    combinations(report).write(out, style, width)?;
    writeln!(out, "\n{}", stopping(report))
}

fn assumptions(report: &PowerReport) -> String {
    let [rate, discordance] = [report.rate, report.discordance].map(|it| format!("{:.1} %", it * 100.0));
    let assumed = if report.is_assumed { "assumed" } else { "observed or given" };
    format!(
        "pass rate {rate} ({}), and two runs end differently on {discordance} of the cases ({assumed}); {} confidence, power {}",
        report.from,
        share(report.confidence),
        share(report.power)
    )
}

fn share(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

fn questions(report: &PowerReport) -> Table {
    let with_power = format!("power of {} rows", grouped(report.rows));
    let mut table = Table::new(vec![
        Column::text("question"),
        Column::text("to be shown"),
        Column::number("rows"),
        Column::number(with_power),
        Column::number("calls at most"),
        Column::number("cost"),
    ]);
    for it in &report.questions {
        let rows = it.rows.map_or_else(|| "no number".to_owned(), grouped);
        let power = it.power.map_or_else(String::new, share);
        table.push([
            Cell::text(&it.id),
            Cell::text(&it.shown),
            Cell::text(&rows),
            Cell::text(&power),
            Cell::text(&calls(it.calls)),
            Cell::text(&it.usd.map_or_else(String::new, words::money)),
        ]);
    }
    table
}

fn calls(calls: Option<f64>) -> String {
    calls.filter(|it| *it > 0.0).map_or_else(String::new, |it| grouped(it.ceil() as u64))
}

fn combinations(report: &PowerReport) -> Table {
    let mut table = Table::new(vec![
        Column::number("rows"),
        Column::number("repetitions"),
        Column::number("shows"),
        Column::number("calls at most"),
        Column::number("cost"),
        Column::text(""),
    ]);
    for it in &report.table {
        let shows = it.mde.map_or_else(|| "nothing".to_owned(), |mde| format!("{:.1} points", mde * 100.0));
        table.push([
            Cell::text(&grouped(it.rows)),
            Cell::text(&it.repetitions.to_string()),
            Cell::text(&shows),
            Cell::text(&calls(Some(it.calls))),
            Cell::text(&it.usd.map_or_else(String::new, words::money)),
            Cell::text(if it.is_cheapest { "the cheapest that shows it" } else { "" }),
        ]);
    }
    table
}

/// What stopping early saves and gives away. The numbers are those of simulations, and no more may be claimed.
fn stopping(report: &PowerReport) -> String {
    match report.stopping {
        Stopping::RowsToSpare => "`--stop-when decided`: there are rows to spare, so it has the power of a fixed test; it saves 28 to 38 % of that test's calls when things are as expected, 11 to 16 % half-way to the bound, and most when a change is bad".to_owned(),
        Stopping::FewRows => "`--stop-when decided`: these are fewer rows than twice those of a fixed test with power 90 %, so it saves calls and gives away 9 to 17 points of power".to_owned(),
        Stopping::Unknown => "`--stop-when decided`: what it would save is not known, because no number of rows shows this".to_owned(),
    }
}

/// Writes it as one JSON object.
pub fn write_power_json(out: &mut dyn Write, report: &PowerReport) -> io::Result<()> {
    write_line(out, |members| {
        members.number("version", VERSION);
        members.float("rate", report.rate);
        members.float("discordance", report.discordance);
        members.flag("assumed", report.is_assumed);
        members.text("from", &report.from);
        members.float("confidence", report.confidence);
        members.float("power", report.power);
        members.number("rows", report.rows);
        members.objects("questions", &report.questions, write_question);
        members.objects("table", &report.table, write_combination);
        let word = match report.stopping {
            Stopping::RowsToSpare => "rows_to_spare",
            Stopping::FewRows => "few_rows",
            Stopping::Unknown => "unknown",
        };
        members.text("stopping", word);
    })
}

fn write_question(members: &mut Members<'_>, question: &RowsFor) {
    members.text("id", &question.id);
    members.text("shown", &question.shown);
    members.or_null("rows", question.rows, Members::number);
    members.or_null("fixed_rows", question.fixed, Members::number);
    optional(question.power, |it| members.float("power", it));
    optional(question.calls, |it| members.float("calls", it));
    optional(question.usd, |it| members.float("usd", it));
}

fn write_combination(members: &mut Members<'_>, combination: &Combination) {
    members.number("rows", combination.rows);
    members.number("repetitions", u64::from(combination.repetitions));
    members.or_null("mde", combination.mde, Members::float);
    members.float("calls", combination.calls);
    optional(combination.usd, |it| members.float("usd", it));
    members.flag("cheapest", combination.is_cheapest);
}
