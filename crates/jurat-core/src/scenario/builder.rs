//! A scenario built step by step.
//!
//! Nodes, edges and outcomes come in any order. A step never fails by itself, so that steps can be chained: what is wrong with one is stored with
//! its number, and [`ScenarioBuilder::validate`] reports everything at once. To find out at once, ask
//! [`ScenarioBuilder::errors`] after a step.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_format::choice;
use jurat_format::problem::Severity;
use jurat_format::value::Value;

use super::definition::END;
use super::structure::{self, Flaw};
use super::when::{self, Bound};
use super::{
    Callable, Condition, Criterion, Edge, Function, Handover, ModelOverride, Node, Question, Scenario, StateCheck,
    StateUpdate, Target, ToolName,
};
use crate::outcome::Check;
use crate::template::{Template, Trait};

/// Builds a [`Scenario`].
///
/// ```
/// use jurat_core::scenario::{Condition, Question, ScenarioBuilder, END};
///
/// let endpoint = Question::new("What was the primary endpoint?", "Overall survival.");
/// let retry = Question::new("The trial looked at survival. Which kind?", "Overall survival.");
/// let mut builder = ScenarioBuilder::new("endpoint-check");
/// builder
///     .add_node("check", endpoint)
///     .add_node("retry", retry)
///     .add_edge_when("check", "retry", Condition::field("verify_result", false))
///     .add_edge("check", END)
///     .add_edge("retry", END)
///     .set_entry("check");
/// let scenario = builder.validate()?;
/// assert_eq!(scenario.node_ids().collect::<Vec<_>>(), ["check", "retry"]);
/// assert_eq!(scenario.entry, "check");
/// # Ok::<(), jurat_core::scenario::BuildErrors>(())
/// ```
///
/// Errors of all steps come together:
///
/// ```
/// use jurat_core::scenario::{Condition, Question, ScenarioBuilder};
///
/// let mut builder = ScenarioBuilder::new("broken");
/// builder
///     .add_node("ask", Question::new("Why?", "Because."))
///     .add_edge_when("ask", "agian", Condition::field("verify_result", false))
///     .set_entry("ask");
/// let errors = builder.validate().unwrap_err();
/// assert_eq!(errors.to_string(), "\
/// the edge `ask -> agian` goes to `agian`, which is not a node
/// every edge of the node `ask` has a condition, and no edge applies when none of them holds");
/// ```
#[derive(Debug, Clone)]
pub struct ScenarioBuilder {
    scenario: Scenario,
    entry: Option<String>,
    n_steps: usize,
    errors: Vec<BuildError>,
}

/// Something that is wrong with what was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    pub flaw: Flaw,
    /// The step that it came up in, counted from 0; `None` when it came up only in `validate`.
    pub step: Option<usize>,
    /// What is wrong, in words.
    pub message: String,
}

/// Everything that is wrong with what was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildErrors(pub Vec<BuildError>);

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (ix, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if ix == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}

impl ScenarioBuilder {
    pub fn new(name: impl Into<String>) -> ScenarioBuilder {
        ScenarioBuilder { scenario: Scenario::new(name), entry: None, n_steps: 0, errors: Vec::new() }
    }

    /// Says what it is for.
    pub fn description(&mut self, description: impl Into<String>) -> &mut Self {
        self.scenario.description = description.into();
        self
    }

    /// Adds a node: a question, or a [`Node`] with more to it. Wrong: an id that is there already, `__user__` as who answers, an empty question.
    ///
    /// ```
    /// use jurat_core::scenario::{Node, Question, ScenarioBuilder};
    ///
    /// let mut builder = ScenarioBuilder::new("triage");
    /// builder
    ///     .add_node("ask", Question::new("Is it urgent?", "Yes."))
    ///     .add_node("hand_over", Node::from(Question::new("Then who takes it?", "The ward."))
    ///         .agent_identity("nurse")
    ///         .subject("openai/gpt-5-mini")
    ///         .without_tool("pubmed", "search")
    ///         .metadata("stage", 2));
    /// assert!(builder.errors().is_empty());
    /// ```
    pub fn add_node(&mut self, id: impl Into<String>, node: impl Into<Node>) -> &mut Self {
        let step = self.step();
        let node = Node { id: id.into(), ..node.into() };
        let ix = self.scenario.nodes.len();
        let first = self.scenario.nodes.iter().position(|it| it.id == node.id);
        let flaws = first.map(|first| Flaw::DuplicateNode { node: ix, first });
        let flaws: Vec<Flaw> = flaws.into_iter().chain(structure::flaws_of_node(ix, &node)).collect();
        self.scenario.nodes.push(node);
        self.refuse(flaws, step);
        self
    }

