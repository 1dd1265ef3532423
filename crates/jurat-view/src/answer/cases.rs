//! The table of cases.

use std::time::{Duration, Instant};

use http::StatusCode;
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_engine::view::query::{CaseTexts, Columns, Mask, Query, Seeking, Sort, Spent};
use jurat_engine::view::{Code, Column, RunView, StoredCase, ViewError};
use jurat_format::value::{FieldPath, Val, parse_json};
use serde_json::{Value, json};

use super::{Answer, Failure, Kind, Shown, Work};
use crate::page::cases::{self, CaseRow, CasesPage, Facet, FacetValue, Found, TaskCell, TaskColumn};
use crate::route::{self, Form};
use crate::serve::Cancel;

/// How long a search may look into rows before it says how far it came.
const SEARCH_TIME: Duration = Duration::from_millis(250);

/// How many values a facet has, and how many tasks have cells by default.
const MOST_VALUES: usize = 20;
const MOST_TASKS: usize = 12;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &route::Cases) -> Result<Answer, Failure> {
    let view = shown.view;
    let columns = super::labelling::columns(work, view)?;
    let grouping = super::groups::progress(work.shared, view, &columns)?;
    let query = match Query::parse(&route.q, view, &columns)? {
        Ok(query) => query,
        Err(problem) => {
            if work.form == Form::Json {
                return Err(Failure::Bad(problem.to_string()));
            }
            let page = cases::problem(shown.id, &view.head().suite, route, &problem, grouping);
            return Ok(Answer::page(StatusCode::BAD_REQUEST, &page));
        }
    };
    let there = columns.codes(view, Column::CASE)?.iter().flatten().count() as u64;
    let (selection, found) = select(work.cancel, view, &columns, &query, route)?;
    let stored = stored(view, &selection)?;
    let tasks = task_columns(view, &stored, &route.cols);
    let paths = row_paths(&route.cols);
    let mut rows = Vec::new();
    for case in &stored {
        rows.push(row(view, &columns, case, &tasks, &paths)?);
    }
    let facets = match query.looks_into_rows() || work.form == Form::Json {
        true => Vec::new(),
        false => facets(view, &columns, &query.candidates(view, &columns)?)?,
    };
    let page = CasesPage {
        run: shown.id.to_owned(),
        suite: view.head().suite.clone(),
        route: route.clone(),
        terms: query.terms(),
        n_cases: there,
        found,
        tasks,
        task_names: view.plan().tasks.iter().map(|it| it.id.clone()).collect(),
        read_paths: read_paths(view),
        paths: paths.iter().map(|(name, _)| name.clone()).collect(),
        asks: view.plan().asks(),
        is_added_up: is_by_spending(&route.sort) && !view.reader().has_taken().map_err(ViewError::from)?,
        is_repeated: view.head().variants.iter().any(|it| it.replicate > 0),
        rows,
        facets,
        live: super::overview::live_run(work, shown),
        grouping,
    };
    Ok(match work.form {
        Form::Html => Answer::page(StatusCode::OK, &cases::page(&page)),
        Form::Json => Answer::new(StatusCode::OK, Kind::Json, data(&page).to_string()),
    })
}

/// Whether an order is about what responses took.
fn is_by_spending(sort: &Sort) -> bool {
    matches!(sort, Sort::Cost | Sort::Tokens | Sort::Latency)
}

/// The cases of a page. They are read in the order of input, so that those of one block share its reading, and shown as they are given.
fn stored(view: &RunView, cases: &[u32]) -> Result<Vec<StoredCase>, Failure> {
    let mut by_input: Vec<usize> = (0..cases.len()).collect();
    by_input.sort_by_key(|ix| cases[*ix]);
    let mut read: Vec<Option<StoredCase>> = vec![None; cases.len()];
    for ix in by_input {
        read[ix] = view.reader().case(CaseIx::numbered(u64::from(cases[ix]))).map_err(ViewError::from)?;
    }
    Ok(read.into_iter().flatten().collect())
}

