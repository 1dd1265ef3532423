//! `scenarios`: conversations along a graph.
//!
//! ```yaml
//! scenarios:
//!   capital:
//!     entry: ask
//!     nodes:
//!       ask: { question: What is the capital of Australia?, raw_answer: Canberra }
//!       doubt: { question: Are you sure? I think it is Sydney., raw_answer: Canberra }
//!     edges:
//!       - { from: ask, to: doubt, when: { verify_result: true } }
//!       - ask -> __end__
//! ```
//!
//! A scenario is read as far as it goes; whether it makes a sound graph is looked at in `suite::flaws`, once everything that it names is there. Scenarios that
//! other programs have stored are read too, under the names that `compat` gives their keys.

mod edge;
mod node;
mod outcome;

use std::collections::HashMap;
use std::time::Duration;

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::duration;
use jurat_format::field::{DESCRIPTION, Defaulted, Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::value::{Node, Span, Spanned};

use super::{Scenario, definition};
use crate::prompt;
use crate::prompt::text::PromptRead;
use crate::section::Heading;
use crate::section::lost::{Lost, Part};
use crate::task::{self, Task};
use crate::template::Trait;
pub use edge::EdgeText;
pub use node::NodeText;
pub use outcome::OutcomeText;

/// A scenario as it was written: what it is, where its parts stand, and what it names elsewhere.
#[derive(Debug, Clone)]
pub struct ScenarioText {
    /// The scenario. Templates and rubrics that it names are not in it yet: [`ScenarioText::resolve`] puts them there.
    pub scenario: Scenario,
    pub name: Spanned<String>,
    /// Where it says where it starts.
    pub entry: Option<Span>,
    /// Its nodes, one for each of the scenario's.
    pub nodes: Vec<NodeText>,
    /// Its edges, one for each of the scenario's.
    pub edges: Vec<EdgeText>,
    /// Its outcomes, one for each of the scenario's.
    pub outcomes: Vec<OutcomeText>,
    /// What its questions, what would be right and its system messages are filled from.
    pub reads: Vec<PromptRead>,
    /// Where it says that it is about rows.
    pub over: Option<Span>,
    /// The rubric that it names.
    pub rubric: Option<Spanned<String>>,
    /// The models that it names, those of its nodes included: roles, or `provider/model`.
    pub models: Vec<Spanned<String>>,
    /// The servers with tools that it names, those of its nodes included.
    pub tools: Vec<Spanned<String>>,
    /// The servers of which its nodes take tools away.
    pub filtered: Vec<Spanned<String>>,
    /// What stands in it but could not be read.
    pub(crate) lost: Lost,
}

impl From<Scenario> for ScenarioText {
    /// A scenario that stands in no file.
    fn from(scenario: Scenario) -> ScenarioText {
        ScenarioText {
            name: Spanned::new(scenario.name.clone(), Span::default()),
            nodes: vec![NodeText::default(); scenario.nodes.len()],
            edges: vec![EdgeText::default(); scenario.edges.len()],
            outcomes: vec![OutcomeText::default(); scenario.outcomes.len()],
            entry: None,
            reads: Vec::new(),
            over: None,
            rubric: None,
            models: Vec::new(),
            tools: Vec::new(),
            filtered: Vec::new(),
            lost: Lost::default(),
            scenario,
        }
    }
}

choices! {
    /// What a scenario is held about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Over {
        Records = "records",
    }
}

const NAME: Field<Spanned<String>> = Field::optional("name", shape::TEXT, "its name, when scenarios are a list");
const ENTRY: Field<Spanned<String>> =
    Field::optional("entry", shape::TEXT, "the node that it starts with").or(&["entry_node"]);
const NODES: Field<Tree> = Field::optional(
    "nodes",
    shape::tree(const { Form::Either(&[Form::Map(&node::FORM), Form::List(&node::FORM)]) }),
    "the turns of the conversation, by id or as a list with ids",
);
const EDGES: Field<Tree> = Field::optional(
    "edges",
    shape::tree(const { Form::List(&edge::FORM) }),
    "the next node of each node; the first edge whose condition holds is taken. `a -> b` is short for `{from: a, to: b}`",
);
const OUTCOMES: Field<Tree> =
    Field::optional("outcomes", shape::tree(outcome::FORM), "criteria over the whole conversation")
        .or(&["outcome_criteria"]);
