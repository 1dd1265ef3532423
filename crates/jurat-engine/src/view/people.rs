//! What people said about the cases of a run: labels, each at its case.

use std::collections::BTreeMap;

use jurat_core::calibration::Scale;
use jurat_core::label::{Label, Standing, State};
use jurat_core::plan::TaskIx;
use jurat_format::id::same_id;
use jurat_store::run::{Code, Column, StoredCase};

use super::{RunView, ViewError};

/// What one person said about one task of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonLabel {
    pub task: TaskIx,
    /// The line of the file.
    pub label: Label,
    /// Whether it is about the answer that this run has; else it is of another answer and does not count.
    pub is_current: bool,
    /// Whether the task ended as the person says; `None` where that cannot be compared.
    pub agrees: Option<bool>,
}

/// What people said about the cases of a run, by the number of the case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct People(BTreeMap<u32, Vec<PersonLabel>>);

impl People {
    /// What was said about a case.
    pub fn of(&self, case: u32) -> &[PersonLabel] {
        self.0.get(&case).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PersonLabel {
    /// What was said, in a word: the label, the score, or that the person is unsure.
    pub fn word(&self) -> String {
        match (&self.label.label, self.label.score) {
            _ if self.label.state == State::Unsure => "unsure".to_owned(),
            (Some(label), _) => label.clone(),
            (None, Some(score)) => score.to_string(),
            (None, None) => String::new(),
        }
    }

    pub fn is_given(&self) -> bool {
        self.label.is_given()
    }
}

impl RunView {
    /// What people said about the cases of this run.
    pub fn people(&self, labels: &Standing) -> Result<People, ViewError> {
        let mut people: BTreeMap<u32, Vec<PersonLabel>> = BTreeMap::new();
        for label in labels.given.iter().chain(&labels.unsure).map(|it| &it.value) {
            if label.suite.as_ref().is_some_and(|it| !same_id(it, &self.head().suite)) {
                continue;
            }
            let Some(task) = self.task_of(label) else { continue };
            for (case, is_current) in self.cases_labelled(label)? {
                let agrees = agrees(&case, Column::from(task), label);
                let said = PersonLabel { task, label: label.clone(), is_current, agrees };
                people.entry(u32::try_from(case.case_ix.number()).unwrap_or(u32::MAX)).or_default().push(said);
            }
        }
        Ok(People(people))
    }

    /// The task that a label is about. A label without one is about the only task that there is.
    fn task_of(&self, label: &Label) -> Option<TaskIx> {
        let mut tasks = self.plan.task_ixs().zip(&self.plan.tasks);
        match &label.task {
            Some(id) => tasks.find(|(_, it)| same_id(&it.id, id)).map(|(ix, _)| ix),
            None => tasks.next().map(|(ix, _)| ix).filter(|_| self.plan.tasks.len() == 1),
        }
    }

    /// The cases that a label names, each with whether it has the answer that was labelled. Of several with that answer, those alone.
    fn cases_labelled(&self, label: &Label) -> Result<Vec<(StoredCase, bool)>, ViewError> {
        let mut cases = Vec::new();
        for case in self.cases_named(&label.case)? {
            let variant = self.variant(case.case_ix).cloned().unwrap_or_default();
            let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|it| it == has);
            let is_it = is(&label.prompt, &variant.prompt)
                && is(&label.subject, &variant.subject)
                && label.replicate.is_none_or(|it| it == variant.replicate + 1);
            if is_it {
                let is_current = match &label.evidence {
                    // What cannot be read again is not known to be the answer.
                    Some(digest) => self.is_labelled_answer(&case, digest).unwrap_or(false),
                    None => true,
                };
                cases.push((case, is_current));
            }
        }
        if cases.iter().any(|it| it.1) {
            cases.retain(|it| it.1);
        }
        Ok(cases)
    }
}

/// Whether a task of a case ended as a person says.
pub fn agrees(case: &StoredCase, column: Column, label: &Label) -> Option<bool> {
    if !label.is_given() {
        return None;
    }
    let passed = match case.code(column) {
        Code::Passed => Some(1.0),
        Code::Failed => Some(0.0),
        _ => None,
    };
    let said = Scale::PassFail.rating(label).ok();
    if let (Some(passed), Some(said)) = (passed, said) {
        return Some(passed == said);
    }
    let own = case.labels.iter().find(|(it, _)| *it == column).map(|(_, it)| it);
    let score = case.scores.iter().find(|(it, _)| *it == column).map(|(_, it)| *it);
    match (&label.label, own, label.score, score) {
        (Some(said), Some(own), ..) => Some(said == own),
        (_, _, Some(said), Some(own)) => Some(said == own),
        _ => None,
    }
}
