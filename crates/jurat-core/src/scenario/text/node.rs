//! Nodes: what is asked in a turn, and everything that goes with it.

use jurat_compare::expression::Expression;
use jurat_format::codes;
use jurat_format::field::{self, Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value};

use super::ScenarioText;
use crate::prompt;
use crate::prompt::Prompt;
use crate::scenario::{Callable, Example, ModelOverride, Node as ScenarioNode, Question, StateUpdate, when};
use crate::section::lost::Part;
use crate::template::{self, Template, Trait, rubric};
use crate::tool::{ToolFilter, filter};

/// Where a node stands, and what it names elsewhere.
#[derive(Debug, Clone, Default)]
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

const DESCRIPTION: Field<String> = field::DESCRIPTION.or_null();
const ID: Field<Spanned<String>> = Field::optional("id", shape::TEXT, "its id, when nodes are a list").or(&["node_id"]);
const QUESTION: Field<Tree> = Field::required(
    "question",
    shape::tree(const { Form::Either(&[Form::Text, prompt::TEMPLATE_FORM, Form::Object(&STORED_QUESTION)]) }),
    "what is asked, or an object with `question` and `raw_answer`",
);
const RAW_ANSWER: Field<Tree> =
    Field::optional("raw_answer", shape::tree(prompt::FORM), "the right answer, in words").or_null();
const EXAMPLES: Field<Tree> = Field::optional("examples", shape::tree(const { Form::List(&Form::Object(&EXAMPLE)) }), "few-shot examples: questions and answers that are placed before this one; they may be templates as the question is")
.or(&["few_shot_examples"])
.or_null();
const TEMPLATE: Field<Named<Template>> = Field::optional(
    "template",
    TEMPLATE_SHAPE,
    "what is read from the answer and what it must be, or the name of an entry of `templates` or of a node",
)
.or_null();
const RUBRIC: Field<Named<Vec<Trait>>> = Field::optional(
    "rubric",
    RUBRIC_SHAPE,
    "the traits that its turns are rated by, or the name of an entry of `rubrics`",
)
.or_null()
.default_words("that of the scenario");
const MODELS: Field<Models> = Field::optional("models", MODELS_SHAPE, "the models for subject and parser at this node")
    .or(&["model_override"])
    .or_null()
    .default_words("those of the scenario");
const SYSTEM: Field<Tree> = Field::optional("system", shape::tree(prompt::FORM), "the system prompt of the subject")
    .or_null()
    .default_words("that of the scenario");
const TOOLS: Field<Vec<Spanned<String>>> = Field::optional(
    "tools",
    shape::TEXTS,
    "names under `tools` of the servers whose tools the subject may use at this node",
)
.or_null()
.default_words("those of the scenario");
const TOOL_FILTER: Field<(ToolFilter, Vec<Spanned<String>>)> =
    Field::optional("tool_filter", filter::SHAPE, "tools that the subject may not use at this node").or_null();
const STATE_UPDATE: Field<Tree> = Field::optional(
    "state_update",
    shape::tree(Form::Object(&UPDATE)),
    "how the accumulated state changes after a turn",
)
.or_null();
const STATE_UPDATE_SOURCE: Field<String> = Field::optional(
    "state_update_source",
    shape::STRING,
    "source text of code that changes the state; shown, never run",
)
.or_null();
const AGENT_IDENTITY: Field<Spanned<String>> =
    Field::optional("agent_identity", shape::TEXT, "the name of the subject in transcripts; not `__user__`").or_null();

static NODE: Object = Object {
    what: "a node",
    keys: &[
        ID.key,
        DESCRIPTION.key,
        QUESTION.key,
        RAW_ANSWER.key,
        EXAMPLES.key,
        TEMPLATE.key,
        RUBRIC.key,
        MODELS.key,
        SYSTEM.key,
        TOOLS.key,
        TOOL_FILTER.key,
        STATE_UPDATE.key,
        STATE_UPDATE_SOURCE.key,
        AGENT_IDENTITY.key,
        METADATA.key,
    ],
};

