//! Which schemas a provider can hold a model to.
//!
//! Providers that write under a grammar understand a part of JSON Schema and refuse the rest. A schema that stays within that part is
//! sent to be enforced; another one is sent too, unchanged, but as a wish. Either way the reply is validated against all of it.
//!
//! The rules err on the careful side: a request that a provider refuses cannot be judged at all.

use jurat_core::value::{Map, Val, Value};

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
    // Allowed, but only so many of them; rather the other way than a refusal.
    may_be_optional: false,
    max_depth: 10,
};

/// Whether OpenAI takes the schema with `strict: true`.
pub(super) fn fits_openai(schema: &Value) -> bool {
    OPENAI.root(schema)
}

/// Whether Anthropic takes the schema as `output_config.format`.
pub(super) fn fits_anthropic(schema: &Value) -> bool {
    // A schema that refers to itself is refused there.
    !has_reference(schema) && ANTHROPIC.root(schema)
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

    fn object(&self, map: &Map<'_>) -> bool {
        let Some(properties) = map.get("properties").and_then(Val::as_map) else { return false };
        let required = map.get("required").and_then(Val::as_list).unwrap_or(&[]);
        let is_required = |name: &str| required.iter().any(|it| it.as_str() == Some(name));
        map.get("additionalProperties") == Some(&Val::Bool(false))
            && (self.may_be_optional || properties.keys().all(is_required))
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
        let schema = jurat_core::value::parse_json(schema).unwrap().value.into_owned();
        assert_eq!((fits_openai(&schema), fits_anthropic(&schema)), (openai, anthropic), "{schema}");
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
            false,
        );
        fits(r#"{"type":"array","items":{"type":"string"}}"#, false, false);
        fits(r#"{"type":"object"}"#, false, false);
        let deep = (0..12).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| with(&inner));
        fits(&deep, false, false);
    }
}
