//! What is compared, column by column: a run, or a baseline that was exported from one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jurat_core::calibration::JudgeParts;
use jurat_core::contrast::provenance::Definition;
use jurat_core::contrast::{ChangeSide, Side};
use jurat_core::plan::{CaseIx, VariantCount};
use jurat_format::value::FieldPath;
use jurat_store::run::{CaseTexts, Code, Column, RowKey, Variant};
use serde::{Deserialize, Serialize};

use crate::stopping_record::StoppingRecord;
use crate::view::ViewError;
use crate::view::query::syntax::WrittenTerm;
use crate::view::query::{QueryProblem, TermCases};

/// A side as columns over its cases.
pub(super) trait Table {
    fn side(&self) -> &Side;

    fn definition(&self) -> &Definition;

    /// How the run was to stop early, and what was decided; `None` also for a baseline, which does not say.
    fn stopping(&self) -> Option<&StoppingRecord> {
        None
    }

    /// The variants of the run that belong to the side, with their numbers. A run without variants has one without names.
    fn variants(&self) -> &[(usize, Variant)];

    /// How many numbers the cases of a row have.
    fn n_variants(&self) -> VariantCount;

    /// Whether a case is of a variant that belongs to the side.
    fn has(&self, case: CaseIx) -> bool {
        let variant = self.n_variants().variant(case);
        self.variants().iter().any(|it| it.0 == variant)
    }

    /// How many scenarios and agent cases there are: they are the first rows. `None` for a baseline of an earlier version, whose digests of what they
    /// ask are made of something else.
    fn n_defined(&self) -> Option<u64>;

    fn tasks(&self) -> &[TaskInfo];

    /// The tasks that a task rests on, directly or through others. A baseline does not have them.
    fn upstream(&self, _task: &str) -> Vec<&str> {
        Vec::new()
    }

    /// What the verdicts of the task in a column rest on, part by part; `None` where the definition itself is not there.
    fn judge_parts(&self, column: Column) -> Option<JudgeParts>;

    /// The rows in the order of their keys.
    fn keys<'t>(&'t self) -> Result<Box<dyn Iterator<Item = Result<RowKey, ViewError>> + 't>, ViewError>;

    /// Whether rows are known by their content alone.
    fn is_by_content(&self) -> Result<bool, ViewError>;

    /// The rows without an `id`: their content is their id.
    fn nameless(&self) -> Result<HashSet<u64>, ViewError>;

    /// The cases for which a term of a query holds. A baseline cannot be asked.
    fn cases_of_term(&self, query: &str, term: &WrittenTerm) -> Result<Result<TermCases, QueryProblem>, ViewError> {
        let message = "this is about cases of a run, and a baseline has none";
        Ok(Err(QueryProblem::new(query, term.at.clone(), message)))
    }

    fn codes(&self, column: Column) -> Result<Vec<Option<Code>>, ViewError>;

    /// How the case with this number ended and each of its tasks, by column.
    fn codes_of(&self, case: CaseIx) -> Result<Vec<Code>, ViewError>;

    fn scores(&self, column: Column) -> Result<Vec<Option<f64>>, ViewError>;

    fn labels(&self, column: Column) -> Result<Vec<Option<String>>, ViewError>;

    /// The digest of what each case asks, by the number of the case; 0 where it is not known.
    fn questions(&self) -> Result<Vec<u128>, ViewError>;

    /// The digest of each row, by the number of the case, where rows hold what was answered; 0 where it is not known.
    fn recorded(&self) -> Result<Vec<u128>, ViewError>;

    /// What was asked in each case and what came back, by the number of the case.
    fn asked(&self) -> Result<Asked, ViewError>;

    /// What rows have at a path. `None` when some rows cannot be read: those that failed are stored and those that passed may not be, so what is left
    /// says nothing.
    fn values(&self, path: &FieldPath) -> Result<Option<RowTexts>, ViewError>;

    /// The rows with a tag; `None` when some rows cannot be read.
    fn tagged(&self, tag: &str) -> Result<Option<HashSet<u64>>, ViewError>;

    /// The tags of the case with this number.
    fn tags(&self, case: CaseIx) -> Result<Vec<String>, ViewError>;

    /// Whether the case with this number has a tag. It is asked of every case that changed.
    fn has_tag(&self, case: CaseIx, tag: &str) -> Result<bool, ViewError> {
        Ok(self.tags(case)?.iter().any(|it| it == tag))
    }

    /// The cases with a tag, of those that are wanted: a flag for each number of a case.
    fn tagged_cases(&self, tag: &str, wanted: &[bool]) -> Result<HashSet<CaseIx>, ViewError> {
        let mut found = HashSet::new();
        for case in CaseIx::each().zip(wanted).filter(|it| *it.1).map(|it| it.0) {
            if self.has_tag(case, tag)? {
                found.insert(case);
            }
        }
        Ok(found)
    }

    /// The path of what rows share, as the suite says.
    fn cluster_by(&self) -> Option<FieldPath>;

    fn group_by(&self) -> Vec<FieldPath>;

    /// The id of the row of the case with this number.
    fn row_id(&self, case: CaseIx) -> Result<String, ViewError>;

    /// What the case with this number is called: its id, or the file and the number of its row.
    fn id(&self, case: CaseIx) -> Result<String, ViewError>;

    /// Hands on what each case is called, with its number.
    fn each_name(&self, take: &mut dyn FnMut(CaseIx, &str)) -> Result<(), ViewError>;

    /// What there is to say about one case: what was answered, or what a task looked at where answers are recorded; and why it failed.
    fn describe(&self, case: CaseIx, task: Option<&str>, side: &mut ChangeSide) -> Result<(), ViewError>;
}

