//! The `judge` of a task: which model is asked, what, and what it must answer.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::source::ReadError;
use jurat_format::value::{Node, Span, Spanned, Val, shown_within};

use crate::foreign;
use crate::judge::Aggregate;
use crate::output::{self, Output};
use crate::prompt::Prompt;
use crate::text_file;

/// A model asked to judge.
#[derive(Debug, Clone)]
pub struct Judge {
    /// A role under `models`, or `provider/model`. The role `judge` when absent.
    pub model: Option<Spanned<String>>,
    pub system: Option<PromptText>,
    pub prompt: PromptText,
    /// What it must answer; any text when absent.
    pub output: Option<Output>,
    /// How many more requests one judgement may take.
    pub max_retries: u32,
    /// Several models, each asked; their answers are aggregated.
    pub panel: Vec<Spanned<String>>,
    /// How often each is asked.
    pub repeat: u32,
    /// How several answers become one.
    pub aggregate: Aggregate,
}

/// A prompt and where it stands.
#[derive(Debug, Clone)]
pub struct PromptText {
    pub prompt: Prompt,
    /// The place of its text, in the definition or in a file of its own.
    pub span: Span,
    /// The places of its holes.
    pub holes: Vec<Span>,
    /// The file as it was written, when it is in one.
    pub file: Option<String>,
}

/// A text that may stand in a file of its own, and the name of that file.
pub(super) const TEXT_OR_FILE: Shape<(Spanned<String>, Option<String>)> = Shape::new(FORM, text_or_file);

/// A prompt: text, or a file that holds it.
pub(super) const SHAPE: Shape<PromptText> = Shape::new(FORM, prompt);

pub(super) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&PROMPT_FILE)]);

const FILE: Field<Spanned<String>> =
    Field::required("file", shape::TEXT, "the file that holds the text, relative to the file that names it");

static PROMPT_FILE: Object = Object { what: "a text in a file", keys: &[FILE.key] };

const MODEL: Field<Spanned<String>> =
    Field::optional("model", shape::TEXT, "the model that is asked: a role under `models`, or `provider/model`")
        .default_words("the role `judge`");
const SYSTEM: Field<PromptText> =
    Field::optional("system", SHAPE, "the system prompt; `${path}` is replaced by a value of the context");
const PROMPT: Field<PromptText> =
    Field::required("prompt", SHAPE, "what the judge is asked; `${path}` is replaced by a value of the context");
const OUTPUT: Field<Output> =
    Field::optional("output", output::SHAPE, "what the reply must be: fields in short form, or a JSON Schema")
        .default_words("any text");
const MAX_RETRIES: Defaulted<u32> = Field::optional(
    "max_retries",
    shape::count::<0>(),
    "retries per judgement, after an error that may pass or a reply that does not fit `output`",
)
.default(3);
const PANEL: Field<Vec<Spanned<String>>> =
    Field::optional("panel", shape::TEXTS, "several models, each of which is asked, in place of `model`");
const REPEAT: Defaulted<u32> =
    Field::optional("repeat", shape::count::<1>(), "number of times each model is asked").default(1);
const AGGREGATE: Defaulted<Aggregate> =
    Field::optional("aggregate", shape::choice(), "how several replies become one result").default_choice("majority");

static JUDGE: Object = Object {
    what: "a judge",
    keys: &[MODEL.key, SYSTEM.key, PROMPT.key, OUTPUT.key, MAX_RETRIES.key, PANEL.key, REPEAT.key, AGGREGATE.key],
};

pub(super) const JUDGE_SHAPE: Shape<Judge> = Shape::new(Form::Object(&JUDGE), read);

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Judge> {
    let fields = JUDGE.fields(reading, node)?;
    let system = fields.read(reading, &SYSTEM);
    let prompt = fields.read(reading, &PROMPT);
    let output = fields.read(reading, &OUTPUT);
    let (max_retries, repeat) = (fields.value(reading, &MAX_RETRIES), fields.value(reading, &REPEAT));
    let model = fields.read(reading, &MODEL);
    let panel = fields.read(reading, &PANEL).unwrap_or_default();
    let aggregate = fields.value(reading, &AGGREGATE);
    Some(Judge { model, system, prompt: prompt?, output, max_retries, panel, repeat, aggregate })
}