    /// Adds an edge without a condition: the way that is taken when no other is. Whether its ends are nodes is looked at in `validate`.
    pub fn add_edge(&mut self, source: impl Into<String>, target: impl AsRef<str>) -> &mut Self {
        self.add_edge_with(Edge::new(source, target))
    }

    /// Adds an edge with a condition.
    pub fn add_edge_when(
        &mut self,
        source: impl Into<String>,
        target: impl AsRef<str>,
        condition: impl Into<Condition>,
    ) -> &mut Self {
        self.add_edge_with(Edge::new(source, target).when(condition))
    }

    /// Adds an edge with everything to it.
    ///
    /// ```
    /// use jurat_core::scenario::{Edge, Handover, ScenarioBuilder};
    ///
    /// let mut builder = ScenarioBuilder::new("triage");
    /// builder.add_edge_with(Edge::new("ask", "hand_over").handover(Handover::TranscriptPrepend));
    /// ```
    pub fn add_edge_with(&mut self, edge: Edge) -> &mut Self {
        self.step();
        self.scenario.edges.push(edge);
        self
    }

    /// Says which node it starts with; the last call counts. Wrong: a node that is not there yet.
    pub fn set_entry(&mut self, id: impl Into<String>) -> &mut Self {
        let step = self.step();
        let id = id.into();
        if self.scenario.node(&id).is_some() {
            self.entry = Some(id);
        } else {
            let message = format!("`{id}` cannot be the entry: there is no such node yet");
            self.errors.push(BuildError { flaw: Flaw::UnknownEntry, step: Some(step), message });
        }
        self
    }

    /// Adds what is concluded about the whole, as a check.
    pub fn add_outcome(&mut self, name: impl Into<String>, check: Check) -> &mut Self {
        self.add_outcome_criterion(Criterion::new(name, check))
    }

    /// Adds what is concluded about the whole, with everything to it. Code decides it here, where checks do not say enough:
    ///
    /// ```
    /// use jurat_core::scenario::{Callable, Criterion, Function, ScenarioBuilder};
    /// use jurat_format::value::Val;
    ///
    /// let short = Function::new(|names| {
    ///     let result = names.get("result").ok_or("there is no result")?;
    ///     let n_turns = result.get("turn_count").and_then(Val::as_f64).ok_or("there is no turn count")?;
    ///     Ok(Val::Bool(n_turns <= 3.0))
    /// });
    /// let mut builder = ScenarioBuilder::new("custom-logic");
    /// builder.add_outcome_criterion(
    ///     Criterion::calling("short", Callable::new("turn_count <= 3", short)).description("at most three turns"),
    /// );
    /// ```
    pub fn add_outcome_criterion(&mut self, criterion: Criterion) -> &mut Self {
        self.step();
        self.scenario.outcomes.push(criterion);
        self
    }

    /// The system message of the subject; a node may have its own.
    pub fn system(&mut self, system: impl Into<String>) -> &mut Self {
        self.scenario.system = Some(system.into());
        self
    }

    /// Who is asked, where it is not the suite's subject and parser.
    pub fn models(&mut self, models: ModelOverride) -> &mut Self {
        self.scenario.models = models;
        self
    }

    /// The traits that every turn is rated by, unless its node has its own.
    pub fn rubric(&mut self, traits: Vec<Trait>) -> &mut Self {
        self.scenario.rubric = traits;
        self
    }

    /// The servers whose tools the subject may use.
    pub fn tools<S: Into<String>>(&mut self, servers: impl IntoIterator<Item = S>) -> &mut Self {
        self.scenario.tools = servers.into_iter().map(Into::into).collect();
        self
    }

    /// How many turns it may take; default: 20.
    pub fn turn_limit(&mut self, turns: u32) -> &mut Self {
        self.scenario.turn_limit = turns;
        self
    }

