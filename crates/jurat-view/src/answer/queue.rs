//! The queue of cases to label.

use jurat_core::calibration::Chosen;
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_engine::calibration::{CalibrateError, SampleOptions, queue, queued_task};
use jurat_engine::view::query::Columns;
use jurat_engine::view::{Column, PersonLabel, RunView, StoredCase, ViewError};
use serde_json::json;

use super::case::name_of;
use super::labelling::{self, Sent, is_own, judge_said};
use super::{Answer, Failure, Shown, Work};
use crate::page::labelling::Queued;
use crate::page::queue::{self as page, Judged, Outcome, QueuePage};
use crate::route::{Case, Label, Route, RunPage};

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &Label) -> Result<Answer, Failure> {
    let view = shown.view;
    let task = match queued_task(view, route.task.as_deref()) {
        Ok(task) => task,
        Err(CalibrateError::SeveralJudges { .. } | CalibrateError::NoJudge) => {
            return Ok(choice(work, shown, route, None));
        }
        Err(error) => return Err(failure(error)),
    };
    let id = view.plan().tasks[task.index()].id.clone();
    let route = Label { task: Some(id.clone()), ..route.clone() };
    let columns = labelling::columns(work, view)?;
    let options = SampleOptions { task: Some(id.clone()), n: route.n as usize, seed: route.seed };
    let mut failed = None;
    let chosen = columns.queue((&id, options.n, options.seed), || match queue(view, &options) {
        Ok((_, chosen)) => Ok(chosen),
        Err(CalibrateError::View(error)) => Err(error),
        Err(error) => {
            failed = Some(error);
            Ok(Vec::new())
        }
    })?;
    if let Some(error) = failed {
        return Ok(choice(work, shown, &route, Some(error.to_string())));
    }
    let annotator = &work.shared.labels.annotator;
    let own: Vec<Option<&PersonLabel>> = chosen.iter().map(|it| own_label(&columns, it, task, annotator)).collect();
    // Those that were skipped come again behind the others.
    let first = route.after.map_or(0, |it| it as usize + 1).min(own.len());
    let open = || (first..own.len()).chain(0..first).find(|it| own[*it].is_none());
    let at = route.at.map(|it| it as usize).filter(|it| *it < chosen.len()).or_else(open);
    let queue_page = QueuePage {
        run: shown.id.to_owned(),
        suite: view.head().suite.clone(),
        tasks: view.plan().tasks.iter().map(|it| it.id.clone()).collect(),
        n: chosen.len(),
        n_labelled: own.iter().flatten().count(),
        before: before(view, &chosen, &own, task, &route)?,
        case: match at {
            Some(at) => Some(case(work, shown, &route, &chosen, at, task, own[at].is_some())?),
            None => None,
        },
        outcome: if at.is_none() { Some(outcome(view, &chosen, &own, task)?) } else { None },
        route,
    };
    Ok(Answer::of(work.form, || page::page(&queue_page), || data(&queue_page, &chosen)))
}

/// The tasks that could be labelled, for a reader who has not named one.
fn choice(work: &Work<'_>, shown: &Shown<'_>, route: &Label, reason: Option<String>) -> Answer {
    let tasks: Vec<String> = shown.view.plan().tasks.iter().map(|it| it.id.clone()).collect();
    let data = || json!({ "version": 1, "run_id": shown.id, "tasks": tasks, "reason": reason }).to_string();
    let page = || page::choice(shown.id, &shown.view.head().suite, route, &tasks, reason.as_deref());
    Answer::of(work.form, page, data)
}

fn failure(error: CalibrateError) -> Failure {
    match error {
        CalibrateError::View(error) => error.into(),
        other => Failure::Bad(other.to_string().replace("`--task`", "`task=`")),
    }
}

fn own_label<'c>(columns: &'c Columns<'_>, chosen: &Chosen, task: TaskIx, annotator: &str) -> Option<&'c PersonLabel> {
    let said = columns.people()?.of(u32::try_from(chosen.case).ok()?);
    said.iter().find(|it| it.task == task && is_own(it, annotator))
}

