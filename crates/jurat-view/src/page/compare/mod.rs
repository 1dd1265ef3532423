//! Runs side by side: what differs beside the answers, how far each task moved, and the cases that changed.
//!
//! Figures and sentences are those of `jurat compare`; this page arranges them.

mod cases;
mod lines;

use jurat_core::contrast::{Comparison, Contrast};
use jurat_engine::view::query::QueryProblem;
use jurat_report::comparison::phrases;
use jurat_report::counted;
use maud::{Markup, html};

use super::Shell;
use super::shell::short_id;
use crate::changes::Listed;
use crate::part::query;
use crate::part::text::{line, sentence};
use crate::route::{Compare, Route, Runs};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct ComparePage<'p> {
    pub(crate) wanted: Compare,
    pub(crate) comparison: &'p Comparison,
    /// The cases that are listed, for each NEW.
    pub(crate) listed: &'p [Listed],
    /// Whether there is a server that answers further queries.
    pub(crate) is_served: bool,
}

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

pub(crate) fn page(page: &ComparePage<'_>) -> Markup {
    let ComparePage { wanted, comparison, listed, .. } = page;
    compared(wanted, comparison).page(&html! {
        (head(comparison))
        @if listed.len() > 1 { div.head { p.about { "The cases of each NEW" } (cases::form(wanted, false)) } }
        @for (contrast, listed) in comparison.contrasts.iter().zip(*listed) { (contrast_part(page, contrast, listed)) }
        @if comparison.ranking.is_some() { (ranking(comparison)) }
    })
}

/// A query that cannot be read.
pub(crate) fn problem(wanted: &Compare, comparison: &Comparison, problem: &QueryProblem) -> Markup {
    let corrected = problem.corrected().map(|q| Route::Compare(Compare { q, from: 0, ..wanted.clone() }));
    compared(wanted, comparison).page(&html! {
        (head(comparison))
        (cases::form(wanted, true))
        (query::problem(problem, corrected, &cases::EXAMPLES))
    })
}

/// The comparison in a file: what changed most, without queries. Without the names of runs, where only what a replay reproduces is wanted.
pub(crate) fn in_file(comparison: &Comparison, listed: &[Listed], results_only: bool) -> Markup {
    let page = ComparePage { wanted: Compare::default(), comparison, listed, is_served: false };
    html! {
        @if !results_only { (sides(comparison)) }
        @for (contrast, listed) in comparison.contrasts.iter().zip(listed) { (contrast_part(&page, contrast, listed)) }
    }
}

fn compared(wanted: &Compare, comparison: &Comparison) -> Shell<'static> {
    let route = Route::Compare(Compare { q: String::new(), from: 0, ..wanted.clone() });
    shell(format!("{} compared", suite(comparison)), Some(route))
}

fn suite(comparison: &Comparison) -> &str {
    comparison.sides.first().map_or("", |it| it.suite.as_str())
}

fn head(comparison: &Comparison) -> Markup {
    html! {
        div.head { h1 { (line(suite(comparison))) " " span.soft { "compared" } } }
        (sides(comparison))
    }
}

fn sides(comparison: &Comparison) -> Markup {
    html! {
        ul.versus {
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

fn contrast_part(page: &ComparePage<'_>, contrast: &Contrast, listed: &Listed) -> Markup {
    let comparison = page.comparison;
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
            (lines::metrics(page, contrast))
            (cases::list(page, contrast, listed))
            (lines::amounts(comparison, contrast))
            (lines::slices(page, contrast))
            (lines::labels(contrast))
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
