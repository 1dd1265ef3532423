//! Reading what is not the content of a reply.
//!
//! Gateways differ in what stands beside the words of a model: an id that is a number, counts of tokens that are `null`, `10.0` or text. A reply
//! whose content can be read is paid for and worth storing, so such members are read as far as they make sense and are absent otherwise.

use std::fmt;
use std::marker::PhantomData;

use jurat_format::value::Value;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::arguments;

/// A text; a number is its digits, anything else is absent.
#[derive(Debug, Default)]
pub(super) struct Text(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        Ok(Text(match deserializer.deserialize_option(Any(PhantomData::<IgnoredAny>))? {
            Found::Text(text) => Some(text),
            Found::Whole(number) => Some(number.to_string()),
            Found::Float(_) | Found::Object(_) | Found::Else => None,
        }))
    }
}

/// A count; anything else is absent.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Count(pub(super) Option<u64>);

impl Count {
    /// The count, or 0.
    pub(super) fn get(self) -> u64 {
        self.0.unwrap_or(0)
    }

    /// This count, or another where it is absent.
    pub(super) fn or(self, other: Count) -> Count {
        Count(self.0.or(other.0))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        Ok(Count(match deserializer.deserialize_option(Any(PhantomData::<IgnoredAny>))? {
            Found::Whole(number) => Some(number),
            // Casting saturates, and a count is never negative.
            Found::Float(number) => number.is_finite().then_some(number.round() as u64),
            Found::Text(text) => text.trim().parse().ok(),
            Found::Object(_) | Found::Else => None,
        }))
    }
}

/// An object; anything else is absent.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        Ok(Object(match deserializer.deserialize_option(Any(PhantomData::<T>))? {
            Found::Object(object) => Some(object),
            Found::Text(_) | Found::Whole(_) | Found::Float(_) | Found::Else => None,
        }))
    }
}

/// The arguments of a call: a text of JSON, or the JSON itself.
pub(super) fn arguments_of(json: Option<&RawValue>) -> Value {
    let json = json.map_or("", RawValue::get);
    match serde_json::from_str::<String>(json) {
        Ok(text) => arguments(&text),
        Err(_) if json == "null" => arguments(""),
        Err(_) => arguments(json),
    }
}

/// A piece of the arguments of a call, as text.
pub(super) fn arguments_piece(json: Option<&RawValue>) -> String {
    let json = json.map(RawValue::get).filter(|it| *it != "null").unwrap_or_default();
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

enum Found<T> {
    Text(String),
    Whole(u64),
    Float(f64),
    Object(T),
    Else,
}

/// Takes whatever comes, an object as a `T`, and nothing: asked for as an option, a member may be missing.
struct Any<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
    type Value = Found<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Found<T>, E> {
        Ok(Found::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found<T>, E> {
        Ok(Found::Whole(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found<T>, E> {
        Ok(Found::Else)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Found<T>, E> {
        Ok(Found::Float(number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found<T>, E> {
        Ok(Found::Else)
    }

    fn visit_unit<E>(self) -> Result<Found<T>, E> {
        Ok(Found::Else)
    }

    fn visit_none<E>(self) -> Result<Found<T>, E> {
        Ok(Found::Else)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found<T>, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Found<T>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Else)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Found<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Found::Object)
    }
}