fn stored(view: &RunView, chosen: &Chosen) -> Result<StoredCase, Failure> {
    let case = view.reader().case(CaseIx::numbered(chosen.case)).map_err(ViewError::from)?;
    case.ok_or_else(|| Failure::Unreadable("a case that was chosen is gone; reload the page".to_owned()))
}

fn case(
    work: &Work<'_>,
    shown: &Shown<'_>,
    route: &Label,
    chosen: &[Chosen],
    at: usize,
    task: TaskIx,
    is_labelled: bool,
) -> Result<page::QueuedCase, Failure> {
    let view = shown.view;
    let case = stored(view, &chosen[at])?;
    let (name, variant) = (view.case_name(&case), name_of(view, &case));
    let task_id = view.plan().tasks[task.index()].id.clone();
    let sent = Sent {
        stratum: chosen[at].stratum.clone(),
        weight: chosen[at].weight,
        blind: route.blind && !is_labelled,
        ..Sent::about(shown.id, &name, &variant, &task_id)
    };
    let mut labelling = labelling::labelling(work, shown, &case, task, sent)?;
    // What others and the judge said could sway the annotator.
    if route.blind && !is_labelled {
        labelling.said.clear();
    }
    let next = Label { at: None, after: Some(at as u32), ..route.clone() };
    labelling.queue = Some(Queued { next: Route::Run { run: shown.id.to_owned(), page: RunPage::Label(next) } });
    let text = view.label_text(&case)?;
    let of_case = Case { id: name.clone(), variant, task: Some(task_id), ..Case::default() };
    Ok(page::QueuedCase {
        at,
        name,
        input: text.input,
        output: text.output,
        labelling,
        judged: (!route.blind || is_labelled).then(|| judged(&case, task)),
        route: Route::Run { run: shown.id.to_owned(), page: RunPage::Case(of_case) },
    })
}

fn judged(case: &StoredCase, task: TaskIx) -> Judged {
    let column = Column::from(task);
    let said = judge_said(case, column);
    let score = case.scores.iter().find(|(it, _)| *it == column).map(|(_, it)| *it);
    let explanation = case.detail(column).and_then(|it| it.explanation.as_deref()).unwrap_or_default().to_owned();
    Judged { verdict: said.verdict, label: said.label, score, explanation }
}

/// What was said about the case that was labelled last, by the person and by the judge.
fn before(
    view: &RunView,
    chosen: &[Chosen],
    own: &[Option<&PersonLabel>],
    task: TaskIx,
    route: &Label,
) -> Result<Option<(String, String, Judged)>, Failure> {
    let Some(at) = route.after.map(|it| it as usize).filter(|it| *it < chosen.len()) else { return Ok(None) };
    let Some(said) = own[at] else { return Ok(None) };
    let case = stored(view, &chosen[at])?;
    Ok(Some((view.case_name(&case), said.word(), judged(&case, task))))
}

/// What people and the judge said, counted.
fn outcome(view: &RunView, chosen: &[Chosen], own: &[Option<&PersonLabel>], task: TaskIx) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    for (chosen, said) in chosen.iter().zip(own).filter_map(|(it, said)| Some((it, (*said)?))) {
        let case = stored(view, chosen)?;
        let judge = judged(&case, task);
        *outcome.counts.entry((said.word(), judge.word())).or_default() += 1;
        if let Some(agrees) = said.agrees {
            outcome.n_compared += 1;
            outcome.n_agree += u64::from(agrees);
        }
    }
    Ok(outcome)
}

fn data(page: &QueuePage, chosen: &[Chosen]) -> String {
    let cases: Vec<_> = chosen.iter().map(|it| json!({ "case": it.case, "stratum": it.stratum })).collect();
    json!({
        "version": 1,
        "run_id": page.run,
        "task": page.route.task,
        "seed": page.route.seed,
        "n": page.n,
        "labelled": page.n_labelled,
        "case": page.case.as_ref().map(|it| it.name.clone()),
        "order": cases,
    })
    .to_string()
}
