//! The table of cases: a query, what it could be narrowed by, and a page of what it finds.

use std::time::Duration;

use jurat_engine::view::query::{QueryProblem, Sort, Spent};
use jurat_engine::view::{Code, RunListing};
use jurat_report::{counted, duration, grouped, money, score, visible_line};
use maud::{Markup, html};

use super::shell::RunLinks;
use super::{Section, Shell, live};
use crate::part::query::{self, Example};
use crate::part::text::{excerpt, line};
use crate::part::verdict::{badge, of_code};
use crate::route::{Case, Cases, ROWS, Route, RunPage, Table, TableKind, VariantName};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct CasesPage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    pub(crate) route: Cases,
    /// The terms of the query, each with the query that is left without it.
    pub(crate) terms: Vec<(String, String)>,
    pub(crate) n_cases: u64,
    pub(crate) found: Found,
    /// The tasks that have cells.
    pub(crate) tasks: Vec<TaskColumn>,
    /// All tasks, by name.
    pub(crate) task_names: Vec<String>,
    /// Paths of rows that have cells.
    pub(crate) paths: Vec<String>,
    /// Paths that tasks read.
    pub(crate) read_paths: Vec<String>,
    /// Whether models are asked, so that cases cost something.
    pub(crate) asks: bool,
    /// Whether what cases took was added up from the log for the order of the page.
    pub(crate) is_added_up: bool,
    pub(crate) is_repeated: bool,
    pub(crate) rows: Vec<CaseRow>,
    pub(crate) facets: Vec<Facet>,
    /// The run, when it has not ended.
    pub(crate) live: Option<RunListing>,
    /// How far the groups of an older run are computed.
    pub(crate) grouping: Option<Grouping>,
}

/// How many rows were read for the groups of a run that does not store them, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grouping {
    pub(crate) done: u64,
    pub(crate) of: u64,
}

/// How many cases are found.
#[derive(Debug)]
pub(crate) enum Found {
    All(u64),
    /// Rows are being looked into: how many, of how many, and where that goes on.
    Searched {
        searched: u64,
        of: u64,
        next: Option<u64>,
        unreadable: u64,
    },
}

#[derive(Debug)]
pub(crate) struct TaskColumn {
    pub(crate) ix: u32,
    pub(crate) id: String,
}

#[derive(Debug)]
pub(crate) struct CaseRow {
    pub(crate) id: String,
    pub(crate) variant: VariantName,
    pub(crate) code: Code,
    pub(crate) tasks: Vec<TaskCell>,
    pub(crate) took: Option<Duration>,
    pub(crate) spent: Option<Spent>,
    pub(crate) cells: Vec<Option<String>>,
    /// What its texts begin with, or why the row cannot be read.
    pub(crate) excerpt: Result<String, String>,
}

#[derive(Debug)]
pub(crate) struct TaskCell {
    pub(crate) code: Code,
    pub(crate) label: Option<String>,
    pub(crate) score: Option<f64>,
}

/// What cases that are found could be narrowed by.
#[derive(Debug)]
pub(crate) struct Facet {
    pub(crate) name: String,
    pub(crate) is_task: bool,
    pub(crate) values: Vec<FacetValue>,
    /// How many values are not listed.
    pub(crate) n_more: usize,
}

#[derive(Debug)]
pub(crate) struct FacetValue {
    pub(crate) name: String,
    pub(crate) code: Option<Code>,
    pub(crate) n: u64,
    /// The term of a query that selects it.
    pub(crate) term: String,
}

/// A table of more cases is left to the command, which writes it piece by piece.
pub(crate) const MOST_WRITTEN: u64 = 10_000;

/// How much of a value of a row is shown in a cell.
const ROOM: usize = 90;

pub(crate) fn page(page: &CasesPage) -> Markup {
    let shell = shell(&page.run, &page.suite, &page.route);
    shell.page(&html! {
        (query_form(&page.run, &page.route, None))
        (suggestions(page))
        (modes(page))
        (chips(page))
        div.split {
            (facets(page))
            div.results {
                @if let Some(it) = &page.live { (live::new_cases(&page.run, it, page.n_cases, &with(&page.run, &page.route))) }
                (grouping(page.grouping, &with(&page.run, &page.route)))
                p.count aria-live="polite" { (count(page)) }
                @if page.is_added_up { p.hint { "This run was recorded before cost was stored by case. It is added up from the log of requests, which takes longer." } }
                @if page.rows.is_empty() { (nothing(page)) } @else { (table(page)) }
                (pager(page))
                (column_chooser(page))
                (export_hint(page))
            }
        }
    })
}

