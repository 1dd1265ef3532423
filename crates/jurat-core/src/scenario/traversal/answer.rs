//! An answer is read, verified and rated.

use jurat_format::value::{Val, Value};

use super::super::FailureCategory;
use super::{MAX_RETRIES, Phase, Traversal};
use crate::effect::{FaultKind, Message, ModelRequest, Outcome, Schema, Slot};
use crate::judge::{Asking, End as Asked};
use crate::scenario::{End, TurnFailure};
use crate::template::RatedTurn;

impl Traversal<'_> {
    pub(super) fn begin_reading(&mut self) {
        let node = self.node();
        let raw = self.turn.record.raw_response.as_deref().unwrap_or_default();
        let asking = |(messages, schema): (Vec<Message>, &Schema)| {
            let request =
                ModelRequest { output: Some(schema.clone()), ..ModelRequest::new(node.parser.clone(), messages) };
            Asking::new(request, MAX_RETRIES)
        };
        let parser = node.verification.question(&self.turn.words, raw).map(asking);
        let ratings = node.rubric.requests(&self.turn.words.question, raw).into_iter();
        let rubric: Vec<Asking> = ratings.map(|it| asking((it.messages, it.schema))).collect();
        self.phase = Phase::Reading { parser, rubric };
        self.after_reading();
    }

    pub(super) fn read(&mut self, slot: Slot, turn: u32, outcome: Outcome) {
        let node = self.node();
        let Phase::Reading { parser, rubric } = &mut self.phase else { return };
        match slot {
            Slot::Rubric(ix) => {
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

    pub(super) fn after_reading(&mut self) {
        let Phase::Reading { parser, rubric } = &self.phase else { return };
        if !parser.iter().chain(rubric).all(|it| it.end().is_some()) {
            return;
        }
        let node = self.node();
        let raw = self.turn.record.raw_response.clone().unwrap_or_default();
        let replies: Vec<_> = rubric.iter().filter_map(|it| it.end().map(replied)).collect();
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
            self.turn.record.failure = Some(TurnFailure { category, stage: stage.to_owned(), reason });
        }
        let parsed = Val::Map(self.turn.record.parsed.clone());
        let rated = RatedTurn {
            question: &self.turn.words.question,
            raw_response: &raw,
            parsed: &parsed,
            verify_result: self.turn.record.verify_result(),
        };
        let ratings = node.rubric.ratings(rated, &replies);
        (self.turn.record.rubric, self.turn.record.rubric_errors) = (ratings.values, ratings.errors);
        self.update();
    }

    /// Verifies the answer; how that fails, if it does.
    pub(super) fn verify(
        &mut self,
        reply: Option<&Value>,
        raw: &str,
        node_results: &Val<'_>,
    ) -> Option<(&'static str, FailureCategory, String)> {
        (self.turn.record.parsed, self.turn.record.verified) =
            self.node().verification.verified(&self.turn.words, reply, raw, node_results);
        let error = self.turn.record.verified.as_ref()?.error()?.to_owned();
        Some(("verify_template", FailureCategory::TemplateValidation, error))
    }
}

/// What a model that rates an answer replied, or why it did not.
fn replied(end: &Asked) -> Result<Value, String> {
    match end {
        Asked::Reply(reply) => Ok(reply.clone()),
        Asked::Fault(fault) => Err(fault.message.clone()),
        Asked::NotRun(_) => Err("it was not run".to_owned()),
    }
}
