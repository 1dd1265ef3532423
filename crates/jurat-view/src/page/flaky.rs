//! Rows that passed in some repetitions and failed in others, the most undecided first.

use jurat_core::report::FlakyCase;
use jurat_engine::view::Code;
use jurat_report::{counted, grouped};
use maud::{Markup, html};

use super::shell::RunLinks;
use super::{Section, Shell};
use crate::part::bar;
use crate::part::text::{excerpt, line};
use crate::part::verdict::of_code;
use crate::route::{Case, Route, RunPage, VariantName};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct FlakyPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    /// The task whose repetitions are shown; nothing for those of whole cases.
    pub(crate) task: Option<String>,
    /// How many rows were judged; nothing when each case was run once.
    pub(crate) n_units: Option<u64>,
    /// How many flip, shown or not.
    pub(crate) n_all: usize,
    /// The tasks that flip, and in how many rows.
    pub(crate) by_task: Vec<(String, usize)>,
    pub(crate) rows: Vec<FlakyRow>,
}

#[derive(Debug)]
pub(crate) struct FlakyRow {
    pub(crate) case: FlakyCase,
    /// Each repetition with how it ended.
    pub(crate) repetitions: Vec<(VariantName, Code)>,
}

pub(crate) fn page(page: &FlakyPage) -> Markup {
    let route = |task: Option<String>| Route::Run { run: page.run.clone(), page: RunPage::Flaky { task } };
    let shell = Shell {
        title: format!("Flaky cases of {}", page.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.suite, section: Section::Flaky }),
        steps: vec![("flaky".to_owned(), None)],
        data: Some(route(page.task.clone()).json()),
    };
    shell.page(&html! {
        h1 { "Flaky cases" }
        @match page.n_units {
            None => section.message { p { "Each case of this run was run once, so none can be flaky. " code { "jurat run --repeat 3" } " runs each three times." } },
            Some(n_units) => {
                p { (grouped(page.n_all as u64)) " of " (counted(n_units, "row")) " passed in some repetitions and failed in others." }
                nav.chips aria-label="Tasks" {
                    a.chip href=(route(None)) aria-current=[page.task.is_none().then_some("true")] { "all" }
                    @for (task, n) in &page.by_task {
                        a.chip href=(route(Some(task.clone()))) aria-current=[(page.task.as_ref() == Some(task)).then_some("true")] { (line(task)) " " (n) }
                    }
                }
                @if !page.rows.is_empty() { (table(page)) }
                @if page.rows.len() < page.n_all { p.hint { "The first " (page.rows.len()) " are shown. The query " code { "flaky:yes" } " finds all." } }
            },
        }
    })
}

fn table(page: &FlakyPage) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Flaky cases" {
            table.rows {
                thead { tr { th scope="col" { "Case" } th scope="col" { "Variant" } th scope="col" { "Repetitions" } th.number scope="col" { "Passed" } th.wide scope="col" { "95 % interval" } th scope="col" { "Tasks that flip" } } }
                tbody { @for row in &page.rows { (flaky_row(page, row)) } }
            }
        }
    }
}

fn flaky_row(page: &FlakyPage, row: &FlakyRow) -> Markup {
    let FlakyCase { case, variant, passed, judged, interval, tasks } = &row.case;
    let route = |variant: VariantName| {
        let case =
            Case { id: case.clone(), variant, task: page.task.clone(), q: "flaky:yes".to_owned(), ..Case::default() };
        Route::Run { run: page.run.clone(), page: RunPage::Case(case) }
    };
    let first = row.repetitions.first().map(|it| it.0.clone()).unwrap_or_default();
    let rate = (*judged > 0).then(|| *passed as f64 / *judged as f64);
    html! {
        tr data-row="" {
            th scope="row" { a.open href=(route(first)) { (excerpt(case, 60)) } }
            td { (line(variant)) }
            td.strip-of {
                @for (variant, code) in &row.repetitions {
                    @let look = of_code(*code);
                    a class={ "cell " (look.class) } href=(route(variant.clone())) title=(look.word) { span.glyph aria-hidden="true" { (look.glyph) } span.hidden { "repetition " (variant.replicate.unwrap_or(1)) " " (look.word) } }
                }
            }
            td.number { (passed) " of " (judged) }
            td.wide { (bar::interval(case, rate, *interval)) }
            td.labels { @for task in tasks { (line(task)) " " } }
        }
    }
}
