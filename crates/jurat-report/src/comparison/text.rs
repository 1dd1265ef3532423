//! A comparison for people who look at a terminal.

use std::io::{self, Write};

use jurat_core::contrast::{Comparison, Contrast, Direction, LabelChanges, Ranking, Side};

use super::{ComparisonOptions, cases, notes, numbers, sentence, tables};
use crate::Style;
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::visible::visible_line;
use crate::words::{counted, grouped, rate};

/// Writes a comparison as text, in a window of this width when there is one.
pub fn write_text(
    out: &mut dyn Write,
    comparison: &Comparison,
    options: ComparisonOptions,
    style: Style,
    window: Option<usize>,
) -> io::Result<()> {
    if comparison.is_unpaired {
        writeln!(out, "not paired: the sides are compared as independent samples")?;
    }
    for (ix, contrast) in comparison.contrasts.iter().enumerate() {
        if ix > 0 {
            writeln!(out)?;
        }
        write_contrast(out, comparison, contrast, options, (style, window))?;
    }
    if let Some(ranking) = &comparison.ranking {
        write_ranking(out, comparison, ranking, (style, window))?;
    }
    Ok(())
}

fn write_contrast(
    out: &mut dyn Write,
    comparison: &Comparison,
    contrast: &Contrast,
    options: ComparisonOptions,
    (style, window): (Style, Option<usize>),
) -> io::Result<()> {
    let confidence = comparison.confidence;
    let new = &comparison.sides[contrast.new];
    write_sides(out, [&comparison.sides[contrast.base], new], options)?;
    for note in &contrast.notes {
        let text = notes::sentence(note, contrast);
        writeln!(out, "{}: {}", style.meant(Meaning::Unknown, "note"), visible_line(&text))?;
    }
    if let Some(warning) = sentence::lopsided(&contrast.counts).filter(|_| !comparison.is_unpaired) {
        writeln!(out, "{}: {warning}", style.meant(Meaning::Unknown, "warning"))?;
    }
    writeln!(out)?;
    if !comparison.is_unpaired {
        writeln!(out, "{}", sentence::pairing(&contrast.counts))?;
    }
    for sentence in sentence::headline(contrast, confidence, options.is_plain) {
        writeln!(out, "{sentence}")?;
    }
    let parts = [
        tables::metrics(contrast, confidence, options.is_plain),
        tables::slices(contrast, confidence, options.is_plain),
        tables::spending(contrast, confidence),
    ];
    for table in parts.iter().filter(|it| !it.is_empty()) {
        writeln!(out)?;
        table.write(out, style, window)?;
    }
    if contrast.notes.iter().any(|it| it.task.is_some() && it.finding.hinders().is_some()) {
        writeln!(out, "* its definition changed, see the notes")?;
    }
    write_labels(out, &contrast.labels)?;
    for (tasks, side) in [(&contrast.only_in_base, "BASE"), (&contrast.only_in_new, "NEW")] {
        if !tasks.is_empty() {
            writeln!(out, "tasks only in {side}: {}", visible_line(&tasks.join(", ")))?;
        }
    }
    let run = if options.results_only { "NEW" } else { &new.run_id };
    for direction in [Direction::Regression, Direction::Fix] {
        cases::write(out, contrast, direction, options, run, (style, window))?;
    }
    Ok(())
}

fn write_sides(out: &mut dyn Write, sides: [&Side; 2], options: ComparisonOptions) -> io::Result<()> {
    let width = sides.iter().map(|it| it.name.chars().count()).max().unwrap_or_default();
    for (word, side) in [("BASE", sides[0]), ("NEW ", sides[1])] {
        let padding = " ".repeat(width - side.name.chars().count());
        let is_named = options.results_only || side.name == side.run_id;
        let run = if is_named { String::new() } else { format!("  {}", side.run_id) };
        let state = if side.is_complete { "" } else { ", not complete" };
        let line = format!("{word}  {}{padding}{run}  {}{state}", side.name, counted(side.cases, "case"));
        writeln!(out, "{}", visible_line(&line))?;
    }
    Ok(())
}

fn write_labels(out: &mut dyn Write, labels: &[LabelChanges]) -> io::Result<()> {
    const MOST: usize = 5;
    for changes in labels {
        writeln!(
            out,
            "\nlabels of {}: {} of {} changed",
            visible_line(&changes.task),
            grouped(changes.changed),
            counted(changes.pairs, "pair")
        )?;
        for (was, now, n) in changes.transitions.iter().take(MOST) {
            writeln!(out, "  {} → {}  {}", visible_line(was), visible_line(now), grouped(*n))?;
        }
        if changes.transitions.len() > MOST {
            writeln!(out, "  … and {}", counted((changes.transitions.len() - MOST) as u64, "more transition"))?;
        }
    }
    Ok(())
}

fn write_ranking(
    out: &mut dyn Write,
    comparison: &Comparison,
    ranking: &Ranking,
    (style, window): (Style, Option<usize>),
) -> io::Result<()> {
    let name = |side: usize| comparison.sides[side].name.as_str();
    writeln!(out, "\n{}", style.meant(Meaning::Name, "ranking"))?;
    let rate_of = |side: usize| {
        let pair = ranking.pairs.iter().find(|it| it.base == side || it.new == side)?;
        if pair.base == side { pair.line.base } else { pair.line.new }
    };
    for (tier, sides) in ranking.tiers.iter().enumerate() {
        for side in sides {
            writeln!(out, "{}. {}  {}", tier + 1, visible_line(name(*side)), rate(rate_of(*side)))?;
        }
    }
    writeln!(out, "sides of one tier are not shown to differ from its first\n")?;
    let mut table = Table::new(vec![
        Column::text("base"),
        Column::text("new"),
        Column::number("pairs"),
        Column::number("difference"),
        Column::number(format!("{} interval", numbers::percent(comparison.confidence.level()))),
        Column::number("p, adjusted"),
    ]);
    for pair in &ranking.pairs {
        table.push([
            Cell::text(name(pair.base)),
            Cell::text(name(pair.new)),
            Cell::from(pair.line.pairs),
            Cell::from(pair.line.difference.map_or_else(String::new, numbers::points)),
            Cell::from(pair.line.interval.map_or_else(String::new, |it| numbers::interval(&pair.line, it))),
            Cell::from(pair.p_adjusted.map_or_else(String::new, numbers::p)),
        ]);
    }
    table.write(out, style, window)?;
    writeln!(out, "intervals are not adjusted for each other; p is, by Holm's method")
}
