//! A judge that suites use by name or from a file: what it takes of a case, what it asks step by step, and what it concludes.
//!
//! Its prompts see the inputs that it declares and the replies of earlier steps, and nothing else of the case, so that it fits cases of any shape.

use std::path::Path;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, Problems, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::source::{Files, ReadError, Sources};
use jurat_format::value::{FieldPath, Kind, Map, Node, Span, Spanned, Val, Value};
use jurat_format::yaml::read_tree;

use super::Ready;
use super::definition::{OUTPUT, SYSTEM};
use crate::comparison::{self, TaskComparison};
use crate::output::Output;
use crate::prompt::SHAPE as PROMPT_SHAPE;
use crate::prompt::text::PromptText;

/// A judge file.
#[derive(Debug, Clone)]
pub struct JudgeFile {
    pub name: Spanned<String>,
    pub description: String,
    /// What it is for and how it judges, in Markdown.
    pub about: String,
    /// Papers and facts that it rests on.
    pub sources: Vec<String>,
    /// What it takes of a case.
    pub inputs: Vec<JudgeInput>,
    pub steps: Vec<JudgeStep>,
    /// What it adds to the last reply, by name.
    pub conclusions: Vec<(String, Arc<Expression>)>,
    /// What a task compares that says nothing else.
    pub passes: Option<TaskComparison>,
    /// What it answers in the end: the last reply, and what is concluded.
    pub output: Output,
}

/// Something that a judge takes of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeInput {
    pub name: String,
    pub about: String,
    /// What it must be; anything when absent.
    pub kind: Option<InputKind>,
    /// Where it is looked for when `with` does not say, in order.
    pub from: Vec<FieldPath>,
    /// What stands for it when it is not there.
    pub default: Option<Value>,
}

choices! {
    /// What an input must be.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum InputKind {
        /// A text.
        Text = "text",
        /// A list.
        List = "list",
        /// An object.
        Object = "object",
    }
}

impl InputKind {
    /// Whether a value is of this kind.
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            InputKind::Text => kind == Kind::Text,
            InputKind::List => kind == Kind::List,
            InputKind::Object => kind == Kind::Object,
        }
    }
}

/// One question of a judge.
#[derive(Debug, Clone)]
pub struct JudgeStep {
    /// The name of its reply in later prompts and in expressions.
    pub id: String,
    pub system: Option<PromptText>,
    pub prompt: PromptText,
    pub output: Output,
    /// Whether it is asked; its reply is null where it is not.
    pub when: Option<Arc<Expression>>,
    /// What must hold of a reply beside its schema, and the message to the judge when it does not.
    pub valid: Option<(Arc<Expression>, String)>,
}

/// The name of the reply of a judge with one question.
const REPLY: &str = "reply";

const NAME: Field<Spanned<String>> = Field::required("judge", shape::TEXT, "its name");
const DESCRIPTION: Field<String> = Field::required("description", shape::STRING, "what it judges, in one line");
const ABOUT: Field<String> =
    Field::optional("about", shape::STRING, "the purpose of the judge and how it judges, in Markdown");
const SOURCES: Field<Vec<String>> = Field::optional("sources", shape::STRINGS, "papers and facts that it rests on");
const INPUTS: Field<Vec<JudgeInput>> = Field::required(
    "inputs",
    Shape::new(const { Form::Map(&Form::Object(&INPUT)) }, read_inputs),
    "what it takes of a case, by name; prompts and expressions see these and nothing else",
);
const PROMPT: Field<PromptText> =
    Field::optional("prompt", PROMPT_SHAPE, "what is asked, where one question is enough; `${name}` is an input");
const STEPS: Field<Vec<JudgeStep>> = Field::optional(
    "steps",
    Shape::new(const { Form::List(&Form::Object(&STEP)) }, read_steps),
    "several questions, one after the other, in place of `prompt` and `output`",
);
const CONCLUDE: Field<Vec<(String, Arc<Expression>)>> = Field::optional(
    "conclude",
    Shape::new(const { Form::Map(&Form::Object(&CEL)) }, read_conclusions),
    "values that are computed from inputs and replies, and added to the last reply: name → `{cel: …}`",
);
const PASSES: Field<TaskComparison> = Field::optional(
    "passes",
    Shape::new(Form::Object(&COMPARISON), read_passes),
    "the comparison of tasks that have none of their own: `field_path`, `operator` and `expected_value`",
);

