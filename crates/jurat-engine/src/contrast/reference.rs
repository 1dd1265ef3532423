//! BASE as a run that is in progress sees it: the result of each of its rows in BASE.

use std::collections::{HashMap, HashSet};

use jurat_core::contrast::Repetitions;
use jurat_store::run::{Code, Column as RunColumn, Variant};

use super::contrasting::mean_score;
use super::pairing::Column;
use super::selection::{Group, Groups, Numbered};
use super::spending::UnitCases;
use super::{CompareError, ComparedSide};
use crate::view::ViewError;

/// BASE, found by the ids of rows.
pub(crate) struct Reference {
    side: ComparedSide,
    rows: HashMap<u128, u32>,
    questions: Vec<u128>,
    groups: Groups,
}

impl Reference {
    /// `variants` are those of the run in progress; none when each row is one case.
    pub(crate) fn new(side: ComparedSide, variants: &[Variant]) -> Result<Reference, CompareError> {
        let alone = [Variant::default()];
        let new: &[Variant] = if variants.is_empty() { &alone } else { variants };
        let numbered: Vec<Numbered<'_>> = side.0.variants().iter().map(|it| (it.0, &it.1)).collect();
        let new: Vec<Numbered<'_>> = new.iter().enumerate().collect();
        let groups = Groups::of(&numbered, &new, &side.0.side().name)?;
        let mut rows = HashMap::new();
        for key in side.0.keys()? {
            let key = key?;
            rows.insert(key.hash, u32::try_from(key.row).map_err(|_| CompareError::TooManyRows)?);
        }
        let questions = side.0.questions()?;
        Ok(Reference { side, rows, questions, groups })
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.side.0.side().run_id
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups.groups
    }

    /// The column of a task; `None` when it has no such task.
    pub(crate) fn column(&self, task: &str) -> Option<RunColumn> {
        self.side.0.tasks().iter().find(|it| it.id == task).map(|it| it.column)
    }

    /// The row with a key that asks the same; one that asks something else is no partner.
    pub(crate) fn row(&self, key: u128, question: u128) -> Option<u32> {
        let row = *self.rows.get(&key)?;
        let was = self.questions.get(self.side.0.n_variants().first(row.into()).index()).copied().unwrap_or_default();
        (was == 0 || question == 0 || was == question).then_some(row)
    }

    /// The rows that are not among these, and how many there are in all.
    pub(crate) fn without(&self, paired: &HashSet<u32>) -> (HashSet<u64>, u64) {
        let lost = self.rows.values().filter(|it| !paired.contains(it)).map(|it| u64::from(*it)).collect();
        (lost, self.rows.len() as u64)
    }

    /// Whether rows hold what was answered, and one of these has no id: then another answer makes another row.
    pub(crate) fn hold_answers(&self, rows: &HashSet<u64>) -> Result<bool, ViewError> {
        let holds_answers = !rows.is_empty() && self.side.0.recorded()?.iter().any(|it| *it != 0);
        Ok(holds_answers && !self.side.0.nameless()?.is_disjoint(rows))
    }

    pub(crate) fn codes(&self, column: RunColumn) -> Result<Vec<Option<Code>>, ViewError> {
        self.side.0.codes(column)
    }

    pub(crate) fn scores(&self, column: RunColumn) -> Result<Vec<Option<f64>>, ViewError> {
        self.side.0.scores(column)
    }

    /// How the cases of a row ended that belong to a group.
    pub(crate) fn unit(&self, codes: &[Option<Code>], row: u32, group: &Group) -> Repetitions {
        Column::new(codes, &*self.side.0).unit(row, &group.base)
    }

    /// The mean score of the cases of a row that belong to a group.
    pub(crate) fn score(&self, scores: &[Option<f64>], row: u32, group: &Group) -> Option<f64> {
        mean_score(scores, UnitCases::of(&*self.side.0, row, &group.base))
    }
}

/// The groups of a run that is compared with nothing: one for each prompt and subject.
pub(crate) fn groups_alone(variants: &[Variant]) -> Vec<Group> {
    let alone = [Variant::default()];
    let own: &[Variant] = if variants.is_empty() { &alone } else { variants };
    let own: Vec<Numbered<'_>> = own.iter().enumerate().collect();
    Groups::of(&own, &own, "").map(|it| it.groups).unwrap_or_default()
}
