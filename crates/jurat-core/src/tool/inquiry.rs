//! A model asked until it answers: it is asked, the tools that it calls are called, and it is asked again with what they returned.
//!
//! A pure state machine. Requests have the slots of a [turn](Slot): the model is asked at [`Slot::Subject`], where `turn` of the site counts how often it was given
//! results; tools are called at [`Slot::Tool`], where it counts the calls. What was not offered is never called, whatever the model says, and
//! what a tool reports is for the model to deal with. A tool that could not be called at all ends the inquiry: what the model would say without it
//! says nothing about the model.

use std::time::Duration;

use jurat_format::value::Value;

use super::{Offer, bounded, text, why};
use crate::effect::{
    Action, Answer, Asker, Fault, Finish, Logprobs, Message, Messages, ModelRequest, Outcome, Request, Slot, Step,
    StepSite, ToolCall, Usage, UsedTool,
};
use crate::verdict::StopReason;

/// How often a model with tools may be asked for one answer.
pub const MOST_ROUNDS: u32 = 16;

/// A question in progress.
#[derive(Debug, Clone)]
pub struct Inquiry {
    offers: Vec<Offer>,
    max_requests: u32,
    most_rounds: u32,
    dialogue: Dialogue,
    phase: Phase,
}

/// What was said, and what that took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// What the model was asked with last, once it is over.
    pub asked: Messages,
    /// What came after the question: what the model said, and what tools returned.
    pub trace: Vec<Message>,
    /// The tools that were called, in the order of the calls.
    pub tool_uses: Vec<ToolUse>,
    /// What the model thought before its answers, as far as its provider shows it.
    pub reasoning: String,
    /// How likely the tokens of the last answer were, where that was asked for.
    pub logprobs: Option<Box<Logprobs>>,
    /// The tokens of all answers.
    pub usage: Option<Usage>,
    pub cost_usd: Option<f64>,
    /// How long all answers took; that of tools is not in it.
    pub latency: Duration,
    /// Whether an answer came in a batch, so that the time says nothing.
    pub was_batched: bool,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// What the model calls the call.
    pub id: String,
    /// The server; `None` for a tool that does not exist, or that the subject called itself.
    pub server: Option<String>,
    pub tool: String,
    /// What it was called with.
    pub arguments: Value,
    pub output: Option<String>,
    /// Whether that is an error.
    pub is_error: bool,
}

impl From<UsedTool> for ToolUse {
    fn from(used: UsedTool) -> ToolUse {
        let UsedTool { call: ToolCall { id, name: tool, arguments }, output, is_error } = used;
        ToolUse { id, server: None, tool, arguments, output, is_error }
    }
}

/// The result of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// The model answered.
    Answered(Said),
    /// The model refused to.
    Refused(Said),
    /// The model still wants to call tools, and was asked as often as it may be.
    StillCalling(Said),
    /// No answer came.
    Fault(Box<Fault>),
    /// Something was not run.
    NotRun(StopReason),
}

/// What a model said last.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub text: String,
    /// The tools it wants to call, which are not called any more.
    pub tool_calls: Vec<ToolCall>,
    pub finish: Finish,
}

/// What is waited for.
#[derive(Debug, Clone)]
enum Phase {
    /// The model to answer.
    Asking { request: Box<ModelRequest>, round: u32 },
    /// Tools to return.
    Calling { request: Box<ModelRequest>, round: u32, calls: Vec<Calling> },
    /// Nothing: it is over.
    Done(Conclusion),
}

/// A tool that the model wants called.
#[derive(Debug, Clone)]
struct Calling {
    call: ToolCall,
    /// Its number among the calls of this question.
    number: u32,
    action: Option<Action>,
    result: Option<Message>,
    /// Why it could not be called.
    fault: Option<Box<Fault>>,
}

impl Inquiry {
    /// A question to a model that may call these tools. Each time it is asked may take `max_requests` requests.
    pub fn new(request: ModelRequest, offers: Vec<Offer>, max_requests: u32) -> Inquiry {
        let request = Box::new(ModelRequest { tools: offers.iter().map(Offer::tool).collect(), ..request });
        let phase = Phase::Asking { request, round: 0 };
        Inquiry { offers, max_requests, most_rounds: MOST_ROUNDS, dialogue: Dialogue::default(), phase }
    }

    /// The same, asked at most this number of times.
    pub fn at_most(self, rounds: u32) -> Inquiry {
        Inquiry { most_rounds: rounds, ..self }
    }

