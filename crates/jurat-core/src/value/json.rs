//! Reading JSON into borrowed values, quickly and without losing anything.
//!
//! `serde_json` does the work. Its fast path turns integers beyond 64 bits into floats and refuses `1e999`; when a record
//! may hold such a number it is read a second time, exactly, through [`json_node`]. That costs nothing for the others.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Map, Span, Val, json_node};

/// How deep values may be nested. Data written by people and models stays far below it.
pub const MAX_DEPTH: usize = 128;

/// One value read from JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// The value.
    pub value: Val<'a>,
    /// Whether an object that was read holds a key twice; the last value won.
    pub repeated_key: bool,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct JsonError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // The position is carried apart from the message, so the tail that repeats it goes.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        JsonError { message, line: error.line(), column: error.column().max(1) }
    }
}

/// Reads the one JSON value of `text`.
pub fn parse_json(text: &str) -> Result<Record<'_>, JsonError> {
    let notes = Notes::default();
    match read_with(text, Tree { notes: &notes }) {
        Ok(value) if !notes.inexact.get() => Ok(Record { value, repeated_key: notes.repeated_key.get() }),
        _ => {
            let (node, repeated) = json_node(text, Span::default().source)?;
            Ok(Record { value: node.into_val(), repeated_key: !repeated.is_empty() })
        }
    }
}

/// Runs a seed over the whole of `text`.
pub(super) fn read_with<'a, S: DeserializeSeed<'a>>(text: &'a str, seed: S) -> Result<S::Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// What the fast path noticed on its way.
#[derive(Default)]
pub(super) struct Notes {
    /// A number may have been rounded.
    pub(super) inexact: Cell<bool>,
    /// A key came twice.
    pub(super) repeated_key: Cell<bool>,
}

/// Reads a whole tree.
#[derive(Clone, Copy)]
pub(super) struct Tree<'n> {
    pub(super) notes: &'n Notes,
}

impl Notes {
    /// The scalars, for every seed of this module.
    pub(super) fn float<'a>(&self, number: f64) -> Val<'a> {
        // An integer beyond 64 bits arrives here as the nearest double; so does an honest 1e20, which is then read again.
        if number >= u64::MAX as f64 || number <= i64::MIN as f64 {
            self.inexact.set(true);
        }
        Val::F(number)
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Val<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Val<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Val<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Val<'de>, E> {
        Ok(Val::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Val<'de>, E> {
        Ok(Val::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Val<'de>, E> {
        Ok(Val::I(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Val<'de>, E> {
        Ok(Val::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Val<'de>, E> {
        Ok(self.notes.float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Val<'de>, E> {
        Ok(Val::Str(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Val<'de>, E> {
        Ok(Val::Str(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Val<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Val::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Val<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            pairs.push((key, map.next_value_seed(self)?));
        }
        let (map, repeated) = Map::from_pairs(pairs);
        if repeated {
            self.notes.repeated_key.set(true);
        }
        Ok(Val::Map(map))
    }
}

/// Reads a key, borrowed when it holds no escape.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, printed: &str) {
        assert_eq!(
            parse_json(text).map(|it| it.value.to_string()).map_err(|it| it.to_string()),
            Ok(printed.to_owned())
        );
    }

    #[test]
    fn numbers_keep_their_value() {
        reads("[1, 1.0, -0.0, 1e3, 0.1]", "[1, 1.0, -0.0, 1000.0, 0.1]");
        reads(
            "[9223372036854775807, 9223372036854775808, 18446744073709551615]",
            "[9223372036854775807, 9223372036854775808, 18446744073709551615]",
        );
        reads("18446744073709551616", "18446744073709551616");
        reads("{\"a\": [-9223372036854775809, 1e20, 1e999]}", "{\"a\": [-9223372036854775809, 1e20, 1e999]}");
        reads("0.30000000000000004", "0.30000000000000004");
    }

    #[test]
    fn the_last_of_a_repeated_key_wins() {
        let record = parse_json("{\"a\": 1, \"b\": 2, \"a\": 3}").unwrap();
        assert_eq!(record.value.to_string(), "{\"a\": 3, \"b\": 2}");
        assert!(record.repeated_key);
        assert!(!parse_json("{\"a\": 1, \"b\": {\"a\": 1}}").unwrap().repeated_key);
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        let record = parse_json("{\"plain\": \"text\", \"escaped\": \"a\\nb\"}").unwrap();
        assert!(matches!(record.value.get("plain"), Some(Val::Str(Cow::Borrowed("text")))));
        assert!(matches!(record.value.get("escaped"), Some(Val::Str(Cow::Owned(text))) if text == "a\nb"));
    }

    #[test]
    fn errors_say_where() {
        let error = parse_json("{\"a\": 1,\n  \"b\" 2}").unwrap_err();
        assert_eq!(error.to_string(), "expected `:` (line 2, column 7)");
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        assert!(parse_json(&deep).unwrap_err().message.contains("nested"), "{:?}", parse_json(&deep));
    }
}
