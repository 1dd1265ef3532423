//! What answers took: for each case, and for each task and model of a run.
//!
//! Runs say it themselves. What an earlier version wrote does not, and is added up from the recorded outcomes.

use std::collections::BTreeMap;
use std::time::Duration;

use jurat_core::effect::Slot;
use jurat_core::effect::wire::read_outcome;
use jurat_core::plan::{CaseIx, TaskIx, Work};
use jurat_core::report::explanation::Purpose;
use jurat_store::run::{CaseTaken, Column, StoredEffect};

use crate::latencies::Latencies;
use crate::tally::{AskedOf, Given, Origin, Whole, add_to_case, model_of};
use crate::view::transcript::purpose;
use crate::view::{RunView, ViewError, totals};

/// What the answers of a case, a task or a model took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    pub answers: u32,
    pub reused: u32,
    pub requests: u32,
    pub failed_requests: u32,
    /// How many answers have no known cost.
    pub unpriced: u32,
    pub tokens: u64,
    /// In billionths of a dollar.
    pub nano_dollars: u64,
    latency_us: u64,
}

/// What the answers of a whole run took, by who asked and who answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spending {
    /// By task; `None` for what cases ask themselves.
    pub tasks: BTreeMap<Option<u32>, (Spent, Latencies)>,
    /// By model, as the provider calls it, or as the suite does.
    pub models: BTreeMap<String, (Spent, Latencies)>,
    /// How many responses took how long.
    pub latencies: Latencies,
}

/// What responses took, by what models were asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Purposes {
    /// Those that have responses, in the order in which a case asks for them.
    pub all: Vec<(Purpose, (Spent, Latencies))>,
    /// Whether all that conversations asked for counts as asking the subject: their outcomes would have to be read, and there are too many.
    pub is_rough: bool,
}

/// Conversations with more responses than this are not read for their purposes.
const MOST_READ: u32 = 100_000;

/// What the responses of a run took, by purpose.
pub(super) fn by_purpose(view: &RunView, spending: &Spending) -> Result<Purposes, ViewError> {
    let mut purposes = Purposes::default();
    for (task, (spent, latencies)) in &spending.tasks {
        match task.map(TaskIx) {
            Some(ix) => purposes.add(purpose_of(view, ix), spent, latencies),
            None if view.plan().all_scenarios().next().is_none() => {
                purposes.add(Purpose::Subject, spent, latencies);
            }
            None if spent.answers <= MOST_READ => purposes.add_conversations(view)?,
            None => {
                purposes.is_rough = true;
                purposes.add(Purpose::Subject, spent, latencies);
            }
        }
    }
    Ok(purposes)
}

/// What a task asks models for.
fn purpose_of(view: &RunView, task: TaskIx) -> Purpose {
    match view.plan().tasks.get(task.index()).map(|it| &it.work) {
        Some(Work::Evaluate(_)) => Purpose::Embedder,
        _ => Purpose::Judge,
    }
}

impl Purposes {
    fn add(&mut self, purpose: Purpose, spent: &Spent, latencies: &Latencies) {
        let at = self.all.iter().position(|it| it.0 == purpose).unwrap_or_else(|| {
            self.all.push((purpose, Default::default()));
            self.all.len() - 1
        });
        let (all_spent, all_latencies) = &mut self.all[at].1;
        all_spent.add(spent);
        all_latencies.merge(latencies);
    }

    /// Adds what cases asked for themselves, by the slot of each outcome.
    fn add_conversations(&mut self, view: &RunView) -> Result<(), ViewError> {
        let mut by_slot: BTreeMap<Slot, AskedOf> = BTreeMap::new();
        for effect in view.reader().effects() {
            let effect = effect?;
            let slot = Slot::numbered(effect.site.slot).filter(|_| effect.site.asker.task().is_none());
            if let Some(slot) = slot {
                let origin = if effect.reused { Origin::Reused } else { Origin::Paid };
                by_slot.entry(slot).or_default().add(&outcome(&effect)?, false, origin);
            }
        }
        for (slot, asked) in by_slot.iter().filter(|it| *it.1 != AskedOf::default()) {
            self.add(purpose(*slot), &Spent::from(asked), &asked.latency);
        }
        Ok(())
    }
}

impl Spent {
    fn add(&mut self, other: &Spent) {
        let Spent { answers, reused, requests, failed_requests, unpriced, tokens, nano_dollars, latency_us } = other;
        for (sum, it) in [
            (&mut self.answers, answers),
            (&mut self.reused, reused),
            (&mut self.requests, requests),
            (&mut self.failed_requests, failed_requests),
            (&mut self.unpriced, unpriced),
        ] {
            *sum = sum.saturating_add(*it);
        }
        for (sum, it) in
            [(&mut self.tokens, tokens), (&mut self.nano_dollars, nano_dollars), (&mut self.latency_us, latency_us)]
        {
            *sum = sum.saturating_add(*it);
        }
    }

    /// What they cost in dollars, as far as that is known.
    pub fn cost_usd(&self) -> Option<f64> {
        (self.answers > self.unpriced).then_some(self.nano_dollars as f64 / 1e9)
    }

