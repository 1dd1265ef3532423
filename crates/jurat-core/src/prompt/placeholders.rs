//! What looks like a placeholder and is sent as it is.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::value::{Node, Span, Val, shown_within};

use super::Prompt;
use crate::foreign;

/// Notes what looks like a placeholder and is sent as it is.
pub(crate) fn note_literals(reading: &mut Reading<'_>, prompt: &Prompt, span: Span) {
    let literals = reading.places(span, prompt.literals().iter().map(|it| &prompt.text()[it.clone()]));
    for (literal, place) in prompt.literals().iter().zip(literals) {
        let written = shown_within(&Val::from(&prompt.text()[literal.clone()]), 40);
        let problem =
            Problem::new(&codes::LITERAL_PLACEHOLDER, format!("{written} is not a path, so it is sent as it is"));
        let problem = problem.at(place, "sent as text");
        reading.problem(problem.help("a placeholder is `${name}` or `${name.path}`, without spaces"));
    }
    foreign_placeholders(reading, prompt, span);
}

/// Notes placeholders in a text that is sent as it is.
pub(crate) fn unfilled(reading: &mut Reading<'_>, node: &Node<'_>, remedy: &str) {
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
        reading.problem(
            problem.at(place, "sent as text").help(format!(
                "a placeholder is written `${{{name}}}` here; for a Jinja template write `{{ jinja: … }}`"
            )),
        );
    }
}
