//! What a run took: money, tokens and time, by task, model and case.

use std::time::Duration;

use jurat_core::plan::CaseIx;
use jurat_engine::view::query::{Columns, Query, Sort, Spent};
use jurat_engine::view::{RunView, ViewError};
use serde_json::json;

use super::case::name_of;
use super::overview::spread;
use super::{Answer, Failure, Shown, Work};
use crate::page::cost::{self, CostPage, SpentCase, SpentLine};

/// How many of the dearest and slowest cases are listed.
const MOST: usize = 50;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>) -> Result<Answer, Failure> {
    let view = shown.view;
    let columns = work.shared.columns.of(view)?;
    let every = Query::parse("", view, &columns)?.map_err(|it| Failure::Bad(it.to_string()))?;
    let all = every.candidates(view, &columns)?;
    let top = |sort: &Sort| -> Result<Vec<SpentCase>, Failure> {
        let order = sort.order(true, view, &columns)?.map_err(Failure::Bad)?;
        order
            .page(all.cases().collect(), 0..MOST)
            .into_iter()
            .map(|it| spent_case(view, it))
            .filter_map(Result::transpose)
            .collect()
    };
    let mut page = cost_page(view, &columns, shown.id)?;
    page.slowest = top(&Sort::Took)?;
    if view.plan().asks() {
        page.dearest = top(&Sort::Cost)?;
    }
    Ok(Answer::of(work.form, || cost::page(&page), || data(&page)))
}

/// What a run took, without its dearest and slowest cases.
pub(crate) fn cost_page(view: &RunView, columns: &Columns<'_>, run: &str) -> Result<CostPage, ViewError> {
    let spending = columns.spending(view)?;
    let purposes = columns.purposes(view)?;
    let name = |ix: Option<u32>| {
        ix.and_then(|it| view.plan().tasks.get(it as usize))
            .map_or_else(|| "the case itself".to_owned(), |it| it.id.clone())
    };
    let spent = columns.spent(view)?;
    let asked = || spent.iter().filter(|it| it.answers > 0);
    let costs: Vec<f64> = asked().filter_map(Spent::cost_usd).collect();
    let tokens: Vec<f64> = asked().map(|it| it.tokens as f64).collect();
    Ok(CostPage {
        run: run.to_owned(),
        report: view.report()?,
        purposes: purposes.all.iter().map(|(it, spent)| SpentLine::of(it.name().to_owned(), spent)).collect(),
        is_rough: purposes.is_rough,
        tasks: spending.tasks.iter().map(|(ix, it)| SpentLine::of(name(*ix), it)).collect(),
        models: spending.models.iter().map(|(model, it)| SpentLine::of(model.clone(), it)).collect(),
        latencies: spending.latencies,
        costs: spread(&costs),
        tokens: spread(&tokens),
        dearest: Vec::new(),
        slowest: Vec::new(),
    })
}

fn spent_case(view: &RunView, number: u32) -> Result<Option<SpentCase>, Failure> {
    let Some(case) = view.reader().case(CaseIx::numbered(u64::from(number))).map_err(ViewError::from)? else {
        return Ok(None);
    };
    let spent = view.spent_of(case.case_ix)?;
    Ok(Some(SpentCase { name: view.case_name(&case), variant: name_of(view, &case), took: case.took, spent }))
}

fn data(page: &CostPage) -> String {
    let us = |it: Option<Duration>| it.map(|it| it.as_micros() as u64);
    let line = |it: &SpentLine| {
        json!({
            "name": it.name, "responses": it.spent.answers, "reused": it.spent.reused, "tokens": it.spent.tokens,
            "cost_usd": it.spent.cost_usd(), "unpriced": it.spent.unpriced, "requests": it.spent.requests,
            "failed_requests": it.spent.failed_requests, "latency_us": it.spent.latency().as_micros() as u64,
            "latency_p50_us": us(it.latencies.quantile(0.5)), "latency_p95_us": us(it.latencies.quantile(0.95)),
        })
    };
    json!({
        "version": 1,
        "run_id": page.run,
        "purposes": page.purposes.iter().map(line).collect::<Vec<_>>(),
        "tasks": page.tasks.iter().map(line).collect::<Vec<_>>(),
        "models": page.models.iter().map(line).collect::<Vec<_>>(),
        "latency_buckets": page.latencies.counts().to_vec(),
    })
    .to_string()
}
