//! One case from its source to its verdict: its evidence is gathered, then its tasks judge it.
//!
//! A pure state machine: no clock, no IO. It says which requests may be made now and takes in their outcomes. Running, resuming, replaying and
//! reading back differ only in where the outcomes come from.

mod agent;
mod probe;
mod tasks;

use std::cell::OnceCell;

use jurat_format::value::Val;

use agent::AgentRun;
pub use probe::{ProbeAnswer, ProbeState};
pub use tasks::{CaseState, Ready, ReadyRequest};

use crate::agent::AgentCase;
use crate::effect::{Asker, Outcome, Role, Step, StepSite};
use crate::plan::{CaseName, Plan, PlannedAsk};
use crate::scenario::{CompiledScenario, End, State, Traversal};
use crate::verdict::{StopReason, Verdict};

/// One case and how far it has come.
#[derive(Debug)]
pub struct Case<'p> {
    plan: &'p Plan,
    name: CaseName<'p>,
    phase: Phase<'p>,
}

/// Where a case keeps the evidence that it gathers. It outlives the case, whose tasks borrow from it.
#[derive(Debug, Default)]
pub struct Room<'p> {
    answer: OnceCell<ProbeAnswer>,
    evidence: OnceCell<Val<'p>>,
}

/// The model that is asked, by its role and by the name that people read; and the number of times it was asked before.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub model: &'a Role,
    pub name: &'a str,
    pub replicate: u32,
}