pub(crate) const FORM: Form = Form::Object(&NODE);

const TEXT: Field<Tree> = Field::required("question", shape::tree(prompt::FORM), "the question");
const KEYWORDS: Field<Value> = Field::optional("keywords", shape::VALUE, "keywords; stored and not used").or(&["tags"]);
const DATE_CREATED: Field<Value> =
    Field::optional("date_created", shape::VALUE, "when it was written; stored and not used");
const DATE_MODIFIED: Field<Value> =
    Field::optional("date_modified", shape::VALUE, "when it was changed; stored and not used");
const ANSWER_TEMPLATE: Field<Tree> =
    Field::optional("answer_template", shape::tree(Form::Any), "the source of a template class of Karenina; never run");
const ANSWER_NOTES: Field<Value> =
    Field::optional("answer_notes", shape::VALUE, "notes about the answer; stored and not used");
const AUTHOR: Field<Value> = Field::optional("author", shape::VALUE, "its author; stored and not used");
const SOURCES: Field<Value> = Field::optional("sources", shape::VALUE, "its sources; stored and not used");
const CUSTOM_METADATA: Field<Value> =
    Field::optional("custom_metadata", shape::VALUE, "any further values; stored and not used");
const QUESTION_RUBRIC: Field<Tree> =
    Field::optional("question_rubric", shape::tree(Form::Any), "a rubric of Karenina; stored and not used");
const QUESTION_DYNAMIC_RUBRIC: Field<Value> =
    Field::optional("question_dynamic_rubric", shape::VALUE, "a rubric of Karenina; stored and not used");
const WORKSPACE_PATH: Field<Value> =
    Field::optional("workspace_path", shape::VALUE, "a directory of Karenina; stored and not used");
const STORED_ID: Field<Value> = Field::optional("id", shape::VALUE, "the id that Karenina gives it").or_null();

static STORED_QUESTION: Object = Object {
    what: "a question",
    keys: &[
        TEXT.key,
        RAW_ANSWER.key,
        EXAMPLES.key,
        KEYWORDS.key,
        DATE_CREATED.key,
        DATE_MODIFIED.key,
        ANSWER_TEMPLATE.key,
        ANSWER_NOTES.key,
        AUTHOR.key,
        SOURCES.key,
        CUSTOM_METADATA.key,
        QUESTION_RUBRIC.key,
        QUESTION_DYNAMIC_RUBRIC.key,
        WORKSPACE_PATH.key,
        STORED_ID.key,
    ],
};

/// The keys of a question that have a place of their own.
const OWN: [Key; 4] = [TEXT.key, RAW_ANSWER.key, EXAMPLES.key, STORED_ID.key];

const EXAMPLE_QUESTION: Field<Tree> = Field::required("question", shape::tree(prompt::FORM), "the question");
const ANSWER: Field<Tree> = Field::required("answer", shape::tree(prompt::FORM), "the answer");

static EXAMPLE: Object = Object { what: "an example", keys: &[EXAMPLE_QUESTION.key, ANSWER.key] };

const SUBJECT: Field<Tree> =
    Field::optional("subject", shape::tree(Form::Any), "the model that answers: a role, or `provider/model`")
        .or(&["answering_model"])
        .default_words("the role `subject`")
        .or_null();
const PARSER: Field<Tree> = Field::optional(
    "parser",
    shape::tree(Form::Any),
    "the model that reads answers into templates: a role, or `provider/model`",
)
.or(&["parsing_model"])
.default_words("the role `parser`")
.or_null();

static MODEL_NAMES: Object = Object { what: "`models` of a scenario", keys: &[SUBJECT.key, PARSER.key] };

pub(crate) const MODELS_SHAPE: Shape<Models> = Shape::new(Form::Object(&MODEL_NAMES), read_models);

const CEL: Field<Tree> =
    Field::required("cel", shape::tree(Form::Text), "an expression that gives the new accumulated state");

