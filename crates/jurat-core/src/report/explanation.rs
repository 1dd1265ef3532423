//! Why a task of a case ended as it did: everything that its verdict rests on.

use std::time::Duration;

use jurat_format::choices;
use jurat_format::value::Value;

use super::TaskVerdict;
use super::transcript::{ToolStep, Transcript};
use crate::effect::{Attempt, Logprobs, Message, Printed, Served, ToolCall, Usage};
use crate::outcome::Trace;
use crate::task_index::Gate;

/// Why a task of a case ended as it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub suite: String,
    /// The id of the run.
    pub run_id: String,
    pub case: String,
    /// The prompt that made it, when there are several.
    pub prompt: Option<String>,
    /// The model that was asked, when there are several.
    pub subject: Option<String>,
    /// Which repetition it is, from 1, when there are several.
    pub replicate: Option<u32>,
    /// Where its row comes from.
    pub row: Option<RowSource>,
    pub task: String,
    /// `assert`, `judge`, …
    pub kind: String,
    /// Whether it decides what runs after it.
    pub gate: Gate,
    /// Its stage, from 1.
    pub stage: usize,
    /// What its author says about it.
    pub description: Option<String>,
    pub verdict: TaskVerdict,
    /// Why, in our words; may be empty.
    pub message: String,
    pub label: Option<String>,
    pub score: Option<f64>,
    /// Why it gave them, in the words of the judge or evaluator.
    pub explanation: Option<String>,
    /// The gates above it, from the top down.
    pub gates: Vec<GateStep>,
    /// What was compared; nothing for a task that compares nothing.
    pub operands: Option<Operands>,
    /// How an outcome was decided, part by part.
    pub decided: Option<Trace>,
    /// What the task could read.
    pub seen: Vec<Seen>,
    /// What it could not read though it exists.
    pub unseen: Vec<Unseen>,
    /// What the code of an evaluator was called with, and what came of it.
    pub called: Option<Called>,
    /// What was asked of models, in order: the subject of the case and its tools first, then the judges of the task.
    pub conversations: Vec<Conversation>,
    /// The tools that the subject called when it was asked about its row, with what they returned.
    pub tool_calls: Vec<ToolStep>,
    /// What each judge said about the value that is compared, in the order of the panel.
    pub spread: Vec<Value>,
    /// What was said in the scenario that the case is.
    pub transcript: Option<Transcript>,
}

/// Where a row comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSource {
    /// The file, as the suite names it.
    pub file: String,
    /// Which row of it, from 1.
    pub row: Option<u64>,
    pub offset: Option<u64>,
}

/// A gate on the way to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct GateStep {
    pub task: String,
    pub verdict: TaskVerdict,
    /// Why, in our words; may be empty.
    pub message: String,
}

/// What was compared with what.
#[derive(Debug, Clone, PartialEq)]
pub struct Operands {
    /// Where it looked; nothing when it looked at everything.
    pub path: Option<String>,
    pub operator: String,
    /// What it expected, whole; nothing for operators that need no operand.
    pub expected: Option<Value>,
    /// What it found, whole; nothing when the path found nothing.
    pub found: Option<Value>,
}

/// Something that a task could read.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Its name in the context.
    pub name: String,
    /// Whether it is the output of a task that this one depends on, rather than part of the case.
    pub is_output: bool,
    pub value: Value,
}

/// Something that a task could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    pub name: String,
    /// Why not: `not a direct dependency`, `skipped`, …
    pub reason: String,
}

/// A call of the code of an evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    pub evaluator: String,
    /// The arguments by name, as one object.
    pub arguments: Value,
    /// What it returned, with tags for what JSON loses; nothing when nothing came back.
    pub returned: Option<Value>,
    /// What it raised, or why nothing came back.
    pub problem: Option<String>,
    pub printed: Printed,
    /// How long it took, as it was recorded.
    pub latency: Option<Duration>,
    /// Whether it was called in this run.
    pub origin: Origin,
    /// How old the result was when it was used; nothing for one of this run.
    pub age: Option<Duration>,
}

/// What was asked of models for one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    pub purpose: Purpose,
    /// What was asked at first; what is said when asking again follows from the replies.
    pub messages: Vec<Message>,
    /// The JSON Schema that the answer must have.
    pub schema: Option<Value>,
    /// What came back, judge by judge and turn by turn.
    pub replies: Vec<Reply>,
}

choices! {
    /// What a model was asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Purpose {
        /// It is what is evaluated.
        Subject = "subject",
        Judge = "judge",
        /// It gives the embeddings that an evaluator compares.
        Embedder = "embedder",
        /// It reads the answers of a subject.
        Parser = "parser",
        /// It rates the answers of a subject.
        Rubric = "rubric",
        /// It is no model, but a tool that a subject called.
        Tool = "tool",
        /// It is no model, but a server that was asked for its tools.
        Tools = "tools",
        /// It is no model, but code of the program that held the conversation.
        Code = "code",
    }
}

/// What came back from one request, with those that failed before it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Which judge of a panel, from 1.
    pub slot: u32,
    /// How often this one was asked, from 1: more than once when its answer was not valid.
    pub turn: u32,
    /// Who was asked, as the suite names it.
    pub model: String,
    /// Who answered, as the provider says.
    pub served: Served,
    /// What it said; nothing when no answer came.
    pub text: Option<String>,
    /// What it thought before, when its provider shows it.
    pub reasoning: Option<String>,
    /// How likely its tokens were, when that was asked for.
    pub logprobs: Option<Box<Logprobs>>,
    /// The tools it wants to call.
    pub tool_calls: Vec<ToolCall>,
    /// What was read from it; nothing when it is not valid.
    pub parsed: Option<Value>,
    /// What is wrong with it, or why no answer came.
    pub problem: Option<String>,
    pub finish: Option<String>,
    pub usage: Option<Usage>,
    pub cost_usd: Option<f64>,
    /// How long it took, as it was recorded.
    pub latency: Option<Duration>,
    /// How long its first words took, where it was streamed.
    pub first_token: Option<Duration>,
    /// The requests that failed before it.
    pub attempts: Vec<Attempt>,
    /// Whether it was asked for in this run.
    pub origin: Origin,
    /// How old the answer was when it was used; nothing for one that was asked for.
    pub age: Option<Duration>,
}

choices! {
    /// Where an answer comes from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Origin {
        /// It was asked for in this run.
        #[default]
        Live = "live",
        /// From the journal of the project: an earlier run asked the same.
        Journal = "journal",
        /// From the log of this run, or of the run that is replayed.
        Log = "log",
    }
}
