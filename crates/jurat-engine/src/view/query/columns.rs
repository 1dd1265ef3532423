//! The columns of a run, read when a query needs them and shared by all who look at the run.
//!
//! A column has an entry for each number of a case. Those that were not used for longest go when all together are larger than the cache may be; a run that
//! grew has other columns.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jurat_core::effect::wire::read_outcome;
use jurat_core::effect::{Outcome, Usage};
use jurat_core::plan::CaseIx;
use jurat_store::run::{Code, Column};

use crate::tally::taken;
use crate::view::{RunView, ViewError};

/// How large all columns together may be.
const MOST_BYTES: usize = 64 << 20;

/// Texts that repeat, such as labels: each once, and a number for each case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dictionary {
    pub texts: Vec<String>,
    /// The number of each case's text; [`Dictionary::NONE`] where it has none.
    pub numbers: Vec<u32>,
}

impl Dictionary {
    pub const NONE: u32 = u32::MAX;

    fn of(values: Vec<Option<String>>) -> Dictionary {
        let mut texts: Vec<&String> = values.iter().flatten().collect();
        texts.sort_unstable();
        texts.dedup();
        let number = |it: &String| texts.binary_search(&it).map_or(Dictionary::NONE, |it| it as u32);
        let numbers = values.iter().map(|it| it.as_ref().map_or(Dictionary::NONE, number)).collect();
        Dictionary { texts: texts.into_iter().cloned().collect(), numbers }
    }

    /// The text of a case.
    pub fn get(&self, case: u32) -> Option<&str> {
        self.texts.get(*self.numbers.get(case as usize)? as usize).map(String::as_str)
    }

    fn bytes(&self) -> usize {
        self.numbers.len() * 4 + self.texts.iter().map(|it| it.len() + 24).sum::<usize>()
    }
}

/// What the answers of a case took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub answers: u32,
    pub reused: u32,
    pub requests: u32,
    pub failed_requests: u32,
    pub tokens: u64,
    /// In billionths of a dollar.
    pub nano_dollars: u64,
    /// How many answers have no known cost.
    pub unpriced: u32,
    pub latency: Duration,
}

/// What the answers of a whole run took, by who asked and who answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// By task; `None` for what cases ask themselves.
    pub tasks: BTreeMap<Option<u32>, Spent>,
    /// By model, as the provider calls it, or as the suite does.
    pub models: BTreeMap<String, Spent>,
    /// How many responses took how long.
    pub latencies: [u64; BUCKETS],
}

/// Buckets of latencies: the first ends at 100 µs, and each is longer than the one before by the square root of two.
pub const BUCKETS: usize = 48;

/// The longest latency that a bucket counts.
pub fn bucket_end(bucket: usize) -> Duration {
    Duration::from_micros((100.0 * 2_f64.powf(bucket as f64 / 2.0)).round() as u64)
}

fn bucket(latency: Duration) -> usize {
    (0..BUCKETS - 1).find(|it| latency <= bucket_end(*it)).unwrap_or(BUCKETS - 1)
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
    Ids,
    Flaky,
}

/// The columns of one run.
#[derive(Debug, Clone)]
pub struct Columns<'c> {
    cache: &'c ColumnCache,
    generation: Generation,
}

impl ColumnCache {
    /// The columns of a run as it is now.
    pub fn of(&self, view: &RunView) -> Result<Columns<'_>, ViewError> {
        let reader = view.reader();
        let state = reader.state()?;
        // Until a run has ended it grows, and every case more makes other columns.
        let generation = state.finish.map_or(0, |it| it.at_ms.wrapping_mul(31)).wrapping_add(state.n_cases);
        Ok(Columns { cache: self, generation: (reader.path().to_owned(), generation) })
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
    pub fn labels(&self, view: &RunView, column: Column) -> Result<Arc<Dictionary>, ViewError> {
        let read = || Ok(Dictionary::of(view.reader().labels(column)?));
        self.column(Name::Labels(column), Dictionary::bytes, read)
    }

    /// What each case has at a path of `group_by`; `None` when the run does not say.
    pub fn groups(&self, view: &RunView, path: &str) -> Result<Arc<Option<Dictionary>>, ViewError> {
        let read = || Ok(view.reader().groups(path)?.map(Dictionary::of));
        self.column(Name::Groups(path.to_owned()), |it| it.as_ref().map_or(0, Dictionary::bytes), read)
    }

    /// How long each case took, in microseconds; `u64::MAX` where that was not measured.
    pub fn took(&self, view: &RunView) -> Result<Arc<Vec<u64>>, ViewError> {
        let read = || {
            let took = view.reader().took()?;
            Ok(took.into_iter().map(|it| it.unwrap_or(u64::MAX)).collect())
        };
        self.column(Name::Took, |it: &Vec<u64>| 8 * it.len(), read)
    }