/// The cases of a page, in order, and what is known about how many there are.
fn select(
    cancel: &Cancel,
    view: &RunView,
    columns: &Columns<'_>,
    query: &Query,
    route: &route::Cases,
) -> Result<(Vec<u32>, Found), Failure> {
    let candidates = query.candidates(view, columns)?;
    if query.looks_into_rows() {
        let mut search = Search { found: Vec::new(), most: route.n as usize, start: Instant::now(), cancel };
        let from = u32::try_from(route.scan).unwrap_or(u32::MAX);
        let scanned = query.scan(view, &candidates, from, &mut search)?;
        let searched =
            scanned.next.map_or(candidates.count(), |next| candidates.cases().filter(|it| *it < next).count() as u64);
        let (next, unreadable) = (scanned.next.map(u64::from), scanned.unreadable);
        return Ok((search.found, Found::Searched { searched, of: candidates.count(), next, unreadable }));
    }
    let order = route.sort.order(route.descending, view, columns)?.map_err(Failure::Bad)?;
    let (start, total) = (usize::try_from(route.from).unwrap_or(usize::MAX), candidates.count());
    let page = order.page(candidates.cases().collect(), start..start.saturating_add(route.n as usize));
    Ok((page, Found::All(total)))
}

/// A search that fills one page, in bounded time.
struct Search<'s> {
    found: Vec<u32>,
    most: usize,
    start: Instant,
    cancel: &'s Cancel,
}

impl Seeking for Search<'_> {
    fn found(&mut self, case: u32) {
        self.found.push(case);
    }

    fn is_enough(&mut self) -> bool {
        self.found.len() >= self.most || self.cancel.is_cancelled() || self.start.elapsed() > SEARCH_TIME
    }
}

/// The tasks that have cells: those that were chosen; else, where there are many, first those with something other than passed on this page.
fn task_columns(view: &RunView, cases: &[StoredCase], chosen: &[String]) -> Vec<TaskColumn> {
    let tasks = &view.plan().tasks;
    let column = |ix: usize| TaskColumn { ix: ix as u32, id: tasks[ix].id.clone() };
    let chosen: Vec<usize> = chosen
        .iter()
        .filter_map(|it| it.strip_prefix("task:"))
        .filter_map(|id| tasks.iter().position(|it| it.id == id))
        .collect();
    if !chosen.is_empty() {
        return chosen.into_iter().map(column).collect();
    }
    let stands_out = |ix: &usize| {
        let column = Column::from(TaskIx(*ix as u32));
        !cases.iter().any(|it| !matches!(it.code(column), Code::Passed | Code::Absent))
    };
    let mut all: Vec<usize> = (0..tasks.len()).collect();
    if all.len() > MOST_TASKS {
        all.sort_by_key(stands_out);
        all.truncate(MOST_TASKS);
        all.sort_unstable();
    }
    all.into_iter().map(column).collect()
}

/// The parts of rows that tasks read, the first few.
fn read_paths(view: &RunView) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in view.head().tasks.iter().filter_map(|it| it.path.clone()) {
        if !paths.contains(&path) && paths.len() < MOST_VALUES {
            paths.push(path);
        }
    }
    paths
}

fn row_paths(chosen: &[String]) -> Vec<(String, FieldPath)> {
    let paths = chosen.iter().filter_map(|it| it.strip_prefix("row."));
    paths.filter_map(|it| Some((it.to_owned(), FieldPath::parse(it).ok()?))).collect()
}