fn grouping(progress: Option<Grouping>, own: &Route) -> Markup {
    html! {
        @if let Some(Grouping { done, of }) = progress {
            p.note role="status" {
                "This run was recorded before groups were stored. They are computed from its rows: " (grouped(done)) " of " (grouped(of)) ". "
                a href=(own) { "Reload" }
            }
        }
    }
}

/// The query with what is wrong with it.
pub(crate) fn problem(
    run: &str,
    suite: &str,
    route: &Cases,
    problem: &QueryProblem,
    progress: Option<Grouping>,
) -> Markup {
    let corrected = problem.corrected().map(|q| with(run, &Cases { q, from: 0, scan: 0, ..route.clone() }));
    shell(run, suite, route).page(&html! {
        (query_form(run, route, Some(problem)))
        (grouping(progress, &with(run, route)))
        (query::problem(problem, corrected, &EXAMPLES))
    })
}

fn shell<'s>(run: &'s str, suite: &'s str, route: &Cases) -> Shell<'s> {
    Shell {
        title: format!("Cases of {suite}"),
        run: Some(RunLinks { id: run, suite, section: Section::Cases }),
        steps: vec![("cases".to_owned(), None)],
        data: Some(with(run, route).json()),
    }
}

fn with(run: &str, cases: &Cases) -> Route {
    Route::Run { run: run.to_owned(), page: RunPage::Cases(cases.clone()) }
}

fn query_form(run: &str, route: &Cases, problem: Option<&QueryProblem>) -> Markup {
    html! {
        h1.hidden { "Cases" }
        form.query role="search" method="get" action=(Route::cases(run, "")) {
            input type="search" name="q" value=(route.q) list="terms" aria-label="Query" placeholder="verdict:failed task:tone=failed -group:lang=de \"some text\"" autocomplete="off" autocapitalize="off" spellcheck="false" aria-invalid=[problem.map(|_| "true")];
            @if route.sort != Sort::Input { input type="hidden" name="sort" value=(route.sort.to_string()); }
            @if route.descending { input type="hidden" name="dir" value="desc"; }
            button type="submit" { "Find" }
        }
    }
}

/// Queries with one more term, as the browser suggests them.
fn suggestions(page: &CasesPage) -> Markup {
    let values = page.facets.iter().flat_map(|it| &it.values).take(60);
    html! { datalist id="terms" { @for value in values { option value=(added(&page.route.q, &value.term)) {} } } }
}

fn modes(page: &CasesPage) -> Markup {
    let plain = Cases { cols: page.route.cols.clone(), n: page.route.n, ..Cases::default() };
    let mode = |q: &str, sort: Sort, descending: bool| Cases { q: q.to_owned(), sort, descending, ..plain.clone() };
    let mut modes = vec![
        ("all", mode("", Sort::Input, false)),
        ("not passed", mode("-verdict:passed", Sort::Input, false)),
        ("errors", mode("verdict:error", Sort::Input, false)),
        ("slowest", mode("", Sort::Took, true)),
    ];
    if page.asks {
        modes.push(("dearest", mode("", Sort::Cost, true)));
    }
    if page.is_repeated {
        modes.push(("flaky", mode("flaky:yes", Sort::Input, false)));
    }
    html! {
        nav.chips aria-label="Selections" {
            @for (name, cases) in &modes {
                @let is_it = cases.q == page.route.q && cases.sort == page.route.sort && cases.descending == page.route.descending;
                a.chip href=(with(&page.run, cases)) aria-current=[is_it.then_some("true")] { (name) }
            }
        }
    }
}

fn chips(page: &CasesPage) -> Markup {
    html! {
        @if !page.terms.is_empty() && !page.route.q.is_empty() {
            (query::terms(&page.terms, |q| with(&page.run, &Cases { q, from: 0, scan: 0, ..page.route.clone() })))
        }
    }
}