    /// How long one turn may take.
    pub fn turn_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.scenario.turn_timeout = Some(timeout);
        self
    }

    /// How long it may take as a whole.
    pub fn timeout(&mut self, timeout: Duration) -> &mut Self {
        self.scenario.timeout = Some(timeout);
        self
    }

    /// A word to select it by.
    pub fn tag(&mut self, tag: impl Into<String>) -> &mut Self {
        self.scenario.tags.push(tag.into());
        self
    }

    /// Something that its author wants to keep with it.
    pub fn metadata(&mut self, key: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.scenario.metadata.insert(Cow::Owned(key.into()), value.into());
        self
    }

    /// The ids of the nodes so far, in order.
    pub fn node_ids(&self) -> Vec<&str> {
        self.scenario.node_ids().collect()
    }

    /// What is wrong with the steps so far.
    pub fn errors(&self) -> &[BuildError] {
        &self.errors
    }

    /// What is odd about what was built, though it can run.
    pub fn warnings(&self) -> Vec<Flaw> {
        let flaws = structure::flaws(&self.built());
        flaws.into_iter().filter(|it| it.severity() == Severity::Warning).collect()
    }

    /// The scenario, or everything that is wrong with it.
    pub fn validate(&self) -> Result<Scenario, BuildErrors> {
        let scenario = self.built();
        let mut errors = self.errors.clone();
        let is_known = |flaw: &Flaw| match flaw {
            Flaw::NoEntry => self.errors.iter().any(|it| it.flaw == Flaw::UnknownEntry),
            flaw => self.errors.iter().any(|it| it.flaw == *flaw),
        };
        let flaws = structure::flaws(&scenario);
        let no_entry = self.entry.is_none().then_some(Flaw::NoEntry);
        let flaws = no_entry.into_iter().chain(flaws.into_iter().filter(|it| *it != Flaw::NoEntry));
        for flaw in flaws.filter(|it| it.severity() == Severity::Error && !is_known(it)) {
            let message = flaw.words(&scenario).to_string();
            errors.push(BuildError { flaw, step: None, message });
        }
        if errors.is_empty() { Ok(scenario) } else { Err(BuildErrors(errors)) }
    }

    fn built(&self) -> Scenario {
        Scenario { entry: self.entry.clone().unwrap_or_default(), ..self.scenario.clone() }
    }

    /// Counts a step, and returns its number.
    fn step(&mut self) -> usize {
        self.n_steps += 1;
        self.n_steps - 1
    }

    fn refuse(&mut self, flaws: Vec<Flaw>, step: usize) {
        for flaw in flaws {
            let message = flaw.words(&self.scenario).to_string();
            self.errors.push(BuildError { flaw, step: Some(step), message });
        }
    }
}

impl From<Question> for Node {
    /// A node that asks, and nothing else. Its id is given where it is added.
    fn from(question: Question) -> Node {
        Node::new("", question)
    }
}

impl Node {
    /// What is read from the answer and what it must be.
    #[must_use]
    pub fn template(self, template: Template) -> Node {
        Node { template: Some(template), ..self }
    }

    /// The traits that its turns are rated by, in place of the scenario's.
    #[must_use]
    pub fn rubric(self, traits: Vec<Trait>) -> Node {
        Node { rubric: Some(traits), ..self }
    }

    /// Who answers: a role, or `provider/model`.
    #[must_use]
    pub fn subject(mut self, model: impl Into<String>) -> Node {
        self.models.subject = Some(model.into());
        self
    }

    /// Who reads the answer: a role, or `provider/model`.
    #[must_use]
    pub fn parser(mut self, model: impl Into<String>) -> Node {
        self.models.parser = Some(model.into());
        self
    }

    /// The system message of the subject, in place of the scenario's.
    #[must_use]
    pub fn system(self, system: impl Into<String>) -> Node {
        Node { system: Some(system.into()), ..self }
    }

    /// The servers whose tools the subject may use here, in place of the scenario's.
    #[must_use]
    pub fn tools<S: Into<String>>(self, servers: impl IntoIterator<Item = S>) -> Node {
        Node { tools: Some(servers.into_iter().map(Into::into).collect()), ..self }
    }

    /// A tool that may not be used here.
    #[must_use]
    pub fn without_tool(mut self, server: impl Into<String>, tool: impl Into<String>) -> Node {
        self.tool_filter.remove.push(ToolName { server: server.into(), tool: Some(tool.into()) });
        self
    }

    /// A server whose tools may not be used here.
    #[must_use]
    pub fn without_server(mut self, server: impl Into<String>) -> Node {
        self.tool_filter.remove.push(ToolName { server: server.into(), tool: None });
        self
    }

    /// How the accumulated state changes after its turns.
    #[must_use]
    pub fn state_update(self, update: impl Into<StateUpdate>) -> Node {
        Node { state_update: Some(update.into()), ..self }
    }

    /// Who answers, as the log of the conversation calls it.
    #[must_use]
    pub fn agent_identity(self, name: impl Into<String>) -> Node {
        Node { agent_identity: Some(name.into()), ..self }
    }

    /// Something that its author wants to keep with it.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Node {
        self.metadata.insert(Cow::Owned(key.into()), value.into());
        self
    }
}

impl Edge {
    /// An edge without a condition.
    pub fn new(source: impl Into<String>, target: impl AsRef<str>) -> Edge {
        Edge { source: source.into(), target: Target::named(target.as_ref()), when: None, handover: None }
    }

    #[must_use]
    pub fn when(self, condition: impl Into<Condition>) -> Edge {
        Edge { when: Some(condition.into()), ..self }
    }

    /// What the next turn is sent of those before it.
    #[must_use]
    pub fn handover(self, handover: impl Into<Handover>) -> Edge {
        Edge { handover: Some(handover.into()), ..self }
    }

    /// Whether it ends the conversation.
    pub fn ends(&self) -> bool {
        self.target.name() == END
    }
}

