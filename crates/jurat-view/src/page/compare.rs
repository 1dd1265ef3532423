//! Runs side by side: what differs beside the answers, how far each task moved, and the cases that changed.
//!
//! Figures and sentences are those of `jurat compare`; this page arranges them.

use std::sync::Arc;

use jurat_core::contrast::{About, Cause, Change, Comparison, Contrast, Line, TaskChange};
use jurat_core::statistics::{Interval, Word};
use jurat_report::comparison::phrases;
use jurat_report::{counted, grouped, rate, score};
use maud::{Markup, html};

use super::Shell;
use super::shell::short_id;
use crate::changes::{Kind, of_task};
use crate::part::bar::place;
use crate::part::diff;
use crate::part::text::{line, sentence};
use crate::part::verdict;
use crate::route::{Compare, CompareCase, Route, Runs};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct ComparePage {
    pub(crate) wanted: Compare,
    pub(crate) comparison: Arc<Comparison>,
    /// For each NEW, the changed cases that are listed.
    pub(crate) listed: Vec<Listed>,
    /// Whether there is a server that answers further queries.
    pub(crate) is_served: bool,
}

/// Changed cases of one NEW.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Those of this page, with what was answered.
    pub(crate) rows: Vec<Change>,
    /// How many the query finds.
    pub(crate) n_fitting: u64,
}

/// How many changed cases a page has; of several NEWs each.
pub(crate) const ROWS: usize = 50;

/// Fewer than two sides were named.
pub(crate) fn choose(wanted: &Compare) -> Markup {
    let shell = shell("Compare runs".to_owned(), None);
    shell.page(&html! {
        section.message {
            h1 { "Compare runs" }
            p { "Two runs or more are compared, and " @if wanted.base.is_empty() { "none" } @else { "one" } " is selected." }
            p { "Select them in the " a href=(Route::Runs(Runs::default())) { "list of runs" } "." }
        }
    })
}

fn shell(title: String, route: Option<Route>) -> Shell<'static> {
    Shell { title, run: None, steps: vec![("compare".to_owned(), None)], data: route.map(Route::json) }
}

pub(crate) fn page(page: &ComparePage) -> Markup {
    let comparison = &*page.comparison;
    let suite = comparison.sides.first().map_or("", |it| it.suite.as_str());
    let route = Route::Compare(Compare { q: String::new(), from: 0, ..page.wanted.clone() });
    shell(format!("{suite} compared"), Some(route)).page(&html! {
        div.head { h1 { (line(suite)) " " span.soft { "compared" } } }
        (sides(comparison))
        @for (contrast, listed) in comparison.contrasts.iter().zip(&page.listed) {
            (contrast_part(page, contrast, listed))
        }
        @if comparison.ranking.is_some() { (ranking(comparison)) }
    })
}

/// The comparison in a file: what changed most, without queries. Without the names of runs, where only what a replay reproduces is wanted.
pub(crate) fn in_file(comparison: &Comparison, results_only: bool) -> Markup {
    let of_kind = |contrast: &Contrast, kind: Kind| -> Vec<Change> {
        contrast.changes.iter().chain(&contrast.unjudged).filter(|it| Kind::of(it) == kind).cloned().collect()
    };
    let first = |contrast: &Contrast| Listed {
        rows: Kind::ALL.into_iter().flat_map(|it| of_kind(contrast, it)).take(ROWS).collect(),
        n_fitting: (contrast.changes.len() + contrast.unjudged.len()) as u64,
    };
    let listed = comparison.contrasts.iter().map(first).collect();
    let page =
        ComparePage { wanted: Compare::default(), comparison: Arc::new(comparison.clone()), listed, is_served: false };
    html! {
        @if !results_only { (sides(comparison)) }
        @for (contrast, listed) in comparison.contrasts.iter().zip(&page.listed) { (contrast_part(&page, contrast, listed)) }
    }
}

