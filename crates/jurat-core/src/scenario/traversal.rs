//! A scenario on its way: what may be asked now, and what follows from what came back.
//!
//! A pure state machine, like [`crate::case::CaseState`]: no clock, no IO. A turn asks the subject, calls the tools it wants, has its answer read and rated,
//! updates the state and finds the next node. Whatever is asked of the world is a step with a site; whoever performs it hands the outcome back. The
//! same outcomes give the same execution, so a conversation that was interrupted goes on where it was, and a recording replays it.

use std::collections::BTreeMap;

use super::conversation::{Log, Told, handed_over};
use super::execution::{End, Execution, Status, TurnRecord};
use super::ready::{self, Reading, ReadyNode, ReadyScenario};
use super::state::verified;
use super::{Callable, FailureCategory, Handover, Route, State, StateUpdate, Target, TurnFailure, route};
use crate::effect::{Asker, Deed, Fault, FaultKind, Message, ModelRequest, Outcome, Request, Seat, StepSite};
use crate::judge::{Asking, End as Asked};
use crate::template::{RatedTurn, Verified};
use crate::tool::{self, Conclusion, Dialogue, Inquiry, Listing, MOST_ROUNDS, Said, why};
use crate::value::{Map, Val, Value, shown};

/// How many more requests one answer may take when requests fail.
pub const MAX_RETRIES: u32 = 3;

/// A scenario on its way.
#[derive(Debug)]
pub struct Traversal<'p> {
    scenario: &'p ReadyScenario,
    /// Who answers, by the name that requests have, where no node says otherwise.
    subject: String,
    /// What people call it.
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
    told: Option<Told>,
    /// What was said between subject and tools.
    dialogue: Dialogue,
    raw: Option<String>,
    parsed: Map<'static>,
    verified: Option<Verified>,
    rubric: Map<'static>,
    rubric_errors: Vec<(String, String)>,
    failure: Option<TurnFailure>,
    /// That the time of the whole conversation was over.
    time_over: Option<TurnFailure>,
    update_error: Option<String>,
    /// Whether the state knows of it.
    is_noted: bool,
    /// Whether history and log have it.
    is_recorded: bool,
}

impl Turn {
    fn verify_result(&self) -> Option<bool> {
        self.verified.as_ref().and_then(Verified::verify_result)
    }
}

/// What is waited for.
#[derive(Debug)]
enum Phase {
    /// Servers to say which tools they have.
    Listing,
    /// Code to say what is handed over.
    HandingOver(Deed),
    /// The subject to answer, and the tools that it calls to return.
    Asking(Inquiry),
    /// Models to read and to rate the answer.
    Reading { parser: Option<Asking>, rubric: Vec<Asking> },
    /// Code to update the state.
    Updating(Deed),
    /// Code of an edge to say whether it holds; what others said before.
    Routing { edge: usize, deed: Deed, called: Vec<(usize, Result<bool, String>)> },
    /// Code to decide criteria.
    Concluding { execution: Box<Execution>, calls: Vec<(u32, Deed)>, decided: BTreeMap<u32, Result<Value, String>> },
    /// Nothing: it is over.
    Done(Box<End>),
}

/// A request that may be made now.
#[derive(Debug, Clone)]
pub struct Step {
    /// Which one it is.
    pub site: StepSite,
    /// What to ask.
    pub request: Request,
    /// How many requests it may take.
    pub max_requests: u32,
    /// The code to call, when it is there and this is a call.
    pub callable: Option<Callable>,
}

impl From<tool::Step> for Step {
    fn from(tool::Step { site, request, max_requests }: tool::Step) -> Step {
        Step { site, request, max_requests, callable: None }
    }
}

/// A turn that was had elsewhere: what was said in it, and what was found out about that.
#[derive(Debug, Clone, Default)]
pub struct GivenTurn {
    /// What was said in return to the question, tools included.
    pub trace: Vec<Message>,
    /// The answer.
    pub raw_response: Option<String>,
    /// What was read from it.
    pub parsed: Map<'static>,
    /// Whether it was right.
    pub verified: Option<Verified>,
    /// What traits it was rated with.
    pub rubric: Map<'static>,
    /// How the turn failed.
    pub failure: Option<TurnFailure>,
}