fn row(
    view: &RunView,
    columns: &Columns<'_>,
    case: &StoredCase,
    tasks: &[TaskColumn],
    paths: &[(String, FieldPath)],
) -> Result<CaseRow, Failure> {
    let variant = view.variant(case.case_ix);
    let named = |it: &String| (!it.is_empty()).then(|| it.clone());
    let is_repeated = view.head().variants.iter().any(|it| it.replicate > 0);
    let cell = |task: &TaskColumn| {
        let column = Column::from(TaskIx(task.ix));
        TaskCell {
            code: case.code(column),
            label: case.labels.iter().find(|(it, _)| *it == column).map(|(_, it)| it.clone()),
            score: case.scores.iter().find(|(it, _)| *it == column).map(|(_, it)| *it),
        }
    };
    let (cells, excerpt) = match view.reader().row_text(case) {
        Ok(text) => cells(&text, paths),
        Err(error) => (vec![None; paths.len()], Err(error.to_string())),
    };
    Ok(CaseRow {
        id: view.case_name(case),
        variant: route::VariantName {
            prompt: variant.and_then(|it| named(&it.prompt)),
            subject: variant.and_then(|it| named(&it.subject)),
            replicate: variant.filter(|_| is_repeated).map(|it| it.replicate + 1),
        },
        code: case.code(Column::CASE),
        tasks: tasks.iter().map(cell).collect(),
        took: case.took,
        spent: if view.plan().asks() { Some(columns.spent_of(view, case.case_ix)?) } else { None },
        cells,
        excerpt,
    })
}

/// The values at paths of a row, and what its texts begin with.
fn cells(text: &str, paths: &[(String, FieldPath)]) -> (Vec<Option<String>>, Result<String, String>) {
    let Ok(row) = parse_json(text) else { return (vec![None; paths.len()], Ok(String::new())) };
    let words = |it: &Val<'_>| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let cells = paths.iter().map(|(_, path)| path.find(&row.value).ok().map(|it| words(&it))).collect();
    let members = row.value.as_map().into_iter().flat_map(jurat_format::value::Map::iter);
    let texts = members.filter(|(key, _)| *key != "id").filter_map(|(_, it)| it.as_str());
    let longest: Vec<&str> = texts.filter(|it| !it.is_empty()).take(2).collect();
    (cells, Ok(longest.join(" · ")))
}

/// How many of the cases have which verdict, label or group, each with the term that selects them.
fn facets(view: &RunView, columns: &Columns<'_>, found: &Mask) -> Result<Vec<Facet>, Failure> {
    let mut facets = vec![code_facet("verdict", "verdict:", &columns.codes(view, Column::CASE)?, found)];
    for path in &view.plan().group_by {
        let path = path.to_string();
        if let Some(groups) = columns.groups(view, &path)?.as_ref() {
            facets.push(text_facet(&path, &format!("group:{}=", term_name(&path)), groups, found));
        }
    }
    for (name, key, read) in [("subject", "subject:", true), ("prompt", "prompt:", false)] {
        facets.extend(variant_facet(view, name, key, read, found));
    }
    for (ix, task) in view.plan().tasks.iter().enumerate().take(MOST_VALUES) {
        let column = Column::from(TaskIx(ix as u32));
        let name = term_name(&task.id);
        let facet = code_facet(&task.id, &format!("task:{name}="), &columns.codes(view, column)?, found);
        let labels = columns.labels(view, column)?;
        let mut facet = Facet { is_task: true, ..facet };
        if !labels.texts.is_empty() {
            facet.values.extend(text_facet("", &format!("label:{name}="), &labels, found).values);
        }
        facets.push(facet);
    }
    facets.retain(|it| !it.values.is_empty());
    Ok(facets)
}

fn code_facet(name: &str, term: &str, codes: &[Option<Code>], found: &Mask) -> Facet {
    let mut counts = [0_u64; Code::COUNT];
    for case in found.cases() {
        if let Some(code) = codes.get(case as usize).copied().flatten() {
            counts[usize::from(code as u8)] += 1;
        }
    }
    // Both ways of being skipped are one word.
    counts[usize::from(Code::SkippedByGate as u8)] +=
        std::mem::take(&mut counts[usize::from(Code::SkippedByError as u8)]);
    let value = |code: Code| FacetValue {
        name: code.name().replace('_', " "),
        code: Some(code),
        n: counts[usize::from(code as u8)],
        term: format!("{term}{}", code.name()),
    };
    let values = Code::ALL.into_iter().filter(|it| *it != Code::Absent).map(value).filter(|it| it.n > 0).collect();
    Facet { name: name.to_owned(), is_task: false, values, n_more: 0 }
}

