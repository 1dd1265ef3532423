//! What a run will do: stages, requests, and an upper bound of calls and money.

use super::scenario::ScenarioGraph;
use crate::task_index::Gate;

/// What a run will do.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    pub suite: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// Where the cases come from, as the suite names it.
    pub sources: Vec<String>,
    /// How many cases there are; nothing when that is known only by reading them, as from standard input.
    pub cases: Option<u64>,
    /// What is asked before anything is judged; nothing for records, which were answered before.
    pub asking: Option<PlanAsking>,
    /// The tasks, stage by stage.
    pub stages: Vec<Vec<PlanTask>>,
    /// The conversations that are held.
    pub scenarios: Vec<ScenarioGraph>,
    /// How many calls of models there are at most, without the journal; nothing when the number of cases is not known.
    pub calls: Option<u64>,
    /// How many answers the journal has for it; nothing when it was not read.
    pub in_journal: Option<u64>,
    /// How many calls are left at most, with what the journal has; nothing when it was not read.
    pub calls_left: Option<u64>,
    /// What the calls that are left cost at most.
    pub cost: CostBound,
}

/// What is asked before anything is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAsking {
    /// The prompts, by name or number.
    pub prompts: Vec<String>,
    /// The models that are evaluated.
    pub subjects: Vec<String>,
    /// The servers whose tools may be used.
    pub tools: Vec<String>,
    /// How many calls one case takes at most.
    pub max_calls: u64,
}

/// A task that will run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanTask {
    pub id: String,
    /// `assert`, `judge`, …
    pub kind: String,
    /// Whether it decides what runs after it.
    pub gate: Gate,
    /// The tasks it waits for.
    pub depends_on: Vec<String>,
    /// The models it asks, as the suite names them.
    pub models: Vec<String>,
    /// What its author says about it.
    pub description: Option<String>,
    /// What it compares, in words: `category equals kitchen`.
    pub compares: Option<String>,
    /// Which cases it is for, in words; nothing for all.
    pub on: Option<String>,
    /// How many calls it makes for one case at most.
    pub max_calls: u64,
}

/// What calls cost at most.
#[derive(Debug, Clone, PartialEq)]
pub enum CostBound {
    /// This number of dollars.
    AtMost(f64),
    /// Unknown, for these reasons: `judge has no price`, `max_tokens is not set`, …
    Unknown(Vec<String>),
}

impl PlanReport {
    /// How many calls one case that is a row takes at most; conversations say theirs themselves.
    pub fn calls_per_case(&self) -> u64 {
        let asking = self.asking.as_ref().map_or(0, |it| it.max_calls);
        self.tasks().map(|it| it.max_calls).fold(asking, u64::saturating_add)
    }

    /// The tasks, stage by stage.
    pub fn tasks(&self) -> impl Iterator<Item = &PlanTask> {
        self.stages.iter().flatten()
    }
}
