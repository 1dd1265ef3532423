//! Nodes: what is asked in a turn, and everything that goes with it.

use jurat_compare::expression::Expression;
use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value};

use super::super::{judging, rubric, template, tool_filter};
use super::ScenarioText;
use crate::compat::karenina::question_id;
use crate::compat::karenina::scenario::model_named;
use crate::scenario::{Callable, ModelOverride, Node as ScenarioNode, Question, StateUpdate, when};
use crate::template::Template;

/// Where a node stands, and what it names elsewhere.
#[derive(Debug, Clone)]
pub struct NodeText {
    pub id: Span,
    pub question: Span,
    /// Where it says who answers.
    pub agent_identity: Option<Span>,
    /// Where it says how the state changes.
    pub state_update: Option<Span>,
    /// The template that it names: an entry of `templates`, or another node.
    pub template: Option<Spanned<String>>,
    /// The rubric that it names.
    pub rubric: Option<Spanned<String>>,
    /// Whether it may have a template or a rubric that could not be read.
    pub(crate) is_flawed: bool,
}

/// Two are equal when they name the same.
impl PartialEq for NodeText {
    fn eq(&self, other: &Self) -> bool {
        (&self.template, &self.rubric) == (&other.template, &other.rubric)
    }
}

static NODE: Keys = Keys {
    what: "a node",
    keys: &[
        Key::optional("id", Form::Text, "its id, when nodes are a list").or(&["node_id"]),
        Key::DESCRIPTION,
        Key::required(
            "question",
            Form::Either(&[Form::Text, Form::Object(&QUESTION)]),
            "what is asked, or an object with `question` and `raw_answer`",
        ),
        Key::optional("raw_answer", Form::Text, "the right answer, in words"),
        Key::optional("examples", EXAMPLES, "few-shot examples: questions and answers that are placed before this one")
            .or(&["few_shot_examples"]),
        Key::optional(
            "template",
            Form::Either(&[Form::Text, template::FORM]),
            "what is read from the answer and what it must be, or the name of an entry of `templates` or of a node",
        ),
        Key::optional(
            "rubric",
            Form::Either(&[Form::Text, rubric::FORM]),
            "the traits that its turns are rated by, or the name of an entry of `rubrics`",
        )
        .default("that of the scenario"),
        Key::optional("models", MODELS_FORM, "the models for subject and parser at this node")
            .default("those of the scenario")
            .or(&["model_override"]),
        Key::optional("system", Form::Text, "the system prompt of the subject").default("that of the scenario"),
        Key::optional(
            "tools",
            Form::List(&Form::Text),
            "names under `tools` of the servers whose tools the subject may use at this node",
        )
        .default("those of the scenario"),
        Key::optional("tool_filter", tool_filter::FORM, "tools that the subject may not use at this node"),
        Key::optional("state_update", Form::Object(&UPDATE), "how the accumulated state changes after a turn"),
        Key::optional(
            "state_update_source",
            Form::Text,
            "source text of code that changes the state; shown, never run",
        ),
        Key::optional("agent_identity", Form::Text, "the name of the subject in transcripts; not `__user__`"),
        Key::METADATA,
    ],
};

pub(super) const FORM: Form = Form::Object(&NODE);

static QUESTION: Keys = Keys {
    what: "a question",
    keys: &[
        Key::required("question", Form::Text, "the question"),
        Key::optional("raw_answer", Form::Text, "the right answer, in words"),
        Key::optional("examples", EXAMPLES, "few-shot examples: questions and answers that are placed before this one")
            .or(&["few_shot_examples"]),
        Key::optional("keywords", Form::Any, "keywords; stored and not used").or(&["tags"]),
        Key::optional("date_created", Form::Any, "when it was written; stored and not used"),
        Key::optional("date_modified", Form::Any, "when it was changed; stored and not used"),
        Key::optional("answer_template", Form::Any, "the source of a template class of Karenina; never run"),
        Key::optional("answer_notes", Form::Any, "notes about the answer; stored and not used"),
        Key::optional("author", Form::Any, "its author; stored and not used"),
        Key::optional("sources", Form::Any, "its sources; stored and not used"),
        Key::optional("custom_metadata", Form::Any, "any further values; stored and not used"),
        Key::optional("question_rubric", Form::Any, "a rubric of Karenina; stored and not used"),
        Key::optional("question_dynamic_rubric", Form::Any, "a rubric of Karenina; stored and not used"),
        Key::optional("workspace_path", Form::Any, "a directory of Karenina; stored and not used"),
        Key::optional("id", Form::Any, "the id that Karenina gives it"),
    ],
};

