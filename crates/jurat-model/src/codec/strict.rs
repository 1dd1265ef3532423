//! Which schemas a provider can hold a model to.
//!
//! Providers that write under a grammar understand a part of JSON Schema and refuse the rest. A schema that stays within that part is
//! sent to be enforced; another one is sent too, unchanged, but as a wish. Either way the reply is validated against all of it.
//!
//! The rules err on the careful side: a request that a provider refuses cannot be judged at all.

use std::borrow::Cow;

use jurat_format::value::{Map, Val, Value};

/// What a provider understands.
struct Rules {
    keywords: &'static [&'static str],
    formats: &'static [&'static str],
    /// Whether an object may leave out a property.
    may_be_optional: bool,
    max_depth: usize,
}

const COMMON: [&str; 13] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "description",
    "title",
    "format",
];

const OPENAI: Rules = Rules {
    keywords: &[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    may_be_optional: false,
    max_depth: 10,
};

const ANTHROPIC: Rules = Rules {
    keywords: &["default"],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
    may_be_optional: true,
    max_depth: 10,
};

/// Whether OpenAI takes the schema with `strict: true`.
pub(super) fn fits_openai(schema: &Value) -> bool {
    OPENAI.root(schema)
}

/// The most properties that Anthropic lets a schema leave out.
const MOST_OPTIONAL: usize = 24;

/// The schema as Anthropic takes it: what is not supported stands in descriptions, where the model reads it. `None` when it cannot be
/// enforced at all.
pub(super) fn for_anthropic(schema: &Value) -> Option<Cow<'_, Value>> {
    let fits = |it: &Value| ANTHROPIC.root(it) && n_optional(it) <= MOST_OPTIONAL;
    // A schema that refers to itself is refused there.
    if has_reference(schema) {
        return None;
    }
    if fits(schema) {
        return Some(Cow::Borrowed(schema));
    }
    let simpler = ANTHROPIC.simplified(schema);
    fits(&simpler).then_some(Cow::Owned(simpler))
}

/// How many properties may be left out in all.
fn n_optional(schema: &Val<'_>) -> usize {
    match schema {
        Val::Map(map) => {
            let n_required = map.get("required").and_then(Val::as_list).map_or(0, <[_]>::len);
            let n_properties = map.get("properties").and_then(Val::as_map).map_or(0, |it| it.iter().count());
            n_properties.saturating_sub(n_required) + map.iter().map(|(_, it)| n_optional(it)).sum::<usize>()
        }
        Val::List(items) => items.iter().map(n_optional).sum(),
        _ => 0,
    }
}

impl Rules {
    fn root(&self, schema: &Value) -> bool {
        schema.get("type").and_then(Val::as_str) == Some("object")
            && schema.get("anyOf").is_none()
            && self.schema(schema, 0)
    }

    fn schema(&self, schema: &Val<'_>, depth: usize) -> bool {
        let Some(map) = schema.as_map() else { return false };
        let is_known = |key: &str| COMMON.contains(&key) || self.keywords.contains(&key);
        depth <= self.max_depth
            && map.keys().all(is_known)
            && (["type", "anyOf", "$ref"].iter().any(|it| map.get(it).is_some()))
            && (!is_object(map) || self.object(map))
            && (!is_array(map) || map.get("items").is_some())
            && map.get("format").is_none_or(|it| it.as_str().is_some_and(|it| self.formats.contains(&it)))
            && map.get("enum").is_none_or(|it| it.as_list().is_some_and(|it| it.iter().all(is_scalar)))
            && map.get("const").is_none_or(is_scalar)
            && map.get("items").is_none_or(|it| self.schema(it, depth + 1))
            && map
                .get("anyOf")
                .is_none_or(|it| it.as_list().is_some_and(|it| it.iter().all(|it| self.schema(it, depth))))
            && ["properties", "$defs"]
                .iter()
                .filter_map(|it| map.get(it))
                .all(|it| it.as_map().is_some_and(|it| it.iter().all(|(_, schema)| self.schema(schema, depth + 1))))
    }

