//! The lines of a comparison, under each other.

use jurat_core::contrast::{About, Contrast, Line, Mark, Payer};
use jurat_core::statistics::{Confidence, Word};

use super::notes::is_marked;
use super::numbers::{difference, interval, p, percent};
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::words::{self, score};

/// Cases, judgements, tasks and scores.
pub(super) fn metrics(contrast: &Contrast, confidence: Confidence, is_plain: bool) -> Table {
    let is_shown = |it: &&Line| {
        it.about.is_rate() && !matches!(it.about, About::Slice { .. }) || matches!(it.about, About::Score { .. })
    };
    table("", contrast, confidence, is_plain, is_shown)
}

/// The slices of `group_by`.
pub(super) fn slices(contrast: &Contrast, confidence: Confidence, is_plain: bool) -> Table {
    table("slice", contrast, confidence, is_plain, |it| matches!(it.about, About::Slice { .. }))
}

fn table(
    name: &'static str,
    contrast: &Contrast,
    confidence: Confidence,
    is_plain: bool,
    is_shown: impl Fn(&&Line) -> bool,
) -> Table {
    let mut table = Table::new(vec![
        Column::text(name),
        Column::number("pairs").spare(),
        Column::number("base"),
        Column::number("new"),
        Column::number("difference"),
        Column::number(format!("{} interval", percent(confidence.level()))),
        Column::number("better").spare(),
        Column::number("worse").spare(),
        Column::number("p"),
        Column::number("q").spare(),
        Column::word("says"),
    ]);
    for line in contrast.lines.iter().filter(is_shown) {
        table.push(row(contrast, line, is_plain));
    }
    table
}

fn row(contrast: &Contrast, line: &Line, is_plain: bool) -> [Cell; 11] {
    let is_rate = line.about.is_rate();
    let value = |it: Option<f64>| match it {
        Some(it) if is_rate => words::rate(Some(it)),
        Some(it) => score(it),
        None => words::NONE.to_owned(),
    };
    let or_empty = |it: Option<String>| Cell::from(it.unwrap_or_default());
    let p_of = |it: Option<f64>| or_empty(it.filter(|_| !is_plain).map(p));
    let [better, _, worse] = line.moved.unwrap_or_default();
    let moved = |n: u64| or_empty(line.moved.filter(|_| better + worse > 0).map(|_| n.to_string()));
    [
        Cell::text(&name(contrast, line)),
        Cell::from(line.pairs),
        Cell::from(value(line.base)),
        Cell::from(value(line.new)),
        or_empty(line.difference.map(|it| difference(line, it))),
        or_empty(line.interval.map(|it| interval(line, it))),
        moved(better),
        moved(worse),
        p_of(line.p),
        p_of(line.q),
        verdict_of(line),
    ]
}

/// What a line is called; a star for one whose definition changed.
pub fn name(contrast: &Contrast, line: &Line) -> String {
    let star = |task: &str| if is_marked(contrast, task) { "*" } else { "" };
    match &line.about {
        About::Cases => "cases".to_owned(),
        About::Judgements => "judgements".to_owned(),
        // A gate, or a member of a group.
        About::Task { id, is_condition: true } => format!("{id}{} (not counted)", star(id)),
        About::Task { id, .. } => format!("{id}{}", star(id)),
        About::Score { task } => format!("{task}{} (score)", star(task)),
        About::Slice { path, value: Some(value) } => format!("{path} = {value}"),
        About::Slice { path, value: None } => format!("{path} (nothing)"),
        About::Cost(Payer::Subject) => "cost of a case".to_owned(),
        About::Cost(Payer::Judging) => "cost of judging".to_owned(),
        About::InputTokens(Payer::Subject) => "input tokens".to_owned(),
        About::InputTokens(Payer::Judging) => "input tokens of judging".to_owned(),
        About::OutputTokens(Payer::Subject) => "output tokens".to_owned(),
        About::OutputTokens(Payer::Judging) => "output tokens of judging".to_owned(),
        About::Latency => "latency".to_owned(),
    }
}

fn verdict_of(line: &Line) -> Cell {
    let meaning = if line.word == Word::Better { Meaning::Good } else { Meaning::Bad };
    Cell::from(says(line)).meaning(meaning, line.word != Word::NotShown)
}

/// What a line shows, in words.
pub fn says(line: &Line) -> String {
    let mut text = word(line.word).to_owned();
    for mark in &line.marks {
        text += match mark {
            Mark::Borderline => ", borderline",
            Mark::FewClusters => ", few clusters: intervals are rough",
            Mark::StoppedEarly => "",
        };
    }
    text
}

pub(super) fn word(word: Word) -> &'static str {
    match word {
        Word::Better => "better",
        Word::Worse => "worse",
        Word::NotShown => "not shown",
    }
}

/// Cost, tokens and latency.
pub(super) fn spending(contrast: &Contrast, confidence: Confidence) -> Table {
    let mut table = Table::new(vec![
        Column::text(""),
        Column::number("pairs").spare(),
        Column::number("base"),
        Column::number("new"),
        Column::number("ratio"),
        Column::number(format!("{} interval", percent(confidence.level()))),
        Column::message("note"),
    ]);
    let is_shown = |it: &&Line| {
        matches!(it.about, About::Cost(_) | About::InputTokens(_) | About::OutputTokens(_) | About::Latency)
    };
    for line in contrast.lines.iter().filter(is_shown) {
        let value = |it: Option<f64>| it.map_or_else(|| words::NONE.to_owned(), |it| amount(&line.about, it));
        table.push([
            Cell::text(&name(contrast, line)),
            Cell::from(line.pairs),
            Cell::from(value(line.base)),
            Cell::from(value(line.new)),
            Cell::from(line.difference.map_or_else(String::new, |it| difference(line, it))),
            Cell::from(line.interval.map_or_else(String::new, |it| interval(line, it))),
            Cell::message(&spending_note(line)),
        ]);
    }
    table
}

/// An amount of money, time or tokens.
pub fn amount(about: &About, value: f64) -> String {
    match about {
        About::Cost(_) => words::money(value),
        About::Latency => words::duration(std::time::Duration::from_secs_f64(value.clamp(0.0, 1e9))),
        _ => format!("{value:.0}"),
    }
}

/// What a reader of a line about cost, tokens or latency must know; may be empty.
pub fn spending_note(line: &Line) -> String {
    let mut parts = Vec::new();
    if let Some([base, new]) = line.p95 {
        parts.push(format!("p95 {} → {}", amount(&line.about, base.0), amount(&line.about, new.0)));
    }
    if line.left_out > 0 {
        let lacks = if matches!(line.about, About::Cost(_)) { "a price" } else { "a known number" };
        let verb = if line.left_out == 1 { "is" } else { "are" };
        let cases = words::counted(line.left_out, "case");
        parts.push(format!("{cases} without {lacks} on one side {verb} left out"));
    }
    if line.reused > 0 {
        parts
            .push(format!("{} of an earlier run, with the latency of that day", words::counted(line.reused, "answer")));
    }
    parts.join("; ")
}
