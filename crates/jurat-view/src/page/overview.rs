//! A run as a whole: how it ended, its tasks, its slices.

use jurat_core::report::plan::PlanReport;
use jurat_core::report::{RunReport, TaskTotal};
use jurat_engine::view::query::{Latencies, Sort, quoted_name};
use jurat_engine::view::{RunListing, cause_query};
use jurat_report::{cost, counted, duration, grouped, money, rate, short_cost};
use maud::{Markup, html};

use super::runs::{self, Previous};
use super::shell::{RunLinks, cases, short_id};
use super::{Section, Shell, graph, live, totals};
use crate::part::bar;
use crate::part::graph::Followed;
use crate::part::text::{line, lines, sentence};
use crate::part::time::moment;
use crate::route::{Cases, Route, RunPage, SLICES, Slices};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct OverviewPage {
    /// The id in addresses.
    pub(crate) run: String,
    pub(crate) report: RunReport,
    /// How far it has come, when it has not ended.
    pub(crate) live: Option<RunListing>,
    /// The run before it, where there is one.
    pub(crate) previous: Option<Previous>,
    /// The tasks as a graph, where some depend on others.
    pub(crate) plan: Option<PlanReport>,
    /// In how many cases each arrow of that graph was followed.
    pub(crate) followed: Followed,
    /// How the scores of tasks are spread.
    pub(crate) scores: totals::Scores,
    /// How many responses took how long, where the run says so.
    pub(crate) latencies: Option<Latencies>,
    /// The texts of the suite, by name.
    pub(crate) documents: Vec<(String, String)>,
}

pub(crate) fn page(page: &OverviewPage) -> Markup {
    let OverviewPage { run, report, .. } = page;
    let links = RunLinks { id: run, suite: &report.suite, section: Section::Overview };
    let data = Some(Route::overview(run).json());
    let shell = Shell { title: report.suite.clone(), run: Some(links), steps: Vec::new(), data };
    shell.page(&html! {
        (head(report))
        @if let Some(it) = &page.live { div data-events=(live::events(run)) data-cases=(report.cases.total()) data-errors=(report.cases.error) { (live::state(run, it)) } }
        (verdicts(page))
        (tiles(page))
        div data-part="first" { (look_first(page)) }
        (totals::tasks(run, report, &page.scores))
        (slice_table(page))
        (totals::subjects(run, &report.subjects))
        (totals::dimensions(&report.dimensions))
        (scenarios(page))
        @if let Some(plan) = &page.plan {
            section aria-labelledby="graph" {
                h2 id="graph" { "Graph" }
                (graph::tasks(run, plan, report, &page.followed))
            }
        }
        section aria-labelledby="definition" {
            h2 id="definition" { "Definition" }
            (rules(report))
            @for (name, text) in &page.documents { (totals::folded(name, text)) }
        }
    })
}

/// What cases and tasks ended in: what a replay shows as well.
pub(crate) fn results(run: &str, report: &RunReport) -> Markup {
    html! {
        (case_verdicts(run, report, &html! {}))
        (totals::tasks(run, report, &totals::Scores::default()))
    }
}

/// When it was and what it took.
pub(crate) fn when(report: &RunReport) -> Markup {
    let observed = &report.observed;
    html! {
        (moment(observed.started_at_ms))
        " · " (duration(observed.wall)) @if observed.resumed { " of the last process" }
        @if let Some(cost) = cost(report.cost_usd, report.n_unpriced) { " · " (cost) (spent_now(report)) }
        @if observed.n_answers > 0 {
            " · " (counted(observed.n_answers, "response")) ", " (grouped(observed.n_reused)) " reused"
            @if observed.n_shared > 0 { ", " (grouped(observed.n_shared)) " shared" }
        }
    }
}

