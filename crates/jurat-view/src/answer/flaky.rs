//! Rows whose repetitions ended differently.

use std::collections::BTreeMap;

use jurat_core::plan::TaskIx;
use jurat_core::report::FlakyCase;
use jurat_engine::view::{Code, Column, RunView, StoredCase, Variant};
use jurat_report::repetition::write_json;

use super::{Answer, Failure, Shown, Work};
use crate::page::flaky::{self, FlakyPage, FlakyRow};
use crate::route::{Flaky, VariantName};

/// How many rows are shown; the query `flaky:yes` finds all.
const MOST: usize = 500;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &Flaky) -> Result<Answer, Failure> {
    let view = shown.view;
    let repetition = view.repetition(&[])?;
    let mut cases = if repetition.is_some() { view.flaky()? } else { Vec::new() };
    let tasks: Vec<String> = view.plan().tasks.iter().map(|it| it.id.clone()).collect();
    let column = match &route.task {
        None => Column::CASE,
        Some(id) => {
            let ix = tasks.iter().position(|it| it == id);
            let reason = || Failure::NotFound { reason: format!("the run has no task `{id}`"), meant: Vec::new() };
            cases.retain(|it| it.tasks.iter().any(|it| it == id));
            Column::from(TaskIx(ix.ok_or_else(reason)? as u32))
        }
    };
    let of = subjects(view);
    let subject = |it: &FlakyCase| of.get(&it.variant).cloned().unwrap_or_default();
    let by_subject = counted(cases.iter().map(subject).filter(|it| !it.is_empty()));
    if let Some(wanted) = &route.subject {
        if !of.values().any(|it| it == wanted) {
            return Err(Failure::NotFound { reason: format!("the run has no subject `{wanted}`"), meant: Vec::new() });
        }
        cases.retain(|it| subject(it) == *wanted);
    }
    let n_all = cases.len();
    let by_task = tasks.iter().map(|id| (id.clone(), cases.iter().filter(|it| it.tasks.contains(id)).count()));
    let by_task: Vec<(String, usize)> = by_task.filter(|(_, n)| *n > 0).collect();
    let mut rows = Vec::new();
    for case in cases.iter().take(MOST) {
        rows.push(row(view, case, column)?);
    }
    let page = FlakyPage {
        run: shown.id.to_owned(),
        suite: view.head().suite.clone(),
        route: route.clone(),
        n_units: repetition.as_ref().map(|it| it.n_units),
        n_all,
        by_task,
        by_subject,
        rows,
    };
    Ok(Answer::of(
        work.form,
        || flaky::page(&page),
        || {
            let mut out = Vec::new();
            // Writing to memory cannot fail.
            let _ = write_json(&mut out, &repetition.unwrap_or_default(), &cases);
            let text = String::from_utf8_lossy(&out);
            // The command prints the object alone.
            format!("{{\"version\":1,{}", text.trim_start_matches('{'))
        },
    ))
}

/// The subject of each variant, by the words for it; nothing where all have one subject.
fn subjects(view: &RunView) -> BTreeMap<String, String> {
    let variants = view.head().variants.iter();
    let of: BTreeMap<String, String> = variants.map(|it| (words(it), it.subject.clone())).collect();
    let first = of.values().next();
    if of.values().all(|it| Some(it) == first) { BTreeMap::new() } else { of }
}

/// What distinguishes a variant, without its repetition, as flaky cases have it.
fn words(variant: &Variant) -> String {
    let names = [&variant.prompt, &variant.subject].into_iter().map(String::as_str).filter(|it| !it.is_empty());
    names.collect::<Vec<_>>().join(" / ")
}

fn counted(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|it| *counts.entry(it).or_default() += 1);
    counts.into_iter().collect()
}

fn row(view: &RunView, case: &FlakyCase, column: Column) -> Result<FlakyRow, Failure> {
    let named = |it: &String| (!it.is_empty()).then(|| it.clone());
    let repetition = |it: &StoredCase| {
        let variant = view.variant(it.case_ix).cloned().unwrap_or_default();
        let (prompt, subject) = (named(&variant.prompt), named(&variant.subject));
        let name = VariantName { prompt, subject, replicate: Some(variant.replicate + 1) };
        (words(&variant) == case.variant).then(|| (name, it.code(column)))
    };
    let repetitions: Vec<(VariantName, Code)> = view.cases_of(&case.case)?.iter().filter_map(repetition).collect();
    Ok(FlakyRow { case: case.clone(), repetitions })
}