/// What rows have at a path: each text once, because a million rows have a few between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RowTexts {
    /// In their order.
    texts: Vec<String>,
    /// The place of each row's text, by the number of the row; [`CaseTexts::NONE`] where it has none.
    numbers: Vec<u32>,
}

impl RowTexts {
    /// Those of a run with this many cases a row; all cases of a row have the same.
    pub(super) fn of_cases(cases: CaseTexts, n_variants: VariantCount) -> RowTexts {
        let of_row = |it: &[u32]| it.iter().copied().find(|it| *it != CaseTexts::NONE).unwrap_or(CaseTexts::NONE);
        RowTexts { numbers: n_variants.by_source(&cases.numbers).map(of_row).collect(), texts: cases.texts }
    }

    /// The place of a row's text in [`RowTexts::texts`].
    pub(super) fn number(&self, row: u64) -> Option<usize> {
        let number = self.numbers.get(usize::try_from(row).ok()?)?;
        (*number != CaseTexts::NONE).then_some(*number as usize)
    }

    pub(super) fn get(&self, row: u64) -> Option<&str> {
        self.number(row).map(|it| self.texts[it].as_str())
    }

    /// The different texts, in their order.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The rows that have a text.
    pub(super) fn rows_with(&self, text: &str) -> HashSet<u64> {
        (0..self.numbers.len() as u64).filter(|it| self.get(*it) == Some(text)).collect()
    }
}

impl FromIterator<(u64, String)> for RowTexts {
    fn from_iter<I: IntoIterator<Item = (u64, String)>>(values: I) -> RowTexts {
        let of_row: BTreeMap<u64, String> = values.into_iter().collect();
        let ranks: BTreeMap<&str, u32> =
            of_row.values().map(String::as_str).collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
        let n = of_row.keys().next_back().map_or(0, |it| *it as usize + 1);
        let mut numbers = vec![CaseTexts::NONE; n];
        of_row.iter().for_each(|(row, text)| numbers[*row as usize] = ranks[text.as_str()]);
        RowTexts { texts: ranks.into_keys().map(str::to_owned).collect(), numbers }
    }
}

/// A task, as far as comparing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskInfo {
    pub(super) id: String,
    pub(super) column: Column,
    /// Whether it is a gate that only routes, whose own result is not counted.
    pub(super) is_condition: bool,
    /// Whether it may pass or fail.
    pub(super) judges: bool,
}

/// What was asked in the cases of a side.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) cases: HashMap<CaseIx, CaseAsked>,
    /// Who served each task's judge, in words.
    pub(super) served: HashMap<String, Vec<String>>,
}

/// What was asked in one case.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseAsked {
    pub(super) subject: Amount,
    pub(super) judging: Amount,
    /// The digest of what the subject answered; 0 when it did not.
    pub(super) answer: u128,
    /// Which recorded answers of the subject it rests on, when all of them were there before the run.
    pub(super) reused: Option<u128>,
}

/// What some answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Amount {
    pub(super) answers: u64,
    pub(super) unpriced: u64,
    pub(super) usd: f64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) seconds: f64,
    pub(super) n_reused: u64,
}
