//! What a run took: money, tokens and time.

use std::time::Duration;

use jurat_core::report::RunReport;
use jurat_engine::view::query::{Latencies, Spent};
use jurat_report::{counted, duration, grouped, money};
use maud::{Markup, html};

use super::cases::variant;
use super::shell::RunLinks;
use super::totals::Spread;
use super::{Section, Shell, totals};
use crate::part::bar;
use crate::part::text::{excerpt, line};
use crate::route::{Case, Route, RunPage, VariantName};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct CostPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) report: RunReport,
    pub(crate) purposes: Vec<SpentLine>,
    /// Whether all that conversations asked for stands with the subject.
    pub(crate) is_rough: bool,
    pub(crate) tasks: Vec<SpentLine>,
    pub(crate) models: Vec<SpentLine>,
    /// How many responses took how long.
    pub(crate) latencies: Latencies,
    /// How the cost and the tokens of cases are spread, where they differ.
    pub(crate) costs: Option<Spread>,
    pub(crate) tokens: Option<Spread>,
    pub(crate) dearest: Vec<SpentCase>,
    pub(crate) slowest: Vec<SpentCase>,
}

#[derive(Debug)]
pub(crate) struct SpentLine {
    pub(crate) name: String,
    pub(crate) spent: Spent,
    pub(crate) latencies: Latencies,
}

impl SpentLine {
    pub(crate) fn of(name: String, (spent, latencies): &(Spent, Latencies)) -> SpentLine {
        SpentLine { name, spent: *spent, latencies: *latencies }
    }
}

#[derive(Debug)]
pub(crate) struct SpentCase {
    pub(crate) name: String,
    /// Which of the cases of its row it is.
    pub(crate) variant: VariantName,
    pub(crate) took: Option<Duration>,
    pub(crate) spent: Spent,
}

pub(crate) fn page(page: &CostPage) -> Markup {
    let route = Route::Run { run: page.run.clone(), page: RunPage::Cost };
    let shell = Shell {
        title: format!("Cost of {}", page.report.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.report.suite, section: Section::Cost }),
        steps: vec![("cost".to_owned(), None)],
        data: Some(route.json()),
    };
    shell.page(&html! {
        h1 { "Cost and time" }
        @if page.tasks.is_empty() { p { "This run asked no model." } }
        (tables(page))
        (totals::subjects(&page.run, &page.report.subjects))
        (distributions(page))
        @if !page.dearest.is_empty() { (case_table(page, "Dearest cases", &page.dearest)) }
        (case_table(page, "Slowest cases", &page.slowest))
    })
}

/// The same in a file, where subjects stand among the results.
pub(crate) fn in_file(page: &CostPage) -> Markup {
    html! {
        @if !page.tasks.is_empty() {
            h2 { "Cost and time" }
            (tables(page))
            (distributions(page))
        }
    }
}

fn tables(page: &CostPage) -> Markup {
    html! {
        (spent_table("By purpose", "Asked of", &page.purposes))
        @if page.is_rough { p.hint { "All that conversations asked for stands with the subject: there are too many responses to read each for its purpose." } }
        (spent_table("By task", "Task", &page.tasks))
        (spent_table("By model", "Model", &page.models))
    }
}

fn distributions(page: &CostPage) -> Markup {
    html! {
        @if !page.latencies.is_empty() { (latencies(&page.latencies)) }
        (distribution("Cost of a case", "cost", page.costs.as_ref(), &|it| money(it)))
        (distribution("Tokens of a case", "tokens", page.tokens.as_ref(), &|it| grouped(it as u64)))
    }
}

