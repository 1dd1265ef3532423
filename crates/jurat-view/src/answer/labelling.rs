//! Labels: what people said about a task of a case, what can be said, and what is written.

use http::StatusCode;
use jurat_core::calibration::{Calibration, Scale};
use jurat_core::label::{JudgeSaid, Label, State};
use jurat_core::plan::TaskIx;
use jurat_core::report::TaskVerdict;
use jurat_engine::calibration::scale;
use jurat_engine::view::query::Columns;
use jurat_engine::view::{Code, Column, PersonLabel, RunView, StoredCase, ViewError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::case::{meant, name_of};
use super::{Answer, Failure, Kind, Shared, Shown, Work, found_run, opened};
use crate::page::labelling::{Labelling, Said};
use crate::route::{Form, VariantName};
use crate::serve::OpenRuns;

/// What a page sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    pub(crate) run: String,
    pub(crate) case: String,
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) prompt: Option<String>,
    #[serde(default)]
    pub(crate) subject: Option<String>,
    #[serde(default)]
    pub(crate) replicate: Option<u32>,
    /// `given` where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stratum: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f64>,
    #[serde(default)]
    pub(crate) blind: bool,
}

impl Sent {
    /// What a page about this case sends with every label.
    pub(crate) fn about(run: &str, case: &str, variant: &VariantName, task: &str) -> Sent {
        Sent {
            run: run.to_owned(),
            case: case.to_owned(),
            task: task.to_owned(),
            prompt: variant.prompt.clone(),
            subject: variant.subject.clone(),
            replicate: variant.replicate,
            state: None,
            label: None,
            score: None,
            note: None,
            stratum: None,
            weight: None,
            blind: false,
        }
    }
}

/// The columns of a run, with what people said about its cases.
pub(super) fn columns<'w>(work: &Work<'w>, view: &RunView) -> Result<Columns<'w>, ViewError> {
    let columns = work.shared.columns.of(view)?;
    let known = work.shared.labels.of(view);
    let people = columns.people_of(view, known.generation(), || (*known.standing).clone())?;
    Ok(columns.with_people(people))
}

/// What a page shows of the labels of a task of a case, and what can be said.
pub(super) fn labelling(
    work: &Work<'_>,
    shown: &Shown<'_>,
    case: &StoredCase,
    task: TaskIx,
    sent: Sent,
) -> Result<Labelling, Failure> {
    let (view, labels) = (shown.view, &work.shared.labels);
    let columns = columns(work, view)?;
    let said = columns.people().map(|it| it.of(case.case_ix.number() as u32)).unwrap_or_default();
    let of_task: Vec<&PersonLabel> = said.iter().filter(|it| it.task == task).collect();
    let own = of_task.iter().find(|it| is_own(it, &labels.annotator));
    let scale = scale(view, task)?.unwrap_or(Scale::PassFail);
    Ok(Labelling {
        choices: choices(&scale),
        takes_score: scale == Scale::Scores,
        own: own.map(|it| it.word()),
        note: own.and_then(|it| it.label.note.clone()).unwrap_or_default(),
        said: of_task.iter().map(|it| shown_label(it, &labels.annotator)).collect(),
        annotator: labels.annotator.clone(),
        can_write: !labels.read_only,
        file: labels.file_of(view).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        n_problems: labels.of(view).n_problems,
        sent: ascii(&serde_json::to_string(&sent).unwrap_or_default()),
        queue: None,
    })
}

/// JSON in which every other letter is escaped: no control of direction stands in the page.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            ' '..='~' => text.push(letter),
            other => other.encode_utf16(&mut [0; 2]).iter().for_each(|it| text.push_str(&format!("\\u{it:04x}"))),
        }
    }
    text
}

pub(super) fn is_own(label: &PersonLabel, annotator: &str) -> bool {
    label.is_current && label.label.annotator.as_deref() == Some(annotator)
}

fn shown_label(said: &PersonLabel, annotator: &str) -> Said {
    Said {
        annotator: said.label.annotator.clone().unwrap_or_else(|| "unnamed".to_owned()),
        word: said.word(),
        note: said.label.note.clone().unwrap_or_default(),
        at: said.label.at.clone(),
        is_current: said.is_current,
        disagrees: said.is_current && said.agrees == Some(false),
        is_own: said.label.annotator.as_deref() == Some(annotator),
        is_blind: said.label.blind == Some(true),
    }
}