impl Condition {
    /// A field of the state is as wanted: a boolean by truth, text without regard to case and outer space, a number by value, a list as a set.
    ///
    /// ```
    /// use jurat_core::scenario::Condition;
    ///
    /// let both = Condition::all([Condition::field("verify_result", true), Condition::at_least("node_visits.ask", 2.0)]);
    /// let other = Condition::any([both, Condition::negated(Condition::field("parsed.stance", "firm"))]);
    /// ```
    pub fn field(path: &str, expected: impl Into<Value>) -> Condition {
        StateCheck::new(path, expected).into()
    }

    /// A number of the state is at least this.
    pub fn at_least(path: &str, number: f64) -> Condition {
        when::bounded(path, Bound::AtLeast, number).into()
    }

    /// A number of the state is at most this.
    pub fn at_most(path: &str, number: f64) -> Condition {
        when::bounded(path, Bound::AtMost, number).into()
    }

    /// A number of the state is larger than this.
    pub fn above(path: &str, number: f64) -> Condition {
        when::bounded(path, Bound::Above, number).into()
    }

    /// A number of the state is smaller than this.
    pub fn below(path: &str, number: f64) -> Condition {
        when::bounded(path, Bound::Below, number).into()
    }

    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        Condition::All(conditions.into_iter().collect())
    }

    pub fn any(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        Condition::Any(conditions.into_iter().collect())
    }

    pub fn negated(condition: Condition) -> Condition {
        Condition::Not(Box::new(condition))
    }

    /// An expression over the state holds.
    pub fn cel(source: &str) -> Result<Condition, ExpressionError> {
        Expression::compile_condition(source).map(|it| Condition::Cel(Arc::new(it)))
    }
}

/// What may be code.
macro_rules! from_code {
    ($($type:ident),+) => {
        $(
            impl From<Callable> for $type {
                fn from(callable: Callable) -> $type {
                    $type::Callable(callable)
                }
            }

            impl From<Function> for $type {
                fn from(function: Function) -> $type {
                    $type::Callable(function.into())
                }
            }
        )+
    };
}

from_code!(Condition, StateUpdate, Handover);

impl From<StateCheck> for Condition {
    fn from(check: StateCheck) -> Condition {
        Condition::Check(Box::new(check))
    }
}

impl From<Vec<StateCheck>> for Condition {
    fn from(checks: Vec<StateCheck>) -> Condition {
        Condition::Checks(checks)
    }
}

impl StateCheck {
    /// A field of the state against a value, with the comparison that suits the value.
    pub fn new(path: &str, expected: impl Into<Value>) -> StateCheck {
        when::inferred(path, expected.into())
    }
}

impl StateUpdate {
    /// The accumulated state becomes the value of an expression.
    pub fn cel(source: &str) -> Result<StateUpdate, ExpressionError> {
        Expression::compile(source).map(|it| StateUpdate::Cel(Arc::new(it)))
    }
}

impl Handover {
    /// The strategies that have names.
    pub const NAMED: [(&'static str, Handover); 3] = [
        ("transcript_prepend", Handover::TranscriptPrepend),
        ("transcript_append", Handover::TranscriptAppend),
        ("transcript_materialize", Handover::TranscriptMaterialize),
    ];

    pub const NAMES: [&'static str; 3] = choice::names(&Handover::NAMED);

    /// The strategy with this name.
    pub fn named(name: &str) -> Option<Handover> {
        Handover::NAMED.into_iter().find(|(it, _)| *it == name).map(|(_, it)| it)
    }

    /// Its name; code has none.
    pub fn name(&self) -> Option<&'static str> {
        Handover::NAMED.iter().find(|(_, it)| it == self).map(|(name, _)| *name)
    }
}

impl Callable {
    /// Code, and words for people to know it by.
    pub fn new(source: impl Into<String>, function: Function) -> Callable {
        Callable { source: Some(source.into()), function: Some(function) }
    }

    /// Only the text of code. It is stored for display; running a scenario with it needs the code itself.
    pub fn text(source: impl Into<String>) -> Callable {
        Callable { source: Some(source.into()), function: None }
    }
}

impl From<Function> for Callable {
    fn from(function: Function) -> Callable {
        Callable { source: None, function: Some(function) }
    }
}

impl Criterion {
    /// A criterion that a check decides.
    pub fn new(name: impl Into<String>, check: Check) -> Criterion {
        Criterion { name: name.into(), description: String::new(), check: Some(check), evaluate: None }
    }

    /// A criterion that code decides.
    pub fn calling(name: impl Into<String>, evaluate: impl Into<Callable>) -> Criterion {
        Criterion { name: name.into(), description: String::new(), check: None, evaluate: Some(evaluate.into()) }
    }

    /// What it asserts, in words.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Criterion {
        Criterion { description: description.into(), ..self }
    }
}