fn count(page: &CasesPage) -> Markup {
    html! {
        @match &page.found {
            Found::All(n) => { strong { (grouped(*n)) } " of " (counted(page.n_cases, "case")) },
            Found::Searched { searched, of, next, unreadable } => {
                strong { (counted(page.rows.len() as u64, "case")) } " found, searched " (grouped(*searched)) " of " (grouped(*of))
                @if next.is_some() { " so far" }
                @if *unreadable > 0 { "; " (counted(*unreadable, "row")) " could not be read, because the file changed since or is gone" }
            },
        }
    }
}

fn nothing(page: &CasesPage) -> Markup {
    html! {
        section.message {
            @match page.found {
                Found::Searched { next: Some(_), .. } => p { "Nothing yet. Use the link below to continue the search." },
                _ => p { "No case fits." },
            }
            (query::language(&EXAMPLES))
        }
    }
}

const EXAMPLES: [Example; 10] = [
    ("verdict:failed,error", "how the case ended: any of these"),
    ("task:tone=failed", "how a task ended"),
    ("label:tone=rude  score:quality<0.5", "what a task gave"),
    ("group:lang=de  subject:gpt*  replicate:2  id:abc*", "which cases"),
    ("took>2s  cost>0.01  tokens>1000  latency>1s  requests>1", "what they took"),
    ("node:TALK=ask  edge:TALK=ask>check", "conversations that came past a node, or took an edge"),
    ("flaky:yes  reused:no", "repeated cases that ended differently; answers of this run"),
    ("why:\"no safety note\"", "a text in messages and explanations"),
    ("refund  \"two words\"  row.lang=de  row.tags=critical", "a text or a value in rows and answers"),
    ("-verdict:passed  (a OR b)", "not; one of several"),
];

fn facets(page: &CasesPage) -> Markup {
    html! {
        @if !page.facets.is_empty() {
            aside.facets aria-label="Narrow down" {
                details open {
                    summary { "Narrow down" }
                    @for facet in page.facets.iter().filter(|it| !it.is_task) { (facet_list(page, facet, true)) }
                    @for (ix, facet) in page.facets.iter().filter(|it| it.is_task).enumerate() { (facet_list(page, facet, ix < 4)) }
                }
            }
        }
    }
}

fn facet_list(page: &CasesPage, facet: &Facet, is_open: bool) -> Markup {
    html! {
        details.facet open[is_open] {
            summary { (line(&facet.name)) }
            ul {
                @for value in &facet.values {
                    @let look = value.code.map(of_code);
                    li class=[look.map(|it| it.class)] {
                        a href=(with(&page.run, &Cases { q: added(&page.route.q, &value.term), from: 0, scan: 0, ..page.route.clone() })) {
                            span.name { @if let Some(look) = look { span.glyph aria-hidden="true" { (look.glyph) } " " } (line(&value.name)) }
                            span.n { (grouped(value.n)) }
                        }
                    }
                }
                @if facet.n_more > 0 { li.hint { (grouped(facet.n_more as u64)) " more" } }
            }
        }
    }
}

/// A query with one more term.
fn added(q: &str, term: &str) -> String {
    let q = q.trim();
    if q.is_empty() { term.to_owned() } else { format!("{q} {term}") }
}

fn table(page: &CasesPage) -> Markup {
    let has_excerpt = page.paths.is_empty();
    html! {
        div.scroll.tall tabindex="0" role="region" aria-label="Cases" {
            table.rows.cases {
                thead {
                    tr {
                        (header(page, "Case", &Sort::Id, ""))
                        (header(page, "Verdict", &Sort::Verdict, ""))
                        @for (ix, task) in page.tasks.iter().enumerate() { (task_header(page, ix, task)) }
                        (header(page, "Took", &Sort::Took, "number"))
                        @if page.asks { (header(page, "Cost", &Sort::Cost, "number")) }
                        @for path in &page.paths { th scope="col" { (line(path)) } }
                        @if has_excerpt { th scope="col" { "Row" } }
                    }
                }
                tbody { @for row in &page.rows { (case_row(page, row)) } }
            }
        }
        @if page.tasks.len() < page.task_names.len() && page.route.cols.is_empty() {
            p.hint { "Showing " (page.tasks.len()) " of " (page.task_names.len()) " tasks: those with something other than passed on this page first." }
        }
    }
}