/// What can be said of a task, in the order of the keys. What passes or fails is said with `pass` first, as people read it.
fn choices(scale: &Scale) -> Vec<String> {
    match scale {
        Scale::PassFail => vec!["pass".to_owned(), "fail".to_owned()],
        other => other.labels().iter().map(|it| (*it).to_owned()).collect(),
    }
}

/// Writes a label that a page sent.
pub(crate) fn save(shared: &Shared, runs: &mut OpenRuns, body: &[u8]) -> Answer {
    saved(shared, runs, body).unwrap_or_else(|failure| failure.answer(Form::Json))
}

fn saved(shared: &Shared, runs: &mut OpenRuns, body: &[u8]) -> Result<Answer, Failure> {
    let sent: Sent =
        serde_json::from_slice(body).map_err(|it| Failure::Bad(format!("the label cannot be read: {it}")))?;
    let found = found_run(shared, &sent.run)?;
    let view = opened(runs, &found.path)?;
    let label = label(shared, &found.id, view, &sent)?;
    let failed = |it: std::io::Error| Failure::Unreadable(format!("the label cannot be written: {it}"));
    shared.labels.add(view, &label).map_err(failed)?;
    let said = json!({ "version": 1, "state": label.state.name(), "label": label.label, "score": label.score });
    Ok(Answer::new(StatusCode::OK, Kind::Json, said.to_string()))
}

/// The line that a label becomes.
fn label(shared: &Shared, run: &str, view: &RunView, sent: &Sent) -> Result<Label, Failure> {
    let absent = |reason: String| Failure::NotFound { reason, meant: Vec::new() };
    let variant = VariantName { prompt: sent.prompt.clone(), subject: sent.subject.clone(), replicate: sent.replicate };
    let cases = view.cases_named(&sent.case)?;
    let case = meant(view, &cases, &variant).ok_or_else(|| absent(format!("the run has no case `{}`", sent.case)))?;
    let task = view.plan().tasks.iter().position(|it| it.id == sent.task);
    let task = task.ok_or_else(|| absent(format!("the run has no task `{}`", sent.task)))?;
    let column = Column::from(TaskIx(task as u32));
    let state = match sent.state.as_deref() {
        None => State::Given,
        Some(name) => State::named(name)
            .ok_or_else(|| Failure::Bad(format!("`{name}` is no state: write `given`, `unsure` or `removed`")))?,
    };
    let own = name_of(view, case);
    let label = Label {
        at: Some(Calibration::moment(jurat_engine::now_ms())),
        annotator: Some(shared.labels.annotator.clone()),
        suite: Some(view.head().suite.clone()),
        task: Some(sent.task.clone()),
        case: view.case_name(case),
        prompt: own.prompt,
        subject: own.subject,
        replicate: own.replicate,
        evidence: Some(view.evidence_digest(case)?),
        state,
        label: sent.label.clone().filter(|_| state == State::Given),
        score: sent.score.filter(|_| state == State::Given),
        note: Some(sent.note.clone().unwrap_or_default()),
        stratum: sent.stratum.clone(),
        weight: sent.weight,
        blind: Some(sent.blind),
        run: Some(run.to_owned()),
        judge: Some(judge_said(case, column)),
        others: Vec::new(),
    };
    if state == State::Given {
        let scale = scale(view, TaskIx(task as u32))?.unwrap_or(Scale::PassFail);
        scale.rating(&label).map_err(|it| Failure::Bad(format!("{}; {}", it.message, it.help)))?;
    }
    Ok(label)
}

pub(super) fn judge_said(case: &StoredCase, column: Column) -> JudgeSaid {
    let verdict = match case.code(column) {
        Code::Passed => Some(TaskVerdict::Passed),
        Code::Failed => Some(TaskVerdict::Failed),
        Code::Measured => Some(TaskVerdict::Measured),
        Code::Error => Some(TaskVerdict::Error),
        _ => None,
    };
    JudgeSaid {
        verdict: verdict.map(|it| it.name().to_owned()),
        label: case.labels.iter().find(|(it, _)| *it == column).map(|(_, it)| it.clone()),
    }
}