fn text_facet(name: &str, term: &str, texts: &CaseTexts, found: &Mask) -> Facet {
    let mut counts = vec![0_u64; texts.texts.len()];
    for case in found.cases() {
        if let Some(count) = texts.numbers.get(case as usize).and_then(|it| counts.get_mut(*it as usize)) {
            *count += 1;
        }
    }
    let value = |(text, n): (&String, u64)| FacetValue {
        name: text.clone(),
        code: None,
        n,
        term: format!("{term}{}", term_value(text)),
    };
    let mut values: Vec<FacetValue> = texts.texts.iter().zip(counts).map(value).filter(|it| it.n > 0).collect();
    values.sort_by(|one, other| other.n.cmp(&one.n).then_with(|| one.name.cmp(&other.name)));
    let n_more = values.len().saturating_sub(MOST_VALUES);
    values.truncate(MOST_VALUES);
    Facet { name: name.to_owned(), is_task: false, values, n_more }
}

fn variant_facet(view: &RunView, name: &str, term: &str, is_subject: bool, found: &Mask) -> Option<Facet> {
    let variants = &view.head().variants;
    let names: Vec<&str> =
        variants.iter().map(|it| if is_subject { it.subject.as_str() } else { it.prompt.as_str() }).collect();
    let mut distinct: Vec<&str> = names.iter().copied().filter(|it| !it.is_empty()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 {
        return None;
    }
    let n_variants = view.head().n_variants();
    let mut counts = vec![0_u64; distinct.len()];
    for case in found.cases() {
        let variant = n_variants.variant(CaseIx::numbered(u64::from(case)));
        if let Some(ix) = names.get(variant).and_then(|it| distinct.binary_search(it).ok()) {
            counts[ix] += 1;
        }
    }
    let values = distinct.iter().zip(counts).map(|(text, n)| FacetValue {
        name: (*text).to_owned(),
        code: None,
        n,
        term: format!("{term}{}", term_value(text)),
    });
    Some(Facet { name: name.to_owned(), is_task: false, values: values.filter(|it| it.n > 0).collect(), n_more: 0 })
}

/// A name as queries write it.
pub(super) fn term_name(name: &str) -> String {
    jurat_engine::view::query::quoted_name(name)
}

fn term_value(value: &str) -> String {
    jurat_engine::view::query::quoted_value(value)
}

fn data(page: &CasesPage) -> Value {
    let cases: Vec<Value> = page.rows.iter().map(|row| case_data(page, row)).collect();
    let (total, searched) = match &page.found {
        Found::All(n) => (json!(n), Value::Null),
        Found::Searched { searched, of, next, unreadable } => {
            (Value::Null, json!({ "searched": searched, "of": of, "next": next, "unreadable": unreadable }))
        }
    };
    json!({
        "version": 1,
        "run_id": page.run,
        "query": page.route.q,
        "from": page.route.from,
        "cases_in_run": page.n_cases,
        "found": total,
        "search": searched,
        "cases": cases,
    })
}

fn case_data(page: &CasesPage, row: &CaseRow) -> Value {
    let tasks: serde_json::Map<String, Value> = page
        .tasks
        .iter()
        .zip(&row.tasks)
        .filter(|(_, cell)| cell.code != Code::Absent)
        .map(|(task, cell)| {
            (task.id.clone(), json!({ "verdict": cell.code.name(), "label": cell.label, "score": cell.score }))
        })
        .collect();
    let spent = row.spent.as_ref().map(|it: &Spent| {
        json!({ "responses": it.answers, "tokens": it.tokens, "cost_usd": it.cost_usd(), "latency_us": it.latency().as_micros() as u64 })
    });
    json!({
        "id": row.id,
        "prompt": row.variant.prompt,
        "subject": row.variant.subject,
        "replicate": row.variant.replicate,
        "verdict": row.code.name(),
        "took_us": row.took.map(|it| it.as_micros() as u64),
        "spent": spent,
        "tasks": tasks,
    })
}