/// The keys of a question that have a place of their own.
const OWN: [&str; 4] = ["question", "raw_answer", "examples", "id"];

static EXAMPLE: Keys = Keys {
    what: "an example",
    keys: &[Key::required("question", Form::Text, "the question"), Key::required("answer", Form::Text, "the answer")],
};

const EXAMPLES: Form = Form::List(&Form::Object(&EXAMPLE));

static MODELS: Keys = Keys {
    what: "`models` of a scenario",
    keys: &[
        Key::optional("subject", Form::Any, "the model that answers: a role, or `provider/model`")
            .default("the role `subject`")
            .or(&["answering_model"]),
        Key::optional("parser", Form::Any, "the model that reads answers into templates: a role, or `provider/model`")
            .default("the role `parser`")
            .or(&["parsing_model"]),
    ],
};

pub(super) const MODELS_FORM: Form = Form::Object(&MODELS);

static UPDATE: Keys = Keys {
    what: "`state_update`",
    keys: &[Key::required("cel", Form::Text, "an expression that gives the new accumulated state")],
};

/// Reads the nodes of a scenario: an object of ids and nodes, or a list of nodes with ids.
pub(super) fn read_all(reading: &mut Reading<'_>, node: &Node<'_>, text: &mut ScenarioText) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                read(reading, Some(Spanned::new(key.clone().into_owned(), *key_span)), value, text);
            }
        }
        Content::List(items) => items.iter().for_each(|item| read(reading, None, item, text)),
        Content::Scalar(_) => {
            reading.wrong_type("`nodes`", "an object of ids and nodes, or a list of nodes", node);
            text.lost.nodes = true;
        }
    }
}

fn read(reading: &mut Reading<'_>, key: Option<Spanned<String>>, node: &Node<'_>, text: &mut ScenarioText) {
    let n_before = reading.n_errors();
    let Some(fields) = Fields::read(reading, &NODE, node) else {
        lose(text, key);
        return;
    };
    let id = fields.own_id(reading, key, "node", "edges and conditions call it by its id");
    let question = question(reading, &fields);
    let rest = rest(reading, &fields, text);
    let (Some(id), Some((question, question_span))) = (id.clone(), question) else {
        lose(text, id);
        return;
    };
    let Rest { mut node, template, rubric, agent_identity, state_update } = rest;
    // A template class of the peer is used when its fields can be read without running it.
    if node.template.is_none() && template.is_none() && fields.get("template").is_none() {
        let source = question.stored.get("answer_template").and_then(Val::as_str);
        node.template = source.and_then(|it| Template::from_python_source(it).ok());
    }
    text.scenario.nodes.push(ScenarioNode { id: id.value, question, ..node });
    text.nodes.push(NodeText {
        id: id.span,
        question: question_span,
        agent_identity,
        state_update,
        template,
        rubric,
        is_flawed: reading.n_errors() > n_before,
    });
}

/// Notes a node that is not there, though its author wrote one.
fn lose(text: &mut ScenarioText, id: Option<Spanned<String>>) {
    match id {
        Some(id) => drop(text.lost.node_ids.insert(id.value)),
        None => text.lost.nodes = true,
    }
}

/// What to do about a placeholder in what a node says.
const UNFILLED: &str =
    "write the value itself: a scenario has no rows; to ask the same of many rows, use `records` and `ask`";

