//! A prompt as its author wrote it: what it reads, and where each of that stands.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::value::{FieldPath, Span, Spanned};

use super::Prompt;

/// A prompt and where it stands.
#[derive(Debug, Clone)]
pub struct PromptText {
    pub prompt: Prompt,
    /// The place of its text, in the definition or in a file of its own.
    pub span: Span,
    /// What it reads, with the places.
    pub reads: Vec<PromptRead>,
    /// The file as it was written, when it is in one.
    pub file: Option<String>,
}

/// A path that a prompt reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptRead {
    pub path: FieldPath,
    pub span: Span,
    /// Whether a template says what happens without it.
    pub is_optional: bool,
}

/// Reads a Jinja template.
pub(crate) fn template(reading: &mut Reading<'_>, text: Spanned<String>, file: Option<String>) -> Option<PromptText> {
    match Prompt::jinja(text.value.clone()) {
        Ok(prompt) => {
            let reads = prompt.holes().iter().map(|it| PromptRead {
                path: it.path.clone(),
                span: place(reading, &text, it.range.clone()),
                is_optional: it.is_optional,
            });
            Some(PromptText { reads: reads.collect(), prompt, span: text.span, file })
        }
        Err(flaw) => {
            let span = place(reading, &text, flaw.range.clone());
            let problem =
                Problem::new(&codes::BAD_TEMPLATE, format!("the template cannot be rendered: {}", flaw.message));
            reading.problem(problem.at(span, "here").help("it is a Jinja template: `{{ name }}`, `{% for x in list %}…{% endfor %}`, `{{ name | default('none') }}`"));
            None
        }
    }
}

/// The place of a part of a template. In a block of YAML, whose lines are indented, it is found by its own text.
fn place(reading: &Reading<'_>, text: &Spanned<String>, range: Range<usize>) -> Span {
    let whole = reading.part_of_text(text.span, &text.value, range.clone());
    if whole != text.span {
        return whole;
    }
    let part = text.value.get(range).unwrap_or_default();
    if part.is_empty() {
        return text.span;
    }
    reading.places(text.span, [part].into_iter()).first().copied().unwrap_or(text.span)
}