impl<'p> Traversal<'p> {
    /// A scenario at its beginning.
    ///
    /// `subject` is who answers, by the name that requests have, `name` what people call it.
    pub fn start(
        scenario: &'p ReadyScenario,
        subject: impl Into<String>,
        name: impl Into<String>,
        replicate: u32,
    ) -> Traversal<'p> {
        let mut traversal = Traversal {
            scenario,
            subject: subject.into(),
            name: name.into(),
            replicate,
            state: State::default(),
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

    /// What the subject is told in this turn, once that is known.
    pub fn told(&self) -> Option<&Told> {
        self.turn.told.as_ref()
    }

    /// The messages before the question of this turn, those of systems included.
    pub fn prior(&self) -> Vec<Message> {
        let handed_over = self.told().and_then(|it| it.prior.clone());
        handed_over.unwrap_or_else(|| self.log.messages())
    }

    /// What is known so far: of all turns that are over, and of the one under way once its answer was read.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Files that have to be there before the steps are performed, by path.
    pub fn files(&self) -> &[(String, String)] {
        self.told().map_or(&[], |it| it.files.as_slice())
    }

    /// What it came to, once it is over.
    pub fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Done(end) => Some(end),
            _ => None,
        }
    }

    /// The requests that may be made now, given every outcome so far.
    pub fn steps(&self) -> Vec<Step> {
        let asker = Asker::Turn(self.state.turn);
        let site = |seat: Seat, turn| StepSite { asker, seat: seat.number(), turn };
        let deed = |seat, turn, deed: &Deed, callable: Option<Callable>| Step {
            site: site(seat, turn),
            request: Request::Deed(Box::new(deed.clone())),
            max_requests: 1,
            callable,
        };
        let asking = |seat, it: &Asking| {
            let (turn, request, max_requests) = it.step()?;
            let request = Request::Model(Box::new(request.clone()));
            Some(Step { site: site(seat, turn), request, max_requests, callable: None })
        };
        match &self.phase {
            Phase::Listing => self.tools.steps(asker).into_iter().map(Step::from).collect(),
            Phase::HandingOver(call) => {
                let callable = match &self.handover {
                    Some(Handover::Callable(callable)) => Some(callable.clone()),
                    _ => None,
                };
                vec![deed(Seat::Handover, 0, call, callable)]
            }
            Phase::Asking(inquiry) => inquiry.steps(asker).into_iter().map(Step::from).collect(),
            Phase::Reading { parser, rubric } => {
                let rubric = (0..).zip(rubric).filter_map(|(ix, it)| asking(Seat::Rubric(ix), it));
                parser.iter().filter_map(|it| asking(Seat::Parser, it)).chain(rubric).collect()
            }
            Phase::Updating(call) => {
                let callable = match &self.node().state_update {
                    Some(StateUpdate::Callable(callable)) => Some(callable.clone()),
                    _ => None,
                };
                vec![deed(Seat::Update, 0, call, callable)]
            }
            Phase::Routing { edge, deed: call, .. } => {
                let callable = self.edge_code(*edge).cloned();
                vec![deed(Seat::Edge, *edge as u32, call, callable)]
            }
            Phase::Concluding { calls, .. } => {
                let outcomes = &self.scenario.scenario.outcomes;
                let code = |ix: u32| outcomes.get(ix as usize).and_then(|it| it.evaluate.clone());
                calls.iter().map(|(ix, call)| deed(Seat::Outcome, *ix, call, code(*ix))).collect()
            }
            Phase::Done(_) => Vec::new(),
        }
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        let Some(seat) = Seat::numbered(site.seat).filter(|it| self.is_open(site.asker, *it, site.turn)) else {
            return;
        };
        if let Outcome::NotRun(reason) = outcome {
            self.phase = Phase::Done(Box::new(End::NotRun(reason)));
            return;
        }
        if let Outcome::Fault(fault) = &outcome
            && fault.kind == FaultKind::CaseDeadline
        {
            self.note_time_over(seat, fault);
        }
        match (seat, outcome) {
            (Seat::Tools, outcome) => self.listed(site.turn, &outcome),
            (Seat::Handover, outcome) => self.was_handed_over(outcome),
            (Seat::Subject | Seat::Tool, outcome) => self.inquired(seat, site.turn, outcome),
            (Seat::Parser | Seat::Rubric(_), outcome) => self.read(seat, site.turn, outcome),
            (Seat::Update, outcome) => self.updated(outcome),
            (Seat::Edge, outcome) => self.edge_called(site.turn as usize, outcome),
            (Seat::Outcome, outcome) => self.decided(site.turn, outcome),
        }
    }

    /// Whether a request is one of the [steps](Traversal::steps).
    fn is_open(&self, asker: Asker, seat: Seat, turn: u32) -> bool {
        let is_asked = |it: &Asking| it.step().is_some_and(|(now, ..)| now == turn);
        let place = turn as usize;
        asker == Asker::Turn(self.state.turn)
            && match (seat, &self.phase) {
                (Seat::Tools, Phase::Listing) => self.tools.is_open(turn),
                (Seat::Subject | Seat::Tool, Phase::Asking(inquiry)) => inquiry.is_open(seat, turn),
                (Seat::Parser, Phase::Reading { parser, .. }) => parser.as_ref().is_some_and(is_asked),
                (Seat::Rubric(ix), Phase::Reading { rubric, .. }) => rubric.get(ix as usize).is_some_and(is_asked),
                (Seat::Edge, Phase::Routing { edge, .. }) => place == *edge,
                (Seat::Outcome, Phase::Concluding { calls, .. }) => calls.iter().any(|(it, _)| *it == turn),
                (Seat::Handover, Phase::HandingOver(_)) | (Seat::Update, Phase::Updating(_)) => turn == 0,
                _ => false,
            }
    }

    /// Takes in a whole turn that was had elsewhere, where the subject would be asked: nobody is asked in this turn. What follows from
    /// a turn follows from it as from any other. At other times it changes nothing.
    pub fn take(&mut self, turn: GivenTurn) {
        let Phase::Asking(inquiry) = &mut self.phase else { return };
        let Some(asked) = inquiry.withdraw() else { return };
        let GivenTurn { trace, raw_response, parsed, verified, rubric, failure } = turn;
        self.turn = Turn {
            told: self.turn.told.take(),
            dialogue: Dialogue { asked, trace, ..Dialogue::default() },
            raw: raw_response,
            parsed,
            verified,
            rubric,
            failure,
            ..Turn::default()
        };
        self.update();
    }

    fn node(&self) -> &'p ReadyNode {
        &self.scenario.nodes[self.node]
    }

    fn edge_code(&self, edge: usize) -> Option<&'p Callable> {
        match &self.node().edges.get(edge)?.edge.when {
            Some(super::Condition::Callable(callable)) => Some(callable),
            _ => None,
        }
    }

    /// Begins a turn.
    fn enter(&mut self, node: usize, handover: Option<Handover>) {
        self.node = node;
        self.handover = handover;
        self.turn = Turn::default();
        self.path.push(self.node().id.clone());
        self.tools.need(&self.node().tools);
        self.phase = Phase::Listing;
        self.after_listing();
    }

    fn after_listing(&mut self) {
        if !self.tools.is_done() {
            return;
        }
        if let Some(reason) = self.tools.failure() {
            return self.fail(FailureCategory::UnexpectedError, "tools", reason);
        }
        match &self.handover {
            Some(Handover::Callable(callable)) => {
                let arguments = [("log", self.log.to_value()), ("state", self.state.to_value())];
                let arguments = Val::Map(arguments.into_iter().collect::<Map<'_>>());
                self.phase = Phase::HandingOver(Deed::Call { name: named(callable, "handover"), arguments });
            }
            _ => self.ask(None),
        }
    }

    fn listed(&mut self, ix: u32, outcome: &Outcome) {
        self.tools.apply(ix, outcome);
        self.after_listing();
    }

    fn was_handed_over(&mut self, outcome: Outcome) {
        let messages = match &outcome {
            Outcome::Returned(it) if !it.is_error => handed_over(&it.value),
            other => Err(why(other)),
        };
        match messages {
            Ok(messages) => self.ask(Some(messages)),
            Err(reason) => self.fail(FailureCategory::UnexpectedError, "handover", reason),
        }
    }

    fn ask(&mut self, returned: Option<Vec<Message>>) {
        let node = self.node();
        let told = self.log.told(&node.question.text, self.handover.as_ref(), returned, self.state.turn + 1);
        let messages = self.log.request_messages(&node.system, &node.question.examples, &told);
        let subject = node.subject.clone().unwrap_or_else(|| self.subject.clone());
        let request = ModelRequest { repeat: self.replicate, ..ModelRequest::new(subject, messages) };
        self.turn.told = Some(told);
        self.phase = Phase::Asking(Inquiry::new(request, self.tools.offers(&node.tool_filter), MAX_RETRIES + 1));
    }

    fn inquired(&mut self, seat: Seat, turn: u32, outcome: Outcome) {
        let Phase::Asking(inquiry) = &mut self.phase else { return };
        inquiry.apply(seat, turn, outcome);
        let Some(conclusion) = inquiry.conclusion().cloned() else {
            // No time is left to go on with what tools returned.
            if self.turn.time_over.is_some() && inquiry.asks() {
                self.turn.dialogue = inquiry.take_dialogue();
                self.ends_by_time();
            }
            return;
        };
        self.turn.dialogue = inquiry.take_dialogue();
        match conclusion {
            Conclusion::Answered(Said { text, .. }) => {
                self.turn.raw = Some(text);
                self.begin_reading();
            }
            Conclusion::Refused(Said { text, .. }) => {
                self.turn.raw = Some(text);
                let reason = "the subject refused to answer".to_owned();
                self.fail(FailureCategory::Abstention, "generate_answer", reason);
            }
            Conclusion::StillCalling(Said { text, .. }) => {
                self.turn.raw = Some(text);
                let reason = format!("the subject still called tools after {MOST_ROUNDS} rounds");
                self.fail(FailureCategory::RecursionLimit, "generate_answer", reason);
            }
            Conclusion::Fault(fault) => {
                let (category, reason) = failure_of(&fault);
                self.fail(category, "generate_answer", reason);
            }
            Conclusion::NotRun(reason) => self.phase = Phase::Done(Box::new(End::NotRun(reason))),
        }
    }

    fn begin_reading(&mut self) {
        let node = self.node();
        let raw = self.turn.raw.as_deref().unwrap_or_default();
        let asking = |it: Reading| {
            let request =
                ModelRequest { output: Some(it.schema), ..ModelRequest::new(node.parser.clone(), it.messages) };
            Asking::new(request, MAX_RETRIES)
        };
        let parser = node.verification.question(&node.question, raw).map(asking);
        let rubric: Vec<Asking> =
            ready::rating_questions(&node.rubric, &node.question.text, raw).into_iter().map(asking).collect();
        self.phase = Phase::Reading { parser, rubric };
        self.after_reading();
    }

    fn read(&mut self, seat: Seat, turn: u32, outcome: Outcome) {
        let node = self.node();
        let Phase::Reading { parser, rubric } = &mut self.phase else { return };
        match seat {
            Seat::Rubric(ix) => {
                if let (Some(asking), Some(form)) = (rubric.get_mut(ix as usize), node.rubric.form(ix as usize)) {
                    asking.apply(turn, outcome, form);
                }
            }
            _ => {
                if let Some(asking) = parser {
                    asking.apply(turn, outcome, node.verification.form());
                }
            }
        }
        self.after_reading();
    }

    fn after_reading(&mut self) {
        let Phase::Reading { parser, rubric } = &self.phase else { return };
        if !parser.iter().chain(rubric).all(|it| it.end().is_some()) {
            return;
        }
        let node = self.node();
        let raw = self.turn.raw.clone().unwrap_or_default();
        let ends: Vec<Asked> = rubric.iter().filter_map(|it| it.end().cloned()).collect();
        let read = parser.as_ref().and_then(|it| it.end().cloned());
        let node_results = Val::Map(self.state.node_results.clone());
        let failure = match read {
            Some(Asked::NotRun(reason)) => {
                self.phase = Phase::Done(Box::new(End::NotRun(reason)));
                return;
            }
            Some(Asked::Fault(fault)) => {
                let is_late = matches!(fault.kind, FaultKind::TurnDeadline | FaultKind::CaseDeadline);
                let category = if is_late { FailureCategory::Timeout } else { FailureCategory::Parsing };
                Some(("parse_template", category, fault.message))
            }
            Some(Asked::Reply(reply)) => self.verify(Some(&reply), &raw, &node_results),
            None => self.verify(None, &raw, &node_results),
        };
        if let Some((stage, category, reason)) = failure {
            self.turn.failure = Some(TurnFailure { category, stage: stage.to_owned(), reason });
        }
        let parsed = Val::Map(self.turn.parsed.clone());
        let rated = RatedTurn {
            question: &node.question.text,
            raw_response: &raw,
            parsed: &parsed,
            verify_result: self.turn.verify_result(),
        };
        let ratings = ready::ratings(&node.rubric, rated, &ends);
        (self.turn.rubric, self.turn.rubric_errors) = (ratings.values, ratings.errors);
        self.update();
    }

    /// Verifies the answer; how that fails, if it does.
    fn verify(
        &mut self,
        reply: Option<&Value>,
        raw: &str,
        node_results: &Val<'_>,
    ) -> Option<(&'static str, FailureCategory, String)> {
        (self.turn.parsed, self.turn.verified) = self.node().verification.verified(reply, raw, node_results);
        let error = self.turn.verified.as_ref()?.error()?.to_owned();
        Some(("verify_template", FailureCategory::TemplateValidation, error))
    }

    /// Ends the turn with a failure.
    fn fail(&mut self, category: FailureCategory, stage: &str, reason: String) {
        self.turn.failure = Some(TurnFailure { category, stage: stage.to_owned(), reason });
        self.update();
    }

    /// Notes that the time is over. What was asked at the same time is waited for, so that it does not matter what came first.
    fn note_time_over(&mut self, seat: Seat, fault: &Fault) {
        let stage = match seat {
            Seat::Parser | Seat::Rubric(_) => "parse_template",
            Seat::Update => "state_update",
            Seat::Edge => "routing",
            _ => "generate_answer",
        };
        let (category, reason) = (FailureCategory::Timeout, fault.message.clone());
        self.turn.time_over.get_or_insert(TurnFailure { category, stage: stage.to_owned(), reason });
    }

    /// Whether the time was over, which ends the conversation.
    fn ends_by_time(&mut self) -> bool {
        let Some(failure) = self.turn.time_over.take() else { return false };
        self.turn.failure = Some(failure.clone());
        self.note_result();
        self.record();
        self.conclude(Status::Timeout, Some(failure));
        true
    }

    /// Updates the accumulated state. What fails leaves it as it was.
    fn update(&mut self) {
        if self.ends_by_time() {
            return;
        }
        self.note_result();
        match &self.node().state_update {
            None => self.advance(),
            Some(StateUpdate::Cel(expression)) => {
                match expression.evaluate(&self.after_turn().names()) {
                    Ok(value @ Val::Map(_)) => self.state.accumulated = value,
                    Ok(other) => {
                        let reason =
                            format!("`{}` gives {}, and must give an object", expression.source(), shown(&other));
                        self.update_failed(reason);
                    }
                    Err(error) => self.update_failed(error.to_string()),
                }
                self.advance();
            }
            Some(StateUpdate::Callable(callable)) => {
                let parsed = Val::Map(self.turn.parsed.clone());
                let arguments = [("accumulated", self.state.accumulated.clone()), ("parsed", parsed)];
                let arguments = Val::Map(arguments.into_iter().collect::<Map<'_>>());
                self.phase = Phase::Updating(Deed::Call { name: named(callable, "state_update"), arguments });
            }
        }
    }

    /// The state as an update sees it: the turn is over.
    fn after_turn(&self) -> State {
        let mut state = self.state.clone();
        state.turn += 1;
        state
    }

    fn update_failed(&mut self, reason: String) {
        self.turn.update_error = Some(reason.clone());
        if self.turn.failure.is_none() {
            let stage = "state_update".to_owned();
            self.turn.failure = Some(TurnFailure { category: FailureCategory::UnexpectedError, stage, reason });
            self.state.failure = self.turn.failure.clone();
        }
    }

    fn updated(&mut self, outcome: Outcome) {
        let Phase::Updating(_) = self.phase else { return };
        match outcome {
            Outcome::Returned(returned) if !returned.is_error => self.state.accumulated = returned.value,
            // As the authors of callbacks know it: one that fails changes nothing, and the conversation goes on. The record says so.
            other => self.turn.update_error = Some(why(&other)),
        }
        self.advance();
    }

    /// What edges and updates may know of this turn.
    fn note_result(&mut self) {
        if std::mem::replace(&mut self.turn.is_noted, true) {
            return;
        }
        let id = self.node().id.clone();
        let Turn { parsed, rubric, failure, .. } = &self.turn;
        let verify_result = self.turn.verify_result();
        let result = [
            ("verify_result", verified(verify_result)),
            ("parsed", Val::Map(parsed.clone())),
            ("rubric", Val::Map(rubric.clone())),
        ];
        let result = Val::Map(result.into_iter().collect::<Map<'_>>());
        self.state.node_results.insert(id.clone().into(), result);
        self.state.current_node.clone_from(&id);
        self.state.verify_result = verify_result;
        self.state.parsed = parsed.clone();
        self.state.failure = failure.clone();
        match self.state.node_visits.iter_mut().find(|(it, _)| *it == id) {
            Some((_, n)) => *n += 1,
            None => self.state.node_visits.push((id, 1)),
        }
    }

    /// The turn is over: where does it go on?
    fn advance(&mut self) {
        if self.ends_by_time() {
            return;
        }
        self.record();
        if let Some(failure) = self.turn.failure.clone()
            && failure.category != FailureCategory::Content
            && !self.node().routes_failures()
        {
            return self.conclude(Status::Error, Some(failure));
        }
        if self.state.turn + 1 >= self.scenario.scenario.turn_limit {
            return self.conclude(Status::LimitReached, None);
        }
        self.go_on(Vec::new());
    }

    /// Follows an edge, as far as code of edges was called.
    fn go_on(&mut self, called: Vec<(usize, Result<bool, String>)>) {
        let node = self.node();
        let state = self.after_turn();
        let failed = self.turn.failure.clone().filter(|it| it.category != FailureCategory::Content);
        let answer = |edge: usize| called.iter().find(|(it, _)| *it == edge).map(|(_, answer)| answer.clone());
        let (found, tested) = match &failed {
            None => route(&node.edges, &state, &answer),
            Some(_) => node.failure_route(&state, &answer),
        };
        if let Route::Calls(edge) = found {
            let Some(callable) = self.edge_code(edge) else { return };
            let arguments = state.names().into_owned();
            let deed = Deed::Call { name: named(callable, "when"), arguments };
            self.phase = Phase::Routing { edge, deed, called };
            return;
        }
        let to = match &found {
            Route::Along(edge) => node.edges.get(*edge).map(|it| it.edge.target.clone()),
            _ => None,
        };
        if let Some(record) = self.history.last_mut() {
            record.tested = tested;
            record.taken = if let Route::Along(edge) = &found { Some(node.edge_numbers[*edge]) } else { None };
            record.went_to.clone_from(&to);
        }
        match (found, to) {
            (Route::Unclear { fault, reason, .. }, _) => {
                let failure =
                    TurnFailure { category: FailureCategory::UnexpectedError, stage: "routing".to_owned(), reason };
                self.conclude_unclear(failure, fault);
            }
            (Route::Along(edge), Some(Target::Node(id))) => match self.scenario.index(&id) {
                Some(next) => {
                    let handover = node.edges[edge].edge.handover.clone();
                    self.state.turn += 1;
                    self.enter(next, handover);
                }
                None => self.conclude(Status::Completed, None),
            },
            // No edge for this failure: it ends the conversation, as failures do.
            (Route::Ends, _) if failed.is_some() => self.conclude(Status::Error, failed),
            _ => self.conclude(Status::Completed, None),
        }
    }

    fn edge_called(&mut self, edge: usize, outcome: Outcome) {
        let Phase::Routing { edge: expected, called, .. } = &mut self.phase else { return };
        if edge != *expected {
            return;
        }
        let mut called = std::mem::take(called);
        let answer = match &outcome {
            Outcome::Returned(it) if !it.is_error => match it.value {
                Val::Bool(holds) => Ok(holds),
                ref other => Err(format!("the code of an edge gives {}, and must give true or false", shown(other))),
            },
            other => Err(format!("the code of an edge failed: {}", why(other))),
        };
        called.push((edge, answer));
        if !self.ends_by_time() {
            self.go_on(called);
        }
    }

    /// Writes the turn into history and log.
    fn record(&mut self) {
        if std::mem::replace(&mut self.turn.is_recorded, true) {
            return;
        }
        let node = self.node();
        let turn = &mut self.turn;
        let sent = turn.told.as_ref().map_or_else(|| node.question.text.clone(), |it| it.question.clone());
        let is_whole = turn.told.as_ref().is_some_and(|it| it.prior.is_none());
        let dialogue = &mut turn.dialogue;
        let asked = Some(std::mem::take(&mut dialogue.asked)).filter(|_| is_whole).unwrap_or_default();
        self.log.add(node.agent.as_deref().unwrap_or(&self.name), &node.system, &sent, &dialogue.trace, asked);
        self.history.push(TurnRecord {
            node_id: node.id.clone(),
            question_text: node.question.text.clone(),
            sent: Some(sent).filter(|it| *it != node.question.text),
            raw_response: turn.raw.clone(),
            parsed: turn.parsed.clone(),
            verified: turn.verified.clone(),
            rubric: turn.rubric.clone(),
            rubric_errors: turn.rubric_errors.clone(),
            failure: turn.failure.clone(),
            usage: dialogue.usage,
            cost_usd: dialogue.cost_usd,
            tool_uses: dialogue.tool_uses.clone(),
            update_error: turn.update_error.clone(),
            tested: Vec::new(),
            taken: None,
            went_to: None,
        });
    }

    fn conclude_unclear(&mut self, failure: TurnFailure, fault: crate::compare::Fault) {
        self.conclude(Status::Error, Some(failure));
        match &mut self.phase {
            Phase::Concluding { execution, .. } => execution.unclear = Some(fault),
            Phase::Done(end) => {
                if let End::Execution(execution) = &mut **end {
                    execution.unclear = Some(fault);
                }
            }
            _ => {}
        }
    }

    /// The conversation is over: criteria are decided.
    fn conclude(&mut self, status: Status, failure: Option<TurnFailure>) {
        let mut final_state = self.after_turn();
        final_state.failure = None;
        let execution = Execution {
            scenario_id: self.scenario.scenario.name.clone(),
            status,
            path: std::mem::take(&mut self.path),
            history: std::mem::take(&mut self.history),
            final_state,
            outcome_results: Map::default(),
            outcome_errors: Map::default(),
            terminal_failure: failure.map(|it| (self.node().id.clone(), it)),
            replicate: self.replicate,
            unclear: None,
        };
        let evidence = execution.to_value();
        let calls =
            (0..).zip(&self.scenario.scenario.outcomes).filter(|(_, it)| it.check.is_none()).filter_map(|(ix, it)| {
                let callable = it.evaluate.as_ref()?;
                let arguments = Val::Map([("result", evidence.clone())].into_iter().collect::<Map<'_>>());
                Some((ix, Deed::Call { name: named(callable, &it.name), arguments }))
            });
        let (calls, execution) = (calls.collect(), Box::new(execution));
        self.phase = Phase::Concluding { calls, execution, decided: BTreeMap::new() };
        self.after_decisions();
    }

    fn decided(&mut self, criterion: u32, outcome: Outcome) {
        let Phase::Concluding { calls, decided, .. } = &mut self.phase else { return };
        if !calls.iter().any(|(it, _)| *it == criterion) {
            return;
        }
        calls.retain(|(it, _)| *it != criterion);
        let value = match outcome {
            Outcome::Returned(it) if !it.is_error => Ok(it.value),
            other => Err(why(&other)),
        };
        decided.insert(criterion, value);
        self.after_decisions();
    }

    fn after_decisions(&mut self) {
        let Phase::Concluding { execution, calls, decided } = &mut self.phase else { return };
        if calls.is_empty() {
            let mut execution = std::mem::replace(execution, Box::new(Execution::empty()));
            execution.decide(&self.scenario.scenario.outcomes, std::mem::take(decided));
            self.phase = Phase::Done(Box::new(End::Execution(execution)));
        }
    }
}

/// What code is called, in effects and messages.
fn named(callable: &Callable, otherwise: &str) -> String {
    callable.source.clone().unwrap_or_else(|| otherwise.to_owned())
}

/// The category of a fault of the subject's endpoint, and the reason.
fn failure_of(fault: &Fault) -> (FailureCategory, String) {
    let category = match fault.kind {
        FaultKind::Timeout | FaultKind::TurnDeadline | FaultKind::CaseDeadline => FailureCategory::Timeout,
        FaultKind::Connect | FaultKind::Cut => FailureCategory::Connection,
        FaultKind::Status(429) => FailureCategory::RateLimit,
        FaultKind::Status(500..) => FailureCategory::ServerError,
        _ => FailureCategory::UnexpectedError,
    };
    let tries = if fault.n_requests > 1 { format!(" ({} requests)", fault.n_requests) } else { String::new() };
    (category, format!("{}{tries}", fault.message))
}
