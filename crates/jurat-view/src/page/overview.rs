//! A run as a whole: how it ended, its tasks, its slices.

use jurat_core::report::{RunReport, TaskTotal};
use jurat_report::{counted, duration, grouped, money, rate};
use maud::{Markup, html};

use super::shell::{RunLinks, cases};
use super::{Section, Shell};
use crate::part::bar;
use crate::part::text::{line, lines, sentence};
use crate::part::time::moment;
use crate::part::verdict;
use crate::route::Route;

/// What the page shows.
#[derive(Debug)]
pub(crate) struct OverviewPage {
    /// The id in addresses.
    pub(crate) run: String,
    pub(crate) report: RunReport,
}

pub(crate) fn page(page: &OverviewPage) -> Markup {
    let OverviewPage { run, report } = page;
    let links = RunLinks { id: run, suite: &report.suite, section: Section::Overview };
    let data = Some(Route::overview(run).json());
    let shell = Shell { title: report.suite.clone(), run: Some(links), steps: Vec::new(), data };
    shell.page(&html! {
        (head(report))
        (verdicts(run, report))
        (tasks(run, report))
    })
}

fn head(report: &RunReport) -> Markup {
    let observed = &report.observed;
    html! {
        div.head {
            h1 { (line(&report.suite)) }
            p.about {
                (moment(observed.started_at_ms))
                " · " (duration(observed.wall))
                @if let Some(cost) = report.cost_usd { " · " (money(cost)) }
                @if observed.n_answers > 0 {
                    " · " (counted(observed.n_answers, "response")) ", " (grouped(observed.n_reused)) " reused"
                }
            }
        }
        p.sentence { (sentence(&report.decision.sentence)) }
        @if let Some(description) = &report.description { p.description { (lines(description)) } }
        @for note in report.fault.iter().chain(&observed.notes) { p.note { (sentence(note)) } }
    }
}

fn verdicts(run: &str, report: &RunReport) -> Markup {
    let parts = report.cases.each().map(|(verdict, n)| {
        let look = verdict::of_case(verdict);
        bar::Part { look, n, route: Some(cases(run, &format!("verdict:{}", look.query))) }
    });
    html! {
        section.verdicts aria-labelledby="verdicts" {
            h2 id="verdicts" { (counted(report.cases.total(), "case")) }
            (bar::stacked("cases", &parts))
            div.rate {
                span.figure { (rate(report.counts.pass_rate())) }
                span.caption { "pass rate over all tasks" }
                (bar::interval("pass rate", report.counts.pass_rate(), report.interval()))
                span.caption { (jurat_report::interval(report.interval())) }
            }
        }
    }
}

fn tasks(run: &str, report: &RunReport) -> Markup {
    html! {
        section aria-labelledby="tasks" {
            h2 id="tasks" { "Tasks" }
            div.scroll tabindex="0" role="region" aria-label="Tasks" {
                table.rows {
                    thead {
                        tr {
                            th scope="col" { "Task" }
                            th scope="col" { "Kind" }
                            th.number scope="col" { "Passed" }
                            th.number scope="col" { "Failed" }
                            th.number scope="col" { "Skipped" }
                            th.number scope="col" { "Error" }
                            th.number scope="col" { "Pass rate" }
                            th.wide scope="col" { "95 % interval" }
                        }
                    }
                    tbody { @for task in &report.tasks { (task_row(run, task)) } }
                }
            }
        }
    }
}

fn task_row(run: &str, task: &TaskTotal) -> Markup {
    let counts = &task.counts;
    let cell = |n: u64, word: &str| {
        let route = cases(run, &format!("task:{}={word}", task.id));
        html! { td.number { @if n > 0 { a href=(route) { (grouped(n)) } } @else { span.none { "0" } } } }
    };
    html! {
        tr data-row="" {
            th scope="row" { (line(&task.id)) @if !task.is_counted() { " " span.tag { "gate" } } }
            td { (line(&task.kind)) }
            (cell(counts.passed, "passed"))
            (cell(counts.failed, "failed"))
            (cell(counts.skipped, "skipped"))
            (cell(counts.errored, "error"))
            td.number { (rate(counts.pass_rate())) }
            td.wide { (bar::interval(&task.id, counts.pass_rate(), task.interval())) }
        }
    }
}
