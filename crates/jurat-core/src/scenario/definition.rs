//! What a scenario is: nodes, edges, where it starts, what is concluded about it. Plain values; whether they make a sound graph is
//! another question.

use std::sync::Arc;
use std::time::Duration;

use jurat_compare::Operator;
use jurat_compare::expression::Expression;
use jurat_format::value::{Map, Value};

use super::{Callable, StatePath};
use crate::outcome::Check;
use crate::prompt::Prompt;
use crate::template::{Template, Trait};
use crate::tool::ToolFilter;

/// The target of an edge that ends the conversation, as it is written.
pub const END: &str = "__end__";

/// How many turns a scenario may take unless it says.
pub const TURN_LIMIT: u32 = 20;

/// A conversation along a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name; the id of its case.
    pub name: String,
    pub description: String,
    /// The nodes, in the order they were added.
    pub nodes: Vec<Node>,
    /// The edges, in the order they were added: the first whose condition holds is taken.
    pub edges: Vec<Edge>,
    /// The node it starts with.
    pub entry: String,
    /// What is concluded about the whole, in the order of registration.
    pub outcomes: Vec<Criterion>,
    /// Whatever its author wants to keep with it.
    pub metadata: Map<'static>,
    /// Whether it is held once for each row of `records`.
    pub over_records: bool,
    /// The system message of the subject; a node may have its own.
    pub system: Option<String>,
    /// The system message with its placeholders, when it has some.
    pub system_prompt: Option<Prompt>,
    /// Who is asked, where it is not the suite's subject and parser.
    pub models: ModelOverride,
    /// The traits that every turn is rated by, unless its node has its own.
    pub rubric: Vec<Trait>,
    /// The servers whose tools the subject may use, unless a node says otherwise.
    pub tools: Vec<String>,
    /// How many turns it may take.
    pub turn_limit: u32,
    /// How long one turn may take.
    pub turn_timeout: Option<Duration>,
    /// How long it may take as a whole.
    pub timeout: Option<Duration>,
    /// Words to select it by.
    pub tags: Vec<String>,
}

/// The role that answers where no other is named.
const SUBJECT: &str = "subject";

impl Scenario {
    pub fn new(name: impl Into<String>) -> Scenario {
        Scenario {
            name: name.into(),
            description: String::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            entry: String::new(),
            outcomes: Vec::new(),
            metadata: Map::default(),
            over_records: false,
            system: None,
            system_prompt: None,
            models: ModelOverride::default(),
            rubric: Vec::new(),
            tools: Vec::new(),
            turn_limit: TURN_LIMIT,
            turn_timeout: None,
            timeout: None,
            tags: Vec::new(),
        }
    }

    /// The ids of its nodes, in order.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.iter().map(|it| it.id.as_str())
    }

    /// The roles that answer in it, or their models.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let own = self.models.subject.as_deref().unwrap_or(SUBJECT);
        self.nodes.iter().map(move |it| it.models.subject.as_deref().unwrap_or(own))
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|it| it.id == id)
    }
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    pub id: String,
    pub description: Option<String>,
    pub question: Question,
    /// What is read from the answer and what it must be; `None` for a comparison with the question's own answer.
    pub template: Option<Template>,
    /// The traits that its turns are rated by, in place of the scenario's.
    pub rubric: Option<Vec<Trait>>,
    /// Who is asked, where it is not whom the scenario asks.
    pub models: ModelOverride,
    /// The system message of the subject, in place of the scenario's.
    pub system: Option<String>,
    /// The system message with its placeholders, when it has some.
    pub system_prompt: Option<Prompt>,
    /// The servers whose tools the subject may use, in place of the scenario's.
    pub tools: Option<Vec<String>>,
    /// The tools it may not use here.
    pub tool_filter: ToolFilter,
    /// How the accumulated state changes after a turn.
    pub state_update: Option<StateUpdate>,
    /// Who answers, as the log of the conversation calls it.
    pub agent_identity: Option<String>,
    /// Whatever its author wants to keep with it.
    pub metadata: Map<'static>,
    /// What else a file of Karenina says about its models, under Karenina's names; stored and written back.
    pub stored: Map<'static>,
}

impl Node {
    /// A node that asks, and nothing else.
    pub fn new(id: impl Into<String>, question: Question) -> Node {
        Node { id: id.into(), question, ..Node::default() }
    }
}

