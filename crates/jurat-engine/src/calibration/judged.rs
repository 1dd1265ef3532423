//! What the judge of a task said in a run.

use std::collections::{BTreeMap, BTreeSet};

use jurat_core::calibration::{FAIL, PASS, Population, Scale, SlotFigures, slot_figures};
use jurat_core::label::Standing;
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::statistics::{Confidence, variance_components};
use jurat_core::suite::{Judge, TaskKind};
use jurat_format::value::Val;
use jurat_store::run::{Code, Column, StoredCase};

use crate::view::{RunView, ViewError};

/// The ratings of a judge: what they are chosen from, and how common each is.
pub(super) struct Judged {
    pub(super) task: TaskIx,
    pub(super) scale: Scale,
    pub(super) population: Population,
}

impl Judged {
    /// `None` when the task gave nothing that could be compared with labels.
    pub(super) fn of(
        view: &RunView,
        task: TaskIx,
        labels: &Standing,
        is_ordered: bool,
    ) -> Result<Option<Judged>, ViewError> {
        let column = Column::from(task);
        let codes = view.reader().codes(column)?;
        let count = |code: Code| codes.iter().filter(|it| **it == Some(code)).count() as u64;
        let (failed, passed) = (count(Code::Failed), count(Code::Passed));
        if failed + passed > 0 {
            let mut by_label = vec![0; 2];
            (by_label[FAIL], by_label[PASS]) = (failed, passed);
            return Ok(Some(Judged { task, scale: Scale::PassFail, population: Population { by_label } }));
        }
        let given: Vec<String> = view.reader().labels(column)?.into_iter().flatten().collect();
        if !given.is_empty() {
            let names = label_names(view, task, &given, labels);
            let is_ordered = is_ordered || names.iter().all(|it| it.parse::<f64>().is_ok());
            let count = |name: &String| given.iter().filter(|it| *it == name).count() as u64;
            let population = Population { by_label: names.iter().map(count).collect() };
            return Ok(Some(Judged { task, scale: Scale::Labels { labels: names, is_ordered }, population }));
        }
        let has_scores = view.reader().scores(column)?.iter().any(Option::is_some);
        Ok(has_scores.then(|| Judged { task, scale: Scale::Scores, population: Population::default() }))
    }

    /// What the judge said of each case, by the number of the case; `None` where it gave no verdict.
    pub(super) fn ratings(&self, view: &RunView) -> Result<Vec<Option<f64>>, ViewError> {
        let column = Column::from(self.task);
        Ok(match &self.scale {
            Scale::PassFail => {
                let rating = |code: Option<Code>| match code {
                    Some(Code::Passed) => Some(PASS as f64),
                    Some(Code::Failed) => Some(FAIL as f64),
                    _ => None,
                };
                view.reader().codes(column)?.into_iter().map(rating).collect()
            }
            Scale::Labels { labels, .. } => {
                let given = view.reader().label_texts(column)?;
                let places: Vec<Option<usize>> =
                    given.texts.iter().map(|text| labels.iter().position(|it| it == text)).collect();
                let rating = |number: &u32| places.get(*number as usize).copied().flatten().map(|it| it as f64);
                given.numbers.iter().map(rating).collect()
            }
            Scale::Scores => view.reader().scores(column)?,
        })
    }

    /// What the judge said of a case; `None` where it gave no verdict.
    pub(super) fn rating(&self, case: &StoredCase) -> Option<f64> {
        let column = Column::from(self.task);
        match &self.scale {
            Scale::PassFail => match case.code(column) {
                Code::Passed => Some(PASS as f64),
                Code::Failed => Some(FAIL as f64),
                _ => None,
            },
            Scale::Labels { labels, .. } => {
                let own = case.labels.iter().find(|(it, _)| *it == column)?;
                labels.iter().position(|it| *it == own.1).map(|it| it as f64)
            }
            Scale::Scores => case.scores.iter().find(|(it, _)| *it == column).map(|it| it.1),
        }
    }
}

/// The labels of a judge: those of its `enum` in their order, else what was given, by name or by number.
fn label_names(view: &RunView, task: TaskIx, given: &[String], labels: &Standing) -> Vec<String> {
    let mut names = match &view.suite().tasks[task.index()].kind {
        TaskKind::Judge(judge) => enumerated(judge),
        _ => Vec::new(),
    };
    let own: BTreeSet<&String> = given.iter().collect();
    let missing: Vec<String> = own.into_iter().filter(|it| !names.contains(*it)).cloned().collect();
    if names.is_empty() {
        // Without an `enum`, people may know labels that the judge did not give.
        let of_people = labels.given.iter().filter_map(|it| it.value.label.clone());
        let all: BTreeSet<String> = missing.into_iter().chain(of_people).collect();
        names = all.into_iter().collect();
        let number = |it: &String| it.parse::<f64>().ok();
        if names.iter().all(|it| number(it).is_some()) {
            names.sort_by(|one, other| number(one).unwrap_or(0.0).total_cmp(&number(other).unwrap_or(0.0)));
        }
        return names;
    }
    names.extend(missing);
    names
}

