//! What was said in a scenario, turn by turn: requests and responses, the fields that were read from them, and the edges that were taken.

use jurat_format::value::Value;

use super::explanation::Conversation;
use crate::outcome::Trace;
use crate::scenario::TurnFailure;
use crate::verdict::CaseVerdict;

/// What was said in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    pub suite: String,
    /// The id of the run.
    pub run_id: String,
    /// The scenario, which is the case.
    pub case: String,
    /// The model that was talked to, when there are several.
    pub subject: Option<String>,
    /// Which repetition it is, from 1, when there are several.
    pub replicate: Option<u32>,
    /// What its author says about it.
    pub description: Option<String>,
    pub verdict: CaseVerdict,
    /// How the conversation ended; nothing when it was not held.
    pub status: Option<String>,
    /// How many turns it may take.
    pub turn_limit: u32,
    pub turns: Vec<Turn>,
    /// The node and the failure that ended it.
    pub failure: Option<(String, TurnFailure)>,
    /// What was known in the end.
    pub final_state: Option<Value>,
    /// Its outcomes, in the order they were written.
    pub outcomes: Vec<OutcomeStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub node: String,
    /// Its question, as the node has it.
    pub question: String,
    /// The question as it was sent, when that differs.
    pub sent: Option<String>,
    pub reply: Option<String>,
    /// The tools it called, with what they returned.
    pub tool_calls: Vec<ToolStep>,
    /// What was read from it, by field.
    pub parsed: Value,
    /// Whether it was right; nothing when it could not or should not be decided.
    pub verify_result: Option<bool>,
    /// By what that was judged.
    pub judged_by: Option<String>,
    pub score: Option<f64>,
    /// The result of each field.
    pub fields: Vec<FieldStep>,
    /// The traits it was rated by.
    pub rubric: Vec<(String, Value)>,
    /// Why traits could not be rated.
    pub rubric_errors: Vec<(String, String)>,
    /// How it failed in another way than by its content.
    pub failure: Option<TurnFailure>,
    /// Why the state was not updated.
    pub update_error: Option<String>,
    /// The edges that were tested after it, in order.
    pub tested: Vec<TestedStep>,
    /// The edge that was taken; nothing when none was.
    pub taken: Option<EdgeStep>,
    /// The state after it and its update; nothing when the run does not record it.
    pub state: Option<Value>,
    /// What was asked of models, tools and code, in order.
    pub conversations: Vec<Conversation>,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolStep {
    /// The server; nothing for a tool that does not exist.
    pub server: Option<String>,
    pub tool: String,
    /// What it was called with.
    pub arguments: Value,
    pub output: Option<String>,
    /// Whether that is an error.
    pub is_error: bool,
}

/// The result of one field of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldStep {
    pub name: String,
    /// Whether it is right; nothing when it was not there or is not judged.
    pub result: Option<bool>,
    /// What was expected, in words; nothing for a field that is not judged.
    pub expected: Option<String>,
    /// What was found, in words.
    pub found: String,
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeStep {
    /// Its place among all edges of the scenario, from 0.
    pub edge: usize,
    /// When it is taken, in words; nothing for the one that is left when no other is.
    pub when: Option<String>,
    /// Where it goes, as definitions have it.
    pub to: String,
}

/// An edge that was tested.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedStep {
    pub edge: EdgeStep,
    /// Whether it held, or why that cannot be decided.
    pub held: Result<bool, String>,
    /// The values that it saw, by path.
    pub saw: Vec<(String, Value)>,
}

/// The result of an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeStep {
    pub name: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// Its result, or why that cannot be decided; nothing when it was not decided.
    pub result: Option<Result<Value, String>>,
    /// How it was decided, part by part; nothing for one that code decides.
    pub decided: Option<Trace>,
}