fn spent_table(title: &str, what: &str, rows: &[SpentLine]) -> Markup {
    html! {
        @if !rows.is_empty() {
            section {
                h2 { (title) }
                div.scroll tabindex="0" role="region" aria-label=(title) {
                    table.rows {
                        thead { tr { th scope="col" { (what) } th.number scope="col" { "Responses" } th.number scope="col" { "Reused" } th.number scope="col" { "Requests" } th.number scope="col" { "Failed" } th.number scope="col" { "Tokens" } th.number scope="col" { "Cost" } th.number scope="col" { "Mean latency" } th.number scope="col" { "p95" } } }
                        tbody {
                            @for row in rows {
                                tr data-row="" {
                                    th scope="row" { (line(&row.name)) }
                                    td.number { (grouped(u64::from(row.spent.answers))) }
                                    td.number { (grouped(u64::from(row.spent.reused))) }
                                    td.number { (grouped(u64::from(row.spent.requests))) }
                                    td.number { (grouped(u64::from(row.spent.failed_requests))) }
                                    td.number { (grouped(row.spent.tokens)) }
                                    td.number { (cost(&row.spent)) }
                                    td.number { @if row.spent.answers > 0 { (duration(row.spent.latency() / row.spent.answers)) } @else { span.none { "–" } } }
                                    td.number { @if let Some(within) = row.latencies.quantile(0.95) { (duration(within)) } @else { span.none { "–" } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cost(spent: &Spent) -> Markup {
    html! {
        @match spent.cost_usd() {
            Some(cost) => { (money(cost)) @if spent.unpriced > 0 { span.hint title={ (counted(u64::from(spent.unpriced), "response")) " without a known price" } { " +?" } } },
            None => span.none { "–" },
        }
    }
}

fn latencies(all: &Latencies) -> Markup {
    let (counts, n) = (all.counts(), all.total());
    let first = counts.iter().position(|it| *it > 0).unwrap_or(0);
    let last = counts.iter().rposition(|it| *it > 0).unwrap_or(0);
    let within = |share: f64| all.quantile(share).map(duration).unwrap_or_default();
    html! {
        section aria-labelledby="latency" {
            h2 id="latency" { "Latency of responses" }
            div.tiles {
                @for (name, share) in [("half took at most", 0.5), ("95 % took at most", 0.95), ("99 % took at most", 0.99)] {
                    div.tile { span.figure { (within(share)) } span.caption { (name) } }
                }
            }
            div.histogram {
                (bar::columns(&format!("Latency of {}", counted(n, "response")), &counts[first..=last]))
                p.hint.axis { span { (duration(Latencies::end(first))) } @if last > first { span { (duration(Latencies::end(last))) } } }
            }
            p.hint { "Counted in buckets that grow by the square root of two; the figures are upper ends of their buckets." }
            details {
                summary { "The same as a table" }
                table.rows { thead { tr { th scope="col" { "At most" } th.number scope="col" { "Responses" } } } tbody { @for ix in first..=last { tr { td { (duration(Latencies::end(ix))) } td.number { (grouped(counts[ix])) } } } } }
            }
        }
    }
}

/// How an amount is spread over cases, in equal steps.
fn distribution(title: &str, id: &str, spread: Option<&Spread>, words: &dyn Fn(f64) -> String) -> Markup {
    html! {
        @if let Some(it) = spread {
            @let end = |ix: usize| words(it.least + (it.most - it.least) * ix as f64 / it.counts.len() as f64);
            section aria-labelledby=(id) {
                h2 id=(id) { (title) }
                div.histogram {
                    (bar::columns(title, &it.counts))
                    p.hint.axis { span { (words(it.least)) } span { (words(it.most)) } }
                }
                details {
                    summary { "The same as a table" }
                    table.rows {
                        thead { tr { th scope="col" { "From" } th scope="col" { "To" } th.number scope="col" { "Cases" } } }
                        tbody { @for (ix, n) in it.counts.iter().enumerate() { tr { td { (end(ix)) } td { (end(ix + 1)) } td.number { (grouped(*n)) } } } }
                    }
                }
            }
        }
    }
}

fn case_route(page: &CostPage, row: &SpentCase) -> Route {
    let case = Case { id: row.name.clone(), variant: row.variant.clone(), ..Case::default() };
    Route::Run { run: page.run.clone(), page: RunPage::Case(case) }
}

fn case_table(page: &CostPage, title: &str, rows: &[SpentCase]) -> Markup {
    html! {
        section {
            h2 { (title) }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table.rows {
                    thead { tr { th scope="col" { "Case" } th.number scope="col" { "Took" } th.number scope="col" { "Responses" } th.number scope="col" { "Tokens" } th.number scope="col" { "Cost" } } }
                    tbody {
                        @for row in rows {
                            tr data-row="" {
                                th scope="row" { a.open href=(case_route(page, row)) { (excerpt(&row.name, 60)) } (variant(&row.variant)) }
                                td.number { @if let Some(took) = row.took { (duration(took)) } @else { span.none { "–" } } }
                                td.number { (grouped(u64::from(row.spent.answers))) }
                                td.number { (grouped(row.spent.tokens)) }
                                td.number { (cost(&row.spent)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
