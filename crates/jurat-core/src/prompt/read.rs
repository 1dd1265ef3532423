//! A prompt as it is written: text with `${path}`, a Jinja template, or a file with either.

use std::path::Path;

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node, Span, Spanned};

use super::file::{file_text, path_for_text};
use super::placeholders::note_literals;
use super::text::{PromptRead, PromptText, template};
use super::{Hole, Prompt};

pub(crate) const FILE: Field<Spanned<String>> = Field::optional(
    "file",
    shape::TEXT,
    "the file that holds the text, relative to the file that names it; one that ends in `.j2`, `.jinja` or `.jinja2` is a Jinja template",
);

pub(crate) const JINJA: Field<Spanned<String>> = Field::optional(
    "jinja",
    shape::TEXT,
    "a Jinja template; a name that a case does not supply makes that case an error",
);

pub(crate) static PROMPT: Object = Object { what: "a text or template", keys: &[FILE.key, JINJA.key] };

/// A prompt: text with `${path}`, a template, or a file with either.
pub(crate) const SHAPE: Shape<PromptText> = Shape::new(FORM, prompt);

pub(crate) const FORM: Form = Form::Either(&[Form::Text, TEMPLATE_FORM]);

/// A template, or the file of one.
pub(crate) const TEMPLATE_FORM: Form = Form::Object(&PROMPT);

/// Reads a prompt: text, a template, or a file that holds either.
pub(crate) fn prompt(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<PromptText> {
    if node.entries().is_some() {
        let fields = PROMPT.fields(reading, node)?;
        return of_object(reading, &fields);
    }
    let Some(text) = node.as_str() else {
        reading.wrong_type(what, "text, `{jinja: …}` or `{file: …}`", node);
        return None;
    };
    if let Some(problem) = path_for_text(reading, what, node) {
        reading.problem(problem);
        return None;
    }
    Some(plain(reading, Spanned::new(text.to_owned(), node.span), None))
}

/// A text that cases fill, without a look at whether it names a file.
pub(crate) fn filled(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<PromptText> {
    match node.as_str() {
        Some(text) => Some(plain(reading, Spanned::new(text.to_owned(), node.span), None)),
        None => prompt(reading, what, node),
    }
}

/// Whether an object says that it is a template, or the file of one.
pub(crate) fn is_prompt(node: &Node<'_>) -> bool {
    node.get(JINJA.key.name).is_some() || node.get(FILE.key.name).is_some()
}

/// A prompt in an object: one of `file` and `jinja`.
pub(crate) fn of_object(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<PromptText> {
    let (file, jinja) = (fields.read(reading, &FILE), fields.read(reading, &JINJA));
    match (file, jinja) {
        (Some(_), Some(_)) => {
            reading.problem(two_of(fields, "file", "jinja"));
            None
        }
        (Some(file), None) => {
            let text = file_text(reading, &file)?;
            if is_template(&file.value) {
                return template(reading, text, Some(file.value));
            }
            Some(plain(reading, text, Some(file.value)))
        }
        (None, Some(text)) => template(reading, text, None),
        (None, None) => {
            if !fields.may_mean(&FILE) && !fields.may_mean(&JINJA) {
                reading.problem(
                    Problem::new(&codes::MISSING_KEY, "a prompt needs `file` or `jinja`")
                        .at(fields.span, "says nothing"),
                );
            }
            None
        }
    }
}

pub(crate) fn two_of(fields: &Fields<'_, '_>, one: &str, other: &str) -> Problem {
    Problem::new(&codes::CONFLICT, format!("a prompt has either `{one}` or `{other}`, not both"))
        .at(fields.span, "both are here")
}

fn is_template(file: &str) -> bool {
    Path::new(file).extension().and_then(|it| it.to_str()).is_some_and(|it| matches!(it, "j2" | "jinja" | "jinja2"))
}

/// A text with `${path}`.
pub(crate) fn plain(reading: &mut Reading<'_>, text: Spanned<String>, file: Option<String>) -> PromptText {
    let prompt = Prompt::parse(text.value);
    note_literals(reading, &prompt, text.span);
    let places = reading.places(text.span, prompt.holes().iter().map(|it| &prompt.text()[it.range.clone()]));
    let read = |(hole, span): (&Hole, Span)| PromptRead { path: hole.path.clone(), span, is_optional: false };
    let reads = prompt.holes().iter().zip(places).map(read).collect();
    PromptText { prompt, span: text.span, reads, file }
}
