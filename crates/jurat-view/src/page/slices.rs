//! Pass rates by one or two paths, the worst lower bound first.

use jurat_core::report::{Independence, SliceTotal, interval};
use jurat_core::verdict::Counts;
use jurat_engine::view::query::{quoted_name, quoted_value};
use jurat_report::{counted, grouped, rate};
use maud::{Markup, html};

use super::shell::{RunLinks, cases};
use super::{Section, Shell, totals};
use crate::part::bar;
use crate::part::text::line;
use crate::route::{Route, RunPage, SLICES, Slices};

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
                a.chip href=(route(Slices { by: Vec::new(), from: 0, ..page.route.clone() })) aria-current=[page.route.by.is_empty().then_some("true")] { "all paths" }
                @for path in &page.paths {
                    @let by = vec![path.clone()];
                    a.chip href=(route(Slices { by: by.clone(), from: 0, ..page.route.clone() })) aria-current=[(page.route.by == by).then_some("true")] { (line(path)) }
                }
                @for (one, two) in pairs(&page.paths) {
                    @let by = vec![one.clone(), two.clone()];
                    a.chip href=(route(Slices { by: by.clone(), from: 0, ..page.route.clone() })) aria-current=[(page.route.by == by).then_some("true")] { (line(one)) " × " (line(two)) }
                }
            }
            form.actions method="get" action=(route(Slices::default())) {
                @for path in &page.route.by { input type="hidden" name="by" value=(path); }
                label { "At least " input.small type="number" name="least" min="0" value=(page.route.least) aria-label="Least number of judged results"; " judged results" }
                button type="submit" { "Apply" }
            }
            @if page.route.by.len() == 2 { (matrix(page)) (cell_list(page)) } @else { (slice_list(page)) }
        }
    })
}

fn slice_list(page: &SlicesPage) -> Markup {
    let sorted = totals::worst_first(&page.slices, page.route.least);
    html! { (totals::slices(&page.run, window(&sorted, page.route.from))) (pager(page, sorted.len())) }
}

/// What a page shows of a list.
pub(crate) fn window<T>(all: &[T], from: u64) -> &[T] {
    let start = usize::try_from(from).unwrap_or(usize::MAX).min(all.len());
    &all[start..all.len().min(start + SLICES as usize)]
}

fn pager(page: &SlicesPage, n: usize) -> Markup {
    let (from, n) = (page.route.from, n as u64);
    let at = |from: u64| {
        let page_at = RunPage::Slices(Slices { from, ..page.route.clone() });
        Route::Run { run: page.run.clone(), page: page_at }
    };
    html! {
        @if n > SLICES || from > 0 {
            nav.pager aria-label="Pages" {
                @if from > 0 { a href=(at(from.saturating_sub(SLICES))) rel="prev" { "‹ previous" } }
                span { (grouped((from + 1).min(n))) "–" (grouped((from + SLICES).min(n))) " of " (counted(n, "slice")) }
                @if from + SLICES < n { a href=(at(from + SLICES)) rel="next" { "next ›" } }
            }
        }
    }
}

/// All pairs of paths, each once.
fn pairs(paths: &[String]) -> impl Iterator<Item = (&String, &String)> {
    paths.iter().enumerate().flat_map(|(ix, one)| paths[ix + 1..].iter().map(move |two| (one, two)))
}

/// More values of a path than this make a table too wide to read.
const MOST_SIDES: usize = 20;

/// The values of one path below each other, those of the other beside each other.
fn matrix(page: &SlicesPage) -> Markup {
    let ones = values(page, |it| &it.one);
    let twos = values(page, |it| &it.two);
    if ones.len() > MOST_SIDES || twos.len() > MOST_SIDES {
        return html! {};
    }
    let [path, other] = [0, 1].map(|ix| page.route.by.get(ix).map(String::as_str).unwrap_or_default());
    let at = |one, two| page.cells.iter().find(|it| it.one.as_deref() == one && it.two.as_deref() == two);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Pass rates by two paths" {
            table.rows.matrix {
                thead { tr { th scope="col" { (line(path)) " \\ " (line(other)) } @for two in &twos { th scope="col" { (value(*two)) } } } }
                tbody { @for one in &ones { tr data-row="" { th scope="row" { (value(*one)) } @for two in &twos { td { @if let Some(it) = at(*one, *two) { (matrix_cell(page, it)) } @else { span.none { "–" } } } } } } }
            }
        }
    }
}

/// The different values that cells have, those that have none last.
fn values<'p>(page: &'p SlicesPage, of: impl Fn(&'p Cell) -> &'p Option<String>) -> Vec<Option<&'p str>> {
    let mut values: Vec<Option<&str>> = page.cells.iter().map(|it| of(it).as_deref()).collect();
    values.sort_unstable_by_key(|it| (it.is_none(), *it));
    values.dedup();
    values
}

fn matrix_cell(page: &SlicesPage, cell: &Cell) -> Markup {
    let judged = cell.counts.passed + cell.counts.failed;
    let words = rate(cell.counts.pass_rate());
    html! {
        @if judged < page.route.least { span.none { "–" } } @else {
            @match query(page, cell) { Some(q) => a.open href=(cases(&page.run, &q)) { (words) }, None => (words) }
            " " span.soft { "of " (grouped(judged)) }
            (bar::interval("pass rate", cell.counts.pass_rate(), interval(&cell.counts, cell.independence)))
        }
    }
}

fn cell_list(page: &SlicesPage) -> Markup {
    let sorted = totals::worst(page.cells.iter(), page.route.least, |it| (it.counts, it.independence));
    let cells = window(&sorted, page.route.from);
    html! { h2 { "Worst first" } (cell_table(page, cells)) (pager(page, sorted.len())) }
}

fn cell_table(page: &SlicesPage, cells: &[&Cell]) -> Markup {
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