/// The head of a task's column: a link that orders by its scores or labels, where it gives some.
fn task_header(page: &CasesPage, ix: usize, task: &TaskColumn) -> Markup {
    let has = |of: fn(&TaskCell) -> bool| page.rows.iter().filter_map(|it| it.tasks.get(ix)).any(of);
    let sort = match (has(|it| it.score.is_some()), has(|it| it.label.is_some())) {
        (true, _) => Sort::Score(task.id.clone()),
        (false, true) => Sort::Label(task.id.clone()),
        (false, false) => return html! { th.task scope="col" title=(task.id) { (excerpt(&task.id, 14)) } },
    };
    header(page, &task.id, &sort, "task")
}

fn header(page: &CasesPage, name: &str, sort: &Sort, class: &str) -> Markup {
    let is_own = page.route.sort == *sort;
    let descending = if is_own { !page.route.descending } else { matches!(sort, Sort::Took | Sort::Cost) };
    let route = Cases { sort: sort.clone(), descending, from: 0, scan: 0, ..page.route.clone() };
    let direction = if page.route.descending { "descending" } else { "ascending" };
    html! {
        th class=[Some(class).filter(|it| !it.is_empty())] scope="col" aria-sort=[is_own.then_some(direction)] {
            a href=(with(&page.run, &route)) title=(name) { (excerpt(name, 14)) @if is_own { span aria-hidden="true" { @if page.route.descending { " ▼" } @else { " ▲" } } } }
        }
    }
}

fn case_row(page: &CasesPage, row: &CaseRow) -> Markup {
    let case = Case {
        id: row.id.clone(),
        variant: row.variant.clone(),
        q: page.route.q.clone(),
        sort: page.route.sort.clone(),
        descending: page.route.descending,
        ..Case::default()
    };
    let route = Route::Run { run: page.run.clone(), page: RunPage::Case(case.clone()) };
    let of_task = |task: &TaskColumn| {
        let page_of_task = RunPage::Case(Case { task: Some(task.id.clone()), ..case.clone() });
        Route::Run { run: page.run.clone(), page: page_of_task }
    };
    html! {
        tr data-row="" {
            th scope="row" { a.open href=(route) { (excerpt(&row.id, 60)) } (variant(&row.variant)) }
            td { (badge(of_code(row.code))) }
            @for (task, cell) in page.tasks.iter().zip(&row.tasks) { td.task { (task_cell(task, cell, &of_task(task))) } }
            td.number { @if let Some(took) = row.took { (duration(took)) } @else { span.none { "–" } } }
            @if page.asks { td.number { (cost(row.spent.as_ref())) } }
            @for cell in &row.cells { td.value { @if let Some(text) = cell { (excerpt(text, ROOM)) } @else { span.none { "–" } } } }
            @if page.paths.is_empty() {
                td.value {
                    @match &row.excerpt {
                        Ok(text) => (excerpt(text, ROOM)),
                        Err(reason) => span.none title=(visible_line(reason)) { "the file changed since, or is gone" },
                    }
                }
            }
        }
    }
}

/// What distinguishes a case from others of its row.
pub(crate) fn variant(variant: &VariantName) -> Markup {
    let replicate = variant.replicate.map(|it| format!("#{it}"));
    let parts = [variant.prompt.as_deref(), variant.subject.as_deref(), replicate.as_deref()];
    html! { @for part in parts.into_iter().flatten() { " " span.tag { (excerpt(part, 40)) } } }
}

/// Few elements: a page has a thousand of these, and a browser takes longer for them than the server does.
fn task_cell(task: &TaskColumn, cell: &TaskCell, route: &Route) -> Markup {
    let look = of_code(cell.code);
    let number = cell.score.map(score);
    let shown = [cell.label.as_deref(), number.as_deref()].into_iter().flatten();
    let words: String = shown.map(|it| format!(" {}", visible_line(it))).collect();
    html! {
        @if cell.code == Code::Absent {
            span.none role="img" title="not for this case" aria-label={ (task.id) " is not for this case" } { "·" }
        } @else {
            a class={ "cell " (look.class) } href=(route) title={ (task.id) ": " (look.word) } aria-label={ (task.id) " " (look.word) (words) } {
                (look.glyph)
                @if let Some(label) = &cell.label { " " (excerpt(label, 18)) }
                @if let Some(number) = &number { " " (number) }
            }
        }
    }
}

fn cost(spent: Option<&Spent>) -> Markup {
    html! {
        @match spent.and_then(Spent::cost_usd) {
            Some(cost) => (money(cost)),
            None => span.none { "–" },
        }
    }
}

