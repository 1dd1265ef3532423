//! Asking one judge until its answer is valid: a pure state machine.
//!
//! An answer that is no valid reply is asked again, with the answer and what is wrong with it stated; that is a new request of its
//! own. Every request counts against the same allowance, those that the transport repeated too. A judge that gives no valid
//! answer in the end is a fault of judging, never a failure of the subject.

use jurat_format::value::{Val, Value, shown, shown_within};

use super::{ReplyForm, SoftScore};
use crate::effect::{Fault, FaultClass, FaultKind, Finish, Message, ModelRequest, Outcome, Schema};
use crate::verdict::StopReason;

/// How much of an invalid reply is shown.
const MOST_SHOWN: usize = 200;

/// One judge being asked.
#[derive(Debug, Clone)]
pub struct Asking {
    request: ModelRequest,
    /// What the reply must fit. The request has it in its prompt instead once the endpoint did not take it.
    schema: Option<Schema>,
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
        let (schema, requests_left) = (request.output.clone(), max_retries.saturating_add(1));
        Asking { request, schema, turn: 0, requests_left, n_requests: 0, end: None }
    }

    /// The request to make now, which turn it is, and how many requests it may take; `None` when it is over.
    pub fn step(&self) -> Option<(u32, &ModelRequest, u32)> {
        self.end.is_none().then_some((self.turn, &self.request, self.requests_left))
    }

    /// How it ended, once it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// A question that is not asked, because its answer is known.
    pub fn ended(reply: Value, request: ModelRequest) -> Asking {
        Asking { end: Some(End::Reply(reply)), ..Asking::new(request, 0) }
    }

    /// Takes in the outcome of a turn. An outcome of another turn, or after the end, changes nothing.
    pub fn apply(&mut self, turn: u32, outcome: Outcome, form: &ReplyForm) {
        self.apply_checked(turn, outcome, form, |_| Ok(()));
    }

    /// The same for a reply that must be more than of its form: `check` says what is wrong with one.
    pub fn apply_checked(
        &mut self,
        turn: u32,
        outcome: Outcome,
        form: &ReplyForm,
        check: impl FnOnce(&Value) -> Result<(), String>,
    ) {
        self.apply_scored(turn, outcome, (form, None), check);
    }

    /// The same with a soft score, which is added to the reply. A reply that has none is not asked for again: its words are right.
    pub fn apply_scored(
        &mut self,
        turn: u32,
        outcome: Outcome,
        (form, soft): (&ReplyForm, Option<&SoftScore>),
        check: impl FnOnce(&Value) -> Result<(), String>,
    ) {
        if turn != self.turn || self.end.is_some() {
            return;
        }
        let answer = match outcome {
            Outcome::NotRun(reason) => return self.end = Some(End::NotRun(reason)),
            Outcome::Returned(_) | Outcome::Ran(_) => return,
            Outcome::Fault(fault) => return self.failed(*fault),
            Outcome::Answer(answer) => answer,
        };
        self.requests_left = self.requests_left.saturating_sub(answer.n_requests.max(1));
        self.n_requests = self.n_requests.saturating_add(answer.n_requests);
        if answer.finish == Finish::Refusal {
            let said = if answer.text.is_empty() { String::new() } else { format!(": {}", shown(&answer.text.into())) };
            let message = format!("the judge refused to answer{said}");
            return self.end = Some(End::Fault(Fault::new(FaultKind::Judging, message, self.n_requests)));
        }
        match form.read_answer(&answer).and_then(|it| check(&it).map(|()| it)) {
            Ok(reply) => {
                let scored = match soft {
                    Some(soft) => soft.scored(&answer, form, reply),
                    None => Ok(reply),
                };
                let fault = |problem| End::Fault(Fault::new(FaultKind::Judging, problem, self.n_requests));
                self.end = Some(scored.map_or_else(fault, End::Reply));
            }
            // With the same bound it would be cut off again, and paid for again.
            Err(problem) if answer.finish == Finish::Length => {
                self.give_up(&format!("{problem}, which may be raised on the model"), &answer.text);
            }
            Err(problem) if self.requests_left == 0 => self.give_up(&problem, &answer.text),
            Err(problem) => self.ask_again(answer.text, &problem, form),
        }
    }

    /// A request without an answer. An endpoint that takes no schema is asked again with the schema in the prompt.
    fn failed(&mut self, fault: Fault) {
        self.n_requests = self.n_requests.saturating_add(fault.n_requests);
        self.requests_left = self.requests_left.saturating_sub(fault.n_requests.max(1));
        let may_repeat = fault.class == FaultClass::RefusedSchema && self.requests_left > 0;
        match self.request.output.take().filter(|_| may_repeat) {
            Some(schema) => {
                self.request.messages.add_paragraph(&schema.in_words());
                self.turn += 1;
            }
            None => {
                // Roles that send an endpoint equal requests share one outcome, and it names the role that was first.
                let role = fault.role.is_some().then(|| self.request.model.clone());
                self.end = Some(End::Fault(Fault { n_requests: self.n_requests, role, ..fault }));
            }
        }
    }

    /// Ends without a valid reply; the last one is shown.
    fn give_up(&mut self, problem: &str, text: &str) {
        let shown = match text.trim() {
            "" => String::new(),
            text => format!("; the reply is {}", shown_within(&Val::from(text), MOST_SHOWN)),
        };
        let message = format!("{problem}{shown}");
        self.end = Some(End::Fault(Fault::new(FaultKind::Judging, message, self.n_requests)));
    }

    fn ask_again(&mut self, text: String, problem: &str, form: &ReplyForm) {
        let wanted = if let ReplyForm::Text = form { "the answer" } else { "the JSON" };
        let mut again = format!(
            "That answer cannot be used: {problem}. Answer again, with nothing but {wanted} that was asked for."
        );
        // Some endpoints ignore the schema that a request has.
        if let Some(schema) = &self.schema {
            again = format!("{again}\n\n{}", schema.in_words());
        }
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
        assert_eq!(asking.end(), Some(&End::Reply(jurat_format::value::Val::I(4))));
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

    /// Judges of a panel that send equal requests share one outcome.
    #[test]
    fn a_fault_names_the_role_that_was_asked() {
        let mut asking = asking(0);
        let of_another = Fault { role: Some("second".into()), ..Fault::new(FaultKind::Status(500), "broken", 1) };
        asking.apply(0, Outcome::Fault(Box::new(of_another)), &ReplyForm::Text);
        let Some(End::Fault(fault)) = asking.end() else { panic!("it is a fault: {:?}", asking.end()) };
        assert_eq!(fault.role, Some("judge".into()));
    }

    fn with_schema(max_retries: u32) -> Asking {
        let schema: Value = jurat_format::value::parse_json(r#"{"type": "object"}"#).unwrap().value.into_owned();
        let request = ModelRequest::new("judge", vec![Message::User("Judge it".to_owned())]);
        Asking::new(ModelRequest { output: Some(schema.into()), ..request }, max_retries)
    }

    fn texts(asking: &Asking) -> Vec<&str> {
        asking.step().unwrap().1.messages.iter().map(Message::text).collect()
    }

    const WORDS: &str = "Answer with nothing but JSON that fits this JSON Schema:\n{\"type\":\"object\"}";

    #[test]
    fn an_endpoint_that_takes_no_schema_gets_it_in_the_prompt() {
        let mut asking = with_schema(1);
        let refused = Fault { class: FaultClass::RefusedSchema, ..Fault::new(FaultKind::Status(400), "no", 1) };
        asking.apply(0, Outcome::Fault(Box::new(refused.clone())), &ReplyForm::Json);
        assert_eq!(texts(&asking), [format!("Judge it\n\n{WORDS}")]);
        assert_eq!(asking.step().unwrap().1.output, None);
        asking.apply(1, Outcome::Fault(Box::new(refused)), &ReplyForm::Json);
        assert!(matches!(asking.end(), Some(End::Fault(fault)) if fault.n_requests == 2), "{:?}", asking.end());
    }

    #[test]
    fn an_endpoint_that_ignores_the_schema_gets_it_with_the_next_attempt() {
        let mut asking = with_schema(1);
        asking.apply(0, answer("Sure!"), &ReplyForm::Json);
        assert!(texts(&asking)[2].ends_with(WORDS), "{:?}", texts(&asking));
    }

    #[test]
    fn a_reply_that_was_cut_off_is_not_asked_for_again() {
        let mut asking = with_schema(3);
        let cut = Answer { finish: Finish::Length, ..Answer::new("{\"ok\": tr") };
        asking.apply(0, Outcome::Answer(Box::new(cut)), &ReplyForm::Json);
        let Some(End::Fault(fault)) = asking.end() else { panic!("{:?}", asking.end()) };
        assert!(
            fault
                .message
                .ends_with("cut off at `max_tokens`, which may be raised on the model; the reply is `{\"ok\": tr`"),
            "{}",
            fault.message
        );
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