const TASKS: Field<Tree> = Field::optional(
    "tasks",
    shape::tree(const { Form::List(&Form::Object(&task::TASK)) }),
    "tasks that apply to this scenario alone",
);
const RUBRIC: Field<node::Named<Vec<Trait>>> = Field::optional(
    "rubric",
    node::RUBRIC_SHAPE,
    "the traits that every turn is rated by, or the name of an entry of `rubrics`",
);
const OVER: Field<Over> = Field::optional(
    "over",
    shape::choice(),
    "`records` holds the conversation once for each row of `records`, whose fields questions, expected values, edges, outcomes and tasks see",
)
.default_words("held once");
const SYSTEM: Field<Tree> = Field::optional("system", shape::tree(prompt::FORM), "the system prompt of the subject");
const MODELS: Field<node::Models> = Field::optional("models", node::MODELS_SHAPE, "the models for subject and parser")
    .or(&["model_override"])
    .default_words("the roles `subject` and `parser`");
const TOOLS: Field<Vec<Spanned<String>>> =
    Field::optional("tools", shape::TEXTS, "names under `tools` of the servers whose tools the subject may use");
const TURN_LIMIT: Defaulted<u32> =
    Field::optional("turn_limit", shape::count::<1>(), "maximum number of turns").default(definition::TURN_LIMIT);
const TURN_TIMEOUT: Field<Duration> = Field::optional("turn_timeout", duration::SHAPE, "timeout of one turn");
const TIMEOUT: Field<Duration> = Field::optional("timeout", duration::SHAPE, "timeout of the whole conversation");
const TAGS: Field<Vec<String>> = Field::optional("tags", shape::STRINGS, "tags to select it by");

static SCENARIO: Object = Object {
    what: "a scenario",
    keys: &[
        NAME.key,
        DESCRIPTION.key,
        OVER.key,
        ENTRY.key,
        NODES.key,
        EDGES.key,
        OUTCOMES.key,
        TASKS.key,
        RUBRIC.key,
        SYSTEM.key,
        MODELS.key,
        TOOLS.key,
        TURN_LIMIT.key,
        TURN_TIMEOUT.key,
        TIMEOUT.key,
        TAGS.key,
        METADATA.key,
    ],
};

const ONE: Form = Form::Object(&SCENARIO);

pub(crate) const HEADING: Heading = Heading::new(
    "scenarios",
    Form::Either(&[Form::Map(&ONE), Form::List(&ONE)]),
    "conversations along a graph, by name or as a list",
    &[Part::Task, Part::Case],
);

/// Reads one scenario, and the tasks that apply to it alone. Its name stands in it unless it is given.
pub(crate) fn read(
    reading: &mut Reading<'_>,
    lost: &mut Lost,
    name: Option<Spanned<String>>,
    node: &Node<'_>,
) -> Option<(ScenarioText, Vec<Task>)> {
    let fields = SCENARIO.fields(reading, node)?;
    let name = named(reading, name, &fields);
    // Everything is read before anything is missed, so that all problems of a scenario are reported at once.
    let mut text = ScenarioText {
        name: name.clone().unwrap_or_else(|| Spanned::new(String::new(), fields.head())),
        ..Scenario::new(name.as_ref().map(|it| it.value.clone()).unwrap_or_default()).into()
    };
    frame(reading, &fields, &mut text);
    if let Some(nodes) = fields.node(&NODES) {
        node::read_all(reading, nodes, &mut text);
    }
    text.lost.add_if(fields.may_mean(&NODES), &[Part::Node]);
    if let Some(edges) = fields.node(&EDGES) {
        edge::read_all(reading, edges, &mut text);
    }
    text.lost.add_if(fields.may_mean(&EDGES), &[Part::Edge]);
    if let Some(outcomes) = fields.node(&OUTCOMES) {
        outcome::read_all(reading, outcomes, &mut text);
    }
    text.lost.add_if(fields.may_mean(&OUTCOMES) || fields.may_mean(&TASKS), &[Part::Outcome]);
    let mut own = text.outcome_tasks();
    if let Some(tasks) = fields.node(&TASKS) {
        own.extend(read_tasks(reading, lost, &mut text, tasks));
    }
    name.map(|_| (text, own))
}

