//! Asking one judge until its answer is valid: a pure state machine.
//!
//! An answer that is no valid reply is asked again, with the answer and what is wrong with it stated; that is a new request of its
//! own. Every request counts against the same allowance, those that the transport repeated too. A judge that gives no valid
//! answer in the end is a fault of judging, never a failure of the subject.

use super::ReplyForm;
use crate::effect::{Fault, Message, ModelRequest, Outcome, Speaker};
use crate::value::Value;
use crate::verdict::StopReason;

/// One judge being asked.
#[derive(Debug, Clone)]
pub struct Asking {
    request: ModelRequest,
    attempt: u32,
    requests_left: u32,
    n_requests: u32,
    end: Option<End>,
}

/// How asking one judge ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With a valid reply.
    Reply(Value),
    /// Without one.
    Fault(Fault),
    /// It was stopped.
    NotRun(StopReason),
}

impl Asking {
    /// Starts with a request; `max_retries` more may follow.
    pub fn new(request: ModelRequest, max_retries: u32) -> Asking {
        Asking { request, attempt: 0, requests_left: max_retries.saturating_add(1), n_requests: 0, end: None }
    }

    /// The request to make now, which attempt it is, and how many requests it may take; `None` when it is over.
    pub fn step(&self) -> Option<(u32, &ModelRequest, u32)> {
        self.end.is_none().then_some((self.attempt, &self.request, self.requests_left))
    }

    /// How it ended, once it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Takes in the outcome of an attempt. An outcome of another attempt, or after the end, changes nothing.
    pub fn apply(&mut self, attempt: u32, outcome: Outcome, form: &ReplyForm) {
        if attempt != self.attempt || self.end.is_some() {
            return;
        }
        let answer = match outcome {
            Outcome::NotRun(reason) => return self.end = Some(End::NotRun(reason)),
            Outcome::Fault(fault) => {
                let n_requests = self.n_requests.saturating_add(fault.n_requests);
                return self.end = Some(End::Fault(Fault { n_requests, ..fault }));
            }
            Outcome::Answer(answer) => answer,
        };
        self.requests_left = self.requests_left.saturating_sub(answer.n_requests.max(1));
        self.n_requests = self.n_requests.saturating_add(answer.n_requests);
        match form.read(&answer.text) {
            Ok(reply) => self.end = Some(End::Reply(reply)),
            Err(problem) if self.requests_left == 0 => {
                self.end = Some(End::Fault(Fault { message: problem, n_requests: self.n_requests }));
            }
            Err(problem) => {
                let again = format!(
                    "That answer cannot be used: {problem}. Answer again, with nothing but the JSON that was asked for."
                );
                self.request.messages.push(Message { speaker: Speaker::Assistant, text: answer.text });
                self.request.messages.push(Message { speaker: Speaker::User, text: again });
                self.attempt += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Answer;

    fn asking(max_retries: u32) -> Asking {
        let messages = vec![Message { speaker: Speaker::User, text: "Judge it".to_owned() }];
        Asking::new(ModelRequest { model: "judge".to_owned(), messages, output: None, repeat: 0 }, max_retries)
    }

    fn answer(text: &str) -> Outcome {
        Outcome::Answer(Answer { text: text.to_owned(), n_requests: 1 })
    }

    #[test]
    fn an_invalid_reply_is_asked_again_with_the_problem_stated() {
        let mut asking = asking(1);
        asking.apply(0, answer("Sure!"), &ReplyForm::Json);
        let (attempt, request, left) = asking.step().unwrap();
        assert_eq!((attempt, left), (1, 1));
        let texts: Vec<&str> = request.messages.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts[..2], ["Judge it", "Sure!"]);
        assert!(texts[2].contains("the reply is not JSON"), "{}", texts[2]);
        asking.apply(1, answer("4"), &ReplyForm::Json);
        assert_eq!(asking.end(), Some(&End::Reply(crate::value::Val::I(4))));
    }

    #[test]
    fn without_a_valid_reply_it_is_a_fault() {
        let mut asking = asking(2);
        for attempt in 0..3 {
            asking.apply(attempt, answer("no"), &ReplyForm::Json);
        }
        assert!(matches!(asking.end(), Some(End::Fault(fault)) if fault.n_requests == 3), "{:?}", asking.end());
        assert_eq!(asking.step(), None);
    }
}
