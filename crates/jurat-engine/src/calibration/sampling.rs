//! Sheets to fill in.

use std::collections::{HashMap, HashSet};

use jurat_core::calibration::{Candidate, Chosen, PASS, Rated, Scale, choose, gold};
use jurat_core::label::{Label, SheetRow, Standing};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_format::problem::Problems;

use super::judged::Judged;
use super::matching::match_labels;
use super::{CalibrateError, task};
use crate::CaseLabel;
use crate::view::{RunView, ViewError};

/// Which cases are put on a sheet.
#[derive(Debug, Clone, Default)]
pub struct SampleOptions {
    pub task: Option<String>,
    /// How many cases.
    pub n: usize,
    pub seed: u64,
}

/// Cases to label next: half from each verdict of the judge at first, and where labels are given those that say most, without those that have one. The sheet says nothing of what the judge said.
pub fn sample(
    view: &RunView,
    labels: &Standing,
    options: &SampleOptions,
    problems: &mut Problems,
) -> Result<(Vec<SheetRow>, bool), CalibrateError> {
    let task_ix = task(view, options.task.as_deref())?;
    let name = view.plan().tasks[task_ix.index()].id.clone();
    let judged = Judged::of(view, task_ix, labels, false)?;
    let judged = judged.ok_or_else(|| CalibrateError::NothingJudged { task: name.clone() })?;
    let rated = match_labels(view, &judged, labels, problems)?.rated;
    let candidates = candidates(view, &judged, &rated)?;
    let chosen = choose(&candidates, options.n, options.seed);
    let several = Several::of(view);
    let mut rows = Vec::with_capacity(chosen.len());
    for chosen in chosen {
        rows.push(row(view, &name, &chosen, &several)?);
    }
    Ok((rows, judged.scale == Scale::Scores))
}

/// The queue of the viewer: the cases that a sheet without labels would have. It does not change while they are labelled.
pub fn queue(view: &RunView, options: &SampleOptions) -> Result<(TaskIx, Vec<Chosen>), CalibrateError> {
    let (task, judged) = judged_task(view, options)?;
    Ok((task, choose(&candidates(view, &judged, &[])?, options.n, options.seed)))
}

/// What people choose from when they label a task.
pub fn scale(view: &RunView, task: TaskIx) -> Result<Option<Scale>, ViewError> {
    Ok(Judged::of(view, task, &Standing::default(), false)?.map(|it| it.scale))
}

/// The task that is meant, without looking at cases.
pub fn queued_task(view: &RunView, name: Option<&str>) -> Result<TaskIx, CalibrateError> {
    task(view, name)
}

fn judged_task(view: &RunView, options: &SampleOptions) -> Result<(TaskIx, Judged), CalibrateError> {
    let task = task(view, options.task.as_deref())?;
    let name = || view.plan().tasks[task.index()].id.clone();
    let judged = Judged::of(view, task, &Standing::default(), false)?;
    Ok((task, judged.ok_or_else(|| CalibrateError::NothingJudged { task: name() })?))
}

/// The cases that the judge rated, with what people said of them already.
fn candidates(view: &RunView, judged: &Judged, rated: &[Rated]) -> Result<Vec<Candidate>, CalibrateError> {
    let said: HashMap<&str, Option<bool>> = rated
        .iter()
        .map(|it| (it.case.as_str(), gold(&it.people, &judged.scale).map(|it| it == PASS as f64)))
        .collect();
    let ratings = judged.ratings(view)?;
    let mut candidates = Vec::new();
    for case in view.reader().identities() {
        let case = case.map_err(ViewError::from)?;
        let Some(rating) = ratings.get(case.case_ix.index()).copied().flatten() else { continue };
        let name = CaseLabel { id: &view.name_of(&case), variant: view.variant(case.case_ix) }.to_string();
        let label = match judged.scale {
            Scale::Scores => None,
            Scale::PassFail | Scale::Labels { .. } => Some(rating as usize),
        };
        let labelled = said.get(name.as_str()).copied();
        candidates.push(Candidate { case: case.case_ix.number(), name, label, labelled });
    }
    Ok(candidates)
}

/// What distinguishes the cases of a row, where it is needed.
struct Several {
    prompts: bool,
    subjects: bool,
    repetitions: bool,
}

impl Several {
    fn of(view: &RunView) -> Several {
        let variants = &view.head().variants;
        let n = |of: fn(&jurat_store::run::Variant) -> &str| variants.iter().map(of).collect::<HashSet<&str>>().len();
        Several {
            prompts: n(|it| &it.prompt) > 1,
            subjects: n(|it| &it.subject) > 1,
            repetitions: variants.iter().any(|it| it.replicate > 0),
        }
    }
}

fn row(view: &RunView, task: &str, chosen: &Chosen, several: &Several) -> Result<SheetRow, CalibrateError> {
    let case = view.reader().case(CaseIx::numbered(chosen.case)).map_err(crate::view::ViewError::from)?;
    let case = case.expect("a case that was chosen is there");
    let text = view.label_text(&case)?;
    let variant = view.variant(case.case_ix).cloned().unwrap_or_default();
    let named = |is_needed: bool, name: &str| (is_needed && !name.is_empty()).then(|| name.to_owned());
    let label = Label {
        case: view.case_name(&case),
        prompt: named(several.prompts, &variant.prompt),
        // Whose answer it is could sway the annotator, so it stands there only where it must.
        subject: named(several.subjects, &variant.subject),
        replicate: several.repetitions.then_some(variant.replicate + 1),
        task: Some(task.to_owned()),
        stratum: chosen.stratum.clone(),
        weight: chosen.weight,
        evidence: Some(text.evidence),
        ..Label::default()
    };
    Ok(SheetRow { label, input: text.input, output: text.output })
}
