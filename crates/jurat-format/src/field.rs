//! Keys that know how their values are read.
//!
//! A [`Field`] is the one declaration of a key: its name, its form, its meaning, its default and its reader. [`Fields`](crate::fields::Fields) reads the
//! value of a field; the table of an [`Object`](crate::form::Object) lists `FIELD.key`.
//!
//! ```
//! use jurat_format::field::{Defaulted, Field};
//! use jurat_format::form::Object;
//! use jurat_format::shape;
//! use jurat_format::value::Spanned;
//!
//! const MODEL: Field<Spanned<String>> = Field::required("model", shape::TEXT, "the model that is asked");
//! const MAX_RETRIES: Defaulted<u32> = Field::optional("max_retries", shape::count::<0>(), "retries per judgement").default(3);
//! static JUDGE: Object = Object { what: "a judge", keys: &[MODEL.key, MAX_RETRIES.key] };
//!
//! assert_eq!(JUDGE.find("max_retries").and_then(|it| it.default).map(|it| it.to_string()).as_deref(), Some("`3`"));
//! ```

use std::time::Duration;

use crate::choice::Choice;
use crate::form::{DefaultValue, Form, Key};
use crate::reader::Reading;
use crate::shape::{self, Read, Shape};
use crate::value::{Map, Node, Val};

pub const DESCRIPTION: Field<String> =
    Field::optional("description", shape::STRING, "what it is for; shown in reports");

pub const METADATA: Field<Map<'static>> = Field::optional(
    "metadata",
    Shape::new(Form::Map(&Form::Any), metadata),
    "any further values; stored with it and not used",
)
.or_null();

fn metadata(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Map<'static>> {
    match node.to_val().into_owned() {
        Val::Map(map) => Some(map),
        _ => {
            reading.wrong_type(what, "an object", node);
            None
        }
    }
}

/// A key, and how its value is read.
pub struct Field<V> {
    pub key: Key,
    pub(crate) read: Read<V>,
}

/// A field with a value for when it is absent.
pub struct Defaulted<V> {
    pub key: Key,
    pub(crate) read: Read<V>,
    pub value: V,
}

// Derived, these would want the value to be `Copy`, which is never there.
impl<V> Copy for Field<V> {}

impl<V> Clone for Field<V> {
    fn clone(&self) -> Field<V> {
        *self
    }
}

impl<V> Field<V> {
    pub const fn required(name: &'static str, shape: Shape<V>, doc: &'static str) -> Field<V> {
        Field { key: Key::required(name, shape.form, doc), read: shape.read }
    }

    pub const fn optional(name: &'static str, shape: Shape<V>, doc: &'static str) -> Field<V> {
        Field { key: Key::optional(name, shape.form, doc), read: shape.read }
    }

    /// Reads a value that stands in no object with this field.
    pub fn read_node(&self, reading: &mut Reading<'_>, node: &Node<'_>) -> Option<V> {
        (self.read)(reading, &self.key.quoted(), node)
    }

    pub const fn name(&self) -> &'static str {
        self.key.name
    }

    /// Its name as problems show it.
    pub fn quoted(&self) -> String {
        self.key.quoted()
    }

    /// The field with other spellings that are read too.
    pub const fn or(self, aliases: &'static [&'static str]) -> Field<V> {
        Field { key: self.key.or(aliases), read: self.read }
    }

    /// The field with null read as if it were absent, as files of other programs write it.
    pub const fn or_null(self) -> Field<V> {
        Field { key: self.key.or_null(), read: self.read }
    }

    /// The field with words for what holds when it is absent, such as ``the role `judge` ``.
    pub const fn default_words(self, words: &'static str) -> Field<V> {
        Field { key: self.key.default(DefaultValue::Words(words)), read: self.read }
    }

    /// The field with a default that something else applies.
    pub const fn printed_default(self, value: DefaultValue) -> Field<V> {
        Field { key: self.key.default(value), read: self.read }
    }

    const fn defaulted(self, value: V, printed: DefaultValue) -> Defaulted<V> {
        Defaulted { key: self.key.default(printed), read: self.read, value }
    }
}

impl Field<u32> {
    pub const fn default(self, value: u32) -> Defaulted<u32> {
        self.defaulted(value, DefaultValue::Integer(value as i64))
    }
}

impl Field<i64> {
    pub const fn default(self, value: i64) -> Defaulted<i64> {
        self.defaulted(value, DefaultValue::Integer(value))
    }
}

impl Field<bool> {
    pub const fn default(self, value: bool) -> Defaulted<bool> {
        self.defaulted(value, DefaultValue::Boolean(value))
    }
}

impl Field<f64> {
    pub const fn default(self, value: f64) -> Defaulted<f64> {
        self.defaulted(value, DefaultValue::Number(value))
    }
}

impl Field<Duration> {
    pub const fn default_seconds(self, seconds: u64) -> Defaulted<Duration> {
        self.defaulted(Duration::from_secs(seconds), DefaultValue::Seconds(seconds))
    }
}

impl Field<u64> {
    pub const fn default_bytes(self, bytes: u64) -> Defaulted<u64> {
        self.defaulted(bytes, DefaultValue::Bytes(bytes))
    }
}

impl<T: Choice> Field<T> {
    /// The field with one of its names as the default.
    pub const fn default_choice(self, name: &'static str) -> Defaulted<T> {
        let mut ix = 0;
        while !is_same(T::NAMED[ix].0, name) {
            ix += 1;
        }
        self.defaulted(T::NAMED[ix].1, DefaultValue::Name(name))
    }
}

/// Whether two texts are equal, for constants.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut ix = 0;
    while ix < one.len() && ix < other.len() && one[ix] == other[ix] {
        ix += 1;
    }
    ix == one.len() && ix == other.len()
}

/// Something that is declared as a key of an object.
pub trait Named {
    fn key(&self) -> &Key;
}

impl Named for Key {
    fn key(&self) -> &Key {
        self
    }
}

impl<N: Named> Named for &N {
    fn key(&self) -> &Key {
        (*self).key()
    }
}

impl<V> Named for Field<V> {
    fn key(&self) -> &Key {
        &self.key
    }
}

impl<V> Named for Defaulted<V> {
    fn key(&self) -> &Key {
        &self.key
    }
}
