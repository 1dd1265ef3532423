//! Asking one judge until its answer is valid: a pure state machine.
//!
//! An answer that is no valid reply is asked again, with the answer and what is wrong with it stated; that is a new request of its
//! own. Every request counts against the same allowance, those that the transport repeated too. A judge that gives no valid
//! answer in the end is a fault of judging, never a failure of the subject.

use super::ReplyForm;
use crate::effect::{Fault, FaultKind, Finish, Message, ModelRequest, Outcome};
use crate::value::{Value, shown};
use crate::verdict::StopReason;

/// One judge being asked.
#[derive(Debug, Clone)]
pub struct Asking {
    request: ModelRequest,
    turn: u32,
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
        Asking { request, turn: 0, requests_left: max_retries.saturating_add(1), n_requests: 0, end: None }
    }

    /// The request to make now, which turn it is, and how many requests it may take; `None` when it is over.
    pub fn step(&self) -> Option<(u32, &ModelRequest, u32)> {
        self.end.is_none().then_some((self.turn, &self.request, self.requests_left))
    }

    /// How it ended, once it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Takes in the outcome of a turn. An outcome of another turn, or after the end, changes nothing.
    pub fn apply(&mut self, turn: u32, outcome: Outcome, form: &ReplyForm) {
        if turn != self.turn || self.end.is_some() {
            return;
        }
        let answer = match outcome {
            Outcome::NotRun(reason) => return self.end = Some(End::NotRun(reason)),
            Outcome::Returned(_) => return,
            Outcome::Fault(fault) => {
                let n_requests = self.n_requests.saturating_add(fault.n_requests);
                return self.end = Some(End::Fault(Fault { n_requests, ..*fault }));
            }
            Outcome::Answer(answer) => answer,
        };
        self.requests_left = self.requests_left.saturating_sub(answer.n_requests.max(1));
        self.n_requests = self.n_requests.saturating_add(answer.n_requests);
        if answer.finish == Finish::Refusal {
            let said = if answer.text.is_empty() { String::new() } else { format!(": {}", shown(&answer.text.into())) };
            let message = format!("the judge refused to answer{said}");
            return self.end = Some(End::Fault(Fault::new(FaultKind::Judging, message, self.n_requests)));
        }
        match form.read_answer(&answer) {
            Ok(reply) => self.end = Some(End::Reply(reply)),
            Err(problem) if self.requests_left == 0 => {
                self.end = Some(End::Fault(Fault::new(FaultKind::Judging, problem, self.n_requests)));
            }
            Err(problem) => self.ask_again(answer.text, &problem, form),
        }
    }

    fn ask_again(&mut self, text: String, problem: &str, form: &ReplyForm) {
        let wanted = if let ReplyForm::Text = form { "the answer" } else { "the JSON" };
        let again = format!(
            "That answer cannot be used: {problem}. Answer again, with nothing but {wanted} that was asked for."
        );
        // Providers refuse messages without content.
        let said = (!text.trim().is_empty()).then(|| Message::assistant(text));
        self.request.messages.extend(said.into_iter().chain([Message::User(again)]));
        self.turn += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Answer;

    fn asking(max_retries: u32) -> Asking {
        Asking::new(ModelRequest::new("judge", vec![Message::User("Judge it".to_owned())]), max_retries)
    }

    fn answer(text: &str) -> Outcome {
        Outcome::Answer(Box::new(Answer::new(text)))
    }

    #[test]
    fn an_invalid_reply_is_asked_again_with_the_problem_stated() {
        let mut asking = asking(1);
        asking.apply(0, answer("Sure!"), &ReplyForm::Json);
        let (turn, request, left) = asking.step().unwrap();
        assert_eq!((turn, left), (1, 1));
        let texts: Vec<&str> = request.messages.iter().map(Message::text).collect();
        assert_eq!(texts[..2], ["Judge it", "Sure!"]);
        assert!(texts[2].contains("the reply is not JSON"), "{}", texts[2]);
        asking.apply(1, answer("4"), &ReplyForm::Json);
        assert_eq!(asking.end(), Some(&End::Reply(crate::value::Val::I(4))));
    }

    #[test]
    fn an_empty_reply_is_asked_again_without_an_empty_message() {
        let mut asking = asking(1);
        asking.apply(0, answer(" \n"), &ReplyForm::Text);
        let (_, request, _) = asking.step().unwrap();
        let texts: Vec<&str> = request.messages.iter().map(Message::text).collect();
        let again = "That answer cannot be used: the reply is empty. Answer again, with nothing but the answer that was asked for.";
        assert_eq!(texts, ["Judge it", again]);
        asking.apply(1, answer(""), &ReplyForm::Text);
        assert!(matches!(asking.end(), Some(End::Fault(fault)) if fault.message == "the reply is empty"));
    }

    #[test]
    fn without_a_valid_reply_it_is_a_fault() {
        let mut asking = asking(2);
        for turn in 0..3 {
            asking.apply(turn, answer("no"), &ReplyForm::Json);
        }
        assert!(matches!(asking.end(), Some(End::Fault(fault)) if fault.n_requests == 3), "{:?}", asking.end());
        assert_eq!(asking.step(), None);
    }
}