    /// The requests that may be made now.
    pub fn steps(&self, asker: Asker) -> Vec<Step> {
        match &self.phase {
            Phase::Asking { request, round } => vec![Step {
                site: StepSite { asker, slot: Slot::Subject.number(), turn: *round },
                request: Request::Model(request.clone()),
                max_requests: self.max_requests,
                callable: None,
            }],
            Phase::Calling { calls, .. } => {
                let open = calls.iter().filter(|it| it.result.is_none());
                open.filter_map(|it| Some(Step::action(asker, Slot::Tool, it.number, it.action.clone()?))).collect()
            }
            Phase::Done(_) => Vec::new(),
        }
    }

    /// Whether a request is one of the [steps](Inquiry::steps).
    pub fn is_open(&self, slot: Slot, turn: u32) -> bool {
        match (slot, &self.phase) {
            (Slot::Subject, Phase::Asking { round, .. }) => turn == *round,
            (Slot::Tool, Phase::Calling { calls, .. }) => {
                calls.iter().any(|it| it.number == turn && it.result.is_none())
            }
            _ => false,
        }
    }

    /// Whether the model is to be asked now, rather than tools.
    pub fn asks(&self) -> bool {
        matches!(self.phase, Phase::Asking { .. })
    }

    /// The result, once it is over.
    pub fn conclusion(&self) -> Option<&Conclusion> {
        match &self.phase {
            Phase::Done(conclusion) => Some(conclusion),
            Phase::Asking { .. } | Phase::Calling { .. } => None,
        }
    }

    /// What was said so far.
    pub fn dialogue(&self) -> &Dialogue {
        &self.dialogue
    }

    /// Hands over what was said so far.
    pub fn take_dialogue(&mut self) -> Dialogue {
        std::mem::take(&mut self.dialogue)
    }

    /// Hands over what the model would be asked with, when it was not asked yet: the answer is known.
    pub fn withdraw(&mut self) -> Option<Messages> {
        match &mut self.phase {
            Phase::Asking { round: 0, request } => Some(std::mem::take(&mut request.messages)),
            _ => None,
        }
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, slot: Slot, turn: u32, outcome: Outcome) {
        if !self.is_open(slot, turn) {
            return;
        }
        match (slot, outcome) {
            (_, Outcome::NotRun(reason)) => self.phase = Phase::Done(Conclusion::NotRun(reason)),
            (Slot::Subject, Outcome::Answer(answer)) => self.answered(*answer),
            (Slot::Subject, Outcome::Fault(fault)) => {
                self.dialogue.asked = self.request().messages;
                self.phase = Phase::Done(Conclusion::Fault(fault));
            }
            (Slot::Tool, outcome) => self.returned(turn, &outcome),
            _ => {}
        }
    }

    /// The request, to be continued elsewhere.
    fn request(&mut self) -> ModelRequest {
        match &mut self.phase {
            Phase::Asking { request, .. } | Phase::Calling { request, .. } => {
                std::mem::replace(&mut **request, ModelRequest::new("", Vec::new()))
            }
            Phase::Done(_) => ModelRequest::new("", Vec::new()),
        }
    }

    fn answered(&mut self, answer: Answer) {
        let Phase::Asking { round, .. } = self.phase else { return };
        let mut request = self.request();
        self.note_costs(&answer);
        let Answer { text, tool_calls, used, reasoning, logprobs, finish, .. } = answer;
        self.dialogue.logprobs = logprobs;
        self.dialogue.tool_uses.extend(used.into_iter().map(ToolUse::from));
        if let Some(reasoning) = reasoning.as_ref().filter(|it| !it.text.is_empty()) {
            let thoughts = &mut self.dialogue.reasoning;
            thoughts.push_str(if thoughts.is_empty() { "" } else { "\n\n" });
            thoughts.push_str(&reasoning.text);
        }
        let is_refusal = finish == Finish::Refusal;
        // It goes back with the results of tools; later turns do without.
        let reasoning = reasoning.filter(|_| !tool_calls.is_empty());
        let message = Message::Assistant { text: text.clone(), tool_calls: tool_calls.clone(), reasoning };
        let says_something = !text.is_empty();
        let said = |tool_calls| Said { text, tool_calls, finish };
        let conclusion = if is_refusal {
            self.dialogue.trace.extend(says_something.then_some(message));
            Conclusion::Refused(said(tool_calls))
        } else if tool_calls.is_empty() {
            self.dialogue.trace.extend(says_something.then_some(message));
            Conclusion::Answered(said(tool_calls))
        } else if round + 1 >= self.most_rounds {
            self.dialogue.trace.push(message);
            Conclusion::StillCalling(said(tool_calls))
        } else {
            self.dialogue.trace.push(message.clone());
            request.messages.push(message);
            return self.call(request, round, tool_calls);
        };
        self.dialogue.asked = request.messages;
        self.phase = Phase::Done(conclusion);
    }

