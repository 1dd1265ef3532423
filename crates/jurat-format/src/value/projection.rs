//! Reading only the part of a record that a plan looks at.
//!
//! A record may carry a transcript of a megabyte beside the ten fields that tasks read. A [`Projection`] is a set of paths
//! turned into a tree; reading with it skips everything else at the speed of a scanner. For every path in the set the
//! answer is the one that the whole tree would give.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Notes, Tree, fill, read_with};
use super::val::same_key;
use super::{FieldPath, JsonError, Map, Record, Step, Val, parse_json};

/// The part of a value that some paths read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection(Want);

/// What is wanted of one value.
#[derive(Debug, Clone, PartialEq)]
enum Want {
    All,
    /// These members, if it is an object; and this of each item, if it is a list.
    Parts {
        keys: Vec<(Box<str>, Want)>,
        items: Option<Box<Want>>,
    },
}

impl Projection {
    pub fn all() -> Projection {
        Projection(Want::All)
    }

    /// Reads what these paths lead to.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p FieldPath>) -> Projection {
        let mut want = Want::default();
        for path in paths {
            want.add(path.steps());
        }
        Projection(want)
    }

    pub fn is_all(&self) -> bool {
        self.0 == Want::All
    }

    /// Reads what one more path leads to.
    pub fn add(&mut self, path: &FieldPath) {
        self.0.add(path.steps());
    }

    /// Whether anything of a member is read, if the value is an object.
    pub fn reads_member(&self, name: &str) -> bool {
        match &self.0 {
            Want::All => true,
            Want::Parts { keys, .. } => keys.iter().any(|(key, _)| **key == *name),
        }
    }

    /// Reads what is wanted of the one JSON value of `text`. What is not read is checked for syntax only.
    pub fn read<'a>(&'a self, text: &'a str) -> Result<Record<'a>, JsonError> {
        let notes = Notes::default();
        let mut value = Val::Null;
        match read_with(text, Part { want: &self.0, tree: Tree { place: &mut value, notes: &notes } }) {
            Ok(()) if !notes.inexact.get() => Ok(Record { value, repeated_key: notes.repeated_key.get() }),
            // Rare: a number that needs the exact reader, or an error, which the exact reader places.
            _ => parse_json(text),
        }
    }
}

impl Default for Want {
    fn default() -> Self {
        Want::Parts { keys: Vec::new(), items: None }
    }
}

impl Want {
    fn add(&mut self, steps: &[Step]) {
        let Want::Parts { keys, items } = self else { return };
        match steps.split_first() {
            None | Some((Step::Json, _)) => *self = Want::All,
            Some((Step::Key(key), rest)) => match keys.iter_mut().find(|(name, _)| name == key) {
                Some((_, want)) => want.add(rest),
                None => {
                    let mut want = Want::default();
                    want.add(rest);
                    keys.push((key.clone(), want));
                }
            },
            // One want for all items: a list is rarely long and always read in order.
            Some((Step::Index(_) | Step::Each, rest)) => items.get_or_insert_default().add(rest),
        }
    }
}

/// Reads what is wanted of a value into its place.
struct Part<'w, 'p, 'n, 'a> {
    want: &'w Want,
    tree: Tree<'p, 'n, 'a>,
}

impl<'w: 'de, 'de> DeserializeSeed<'de> for Part<'w, '_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.want {
            Want::All => self.tree.deserialize(deserializer),
            Want::Parts { .. } => deserializer.deserialize_any(self),
        }
    }
}

