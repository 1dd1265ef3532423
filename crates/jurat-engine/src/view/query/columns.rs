//! The columns of a run, read when a query needs them and shared by all who look at the run.
//!
//! A column has an entry for each number of a case. Those that were not used for longest go when all together are larger than the cache may be; a run that
//! grew has other columns.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jurat_core::calibration::Chosen;
use jurat_core::label::Standing;
use jurat_core::plan::CaseIx;
use jurat_store::run::{CaseTexts, Code, Column};

use super::spent::{self, Purposes, Spending, Spent};
use crate::view::{People, RunView, ViewError};

/// How large all columns together may be.
const MOST_BYTES: usize = 64 << 20;

/// The ids of cases, one text for all: a million texts of their own would take three times the memory.
#[derive(Debug, Default)]
pub struct Ids {
    text: String,
    /// Where each ends, by the number of the case.
    ends: Vec<u32>,
}

impl Ids {
    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// The id of a case; empty where there is no such case.
    pub fn get(&self, case: u32) -> &str {
        let end = self.ends.get(case as usize).copied().unwrap_or_default() as usize;
        let start = (case as usize).checked_sub(1).and_then(|it| self.ends.get(it)).copied().unwrap_or_default();
        self.text.get(start as usize..end).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|it| self.get(it))
    }

    fn bytes(&self) -> usize {
        self.text.capacity() + 4 * self.ends.capacity()
    }
}

fn size(texts: &CaseTexts) -> usize {
    texts.numbers.len() * 4 + texts.texts.iter().map(|it| it.len() + 24).sum::<usize>()
}

/// Columns of several runs.
#[derive(Debug, Default)]
pub struct ColumnCache(Mutex<Stored>);

#[derive(Debug, Default)]
struct Stored {
    columns: HashMap<(Generation, Name), Entry>,
    bytes: usize,
    /// Counts uses, to know which was last.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    column: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    used: u64,
}

/// A run as it was at some time.
type Generation = (PathBuf, u64);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Codes(Column),
    Scores(Column),
    Labels(Column),
    Groups(String),
    Took,
    Spent,
    Spending,
    Purposes,
    Ids,
    Flaky,
    /// By the state of the labels.
    People(u64),
    /// By task, number and seed.
    Queue(String, usize, u64),
}

/// The columns of one run.
#[derive(Debug, Clone)]
pub struct Columns<'c> {
    cache: &'c ColumnCache,
    generation: Generation,
    /// What people said about the cases; `None` where no labels are read.
    people: Option<Arc<People>>,
}

impl ColumnCache {
    /// The columns of a run as it is now.
    pub fn of(&self, view: &RunView) -> Result<Columns<'_>, ViewError> {
        let reader = view.reader();
        let state = reader.state()?;
        // Until a run has ended it grows, and every case more makes other columns.
        let generation = state.finish.map_or(0, |it| it.at_ms.wrapping_mul(31)).wrapping_add(state.n_cases);
        Ok(Columns { cache: self, generation: (reader.path().to_owned(), generation), people: None })
    }

    fn get<T: Any + Send + Sync>(&self, key: &(Generation, Name)) -> Option<Arc<T>> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.clock += 1;
        let now = stored.clock;
        let entry = stored.columns.get_mut(key)?;
        entry.used = now;
        Arc::clone(&entry.column).downcast().ok()
    }

    fn put(&self, key: (Generation, Name), column: Arc<dyn Any + Send + Sync>, bytes: usize) {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.clock += 1;
        stored.bytes += bytes;
        let entry = Entry { column, bytes, used: stored.clock };
        if let Some(before) = stored.columns.insert(key, entry) {
            stored.bytes -= before.bytes;
        }
        while stored.bytes > MOST_BYTES && stored.columns.len() > 1 {
            let oldest = stored.columns.iter().min_by_key(|(_, it)| it.used).map(|(key, _)| key.clone());
            let Some(removed) = oldest.and_then(|it| stored.columns.remove(&it)) else { return };
            stored.bytes -= removed.bytes;
        }
    }
}

