//! How far each task, slice and amount moved: the lines of a comparison as tables.

use jurat_core::contrast::{About, ChangeKind, Comparison, Contrast, Line};
use jurat_core::statistics::{Interval, Word};
use jurat_report::comparison::phrases;
use jurat_report::{counted, grouped, rate, score};
use maud::{Markup, html};

use super::ComparePage;
use super::cases::anchor;
use crate::changes::of_task;
use crate::part::bar::place;
use crate::part::text::line;
use crate::route::{Compare, Route};

pub(super) fn metrics(page: &ComparePage<'_>, contrast: &Contrast) -> Markup {
    let is_shown = |it: &&Line| !matches!(it.about, About::Slice { .. }) && !is_amount(&it.about);
    let lines: Vec<&Line> = contrast.lines.iter().filter(is_shown).collect();
    html! {
        h3 { "How far each task moved" }
        (lines_table(page, contrast, &lines, "Task"))
        p.hint { "A task with * was defined or judged otherwise in NEW. Intervals at " (phrases::percent(page.comparison.confidence.level())) "; the line in the middle is no difference." }
    }
}

pub(super) fn slices(page: &ComparePage<'_>, contrast: &Contrast) -> Markup {
    let lines: Vec<&Line> = contrast.lines.iter().filter(|it| matches!(it.about, About::Slice { .. })).collect();
    html! {
        @if !lines.is_empty() {
            h3 { "Slices" }
            (lines_table(page, contrast, &lines, "Slice"))
        }
    }
}

fn lines_table(page: &ComparePage<'_>, contrast: &Contrast, lines: &[&Line], first: &str) -> Markup {
    let widest =
        lines.iter().filter(|it| it.about.is_rate()).filter_map(|it| it.interval).map(reach).fold(0.05, f64::max);
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (first) "s compared" } {
            table.rows.compared {
                thead {
                    tr {
                        th scope="col" { (first) }
                        th.number scope="col" { "Pairs" }
                        th.number scope="col" { "BASE" }
                        th.number scope="col" { "NEW" }
                        th.number scope="col" { "Difference" }
                        th.wide scope="col" { "Interval" }
                        th.number scope="col" { "p" }
                        th.number scope="col" { "Both" }
                        th.number scope="col" { "Regressions" }
                        th.number scope="col" { "Fixes" }
                        th.number scope="col" { "Neither" }
                        th.number scope="col" { "Unknown" }
                        th scope="col" { "Says" }
                    }
                }
                tbody { @for line in lines { (line_row(page, contrast, line, widest)) } }
            }
        }
    }
}

fn line_row(page: &ComparePage<'_>, contrast: &Contrast, it: &Line, widest: f64) -> Markup {
    let value = |number: Option<f64>| match number {
        Some(number) if !it.about.is_rate() => score(number),
        number => rate(number),
    };
    let name = phrases::name(contrast, it);
    let change = |n: u64, kind: ChangeKind| {
        let q = match &it.about {
            About::Task { id, .. } => Some(of_task(id, kind)),
            About::Cases => Some(format!("change:{}", kind.name())),
            _ => None,
        };
        html! {
            @match q.filter(|_| n > 0 && page.is_served) {
                Some(q) => a href={ (Route::Compare(Compare { q, from: 0, ..page.wanted.clone() })) "#" (anchor(page, contrast)) } { (grouped(n)) },
                None => (grouped(n)),
            }
        }
    };
    let [better, _, worse] = it.moved.unwrap_or_default();
    let shown = it.interval.map(|found| phrases::interval(it, found));
    html! {
        tr {
            th scope="row" { (line(&name)) }
            td.number { (grouped(it.pairs)) }
            td.number { (value(it.base)) }
            td.number { (value(it.new)) }
            td.number { strong { (it.difference.map(|found| phrases::difference(it, found)).unwrap_or_default()) } }
            td.wide {
                @if let (Some(found), Some(words)) = (it.interval.filter(|_| it.about.is_rate()), &shown) { (difference_bar(&name, it, found, words, widest)) }
                span.caption { (shown.as_deref().unwrap_or("–")) }
            }
            td.number { (it.p.map(phrases::p).unwrap_or_default()) }
            @match it.table {
                Some(table) => {
                    td.number { (grouped(table.both)) }
                    td.number { (change(table.only_base, ChangeKind::Regression)) }
                    td.number { (change(table.only_new, ChangeKind::Fix)) }
                    td.number { (grouped(table.neither)) }
                }
                None => {
                    td.number {}
                    td.number { @if it.moved.is_some() { (change(worse, ChangeKind::Regression)) } }
                    td.number { @if it.moved.is_some() { (change(better, ChangeKind::Fix)) } }
                    td.number {}
                }
            }
            td.number { @if it.unknown > 0 { (change(it.unknown, ChangeKind::Unknown)) } }
            td { span class={ "says " (word_class(it.word)) } { (phrases::says(it)) } }
        }
    }
}

