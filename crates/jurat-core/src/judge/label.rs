//! A label of a reply, and the ways in which JSON may write it.
//!
//! One value has several spellings: `1` and `1.0`, `é` and `\u00e9`. Replies are compared with labels by value, so what begins one is looked for by value too.
//! Exponents are left out: with them almost any digit could begin any number.

use jurat_format::value::{Val, Value, compare_numbers};
use std::cmp::Ordering;

/// Something that a field may be, and what it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Its name in `probabilities`.
    pub name: String,
    /// What it counts.
    pub value: f64,
    label: Value,
    spelling: Spelling,
}

/// What its spellings have in common.
#[derive(Debug, Clone, PartialEq)]
enum Spelling {
    Word(String),
    Text(String),
    /// The digits before the point, and those behind it without zeros at their end.
    Number {
        whole: String,
        fraction: String,
    },
}

impl Label {
    /// A label as the reply has it, and what it counts.
    pub fn new(label: &Val<'_>, value: f64) -> Label {
        let name = label.as_str().map_or_else(|| label.to_json(), str::to_owned);
        Label { name, value, label: label.clone().into_owned(), spelling: Spelling::of(label) }
    }

    /// Whether it is this value, however that is written.
    pub fn is(&self, value: &Val<'_>) -> bool {
        match (&self.label, value) {
            (Val::Str(own), Val::Str(other)) => own == other,
            (Val::Bool(own), Val::Bool(other)) => own == other,
            (own, other) => compare_numbers(own, other) == Some(Ordering::Equal),
        }
    }

    /// Whether it is the same value as another, or has the same name.
    pub fn is_like(&self, other: &Label) -> bool {
        self.name == other.name || self.is(&other.label)
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.spelling, Spelling::Text(_))
    }

    /// Whether it may be the JSON value that begins with these bytes; what follows the value may stand in them too.
    pub(super) fn may_be(&self, said: &[u8]) -> bool {
        match &self.spelling {
            Spelling::Word(word) => {
                let ends = |rest: &[u8]| rest.first().is_none_or(|it| ends_value(*it));
                word.as_bytes().starts_with(said) || said.strip_prefix(word.as_bytes()).is_some_and(ends)
            }
            Spelling::Text(text) => text_may_be(text, said),
            Spelling::Number { whole, fraction } => number_may_be(whole.as_bytes(), fraction.as_bytes(), said),
        }
    }
}

impl Spelling {
    fn of(label: &Val<'_>) -> Spelling {
        let digits = match label {
            Val::Str(text) => return Spelling::Text(text.clone().into_owned()),
            Val::I(_) | Val::U(_) | Val::Big(_) => label.to_json(),
            // Without an exponent, and without a sign that JSON would not have.
            Val::F(number) => (number + 0.0).to_string(),
            _ => return Spelling::Word(label.to_json()),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        Spelling::Number { whole: whole.to_owned(), fraction: fraction.trim_end_matches('0').to_owned() }
    }
}

/// Whether a number, a word or a text is over before this byte.
fn ends_value(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']')
}

