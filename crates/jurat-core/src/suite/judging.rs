//! The `judge` of a task: which model is asked, what, and what it must answer.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::source::ReadError;
use jurat_format::value::{Node, Span, Spanned, Val, shown_within};

use super::foreign;
use super::output::{self, Output};
use crate::judge::{Aggregate, Prompt};

/// A model asked to judge.
#[derive(Debug, Clone, PartialEq)]
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
    pub aggregate: Option<Aggregate>,
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

impl PartialEq for PromptText {
    fn eq(&self, other: &Self) -> bool {
        self.prompt == other.prompt && self.file == other.file
    }
}

pub(super) const PROMPT: Form = Form::Either(&[Form::Text, Form::Object(&PROMPT_FILE)]);

static PROMPT_FILE: Keys = Keys {
    what: "a text in a file",
    keys: &[Key::required("file", Form::Text, "the file that holds the text, relative to the file that names it")],
};

pub(super) static JUDGE: Keys = Keys {
    what: "a judge",
    keys: &[
        Key::optional("model", Form::Text, "the model that is asked: a role under `models`, or `provider/model`")
            .default("the role `judge`"),
        Key::optional("system", PROMPT, "the system prompt; `${path}` is replaced by a value of the context"),
        Key::required("prompt", PROMPT, "what the judge is asked; `${path}` is replaced by a value of the context"),
        Key::optional(
            "output",
            Form::Defined("output"),
            "what the reply must be: fields in short form, or a JSON Schema",
        )
        .default("any text"),
        Key::optional(
            "max_retries",
            Form::Integer(0),
            "retries per judgement, after an error that may pass or a reply that does not fit `output`",
        )
        .default("`3`"),
        Key::optional("panel", Form::List(&Form::Text), "several models, each of which is asked, in place of `model`"),
        Key::optional("repeat", Form::Integer(1), "number of times each model is asked").default("`1`"),
        Key::optional(
            "aggregate",
            Form::Choice(&["majority", "mean", "median", "all", "any"]),
            "how several replies become one result",
        )
        .default("`majority`"),
    ],
};

/// The requests that one judgement may take beyond the first, unless the author says otherwise.
pub(super) const MAX_RETRIES: u32 = 3;

pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Judge> {
    let fields = Fields::read(reading, &JUDGE, node)?;
    let system = fields.get("system").and_then(|it| prompt(reading, "`system`", it));
    let asked = fields.get("prompt").and_then(|it| prompt(reading, "`prompt`", it));
    let output = fields.get("output").map(|it| output::read(reading, it));
    let mut count = |name: &str, least: u32, default: u32| {
        fields.get(name).and_then(|it| reading.count(&format!("`{name}`"), least, it)).unwrap_or(default)
    };
    let (max_retries, repeat) = (count("max_retries", 0, MAX_RETRIES), count("repeat", 1, 1));
    let model = fields.get("model").and_then(|it| reading.text("`model`", it));
    let panel = fields.get("panel").map(|it| reading.texts("`panel`", it)).unwrap_or_default();
    let aggregate = fields.get("aggregate").and_then(|it| reading.choice("`aggregate`", &Aggregate::NAMED, it));
    Some(Judge { model, system, prompt: asked?, output: output.flatten(), max_retries, panel, repeat, aggregate })
}

/// Reads a prompt: text, or a file that holds it.
pub(super) fn prompt(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<PromptText> {
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
        !matches!(reading.files.read(&path, super::load::MAX_BYTES), Err(ReadError::NotFound | ReadError::Other(_)));
    is_there.then(|| {
        let message = format!("{what} is the text `{name}`, not what the file of that name holds");
        let problem = Problem::new(&codes::PATH_FOR_TEXT, message).at(node.span, "sent as text");
        problem.help(format!("write `{}: {{ file: {name} }}`", what.trim_matches('`')))
    })
}

/// Reads a text that may stand in a file of its own, and the name of that file.
pub(super) fn text_or_file(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Node<'_>,
) -> Option<(Spanned<String>, Option<String>)> {
    if node.entries().is_some() {
        let fields = Fields::read(reading, &PROMPT_FILE, node)?;
        let file = fields.get("file").and_then(|it| reading.text("`file`", it))?;
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
    let text = super::load::read_text(reading, &path, Some(file.span))?;
    let length = text.len();
    let id = reading.sources.add(path, text.clone());
    Some(Spanned::new(text, Span::new(id, 0..length)))
}
