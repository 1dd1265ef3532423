//! From one turn to the next: what is known afterwards, what is written down, and where the conversation continues.

use jurat_format::value::{Map, Val, shown};

use super::super::compiled::Words;
use super::super::execution::{Status, TurnRecord};
use super::super::state::verified;
use super::super::{Edge, FailureCategory, Route, State, StateUpdate, Target, TurnFailure, route};
use super::{Phase, Traversal, named};
use crate::effect::{Action, Fault, Outcome, Slot};
use crate::tool::why;

impl Traversal<'_> {
    /// Ends the turn with a failure.
    pub(super) fn fail(&mut self, category: FailureCategory, stage: &str, reason: String) {
        self.turn.record.failure = Some(TurnFailure { category, stage: stage.to_owned(), reason });
        self.update();
    }

    /// Notes that the time is over. What was asked at the same time is waited for, so that it does not matter what came first.
    pub(super) fn note_time_over(&mut self, slot: Slot, fault: &Fault) {
        let stage = match slot {
            Slot::Parser | Slot::Rubric(_) => "parse_template",
            Slot::Update => "state_update",
            Slot::Edge => "routing",
            _ => "generate_answer",
        };
        let (category, reason) = (FailureCategory::Timeout, fault.message.clone());
        self.turn.time_over.get_or_insert(TurnFailure { category, stage: stage.to_owned(), reason });
    }

    /// Whether the time was over, which ends the conversation.
    pub(super) fn ends_by_time(&mut self) -> bool {
        let Some(failure) = self.turn.time_over.take() else { return false };
        self.turn.record.failure = Some(failure.clone());
        self.note_result();
        self.record();
        self.conclude(Status::Timeout, Some(failure));
        true
    }

    /// Updates the accumulated state. What fails leaves it as it was.
    pub(super) fn update(&mut self) {
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
                let parsed = Val::Map(self.turn.record.parsed.clone());
                let arguments = [("accumulated", self.state.accumulated.clone()), ("parsed", parsed)];
                let arguments = Val::Map(arguments.into_iter().collect::<Map<'_>>());
                self.phase = Phase::Updating(Action::Call { name: named(callable, "state_update"), arguments });
            }
        }
    }

    /// The state as an update sees it: the turn is over.
    pub(super) fn after_turn(&self) -> State {
        let mut state = self.state.clone();
        state.turn += 1;
        state
    }

    pub(super) fn update_failed(&mut self, reason: String) {
        self.turn.record.update_error = Some(reason.clone());
        if self.turn.record.failure.is_none() {
            let stage = "state_update".to_owned();
            self.turn.record.failure = Some(TurnFailure { category: FailureCategory::UnexpectedError, stage, reason });
            self.state.failure = self.turn.record.failure.clone();
        }
    }

    pub(super) fn updated(&mut self, outcome: Outcome) {
        let Phase::Updating(_) = self.phase else { return };
        match outcome {
            Outcome::Returned(returned) if !returned.is_error => self.state.accumulated = returned.value,
            // As the authors of callbacks know it: one that fails changes nothing, and the conversation continues. The record says so.
            other => self.turn.record.update_error = Some(why(&other)),
        }
        self.advance();
    }

    /// What edges and updates may know of this turn.
    pub(super) fn note_result(&mut self) {
        if std::mem::replace(&mut self.turn.is_noted, true) {
            return;
        }
        let id = self.node().id.clone();
        let TurnRecord { parsed, rubric, failure, .. } = &self.turn.record;
        let verify_result = self.turn.record.verify_result();
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

    /// The turn is over: finds the next node.
    pub(super) fn advance(&mut self) {
        if self.ends_by_time() {
            return;
        }
        self.record();
        if let Some(failure) = self.turn.record.failure.clone()
            && failure.category != FailureCategory::Content
            && !self.node().routes_failures()
        {
            return self.conclude(Status::Error, Some(failure));
        }
        if self.state.turn + 1 >= self.scenario.scenario.turn_limit {
            return self.conclude(Status::LimitReached, None);
        }
        self.follow_edge(Vec::new());
    }

    /// Follows an edge, as far as code of edges was called.
    pub(super) fn follow_edge(&mut self, called: Vec<(usize, Result<bool, String>)>) {
        let node = self.node();
        let state = self.after_turn();
        let failed = self.turn.record.failure.clone().filter(|it| it.category != FailureCategory::Content);
        let answer = |edge: usize| called.iter().find(|(it, _)| *it == edge).map(|(_, answer)| answer.clone());
        // After such a failure the conversation continues along an edge that tests for it, or nowhere.
        let is_open = |it: &Edge| failed.is_none() || it.tests_failure();
        let (found, tested) = route(&node.edges, is_open, &state, &answer);
        if let Route::Calls(edge) = found {
            let Some(callable) = self.edge_code(edge) else { return };
            let arguments = state.names().into_owned();
            let action = Action::Call { name: named(callable, "when"), arguments };
            self.phase = Phase::Routing { edge, action, called };
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

    pub(super) fn edge_called(&mut self, edge: usize, outcome: Outcome) {
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
            self.follow_edge(called);
        }
    }

    /// Writes the turn into history and log.
    pub(super) fn record(&mut self) {
        if std::mem::replace(&mut self.turn.is_recorded, true) {
            return;
        }
        let node = self.node();
        let turn = &mut self.turn;
        let Words { question, system, .. } = &turn.words;
        let sent = turn.input.as_ref().map_or_else(|| question.clone(), |it| it.question.clone());
        let is_whole = turn.input.as_ref().is_some_and(|it| it.prior.is_none());
        let dialogue = &mut turn.dialogue;
        let asked = Some(std::mem::take(&mut dialogue.asked)).filter(|_| is_whole).unwrap_or_default();
        self.log.add(node.agent.as_deref().unwrap_or(&self.name), system, &sent, &dialogue.trace, asked);
        self.history.push(TurnRecord {
            node_id: node.id.clone(),
            question_text: question.clone(),
            sent: Some(sent).filter(|it| it != question),
            usage: dialogue.usage,
            cost_usd: dialogue.cost_usd,
            tool_uses: dialogue.tool_uses.clone(),
            ..turn.record.clone()
        });
    }
}
