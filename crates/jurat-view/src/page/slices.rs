//! Pass rates by one or two paths, the worst lower bound first.

use jurat_core::report::{Independence, SliceTotal, interval};
use jurat_core::verdict::Counts;
use jurat_engine::view::query::{quoted_name, quoted_value};
use jurat_report::{grouped, rate};
use maud::{Markup, html};

use super::shell::{RunLinks, cases};
use super::{Section, Shell, totals};
use crate::part::bar;
use crate::part::text::line;
use crate::route::{Route, RunPage, Slices};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct SlicesPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    pub(crate) route: Slices,
    /// The paths that the suite groups by.
    pub(crate) paths: Vec<String>,
    pub(crate) slices: Vec<SliceTotal>,
    /// Where two paths are chosen: each pair of values.
    pub(crate) cells: Vec<Cell>,
}

/// The cases with one value at each of two paths.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) one: Option<String>,
    pub(crate) two: Option<String>,
    /// How many cases it has.
    pub(crate) n_cases: u64,
    pub(crate) counts: Counts,
    pub(crate) independence: Independence,
}

pub(crate) fn page(page: &SlicesPage) -> Markup {
    let route = |slices: Slices| Route::Run { run: page.run.clone(), page: RunPage::Slices(slices) };
    let shell = Shell {
        title: format!("Slices of {}", page.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.suite, section: Section::Slices }),
        steps: vec![("slices".to_owned(), None)],
        data: Some(route(page.route.clone()).json()),
    };
    shell.page(&html! {
        h1 { "Slices" }
        @if page.paths.is_empty() {
            section.message { p { "This suite has no " code { "group_by" } ". With it, cases are grouped by values of their rows, and this page compares the groups." } }
        } @else {
            nav.chips aria-label="Paths" {
                a.chip href=(route(Slices { by: Vec::new(), ..page.route.clone() })) aria-current=[page.route.by.is_empty().then_some("true")] { "all paths" }
                @for path in &page.paths {
                    @let by = vec![path.clone()];
                    a.chip href=(route(Slices { by: by.clone(), ..page.route.clone() })) aria-current=[(page.route.by == by).then_some("true")] { (line(path)) }
                }
                @for (one, two) in pairs(&page.paths) {
                    @let by = vec![one.clone(), two.clone()];
                    a.chip href=(route(Slices { by: by.clone(), ..page.route.clone() })) aria-current=[(page.route.by == by).then_some("true")] { (line(one)) " × " (line(two)) }
                }
            }
            form.actions method="get" action=(route(Slices::default())) {
                @for path in &page.route.by { input type="hidden" name="by" value=(path); }
                label { "At least " input.small type="number" name="least" min="0" value=(page.route.least) aria-label="Least number of judged results"; " judged results" }
                button type="submit" { "Apply" }
            }
            @if page.route.by.len() == 2 { (matrix(page)) } @else { (totals::slices(&page.run, &page.slices, page.route.least)) }
        }
    })
}

/// All pairs of paths, each once.
fn pairs(paths: &[String]) -> impl Iterator<Item = (&String, &String)> {
    paths.iter().enumerate().flat_map(|(ix, one)| paths[ix + 1..].iter().map(move |two| (one, two)))
}

fn matrix(page: &SlicesPage) -> Markup {
    let mut cells: Vec<&Cell> =
        page.cells.iter().filter(|it| it.counts.passed + it.counts.failed >= page.route.least).collect();
    let low = |it: &Cell| interval(&it.counts, it.independence).map_or(2.0, |it| it.low);
    cells.sort_by(|one, other| low(one).total_cmp(&low(other)));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Slices by two paths" {
            table.rows {
                thead {
                    tr {
                        @for path in &page.route.by { th scope="col" { (line(path)) } }
                        th.number scope="col" { "Judged" } th.number scope="col" { "Pass rate" } th.wide scope="col" { "95 % interval" } th scope="col" { span.hidden { "Cases" } }
                    }
                }
                tbody {
                    @for cell in cells {
                        tr data-row="" {
                            th scope="row" { (value(cell.one.as_deref())) }
                            td { (value(cell.two.as_deref())) }
                            td.number { (grouped(cell.counts.passed + cell.counts.failed)) }
                            td.number { (rate(cell.counts.pass_rate())) }
                            td.wide { (bar::interval("pass rate", cell.counts.pass_rate(), interval(&cell.counts, cell.independence))) }
                            td { @if let Some(q) = query(page, cell) { a.open href=(cases(&page.run, &q)) { "cases" } } }
                        }
                    }
                }
            }
        }
    }
}

fn value(text: Option<&str>) -> Markup {
    html! { @match text { Some(text) => (line(text)), None => span.none { "none" } } }
}

fn query(page: &SlicesPage, cell: &Cell) -> Option<String> {
    let term = |path: &String, value: &String| format!("group:{}={}", quoted_name(path), quoted_value(value));
    let [one, two] = page.route.by.as_slice() else { return None };
    Some(format!("{} {}", term(one, cell.one.as_ref()?), term(two, cell.two.as_ref()?)))
}
