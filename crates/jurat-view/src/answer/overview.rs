//! The overview of a run.

use http::StatusCode;
use jurat_core::plan::TaskIx;
use jurat_core::report::RunReport;
use jurat_engine::view::query::{Columns, Latencies};
use jurat_engine::view::{Column, RunListing, RunView};
use jurat_report::{CaseWriter as _, JsonWriter, Scope};
use jurat_store::RunName;

use super::{Answer, Failure, Kind, Shown, Work, graph, runs};
use crate::page::live::is_live;
use crate::page::overview::{self, OverviewPage};
use crate::page::totals::{Scores, Spread};
use crate::part::graph::Followed;
use crate::route::{Form, SLICES};

/// How many steps the scores of a task are counted in.
const STEPS: usize = 12;

/// A graph of more tasks than these has a page of its own only.
const MOST_DRAWN: usize = 60;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>) -> Result<Answer, Failure> {
    let view = shown.view;
    let report = view.report()?;
    let text = |it: &jurat_store::run::Document| Some((it.name.clone(), String::from_utf8(it.body.clone()).ok()?));
    let columns = work.shared.columns.of(view)?;
    // The data of the page is the report alone.
    let is_page = work.form == Form::Html;
    let plan = Some(graph::plan(view)).filter(|it| it.stages.len() > 1 && report.tasks.len() <= MOST_DRAWN);
    let page = OverviewPage {
        run: shown.id.to_owned(),
        live: live_run(work, shown),
        previous: runs::previous(work.shared, shown.id, &report.suite_hash).filter(|_| is_page),
        followed: match plan.as_ref().filter(|_| is_page) {
            Some(plan) => graph::followed(&columns, view, plan)?,
            None => Followed::new(),
        },
        plan,
        scores: if is_page { scores(view, &columns, &report)? } else { Scores::new() },
        latencies: if is_page { latencies(view, &columns)? } else { None },
        documents: view.head().documents.iter().filter_map(text).collect(),
        report,
    };
    Ok(match work.form {
        Form::Html => Answer::page(StatusCode::OK, &overview::page(&page)),
        Form::Json => Answer::new(StatusCode::OK, Kind::Json, json(page)),
    })
}

/// How the scores of each task that gives some are spread.
fn scores(view: &RunView, columns: &Columns<'_>, report: &RunReport) -> Result<Scores, Failure> {
    let mut scores = Scores::new();
    for (ix, task) in report.tasks.iter().enumerate().filter(|(_, it)| it.score.is_some_and(|it| it.n > 1)) {
        let all = columns.scores(view, Column::from(TaskIx(ix as u32)))?;
        scores.extend(spread(&all).map(|it| (task.id.clone(), it)));
    }
    Ok(scores)
}

/// Numbers counted in equal steps; nothing where all are the same.
pub(super) fn spread(scores: &[f64]) -> Option<Spread> {
    let there = || scores.iter().copied().filter(|it| it.is_finite());
    let (least, most) = there().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    if least >= most {
        return None;
    }
    let mut counts = vec![0; STEPS];
    // The greatest belongs to the last step.
    let step = |it: f64| (((it - least) / (most - least) * STEPS as f64) as usize).min(STEPS - 1);
    there().for_each(|it| counts[step(it)] += 1);
    Some(Spread { least, most, counts })
}

/// What the run itself counted; adding it up for a run that did not would take too long here.
fn latencies(view: &RunView, columns: &Columns<'_>) -> Result<Option<Latencies>, Failure> {
    if !view.plan().asks() || !view.reader().has_taken().map_err(jurat_engine::view::ViewError::from)? {
        return Ok(None);
    }
    Ok(Some(columns.spending(view)?.latencies).filter(|it| !it.is_empty()))
}

/// How far a run has come that has not ended.
pub(super) fn live_run(work: &Work<'_>, shown: &Shown<'_>) -> Option<RunListing> {
    let path = shown.view.reader().path().to_owned();
    let listing = work.shared.listing(&RunName { id: shown.id.to_owned(), path });
    Some(listing).filter(|it| is_live(&it.entry.condition))
}

/// The report of the run without its cases, as `jurat show --json` has it. Of very many slices it has the first, and says how many more there are.
fn json(mut page: OverviewPage) -> String {
    let n_left_out = page.report.slices.len().saturating_sub(SLICES as usize);
    page.report.slices.truncate(SLICES as usize);
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = JsonWriter::new(&mut out, &page.report, Scope::Everything).and_then(|mut writer| writer.end());
    let text = String::from_utf8_lossy(&out).into_owned();
    match n_left_out {
        0 => text,
        n => text.replacen('{', &format!("{{\"slices_left_out\":{n},"), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_counted_in_equal_steps() {
        let found = spread(&[0.0, 0.04, f64::NAN, 0.5, 1.0]).expect("they differ");
        assert_eq!((found.least, found.most, found.counts.len()), (0.0, 1.0, STEPS));
        assert_eq!((found.counts[0], found.counts[6], found.counts[11]), (2, 1, 1));
        assert_eq!(spread(&[0.5, 0.5]), None);
        assert_eq!(spread(&[f64::NAN]), None);
    }
}