/// The keys of a judge file.
pub static JUDGE_FILE: Object = Object {
    what: "a judge file",
    keys: &[
        NAME.key,
        DESCRIPTION.key,
        ABOUT.key,
        SOURCES.key,
        INPUTS.key,
        SYSTEM.key,
        PROMPT.key,
        OUTPUT.key,
        STEPS.key,
        CONCLUDE.key,
        PASSES.key,
    ],
};

static COMPARISON: Object = Object { what: "`passes`", keys: &comparison::KEYS };

const INPUT_ABOUT: Field<String> = Field::required("about", shape::STRING, "what it is");
const FROM: Field<Vec<Spanned<String>>> =
    Field::optional("from", shape::TEXTS, "paths where it is looked for when `with` does not say")
        .default_words("the key with its name");
const TYPE: Field<InputKind> = Field::optional("type", shape::choice(), "what it must be").default_words("anything");
const DEFAULT: Field<Value> = Field::optional("default", shape::VALUE, "the default for cases that do not have it");

/// The keys of an input.
pub static INPUT: Object = Object { what: "an input", keys: &[INPUT_ABOUT.key, TYPE.key, FROM.key, DEFAULT.key] };

const STEP_ID: Field<Spanned<String>> =
    Field::required("id", shape::ID, "the name of its reply in later prompts and expressions");
const STEP_PROMPT: Field<PromptText> =
    Field::required("prompt", PROMPT_SHAPE, "what is asked; `${name}` is an input or an earlier reply");
const STEP_OUTPUT: Field<Output> =
    Field::required("output", crate::output::SHAPE, "what the reply must be: fields in short form, or a JSON Schema");
const WHEN: Field<Arc<Expression>> = Field::optional(
    "when",
    Shape::new(Form::Object(&CEL), read_condition),
    "whether it is asked, as `{cel: …}`; its reply is null where it is not",
);
const VALID: Field<(Arc<Expression>, String)> = Field::optional(
    "valid",
    Shape::new(Form::Object(&VALID_OBJECT), read_valid),
    "a condition on the reply in addition to its schema; a reply that does not meet it is requested again",
);

/// The keys of a step.
pub static STEP: Object = Object {
    what: "a step of a judge",
    keys: &[STEP_ID.key, SYSTEM.key, STEP_PROMPT.key, STEP_OUTPUT.key, WHEN.key, VALID.key],
};

const SOURCE: Field<Spanned<String>> =
    Field::required("cel", shape::TEXT, "an expression over inputs and replies by their names");
const SAY: Field<String> = Field::required("say", shape::STRING, "the message to the judge when it does not hold");

static CEL: Object = Object { what: "an expression", keys: &[SOURCE.key] };
static VALID_OBJECT: Object = Object { what: "`valid`", keys: &[SOURCE.key, SAY.key] };

impl JudgeFile {
    /// The definition of a judge that comes with the program.
    ///
    /// ```
    /// use jurat_core::judge::READY;
    /// use jurat_core::suite::JudgeFile;
    ///
    /// let judge = JudgeFile::ready(&READY[0]).expect("ready judges can be read");
    /// assert_eq!(judge.name.value, READY[0].name);
    /// ```
    pub fn ready(ready: &Ready) -> Result<JudgeFile, Vec<Problem>> {
        let mut reading = Reading { problems: Problems::default(), sources: Sources::default(), files: &NoFiles };
        let file = of_ready(&mut reading, ready);
        file.ok_or_else(|| reading.problems.into_vec())
    }

    /// The names that its prompts and expressions know.
    fn names(&self) -> Vec<&str> {
        let replies = self.steps.iter().map(|it| it.id.as_str());
        self.inputs.iter().map(|it| it.name.as_str()).chain(replies).collect()
    }
}

/// A ready judge names no other file.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

/// The definition of a judge that comes with the program. A recorded suite has the text that it was run with.
pub(crate) fn of_ready(reading: &mut Reading<'_>, ready: &Ready) -> Option<JudgeFile> {
    let path = ready.path();
    let recorded = reading.files.recorded(Path::new(&path)).and_then(|it| String::from_utf8(it).ok());
    of_text(reading, &path, recorded.unwrap_or_else(|| ready.definition.to_owned()))
}

/// The definition that the text of a file holds.
pub(crate) fn of_text(reading: &mut Reading<'_>, path: impl AsRef<Path>, text: String) -> Option<JudgeFile> {
    let source = reading.sources.add(path.as_ref(), text.clone());
    let mut problems = Vec::new();
    let node = read_tree(&text, source, false, &mut problems);
    reading.problems.extend(problems);
    read(reading, &node?)
}

fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<JudgeFile> {
    let n_before = reading.n_errors();
    let fields = JUDGE_FILE.fields(reading, node)?;
    let name = fields.read(reading, &NAME);
    let description = fields.read(reading, &DESCRIPTION);
    let about = fields.read(reading, &ABOUT).unwrap_or_default();
    let sources = fields.read(reading, &SOURCES).unwrap_or_default();
    let inputs = fields.read(reading, &INPUTS);
    let steps = steps(reading, &fields);
    let conclusions = fields.read(reading, &CONCLUDE).unwrap_or_default();
    let passes = fields.read(reading, &PASSES);
    let (steps, inputs) = (steps?, inputs?);
    let output = answered(steps.last()?, &conclusions);
    let file = JudgeFile {
        name: name?,
        description: description?,
        about,
        sources,
        inputs,
        steps,
        conclusions,
        passes,
        output,
    };
    check_names(reading, &file, &fields);
    (reading.n_errors() == n_before).then_some(file)
}

/// The questions: several, or the one that `prompt` and `output` are.
fn steps(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Vec<JudgeStep>> {
    let (system, prompt) = (fields.read(reading, &SYSTEM), fields.read(reading, &PROMPT));
    let (output, steps) = (fields.read(reading, &OUTPUT), fields.read(reading, &STEPS));
    if let (Some(steps), Some(prompt)) = (fields.key_span(&STEPS), fields.key_span(&PROMPT)) {
        let problem = Problem::new(&codes::CONFLICT, "a judge has either `prompt` or `steps`").at(steps, "and this");
        reading.problem(problem.at(prompt, "this").help("make the prompt the first step"));
        return None;
    }
    if fields.key_span(&STEPS).is_some() {
        return steps.filter(|it| !it.is_empty());
    }
    for key in [&PROMPT.key, &OUTPUT.key] {
        if fields.key_span(key).is_none() {
            reading.problem(fields.missing(key));
        }
    }
    Some(vec![JudgeStep { id: REPLY.to_owned(), system, prompt: prompt?, output: output?, when: None, valid: None }])
}

fn read_passes(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<TaskComparison> {
    let fields = COMPARISON.fields(reading, node)?;
    comparison::read(reading, &fields)
}

fn read_steps(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<JudgeStep>> {
    let items = reading.list(what, "a list of steps", node);
    let steps: Vec<Option<JudgeStep>> = items.iter().map(|it| read_step(reading, it)).collect();
    if items.is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, "`steps` without a step").at(node.span, "nothing is asked");
        reading.problem(problem.help("a step has `id`, `prompt` and `output`"));
    }
    steps.into_iter().collect()
}

fn read_step(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<JudgeStep> {
    let fields = STEP.fields(reading, node)?;
    let id = fields.read(reading, &STEP_ID);
    let (system, prompt) = (fields.read(reading, &SYSTEM), fields.read(reading, &STEP_PROMPT));
    let (output, when) = (fields.read(reading, &STEP_OUTPUT), fields.read(reading, &WHEN));
    let valid = fields.read(reading, &VALID);
    Some(JudgeStep { id: id?.value, system, prompt: prompt?, output: output?, when, valid })
}

fn read_inputs(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<JudgeInput>> {
    let Some(entries) = node.entries().filter(|it| !it.is_empty()) else {
        reading.wrong_type(what, "an object of names", node);
        return None;
    };
    entries.iter().map(|it| read_input(reading, &it.key, it.key_span, &it.value)).collect()
}

fn read_input(reading: &mut Reading<'_>, name: &str, span: Span, node: &Node<'_>) -> Option<JudgeInput> {
    let fields = INPUT.fields(reading, node)?;
    let about = fields.read(reading, &INPUT_ABOUT)?;
    let kind = fields.read(reading, &TYPE);
    let default = fields.read(reading, &DEFAULT);
    let written = fields.read(reading, &FROM).unwrap_or_else(|| vec![Spanned::new(name.to_owned(), span)]);
    let path = |it: &Spanned<String>| match FieldPath::parse(&it.value) {
        Ok(path) => Some(path),
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_PATH, error.message).at(it.span, "here"));
            None
        }
    };
    let from: Option<Vec<FieldPath>> = written.iter().map(path).collect();
    Some(JudgeInput { name: name.to_owned(), about, kind, from: from?, default })
}

fn read_conclusions(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, Arc<Expression>)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of names and expressions", node);
        return None;
    };
    let conclusion = |it: &jurat_format::value::Entry<'_>| {
        let fields = CEL.fields(reading, &it.value)?;
        Some((it.key.clone().into_owned(), expression(reading, &fields, Ok)?))
    };
    entries.iter().map(conclusion).collect()
}

