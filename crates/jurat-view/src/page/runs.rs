//! The list of runs, the newest first.

use jurat_core::report::RunCondition;
use jurat_core::statistics::Interval;
use jurat_core::verdict::Conclusion;
use jurat_engine::view::RunListing;
use jurat_report::{counted, duration, grouped, rate, short_cost, visible_line};
use maud::{Markup, html};

use super::shell::short_id;
use super::{Shell, live};
use crate::part::bar;
use crate::part::text::{excerpt, line, sentence};
use crate::part::time::moment;
use crate::part::verdict;
use crate::route::{Compare, Route, Runs};

/// A page of the list.
#[derive(Debug)]
pub(crate) struct RunsPage {
    pub(crate) list: Runs,
    pub(crate) rows: Vec<RunRow>,
    pub(crate) trends: Vec<Trend>,
    /// How many runs there are, shown or not.
    pub(crate) n_runs: usize,
    /// Where the next page begins.
    pub(crate) next: Option<u64>,
}

/// A run in one line.
#[derive(Debug)]
pub(crate) struct RunRow {
    /// The id in addresses.
    pub(crate) id: String,
    pub(crate) listing: RunListing,
    pub(crate) facts: RunFacts,
    /// The finished run of the same suite before it.
    pub(crate) previous: Option<Previous>,
    /// Whether a suite on the page names it as the base of its gates.
    pub(crate) is_base: bool,
}

/// What of a run is known once its suite is read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RunFacts {
    /// The interval of its pass rate.
    pub(crate) interval: Option<Interval>,
    pub(crate) conclusion: Option<Conclusion>,
    pub(crate) subjects: Vec<String>,
    /// The run that its gates compare with, as the suite names it.
    pub(crate) base: Option<String>,
}

/// The run before one, and its pass rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Previous {
    pub(crate) id: String,
    pub(crate) pass_rate: f64,
}

/// The pass rates of the last runs of a suite, the oldest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trend {
    pub(crate) suite: String,
    pub(crate) rates: Vec<f64>,
}

pub(crate) fn page(page: &RunsPage) -> Markup {
    let data = Some(Route::Runs(page.list.clone()).json());
    let shell = Shell { title: "Runs".to_owned(), run: None, steps: vec![("runs".to_owned(), None)], data };
    shell.page(&html! {
        div.head {
            h1 { "Runs" }
            form.filter method="get" action="/" role="search" {
                @if let Some(suite) = &page.list.suite { input type="hidden" name="suite" value=(suite); }
                input type="search" name="q" value=(page.list.q) placeholder="Filter by name" aria-label="Filter runs by name" autocomplete="off";
            }
        }
        @if let Some(suite) = &page.list.suite {
            p.chips {
                a.chip href=(Route::Runs(Runs { suite: None, ..page.list.clone() })) title="Show all suites" { "suite " (line(suite)) " ×" }
            }
        }
        @if page.rows.is_empty() { (empty(page)) } @else { (table(page)) }
    })
}

fn empty(page: &RunsPage) -> Markup {
    html! {
        section.message {
            @if page.n_runs == 0 {
                p { "This project has no runs yet. " code { "jurat run SUITE" } " makes one, and this page lists it." }
            } @else {
                p { "No run fits. " a href=(Route::Runs(Runs::default())) { "Show all " (counted(page.n_runs as u64, "run")) } }
            }
        }
    }
}

fn table(page: &RunsPage) -> Markup {
    html! {
        p.live-runs data-events=(Route::Events) role="status" { a.new-runs href=(Route::Runs(page.list.clone())) hidden {} }
        form.runs method="get" action=(Route::Compare(Compare::default())) {
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.rows {
                    thead {
                        tr {
                            th scope="col" { span.hidden { "Compare" } }
                            th scope="col" { "Run" }
                            th scope="col" { "Suite" }
                            th scope="col" { "Started" }
                            th scope="col" { "Result" }
                            th scope="col" { "Subject" }
                            th.number scope="col" { "Cases" }
                            th.number scope="col" { "Pass rate" }
                            th.number scope="col" { abbr title="Points since the run of the same suite before it" { "Change" } }
                            th.wide scope="col" { "Interval, results" }
                            th.number scope="col" { "Cost" }
                            th.number scope="col" { "Took" }
                        }
                    }
                    tbody { @for row in &page.rows { (row_markup(row)) } }
                }
            }
            div.actions {
                button type="submit" { "Compare selected runs" }
                span.hint { "Select two or more. The oldest is the base." }
            }
        }
        (pager(page))
        (trends(&page.trends))
    }
}

fn trends(trends: &[Trend]) -> Markup {
    html! {
        @if !trends.is_empty() {
            section aria-labelledby="trends" {
                h2 id="trends" { "Pass rates of the last runs" }
                div.trends {
                    @for it in trends {
                        div.tile {
                            a href=(Route::Runs(Runs { suite: Some(it.suite.clone()), ..Runs::default() })) { (line(&it.suite)) }
                            (bar::trend(&format!("pass rates of {}, the oldest first", it.suite), &it.rates))
                            span.caption { (counted(it.rates.len() as u64, "run")) ", last " (rate(it.rates.last().copied())) }
                        }
                    }
                }
            }
        }
    }
}

