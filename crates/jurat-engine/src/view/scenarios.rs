//! What a run says about its scenarios, counted from the evidence of each conversation while it passes.

use jurat_core::evidence::fault::fault;
use jurat_core::plan::{CaseIx, CaseName, TaskIx};
use jurat_core::report::scenario::{OutcomeTotal, ScenarioGraph, ScenarioTotal};
use jurat_core::scenario::{CompiledScenario, Status};
use jurat_core::suite::CaseKind;
use jurat_format::value::{Map, Val};
use jurat_store::run::{Code, Column, StoredCase, Variant};

use super::{RunView, ViewError};
use crate::options::RecordedOptions;
use crate::scenario_graph::scenario_graph;

/// The role that scenarios talk to where they name no other.
const SUBJECT: &str = "subject";

impl RunView {
    /// The graphs of the scenarios that were run, with how often each node and edge was taken.
    pub fn scenario_graphs(&self) -> Result<Vec<ScenarioGraph>, ViewError> {
        Ok(totals(self)?.into_iter().map(|it| it.graph).collect())
    }

    /// The graph of a scenario, as it was written.
    pub(super) fn graph(&self, ready: &CompiledScenario) -> ScenarioGraph {
        scenario_graph(&self.plan, ready, &|role| self.players(role.unwrap_or(SUBJECT)))
    }

    /// The models of a role, as people call them.
    fn players(&self, role: &str) -> Vec<String> {
        let given = RecordedOptions::of(self.reader.head()).models;
        if let Some((_, model)) = given.iter().find(|(name, _)| name == role) {
            return vec![model.clone()];
        }
        let written = self.suite.models.iter().find(|it| it.name.value == role);
        written.map_or_else(|| vec![role.to_owned()], |it| it.models.iter().map(|it| it.model.value.clone()).collect())
    }

    /// What transcripts call the subject of a variant, as it was called when it was asked.
    pub(super) fn subject_name(&self, variant: &Variant) -> String {
        match self.players(SUBJECT).as_slice() {
            [only] if variant.subject.is_empty() => only.clone(),
            _ => variant.subject.clone(),
        }
    }
}

/// The scenarios that were run, in the order they were written. Only counts are held, whatever the number of cases.
pub(super) fn totals(view: &RunView) -> Result<Vec<ScenarioTotal>, ViewError> {
    let mut totals: Vec<Counting<'_>> = view.plan.all_scenarios().map(|it| Counting::of(view, it)).collect();
    let is_over_rows = view.plan.ask.as_ref().is_some_and(|it| it.talks().next().is_some());
    let cases = if is_over_rows { CaseIx::ALL } else { view.layout().scenarios() };
    for case in view.reader.cases(cases) {
        let case = case?;
        let Some(ready) = view.scenario(&case) else { continue };
        let Some(counting) = totals.iter_mut().find(|it| std::ptr::eq(it.ready, ready)) else { continue };
        counting.add(&case, &view.execution(&case)?.unwrap_or(Val::Null));
    }
    let was_run = |it: &ScenarioTotal| it.statuses.total() > 0;
    Ok(totals.into_iter().map(|it| it.total).filter(was_run).collect())
}

/// A scenario whose conversations are being counted.
struct Counting<'v> {
    ready: &'v CompiledScenario,
    /// Criteria that the suite applies to it, by the columns that have their results.
    columns: Vec<Column>,
    total: ScenarioTotal,
}

impl<'v> Counting<'v> {
    fn of(view: &'v RunView, ready: &'v CompiledScenario) -> Counting<'v> {
        let mut graph = view.graph(ready);
        graph.nodes.iter_mut().for_each(|it| it.visits = Some(0));
        graph.edges.iter_mut().for_each(|it| it.taken = Some(0));
        let own = &ready.scenario.outcomes;
        let name = CaseName::of_scenario(&ready.scenario);
        let tasks: Vec<TaskIx> = view.plan.task_ixs().filter(|it| view.plan.applies(*it, &name)).collect();
        let is_other = |task: &&TaskIx| {
            let task = &view.plan.tasks[task.index()];
            task.work.outcome().is_some() && !own.iter().any(|it| it.name == task.id)
        };
        let others: Vec<TaskIx> = tasks.iter().filter(is_other).copied().collect();
        let names = own.iter().map(|it| it.name.clone());
        let names = names.chain(others.iter().map(|it| view.plan.tasks[it.index()].id.clone()));
        let outcomes = names.map(|name| OutcomeTotal { name, ..OutcomeTotal::default() }).collect();
        let is_concluded = !own.is_empty() || !tasks.is_empty();
        let total = ScenarioTotal { graph, is_concluded, outcomes, ..ScenarioTotal::default() };
        Counting { ready, columns: others.into_iter().map(Column::from).collect(), total }
    }

    fn add(&mut self, case: &StoredCase, evidence: &Val<'_>) {
        let status = evidence.get("status").and_then(Val::as_str).and_then(Status::named);
        self.total.statuses.add(status);
        if status.is_none() {
            return;
        }
        let history = evidence.get("history").and_then(Val::as_list).unwrap_or_default();
        self.total.turns.add(history.len() as u64);
        history.iter().for_each(|it| self.turn(it));
        let (criteria, others) = self.total.outcomes.split_at_mut(self.ready.scenario.outcomes.len());
        let member = |key: &str| evidence.get(key).and_then(Val::as_map);
        let (results, errors) = (member("outcome_results"), member("outcome_errors"));
        // Nothing is concluded from a conversation that a fault cut short.
        let is_fault = fault(CaseKind::Scenarios, evidence).is_some();
        for outcome in criteria {
            let find = |it: Option<&Map<'_>>| it.is_some_and(|it| it.get(&outcome.name).is_some());
            match results.and_then(|it| it.get(&outcome.name)) {
                _ if is_fault || find(errors) => outcome.error += 1,
                Some(Val::Bool(true)) => outcome.held += 1,
                Some(Val::Bool(false)) => outcome.failed += 1,
                Some(_) => outcome.measured += 1,
                None => {}
            }
        }
        for (outcome, column) in others.iter_mut().zip(&self.columns) {
            match case.code(*column) {
                Code::Passed => outcome.held += 1,
                Code::Failed => outcome.failed += 1,
                Code::Measured => outcome.measured += 1,
                Code::Error => outcome.error += 1,
                Code::SkippedByGate | Code::SkippedByError | Code::NotRun | Code::NotJudged | Code::Absent => {}
            }
        }
    }

    fn turn(&mut self, turn: &Val<'_>) {
        let node = turn.get("node_id").and_then(Val::as_str).and_then(|it| self.ready.index(it));
        if let Some(visits) = node.and_then(|it| self.total.graph.nodes[it].visits.as_mut()) {
            *visits += 1;
        }
        let edge = turn.get("route").and_then(|it| it.get("edge"));
        let edge = edge.and_then(place).and_then(|it| self.total.graph.edges.get_mut(it));
        if let Some(taken) = edge.and_then(|it| it.taken.as_mut()) {
            *taken += 1;
        }
        if let Some(Val::Bool(is_right)) = turn.get("verify_result") {
            self.total.turns.judged += 1;
            self.total.turns.verified += u64::from(*is_right);
        }
    }
}

/// A place in a list, as evidence has it.
pub(super) fn place(number: &Val<'_>) -> Option<usize> {
    match number {
        Val::I(it) => usize::try_from(*it).ok(),
        Val::U(it) => usize::try_from(*it).ok(),
        _ => None,
    }
}