static UPDATE: Object = Object { what: "`state_update`", keys: &[CEL.key] };

/// Reads the nodes of a scenario: an object of ids and nodes, or a list of nodes with ids.
pub(crate) fn read_all(reading: &mut Reading<'_>, node: &Node<'_>, text: &mut ScenarioText) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                read(reading, Some(Spanned::new(key.clone().into_owned(), *key_span)), value, text);
            }
        }
        Content::List(items) => items.iter().for_each(|item| read(reading, None, item, text)),
        Content::Scalar(_) => {
            reading.wrong_type("`nodes`", "an object of ids and nodes, or a list of nodes", node);
            text.lost.add(Part::Node, None);
        }
    }
}

fn read(reading: &mut Reading<'_>, key: Option<Spanned<String>>, node: &Node<'_>, text: &mut ScenarioText) {
    let n_before = reading.n_errors();
    let Some(fields) = NODE.fields(reading, node) else {
        lose(text, key);
        return;
    };
    let id = fields.own_id(reading, key, &ID, "node", "edges and conditions call it by its id");
    let question = question(reading, &fields, text);
    let rest = rest(reading, &fields, text);
    let (Some(id), Some((question, question_span))) = (id.clone(), question) else {
        lose(text, id);
        return;
    };
    let Rest { mut node, template, rubric, agent_identity, state_update } = rest;
    // A template class is used when its fields can be read without running it.
    if node.template.is_none() && template.is_none() && fields.key_span(&TEMPLATE).is_none() {
        let source = question.stored.get(ANSWER_TEMPLATE.key.name).and_then(Val::as_str);
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
    text.lost.add(Part::Node, id.map(|it| it.value));
}

/// What to do about a placeholder in what a node says.
const UNFILLED: &str = "write the value itself, or let the scenario be `over: records`, so that rows fill it; `${state.…}` is what is known from earlier turns";

/// What a node says: the text as it is written, and the same with its placeholders where cases fill them. Rows fill all of them; without rows, those of
/// the state are there for all texts that have one.
pub(crate) fn words(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Node<'_>,
    text: &mut ScenarioText,
) -> Option<(String, Option<Prompt>)> {
    if let Some(written) = node.as_str() {
        let reads_state = |it: &Prompt| it.holes().iter().any(|it| it.path.root() == Some("state"));
        if !text.scenario.over_records && !reads_state(&Prompt::parse(written)) {
            prompt::unfilled(reading, node, UNFILLED);
            return Some((written.to_owned(), None));
        }
    } else if node.entries().is_none() {
        reading.wrong_type(what, "text, `{jinja: …}` or `{file: …}`", node);
        return None;
    }
    let filled = prompt::filled(reading, what, node)?;
    text.reads.extend(filled.reads);
    let written = filled.prompt.text().to_owned();
    let is_filled = filled.prompt.is_template() || !filled.prompt.holes().is_empty();
    Some((written, is_filled.then_some(filled.prompt)))
}

/// What a node asks, and where that stands.
fn question(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, text: &mut ScenarioText) -> Option<(Question, Span)> {
    let node = fields.node(&QUESTION)?;
    let raw_answer = fields.node(&RAW_ANSWER).map(|it| words(reading, &RAW_ANSWER.quoted(), it, text));
    let examples = fields.node(&EXAMPLES).map(|it| examples(reading, it, text));
    let mut question = match &node.content {
        Content::Map(_) if !prompt::is_prompt(node) => {
            let inside = STORED_QUESTION.fields(reading, node)?;
            stored_question(reading, &inside, text)?
        }
        _ => {
            let (text, prompt) = words(reading, &QUESTION.quoted(), node, text)?;
            Question { text, prompt, ..Question::default() }
        }
    };
    if let Some(answer) = raw_answer {
        (question.raw_answer, question.answer_prompt) = answer.map_or((None, None), |it| (Some(it.0), it.1));
    }
    question.examples.extend(examples.unwrap_or_default());
    Some((question, node.span))
}

fn stored_question(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    scenario: &mut ScenarioText,
) -> Option<Question> {
    let text = fields.node(&TEXT).and_then(|it| words(reading, &TEXT.quoted(), it, scenario));
    let raw_answer = fields.node(&RAW_ANSWER).and_then(|it| words(reading, &RAW_ANSWER.quoted(), it, scenario));
    let (raw_answer, answer_prompt) = raw_answer.map_or((None, None), |it| (Some(it.0), it.1));
    let examples = fields.node(&EXAMPLES).map(|it| examples(reading, it, scenario)).unwrap_or_default();
    let (text, prompt) = text?;
    let mut stored: Map<'static> = Map::default();
    for key in STORED_QUESTION.keys.iter().filter(|it| OWN.iter().all(|own| own.name != it.name)) {
        if let Some(value) = fields.node(&key.or_null()).map(|it| it.to_val().into_owned())
            && value != Val::List(Vec::new())
        {
            stored.insert(key.name.into(), value);
        }
    }
    if let Some(id) = fields.read(reading, &STORED_ID) {
        stored.insert(STORED_ID.name().into(), id);
    }
    Some(Question { text, raw_answer, prompt, answer_prompt, examples, stored })
}

fn examples(reading: &mut Reading<'_>, node: &Node<'_>, text: &mut ScenarioText) -> Vec<Example> {
    let items = reading.list(&EXAMPLES.quoted(), "a list of questions and answers", node);
    let mut examples = Vec::new();
    for item in items {
        let Some(fields) = EXAMPLE.fields(reading, item) else { continue };
        let mut said = |key: &Field<Tree>| fields.node(key).and_then(|it| words(reading, &key.quoted(), it, text));
        let (asked, answered) = (said(&EXAMPLE_QUESTION), said(&ANSWER));
        examples.extend(asked.zip(answered).map(|((question, question_prompt), (answer, answer_prompt))| Example {
            question,
            answer,
            question_prompt,
            answer_prompt,
        }));
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
    node.description = fields.read(reading, &DESCRIPTION);
    let mut names = (None, None);
    match fields.read(reading, &TEMPLATE) {
        Some(Named::Name(name)) => names.0 = Some(name),
        Some(Named::Inline(template)) => node.template = Some(template),
        None => {}
    }
    match fields.read(reading, &RUBRIC) {
        Some(Named::Name(name)) => names.1 = Some(name),
        Some(Named::Inline(traits)) => node.rubric = Some(traits),
        None => {}
    }
    let stored_rubric =
        fields.node(&QUESTION).and_then(|it| it.get(QUESTION_RUBRIC.key.name)).filter(|it| !it.is_null());
    if fields.node(&RUBRIC).is_none()
        && let Some(it) = stored_rubric
    {
        node.rubric = rubric::read(reading, &QUESTION_RUBRIC.quoted(), it);
    }
    let system = fields.node(&SYSTEM).and_then(|it| words(reading, &SYSTEM.quoted(), it, text));
    (node.system, node.system_prompt) = system.map_or((None, None), |it| (Some(it.0), it.1));
    if let Some(read) = fields.read(reading, &MODELS) {
        text.models.extend(read.names);
        node.models = read.models;
        node.system = node.system.take().or(read.system);
        node.stored = read.stored;
    }
    if let Some(tools) = fields.read(reading, &TOOLS) {
        node.tools = Some(tools.iter().map(|it| it.value.clone()).collect());
        text.tools.extend(tools);
    }
    let (tool_filter, filtered) = fields.read(reading, &TOOL_FILTER).unwrap_or_default();
    node.tool_filter = tool_filter;
    text.filtered.extend(filtered);
    node.state_update = state_update(reading, fields);
    let identity = fields.read(reading, &AGENT_IDENTITY);
    let agent_identity = identity.as_ref().map(|it| it.span);
    node.agent_identity = identity.map(|it| it.value);
    node.metadata = fields.read(reading, &METADATA).unwrap_or_default();
    let state_update = fields.key_span(&STATE_UPDATE_SOURCE).or(fields.key_span(&STATE_UPDATE));
    Rest { node, template: names.0, rubric: names.1, agent_identity, state_update }
}

/// Something that stands here, or the name of something that stands elsewhere.
pub(crate) enum Named<T> {
    Name(Spanned<String>),
    Inline(T),
}

impl<T> Named<T> {
    fn read(
        reading: &mut Reading<'_>,
        what: &str,
        node: &Node<'_>,
        inline: fn(&mut Reading<'_>, &str, &Node<'_>) -> Option<T>,
    ) -> Option<Named<T>> {
        match node.as_str() {
            Some(name) => Some(Named::Name(Spanned::new(name.to_owned(), node.span))),
            None => inline(reading, what, node).map(Named::Inline),
        }
    }
}

const TEMPLATE_SHAPE: Shape<Named<Template>> =
    Shape::new(const { Form::Either(&[Form::Text, template::FORM]) }, |reading, what, node| {
        Named::read(reading, what, node, template::read)
    });

pub(crate) const RUBRIC_SHAPE: Shape<Named<Vec<Trait>>> =
    Shape::new(const { Form::Either(&[Form::Text, rubric::FORM]) }, |reading, what, node| {
        Named::read(reading, what, node, rubric::read)
    });

/// Models that a scenario or a node names.
#[derive(Default)]
pub(crate) struct Models {
    pub(crate) models: ModelOverride,
    /// The names with their places.
    pub(crate) names: Vec<Spanned<String>>,
    /// The system message of the subject, which other programs store with the model.
    pub(crate) system: Option<String>,
    /// What else they store.
    pub(crate) stored: Map<'static>,
}

fn read_models(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Models> {
    let mut read = Models::default();
    let fields = MODEL_NAMES.fields(reading, node)?;
    for (key, stored_name) in [(SUBJECT, "answering_model"), (PARSER, "parsing_model")] {
        let Some(node) = fields.node(&key) else { continue };
        let is_subject = key.name() == SUBJECT.name();
        let model = match node.entries() {
            Some(_) => stored_model(reading, key.name(), node),
            None => reading.text(&key.quoted(), node),
        };
        if node.entries().is_some() {
            read.stored.insert(stored_name.into(), node.to_val().into_owned());
            let system = node.get("system_prompt").and_then(Node::as_str).map(str::to_owned);
            read.system = read.system.take().or(system.filter(|it| is_subject && !it.is_empty()));
        }
        let place = if is_subject { &mut read.models.subject } else { &mut read.models.parser };
        *place = model.as_ref().map(|it| it.value.clone());
        read.names.extend(model);
    }
    Some(read)
}

/// The keys of a stored model that jurat uses, and those that only say what the others say.
const USED: [&str; 5] = ["id", "model_provider", "model_name", "interface", "system_prompt"];

/// `provider/model` of a model that another program stored.
fn stored_model(reading: &mut Reading<'_>, role: &str, node: &Node<'_>) -> Option<Spanned<String>> {
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
        let message = format!("settings of the model of `{role}` are stored and not used: {settings}");
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
    let source = fields.read(reading, &STATE_UPDATE_SOURCE);
    let source = source.map(|it| StateUpdate::Callable(Callable::text(it)));
    let Some(node) = fields.node(&STATE_UPDATE) else { return source };
    if let (Some(update), Some(source)) = (fields.key_span(&STATE_UPDATE), fields.key_span(&STATE_UPDATE_SOURCE))
        && fields.node(&STATE_UPDATE_SOURCE).is_some()
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
    let fields = UPDATE.fields(reading, node)?;
    match when::expression(fields.node(&CEL)?, Expression::must_be_object) {
        Ok(expression) => Some(StateUpdate::Cel(expression)),
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_EXPRESSION, error.message).at(error.span, "here"));
            None
        }
    }
}
