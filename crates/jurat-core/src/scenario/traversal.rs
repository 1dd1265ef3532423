//! A scenario in progress: what may be asked now, and what follows from what came back.
//!
//! A pure state machine, like [`crate::case::CaseState`]: no clock, no IO. A turn asks the subject, calls the tools it wants, has its answer read and rated,
//! updates the state and finds the next node. Whatever is asked of the world is a step with a site; the shell that performs it hands the outcome back. The
//! same outcomes give the same execution, so a conversation that was interrupted is resumed where it was, and a recording replays it.

mod answer;
mod ending;
mod question;
mod routing;

use std::collections::BTreeMap;
use std::sync::Arc;

use jurat_format::value::{Map, Val, Value};

use super::compiled::{CompiledNode, CompiledScenario, Words};
use super::conversation::{Log, TurnInput};
use super::execution::{End, Execution, TurnRecord};
use super::{Callable, Handover, State, StateUpdate, TurnFailure};
use crate::effect::{Action, Asker, FaultKind, Message, Outcome, Role, Slot, Step, StepSite};
use crate::judge::Asking;
use crate::template::Verified;
use crate::tool::{Dialogue, Inquiry, Listing};

/// How many more requests one answer may take when requests fail.
pub const MAX_RETRIES: u32 = 3;

/// A scenario in progress.
#[derive(Debug)]
pub struct Traversal<'p> {
    scenario: &'p CompiledScenario,
    /// Who answers, by the name that requests have, where no node says otherwise.
    subject: Role,
    name: String,
    replicate: u32,
    state: State,
    log: Log,
    path: Vec<String>,
    history: Vec<TurnRecord>,
    /// The tools of the servers that were asked for them.
    tools: Listing,
    node: usize,
    /// How the edge to this node hands over.
    handover: Option<Handover>,
    turn: Turn,
    phase: Phase,
}

/// The turn that is under way.
#[derive(Debug, Default)]
struct Turn {
    /// What it says. Placeholders are filled when the subject is asked.
    words: Words,
    input: Option<TurnInput>,
    /// What was said between subject and tools.
    dialogue: Dialogue,
    /// What history will have of it, as far as that is known.
    record: TurnRecord,
    /// That the time of the whole conversation was over.
    time_over: Option<TurnFailure>,
    /// Whether the state knows of it.
    is_noted: bool,
    /// Whether history and log have it.
    is_recorded: bool,
}

/// What is waited for.
#[derive(Debug)]
enum Phase {
    /// Servers to say which tools they have.
    Listing,
    /// Code to say what is handed over.
    HandingOver(Action),
    /// The subject to answer, and the tools that it calls to return.
    Asking(Inquiry),
    /// Models to read and to rate the answer.
    Reading { parser: Option<Asking>, rubric: Vec<Asking> },
    /// Code to update the state.
    Updating(Action),
    /// Code of an edge to say whether it holds; what others said before.
    Routing { edge: usize, action: Action, called: Vec<(usize, Result<bool, String>)> },
    /// Code to decide criteria.
    Concluding { execution: Box<Execution>, calls: Vec<(u32, Action)>, decided: BTreeMap<u32, Result<Value, String>> },
    /// Nothing: it is over.
    Done(Box<End>),
}

/// A turn that was had elsewhere: what was said in it, and what was found out about that.
#[derive(Debug, Clone, Default)]
pub struct GivenTurn {
    /// What was said in return to the question, tools included.
    pub trace: Vec<Message>,
    pub raw_response: Option<String>,
    /// What was read from it.
    pub parsed: Map<'static>,
    pub verified: Option<Verified>,
    /// What traits it was rated with.
    pub rubric: Map<'static>,
    pub failure: Option<TurnFailure>,
}