fn number_may_be(whole: &[u8], fraction: &[u8], said: &[u8]) -> bool {
    let is_digit = |it: &&u8| matches!(it, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let (digits, rest) = said.split_at(said.iter().take_while(is_digit).count());
    let behind_point = digits.strip_prefix(whole).and_then(|it| it.strip_prefix(b"."));
    let is_whole = |it: &[u8]| it.strip_prefix(fraction).is_some_and(|zeros| zeros.iter().all(|it| *it == b'0'));
    match rest.first() {
        None => whole.starts_with(digits) || behind_point.is_some_and(|it| fraction.starts_with(it) || is_whole(it)),
        Some(next) if ends_value(*next) => {
            let has_no_point = digits == whole && fraction.is_empty();
            has_no_point || behind_point.is_some_and(|it| !it.is_empty() && is_whole(it))
        }
        Some(_) => false,
    }
}

fn text_may_be(text: &str, said: &[u8]) -> bool {
    let Some(mut said) = said.strip_prefix(b"\"") else { return said.is_empty() };
    for letter in text.chars() {
        if said.is_empty() {
            return true;
        }
        let ways = if said.first() == Some(&b'\\') { escaped(letter) } else { plain(letter) };
        if ways.iter().any(|it| it.as_bytes().starts_with(said)) {
            return true;
        }
        let Some(rest) = ways.iter().find_map(|it| said.strip_prefix(it.as_bytes())) else { return false };
        said = rest;
    }
    match said {
        [] | [b'"'] => true,
        [b'"', next, ..] => ends_value(*next),
        _ => false,
    }
}

/// A letter of a JSON text as it is, where it may stand so.
fn plain(letter: char) -> Vec<String> {
    let is_allowed = letter >= ' ' && !matches!(letter, '"' | '\\');
    is_allowed.then(|| letter.to_string()).into_iter().collect()
}

/// A letter of a JSON text, escaped in each way that there is.
fn escaped(letter: char) -> Vec<String> {
    let short = match letter {
        '"' | '\\' | '/' => Some(format!("\\{letter}")),
        '\u{8}' => Some("\\b".to_owned()),
        '\u{c}' => Some("\\f".to_owned()),
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        _ => None,
    };
    let mut units = [0; 2];
    let units = letter.encode_utf16(&mut units);
    let lower: String = units.iter().map(|it| format!("\\u{it:04x}")).collect();
    let upper: String = units.iter().map(|it| format!("\\u{it:04X}")).collect();
    short.into_iter().chain([lower, upper]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    #[track_caller]
    fn may_be(label: &str, said: &[&str], expected: bool) {
        let label = Label::new(&parse_json(label).unwrap().value, 0.0);
        for said in said {
            assert_eq!(label.may_be(said.as_bytes()), expected, "{} {said}", label.name);
        }
    }

    #[test]
    fn a_number_is_found_in_each_of_its_spellings() {
        may_be("0", &["0", "0.", "0.0", "0.00", "0}", "0.0,", "0 "], true);
        may_be("0", &["0.5", "0.05", "00", "0.}", "0x", "-0", "1", "\"0"], false);
        may_be("0.5", &["0", "0.", "0.5", "0.50", "0.5\n"], true);
        may_be("0.5", &["0}", "0.0", "0.51", "0.}", "5", ".5"], false);
        may_be("10", &["1", "10", "10.0}"], true);
        may_be("10", &["1}", "1.", "100", "1e1"], false);
        may_be("0.0", &["0", "0}", "0.0"], true);
        may_be("-1.50", &["-", "-1", "-1.5,", "-1.500"], true);
        may_be("1e-7", &["0.0000001"], true);
    }

    #[test]
    fn a_text_is_found_in_each_of_its_spellings() {
        may_be("\"élevé\"", &["\"", "\"é", "\"\\u00e9lev\\u00E9\"}", "\"\\u00", "\"él\\", "\"élevé\","], true);
        may_be("\"élevé\"", &["\"e", "\"\\u00e8", "\"élev\"", "\"élevés", "\"élevé\"x", "élevé", "\"\\n"], false);
        may_be(r#""a/\"b\n""#, &[r#""a\/\"b\n""#, r#""a/\u0022b\u000a"#], true);
        may_be(r#""a/\"b\n""#, &["\"a/\"", "\"a/\\\"b\n"], false);
        may_be("\"😀\"", &["\"\\ud83d", "\"\\ud83d\\ude00\"", "\"😀"], true);
        assert!(Label::new(&Val::from("é"), 0.0).may_be(b"\"\xc3"), "a letter may be divided between tokens");
        may_be("\"\"", &["\"", "\"\"}"], true);
        may_be(r#""\"""#, &["\"", "\"\\", "\"\\\"\""], true);
        may_be("true", &["t", "true", "true}"], true);
        may_be("true", &["f", "truey", "\"true"], false);
    }

    #[test]
    fn a_label_is_its_value_however_that_is_written() {
        let is = |label: &Val<'_>, value: &Val<'_>| Label::new(label, 0.0).is(value);
        assert!(is(&Val::F(0.0), &Val::I(0)) && is(&Val::I(4), &Val::F(4.0)) && is(&Val::from("a"), &Val::from("a")));
        assert!(!is(&Val::I(1), &Val::Bool(true)) && !is(&Val::from("1"), &Val::I(1)) && !is(&Val::I(1), &Val::I(2)));
    }
}