/// What a node asks, and where that stands.
fn question(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<(Question, Span)> {
    let node = fields.get("question")?;
    let raw_answer = fields.given("raw_answer");
    let examples = fields.given("examples");
    let raw_answer = raw_answer.map(|it| reading.text("`raw_answer`", it));
    let examples = examples.map(|it| read_examples(reading, it));
    let mut question = match &node.content {
        Content::Map(_) => {
            let inside = Fields::read(reading, &QUESTION, node)?;
            stored_question(reading, &inside)?
        }
        _ => Question { text: reading.text("`question`", node)?.value, ..Question::default() },
    };
    judging::unfilled(reading, node.get("question").unwrap_or(node), UNFILLED);
    if let Some(answer) = raw_answer {
        question.raw_answer = answer.map(|it| it.value);
    }
    question.examples.extend(examples.unwrap_or_default());
    Some((question, node.span))
}

fn stored_question(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Question> {
    let text = fields.get("question").and_then(|it| reading.text("`question`", it));
    let raw_answer = fields.given("raw_answer").and_then(|it| reading.text("`raw_answer`", it)).map(|it| it.value);
    let examples = fields.given("examples").map(|it| read_examples(reading, it)).unwrap_or_default();
    let text = text?.value;
    let mut stored: Map<'static> = Map::default();
    for key in QUESTION.keys.iter().filter(|it| !OWN.contains(&it.name)) {
        if let Some(value) = fields.given(key.name).map(|it| it.to_val().into_owned())
            && value != Val::List(Vec::new())
        {
            stored.insert(key.name.into(), value);
        }
    }
    // The peer's id follows from the text; one that does not is worth keeping.
    if let Some(id) = fields.given("id").map(|it| it.to_val().into_owned())
        && id.as_str() != Some(question_id(&text).as_str())
    {
        stored.insert("id".into(), id);
    }
    Some(Question { text, raw_answer, examples, stored })
}

fn read_examples(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<(String, String)> {
    let items = reading.list("`examples`", "a list of questions and answers", node);
    let mut examples = Vec::new();
    for item in items {
        let Some(fields) = Fields::read(reading, &EXAMPLE, item) else { continue };
        let mut said = |name: &str| fields.get(name).and_then(|it| reading.text(&format!("`{name}`"), it));
        if let (Some(question), Some(answer)) = (said("question"), said("answer")) {
            examples.push((question.value, answer.value));
        }
    }
    examples
}

/// What a node has besides its id and its question.
struct Rest {
    /// All of it that is the node's own.
    node: ScenarioNode,
    template: Option<Spanned<String>>,
    rubric: Option<Spanned<String>>,
    agent_identity: Option<Span>,
    state_update: Option<Span>,
}

fn rest(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, text: &mut ScenarioText) -> Rest {
    let mut node = ScenarioNode::new("", Question::default());
    node.description = fields.given("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let mut names = (None, None);
    match fields.given("template").and_then(|it| named_or(reading, "`template`", it, template::read)) {
        Some(Named::Name(name)) => names.0 = Some(name),
        Some(Named::Inline(template)) => node.template = Some(template),
        None => {}
    }
    match fields.given("rubric").and_then(|it| named_or(reading, "`rubric`", it, rubric::read)) {
        Some(Named::Name(name)) => names.1 = Some(name),
        Some(Named::Inline(traits)) => node.rubric = Some(traits),
        None => {}
    }
    let of_peer = fields.get("question").and_then(|it| it.get("question_rubric")).filter(|it| !it.is_null());
    if fields.given("rubric").is_none()
        && let Some(it) = of_peer
    {
        node.rubric = rubric::read(reading, "`question_rubric`", it);
    }
    fields.given("system").into_iter().for_each(|it| judging::unfilled(reading, it, UNFILLED));
    node.system = fields.given("system").and_then(|it| reading.text("`system`", it)).map(|it| it.value);
    if let Some(it) = fields.given("models") {
        let read = models(reading, it);
        text.models.extend(read.names);
        node.models = read.models;
        node.system = node.system.take().or(read.system);
        node.stored = read.stored;
    }
    if let Some(it) = fields.given("tools") {
        let tools = reading.texts("`tools`", it);
        node.tools = Some(tools.iter().map(|it| it.value.clone()).collect());
        text.tools.extend(tools);
    }
    let filter = fields.given("tool_filter").map(|it| tool_filter::read(reading, it, &mut text.filtered));
    node.tool_filter = filter.unwrap_or_default();
    node.state_update = state_update(reading, fields);
    let identity = fields.given("agent_identity").and_then(|it| reading.text("`agent_identity`", it));
    let agent_identity = identity.as_ref().map(|it| it.span);
    node.agent_identity = identity.map(|it| it.value);
    node.metadata = fields.metadata(reading);
    let state_update = fields.key_span("state_update_source").or(fields.key_span("state_update"));
    Rest { node, template: names.0, rubric: names.1, agent_identity, state_update }
}

/// Something that stands here, or the name of something that stands elsewhere.
pub(super) enum Named<T> {
    Name(Spanned<String>),
    Inline(T),
}

pub(super) fn named_or<T>(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Node<'_>,
    read: fn(&mut Reading<'_>, &str, &Node<'_>) -> Option<T>,
) -> Option<Named<T>> {
    match node.as_str() {
        Some(name) => Some(Named::Name(Spanned::new(name.to_owned(), node.span))),
        None => read(reading, what, node).map(Named::Inline),
    }
}

/// Models that a scenario or a node names.
#[derive(Default)]
pub(super) struct Models {
    pub(super) models: ModelOverride,
    /// The names with their places.
    pub(super) names: Vec<Spanned<String>>,
    /// The system message of the subject, which the peer keeps with the model.
    pub(super) system: Option<String>,
    /// What the peer says besides.
    pub(super) stored: Map<'static>,
}

pub(super) fn models(reading: &mut Reading<'_>, node: &Node<'_>) -> Models {
    let mut read = Models::default();
    let Some(fields) = Fields::read(reading, &MODELS, node) else { return read };
    for name in ["subject", "parser"] {
        let Some(node) = fields.given(name) else { continue };
        let model = match node.entries() {
            Some(_) => peer_model(reading, name, node),
            None => reading.text(&format!("`{name}`"), node),
        };
        // What the name says already is not worth keeping.
        let is_named = model.as_ref().is_some_and(|it| node.to_val() == model_named(&it.value));
        if node.entries().is_some() && !is_named {
            let key = if name == "subject" { "answering_model" } else { "parsing_model" };
            read.stored.insert(key.into(), node.to_val().into_owned());
            let system = node.get("system_prompt").and_then(Node::as_str).map(str::to_owned);
            read.system = read.system.take().or(system.filter(|it| name == "subject" && !it.is_empty()));
        }
        let place = if name == "subject" { &mut read.models.subject } else { &mut read.models.parser };
        *place = model.as_ref().map(|it| it.value.clone());
        read.names.extend(model);
    }
    read
}

/// The keys of the peer's model that jurat uses, and those that only say what the others say.
const USED: [&str; 5] = ["id", "model_provider", "model_name", "interface", "system_prompt"];

/// `provider/model` of a model as the peer stores it.
fn peer_model(reading: &mut Reading<'_>, role: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    let said = |name: &str| node.get(name).and_then(Node::as_str).filter(|it| !it.is_empty());
    let Some(name) = said("model_name") else {
        let message = format!("the model of `{role}` needs `model_name`");
        let problem = Problem::new(&codes::MISSING_KEY, message).at(node.span, "without `model_name`");
        reading.problem(
            problem.help(format!("write the name of a role or `provider/model`: `{role}: openai/gpt-5-mini`")),
        );
        return None;
    };
    let unused: Vec<&str> =
        node.entries().unwrap_or(&[]).iter().filter(|it| !it.value.is_null()).map(|it| &*it.key).collect();
    let unused: Vec<&str> = unused.into_iter().filter(|it| !USED.contains(it)).collect();
    if !unused.is_empty() {
        let settings = jurat_format::problem::listed_all(unused);
        let message = format!("settings of the model of `{role}` are kept and not used: {settings}");
        let problem = Problem::new(&codes::UNUSED_SETTING, message).at(node.span, "a model of another program");
        reading.problem(problem.help("define a role under `models` with the settings you need, and name it here"));
    }
    let model = match said("model_provider").or(said("interface")) {
        Some(provider) => format!("{provider}/{name}"),
        None => name.to_owned(),
    };
    Some(Spanned::new(model, node.span))
}

fn state_update(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<StateUpdate> {
    let source = fields.given("state_update_source").and_then(|it| reading.text("`state_update_source`", it));
    let source = source.map(|it| StateUpdate::Callable(Callable::text(it.value)));
    let Some(node) = fields.given("state_update") else { return source };
    if let (Some(update), Some(source)) = (fields.key_span("state_update"), fields.key_span("state_update_source"))
        && fields.given("state_update_source").is_some()
    {
        let message = "a node has either `state_update` or `state_update_source`, not both";
        let problem = Problem::new(&codes::CONFLICT, message).at(source, "and this").at(update, "this");
        reading.problem(problem.help("keep `state_update`: a stored source is for display"));
    }
    if let Some(text) = node.as_str() {
        let problem = Problem::new(&codes::WRONG_TYPE, "`state_update` must be `{cel: …}`, not text");
        let problem = problem.at(node.span, "text is not run");
        reading.problem(problem.help(format!("write `state_update: {{cel: {}}}`", Val::from(text))));
        return None;
    }
    let fields = Fields::read(reading, &UPDATE, node)?;
    match when::expression(fields.get("cel")?, Expression::must_be_object) {
        Ok(expression) => Some(StateUpdate::Cel(expression)),
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_EXPRESSION, error.message).at(error.span, "here"));
            None
        }
    }
}

/// A question as it is written: text alone, or an object when there is more to it.
pub(super) fn write_question(question: &Question) -> Value {
    if question.stored.is_empty() {
        return Val::from(question.text.clone());
    }
    let own = [("question".to_owned(), Val::from(question.text.clone()))];
    Val::Map(own.into_iter().chain(question.stored.iter().map(|(key, it)| (key.to_owned(), it.clone()))).collect())
}