/// What is asked, and what would be right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    pub text: String,
    /// What would be right, in words.
    pub raw_answer: Option<String>,
    /// The text with its placeholders, when it has some. Each turn fills them.
    pub prompt: Option<Prompt>,
    /// The same for what would be right.
    pub answer_prompt: Option<Prompt>,
    /// Questions and answers that are put before this one, as examples.
    pub examples: Vec<Example>,
    /// What else a file of Karenina says about it, under Karenina's names; stored and written back.
    pub stored: Map<'static>,
}

/// A question and its answer that are put before a node's own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Example {
    pub question: String,
    pub answer: String,
    /// The question with its placeholders, when it has some.
    pub question_prompt: Option<Prompt>,
    /// The answer with its placeholders, when it has some.
    pub answer_prompt: Option<Prompt>,
}

impl Question {
    /// A question and what would be right.
    pub fn new(text: impl Into<String>, raw_answer: impl Into<String>) -> Question {
        Question { text: text.into(), raw_answer: Some(raw_answer.into()), ..Question::default() }
    }
}

/// Who is asked, by role or as `provider/model`, where it is not whom others ask.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOverride {
    pub subject: Option<String>,
    pub parser: Option<String>,
}

/// From a node to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    pub source: String,
    pub target: Target,
    /// When it is taken; `None` for the way that is left when no other is.
    pub when: Option<Condition>,
    /// What the next turn is sent of those before it.
    pub handover: Option<Handover>,
}

/// Where an edge goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Node(String),
    /// Nowhere: the conversation is over.
    End,
}

impl Target {
    /// The target that is written like this.
    pub fn named(name: &str) -> Target {
        if name == END { Target::End } else { Target::Node(name.to_owned()) }
    }

    pub fn name(&self) -> &str {
        match self {
            Target::Node(id) => id,
            Target::End => END,
        }
    }
}

/// When an edge is taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// When a check of the state holds.
    Check(Box<StateCheck>),
    /// When all of them hold, tested in order; none always hold.
    Checks(Vec<StateCheck>),
    /// When all of them hold, tested in order. Code does not stand inside other conditions.
    All(Vec<Condition>),
    /// When one of them holds, tested in order until one does.
    Any(Vec<Condition>),
    /// When it does not hold.
    Not(Box<Condition>),
    /// When an expression holds.
    Cel(Arc<Expression>),
    /// When code says so.
    Callable(Callable),
}

impl Condition {
    /// The paths into the state that its checks look at, in order. What expressions and code look at is not among them.
    pub fn fields(&self) -> impl Iterator<Item = &StatePath> {
        self.checks().into_iter().map(|it| &it.field)
    }

    pub fn checks(&self) -> Vec<&StateCheck> {
        match self {
            Condition::Check(check) => vec![check],
            Condition::Checks(checks) => checks.iter().collect(),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(Condition::checks).collect(),
            Condition::Not(part) => part.checks(),
            Condition::Cel(_) | Condition::Callable(_) => Vec::new(),
        }
    }

    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Condition::Cel(expression) => vec![expression],
            Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(Condition::expressions).collect(),
            Condition::Not(part) => part.expressions(),
            Condition::Check(_) | Condition::Checks(_) | Condition::Callable(_) => Vec::new(),
        }
    }
}

/// A comparison with a value of the state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateCheck {
    /// The path into the state.
    pub field: StatePath,
    /// What the value is compared with.
    pub expected: Value,
    pub verify_with: Operator,
}

/// How the accumulated state changes after a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum StateUpdate {
    /// To the value of an expression.
    Cel(Arc<Expression>),
    /// To what code returns.
    Callable(Callable),
}

/// What the next turn is sent of those before it, when it is not simply the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Handover {
    /// A transcript before the question, in one message.
    TranscriptPrepend,
    /// A transcript behind the question, in one message.
    TranscriptAppend,
    /// A transcript in files, and where they are before the question.
    TranscriptMaterialize,
    /// What code returns: the messages that come before the question.
    Callable(Callable),
}

/// Something that is concluded about a whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    pub name: String,
    /// What it asserts, in words.
    pub description: String,
    pub check: Option<Check>,
    /// Code that decides it, when there is no check.
    pub evaluate: Option<Callable>,
}
