//! The JSON Schema of an outcome and its rows in the reference, from the tables that read it.

use jurat_format::form::{Form, Key, Keys, object};
use jurat_format::value::{Val, Value};

use super::long::TYPES;
use super::short::SHORT;
use crate::outcome::wire::CHECKS;

/// An object with one key, or one with `type`.
pub(in crate::suite) fn schema() -> Value {
    let short = SHORT.iter().map(|it| {
        let Val::Map(mut form) = it.form.schema() else { return Val::Null };
        form.insert("description".into(), Val::from(it.doc));
        let name = Val::from(it.name);
        Val::Map(object([
            ("type", Val::from("object")),
            ("properties", Val::Map([(it.name, Val::Map(form))].into_iter().collect())),
            ("required", [name].into_iter().collect()),
            ("additionalProperties", Val::Bool(false)),
        ]))
    });
    let long = TYPES.iter().map(|(name, keys)| {
        let Val::Map(mut schema) = keys.schema() else { return Val::Null };
        let class = CHECKS.iter().find(|(it, _)| it == name).map_or(*name, |(_, class)| class);
        let names: Value = [Val::from(*name), Val::from(class)].into_iter().collect();
        let Some(Val::Map(properties)) = schema.get("properties") else { return Val::Null };
        let mut properties = properties.clone();
        properties.insert("type".into(), Val::Map(object([("enum", names)])));
        schema.insert("properties".into(), Val::Map(properties));
        Val::Map(schema)
    });
    Val::Map(object([("anyOf", short.chain(long).collect())]))
}

/// Every way to write an outcome with one key.
pub(in crate::suite) fn written() -> impl Iterator<Item = Key> {
    SHORT.iter().map(|it| Key::optional(it.name, it.form, it.doc))
}

/// The objects that outcomes are made of, short and long.
pub(in crate::suite) fn objects() -> impl Iterator<Item = &'static Keys> {
    let short = SHORT.iter().filter_map(|it| match it.form {
        Form::Object(keys) => Some(keys),
        _ => None,
    });
    short.chain(TYPES.iter().map(|(_, keys)| *keys))
}