/// How far the pass rate moved since another run, in points, as a link to their comparison.
pub(super) fn change(run: &str, now: Option<f64>, previous: &Previous) -> Markup {
    let Some(now) = now else { return html! { span.none { "–" } } };
    let points = 100.0 * (now - previous.pass_rate);
    let compared =
        Route::Compare(Compare { base: previous.id.clone(), new: vec![run.to_owned()], ..Compare::default() });
    let (glyph, word) = match points {
        it if it > 0.05 => ("▲", "up"),
        it if it < -0.05 => ("▼", "down"),
        _ => ("", "as before"),
    };
    html! {
        a href=(compared) title={ "Compare with " (visible_line(&previous.id)) } {
            @if glyph.is_empty() { "±0.0" } @else { (format!("{points:+.1}")) " " span aria-hidden="true" { (glyph) } }
            span.hidden { " points, " (word) }
        }
    }
}

/// A run as a row of the table; events have the same.
pub(crate) fn row_markup(row: &RunRow) -> Markup {
    let RunListing { entry, counts, cost_usd, n_unpriced, wall, .. } = &row.listing;
    let overview = Route::overview(&row.id);
    if let RunCondition::Unreadable(reason) = &entry.condition {
        return html! {
            tr.unreadable data-row="" data-run=(row.id) {
                td {}
                td colspan="11" { (line(&row.id)) " " (verdict::condition(&entry.condition)) " " (sentence(reason)) }
            }
        };
    }
    let parts = [
        (verdict::of_task(jurat_core::report::TaskVerdict::Passed), counts.passed),
        (verdict::of_task(jurat_core::report::TaskVerdict::Failed), counts.failed),
        (verdict::of_task(jurat_core::report::TaskVerdict::Error), counts.errored),
    ];
    let parts = parts.map(|(look, n)| bar::Part { look, n, route: None });
    html! {
        tr data-row="" data-run=(row.id) {
            td { input type="checkbox" name="run" value=(row.id) aria-label={ "Select " (visible_line(&row.id)) }; }
            th scope="row" {
                a.open href=(overview) title=(visible_line(&row.id)) { (line(short_id(&row.id))) }
                @if row.is_base { " " span.tag title="Gates compare with this run" { "base" } }
            }
            td { a href=(Route::Runs(Runs { suite: Some(entry.suite.clone()), ..Runs::default() })) { (line(&entry.suite)) } }
            td { @if let Some(at) = entry.started_at_ms { (moment(at)) } }
            td { (result(row)) }
            td.subject { (subjects(&row.facts.subjects)) }
            td.number { @if let Some(n) = entry.cases { (grouped(n)) } }
            td.number { (rate(entry.pass_rate)) }
            td.number { @if let Some(previous) = &row.previous { (change(&row.id, entry.pass_rate, previous)) } @else { span.none { "–" } } }
            td.wide { (bar::interval("pass rate", entry.pass_rate, row.facts.interval)) (bar::slim("results of tasks", &parts)) }
            td.number { @if let Some(cost) = short_cost(*cost_usd, *n_unpriced) { (cost) } @else { span.none { "–" } } }
            td.number { @if let Some(wall) = wall { (duration(*wall)) } @else { span.none { "–" } } }
        }
    }
}

/// The conclusion of a run that has ended; otherwise its state and how much is done.
fn result(row: &RunRow) -> Markup {
    html! {
        @match (&row.listing.entry.condition, row.facts.conclusion) {
            (RunCondition::Done, Some(conclusion)) => (verdict::conclusion(conclusion)),
            (condition, _) => { (verdict::condition(condition)) @if let Some(share) = share(&row.listing) { " " (share) } },
        }
    }
}

fn subjects(names: &[String]) -> Markup {
    html! {
        @match names {
            [] => span.none { "–" },
            [one] => (excerpt(one, 28)),
            [first, rest @ ..] => { (excerpt(first, 28)) " " span.hint title=(visible_line(&names.join(", "))) { "and " (rest.len()) " more" } },
        }
    }
}

/// How much of a run in progress is done.
fn share(listing: &RunListing) -> Option<String> {
    let of = listing.expected_cases.filter(|it| *it > 0 && live::is_live(&listing.entry.condition))?;
    let done = listing.progress.as_ref().map_or(listing.entry.cases.unwrap_or_default(), |it| it.done);
    Some(format!("{} %", 100 * done.min(of) / of))
}

fn pager(page: &RunsPage) -> Markup {
    let newest = (page.list.from > 0).then(|| Route::Runs(Runs { from: 0, ..page.list.clone() }));
    let older = page.next.map(|from| Route::Runs(Runs { from, ..page.list.clone() }));
    html! {
        nav.pager aria-label="Pages" {
            @if let Some(route) = newest { a href=(route) rel="prev" { "Newest" } }
            span { (counted(page.n_runs as u64, "run")) " in all" }
            @if let Some(route) = older { a href=(route) rel="next" { "Older" } }
        }
    }
}
