//! One case of several runs.

use http::StatusCode;
use jurat_core::contrast::Cause;
use jurat_core::plan::TaskIx;
use jurat_core::report::explanation::{Explanation, Purpose};
use jurat_core::report::{CaseReport, TaskReport, TaskVerdict};
use jurat_engine::contrast::{Selection, task_definitions};
use jurat_engine::view::{Detailed, RunView};
use jurat_format::value::Value;
use jurat_store::run::StoredCase;
use serde_json::json;

use super::case::{is_meant, name_of};
use super::compare::{FoundSide, Sides, sides};
use super::{Answer, Failure, OpenRuns, Work};
use crate::page::compare_case::{self, CompareCasePage, SideCase, TaskCase, Variant};
use crate::route::{self, Address, Route};

/// How many variants and repetitions of a case are shown.
const MOST_CASES: usize = 12;

pub(super) fn answer(work: &Work<'_>, runs: &mut OpenRuns, wanted: &route::CompareCase) -> Result<Answer, Failure> {
    let found = match sides(work, &wanted.base, &wanted.new)? {
        Sides::Found(found) => found,
        Sides::Elsewhere(base, new) => {
            let route = Route::CompareCase(route::CompareCase { base, new, ..wanted.clone() });
            let address = Address { route, form: work.form };
            return Ok(Answer::redirect(StatusCode::TEMPORARY_REDIRECT, address.to_string()));
        }
    };
    let mut variants: Vec<Variant> = Vec::new();
    let mut n_left_out = 0;
    for (ix, side) in found.iter().enumerate() {
        let view = runs.open(&side.path)?;
        let mut cases = cases(view, side, &wanted.id)?;
        cases.retain(|it| is_meant(&name_of(view, it), &wanted.variant));
        n_left_out += cases.len().saturating_sub(MOST_CASES);
        for (place, case) in cases.iter().take(MOST_CASES).enumerate() {
            let of_side = side_case(view, side, case)?;
            let variant = variant(&mut variants, &of_side, place, found.len());
            variant.sides[ix] = Some(of_side);
        }
    }
    if variants.is_empty() {
        let reason = format!("none of the runs has a case `{}`", wanted.id);
        return Err(Failure::NotFound { reason, meant: Vec::new() });
    }
    let page = CompareCasePage { wanted: wanted.clone(), variants, n_left_out };
    Ok(Answer::of(work.form, || compare_case::page(&page), || data(&page)))
}

fn cases(view: &RunView, side: &FoundSide, id: &str) -> Result<Vec<StoredCase>, Failure> {
    let mut cases = view.cases_named(id)?;
    let Selection { prompt, subject, .. } = &side.selection;
    let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|it| it == has);
    cases.retain(|case| view.variant(case.case_ix).is_none_or(|it| is(prompt, &it.prompt) && is(subject, &it.subject)));
    Ok(cases)
}

/// The place where a case stands beside those of other sides: that of the same variant, or of the same place where variants differ.
fn variant<'s>(variants: &'s mut Vec<Variant>, case: &SideCase, place: usize, n_sides: usize) -> &'s mut Variant {
    let report = &case.report;
    let key = (report.prompt.clone(), report.subject.clone(), report.replicate);
    let same = variants.iter().position(|it| it.key == key).or((place < variants.len()).then_some(place));
    let at = same.unwrap_or_else(|| {
        variants.push(Variant { key, sides: (0..n_sides).map(|_| None).collect() });
        variants.len() - 1
    });
    &mut variants[at]
}

fn side_case(view: &RunView, side: &FoundSide, case: &StoredCase) -> Result<SideCase, Failure> {
    let report = view.case_report(case, Detailed::Tasks)?;
    let definitions = task_definitions(view)?;
    let tasks = report.tasks.iter().map(|it| task(view, case, it, &definitions)).collect::<Result<_, _>>()?;
    Ok(SideCase { run: side.selection.run.clone(), evidence: evidence(&report), report, tasks })
}

/// What was answered; the row, where answers are recorded in it.
fn evidence(report: &CaseReport) -> Option<String> {
    let text = |it: &Value| it.as_str().map_or_else(|| jurat_report::pretty_json(it), str::to_owned);
    report.data.output.as_ref().or(report.data.row.as_ref()).map(text)
}

fn task(
    view: &RunView,
    case: &StoredCase,
    report: &TaskReport,
    definitions: &[(String, String)],
) -> Result<TaskCase, Failure> {
    let planned = &view.plan().tasks[report.task];
    let explanation = view.explain(case, TaskIx(report.task as u32))?;
    Ok(TaskCase {
        id: planned.id.clone(),
        definition: definitions.get(report.task).map(|it| it.1.clone()).unwrap_or_default(),
        verdict: report.verdict,
        message: report.message.clone(),
        said: report.explanation.clone(),
        replies: explanation.map(|it| replies(&it)).unwrap_or_default(),
    })
}

/// What judges replied, in order.
fn replies(explanation: &Explanation) -> Vec<String> {
    let of_judges = explanation.conversations.iter().filter(|it| it.purpose == Purpose::Judge);
    let texts = of_judges.flat_map(|it| &it.replies).map(|it| it.text.clone().or_else(|| it.problem.clone()));
    texts.flatten().collect()
}

fn data(page: &CompareCasePage) -> String {
    let task = |it: &TaskCase| json!({ "id": it.id, "verdict": TaskVerdict::name(it.verdict), "message": it.message, "replies": it.replies });
    let side = |it: &Option<SideCase>| {
        it.as_ref().map(|it| {
            let tasks: Vec<_> = it.tasks.iter().map(task).collect();
            json!({ "run": it.run, "verdict": it.report.verdict.name(), "evidence": it.report.evidence, "response": it.evidence, "tasks": tasks })
        })
    };
    let variant = |it: &Variant| {
        let (prompt, subject, replicate) = &it.key;
        let causes: Vec<&str> = it.causes().into_iter().map(Cause::name).collect();
        json!({ "prompt": prompt, "subject": subject, "replicate": replicate, "causes": causes, "sides": it.sides.iter().map(side).collect::<Vec<_>>() })
    };
    let variants: Vec<_> = page.variants.iter().map(variant).collect();
    json!({ "version": 1, "id": page.wanted.id, "cases": variants }).to_string()
}