#[derive(Debug)]
enum Phase<'p> {
    /// A model is asked about a row.
    Probe { state: Box<ProbeState<'p>>, ask: &'p PlannedAsk, row: &'p Val<'p>, room: &'p Room<'p> },
    /// A conversation is held.
    Scenario { traversal: Box<Traversal<'p>>, room: &'p Room<'p> },
    /// An agent works.
    Agent { run: Box<AgentRun>, room: &'p Room<'p> },
    /// The evidence is there, or it is known why there is none.
    Tasks(CaseState<'p>),
}

impl<'p> Case<'p> {
    /// A case whose evidence is there: a row that holds what is judged, or what an earlier run has gathered.
    pub fn of_evidence(plan: &'p Plan, evidence: &'p Val<'p>, name: CaseName<'p>) -> Case<'p> {
        let tasks = CaseState::over(plan, evidence, &name);
        Case { plan, name, phase: Phase::Tasks(tasks) }
    }

    /// A case that has no evidence.
    pub fn without_evidence(plan: &'p Plan, name: CaseName<'p>, verdict: &Verdict) -> Case<'p> {
        let tasks = CaseState::without_evidence(plan, &name, verdict);
        Case { plan, name, phase: Phase::Tasks(tasks) }
    }

    /// A row about which a model is asked, once or in a conversation.
    pub fn of_probe(
        plan: &'p Plan,
        (ask, prompt): (&'p PlannedAsk, usize),
        asked: Asked<'_>,
        row: &'p Val<'p>,
        name: CaseName<'p>,
        room: &'p Room<'p>,
    ) -> Case<'p> {
        let mut case = match ask.talk(prompt) {
            Some(ready) => {
                let traversal = talk((ready, Some(row)), asked);
                Case { plan, name: name.in_scenario(&ready.scenario), phase: Phase::Scenario { traversal, room } }
            }
            None => {
                let state = Box::new(ProbeState::start(ask, prompt, asked.model, row, asked.replicate));
                Case { plan, name, phase: Phase::Probe { state, ask, row, room } }
            }
        };
        case.advance();
        case
    }

    /// A conversation along a graph, about a row or about none.
    pub fn of_scenario(
        plan: &'p Plan,
        (ready, row): (&'p CompiledScenario, Option<&Val<'_>>),
        asked: Asked<'_>,
        room: &'p Room<'p>,
    ) -> Case<'p> {
        let traversal = talk((ready, row), asked);
        let name = CaseName::of_scenario(&ready.scenario);
        let mut case = Case { plan, name, phase: Phase::Scenario { traversal, room } };
        case.advance();
        case
    }

    /// A task for an agent. The subject may be several models; any other role is one.
    pub fn of_agent(plan: &'p Plan, agent: &'p AgentCase, asked: Asked<'_>, room: &'p Room<'p>) -> Case<'p> {
        let name = CaseName::of_agent_case(agent);
        let run = Box::new(AgentRun::start(agent, asked));
        Case { plan, name, phase: Phase::Agent { run, room } }
    }

    /// The requests that may be made now, given every outcome so far, without those that were made already.
    pub fn steps(&self, made: &[StepSite]) -> Vec<Step> {
        let is_new = |site: StepSite| !made.contains(&site);
        let mut steps = match &self.phase {
            Phase::Probe { state, .. } => state.steps(),
            Phase::Scenario { traversal, .. } => traversal.steps(),
            Phase::Agent { run, .. } => run.steps(),
            // A panel may have many slots: what was asked of the others is not copied.
            Phase::Tasks(state) => return state.steps().filter(|it| is_new(it.site)).map(Step::from).collect(),
        };
        steps.retain(|it| is_new(it.site));
        steps
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        match &mut self.phase {
            Phase::Probe { state, row, .. } => state.apply(row, site, outcome),
            Phase::Scenario { traversal, .. } => traversal.apply(site, outcome),
            Phase::Agent { run, .. } => run.apply(site, outcome),
            Phase::Tasks(state) => return state.apply(site, outcome),
        }
        self.advance();
    }

    /// Continues with the tasks once the evidence is there, or cannot be had.
    fn advance(&mut self) {
        let evidence = match &mut self.phase {
            Phase::Probe { state, ask, row, room } => match state.end() {
                Some(Ok(answer)) => {
                    let answer = room.answer.get_or_init(|| answer.clone());
                    let evidence = probe::evidence(ask, row.borrowed(), answer);
                    evidence.map(|evidence| room.evidence.get_or_init(|| evidence))
                }
                Some(Err(verdict)) => Err(verdict.clone()),
                None => return,
            },
            Phase::Scenario { traversal, room } => match traversal.end() {
                Some(End::Execution(execution)) => Ok(room.evidence.get_or_init(|| execution.to_value())),
                Some(End::NotRun(reason)) => Err(Verdict::NotRun(*reason)),
                None => return,
            },
            Phase::Agent { run, room } => match run.take_end() {
                Some(end) => end.map(|evidence| room.evidence.get_or_init(|| evidence)),
                None => return,
            },
            Phase::Tasks(_) => return,
        };
        self.phase = Phase::Tasks(match evidence {
            Ok(evidence) => CaseState::over(self.plan, evidence, &self.name),
            Err(verdict) => CaseState::without_evidence(self.plan, &self.name, &verdict),
        });
    }

    /// The same case as one that was not run.
    pub fn not_run(&self, reason: StopReason) -> Case<'p> {
        Case::without_evidence(self.plan, self.name.clone(), &Verdict::NotRun(reason))
    }

    /// Its tasks. Where the evidence is not there, they end with this.
    pub fn into_tasks(self, missing: &Verdict) -> CaseState<'p> {
        match self.phase {
            Phase::Tasks(state) => state,
            Phase::Probe { .. } | Phase::Scenario { .. } | Phase::Agent { .. } => {
                CaseState::without_evidence(self.plan, &self.name, missing)
            }
        }
    }

    /// Its tasks, once its evidence is there or cannot be had.
    pub fn tasks(&self) -> Option<&CaseState<'p>> {
        if let Phase::Tasks(state) = &self.phase { Some(state) } else { None }
    }

    /// The turn that is under way, and its node, while a conversation is held.
    pub fn turn(&self) -> Option<(u32, &'p str)> {
        match &self.phase {
            Phase::Scenario { traversal, .. } => Some((traversal.turn(), traversal.node_id())),
            Phase::Probe { .. } | Phase::Agent { .. } | Phase::Tasks(_) => None,
        }
    }

    /// The turn that is under way and the state before it, while a conversation is held.
    pub fn conversation(&self) -> Option<(u32, &State)> {
        match &self.phase {
            Phase::Scenario { traversal, .. } => Some((traversal.turn(), traversal.state())),
            Phase::Probe { .. } | Phase::Agent { .. } | Phase::Tasks(_) => None,
        }
    }

    /// Files that have to be there before the steps are performed, by path.
    pub fn files(&self) -> &[(String, String)] {
        if let Phase::Scenario { traversal, .. } = &self.phase { traversal.files() } else { &[] }
    }
}

fn talk<'p>((ready, row): (&'p CompiledScenario, Option<&Val<'_>>), asked: Asked<'_>) -> Box<Traversal<'p>> {
    let Asked { model, name, replicate } = asked;
    Box::new(match row {
        Some(row) => Traversal::about(ready, row, model.clone(), name, replicate),
        None => Traversal::start(ready, model.clone(), name, replicate),
    })
}

impl<'p> Room<'p> {
    /// The evidence that was gathered.
    pub fn evidence(&self) -> Option<&Val<'p>> {
        self.evidence.get()
    }
}

impl From<Ready<'_>> for Step {
    fn from(Ready { site, request, max_requests }: Ready<'_>) -> Step {
        Step { site, request: request.into(), max_requests, callable: None }
    }
}

/// Whether a request gathers evidence. All others judge it.
pub fn gathers(asker: Asker) -> bool {
    asker.task().is_none()
}
