//! The beginning of a turn: what the subject is sent and asked, until it has answered or cannot.

use jurat_format::value::{Context, Map, Val};

use super::super::compiled::Words;
use super::super::conversation::handed_over;
use super::super::{FailureCategory, Handover};
use super::{MAX_RETRIES, Phase, Traversal, named};
use crate::effect::{Action, Fault, FaultKind, Message, ModelRequest, Outcome, Role, Slot};
use crate::scenario::End;
use crate::tool::{Conclusion, Inquiry, MOST_ROUNDS, Said, why};

impl Traversal<'_> {
    pub(super) fn after_listing(&mut self) {
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
                self.phase = Phase::HandingOver(Action::Call { name: named(callable, "handover"), arguments });
            }
            _ => self.ask(None),
        }
    }

    pub(super) fn listed(&mut self, ix: u32, outcome: &Outcome) {
        self.tools.apply(ix, outcome);
        self.after_listing();
    }

    pub(super) fn was_handed_over(&mut self, outcome: Outcome) {
        let messages = match &outcome {
            Outcome::Returned(it) if !it.is_error => handed_over(&it.value),
            other => Err(why(other)),
        };
        match messages {
            Ok(messages) => self.ask(Some(messages)),
            Err(reason) => self.fail(FailureCategory::UnexpectedError, "handover", reason),
        }
    }

    pub(super) fn ask(&mut self, returned: Option<Vec<Message>>) {
        let node = self.node();
        if node.is_filled() {
            match node.words(Context::of(&self.state.filling())) {
                Ok(words) => self.turn.words = words,
                Err(reason) => return self.fail(FailureCategory::UnexpectedError, "question", reason),
            }
        }
        let Words { question, system, examples, .. } = &self.turn.words;
        let input = self.log.turn_input(question, self.handover.as_ref(), returned, self.state.turn + 1);
        let messages = self.log.request_messages(system, examples, &input);
        let subject = node.subject.clone().map_or_else(|| self.subject.clone(), Role::from);
        let row = self.state.row.as_deref().map_or(Val::Null, |it| self.scenario.row_paths.of(&subject, it));
        let request = ModelRequest { repeat: self.replicate, row, ..ModelRequest::new(subject, messages) };
        self.turn.input = Some(input);
        self.phase = Phase::Asking(Inquiry::new(request, self.tools.offers(&node.tool_filter), MAX_RETRIES + 1));
    }

    pub(super) fn inquired(&mut self, slot: Slot, turn: u32, outcome: Outcome) {
        let Phase::Asking(inquiry) = &mut self.phase else { return };
        inquiry.apply(slot, turn, outcome);
        let Some(conclusion) = inquiry.conclusion().cloned() else {
            // No time is left to continue with what tools returned.
            if self.turn.time_over.is_some() && inquiry.asks() {
                self.turn.dialogue = inquiry.take_dialogue();
                self.ends_by_time();
            }
            return;
        };
        self.turn.dialogue = inquiry.take_dialogue();
        match conclusion {
            Conclusion::Answered(Said { text, .. }) => {
                self.turn.record.raw_response = Some(text);
                self.begin_reading();
            }
            Conclusion::Refused(Said { text, .. }) => {
                self.turn.record.raw_response = Some(text);
                let reason = "the subject refused to answer".to_owned();
                self.fail(FailureCategory::Abstention, "generate_answer", reason);
            }
            Conclusion::StillCalling(Said { text, .. }) => {
                self.turn.record.raw_response = Some(text);
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
    (category, fault.text())
}
