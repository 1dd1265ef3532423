//! Writing the JSON of a request, with the author's `extra` merged in.
//!
//! Members of `extra` stand beside ours. Where both have an object of the same name (`generationConfig`, `options`), the members of
//! both go into it; where both have anything else, that is a clash and an error, because one of the two would be lost.

use jurat_core::effect::Schema;
use jurat_format::value::{Map, Val, Value};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::Unsupported;

pub(crate) fn write(
    extra: Option<&Map<'static>>,
    fill: impl FnOnce(&mut Object<'_, '_>),
) -> Result<Vec<u8>, Unsupported> {
    let mut bytes = Vec::with_capacity(1024);
    let mut clash = None;
    Object::write(&mut bytes, extra, &mut clash, fill);
    match clash {
        None => Ok(bytes),
        Some(key) => Err(Unsupported(format!("`{key}` under `extra` is already in the request; leave it out there"))),
    }
}

/// An object that is being written.
pub(crate) struct Object<'b, 'e> {
    bytes: &'b mut Vec<u8>,
    extra: Option<&'e Map<'static>>,
    /// The members of `extra` that went into an object of ours.
    merged: Vec<&'static str>,
    clash: &'b mut Option<String>,
}

impl<'b, 'e> Object<'b, 'e> {
    fn write(
        bytes: &'b mut Vec<u8>,
        extra: Option<&'e Map<'static>>,
        clash: &'b mut Option<String>,
        fill: impl FnOnce(&mut Object<'_, '_>),
    ) {
        bytes.push(b'{');
        let mut object = Object { bytes, extra, merged: Vec::new(), clash };
        fill(&mut object);
        for (key, value) in extra.iter().flat_map(|it| it.iter()) {
            if !object.merged.contains(&key) {
                object.key(key);
                write_json(object.bytes, &Json(value));
            }
        }
        object.bytes.push(b'}');
    }

    pub(crate) fn member(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) {
        self.own(key);
        write_json(self.bytes, value);
    }

    /// Writes a member whose name comes from outside, into an object that `extra` does not reach.
    pub(crate) fn dynamic(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        self.key(key);
        write_json(self.bytes, value);
    }

    /// Writes a member that may be absent.
    pub(crate) fn optional(&mut self, key: &'static str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.member(key, &value);
        }
    }

    /// Writes a member that is a list of objects.
    pub(crate) fn list<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(&mut Object<'_, '_>, T),
    ) {
        self.own(key);
        self.bytes.push(b'[');
        for (ix, item) in items.into_iter().enumerate() {
            if ix > 0 {
                self.bytes.push(b',');
            }
            Object::write(self.bytes, None, self.clash, |object| fill(object, item));
        }
        self.bytes.push(b']');
    }

    /// Writes a member that is an object.
    pub(crate) fn object(&mut self, key: &'static str, fill: impl FnOnce(&mut Object<'_, '_>)) {
        self.own(key);
        Object::write(self.bytes, None, self.clash, fill);
    }

    /// Writes a member that is an object, into which the one of `extra` goes.
    pub(crate) fn open_object(&mut self, key: &'static str, fill: impl FnOnce(&mut Object<'_, '_>)) {
        let extra = match self.extra.and_then(|it| it.get(key)) {
            Some(Val::Map(map)) => Some(map),
            Some(_) => {
                self.clash.get_or_insert_with(|| key.to_owned());
                None
            }
            None => None,
        };
        self.merged.push(key);
        self.key(key);
        Object::write(self.bytes, extra, self.clash, fill);
    }

    /// Writes the key of a member that is ours alone.
    fn own(&mut self, key: &'static str) {
        if self.extra.is_some_and(|it| it.get(key).is_some()) {
            self.clash.get_or_insert_with(|| key.to_owned());
        }
        self.key(key);
    }

    fn key(&mut self, key: &str) {
        if self.bytes.last() != Some(&b'{') {
            self.bytes.push(b',');
        }
        write_json(self.bytes, &key);
        self.bytes.push(b':');
    }
}

fn write_json(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(bytes, value).expect("texts, numbers, lists and objects are JSON");
}

/// A value as it stands: members in the author's order, numbers exactly.
pub(crate) struct Json<'v>(pub(crate) &'v Val<'v>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Val::Null => serializer.serialize_unit(),
            Val::Bool(value) => serializer.serialize_bool(*value),
            Val::I(number) => serializer.serialize_i64(*number),
            Val::U(number) => serializer.serialize_u64(*number),
            Val::F(number) => serializer.serialize_f64(*number),
            Val::Big(text) => match RawValue::from_string(text.clone().into_owned()) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_unit(),
            },
            Val::Str(text) => serializer.serialize_str(text),
            Val::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|it| list.serialize_element(&Json(it)))?;
                list.end()
            }
            Val::Map(map) => {
                let mut object = serializer.serialize_map(Some(map.len()))?;
                map.iter().try_for_each(|(key, value)| object.serialize_entry(key, &Json(value)))?;
                object.end()
            }
        }
    }
}

/// A schema. Thousands of requests have the same one, which is written once.
pub(super) struct SchemaJson<'s>(pub(super) &'s Schema);

impl Serialize for SchemaJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = |value: &Value| to_raw_value(&Json(value)).expect("values are JSON");
        self.0.sent(written).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(extra: &str) -> String {
        let extra = jurat_format::value::parse_json(extra).unwrap().value.into_owned();
        let written = write(extra.as_map(), |body| {
            body.member("model", &"m");
            body.open_object("options", |options| options.member("seed", &1));
            body.list("items", [1, 2], |item, it| item.optional("n", Some(it).filter(|it| *it > 1)));
        });
        written.map_or_else(|error| error.to_string(), |it| String::from_utf8(it).unwrap())
    }

    #[test]
    fn extra_is_merged_and_never_wins() {
        for (extra, body) in [
            ("{}", r#"{"model":"m","options":{"seed":1},"items":[{},{"n":2}]}"#),
            (
                r#"{"b":[1.0,12345678901234567890123],"a":null}"#,
                r#"{"model":"m","options":{"seed":1},"items":[{},{"n":2}],"b":[1.0,12345678901234567890123],"a":null}"#,
            ),
            (r#"{"options":{"top_k":4}}"#, r#"{"model":"m","options":{"seed":1,"top_k":4},"items":[{},{"n":2}]}"#),
            (r#"{"options":{"seed":4}}"#, "`seed` under `extra` is already in the request; leave it out there"),
            (r#"{"options":4}"#, "`options` under `extra` is already in the request; leave it out there"),
            (r#"{"model":"x"}"#, "`model` under `extra` is already in the request; leave it out there"),
        ] {
            assert_eq!(written(extra), body);
        }
    }
}
