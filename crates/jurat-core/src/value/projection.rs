//! Reading only the part of a record that a plan looks at.
//!
//! A record may carry a transcript of a megabyte beside the ten fields that tasks read. A [`Projection`] is a set of paths
//! turned into a tree; reading with it skips everything else at the speed of a scanner. For every path in the set the
//! answer is the one that the whole tree would give.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Notes, Tree, read_with};
use super::val::same_key;
use super::{FieldPath, JsonError, Map, Record, Step, Val, parse_json};

/// The part of a value that some paths read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection(Want);

/// What is wanted of one value.
#[derive(Debug, Clone, PartialEq)]
enum Want {
    /// All of it.
    All,
    /// These members, if it is an object; and this of each item, if it is a list.
    Parts { keys: Vec<(Box<str>, Want)>, items: Option<Box<Want>> },
}

impl Projection {
    /// Reads everything.
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

    /// Whether everything is read.
    pub fn is_all(&self) -> bool {
        self.0 == Want::All
    }

    /// Reads what is wanted of the one JSON value of `text`. What is not read is checked for syntax only.
    pub fn read<'a>(&'a self, text: &'a str) -> Result<Record<'a>, JsonError> {
        let notes = Notes::default();
        match read_with(text, Part { want: &self.0, notes: &notes }) {
            Ok(value) if !notes.inexact.get() => Ok(Record { value, repeated_key: notes.repeated_key.get() }),
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

#[derive(Clone, Copy)]
struct Part<'w, 'n> {
    want: &'w Want,
    notes: &'n Notes,
}

impl<'w: 'de, 'de> DeserializeSeed<'de> for Part<'w, '_> {
    type Value = Val<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Val<'de>, D::Error> {
        match self.want {
            Want::All => deserializer.deserialize_any(Tree { notes: self.notes }),
            Want::Parts { .. } => deserializer.deserialize_any(self),
        }
    }
}

impl<'w: 'de, 'de> Visitor<'de> for Part<'w, '_> {
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
        let Want::Parts { items: Some(want), .. } = self.want else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Val::List(Vec::new()));
        };
        let part = Part { want, notes: self.notes };
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(part)? {
            items.push(item);
        }
        Ok(Val::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Val<'de>, A::Error> {
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
            let value = map.next_value_seed(Part { want, notes: self.notes })?;
            let bit = if ix < 64 { 1 << ix } else { 0 };
            if bit != 0 && come & bit == 0 {
                come |= bit;
                members.push(Cow::Borrowed(key), value);
            } else if members.insert(Cow::Borrowed(key), value) {
                self.notes.repeated_key.set(true);
            }
        }
        Ok(Val::Map(members))
    }
}

/// Finds a key among the wanted ones without keeping it.
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
