//! A calibration as Markdown, for pull requests.

use std::io::{self, Write};

use jurat_core::calibration::{Calibration, Estimate};

use super::sentence;
use crate::markdown::{code, escaped};
use crate::words::{NONE, grouped, interval, rate};

/// Writes a calibration as Markdown.
pub fn write_markdown(out: &mut dyn Write, calibration: &Calibration) -> io::Result<()> {
    let figures = &calibration.figures;
    writeln!(out, "### Judge {} of {}\n", code(&calibration.task), code(&calibration.suite))?;
    writeln!(out, "{}\n", escaped(&sentence::head(calibration).replace('`', "")))?;
    let notes = [
        sentence::left_out(&calibration.labels),
        sentence::design(calibration).map(str::to_owned),
        sentence::too_few(calibration),
    ];
    for note in notes.into_iter().flatten() {
        writeln!(out, "> {}\n", escaped(&note))?;
    }
    for sentence in sentence::headline(calibration) {
        writeln!(out, "{}\n", escaped(&sentence.replace('`', "")))?;
    }
    if !figures.matrix.is_empty() {
        write_matrix(out, calibration)?;
    }
    writeln!(out, "| figure | value | {} interval |\n|---|--:|--:|", sentence::percent(calibration.confidence))?;
    let shares =
        [("agreement", figures.agreement), ("sensitivity", figures.sensitivity), ("specificity", figures.specificity)];
    for (name, it) in shares.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        writeln!(out, "| {name} | {} | {} |", rate(it.value), interval(it.interval))?;
    }
    let numbers = [
        ("κ", figures.kappa),
        ("κ, weighted", figures.weighted_kappa),
        ("AC1", figures.ac1),
        ("α, people", figures.alpha.people),
        ("α, with the judge", Some(figures.alpha.with_judge)),
        ("judge − people", figures.difference),
    ];
    for (name, it) in numbers.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        writeln!(out, "| {name} | {} | {} |", number(&it), ends(&it))?;
    }
    writeln!(out)
}

fn write_matrix(out: &mut dyn Write, calibration: &Calibration) -> io::Result<()> {
    let labels = calibration.figures.scale.labels();
    let names: Vec<String> = labels.iter().map(|it| code(it)).collect();
    writeln!(out, "| people \\\\ judge | {} |", names.join(" | "))?;
    writeln!(out, "|---|{}", "--:|".repeat(labels.len()))?;
    for (name, row) in names.iter().zip(&calibration.figures.matrix) {
        let cells: Vec<String> = row.iter().map(|it| grouped(*it as u64)).collect();
        writeln!(out, "| {name} | {} |", cells.join(" | "))?;
    }
    writeln!(out)
}

fn number(estimate: &Estimate) -> String {
    estimate.value.map_or_else(|| NONE.to_owned(), |it| format!("{it:.2}"))
}

fn ends(estimate: &Estimate) -> String {
    estimate.interval.map_or_else(String::new, |it| format!("{:.2} – {:.2}", it.low, it.high))
}