impl<'p> Traversal<'p> {
    /// A scenario at its beginning.
    ///
    /// `subject` is the role of the model that answers, `name` what people call the model.
    pub fn start(
        scenario: &'p CompiledScenario,
        subject: impl Into<Role>,
        name: impl Into<String>,
        replicate: u32,
    ) -> Traversal<'p> {
        Traversal::begun(scenario, State::default(), (subject.into(), name.into(), replicate))
    }

    /// The same about a row.
    pub fn about(
        scenario: &'p CompiledScenario,
        row: &Val<'_>,
        subject: impl Into<Role>,
        name: impl Into<String>,
        replicate: u32,
    ) -> Traversal<'p> {
        let state = State { row: Some(Arc::new(row.clone().into_owned())), ..State::default() };
        Traversal::begun(scenario, state, (subject.into(), name.into(), replicate))
    }

    fn begun(
        scenario: &'p CompiledScenario,
        state: State,
        (subject, name, replicate): (Role, String, u32),
    ) -> Traversal<'p> {
        let mut traversal = Traversal {
            scenario,
            subject,
            name,
            replicate,
            state,
            log: Log::default(),
            path: Vec::new(),
            history: Vec::new(),
            tools: Listing::default(),
            node: scenario.entry,
            handover: None,
            turn: Turn::default(),
            phase: Phase::Listing,
        };
        traversal.enter(scenario.entry, None);
        traversal
    }

    /// The number of the turn that is under way, counted from 0.
    pub fn turn(&self) -> u32 {
        self.state.turn
    }

    /// The node of the turn that is under way.
    pub fn node_id(&self) -> &'p str {
        &self.node().id
    }

    /// What the subject is sent in this turn, once that is known.
    pub fn turn_input(&self) -> Option<&TurnInput> {
        self.turn.input.as_ref()
    }

    /// The messages before the question of this turn, those of systems included.
    pub fn prior(&self) -> Vec<Message> {
        let handed_over = self.turn_input().and_then(|it| it.prior.clone());
        handed_over.unwrap_or_else(|| self.log.messages())
    }

    /// What is known so far: of all turns that are over, and of the one under way once its answer was read.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Files that have to be there before the steps are performed, by path.
    pub fn files(&self) -> &[(String, String)] {
        self.turn_input().map_or(&[], |it| it.files.as_slice())
    }

    /// Its result, once it is over.
    pub fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Done(end) => Some(end),
            _ => None,
        }
    }

    /// The requests that may be made now, given every outcome so far.
    pub fn steps(&self) -> Vec<Step> {
        let asker = Asker::Turn(self.state.turn);
        let action = |slot, turn, action: &Action, callable: Option<Callable>| Step {
            callable,
            ..Step::action(asker, slot, turn, action.clone())
        };
        let asking = |slot: Slot, it: &Asking| {
            let (turn, request, max_requests) = it.step()?;
            let site = StepSite { asker, slot: slot.number(), turn };
            Some(Step { site, request: request.clone().into(), max_requests, callable: None })
        };
        match &self.phase {
            Phase::Listing => self.tools.steps(asker),
            Phase::HandingOver(call) => {
                let callable = match &self.handover {
                    Some(Handover::Callable(callable)) => Some(callable.clone()),
                    _ => None,
                };
                vec![action(Slot::Handover, 0, call, callable)]
            }
            Phase::Asking(inquiry) => inquiry.steps(asker),
            Phase::Reading { parser, rubric } => {
                let rubric = (0..).zip(rubric).filter_map(|(ix, it)| asking(Slot::Rubric(ix), it));
                parser.iter().filter_map(|it| asking(Slot::Parser, it)).chain(rubric).collect()
            }
            Phase::Updating(call) => {
                let callable = match &self.node().state_update {
                    Some(StateUpdate::Callable(callable)) => Some(callable.clone()),
                    _ => None,
                };
                vec![action(Slot::Update, 0, call, callable)]
            }
            Phase::Routing { edge, action: call, .. } => {
                let callable = self.edge_code(*edge).cloned();
                vec![action(Slot::Edge, *edge as u32, call, callable)]
            }
            Phase::Concluding { calls, .. } => {
                let outcomes = &self.scenario.scenario.outcomes;
                let code = |ix: u32| outcomes.get(ix as usize).and_then(|it| it.evaluate.clone());
                calls.iter().map(|(ix, call)| action(Slot::Outcome, *ix, call, code(*ix))).collect()
            }
            Phase::Done(_) => Vec::new(),
        }
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        let Some(slot) = Slot::numbered(site.slot).filter(|it| self.is_open(site.asker, *it, site.turn)) else {
            return;
        };
        if let Outcome::NotRun(reason) = outcome {
            self.phase = Phase::Done(Box::new(End::NotRun(reason)));
            return;
        }
        if let Outcome::Fault(fault) = &outcome
            && fault.kind == FaultKind::CaseDeadline
        {
            self.note_time_over(slot, fault);
        }
        match (slot, outcome) {
            (Slot::Tools, outcome) => self.listed(site.turn, &outcome),
            (Slot::Handover, outcome) => self.was_handed_over(outcome),
            (Slot::Subject | Slot::Tool, outcome) => self.inquired(slot, site.turn, outcome),
            (Slot::Parser | Slot::Rubric(_), outcome) => self.read(slot, site.turn, outcome),
            (Slot::Update, outcome) => self.updated(outcome),
            (Slot::Edge, outcome) => self.edge_called(site.turn as usize, outcome),
            (Slot::Outcome, outcome) => self.decided(site.turn, outcome),
            // No turn sends files or transforms its answer.
            (Slot::Attach | Slot::Transform, _) => {}
        }
    }

    /// Whether a request is one of the [steps](Traversal::steps).
    fn is_open(&self, asker: Asker, slot: Slot, turn: u32) -> bool {
        let is_asked = |it: &Asking| it.step().is_some_and(|(now, ..)| now == turn);
        let place = turn as usize;
        asker == Asker::Turn(self.state.turn)
            && match (slot, &self.phase) {
                (Slot::Tools, Phase::Listing) => self.tools.is_open(turn),
                (Slot::Subject | Slot::Tool, Phase::Asking(inquiry)) => inquiry.is_open(slot, turn),
                (Slot::Parser, Phase::Reading { parser, .. }) => parser.as_ref().is_some_and(is_asked),
                (Slot::Rubric(ix), Phase::Reading { rubric, .. }) => rubric.get(ix as usize).is_some_and(is_asked),
                (Slot::Edge, Phase::Routing { edge, .. }) => place == *edge,
                (Slot::Outcome, Phase::Concluding { calls, .. }) => calls.iter().any(|(it, _)| *it == turn),
                (Slot::Handover, Phase::HandingOver(_)) | (Slot::Update, Phase::Updating(_)) => turn == 0,
                _ => false,
            }
    }

    /// Takes in a whole turn that was had elsewhere, where the subject would be asked: no model is asked in this turn. What follows from
    /// a turn follows from it as from any other. At other times it changes nothing.
    pub fn take(&mut self, turn: GivenTurn) {
        let Phase::Asking(inquiry) = &mut self.phase else { return };
        let Some(asked) = inquiry.withdraw() else { return };
        let GivenTurn { trace, raw_response, parsed, verified, rubric, failure } = turn;
        self.turn = Turn {
            words: std::mem::take(&mut self.turn.words),
            input: self.turn.input.take(),
            dialogue: Dialogue { asked, trace, ..Dialogue::default() },
            record: TurnRecord { raw_response, parsed, verified, rubric, failure, ..TurnRecord::default() },
            ..Turn::default()
        };
        self.update();
    }

    fn node(&self) -> &'p CompiledNode {
        &self.scenario.nodes[self.node]
    }

    fn edge_code(&self, edge: usize) -> Option<&'p Callable> {
        match &self.node().edges.get(edge)?.edge.when {
            Some(super::Condition::Callable(callable)) => Some(callable),
            _ => None,
        }
    }

    fn enter(&mut self, node: usize, handover: Option<Handover>) {
        self.node = node;
        self.handover = handover;
        self.turn = Turn { words: self.node().written(), ..Turn::default() };
        self.path.push(self.node().id.clone());
        self.tools.need(&self.node().tools);
        self.phase = Phase::Listing;
        self.after_listing();
    }
}

/// What code is called, in effects and messages.
fn named(callable: &Callable, otherwise: &str) -> String {
    callable.source.clone().unwrap_or_else(|| otherwise.to_owned())
}
