//! A run that has not ended: how far it has come, and what it waits for. The same markup is in the page and in events.

use jurat_core::report::{CaseCounts, RunCondition};
use jurat_engine::view::RunListing;
use jurat_report::{counted, grouped, rate, short_cost};
use maud::{Markup, html};

use super::shell::cases;
use crate::part::text::line;
use crate::part::{bar, verdict};
use crate::route::{Route, RunPage};

/// Whether a run may still change.
pub(crate) fn is_live(condition: &RunCondition) -> bool {
    matches!(condition, RunCondition::Running | RunCondition::Killed)
}

/// Where events about a run come from.
pub(crate) fn events(run: &str) -> Route {
    Route::Run { run: run.to_owned(), page: RunPage::Events }
}

/// How far a run has come.
pub(crate) fn state(run: &str, listing: &RunListing) -> Markup {
    let RunListing { entry, counts, cost_usd, n_unpriced, expected_cases, progress, .. } = listing;
    let n = entry.cases.unwrap_or_default();
    let done = progress.as_ref().map_or(n, |it| it.done.max(n));
    html! {
        div.live id="live" data-part="state" {
            p {
                (verdict::condition(&entry.condition)) " "
                strong { (grouped(done)) } @if let Some(of) = expected_cases { " of " (grouped(*of)) } " cases done"
                " · pass rate " strong { (rate(counts.pass_rate())) }
                @if let Some(cost) = short_cost(*cost_usd, *n_unpriced) { " · " (cost) }
            }
            @if let Some(of) = expected_cases { progress max=((*of).max(1)) value=(done) aria-label="Cases done" {} }
            @if let Some(it) = progress.as_ref().filter(|_| entry.condition == RunCondition::Running) {
                p.hint {
                    (counted(it.in_flight, "request")) " in flight"
                    " · " (counted(it.requests, "request")) " made, " (grouped(it.failed_requests)) " failed"
                    @if let Some(case) = &it.slow_case { " · all others wait for " code { (line(case)) } }
                }
            }
            @if entry.condition == RunCondition::Killed {
                p.note { "The process that wrote this run is gone. The same command resumes it." }
            }
            p.hint data-recomputed="" hidden { "Computed again from its log: until it has caught up, counts are lower than before." }
            @if !is_live(&entry.condition) { p { a href=(Route::overview(run)) { "The run has ended: show its report" } } }
        }
    }
}

/// How the cases so far ended.
pub(crate) fn case_bar(run: &str, counts: &CaseCounts) -> Markup {
    let parts = counts.each().map(|(verdict, n)| {
        let look = verdict::of_case(verdict);
        bar::Part { look, n, route: Some(cases(run, &format!("verdict:{}", look.query))) }
    });
    html! {
        div data-part="cases" {
            h2 id="verdicts" { (counted(counts.total(), "case")) }
            (bar::stacked("cases", &parts))
        }
    }
}

/// On the table of cases: that there are more than it shows.
pub(crate) fn new_cases(run: &str, listing: &RunListing, shown: u64, own: &Route) -> Markup {
    html! {
        @if is_live(&listing.entry.condition) {
            div.live-cases data-events=(events(run)) data-cases=(shown) {
                p.hint { (verdict::condition(&listing.entry.condition)) " The table shows what was there when it was loaded. " a href=(own) { "Reload" } }
                p role="status" { a.new-cases href=(own) hidden {} }
            }
        }
    }
}
