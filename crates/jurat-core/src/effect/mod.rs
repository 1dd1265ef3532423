//! What is asked of the world, and what came back.
//!
//! The core says which requests may be made ([`crate::case::CaseState::steps`]); somebody at the rim makes them and hands each outcome
//! back, after writing it down. An outcome is evidence: the verdict drawn from it can be drawn again tomorrow.

use crate::plan::TaskIx;
use crate::value::Value;
use crate::verdict::StopReason;

/// Which request of a case this is. Together with the case, the subject and the replicate it names an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepSite {
    /// The task that asks.
    pub task: TaskIx,
    /// Which of its judges: members of a panel in order, each as often as it is repeated.
    pub seat: u32,
    /// How often this judge was asked before, because its answer was not valid.
    pub attempt: u32,
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// A role under `models`, or `provider/model`.
    pub model: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The JSON Schema that the answer must have.
    pub output: Option<Value>,
    /// Which repetition of the same question this is: answers to equal questions are told apart by it.
    pub repeat: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The system message.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A complete answer, whatever it says.
    Answer(Answer),
    /// No answer.
    Fault(Fault),
    /// It was never made.
    NotRun(StopReason),
}

/// A complete answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it said.
    pub text: String,
    /// How many requests it took, failed ones included.
    pub n_requests: u32,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong, in words.
    pub message: String,
    /// How many requests were made.
    pub n_requests: u32,
}