    /// A schema without what is not understood, which goes into the description. Objects are closed, and an `enum` names its type.
    fn simplified(&self, schema: &Val<'_>) -> Value {
        let Some(map) = schema.as_map() else { return schema.clone().into_owned() };
        let is_known =
            |key: &str| (COMMON.contains(&key) || self.keywords.contains(&key)) && !self.is_odd_format(key, map);
        let mut simpler: Vec<(String, Value)> = Vec::new();
        for (key, value) in map.iter().filter(|(key, _)| is_known(key)) {
            let value = match key {
                "properties" | "$defs" => self.each(value),
                "items" => self.simplified(value),
                "anyOf" => value.as_list().unwrap_or(&[]).iter().map(|it| self.simplified(it)).collect(),
                _ => value.clone().into_owned(),
            };
            simpler.push((key.to_owned(), value));
        }
        let lost: Vec<String> =
            map.iter().filter(|(it, _)| !is_known(it)).map(|(key, it)| format!("{key}: {}", it.to_json())).collect();
        if !lost.is_empty() {
            let said = map.get("description").and_then(Val::as_str).map_or_else(String::new, |it| format!("{it} "));
            set(&mut simpler, "description", Val::from(format!("{said}({})", lost.join(", "))));
        }
        if is_object(map) && map.get("additionalProperties").is_none_or(|it| *it == Val::Bool(true)) {
            set(&mut simpler, "additionalProperties", Val::Bool(false));
        }
        if map.get("type").is_none()
            && let Some(kinds) = kinds_of(map)
        {
            set(&mut simpler, "type", kinds);
        }
        Val::Map(simpler.into_iter().collect::<Map<'static>>())
    }

    fn each(&self, schemas: &Val<'_>) -> Value {
        let schemas = schemas.as_map().into_iter().flat_map(Map::iter);
        Val::Map(schemas.map(|(name, it)| (name.to_owned(), self.simplified(it))).collect::<Map<'static>>())
    }

    fn is_odd_format(&self, key: &str, map: &Map<'_>) -> bool {
        key == "format" && map.get("format").and_then(Val::as_str).is_none_or(|it| !self.formats.contains(&it))
    }

    fn object(&self, map: &Map<'_>) -> bool {
        let Some(properties) = map.get("properties").and_then(Val::as_map) else { return false };
        let required = map.get("required").and_then(Val::as_list).unwrap_or(&[]);
        let is_required = |name: &str| required.iter().any(|it| it.as_str() == Some(name));
        map.get("additionalProperties") == Some(&Val::Bool(false))
            && (self.may_be_optional || properties.keys().all(is_required))
    }
}

fn set(members: &mut Vec<(String, Value)>, key: &str, value: Value) {
    members.retain(|(it, _)| it != key);
    members.push((key.to_owned(), value));
}

/// The type of the values of an `enum` or `const`.
fn kinds_of(map: &Map<'_>) -> Option<Value> {
    let values: Vec<&Val<'_>> = match (map.get("enum"), map.get("const")) {
        (Some(values), _) => values.as_list()?.iter().collect(),
        (None, Some(value)) => vec![value],
        (None, None) => return None,
    };
    let kind = |it: &&Val<'_>| match it {
        Val::Str(_) => Some("string"),
        Val::Bool(_) => Some("boolean"),
        Val::Null => Some("null"),
        Val::I(_) | Val::U(_) => Some("integer"),
        Val::F(_) | Val::Big(_) => Some("number"),
        Val::List(_) | Val::Map(_) => None,
    };
    let mut kinds: Vec<&str> = values.iter().map(kind).collect::<Option<_>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    match kinds.as_slice() {
        [] => None,
        [one] => Some(Val::from((*one).to_owned())),
        several => Some(several.iter().map(|it| Val::from((*it).to_owned())).collect()),
    }
}

fn has_type(map: &Map<'_>, name: &str) -> bool {
    match map.get("type") {
        Some(Val::Str(kind)) => kind == name,
        Some(Val::List(kinds)) => kinds.iter().any(|it| it.as_str() == Some(name)),
        _ => false,
    }
}