/// The members of the `enum` of the label that a judge replies with.
fn enumerated(judge: &Judge) -> Vec<String> {
    let Some(output) = &judge.output else { return Vec::new() };
    let property = output.schema.get("properties").and_then(|it| it.get("label")).unwrap_or(&output.schema);
    let members = property.get("enum").and_then(Val::as_list).unwrap_or_default();
    members.iter().map(|it| it.as_str().map_or_else(|| it.to_json(), str::to_owned)).collect()
}

/// Who served the judge, as providers say.
pub(super) fn served(view: &RunView, task: TaskIx) -> Result<Vec<String>, ViewError> {
    let mut served = BTreeSet::new();
    for effect in view.reader().effects() {
        let effect = effect?;
        if effect.site.asker.task() == Some(task) {
            served.extend(effect.served);
        }
    }
    Ok(served.into_iter().collect())
}

/// What the judges of a panel, or one that is asked several times, said about each case.
pub(super) fn slots(
    view: &RunView,
    task: TaskIx,
    models: &[(String, String)],
    confidence: Confidence,
) -> Result<Option<SlotFigures>, ViewError> {
    let TaskKind::Judge(judge) = &view.suite().tasks[task.index()].kind else { return Ok(None) };
    let repeat = judge.repeat.max(1) as usize;
    if models.len().max(1) * repeat < 2 {
        return Ok(None);
    }
    let mut said = Vec::new();
    for case in view.reader().cases(CaseIx::ALL) {
        let own = view.replies(&case?, task)?.unwrap_or_default();
        said.push(own.into_iter().map(Some).collect());
    }
    Ok(slot_figures(&said, &slot_names(models, repeat), confidence))
}

/// The names of the slots of a panel; none for one judge, which has no other to be compared with.
fn slot_names(models: &[(String, String)], repeat: usize) -> Vec<String> {
    if models.len() < 2 {
        return Vec::new();
    }
    let name = |ix: usize, model: &str| if repeat > 1 { format!("{model} #{}", ix + 1) } else { model.to_owned() };
    models.iter().flat_map(|it| (0..repeat).map(move |ix| name(ix, &it.0))).collect()
}

/// How far the judge agrees with itself in repetitions of a case that have the same answer, and the share of the variance between repetitions that this is. `None` where no repetitions have one.
pub(super) fn agreement_within(
    view: &RunView,
    task: TaskIx,
    confidence: Confidence,
) -> Result<Option<(SlotFigures, Option<f64>)>, ViewError> {
    if view.head().variants.iter().all(|it| it.replicate == 0) {
        return Ok(None);
    }
    let mut units: BTreeMap<(String, String, String), Vec<(String, f64)>> = BTreeMap::new();
    for case in view.reader().cases(CaseIx::ALL) {
        let case = case?;
        let value = match case.code(Column::from(task)) {
            Code::Passed => 1.0,
            Code::Failed => 0.0,
            _ => continue,
        };
        let variant = view.variant(case.case_ix).cloned().unwrap_or_default();
        let evidence = view.evidence_digest(&case)?;
        units.entry((case.id, variant.prompt, variant.subject)).or_default().push((evidence, value));
    }
    let (mut all, mut same) = (Vec::new(), Vec::new());
    for unit in units.values() {
        all.push(unit.iter().map(|it| it.1).collect::<Vec<f64>>());
        let mut by_evidence: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        unit.iter().for_each(|(evidence, value)| by_evidence.entry(evidence).or_default().push(*value));
        same.extend(by_evidence.into_values().filter(|it| it.len() > 1));
    }
    let said: Vec<Vec<Option<String>>> =
        same.iter().map(|it| it.iter().map(|it| Some(it.to_string())).collect()).collect();
    let within = |groups: &[Vec<f64>]| variance_components(groups).and_then(|it| it.within);
    let share = within(&same).zip(within(&all)).filter(|it| it.1 > 0.0).map(|(own, all)| own / all);
    Ok(slot_figures(&said, &[], confidence).map(|it| (it, share)))
}