fn sides(comparison: &Comparison) -> Markup {
    html! {
        ul.sides {
            @for (ix, side) in comparison.sides.iter().enumerate() {
                li {
                    span.tag { @if ix == 0 { "BASE" } @else { (new_name(comparison, ix)) } }
                    " " a href=(Route::overview(&side.run_id)) { code { (line(short_id(&side.run_id))) } }
                    @for (name, value) in [("prompt", &side.prompt), ("subject", &side.subject)] {
                        @if let Some(value) = value { " " span.soft { (name) " " } (line(value)) }
                    }
                    " " span.soft { (counted(side.cases, "case")) @if !side.is_complete { ", not complete" } }
                }
            }
        }
    }
}

/// `NEW`, numbered where there are several.
fn new_name(comparison: &Comparison, side: usize) -> String {
    if comparison.sides.len() > 2 { format!("NEW {side}") } else { "NEW".to_owned() }
}

fn contrast_part(page: &ComparePage, contrast: &Contrast, listed: &Listed) -> Markup {
    let comparison = &*page.comparison;
    let id = format!("new-{}", contrast.new);
    html! {
        section.contrast aria-labelledby=(id) {
            h2 id=(id) {
                (new_name(comparison, contrast.new)) " against BASE"
                @if comparison.sides.len() > 2 { " " span.soft { code { (line(short_id(&comparison.sides[contrast.new].run_id))) } } }
            }
            @for words in phrases::headline(contrast, comparison.confidence, false) { p.sentence { (sentence(&words)) } }
            p.about { (sentence(&phrases::pairing(&contrast.counts))) }
            @for note in &contrast.notes { p.note { (sentence(&phrases::note(note, contrast))) } }
            @if let Some(words) = phrases::lopsided(&contrast.counts) { p.note { (sentence(&words)) } }
            @for (tasks, side) in [(&contrast.only_in_base, "BASE"), (&contrast.only_in_new, "NEW")] {
                @if !tasks.is_empty() { p.note { "only in " (side) ": " (line(&tasks.join(", "))) } }
            }
            (metrics(page, contrast))
            (cases(page, contrast, listed))
            (amounts(comparison, contrast))
            (slices(page, contrast))
            (labels(contrast))
        }
    }
}

fn metrics(page: &ComparePage, contrast: &Contrast) -> Markup {
    let is_shown = |it: &&Line| !matches!(it.about, About::Slice { .. }) && !is_amount(&it.about);
    let lines: Vec<&Line> = contrast.lines.iter().filter(is_shown).collect();
    html! {
        h3 { "How far each task moved" }
        (lines_table(page, contrast, &lines, "Task"))
        p.hint { "A task with * was defined or judged otherwise in NEW. Intervals at " (phrases::percent(page.comparison.confidence.level())) "; the line in the middle is no difference." }
    }
}

fn slices(page: &ComparePage, contrast: &Contrast) -> Markup {
    let lines: Vec<&Line> = contrast.lines.iter().filter(|it| matches!(it.about, About::Slice { .. })).collect();
    html! {
        @if !lines.is_empty() {
            h3 { "Slices" }
            (lines_table(page, contrast, &lines, "Slice"))
        }
    }
}