    /// How long the responses took, all together.
    pub fn latency(&self) -> Duration {
        Duration::from_micros(self.latency_us)
    }
}

impl From<&CaseTaken> for Spent {
    fn from(taken: &CaseTaken) -> Spent {
        Spent {
            answers: small(taken.answers),
            reused: small(taken.reused),
            requests: small(taken.requests),
            failed_requests: small(taken.failed_requests),
            unpriced: small(taken.unpriced),
            tokens: taken.input.saturating_add(taken.output),
            nano_dollars: taken.nano_usd,
            latency_us: taken.latency_us,
        }
    }
}

impl From<&AskedOf> for Spent {
    fn from(AskedOf { taken, latency_us, .. }: &AskedOf) -> Spent {
        Spent {
            answers: small(taken.all.n),
            reused: small(taken.reused().unwrap_or(0)),
            requests: small(taken.requests),
            failed_requests: small(taken.failed_requests),
            unpriced: small(taken.all.unpriced),
            tokens: taken.all.usage().total(),
            nano_dollars: taken.all.nano_usd,
            latency_us: *latency_us,
        }
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What the answers of each case took; nothing for a run that asked nothing.
pub(super) fn of_cases(view: &RunView) -> Result<Vec<Spent>, ViewError> {
    if !view.plan().asks() {
        return Ok(Vec::new());
    }
    if let Some(taken) = view.reader().taken()? {
        return Ok(taken.iter().map(Spent::from).collect());
    }
    let mut all = vec![CaseTaken::default(); view.reader().n_case_numbers()?];
    for effect in view.reader().effects() {
        let effect = effect?;
        if let Some(taken) = all.get_mut(effect.case_ix.index()) {
            add_to_case(taken, &outcome(&effect)?, effect.reused);
        }
    }
    Ok(all.iter().map(Spent::from).collect())
}

/// What the answers of a run took.
pub(super) fn of_run(view: &RunView) -> Result<Spending, ViewError> {
    if !view.plan().asks() {
        return Ok(Spending::default());
    }
    match counted(view)? {
        Some(spending) => Ok(spending),
        None => added_up(view),
    }
}

/// What the run itself counted; `None` where it did not.
fn counted(view: &RunView) -> Result<Option<Spending>, ViewError> {
    let summary = view.reader().summary()?;
    let whole = |column: Column| summary.iter().find(|it| it.slice.is_empty() && it.column == column);
    let of_run: Option<Whole> = whole(Column::CASE).and_then(totals::taken);
    let Some((own, models)) = of_run.and_then(|it| it.own.zip(it.models)) else { return Ok(None) };
    let of_task = |ix: TaskIx| whole(Column::from(ix)).and_then(totals::taken::<Given>).and_then(|it| it.asked);
    let tasks = view.plan().task_ixs().filter_map(|ix| Some((Some(ix.0), of_task(ix)?)));
    let asked = [(None, own)].into_iter().chain(tasks).filter(|(_, it)| *it != AskedOf::default());
    Ok(Some(Spending::of(asked.collect(), models)))
}

fn added_up(view: &RunView) -> Result<Spending, ViewError> {
    let (mut tasks, mut models) = (BTreeMap::new(), BTreeMap::new());
    for effect in view.reader().effects() {
        let effect = effect?;
        let outcome = outcome(&effect)?;
        let origin = if effect.reused { Origin::Reused } else { Origin::Paid };
        if let Some(model) = model_of(&outcome, &effect.model) {
            models.entry(model.to_owned()).or_insert_with(AskedOf::default).add(&outcome, false, origin);
        }
        let task = effect.site.asker.task().map(|it| it.0);
        tasks.entry(task).or_insert_with(AskedOf::default).add(&outcome, false, origin);
    }
    tasks.retain(|_, it| *it != AskedOf::default());
    Ok(Spending::of(tasks, models))
}

impl Spending {
    fn of(tasks: BTreeMap<Option<u32>, AskedOf>, models: BTreeMap<String, AskedOf>) -> Spending {
        let mut latencies = Latencies::default();
        tasks.values().for_each(|it| latencies.merge(&it.latency));
        let both = |it: &AskedOf| (Spent::from(it), it.latency);
        Spending {
            tasks: tasks.iter().map(|(task, it)| (*task, both(it))).collect(),
            models: models.iter().map(|(model, it)| (model.clone(), both(it))).collect(),
            latencies,
        }
    }
}

fn outcome(effect: &StoredEffect) -> Result<jurat_core::effect::Outcome, ViewError> {
    Ok(read_outcome(&effect.kind, &effect.outcome).map_err(crate::RunError::from)?)
}

impl RunView {
    /// What the answers of one case took, from its recorded outcomes.
    pub fn spent_of(&self, case_ix: CaseIx) -> Result<Spent, ViewError> {
        let mut taken = CaseTaken::default();
        for effect in self.reader().effects_of(case_ix)? {
            add_to_case(&mut taken, &outcome(&effect)?, effect.reused);
        }
        Ok(Spent::from(&taken))
    }
}
