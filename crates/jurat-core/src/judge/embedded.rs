//! The JSON in a reply that has other text around it.
//!
//! Models that were asked for JSON answer in a code fence, with a sentence around it, or after thinking aloud. What they mean is clear as long as
//! there is one value; two different ones are not chosen between.

use jurat_format::value::{Value, parse_json};

/// The longest reply that is looked through.
const MOST_BYTES: usize = 1 << 20;

/// How many brackets of a reply are looked at.
const MOST_BRACKETS: usize = 1000;

/// The JSON values in a text as they are written; each different value once. Objects and lists are found anywhere, other values only as the whole
/// of a code fence: a number in a sentence is no answer.
pub(super) fn values(text: &str) -> Vec<&str> {
    if text.len() > MOST_BYTES {
        return Vec::new();
    }
    let text = after_thinking(text);
    let mut found = Found::default();
    let mut rest = text;
    for _ in 0..MOST_BRACKETS {
        let Some(at) = rest.find(['{', '[']) else { break };
        let from = &rest[at..];
        // A bracket that begins no JSON is one of the text.
        let n_bytes = n_bytes_of_value(from).filter(|it| found.add(&from[..*it]));
        rest = &from[n_bytes.unwrap_or(1)..];
    }
    if found.0.is_empty() {
        for fence in fences(text) {
            found.add(fence);
        }
    }
    found.0.into_iter().map(|(json, _)| json).collect()
}

#[derive(Default)]
struct Found<'t>(Vec<(&'t str, Value)>);

impl<'t> Found<'t> {
    /// Takes in a value, unless it is there already, and says whether it is one.
    fn add(&mut self, json: &'t str) -> bool {
        let Ok(read) = parse_json(json) else { return false };
        let value = read.value.into_owned();
        if !self.0.iter().any(|(_, it)| *it == value) {
            self.0.push((json, value));
        }
        true
    }
}

/// How many bytes the JSON value takes that a text begins with.
fn n_bytes_of_value(text: &str) -> Option<usize> {
    // A `Value` has a limit of depth, so that a text of brackets does not take quadratic time.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// What stands in code fences, without the word for the language.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split("```").skip(1).step_by(2);
    inside.map(|it| it.split_once('\n').map_or(it, |(_, block)| block).trim())
}

/// What follows the thinking of a model whose server does not separate it.
fn after_thinking(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, answer)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_fences_and_sentences() {
        assert_eq!(values("```json\n{\"ok\": true}\n```"), [r#"{"ok": true}"#]);
        assert_eq!(values("Sure!\n```\n{\"ok\": true}\n```\nAnything else?"), [r#"{"ok": true}"#]);
        assert_eq!(values("My verdict is {\"a\": {\"b\": \"}\"}}."), [r#"{"a": {"b": "}"}}"#]);
        assert_eq!(values("<think>{\"ok\": false}?</think>{\"ok\": true}"), [r#"{"ok": true}"#]);
        assert_eq!(values("```json\n\"yes\"\n```"), ["\"yes\""]);
        assert_eq!(values("{\"ok\": true} again: {\"ok\":true}"), [r#"{"ok": true}"#]);
        assert_eq!(values("{ok} {\"ok\": 1}"), [r#"{"ok": 1}"#]);
        assert_eq!(values("a {\"ok\": 1} or {\"ok\": 2}").len(), 2);
        for none in ["", "yes", "It is 4.", "{\"ok\": tr", "```\nyes\n```", "[", "{'ok': true}"] {
            assert_eq!(values(none), Vec::<&str>::new(), "{none}");
        }
    }

    #[test]
    fn a_text_of_brackets_is_looked_through_in_time() {
        assert_eq!(values(&"[".repeat(MOST_BYTES)), Vec::<&str>::new());
    }
}
