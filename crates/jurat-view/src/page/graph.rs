//! Graphs with counts: what was exercised, and what never was.

use jurat_core::report::RunReport;
use jurat_core::report::plan::PlanReport;
use jurat_core::report::scenario::Unexercised;
use jurat_report::visible_line;
use maud::{Markup, html};

use super::shell::RunLinks;
use super::{Section, Shell, totals};
use crate::part::graph;
use crate::part::text::{line, sentence};
use crate::route::{Route, RunPage};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct GraphPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) plan: PlanReport,
    pub(crate) followed: graph::Followed,
    pub(crate) report: RunReport,
}

pub(crate) fn page(page: &GraphPage) -> Markup {
    let route = Route::Run { run: page.run.clone(), page: RunPage::Graph };
    let shell = Shell {
        title: format!("Graph of {}", page.report.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.report.suite, section: Section::Graph }),
        steps: vec![("graph".to_owned(), None)],
        data: Some(route.json()),
    };
    shell.page(&html! {
        h1 { "Graph" }
        @if !page.plan.stages.is_empty() {
            (tasks(&page.run, &page.plan, &page.report, &page.followed))
            (totals::tasks(&page.run, &page.report, &totals::Scores::default()))
        }
        @for scenario in &page.report.scenarios {
            section {
                h2 { (line(&scenario.graph.name)) }
                @if let Some(description) = &scenario.graph.description { p.description { (line(description)) } }
                div.scroll tabindex="0" role="region" aria-label={ "Graph of " (visible_line(&scenario.graph.name)) } { (graph::drawing(&page.run, &scenario.graph)) }
                @let unexercised = scenario.unexercised();
                @if !unexercised.is_empty() {
                    h3 { "Never exercised" }
                    ul { @for it in &unexercised { li { (sentence(&words(it))) } } }
                }
            }
        }
    })
}

/// The drawing of the tasks, with what its marks mean.
pub(super) fn tasks(run: &str, plan: &PlanReport, report: &RunReport, followed: &graph::Followed) -> Markup {
    html! {
        p.hint { "A task leads to the cases where it failed: ✓ passed, ✗ failed, – skipped, ≈ measured, ! error. An arrow leads to the cases in which it was followed; one out of a gate is broken, and followed only when the gate passes." }
        div.scroll tabindex="0" role="region" aria-label="Graph of tasks" { (graph::plan(run, plan, report, followed)) }
    }
}

/// What no conversation exercised, in words.
pub(crate) fn words(it: &Unexercised) -> String {
    match it {
        Unexercised::Node(node) => format!("the node `{node}` was never asked"),
        Unexercised::Edge { from, to, when: Some(when) } => {
            format!("the edge from `{from}` to `{to}` when {when} was never taken")
        }
        Unexercised::Edge { from, to, when: None } => format!("the edge from `{from}` to `{to}` was never taken"),
        Unexercised::NeverTrue(outcome) => format!("the outcome `{outcome}` was never true"),
        Unexercised::NeverFalse(outcome) => format!("the outcome `{outcome}` was never false"),
        Unexercised::NeverDecided(outcome) => format!("the outcome `{outcome}` was never decided"),
    }
}
