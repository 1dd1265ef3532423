//! Values of a program: what it gives as anything that serde can write, and what it gets back.

use std::fmt;

use jurat_format::value::{FieldPath, Val, parse_json};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::Error;

/// A JSON value that a suite holds or a run found: numbers are exact, members keep their order.
///
/// ```
/// use jurat::Value;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Reply {
///     category: String,
///     scores: Vec<u32>,
/// }
///
/// let value = Value::new(serde_json::json!({ "category": "kitchen", "scores": [7, 9] }))?;
/// assert_eq!(value.at("scores[-1]"), Some(Value::new(9)?));
/// assert_eq!(value.at("category").as_ref().and_then(Value::as_str), Some("kitchen"));
/// let reply: Reply = value.read()?;
/// assert_eq!((reply.category.as_str(), reply.scores.len()), ("kitchen", 2));
/// # Ok::<(), jurat::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Value(pub(crate) jurat_format::value::Value);

impl Value {
    /// Anything that serde can write as JSON. What JSON cannot say, such as NaN, becomes null, as `serde_json` has it.
    pub fn new(value: impl Serialize) -> Result<Value, Error> {
        given(&value).map(Value).map_err(|reason| Error::Value { what: "a value".to_owned(), reason })
    }

    /// The value as a type of the caller's.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.0.to_json()).map_err(|it| Error::Read(Box::new(it)))
    }

    /// What a field path such as `category` or `scores[0].value` leads to; nothing when it leads nowhere or is none.
    pub fn at(&self, path: &str) -> Option<Value> {
        let found = FieldPath::parse(path).ok()?.find(&self.0).ok()?.into_owned();
        Some(Value(found.into_owned()))
    }

    /// The text, when it is text.
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }

    /// The number, when it is one; the nearest one where it does not fit.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    /// The truth, when it is `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.0 {
            Val::Bool(it) => Some(it),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.0 == Val::Null
    }
}

/// From parts of scenarios, which hold such values.
impl From<jurat_format::value::Value> for Value {
    fn from(value: jurat_format::value::Value) -> Value {
        Value(value)
    }
}

/// For scenarios, whose parts hold such values.
impl From<Value> for jurat_format::value::Value {
    fn from(value: Value) -> jurat_format::value::Value {
        value.0
    }
}

/// As JSON, on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_json())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

fn serialize<S: Serializer>(value: &Val<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    struct Member<'m>(&'m Val<'m>);
    impl Serialize for Member<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serialize(self.0, serializer)
        }
    }
    match value {
        Val::Null => serializer.serialize_unit(),
        Val::Bool(it) => serializer.serialize_bool(*it),
        Val::I(it) => serializer.serialize_i64(*it),
        Val::U(it) => serializer.serialize_u64(*it),
        Val::F(it) => serializer.serialize_f64(*it),
        // Only JSON has numbers of any size; this is how `serde_json` lets them through.
        Val::Big(it) => {
            let raw = serde_json::value::RawValue::from_string(it.clone().into_owned()).map_err(S::Error::custom)?;
            raw.serialize(serializer)
        }
        Val::Str(it) => serializer.serialize_str(it),
        Val::List(items) => {
            let mut list = serializer.serialize_seq(Some(items.len()))?;
            for item in items {
                list.serialize_element(&Member(item))?;
            }
            list.end()
        }
        Val::Map(members) => {
            let mut map = serializer.serialize_map(Some(members.len()))?;
            for (name, member) in members.iter() {
                map.serialize_entry(name, &Member(member))?;
            }
            map.end()
        }
    }
}

/// A value that a program gave, or why it is none, in words.
pub(crate) type Given = Result<jurat_format::value::Value, String>;

/// What a program gave, as a value.
pub(crate) fn given(value: &(impl Serialize + ?Sized)) -> Given {
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    parse_json(&text).map(|it| it.value.into_owned()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_out_as_they_came_in() {
        let texts =
            ["null", "true", "-1", "18446744073709551615", "0.1", "1e400", "\"é\"", "[1,[]]", r#"{"b":1,"a":{}}"#];
        for text in texts {
            let value = Value(parse_json(text).expect("it is JSON").value.into_owned());
            assert_eq!(serde_json::to_string(&value).expect("it can be written"), text);
            assert_eq!(given(&value), Ok(value.0), "{text}");
        }
    }
}
