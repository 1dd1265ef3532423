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
    pub value: Val<'a>,
    /// Whether an object that was read holds a key twice; the last value won.
    pub repeated_key: bool,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct JsonError {
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
    let mut value = Val::Null;
    match read_with(text, Tree { place: &mut value, notes: &notes }) {
        Ok(()) if !notes.inexact.get() => Ok(Record { value, repeated_key: notes.repeated_key.get() }),
        _ => {
            let (node, repeated) = json_node(text, Span::default().source)?;
            Ok(Record { value: node.into_val(), repeated_key: !repeated.is_empty() })
        }
    }
}

/// Runs a seed over the whole of `text`.
pub(super) fn read_with<'a, S>(text: &'a str, seed: S) -> Result<(), serde_json::Error>
where
    S: DeserializeSeed<'a, Value = ()>,
{
    let mut reader = serde_json::Deserializer::from_str(text);
    seed.deserialize(&mut reader)?;
    reader.end()
}

/// What the fast path noticed.
#[derive(Default)]
pub(super) struct Notes {
    /// A number may have been rounded.
    pub(super) inexact: Cell<bool>,
    pub(super) repeated_key: Cell<bool>,
}

/// Reads a whole tree into its place.
///
/// The place is filled rather than a value returned, because `serde` hands a returned value through several functions, and
/// moving four words that have only now been written makes the processor wait each time.
pub(super) struct Tree<'p, 'n, 'a> {
    /// Holds null until it is filled.
    pub(super) place: &'p mut Val<'a>,
    pub(super) notes: &'n Notes,
}

impl Notes {
    /// A float, for every seed of this module.
    pub(super) fn float<'a>(&self, number: f64) -> Val<'a> {
        // An integer beyond 64 bits arrives here as the nearest double; so does an honest 1e20, which is then read again.
        if number >= u64::MAX as f64 || number <= i64::MIN as f64 {
            self.inexact.set(true);
        }
        Val::F(number)
    }
}

/// Puts a value where null is. Nothing has to be dropped there, which an assignment would check.
#[inline]
pub(super) fn fill<'a, E>(place: &mut Val<'a>, value: Val<'a>) -> Result<(), E> {
    debug_assert!(matches!(place, Val::Null), "a place is filled once");
    std::mem::forget(std::mem::replace(place, value));
    Ok(())
}

impl<'de> DeserializeSeed<'de> for Tree<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        fill(self.place, Val::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        fill(self.place, Val::I(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        fill(self.place, Val::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        fill(self.place, self.notes.float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        fill(self.place, Val::Str(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        fill(self.place, Val::Str(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut items = Vec::new();
        while list.next_element_seed(Item { items: &mut items, notes: self.notes })?.is_some() {}
        fill(self.place, Val::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            pairs.push((key, Val::Null));
            let (_, place) = pairs.last_mut().expect("one was pushed");
            map.next_value_seed(Tree { place, notes: self.notes })?;
        }
        let (map, repeated) = Map::from_pairs(pairs);
        if repeated {
            self.notes.repeated_key.set(true);
        }
        fill(self.place, Val::Map(map))
    }
}

/// Reads one more item of a list. Only when there is one: a place made beforehand would be one too many at the end.
struct Item<'p, 'n, 'a> {
    items: &'p mut Vec<Val<'a>>,
    notes: &'n Notes,
}

impl<'de> DeserializeSeed<'de> for Item<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.items.push(Val::Null);
        let place = self.items.last_mut().expect("one was pushed");
        Tree { place, notes: self.notes }.deserialize(deserializer)
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