fn read_condition(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Arc<Expression>> {
    let fields = CEL.fields(reading, node)?;
    expression(reading, &fields, Expression::must_be_boolean)
}

fn read_valid(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<(Arc<Expression>, String)> {
    let fields = VALID_OBJECT.fields(reading, node)?;
    let say = fields.read(reading, &SAY);
    Some((expression(reading, &fields, Expression::must_be_boolean)?, say?))
}

type Check = fn(Expression) -> Result<Expression, jurat_compare::expression::ExpressionError>;

fn expression(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, check: Check) -> Option<Arc<Expression>> {
    let source = fields.read(reading, &SOURCE)?;
    match Expression::compile(&source.value).and_then(check) {
        Ok(expression) => Some(Arc::new(expression)),
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_EXPRESSION, error.to_string()).at(source.span, "here"));
            None
        }
    }
}

/// What it answers in the end, as a schema: the last reply with what is concluded in it, of which only the names are known.
fn answered(last: &JudgeStep, conclusions: &[(String, Arc<Expression>)]) -> Output {
    let mut output = last.output.clone();
    if conclusions.is_empty() {
        return output;
    }
    let names: Vec<&str> = conclusions.iter().map(|it| it.0.as_str()).collect();
    let own = output.schema.get("properties").and_then(Val::as_map).cloned().unwrap_or_default();
    let own_members =
        own.iter().filter(|(name, _)| !names.contains(name)).map(|(name, it)| (name.to_owned(), it.clone()));
    let added = names.iter().map(|it| ((*it).to_owned(), Val::Map(Map::default())));
    let properties: Map<'static> = own_members.chain(added).collect();
    let required: Value = properties.keys().map(|it| Val::from(it.to_owned())).collect();
    let members = [("type", Val::from("object")), ("properties", Val::Map(properties)), ("required", required)];
    output.schema = Val::Map(members.into_iter().collect());
    output
}

/// Prompts and expressions read inputs and replies of earlier steps, and names are there once.
fn check_names(reading: &mut Reading<'_>, file: &JudgeFile, fields: &Fields<'_, '_>) {
    let n_inputs = file.inputs.len();
    let names = file.names();
    if let Some(again) = (1..names.len()).find(|it| names[..*it].contains(&names[*it])) {
        let message = format!("two inputs or steps are called `{}`", names[again]);
        let at = fields.key_span(&STEPS).unwrap_or(fields.span);
        reading.problem(Problem::new(&codes::CONFLICT, message).at(at, "in these"));
    }
    for (ix, step) in file.steps.iter().enumerate() {
        for prompt in step.system.iter().chain([&step.prompt]) {
            unknown_placeholders(reading, prompt, &names[..n_inputs + ix]);
        }
        unknown_names(reading, step.when.as_ref(), &names[..n_inputs + ix], step.prompt.span);
        unknown_names(reading, step.valid.as_ref().map(|it| &it.0), &names[..=n_inputs + ix], step.prompt.span);
    }
    let at = fields.key_span(&CONCLUDE).unwrap_or(fields.span);
    file.conclusions.iter().for_each(|(_, it)| unknown_names(reading, Some(it), &names, at));
}

fn unknown_placeholders(reading: &mut Reading<'_>, prompt: &PromptText, known: &[&str]) {
    for (nth, hole) in prompt.prompt.holes().iter().enumerate() {
        let root = hole.path.root().unwrap_or_default();
        if !known.contains(&root) {
            let message = format!("`${{{}}}` is neither an input nor an earlier step", hole.path);
            let at = prompt.reads.get(nth).map_or(prompt.span, |it| it.span);
            let problem = Problem::new(&codes::UNKNOWN_PARAMETER, message).at(at, "unknown name");
            reading.problem(problem.help(format!("there are {}", listed(known.iter().copied()))));
        }
    }
}

fn unknown_names(reading: &mut Reading<'_>, expression: Option<&Arc<Expression>>, known: &[&str], at: Span) {
    let Some(expression) = expression else { return };
    if let Some(name) = expression.names().iter().find(|it| !known.contains(&it.as_str())) {
        let message = format!("`{}` reads `{name}`, which is neither an input nor a step", expression.source());
        let problem = Problem::new(&codes::BAD_EXPRESSION, message).at(at, "here");
        reading.problem(problem.help(format!("there are {}", listed(known.iter().copied()))));
    }
}
