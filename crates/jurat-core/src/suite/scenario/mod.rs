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
//! A scenario is read as far as it goes; whether it makes a sound graph is looked at in [`flaws`], once everything that it names is there. Scenarios that
//! Karenina has stored are read too: its dump has the same keys, and its checkpoint has them under other names (`compat::karenina`).

mod code;
mod edge;
mod flaws;
mod node;
mod outcome;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

pub(crate) use flaws::examine;

use super::prompts::{self, PromptRead};
use super::{Suite, defined_case, task};
use crate::compat::karenina::scenario as stored;
use crate::scenario::{Scenario, definition};
use crate::suite::lost::{Lost, Part};
use crate::template::Trait;
pub use edge::EdgeText;
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::duration;
use jurat_format::field::{DESCRIPTION, Defaulted, Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, Problems};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::source::{Files, ReadError, Sources};
use jurat_format::value::{Node, Span, Spanned};
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
const SYSTEM: Field<Tree> = Field::optional("system", shape::tree(prompts::FORM), "the system prompt of the subject");
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

pub(super) const FORM: Form = Form::Either(&[Form::Map(&ONE), Form::List(&ONE)]);

/// Reads the section: scenarios by name, or a list of scenarios with names.
pub(super) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) {
    let what = ("`scenarios`", "an object of names and scenarios, or a list of scenarios");
    defined_case::read_each(reading, suite, what, node, read_one);
}

/// Reads one scenario into the suite. Its name stands in it unless it is given.
pub(super) fn read_one(reading: &mut Reading<'_>, suite: &mut Suite, name: Option<Spanned<String>>, node: &Node<'_>) {
    let plain = stored::plain(node);
    let node = plain.as_ref().unwrap_or(node);
    let read = |reading: &mut Reading<'_>, suite: &mut Suite| scenario(reading, suite, name, node);
    let read = defined_case::read_whole(reading, suite, "scenario", |it| &it.name, read);
    suite.scenarios.extend(read);
}

impl Scenario {
    /// Reads scenarios that Karenina has stored: a checkpoint (`DataFeed`) with any number of them, one scenario of a checkpoint, or
    /// the dump of one. What cannot be read is a problem; whether a graph is sound is another question ([`crate::scenario::structure`]).
    ///
    /// ```
    /// use jurat_core::scenario::Scenario;
    /// use jurat_format::value::{SourceId, json_node};
    ///
    /// let text = r#"{"@type": "DataFeed", "hasPart": [{
    ///     "@type": "karenina:Scenario", "name": "greeting", "entryNode": "hi",
    ///     "nodes": {"hi": {"nodeId": "hi", "questionData": {"question": "Hello?", "raw_answer": "Hello."}}}}]}"#;
    /// let (node, _) = json_node(text, SourceId(0))?;
    /// let scenarios = Scenario::from_checkpoint(&node).unwrap();
    /// assert_eq!(scenarios[0].node_ids().collect::<Vec<_>>(), ["hi"]);
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn from_checkpoint(node: &Node<'_>) -> Result<Vec<Scenario>, Vec<Problem>> {
        let mut reading = Reading { problems: Problems::default(), sources: Sources::default(), files: &NoFiles };
        let mut suite = Suite::default();
        let scenarios = stored::parts_of_checkpoint(node).unwrap_or_else(|| vec![node]);
        scenarios.into_iter().for_each(|it| read_one(&mut reading, &mut suite, None, it));
        match reading.n_errors() {
            0 => Ok(suite.scenarios.into_iter().map(|it| it.scenario).collect()),
            _ => Err(reading.problems.into_vec()),
        }
    }
}

/// A stored scenario names no other file.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

fn scenario(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    name: Option<Spanned<String>>,
    node: &Node<'_>,
) -> Option<ScenarioText> {
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
    suite.tasks.extend(text.outcome_tasks());
    if let Some(tasks) = fields.node(&TASKS) {
        read_tasks(reading, suite, &mut text, tasks);
    }
    name.map(|_| text)
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
fn read_tasks(reading: &mut Reading<'_>, suite: &mut Suite, text: &mut ScenarioText, node: &Node<'_>) {
    text.lost.add_if(node.as_list().is_none(), &[Part::Outcome]);
    for item in reading.list("`tasks`", "a list of tasks", node) {
        let task = task::read(reading, item);
        let is_read = defined_case::add_own_task(reading, suite, ("scenario", &text.name), item, task);
        text.lost.add_if(!is_read, &[Part::Outcome]);
    }
}

/// Ids and the places of their nodes.
fn places(text: &ScenarioText) -> HashMap<&str, usize> {
    let mut places = HashMap::new();
    for (ix, node) in text.scenario.nodes.iter().enumerate() {
        places.entry(node.id.as_str()).or_insert(ix);
    }
    places
}
