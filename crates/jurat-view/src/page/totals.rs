//! Tables of totals that several pages have: tasks, slices, subjects, dimensions.

use std::collections::BTreeMap;

use jurat_core::report::{
    DimensionTotal, Independence, RunReport, SliceTotal, SubjectTotal, TaskTotal, TaskVerdict, interval,
};
use jurat_core::verdict::Counts;
use jurat_engine::view::query::{quoted_name, quoted_value};
use jurat_report::{duration, grouped, rate, score, short_cost};
use maud::{Markup, html};

use super::shell::cases;
use crate::part::bar;
use crate::part::text::{excerpt, line, lines};
use crate::part::verdict::of_task;

/// How many labels of a task are listed.
const MOST_LABELS: usize = 6;

/// Each task in a line. `scores` are those that tasks gave, by the id of the task.
pub(super) fn tasks(run: &str, report: &RunReport, scores: &Scores) -> Markup {
    let has_marks = report.tasks.iter().any(|it| it.score.is_some() || !it.labels.is_empty());
    let has_measured = report.tasks.iter().any(|it| it.counts.measured > 0);
    let shows = Shows { has_marks, has_measured };
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
                            @if has_measured { th.number scope="col" { "Measured" } }
                            th.number scope="col" { "Skipped" }
                            th.number scope="col" { "Error" }
                            th.number scope="col" { "Pass rate" }
                            th.wide scope="col" { "Results, 95 % interval" }
                            @if has_marks { th scope="col" { "Labels and scores" } }
                        }
                    }
                    tbody { @for task in &report.tasks { (task_row(run, task, shows, scores)) } }
                }
            }
        }
    }
}

/// How the scores of a task are spread: the least, the most, and how many lie in each of some equal steps between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) counts: Vec<u64>,
}

/// By the id of a task.
pub(crate) type Scores = BTreeMap<String, Spread>;

/// Which columns a table of tasks has beside those that all have.
#[derive(Clone, Copy)]
struct Shows {
    has_marks: bool,
    has_measured: bool,
}

fn task_row(run: &str, task: &TaskTotal, shows: Shows, scores: &Scores) -> Markup {
    let (counts, name) = (&task.counts, quoted_name(&task.id));
    let cell = |n: u64, word: &str| {
        let route = cases(run, &format!("task:{name}={word}"));
        html! { td.number { @if n > 0 { a href=(route) { (grouped(n)) } } @else { span.none { "0" } } } }
    };
    let parts = [
        (TaskVerdict::Passed, counts.passed),
        (TaskVerdict::Failed, counts.failed),
        (TaskVerdict::Measured, counts.measured),
        (TaskVerdict::Error, counts.errored),
        (TaskVerdict::Skipped, counts.skipped),
    ];
    let parts = parts.map(|(verdict, n)| bar::Part { look: of_task(verdict), n, route: None });
    html! {
        tr data-row="" {
            th scope="row" {
                (line(&task.id)) @if !task.is_counted() { " " span.tag { "gate" } }
                @if let Some(scenario) = &task.scenario { " " span.tag { (line(scenario)) } }
            }
            td { (line(&task.kind)) }
            (cell(counts.passed, "passed"))
            (cell(counts.failed, "failed"))
            @if shows.has_measured { (cell(counts.measured, "measured")) }
            (cell(counts.skipped, "skipped"))
            (cell(counts.errored, "error"))
            td.number { (rate(counts.pass_rate())) }
            td.wide { (bar::interval(&task.id, counts.pass_rate(), task.interval())) (bar::slim(&task.id, &parts)) }
            @if shows.has_marks { td.labels { (marks(run, task, &name)) @if let Some(it) = scores.get(&task.id) { (spread(&task.id, it)) } } }
        }
    }
}

fn spread(task: &str, it: &Spread) -> Markup {
    let (least, most) = (score(it.least), score(it.most));
    html! {
        span.spread { span { (least) } (bar::columns(&format!("scores of {task} from {least} to {most}"), &it.counts)) span { (most) } }
    }
}

fn marks(run: &str, task: &TaskTotal, name: &str) -> Markup {
    html! {
        @if let Some(mean) = task.score { "mean " (score(mean.mean)) " of " (grouped(mean.n)) " " }
        @for (label, n) in task.labels.iter().take(MOST_LABELS) {
            a href=(cases(run, &format!("label:{name}={}", quoted_value(label)))) { (excerpt(label, 24)) } " " (grouped(*n)) " "
        }
        @if task.labels.len() > MOST_LABELS { "and " (task.labels.len() - MOST_LABELS) " more" }
    }
}

/// Slices with at least this number of judged results, those with the worst lower bound first.
pub(crate) fn worst_first(slices: &[SliceTotal], least: u64) -> Vec<&SliceTotal> {
    let of = |it: &SliceTotal| (it.counts, it.independence);
    worst(slices.iter(), least, of)
}