fn pager(page: &CasesPage) -> Markup {
    let at = |from: u64| with(&page.run, &Cases { from, scan: 0, ..page.route.clone() });
    let (from, n, shown) = (page.route.from, u64::from(page.route.n), page.rows.len() as u64);
    html! {
        nav.pager aria-label="Pages" {
            @match &page.found {
                Found::All(total) => {
                    @if from > 0 { a href=(at(from.saturating_sub(n))) rel="prev" { "‹ previous" } }
                    @if shown > 0 { span { (grouped(from + 1)) "–" (grouped(from + shown)) } }
                    @if from + shown < *total { a href=(at(from + n)) rel="next" { "next ›" } }
                    @if *total > n * 2 && from + shown < *total { a href=(at((*total - 1) / n * n)) { "last" } }
                },
                Found::Searched { next, .. } => {
                    @if page.route.scan > 0 { a href=(at(0)) { "search from the start" } }
                    @if let Some(next) = next {
                        a.continue href=(with(&page.run, &Cases { scan: *next, from: 0, ..page.route.clone() })) rel="next" { "search on ›" }
                    }
                },
            }
        }
    }
}

/// Which tasks and which parts of rows have columns; a form, so that the choice stands in the address.
fn column_chooser(page: &CasesPage) -> Markup {
    let Cases { q, sort, descending, n, .. } = &page.route;
    let has = |id: &str| page.tasks.iter().any(|it| it.id == id);
    html! {
        details.columns {
            summary { "Columns" }
            form method="get" action=(Route::cases(&page.run, "")) {
                @if !q.is_empty() { input type="hidden" name="q" value=(q); }
                @if *sort != Sort::Input { input type="hidden" name="sort" value=(sort.to_string()); }
                @if *descending { input type="hidden" name="dir" value="desc"; }
                @if *n != ROWS { input type="hidden" name="n" value=(n); }
                fieldset {
                    legend { "Tasks" }
                    @for id in &page.task_names {
                        label { input type="checkbox" name="cols" value=(format!("task:{}", listed(id))) checked[has(id)]; " " (excerpt(id, 40)) }
                    }
                }
                fieldset {
                    legend { "Parts of rows" }
                    @for path in &page.paths { label { input type="checkbox" name="cols" value=(format!("row.{}", listed(path))) checked; " " code { (line(path)) } } }
                    @for path in page.read_paths.iter().filter(|it| !page.paths.contains(*it)) {
                        label { input type="checkbox" name="cols" value=(format!("row.{}", listed(path))); " " code { (line(path)) } }
                    }
                    label { "another path " input type="text" name="cols" placeholder="row.meta.kind" autocomplete="off" spellcheck="false"; }
                }
                button type="submit" { "Show these columns" }
                " " a href=(with(&page.run, &Cases { cols: Vec::new(), ..page.route.clone() })) { "Usual columns" }
            }
        }
    }
}

/// An item of a list in an address.
fn listed(item: &str) -> String {
    item.replace('\\', "\\\\").replace(',', "\\,")
}

/// Whether the cases that are found are few enough to be written in one answer.
fn has_tables(page: &CasesPage) -> bool {
    let n = match page.found {
        Found::All(n) => n,
        Found::Searched { of, .. } => of,
    };
    n > 0 && n <= MOST_WRITTEN
}

fn table_of(page: &CasesPage, kind: TableKind) -> Route {
    Route::Run { run: page.run.clone(), page: RunPage::Table(Table { kind, q: page.route.q.clone() }) }
}

fn export_hint(page: &CasesPage) -> Markup {
    let query = page.route.q.replace('\'', "'\\''");
    html! {
        details.export {
            summary { "Export these cases" }
            @if has_tables(page) {
                p { @for kind in TableKind::ALL { a href=(table_of(page, kind)) download="" { (kind.ending().to_uppercase()) } " " } }
                p.hint { "In the order of the run, one line for each task. The command writes the same:" }
            }
            pre { "jurat export " (line(&page.run)) @if !page.route.q.is_empty() { " --where '" (line(&query)) "'" } " -o cases.csv" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_added_at_the_end() {
        assert_eq!(added(" verdict:failed ", "task:a=error"), "verdict:failed task:a=error");
        assert_eq!(added("", "task:a=error"), "task:a=error");
    }
}