    fn note_costs(&mut self, answer: &Answer) {
        let Dialogue { usage, cost_usd, latency, was_batched, .. } = &mut self.dialogue;
        if let Some(tokens) = &answer.usage {
            usage.get_or_insert_default().merge(tokens);
        }
        if let Some(cost) = answer.cost_usd {
            *cost_usd.get_or_insert(0.0) += cost;
        }
        *latency += answer.latency;
        *was_batched |= answer.served.batch.is_some();
    }

    fn call(&mut self, request: ModelRequest, round: u32, tool_calls: Vec<ToolCall>) {
        let n_before = self.dialogue.tool_uses.len() as u32;
        let calling = |(ix, call): (u32, ToolCall)| {
            let offer = self.offers.iter().find(|it| it.name == call.name);
            let action = offer.map(|it| Action::CallTool {
                server: it.server.clone(),
                tool: it.tool.clone(),
                arguments: call.arguments.clone(),
            });
            let refused = action.is_none().then(|| Message::Tool {
                call_id: call.id.clone(),
                name: call.name.clone(),
                text: format!("there is no tool `{}` here", call.name),
                media: Vec::new(),
                is_error: true,
            });
            Calling { call, number: n_before + ix, action, result: refused, fault: None }
        };
        let calls: Vec<Calling> = (0..).zip(tool_calls).map(calling).collect();
        self.dialogue.tool_uses.extend(calls.iter().map(Calling::to_use));
        self.phase = Phase::Calling { request: Box::new(request), round, calls };
        self.after_tools();
    }

    fn returned(&mut self, number: u32, outcome: &Outcome) {
        let Phase::Calling { calls, .. } = &mut self.phase else { return };
        let Some(call) = calls.iter_mut().find(|it| it.number == number) else { return };
        let (text, media, is_error) = match outcome {
            Outcome::Returned(it) => (bounded(text(it)), it.media.clone(), it.is_error),
            other => (format!("the tool could not be called: {}", why(other)), Vec::new(), true),
        };
        if let Outcome::Fault(fault) = outcome {
            let message = format!("the tool `{}` could not be called: {}", call.call.name, fault.message);
            call.fault = Some(Box::new(Fault { message, ..(**fault).clone() }));
        }
        call.result = Some(Message::Tool {
            call_id: call.call.id.clone(),
            name: call.call.name.clone(),
            text: text.clone(),
            media,
            is_error,
        });
        if let Some(tool_use) = self.dialogue.tool_uses.get_mut(number as usize) {
            tool_use.output = Some(text);
            tool_use.is_error = is_error;
        }
        self.after_tools();
    }

    /// Asks again, once every call has a result. Of several faults the first call's counts, whichever came first.
    fn after_tools(&mut self) {
        let Phase::Calling { round, calls, .. } = &self.phase else { return };
        let Some(results) = calls.iter().map(|it| it.result.clone()).collect::<Option<Vec<Message>>>() else { return };
        let fault = calls.iter().find_map(|it| it.fault.clone());
        let round = *round + 1;
        let mut request = self.request();
        request.messages.extend(results.iter().cloned());
        self.dialogue.trace.extend(results);
        self.phase = match fault {
            Some(fault) => {
                self.dialogue.asked = request.messages;
                Phase::Done(Conclusion::Fault(fault))
            }
            None => Phase::Asking { request: Box::new(request), round },
        };
    }
}

impl Calling {
    fn to_use(&self) -> ToolUse {
        let (server, tool) = match &self.action {
            Some(Action::CallTool { server, tool, .. }) => (Some(server.clone()), tool.clone()),
            _ => (None, self.call.name.clone()),
        };
        ToolUse {
            id: self.call.id.clone(),
            server,
            tool,
            arguments: self.call.arguments.clone(),
            output: self.result.as_ref().map(|it| it.text().to_owned()),
            is_error: self.result.is_some(),
        }
    }
}