fn word_class(word: Word) -> &'static str {
    match word {
        Word::Better => "passed",
        Word::Worse => "failed",
        Word::NotShown => "skipped",
    }
}

fn reach(interval: Interval) -> f64 {
    interval.low.abs().max(interval.high.abs()).min(1.0)
}

/// A difference with its interval on an axis with nothing in the middle, as wide as the widest of its table.
fn difference_bar(name: &str, it: &Line, interval: Interval, words: &str, widest: f64) -> Markup {
    let at = |share: f64| place(50.0 + 48.0 * (share / widest).clamp(-1.0, 1.0));
    let (low, high) = (at(interval.low), at(interval.high));
    let found = it.difference.map(|found| phrases::difference(it, found)).unwrap_or_default();
    html! {
        svg class={ "interval difference " (word_class(it.word)) } viewBox="0 0 100 12" preserveAspectRatio="none" role="img"
            aria-label={ (name) ": " (found) " points, interval " (words) } {
            rect.ground x="0" y="5.5" width="100" height="1" {}
            rect.zero x="49.8" y="0" width="0.4" height="12" {}
            rect.range x=(low) y="3.5" width=(place((high - low).max(0.6))) height="5" rx="1" {}
            @if let Some(found) = it.difference { rect.point x=(place(at(found) - 0.7)) y="1" width="1.4" height="10" rx="0.5" {} }
        }
    }
}

fn is_amount(about: &About) -> bool {
    matches!(about, About::Cost(_) | About::InputTokens(_) | About::OutputTokens(_) | About::Latency)
}

pub(super) fn amounts(comparison: &Comparison, contrast: &Contrast) -> Markup {
    let lines: Vec<&Line> = contrast.lines.iter().filter(|it| is_amount(&it.about)).collect();
    html! {
        @if !lines.is_empty() {
            h3 { "Cost, tokens and latency" }
            div.scroll tabindex="0" role="region" aria-label="Cost, tokens and latency" {
                table.rows.amounts {
                    thead {
                        tr {
                            th scope="col" { "Of a case" }
                            th.number scope="col" { "Pairs" }
                            th.number scope="col" { "BASE" }
                            th.number scope="col" { "NEW" }
                            th.number scope="col" { "NEW / BASE" }
                            th.number scope="col" { (phrases::percent(comparison.confidence.level())) " interval" }
                            th scope="col" { "Note" }
                        }
                    }
                    tbody {
                        @for it in lines {
                            @let amount = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| phrases::amount(&it.about, value));
                            tr {
                                th scope="row" { (phrases::name(contrast, it)) }
                                td.number { (grouped(it.pairs)) }
                                td.number { (amount(it.base)) }
                                td.number { (amount(it.new)) }
                                td.number { (it.difference.map(|found| phrases::difference(it, found)).unwrap_or_default()) }
                                td.number { (it.interval.map(|found| phrases::interval(it, found)).unwrap_or_default()) }
                                td { (phrases::spending_note(it)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn labels(contrast: &Contrast) -> Markup {
    html! {
        @for changes in contrast.labels.iter().filter(|it| it.changed > 0) {
            h3 { "Labels of " (line(&changes.task)) }
            p.about { (grouped(changes.changed)) " of " (counted(changes.pairs, "pair")) " changed" }
            ul { @for (was, now, n) in &changes.transitions { li { (line(was)) " → " (line(now)) ": " (grouped(*n)) } } }
        }
    }
}