/// What the run itself paid, where that is not what its responses cost: it reused some, or cases share them.
fn spent_now(report: &RunReport) -> String {
    let spent = report.observed.spent.map(|it| it.cost_usd.unwrap_or(0.0));
    let other = spent.filter(|it| (it - report.cost_usd.unwrap_or(0.0)).abs() > 1e-9);
    other.map(|it| format!(", {} spent by this run", money(it))).unwrap_or_default()
}

fn head(report: &RunReport) -> Markup {
    let observed = &report.observed;
    html! {
        div.head {
            h1 { (line(&report.suite)) }
            p.about { (when(report)) }
        }
        p.sentence { (sentence(&report.decision.sentence)) }
        @for note in &report.decision.notes { p.note { (sentence(note)) } }
        @if observed.resumed { p.about { "Resumed: an earlier attempt was interrupted, and what it had recorded was used." } }
        @if let Some(of) = &observed.replay_of { p.about.replay { "A replay of " code { (line(of)) } ": every response was recorded before." } }
        @if let Some(description) = &report.description { p.description { (lines(description)) } }
        @for note in report.fault.iter().chain(&observed.notes) { p.note { (sentence(note)) } }
    }
}

fn verdicts(page: &OverviewPage) -> Markup {
    let since = page.previous.as_ref().map(|it| (it, runs::change(&page.run, page.report.counts.pass_rate(), it)));
    let since = html! {
        @if let Some((previous, change)) = since {
            span.caption.since { (change) " since " a href=(Route::overview(&previous.id)) { (line(short_id(&previous.id))) } }
        }
    };
    case_verdicts(&page.run, &page.report, &since)
}

/// How cases ended, and the pass rate with what stands below it.
fn case_verdicts(run: &str, report: &RunReport, below: &Markup) -> Markup {
    html! {
        section.verdicts aria-labelledby="verdicts" {
            (live::case_bar(run, &report.cases))
            div.rate {
                span.figure { (rate(report.counts.pass_rate())) }
                span.caption { "pass rate over all tasks" }
                (bar::interval("pass rate", report.counts.pass_rate(), report.interval()))
                span.caption { (jurat_report::interval(report.interval())) }
                (below)
            }
        }
    }
}

/// What to look at before anything else, each a link into cases.
fn look_first(page: &OverviewPage) -> Markup {
    let OverviewPage { run, report, .. } = page;
    let mut tasks: Vec<&TaskTotal> = report.tasks.iter().filter(|it| it.is_counted() && it.counts.failed > 0).collect();
    tasks.sort_by_key(|it| std::cmp::Reverse(it.counts.failed));
    let n_flaky = report.repetition.as_ref().map_or(0, |it| it.n_flaky);
    html! {
        @if report.cases.total() > 0 {
            section aria-labelledby="first" {
                h2 id="first" { "Look first" }
                ul.look {
                    @for cause in report.causes.iter().take(MOST_FIRST) {
                        li {
                            span.badge.error { "! error" } " "
                            a href=(cases(run, &cause_query(cause))) { (counted(cause.n_cases, "case")) } " could not be judged: " (sentence(&cause.message))
                            @if let Some(remedy) = &cause.remedy { " " span.hint { (sentence(remedy)) } }
                        }
                    }
                    @for task in tasks.iter().take(MOST_FIRST) {
                        li {
                            span.badge.failed { "✗ failed" } " "
                            a href=(cases(run, &format!("task:{}=failed", quoted_name(&task.id)))) { (line(&task.id)) " failed in " (counted(task.counts.failed, "case")) }
                        }
                    }
                    @if n_flaky > 0 {
                        li { a href=(cases(run, "flaky:yes")) { (counted(n_flaky, "row")) " passed in some repetitions and failed in others" } }
                    }
                    li {
                        a href=(by(run, Sort::Took)) { "the slowest cases" }
                        @if report.cost_usd.is_some_and(|it| it > 0.0) { " · " a href=(by(run, Sort::Cost)) { "the dearest cases" } }
                    }
                }
            }
        }
    }
}