impl<'w: 'de, 'de> Visitor<'de> for Part<'w, '_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.tree.visit_unit()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.tree.visit_bool(value)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.tree.visit_i64(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.tree.visit_u64(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.tree.visit_f64(number)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<(), E> {
        self.tree.visit_borrowed_str(text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.tree.visit_str(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Tree { place, notes } = self.tree;
        let mut items = Vec::new();
        if let Want::Parts { items: Some(want), .. } = self.want {
            while list.next_element_seed(Item { want, items: &mut items, notes })?.is_some() {}
        } else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        fill(place, Val::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Tree { place, notes } = self.tree;
        let keys: &'w [(Box<str>, Want)] = match self.want {
            Want::Parts { keys, .. } => keys,
            Want::All => &[],
        };
        let mut members = Map::with_capacity(keys.len());
        // The keys that have come, a bit each; those beyond the last bit are looked for among the members.
        let mut come = 0_u64;
        while let Some(wanted) = map.next_key_seed(Wanted(keys))? {
            let Some((ix, (key, want))) = wanted else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = if ix < 64 { 1 << ix } else { 0 };
            let is_new = bit != 0 && come & bit == 0;
            come |= bit;
            let key = Cow::Borrowed(&**key);
            let (place, repeated) = if is_new { (members.add(key), false) } else { members.clear(key) };
            if repeated {
                notes.repeated_key.set(true);
            }
            map.next_value_seed(Part { want, tree: Tree { place, notes } })?;
        }
        fill(place, Val::Map(members))
    }
}

/// Reads what is wanted of one more item of a list.
struct Item<'w, 'p, 'n, 'a> {
    want: &'w Want,
    items: &'p mut Vec<Val<'a>>,
    notes: &'n Notes,
}

impl<'w: 'de, 'de> DeserializeSeed<'de> for Item<'w, '_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.items.push(Val::Null);
        let place = self.items.last_mut().expect("one was pushed");
        Part { want: self.want, tree: Tree { place, notes: self.notes } }.deserialize(deserializer)
    }
}

/// Finds a key among the wanted ones without allocating.
struct Wanted<'w>(&'w [(Box<str>, Want)]);

impl<'w, 'de> DeserializeSeed<'de> for Wanted<'w> {
    type Value = Option<(usize, &'w (Box<str>, Want))>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'w> Visitor<'_> for Wanted<'w> {
    type Value = Option<(usize, &'w (Box<str>, Want))>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().enumerate().find(|(_, (key, _))| same_key(key, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(paths: &[&str], text: &str, printed: &str, repeated_key: bool) {
        let paths: Vec<FieldPath> = paths.iter().map(|it| FieldPath::parse(it).unwrap()).collect();
        let projection = Projection::of(&paths);
        let record = projection.read(text).unwrap();
        assert_eq!((&*record.value.to_string(), record.repeated_key), (printed, repeated_key));
    }

    #[test]
    fn only_what_is_wanted_is_read() {
        let text = r#"{"x": {"a": 1}, "a": {"b": 1, "c": [2]}, "b": [{"a": 1, "b": 2}, 3], "c": [1]}"#;
        reads(&["a.b", "b[0].a"], text, r#"{"a": {"b": 1}, "b": [{"a": 1}, 3]}"#, false);
        reads(&["a", "a.b"], text, r#"{"a": {"b": 1, "c": [2]}}"#, false);
        reads(&["c.a"], text, r#"{"c": []}"#, false);
        reads(&["\u{e9}"], r#"{"\u00e9": 1, "e": 2}"#, r#"{"é": 1}"#, false);
    }

    #[test]
    fn the_last_of_a_repeated_key_wins() {
        reads(&["a", "b"], r#"{"a": [1], "b": 2, "a": null}"#, r#"{"a": null, "b": 2}"#, true);
        reads(&["a.b"], r#"{"a": {"b": 1}, "a": {"c": 2}}"#, r#"{"a": {}}"#, true);
        // Keys that are not read may repeat.
        reads(&["b"], r#"{"a": 1, "b": 2, "a": 3}"#, r#"{"b": 2}"#, false);
    }

    #[test]
    fn many_keys_are_distinguished() {
        let names: Vec<String> = (0..100).map(|ix| format!("k{ix}")).collect();
        let members: Vec<String> = names.iter().map(|it| format!("\"{it}\": 0")).collect();
        let text = format!("{{{}, \"k99\": 1, \"k7\": 2}}", members.join(", "));
        let paths: Vec<FieldPath> = names.iter().map(|it| FieldPath::parse(it).unwrap()).collect();
        let projection = Projection::of(&paths);
        let record = projection.read(&text).unwrap();
        assert_eq!((record.value.as_map().unwrap().len(), record.repeated_key), (100, true));
        assert_eq!((record.value.get("k99"), record.value.get("k7")), (Some(&Val::I(1)), Some(&Val::I(2))));
    }
}
