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
use crate::route::{Case, Flaky, Route, RunPage, VariantName};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct FlakyPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    /// The task whose repetitions are shown, and whose subject; nothing for all.
    pub(crate) route: Flaky,
    /// How many rows were judged; nothing when each case was run once.
    pub(crate) n_units: Option<u64>,
    /// How many flip, shown or not.
    pub(crate) n_all: usize,
    /// The tasks that flip, and in how many rows.
    pub(crate) by_task: Vec<(String, usize)>,
    /// The subjects, where there are several, and how many of their rows flip.
    pub(crate) by_subject: Vec<(String, usize)>,
    pub(crate) rows: Vec<FlakyRow>,
}

#[derive(Debug)]
pub(crate) struct FlakyRow {
    pub(crate) case: FlakyCase,
    /// Each repetition with how it ended.
    pub(crate) repetitions: Vec<(VariantName, Code)>,
}

pub(crate) fn page(page: &FlakyPage) -> Markup {
    let at = |route: Flaky| Route::Run { run: page.run.clone(), page: RunPage::Flaky(route) };
    let of_task = |task: Option<String>| at(Flaky { task, ..page.route.clone() });
    let of_subject = |subject: Option<String>| at(Flaky { subject, ..page.route.clone() });
    let shell = Shell {
        title: format!("Flaky cases of {}", page.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.suite, section: Section::Flaky }),
        steps: vec![("flaky".to_owned(), None)],
        data: Some(at(page.route.clone()).json()),
    };
    shell.page(&html! {
        h1 { "Flaky cases" }
        @match page.n_units {
            None => section.message { p { "Each case of this run was run once, so none can be flaky. " code { "jurat run --repeat 3" } " runs each three times." } },
            Some(n_units) => {
                p { (grouped(page.n_all as u64)) " of " (counted(n_units, "row")) " passed in some repetitions and failed in others." }
                (chips("Tasks", "all", page.route.task.as_ref(), &page.by_task, &of_task))
                @if !page.by_subject.is_empty() { (chips("Subjects", "all subjects", page.route.subject.as_ref(), &page.by_subject, &of_subject)) }
                @if !page.rows.is_empty() { (table(page)) }
                @if page.rows.len() < page.n_all { p.hint { "The first " (page.rows.len()) " are shown. The query " code { "flaky:yes" } " finds all." } }
            },
        }
    })
}

/// Parts of the rows, each with how many there are.
fn chips(
    title: &str,
    all: &str,
    chosen: Option<&String>,
    parts: &[(String, usize)],
    route: &dyn Fn(Option<String>) -> Route,
) -> Markup {
    html! {
        nav.chips aria-label=(title) {
            a.chip href=(route(None)) aria-current=[chosen.is_none().then_some("true")] { (all) }
            @for (name, n) in parts {
                a.chip href=(route(Some(name.clone()))) aria-current=[(chosen == Some(name)).then_some("true")] { (line(name)) " " (n) }
            }
        }
    }
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
        let case = Case {
            id: case.clone(),
            variant,
            task: page.route.task.clone(),
            q: "flaky:yes".to_owned(),
            ..Case::default()
        };
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