/// The cases in an order, those with the most first.
fn by(run: &str, sort: Sort) -> Route {
    Route::Run { run: run.to_owned(), page: RunPage::Cases(Cases { sort, descending: true, ..Cases::default() }) }
}

/// How many causes and how many tasks are named first.
const MOST_FIRST: usize = 5;

fn tiles(page: &OverviewPage) -> Markup {
    let report = &page.report;
    let observed = &report.observed;
    let within = |share: f64| page.latencies.as_ref().and_then(|it| it.quantile(share)).map(duration);
    let tokens = report.usage.input + report.usage.output;
    let tiles = [
        (short_cost(report.cost_usd, report.n_unpriced), format!("cost{}", spent_now(report))),
        ((tokens > 0).then(|| grouped(tokens)), format!("tokens, {} of them output", grouped(report.usage.output))),
        (
            (observed.n_answers > 0).then(|| grouped(observed.n_answers)),
            format!("responses, {} reused", grouped(observed.n_reused)),
        ),
        (
            (observed.n_requests > 0).then(|| grouped(observed.n_requests)),
            format!("requests, {} failed", grouped(observed.n_failed_requests)),
        ),
        (within(0.5), format!("median latency, p95 {}", within(0.95).unwrap_or_default())),
        ((observed.n_tool_calls > 0).then(|| grouped(observed.n_tool_calls)), "tool calls".to_owned()),
        (
            Some(duration(observed.wall)).filter(|_| !observed.wall.is_zero()),
            (if observed.resumed { "the last of its processes" } else { "from start to end" }).to_owned(),
        ),
    ];
    html! {
        div.tiles {
            @for (figure, caption) in tiles {
                @if let Some(figure) = figure { div.tile { span.figure { (figure) } span.caption { (caption) } } }
            }
        }
    }
}

/// Every rule by which the run was decided.
fn rules(report: &RunReport) -> Markup {
    html! {
        @if report.decision.rules.len() > 1 {
            details { summary { "Rules that decided" } ul { @for rule in &report.decision.rules { li { (sentence(&rule.sentence)) } } } }
        }
    }
}

fn slice_table(page: &OverviewPage) -> Markup {
    let OverviewPage { run, report, .. } = page;
    html! {
        @if !report.slices.is_empty() {
            section aria-labelledby="slices" {
                h2 id="slices" { "Slices" }
                @let sorted = totals::worst_first(&report.slices, 0);
                @let shown = &sorted[..sorted.len().min(SLICES as usize)];
                (totals::slices(run, shown))
                @if shown.len() < sorted.len() {
                    @let rest = RunPage::Slices(Slices { from: SLICES, ..Slices::default() });
                    p.hint {
                        "The " (grouped(SLICES)) " with the worst lower bound, of " (counted(sorted.len() as u64, "slice")) ". "
                        a href=(Route::Run { run: run.clone(), page: rest }) { "The others" }
                    }
                }
            }
        }
    }
}

fn scenarios(page: &OverviewPage) -> Markup {
    html! {
        @if !page.report.scenarios.is_empty() {
            section aria-labelledby="scenarios" {
                h2 id="scenarios" { "Scenarios" }
                ul.look {
                    @for it in &page.report.scenarios {
                        li {
                            strong { (line(&it.graph.name)) } ": " (counted(it.turns.conversations, "conversation")) ", " (counted(it.turns.total, "turn"))
                            @if it.turns.judged > 0 { ", " (grouped(it.turns.verified)) " of " (grouped(it.turns.judged)) " answers right" }
                            @let unexercised = it.unexercised();
                            @if !unexercised.is_empty() {
                                " · " a href=(Route::Run { run: page.run.clone(), page: RunPage::Graph }) { (counted(unexercised.len() as u64, "part")) " never exercised" }
                            }
                        }
                    }
                }
            }
        }
    }
}