fn is_object(map: &Map<'_>) -> bool {
    has_type(map, "object") || map.get("properties").is_some()
}

fn is_array(map: &Map<'_>) -> bool {
    has_type(map, "array")
}

fn is_scalar(value: &Val<'_>) -> bool {
    !matches!(value, Val::List(_) | Val::Map(_))
}

fn has_reference(value: &Val<'_>) -> bool {
    match value {
        Val::Map(map) => map.get("$ref").is_some() || map.iter().any(|(_, it)| has_reference(it)),
        Val::List(items) => items.iter().any(has_reference),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fits(schema: &str, openai: bool, anthropic: bool) {
        let schema = jurat_format::value::parse_json(schema).unwrap().value.into_owned();
        let is_unchanged = matches!(for_anthropic(&schema), Some(Cow::Borrowed(_)));
        assert_eq!((fits_openai(&schema), is_unchanged), (openai, anthropic), "{schema}");
    }

    #[track_caller]
    fn becomes(schema: &str, simpler: Option<&str>) {
        let schema = jurat_format::value::parse_json(schema).unwrap().value.into_owned();
        let simpler = simpler.map(|it| jurat_format::value::parse_json(it).unwrap().value.into_owned());
        assert_eq!(for_anthropic(&schema).map(Cow::into_owned), simpler);
    }

    #[test]
    fn what_anthropic_does_not_enforce_is_described() {
        becomes(
            &with(r#"{"type":"integer","description":"how good","minimum":1,"maximum":5}"#),
            Some(&with(r#"{"type": "integer", "description": "how good (minimum: 1, maximum: 5)"}"#)),
        );
        becomes(&with(r#"{"enum":["x","y"]}"#), Some(&with(r#"{"enum": ["x", "y"], "type": "string"}"#)));
        becomes(
            &with(r#"{"type":"string","format":"iri"}"#),
            Some(&with(r#"{"type": "string", "description": "(format: \"iri\")"}"#)),
        );
        becomes(&with(r##"{"$ref":"#/$defs/x"}"##), None);
        becomes(&with("true"), None);
        becomes(r#"{"type":"array","items":{"type":"string"}}"#, None);
    }

    /// An object with one property.
    fn with(property: &str) -> String {
        format!(r#"{{"type":"object","properties":{{"a":{property}}},"required":["a"],"additionalProperties":false}}"#)
    }

    #[test]
    fn what_a_provider_refuses_is_not_sent_as_strict() {
        fits(&with(r#"{"type":"string"}"#), true, true);
        fits(&with(r#"{"type":["string","null"],"enum":["x",null]}"#), true, true);
        fits(&with(r#"{"type":"array","items":{"type":"integer"}}"#), true, true);
        fits(&with(&with(r#"{"type":"boolean"}"#)), true, true);
        fits(&with(r#"{"anyOf":[{"type":"string"},{"type":"number"}]}"#), true, true);
        fits(&with(r#"{"type":"integer","minimum":1,"maximum":5}"#), true, false);
        fits(&with(r#"{"type":"string","pattern":"^a"}"#), true, false);
        fits(&with(r##"{"$ref":"#/$defs/x"}"##), true, false);
        fits(&with(r#"{"type":"string","default":"x"}"#), false, true);
        fits(&with(r#"{"type":"string","minLength":1}"#), false, false);
        fits(&with(r#"{"enum":["x","y"]}"#), false, false);
        fits(&with(r#"{"type":"string","format":"iri"}"#), false, false);
        fits(&with(r#"{"type":"array"}"#), false, false);
        fits(&with(r#"{"allOf":[{"type":"string"}]}"#), false, false);
        fits(&with("true"), false, false);
        fits(r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#, false, false);
        fits(
            r#"{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}"#,
            false,
            true,
        );
        fits(r#"{"type":"array","items":{"type":"string"}}"#, false, false);
        fits(r#"{"type":"object"}"#, false, false);
        let deep = (0..12).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| with(&inner));
        fits(&deep, false, false);
    }
}