/// The same of whatever has counts.
pub(super) fn worst<'s, T>(
    all: impl Iterator<Item = &'s T>,
    least: u64,
    of: impl Fn(&T) -> (Counts, Independence),
) -> Vec<&'s T> {
    let low = |it: &T| {
        let (counts, independence) = of(it);
        interval(&counts, independence).map_or(2.0, |it| it.low)
    };
    let is_enough = |it: &&T| of(it).0.passed + of(it).0.failed >= least;
    let mut sorted: Vec<(f64, &T)> = all.filter(is_enough).map(|it| (low(it), it)).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    sorted.into_iter().map(|it| it.1).collect()
}

pub(super) fn slices(run: &str, slices: &[&SliceTotal]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Slices" {
            table.rows {
                thead {
                    tr {
                        th scope="col" { "Path" } th scope="col" { "Value" } th.number scope="col" { "Judged" }
                        th.number scope="col" { "Pass rate" } th.wide scope="col" { "95 % interval" } th.number scope="col" { "Errors" }
                    }
                }
                tbody {
                    @for it in slices {
                        @let found = interval(&it.counts, it.independence);
                        tr data-row="" {
                            td { (line(&it.path)) }
                            th scope="row" {
                                @match &it.value {
                                    Some(value) => a.open href=(cases(run, &format!("group:{}={}", quoted_name(&it.path), quoted_value(value)))) { (line(value)) },
                                    None => span.none { "none" },
                                }
                            }
                            td.number { (grouped(it.counts.passed + it.counts.failed)) }
                            td.number { (rate(it.counts.pass_rate())) }
                            td.wide { (bar::interval(it.value.as_deref().unwrap_or("none"), it.counts.pass_rate(), found)) }
                            td.number { (grouped(it.counts.errored)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn subjects(run: &str, subjects: &[SubjectTotal]) -> Markup {
    html! {
        @if !subjects.is_empty() {
            section aria-labelledby="subjects" {
                h2 id="subjects" { "Prompts and subjects" }
                div.scroll tabindex="0" role="region" aria-label="Prompts and subjects" {
                    table.rows {
                        thead {
                            tr {
                                th scope="col" { "Variant" } th.number scope="col" { "Cases" } th.number scope="col" { "Pass rate" }
                                th.wide scope="col" { "95 % interval" } th.number scope="col" { "Tokens" } th.number scope="col" { "Cost" } th.number scope="col" { "Mean latency" }
                            }
                        }
                        tbody {
                            @for it in subjects {
                                tr data-row="" {
                                    th scope="row" { a.open href=(cases(run, &variant_query(it))) { (line(&it.name())) } }
                                    td.number { (grouped(it.cases.total())) }
                                    td.number { (rate(it.counts.pass_rate())) }
                                    td.wide { (bar::interval(&it.name(), it.counts.pass_rate(), interval(&it.counts, it.independence))) }
                                    td.number { (grouped(it.usage.input + it.usage.output)) }
                                    td.number { @if let Some(cost) = short_cost(it.cost_usd, it.n_unpriced) { (cost) } @else { span.none { "–" } } }
                                    td.number { @if let Some(latency) = it.latency { (duration(latency)) } @else { span.none { "–" } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn variant_query(it: &SubjectTotal) -> String {
    let prompt = it.prompt.as_ref().map(|it| format!("prompt:{}", quoted_value(it)));
    let subject = it.subject.as_ref().map(|it| format!("subject:{}", quoted_value(it)));
    prompt.into_iter().chain(subject).collect::<Vec<_>>().join(" ")
}

pub(super) fn dimensions(dimensions: &[DimensionTotal]) -> Markup {
    html! {
        @if !dimensions.is_empty() {
            section aria-labelledby="dimensions" {
                h2 id="dimensions" { "Dimensions" }
                div.scroll tabindex="0" role="region" aria-label="Dimensions" {
                    table.rows {
                        thead { tr { th scope="col" { "Dimension" } th.number scope="col" { "Score of 10" } th.number scope="col" { "Judged" } th.wide scope="col" { "95 % interval" } th scope="col" { "Judges" } } }
                        tbody {
                            @for it in dimensions {
                                tr {
                                    th scope="row" { (line(&it.name)) }
                                    td.number { @if let Some(number) = it.score() { (score(number)) } @else { span.none { "–" } } }
                                    td.number { (grouped(it.counts.passed + it.counts.failed)) }
                                    td.wide { (bar::interval(&it.name, it.counts.pass_rate(), interval(&it.counts, it.independence))) }
                                    td { @if let Some(judged) = &it.judged { "mean " (score(judged.mean)) " of " (grouped(judged.n)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A text that can be unfolded.
pub(super) fn folded(title: &str, text: &str) -> Markup {
    html! { details { summary { (title) } pre tabindex="0" { (lines(text)) } } }
}
