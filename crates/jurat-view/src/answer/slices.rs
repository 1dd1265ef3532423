//! Pass rates by one or two paths of `group_by`. One path is in the summary of the run, two are counted from columns.

use std::collections::BTreeMap;

use jurat_core::plan::TaskIx;
use jurat_core::report::{Independence, SliceTotal};
use jurat_core::verdict::Counts;
use jurat_engine::view::query::{CaseTexts, Columns};
use jurat_engine::view::{Code, Column, RunView};
use jurat_format::problem::listed_all;
use serde_json::json;

use super::{Answer, Failure, Shown, Work};
use crate::page::slices::{self, Cell, SlicesPage};
use crate::page::totals::worst_first;
use crate::route;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &route::Slices) -> Result<Answer, Failure> {
    let view = shown.view;
    let paths: Vec<String> = view.plan().group_by.iter().map(ToString::to_string).collect();
    if let Some(unknown) = route.by.iter().find(|it| !paths.contains(it)) {
        let known = listed_all(paths.iter().map(String::as_str));
        return Err(Failure::Bad(format!("the suite does not group by `{unknown}`; it groups by {known}")));
    }
    let slices: Vec<SliceTotal> = view.report()?.slices;
    let cells = match route.by.as_slice() {
        [one, two] => cells(view, &work.shared.columns.of(view)?, one, two)?,
        _ => Vec::new(),
    };
    let page = SlicesPage {
        run: shown.id.to_owned(),
        suite: view.head().suite.clone(),
        route: route.clone(),
        paths,
        slices: slices.into_iter().filter(|it| route.by.is_empty() || route.by.contains(&it.path)).collect(),
        cells,
    };
    Ok(Answer::of(work.form, || slices::page(&page), || data(&page)))
}

/// How the tasks of the cases with both values ended.
fn cells(view: &RunView, columns: &Columns<'_>, one: &str, two: &str) -> Result<Vec<Cell>, Failure> {
    let (first, second) = (columns.groups(view, one)?, columns.groups(view, two)?);
    let (Some(first), Some(second)) = (first.as_ref(), second.as_ref()) else {
        return Err(Failure::Bad("the run was recorded before groups were stored by case".to_owned()));
    };
    let key = |case: usize| {
        let number = |it: &CaseTexts| it.numbers.get(case).copied().unwrap_or(CaseTexts::NONE);
        (number(first), number(second))
    };
    let mut counted: BTreeMap<(u32, u32), (Counts, u64)> = BTreeMap::new();
    for (case, code) in columns.codes(view, Column::CASE)?.iter().enumerate() {
        if code.is_some() {
            counted.entry(key(case)).or_default().1 += 1;
        }
    }
    let tasks: Vec<usize> =
        (0..view.plan().tasks.len()).filter(|ix| view.plan().tasks[*ix].gate.is_counted()).collect();
    for ix in &tasks {
        for (case, code) in columns.codes(view, Column::from(TaskIx(*ix as u32)))?.iter().enumerate() {
            let Some(code) = code else { continue };
            let counts = &mut counted.entry(key(case)).or_default().0;
            match code {
                Code::Passed => counts.passed += 1,
                Code::Failed => counts.failed += 1,
                Code::Error => counts.errored += 1,
                _ => {}
            }
        }
    }
    let is_single = tasks.len() * view.head().variants.len().max(1) <= 1;
    let cell = |((one, two), (counts, n_cases)): ((u32, u32), (Counts, u64))| Cell {
        n_cases,
        one: first.texts.get(one as usize).cloned(),
        two: second.texts.get(two as usize).cloned(),
        independence: independence(is_single, &counts, n_cases, view.head().variants.len()),
        counts,
    };
    Ok(counted.into_iter().map(cell).collect())
}

/// Each row counts once, as for slices of one path.
fn independence(is_single: bool, counts: &Counts, n_cases: u64, n_variants: usize) -> Independence {
    if is_single {
        return Independence::Full;
    }
    match n_cases.div_ceil(n_variants.max(1) as u64).min(counts.passed + counts.failed) {
        0 | 1 => Independence::Unknown,
        rows => Independence::Worth(rows as f64),
    }
}

fn data(page: &SlicesPage) -> String {
    let (sorted, from) = (worst_first(&page.slices, page.route.least), page.route.from);
    let n = sorted.len().max(page.cells.len());
    let slices = slices::window(&sorted, from).iter().map(|it| {
        json!({ "path": it.path, "value": it.value, "passed": it.counts.passed, "failed": it.counts.failed, "pass_rate": it.counts.pass_rate() })
    });
    let cells = slices::window(&page.cells, from).iter().map(|it| {
        json!({ "values": [it.one, it.two], "cases": it.n_cases, "passed": it.counts.passed, "failed": it.counts.failed, "pass_rate": it.counts.pass_rate() })
    });
    json!({
        "version": 1,
        "run_id": page.run,
        "by": page.route.by,
        "from": from,
        "found": n,
        "slices": slices.collect::<Vec<_>>(),
        "cells": cells.collect::<Vec<_>>(),
    })
    .to_string()
}