impl Columns<'_> {
    /// The same with what people said about the cases.
    pub fn with_people(self, people: Arc<People>) -> Self {
        Columns { people: Some(people), ..self }
    }

    /// What people said about the cases; `None` where no labels are read.
    pub fn people(&self) -> Option<&People> {
        self.people.as_deref()
    }

    /// What people said, computed once for each state of the labels, which `labels` names.
    pub fn people_of(
        &self,
        view: &RunView,
        labels: u64,
        read: impl FnOnce() -> Standing,
    ) -> Result<Arc<People>, ViewError> {
        self.column(Name::People(labels), |_| 1 << 10, || view.people(&read()))
    }

    /// The cases that should be labelled for a task, in their order, computed once for each number and seed.
    pub fn queue(
        &self,
        (task, n, seed): (&str, usize, u64),
        read: impl FnOnce() -> Result<Vec<Chosen>, ViewError>,
    ) -> Result<Arc<Vec<Chosen>>, ViewError> {
        self.column(Name::Queue(task.to_owned(), n, seed), |it: &Vec<Chosen>| 64 * it.len(), read)
    }

    fn column<T: Any + Send + Sync>(
        &self,
        name: Name,
        bytes: impl FnOnce(&T) -> usize,
        read: impl FnOnce() -> Result<T, ViewError>,
    ) -> Result<Arc<T>, ViewError> {
        let key = (self.generation.clone(), name);
        if let Some(column) = self.cache.get(&key) {
            return Ok(column);
        }
        let column = Arc::new(read()?);
        let bytes = bytes(&column);
        self.cache.put(key, Arc::clone(&column) as Arc<dyn Any + Send + Sync>, bytes);
        Ok(column)
    }

    /// How each case ended, or one of its tasks; `None` where there is no such case.
    pub fn codes(&self, view: &RunView, column: Column) -> Result<Arc<Vec<Option<Code>>>, ViewError> {
        self.column(Name::Codes(column), Vec::len, || Ok(view.reader().codes(column)?))
    }

    /// The score of each case for a task; not a number where it has none.
    pub fn scores(&self, view: &RunView, column: Column) -> Result<Arc<Vec<f64>>, ViewError> {
        let read = || {
            let scores = view.reader().scores(column)?;
            Ok(scores.into_iter().map(|it| it.unwrap_or(f64::NAN)).collect())
        };
        self.column(Name::Scores(column), |it: &Vec<f64>| 8 * it.len(), read)
    }

    /// The label of each case for a task.
    pub fn labels(&self, view: &RunView, column: Column) -> Result<Arc<CaseTexts>, ViewError> {
        self.column(Name::Labels(column), size, || Ok(view.reader().label_texts(column)?))
    }

    /// What each case has at a path of `group_by`; `None` when the run does not say.
    pub fn groups(&self, view: &RunView, path: &str) -> Result<Arc<Option<CaseTexts>>, ViewError> {
        let read = || Ok(view.reader().group_texts(path)?);
        self.column(Name::Groups(path.to_owned()), |it| it.as_ref().map_or(0, size), read)
    }

    /// Computes what cases have at the paths of `group_by` from their rows, for a run that does not say. `each` is called for every row that was looked at.
    pub fn compute_groups(&self, view: &RunView, each: &mut dyn FnMut()) -> Result<(), ViewError> {
        let paths = &view.plan().group_by;
        for (path, texts) in paths.iter().zip(super::grouping::of_rows(view, paths, each)?) {
            let bytes = size(&texts);
            let key = (self.generation.clone(), Name::Groups(path.to_string()));
            self.cache.put(key, Arc::new(Some(texts)), bytes);
        }
        Ok(())
    }

    /// How long each case took, in microseconds; `u64::MAX` where that was not measured.
    pub fn took(&self, view: &RunView) -> Result<Arc<Vec<u64>>, ViewError> {
        let read = || {
            let took = view.reader().took()?;
            Ok(took.into_iter().map(|it| it.unwrap_or(u64::MAX)).collect())
        };
        self.column(Name::Took, |it: &Vec<u64>| 8 * it.len(), read)
    }

    /// The id of each case's row.
    pub fn ids(&self, view: &RunView) -> Result<Arc<Ids>, ViewError> {
        let read = || {
            let mut ids = Ids::default();
            for case in view.reader().identities() {
                let case = case?;
                // Numbers without a case have an empty id.
                while ids.ends.len() < case.case_ix.index() {
                    ids.push("");
                }
                ids.push(&view.name_of(&case));
            }
            ids.text.shrink_to_fit();
            Ok(ids)
        };
        self.column(Name::Ids, Ids::bytes, read)
    }

    /// What the answers of each case took; empty for a run that asked nothing.
    pub fn spent(&self, view: &RunView) -> Result<Arc<Vec<Spent>>, ViewError> {
        let read = || spent::of_cases(view);
        self.column(Name::Spent, |it: &Vec<Spent>| it.len() * size_of::<Spent>(), read)
    }

    /// What the answers of one case took. A run that does not say it for all cases has the outcomes of this one added up.
    pub fn spent_of(&self, view: &RunView, case_ix: CaseIx) -> Result<Spent, ViewError> {
        match view.reader().has_taken()? {
            true => Ok(self.spent(view)?.get(case_ix.index()).copied().unwrap_or_default()),
            false => view.spent_of(case_ix),
        }
    }

    /// What answers took, by task and by model.
    pub fn spending(&self, view: &RunView) -> Result<Arc<Spending>, ViewError> {
        self.column(Name::Spending, |it: &Spending| 200 * (it.tasks.len() + it.models.len()), || spent::of_run(view))
    }

    /// The same by what models were asked for.
    pub fn purposes(&self, view: &RunView) -> Result<Arc<Purposes>, ViewError> {
        let read = || spent::by_purpose(view, &*self.spending(view)?);
        self.column(Name::Purposes, |it: &Purposes| 500 * it.all.len(), read)
    }

    /// Whether the row of a case passed in some repetitions and failed in others, with the same prompt and subject.
    pub fn flaky(&self, view: &RunView) -> Result<Arc<Vec<bool>>, ViewError> {
        let read = || {
            let (n_variants, units) = (view.head().n_variants(), super::super::repetition::flaky_units(view)?);
            let firsts = super::super::repetition::first_repetitions(view);
            let is_flaky = |case: CaseIx| {
                let variant = n_variants.variant(case);
                let first = firsts.get(variant).copied().unwrap_or(variant);
                units.contains(&(n_variants.place(case), first))
            };
            Ok(CaseIx::each().take(view.reader().n_case_numbers()?).map(is_flaky).collect())
        };
        self.column(Name::Flaky, |it: &Vec<bool>| it.len(), read)
    }
}