/// Reads a prompt: text, or a file that holds it.
fn prompt(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<PromptText> {
    let (text, file) = text_or_file(reading, what, node)?;
    let prompt = Prompt::parse(text.value);
    let literals = reading.places(text.span, prompt.literals().iter().map(|it| &prompt.text()[it.clone()]));
    for (literal, place) in prompt.literals().iter().zip(literals) {
        let written = shown_within(&Val::from(&prompt.text()[literal.clone()]), 40);
        let problem =
            Problem::new(&codes::LITERAL_PLACEHOLDER, format!("{written} is not a path, so it is sent as it is"));
        let problem = problem.at(place, "sent as text");
        reading.problem(problem.help("a placeholder is `${name}` or `${name.path}`, without spaces"));
    }
    foreign_placeholders(reading, &prompt, text.span);
    let holes = reading.places(text.span, prompt.holes().iter().map(|it| &prompt.text()[it.range.clone()]));
    Some(PromptText { prompt, span: text.span, holes, file })
}

/// Notes placeholders in a text that is sent as it is.
pub(super) fn unfilled(reading: &mut Reading<'_>, node: &Node<'_>, remedy: &str) {
    let Some(text) = node.as_str() else { return };
    let prompt = Prompt::parse(text);
    let mut found: Vec<Range<usize>> = prompt.holes().iter().map(|it| it.range.clone()).collect();
    found.extend(foreign::placeholders(text));
    found.sort_unstable_by_key(|it| it.start);
    found.truncate(MOST_PLACEHOLDERS);
    let places = reading.places(node.span, found.iter().map(|it| &text[it.clone()]));
    for (found, place) in found.into_iter().zip(places) {
        let message = format!("nothing fills `{}` here, so it is sent as it is", &text[found]);
        let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, message).at(place, "sent as text");
        reading.problem(problem.help(remedy));
    }
}

/// How many placeholders of one text are noted that nothing fills: one who wrote one wrote others in the same way.
const MOST_PLACEHOLDERS: usize = 3;

/// Notes every `{{name}}`, which other tools fill in and this one sends as it is.
fn foreign_placeholders(reading: &mut Reading<'_>, prompt: &Prompt, span: Span) {
    let text = prompt.text();
    let found: Vec<&str> = foreign::placeholders(text).take(MOST_PLACEHOLDERS).map(|it| &text[it]).collect();
    let places = reading.places(span, found.iter().copied());
    for (written, place) in found.into_iter().zip(places) {
        let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, format!("`{written}` is sent as it is"));
        let name = written.trim_matches(['{', '}', ' ']);
        reading.problem(problem.at(place, "sent as text").help(format!("a placeholder is written `${{{name}}}` here")));
    }
}

/// The name of a file where its text was meant: one word that names a file which is there.
fn path_for_text(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Problem> {
    const LONGEST: usize = 200;
    let name = node.as_str()?;
    let stem = name.rsplit_once('.').filter(|(stem, extension)| !stem.is_empty() && (1..=6).contains(&extension.len()));
    if stem.is_none() || name.len() > LONGEST || name.contains(|it: char| it.is_whitespace() || "${}\0".contains(it)) {
        return None;
    }
    let path = reading.beside(node.span, name);
    // A file that is too large to read is one, too.
    let is_there =
        !matches!(reading.files.read(&path, text_file::MAX_BYTES), Err(ReadError::NotFound | ReadError::Other(_)));
    is_there.then(|| {
        let message = format!("{what} is the text `{name}`, not what the file of that name holds");
        let problem = Problem::new(&codes::PATH_FOR_TEXT, message).at(node.span, "sent as text");
        problem.help(format!("write `{}: {{ file: {name} }}`", what.trim_matches('`')))
    })
}

/// Reads a text that may stand in a file of its own, and the name of that file.
fn text_or_file(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(Spanned<String>, Option<String>)> {
    if node.entries().is_some() {
        let fields = PROMPT_FILE.fields(reading, node)?;
        let file = fields.read(reading, &FILE)?;
        return Some((file_text(reading, &file)?, Some(file.value)));
    }
    let Some(text) = node.as_str() else {
        reading.wrong_type(what, "text, or `{file: …}`", node);
        return None;
    };
    if let Some(problem) = path_for_text(reading, what, node) {
        reading.problem(problem);
        return None;
    }
    Some((Spanned::new(text.to_owned(), node.span), None))
}

/// The text of a file beside the definition; it becomes a source of its own, so that problems can point into it.
fn file_text(reading: &mut Reading<'_>, file: &Spanned<String>) -> Option<Spanned<String>> {
    let path = reading.beside(file.span, &file.value);
    let text = text_file::read(reading, &path, Some(file.span))?;
    let length = text.len();
    let id = reading.sources.add(path, text.clone());
    Some(Spanned::new(text, Span::new(id, 0..length)))
}
