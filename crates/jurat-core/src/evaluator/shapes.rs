//! What an evaluator may return, as lines of its own language.

use std::fmt::Write;

use jurat_format::value::python::float_text;

use super::{Language, OutputConfig, OutputKind};

/// The lines of a function that would be accepted for an output; for anything when there is none.
pub(super) fn lines(config: Option<&OutputConfig>, language: Language) -> Vec<String> {
    let end = end(language);
    let comment = if language == Language::Python { "#" } else { "//" };
    let bare = |value: &str| bare(value, language);
    let explained = |key: &str, value: &str| match (language, key) {
        (Language::Rust, "label") => format!("Return::label({value}).explanation(\"...\")"),
        (Language::Rust, _) => format!("Return::from({value}).explanation(\"...\")"),
        _ => format!("return {{\"{key}\": {value}, \"explanation\": \"...\"}}{end}"),
    };
    match config.map(|it| &it.kind) {
        Some(OutputKind::Categorical(values)) => {
            let label = values.first().map_or_else(|| literal("pass"), |it| literal(&it.label));
            vec![bare(&label), explained("label", &label)]
        }
        Some(OutputKind::Continuous { lower_bound, upper_bound }) => {
            let (score, range) = example(*lower_bound, *upper_bound);
            let mut lines = vec![bare(&score)];
            lines.extend(range.map(|it| format!("{comment} score in range {it}")));
            lines.push(explained("score", &score));
            lines
        }
        Some(OutputKind::Freeform { .. }) | None => {
            let (label, score) = (literal("pass"), "0.5");
            vec![bare(&label), bare(score), explained("label", &label), explained("score", score)]
        }
    }
}

/// Further lines where the returned value itself has the wrong type: an author who returned a dict with a wrong key does not look for these.
pub(super) fn further_types(language: Language) -> Vec<String> {
    let (truth, nothing) = match language {
        Language::Python => ("True", "None"),
        Language::TypeScript | Language::JavaScript => ("true", "null"),
        Language::Rust => ("true", "()"),
    };
    [truth, nothing].map(|it| bare(it, language)).to_vec()
}

/// A line that returns a value.
fn bare(value: &str, language: Language) -> String {
    match language {
        Language::Rust => format!("Return::from({value})"),
        _ => format!("return {value}{}", end(language)),
    }
}

fn end(language: Language) -> &'static str {
    match language {
        Language::TypeScript | Language::JavaScript => ";",
        Language::Python | Language::Rust => "",
    }
}

/// A score that is within the bounds, and the bounds in words.
fn example(lower: Option<f64>, upper: Option<f64>) -> (String, Option<String>) {
    let text = float_text;
    match (lower, upper) {
        (Some(lower), Some(upper)) => (text((lower + upper) / 2.0), Some(format!("{} - {}", text(lower), text(upper)))),
        (Some(lower), None) => (text(lower), Some(format!(">= {}", text(lower)))),
        (None, Some(upper)) => (text(upper), Some(format!("<= {}", text(upper)))),
        (None, None) => (text(0.5), None),
    }
}

/// A string literal that all languages read, in ASCII; Rust writes what is beyond in another way.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        // Writing to a `String` cannot fail.
        let _ = match it {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            '\u{8}' => write!(out, "\\b"),
            '\u{c}' => write!(out, "\\f"),
            ' '..='~' => write!(out, "{it}"),
            other => other.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}")),
        };
    }
    out.push('"');
    out
}