/// What a scenario says about itself as a whole.
fn frame(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, text: &mut ScenarioText) {
    let description = fields.read(reading, &DESCRIPTION);
    let entry = fields.read(reading, &ENTRY);
    text.scenario.over_records = matches!(fields.read(reading, &OVER), Some(Over::Records));
    text.over = fields.key_span(&OVER).filter(|_| text.scenario.over_records);
    let system = fields.node(&SYSTEM).and_then(|it| node::words(reading, "`system`", it, text));
    let is_entry_lost = fields.may_mean(&ENTRY) || (fields.node(&ENTRY).is_some() && entry.is_none());
    text.lost.add_if(is_entry_lost, &[Part::Entry]);
    text.entry = entry.as_ref().map(|it| it.span);
    text.scenario.description = description.unwrap_or_default();
    text.scenario.entry = entry.map(|it| it.value).unwrap_or_default();
    (text.scenario.system, text.scenario.system_prompt) = system.map_or((None, None), |it| (Some(it.0), it.1));
    if let Some(models) = fields.read(reading, &MODELS) {
        text.models.extend(models.names);
        text.scenario.models = models.models;
    }
    let n_before = reading.n_errors();
    match fields.read(reading, &RUBRIC) {
        Some(node::Named::Name(name)) => text.rubric = Some(name),
        Some(node::Named::Inline(traits)) => text.scenario.rubric = traits,
        None => {}
    }
    text.lost.add_if(reading.n_errors() > n_before, &[Part::Rubric]);
    if let Some(tools) = fields.read(reading, &TOOLS) {
        text.scenario.tools = tools.iter().map(|it| it.value.clone()).collect();
        text.tools.extend(tools);
    }
    text.scenario.turn_limit = fields.value(reading, &TURN_LIMIT);
    text.scenario.turn_timeout = fields.read(reading, &TURN_TIMEOUT);
    text.scenario.timeout = fields.read(reading, &TIMEOUT);
    text.scenario.tags = fields.read(reading, &TAGS).unwrap_or_default();
    text.scenario.metadata = fields.read(reading, &METADATA).unwrap_or_default();
}

/// The name of a scenario: its key, or what it says.
fn named(reading: &mut Reading<'_>, key: Option<Spanned<String>>, fields: &Fields<'_, '_>) -> Option<Spanned<String>> {
    let name = fields.own_id(reading, key, &NAME, "scenario", "`name` is the id of its case")?;
    if name.value.is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, "the name of a scenario cannot be empty");
        reading.problem(problem.at(name.span, "empty").help("its name is the id of its case"));
        return None;
    }
    Some(name)
}

/// Tasks that apply to the scenario alone.
fn read_tasks(reading: &mut Reading<'_>, lost: &mut Lost, text: &mut ScenarioText, node: &Node<'_>) -> Vec<Task> {
    text.lost.add_if(node.as_list().is_none(), &[Part::Outcome]);
    let mut own = Vec::new();
    for item in reading.list("`tasks`", "a list of tasks", node) {
        let read = task::read(reading, item);
        let task = task::of_case(reading, lost, ("scenario", &text.name), item, read);
        text.lost.add_if(task.is_none(), &[Part::Outcome]);
        own.extend(task);
    }
    own
}

/// Ids and the places of their nodes.
pub(crate) fn places(text: &ScenarioText) -> HashMap<&str, usize> {
    let mut places = HashMap::new();
    for (ix, node) in text.scenario.nodes.iter().enumerate() {
        places.entry(node.id.as_str()).or_insert(ix);
    }
    places
}