fn lines_table(page: &ComparePage, contrast: &Contrast, lines: &[&Line], first: &str) -> Markup {
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

fn line_row(page: &ComparePage, contrast: &Contrast, it: &Line, widest: f64) -> Markup {
    let value = |number: Option<f64>| match number {
        Some(number) if !it.about.is_rate() => score(number),
        number => rate(number),
    };
    let name = phrases::name(contrast, it);
    let change = |n: u64, kind: Kind| {
        let q = match &it.about {
            About::Task { id, .. } => Some(of_task(id, kind)),
            About::Cases => Some(format!("change:{kind}")),
            _ => None,
        };
        html! {
            @match q.filter(|_| n > 0 && page.is_served && page.listed.len() == 1) {
                Some(q) => a href={ (Route::Compare(Compare { q, from: 0, ..page.wanted.clone() })) "#cases" } { (grouped(n)) },
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
                    td.number { (change(table.only_base, Kind::Regression)) }
                    td.number { (change(table.only_new, Kind::Fix)) }
                    td.number { (grouped(table.neither)) }
                }
                None => {
                    td.number {}
                    td.number { @if it.moved.is_some() { (change(worse, Kind::Regression)) } }
                    td.number { @if it.moved.is_some() { (change(better, Kind::Fix)) } }
                    td.number {}
                }
            }
            td.number { @if it.unknown > 0 { (change(it.unknown, Kind::Unknown)) } }
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

fn amounts(comparison: &Comparison, contrast: &Contrast) -> Markup {
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

fn labels(contrast: &Contrast) -> Markup {
    html! {
        @for changes in contrast.labels.iter().filter(|it| it.changed > 0) {
            h3 { "Labels of " (line(&changes.task)) }
            p.about { (grouped(changes.changed)) " of " (counted(changes.pairs, "pair")) " changed" }
            ul { @for (was, now, n) in &changes.transitions { li { (line(was)) " → " (line(now)) ": " (grouped(*n)) } } }
        }
    }
}

/// How many causes the changes have, each in the first place.
fn causes(contrast: &Contrast) -> Vec<(Cause, usize)> {
    let mut counts = [Cause::Evidence, Cause::Definition, Cause::Judge, Cause::Fault].map(|it| (it, 0));
    for change in contrast.changes.iter().chain(&contrast.unjudged) {
        let causes = contrast.causes(change);
        counts.iter_mut().filter(|it| causes.contains(&it.0)).for_each(|it| it.1 += 1);
    }
    counts.into_iter().filter(|it| it.1 > 0).collect()
}

fn cases(page: &ComparePage, contrast: &Contrast, listed: &Listed) -> Markup {
    let is_only = page.is_served && page.listed.len() == 1;
    let n = |kind: Kind| contrast.changes.iter().filter(|it| Kind::of(it) == kind).count() as u64;
    let counts =
        [(Kind::Regression, n(Kind::Regression)), (Kind::Fix, n(Kind::Fix)), (Kind::Unknown, contrast.counts.unknown)];
    let all: u64 = counts.iter().map(|it| it.1).sum();
    html! {
        div.head {
            h3 id=[is_only.then_some("cases")] { "Cases that changed" }
            @if is_only { (query(page)) }
        }
        @if is_only { (chips(page, contrast, all, &counts)) }
        @if listed.rows.is_empty() {
            p.about { @if all == 0 { "No case changed." } @else { "No changed case fits this query." } }
        } @else {
            p.about aria-live="polite" { (grouped(listed.n_fitting)) " of " (counted(all, "case")) " that changed or could not be compared" }
            div.scroll tabindex="0" role="region" aria-label="Cases that changed" {
                table.rows.changes {
                    thead {
                        tr {
                            th scope="col" { "Case" }
                            th scope="col" { "Change" }
                            th scope="col" { "Tasks" }
                            th scope="col" { "Answer" }
                            th scope="col" { "Why" }
                        }
                    }
                    tbody { @for change in &listed.rows { (change_row(page, contrast, change)) } }
                }
            }
            (pager(page, listed))
        }
    }
}

fn query(page: &ComparePage) -> Markup {
    html! {
        form.filter method="get" action="/compare" role="search" {
            input type="hidden" name="base" value=(page.wanted.base);
            @for new in &page.wanted.new { input type="hidden" name="new" value=(new); }
            input type="search" name="q" value=(page.wanted.q) placeholder="change:regression cause:judge id" aria-label="Search the changed cases" autocomplete="off" spellcheck="false";
        }
    }
}

fn chips(page: &ComparePage, contrast: &Contrast, all: u64, counts: &[(Kind, u64)]) -> Markup {
    let chip = |q: String, words: Markup| {
        let is_current = page.wanted.q == q;
        let route = Route::Compare(Compare { q, from: 0, ..page.wanted.clone() });
        html! { a.chip href={ (route) "#cases" } aria-current=[is_current.then_some("true")] { (words) } }
    };
    html! {
        p.chips {
            (chip(String::new(), html! { "all " strong { (grouped(all)) } }))
            @for (kind, n) in counts.iter().filter(|it| it.1 > 0) {
                (chip(format!("change:{kind}"), html! { (kind_words(*kind)) " " strong { (grouped(*n)) } }))
            }
            @for (cause, n) in causes(contrast) {
                (chip(format!("cause:{}", cause.name()), html! { span.soft { "why" } " " (cause.name()) " " strong { (grouped(n as u64)) } }))
            }
        }
    }
}

fn kind_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Regression => "regressions",
        Kind::Fix => "fixes",
        Kind::Unknown => "not comparable",
    }
}

fn change_row(page: &ComparePage, contrast: &Contrast, change: &Change) -> Markup {
    let side = |ix: usize| page.comparison.sides[ix].name.clone();
    let new = vec![side(contrast.new)];
    let route = Route::CompareCase(CompareCase { id: change.id.clone(), base: side(contrast.base), new });
    let marks = phrases::marks(change);
    let causes: Vec<&str> = contrast.causes(change).into_iter().map(Cause::name).collect();
    html! {
        tr data-row="" {
            th scope="row" {
                a.open href=(route) { (line(&change.id)) }
                @if !phrases::variant(change).is_empty() { " " span.soft { (line(&phrases::variant(change))) } }
            }
            td { (moved(&phrases::verdict(&change.base), &phrases::verdict(&change.new))) @if !marks.is_empty() { " " span.tag { (marks) } } }
            td { ul.moves { @for it in change.of_tasks.iter() { li { (task_move(contrast, it)) } } } }
            td.answer { (answer(change)) }
            td { @if causes.is_empty() { span.none { "not known" } } @else { (causes.join(", ")) } }
        }
    }
}

fn task_move(contrast: &Contrast, change: &TaskChange) -> Markup {
    html! {
        (line(&change.task)) @if phrases::is_marked(contrast, &change.task) { "*" } " " (moved(&change.was, &change.now))
    }
}

/// `✓ passed → ✗ failed`
fn moved(was: &str, now: &str) -> Markup {
    html! { span.move { (verdict::word(was)) " → " (verdict::word(now)) } }
}

fn answer(change: &Change) -> Markup {
    match (change.base.response(), change.new.response()) {
        (Some(was), Some(now)) if was == now => html! { span.none { "same answer" } },
        (Some(was), Some(now)) => diff::brief(was, now),
        _ => {
            html! { (sentence(if change.new.message().is_empty() { change.base.message() } else { change.new.message() })) }
        }
    }
}

fn pager(page: &ComparePage, listed: &Listed) -> Markup {
    if page.listed.len() > 1 || !page.is_served {
        return html! { @if listed.n_fitting > ROWS as u64 { p.hint { "The first " (ROWS) ". Compare this run alone with BASE to see all." } } };
    }
    let (from, n) = (page.wanted.from, listed.rows.len() as u64);
    let at = |from: u64| Route::Compare(Compare { from, ..page.wanted.clone() });
    html! {
        nav.pager aria-label="Pages" {
            @if from > 0 { a href={ (at(from.saturating_sub(ROWS as u64))) "#cases" } rel="prev" { "Previous" } }
            span { (grouped(from + 1)) "–" (grouped(from + n)) " of " (grouped(listed.n_fitting)) }
            @if from + n < listed.n_fitting { a href={ (at(from + n)) "#cases" } rel="next" { "Next" } }
        }
    }
}

fn ranking(comparison: &Comparison) -> Markup {
    let Some(ranking) = &comparison.ranking else { return html! {} };
    let name = |side: usize| if side == 0 { "BASE".to_owned() } else { new_name(comparison, side) };
    html! {
        section aria-labelledby="ranking" {
            h2 id="ranking" { "In order" }
            p.hint { "A tier ends before the first run that is shown to differ from its best." }
            ol { @for tier in &ranking.tiers { li { (tier.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", ")) } } }
        }
    }
}