    /// The id of each case's row; empty where there is no such case.
    pub fn ids(&self, view: &RunView) -> Result<Arc<Vec<String>>, ViewError> {
        let read = || {
            let mut ids = vec![String::new(); view.reader().n_case_numbers()?];
            for case in view.reader().identities() {
                let case = case?;
                let at = case.case_ix.0 as usize;
                ids[at] = view.name_of(&case);
            }
            Ok(ids)
        };
        self.column(Name::Ids, |it: &Vec<String>| it.iter().map(|it| it.capacity() + 24).sum(), read)
    }

    /// What the answers of each case took, added up from the recorded outcomes; empty for a run that asked nothing.
    pub fn spent(&self, view: &RunView) -> Result<Arc<Vec<Spent>>, ViewError> {
        let read = || spent(view);
        self.column(Name::Spent, |it: &Vec<Spent>| it.len() * size_of::<Spent>(), read)
    }

    /// What answers took, by task and by model.
    pub fn spending(&self, view: &RunView) -> Result<Arc<Spending>, ViewError> {
        self.column(Name::Spending, |it: &Spending| 200 * (it.tasks.len() + it.models.len()), || spending(view))
    }

    /// Whether the row of a case passed in some repetitions and failed in others, with the same prompt and subject.
    pub fn flaky(&self, view: &RunView) -> Result<Arc<Vec<bool>>, ViewError> {
        let read = || {
            let (n_variants, units) = (view.head().n_variants(), super::super::repetition::flaky_units(view)?);
            let firsts = super::super::repetition::first_repetitions(view);
            let is_flaky = |ix: usize| {
                let case = CaseIx(ix as u64);
                let variant = n_variants.variant(case);
                let first = firsts.get(variant).copied().unwrap_or(variant);
                units.contains(&(n_variants.place(case), first))
            };
            Ok((0..view.reader().n_case_numbers()?).map(is_flaky).collect())
        };
        self.column(Name::Flaky, |it: &Vec<bool>| it.len(), read)
    }
}

fn spent(view: &RunView) -> Result<Vec<Spent>, ViewError> {
    if !view.plan().asks() {
        return Ok(Vec::new());
    }
    let mut all = vec![Spent::default(); view.reader().n_case_numbers()?];
    for effect in view.reader().effects() {
        let effect = effect?;
        let Some(spent) = all.get_mut(effect.case_ix.0 as usize) else { continue };
        let outcome = read_outcome(&effect.kind, &effect.outcome).map_err(crate::RunError::from)?;
        spent.add(&outcome, effect.reused);
    }
    Ok(all)
}

fn spending(view: &RunView) -> Result<Spending, ViewError> {
    let mut all = Spending { tasks: BTreeMap::new(), models: BTreeMap::new(), latencies: [0; BUCKETS] };
    if !view.plan().asks() {
        return Ok(all);
    }
    for effect in view.reader().effects() {
        let effect = effect?;
        let outcome = read_outcome(&effect.kind, &effect.outcome).map_err(crate::RunError::from)?;
        if let Outcome::Answer(answer) = &outcome {
            all.latencies[bucket(answer.latency)] += 1;
            let model = answer.served.model.clone().unwrap_or_else(|| effect.model.clone());
            all.models.entry(model).or_default().add(&outcome, effect.reused);
        }
        all.tasks.entry(effect.site.asker.task().map(|it| it.0)).or_default().add(&outcome, effect.reused);
    }
    Ok(all)
}

impl RunView {
    /// What the answers of one case took.
    pub fn spent_of(&self, case_ix: CaseIx) -> Result<Spent, ViewError> {
        let mut spent = Spent::default();
        for effect in self.reader().effects_of(case_ix)? {
            let outcome = read_outcome(&effect.kind, &effect.outcome).map_err(crate::RunError::from)?;
            spent.add(&outcome, effect.reused);
        }
        Ok(spent)
    }
}

impl Spent {
    /// What they cost in dollars, as far as that is known.
    pub fn cost_usd(&self) -> Option<f64> {
        (self.answers > self.unpriced).then_some(self.nano_dollars as f64 / 1e9)
    }

    fn add(&mut self, outcome: &Outcome, reused: bool) {
        if let Some((usage, cost)) = taken(outcome) {
            self.answers += 1;
            self.reused += u32::from(reused);
            self.tokens += tokens(&usage);
            match cost {
                Some(cost) => self.nano_dollars += (cost * 1e9).round() as u64,
                None => self.unpriced += 1,
            }
        }
        match outcome {
            Outcome::Answer(answer) => {
                self.latency += answer.latency;
                self.requests += answer.n_requests;
                self.failed_requests += answer.n_requests.saturating_sub(1);
            }
            Outcome::Fault(fault) => {
                self.requests += fault.n_requests;
                self.failed_requests += fault.n_requests;
            }
            Outcome::Returned(_) | Outcome::Ran(_) | Outcome::NotRun(_) => {}
        }
    }
}

fn tokens(usage: &Usage) -> u64 {
    usage.input.saturating_add(usage.output)
}
