//! The details of one case, as a part of a page.

use std::collections::{HashMap, HashSet};

use jurat_core::plan::CaseIx;
use jurat_core::report::explanation::{Explanation, Purpose};
use jurat_core::report::{CaseReport, TaskReport};
use jurat_engine::view::{Code, Detailed, RunView, ViewError};
use jurat_format::value::Value;
use jurat_report::{counted, duration, money};
use jurat_store::run::StoredCase;
use maud::{Markup, PreEscaped, html};

use super::FileOptions;
use super::links::in_case;
use super::omitted::Omitted;
use crate::answer::{case_page, explained};
use crate::page::case::{CasePage, Place, evidence_in_file, task_in_file};
use crate::part::text::{line, lines, sentence};
use crate::part::verdict;

/// Beyond this, a value is cut, and says so.
const MOST_BYTES: usize = 16 << 10;

/// The cases in the order in which details are given: errors, failures, cases whose repetitions differ, the others. How many did not pass.
pub(super) fn order(view: &RunView, options: &FileOptions) -> Result<(Vec<CaseIx>, u64), ViewError> {
    let mut endings: Vec<(CaseIx, Code)> = view.reader().endings().collect::<Result<_, _>>()?;
    endings.retain(|it| options.has(it.0));
    let flaky = flaky_rows(view, &endings);
    let rank = |(case, code): &(CaseIx, Code)| match code {
        Code::Error | Code::NotRun => 0,
        Code::Failed => 1,
        _ if flaky.contains(&row_of(view, *case)) => 2,
        _ => 3,
    };
    let n_not_passed = endings.iter().filter(|it| rank(it) < 2).count() as u64;
    let mut order = endings.clone();
    order.sort_by_key(rank);
    Ok((order.into_iter().map(|it| it.0).collect(), n_not_passed))
}

/// The row of a case, and what was asked of whom.
type Row<'v> = (u64, &'v str, &'v str);

fn row_of(view: &RunView, case: CaseIx) -> Row<'_> {
    let variant = view.variant(case);
    (
        view.head().n_variants().place(case),
        variant.map_or("", |it| it.prompt.as_str()),
        variant.map_or("", |it| it.subject.as_str()),
    )
}

fn flaky_rows<'v>(view: &'v RunView, endings: &[(CaseIx, Code)]) -> HashSet<Row<'v>> {
    let mut first: HashMap<Row<'v>, Code> = HashMap::new();
    let mut flaky = HashSet::new();
    if view.head().variants.iter().any(|it| it.replicate > 0) {
        for (case, code) in endings {
            let row = row_of(view, *case);
            if *first.entry(row).or_insert(*code) != *code {
                flaky.insert(row);
            }
        }
    }
    flaky
}

/// The details of a case, and its title; nothing when it is not there.
pub(super) fn of_case(
    view: &RunView,
    case: CaseIx,
    options: &FileOptions,
    omitted: &Omitted,
) -> Result<Option<(String, Markup)>, ViewError> {
    let Some(stored) = view.reader().case(case)? else { return Ok(None) };
    let report = view.case_report(&stored, Detailed::Tasks)?;
    let place = if options.results_only { Place::FileOfResults } else { Place::File };
    let page = case_page(view, &stored, &view.head().id, place)?;
    let explained = explanations(view, &stored, &report)?;
    let markup = in_case(&details(view, &report, &page, &explained, omitted).0, &format!("case-{}-", case.number()));
    Ok(Some((omitted.text(&title(&report)), PreEscaped(omitted.markup(&markup)))))
}

/// What each task rests on, in the order of the report. What the subject was asked belongs to the case, and stands with the first task alone; so does its row,
/// which stands above all tasks.
fn explanations(view: &RunView, case: &StoredCase, report: &CaseReport) -> Result<Vec<Option<Explanation>>, ViewError> {
    let mut all = Vec::new();
    for (ix, task) in report.tasks.iter().enumerate() {
        let explanation = explained(view, case, task.task as u32)?.map(|mut it| {
            it.seen.retain(|seen| seen.is_output);
            it.row = None;
            if ix > 0 {
                it.conversations.retain(|it| matches!(it.purpose, Purpose::Judge | Purpose::Embedder));
                it.tool_calls.clear();
            }
            it
        });
        all.push(explanation);
    }
    Ok(all)
}

fn title(report: &CaseReport) -> String {
    let parts = [Some(&report.id), report.prompt.as_ref(), report.subject.as_ref()];
    let mut title = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" · ");
    if let Some(n) = report.replicate {
        title += &format!(" · repetition {n}");
    }
    title
}

/// What the script of the file searches is marked: `text` looks into rows and answers, `why:` into what tasks say.
fn details(
    view: &RunView,
    report: &CaseReport,
    page: &CasePage,
    explained: &[Option<Explanation>],
    omitted: &Omitted,
) -> Markup {
    let is_answer = |name: &str| name == "response" && view.plan().ask.is_some();
    html! {
        (spent(page))
        @if !report.message.is_empty() { p { (sentence(&report.message)) } }
        @for (name, text) in &report.exchange { h4 { (line(name)) } div data-look=[is_answer(name).then_some("answer")] { (cut(text)) } }
        @if let Some(row) = &report.data.row {
            details { summary { "Row" } div data-look="row" { (cut(&jurat_report::pretty_json(&omitted.value(row)))) } }
        }
        h4 { "Tasks" }
        ul.moves {
            @for (task, explained) in report.tasks.iter().zip(explained) {
                li {
                    (task_part(view, task))
                    @if let Some(it) = explained { details.why { summary { "How it was judged" } (PreEscaped(in_case(&task_in_file(page, it).0, &format!("{}-", task.task)))) } }
                }
            }
        }
        (evidence_in_file(page))
    }
}

/// What a case took; nothing where only results are wanted.
fn spent(page: &CasePage) -> Markup {
    let spent = page.spent.as_ref().filter(|it| it.answers > 0 && page.place == Place::File);
    html! {
        @if let Some(it) = spent {
            p.about {
                (counted(u64::from(it.answers), "response")) ", " (it.reused) " reused · " (counted(it.tokens, "token"))
                @if let Some(cost) = it.cost_usd() { " · " (money(cost)) }
                @if let Some(took) = page.took { " · " (duration(took)) }
            }
        }
    }
}

fn task_part(view: &RunView, task: &TaskReport) -> Markup {
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_json(), str::to_owned);
    html! {
        (verdict::word(task.verdict.name())) " " strong { (line(&view.plan().tasks[task.task].id)) }
        @if let Some(label) = &task.label { " " span.tag { (line(label)) } }
        @if let Some(score) = task.score { " " span.tag { (jurat_report::score(score)) } }
        @if !task.message.is_empty() { p data-look="why" { (sentence(&task.message)) } }
        @if let Some(said) = &task.explanation { p.soft data-look="why" { (lines(said)) } }
        @if !task.message.is_empty() {
            @if let Some(actual) = &task.actual { details { summary { "Found" } div data-look="why" { (cut(&text(actual))) } } }
        }
    }
}

/// A text up to a length; beyond it the page states the whole length.
fn cut(text: &str) -> Markup {
    if text.len() <= MOST_BYTES {
        return html! { pre { (lines(text)) } };
    }
    let at = (0..=MOST_BYTES).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    html! {
        pre { (lines(&text[..at])) "…" }
        p.hint { "The first " (jurat_report::bytes(at as u64)) " of " (jurat_report::bytes(text.len() as u64)) "; the whole text is in the run." }
    }
}
