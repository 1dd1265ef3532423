//! The smallest value that a JSON schema allows.

use regex_syntax::hir::{Class, ClassBytesRange, Hir, HirKind};
use serde_json::{Map, Number, Value, json};

/// A word that no schema lists.
pub(crate) const NO_LABEL: &str = "no-such-label";

/// Returns a small instance of a schema. Where the schema leaves a choice (a flag, one of several words, a number within
/// bounds) the seed chooses, so that different questions get different answers.
///
/// It knows what judges use: types, lists of words, bounds, lengths, patterns, required properties, items, references
/// within the schema and combinations. It does not solve puzzles: of `anyOf` and `oneOf` it takes one branch without
/// looking at the others, `not` and conditions are not looked at.
///
/// ```
/// use jurat_testkit::instance;
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "label": { "enum": ["good", "bad"] }, "reason": { "type": "string", "minLength": 3 } },
///     "required": ["label", "reason"],
/// });
/// assert_eq!(instance(&schema, 1), json!({ "label": "bad", "reason": "aaa" }));
/// ```
pub fn instance(schema: &Value, seed: u64) -> Value {
    Maker { root: schema }.value(schema, seed, 0)
}

/// Deeper than any schema that ends.
const DEEPEST: usize = 64;

struct Maker<'s> {
    root: &'s Value,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, seed: u64, depth: usize) -> Value {
        let Value::Object(keys) = schema else { return json!({}) };
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(value) = keys.get("const") {
            return value.clone();
        }
        if let Some(values) = keys.get("enum").and_then(Value::as_array).filter(|it| !it.is_empty()) {
            return chosen(values, seed).clone();
        }
        if let Some(target) = keys.get("$ref").and_then(Value::as_str).and_then(|it| self.target(it)) {
            return self.value(target, seed, depth + 1);
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(branches) = keys.get(choice).and_then(Value::as_array).filter(|it| !it.is_empty()) {
                return self.value(&joined(keys, choice, chosen(branches, seed)), seed, depth + 1);
            }
        }
        if let Some(parts) = keys.get("allOf").and_then(Value::as_array) {
            let all = parts.iter().fold(without(keys, "allOf"), |all, part| merged(all, &self.resolved(part)));
            return self.value(&Value::Object(all), seed, depth + 1);
        }
        match type_of(keys).as_str() {
            "null" => Value::Null,
            "boolean" => json!(seed.is_multiple_of(2)),
            "integer" => json!(integer(keys, seed)),
            "number" => number(keys, seed),
            "string" => json!(string(keys)),
            "array" => self.array(keys, seed, depth),
            _ => self.object(keys, seed, depth),
        }
    }

    fn array(&self, keys: &Map<String, Value>, seed: u64, depth: usize) -> Value {
        let prefix = keys.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let least = keys.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
        let anything = json!({ "type": "null" });
        let rest = keys.get("items").filter(|it| it.is_object()).unwrap_or(&anything);
        let item = |ix: usize| self.value(prefix.get(ix).unwrap_or(rest), mixed(seed, ix as u64), depth + 1);
        (0..least).map(item).collect()
    }

    fn object(&self, keys: &Map<String, Value>, seed: u64, depth: usize) -> Value {
        let names = keys.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let properties = keys.get("properties");
        let anything = json!({ "type": "null" });
        let member = |name: &str| {
            let schema = properties.and_then(|it| it.get(name)).unwrap_or(&anything);
            (name.to_owned(), self.value(schema, mixed(seed, xxhash_rust::xxh3::xxh3_64(name.as_bytes())), depth + 1))
        };
        Value::Object(names.iter().filter_map(Value::as_str).map(member).collect())
    }

    fn resolved(&self, schema: &Value) -> Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|it| self.target(it));
        target.unwrap_or(schema).clone()
    }

    /// What `#/$defs/name` leads to.
    fn target(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

/// Gemini writes types in capitals, and others allow several: the first that is not null is the interesting one.
fn type_of(keys: &Map<String, Value>) -> String {
    let named = match keys.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|it| *it != "null").or(Some("null")),
        _ => None,
    };
    let implied = || {
        let implies = |any: &[&str]| any.iter().any(|it| keys.contains_key(*it));
        if implies(&["items", "prefixItems", "minItems"]) {
            "array"
        } else if implies(&["minLength", "maxLength", "pattern", "format"]) {
            "string"
        } else if implies(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            "object"
        }
    };
    named.unwrap_or_else(implied).to_ascii_lowercase()
}

/// A whole number between the bounds; without bounds one from 0 to 9.
fn integer(keys: &Map<String, Value>, seed: u64) -> i64 {
    let bound = |name: &str| keys.get(name).and_then(Value::as_f64);
    let least = bound("minimum").map(f64::ceil).or(bound("exclusiveMinimum").map(|it| it.floor() + 1.0));
    let most = bound("maximum").map(f64::floor).or(bound("exclusiveMaximum").map(|it| it.ceil() - 1.0));
    let (least, most) = match (least, most) {
        (Some(least), Some(most)) => (least as i64, most as i64),
        (Some(least), None) => (least as i64, (least as i64).saturating_add(9)),
        (None, Some(most)) => ((most as i64).saturating_sub(9), most as i64),
        (None, None) => (0, 9),
    };
    let step = bound("multipleOf").map_or(1, |it| (it as i64).max(1));
    let (first, last) = (least.div_euclid(step) + i64::from(least.rem_euclid(step) > 0), most.div_euclid(step));
    let choices = last.saturating_sub(first).saturating_add(1).max(1) as u64;
    (first + (seed % choices) as i64) * step
}

/// A number between the bounds in steps of a tenth of their distance; without bounds from 0 to 1.
fn number(keys: &Map<String, Value>, seed: u64) -> Value {
    if keys.contains_key("multipleOf") {
        return json!(integer(keys, seed));
    }
    let bound = |name: &str| keys.get(name).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum"));
    let most = bound("maximum").or(bound("exclusiveMaximum"));
    let (least, most) = match (least, most) {
        (Some(least), Some(most)) => (least, most),
        (Some(least), None) => (least, least + 1.0),
        (None, Some(most)) => (most - 1.0, most),
        (None, None) => (0.0, 1.0),
    };
    // Neither bound itself, because it may be excluded; equal bounds leave no choice.
    let tenths = (1 + seed % 9) as f64 / 10.0;
    let between = least * (1.0 - tenths) + most * tenths;
    Number::from_f64(between.clamp(least, most)).map_or(json!(0), Value::Number)
}

fn string(keys: &Map<String, Value>) -> String {
    if let Some(text) = keys.get("pattern").and_then(Value::as_str).and_then(matching) {
        return text;
    }
    match keys.get("format").and_then(Value::as_str) {
        Some("date") => "2024-01-01".to_owned(),
        Some("date-time") => "2024-01-01T00:00:00Z".to_owned(),
        Some("time") => "00:00:00Z".to_owned(),
        Some("email") => "a@example.com".to_owned(),
        Some("uri") => "http://example.com/".to_owned(),
        Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
        _ => "a".repeat(keys.get("minLength").and_then(Value::as_u64).unwrap_or(1).max(1) as usize),
    }
}

/// A text that matches a pattern.
fn matching(pattern: &str) -> Option<String> {
    let mut text = Vec::new();
    write_matching(&regex_syntax::parse(pattern).ok()?, &mut text);
    String::from_utf8(text).ok()
}

fn write_matching(hir: &Hir, text: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(class) => match class {
            Class::Unicode(class) => {
                let visible = class.iter().find(|it| it.end() >= ' ');
                let char = visible.map(|it| it.start().max(' ')).unwrap_or_default();
                text.extend(char.to_string().bytes());
            }
            Class::Bytes(class) => text.extend(class.iter().next().map(ClassBytesRange::start)),
        },
        HirKind::Repetition(repetition) => (0..repetition.min).for_each(|_| write_matching(&repetition.sub, text)),
        HirKind::Capture(capture) => write_matching(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().for_each(|it| write_matching(it, text)),
        HirKind::Alternation(branches) => branches.iter().take(1).for_each(|it| write_matching(it, text)),
    }
}

fn chosen(values: &[Value], seed: u64) -> &Value {
    &values[(seed % values.len() as u64) as usize]
}

/// What stands beside a choice holds for its branches too.
fn joined(keys: &Map<String, Value>, choice: &str, branch: &Value) -> Value {
    let beside = without(keys, choice);
    if beside.keys().any(|it| matches!(it.as_str(), "properties" | "required" | "type")) {
        Value::Object(merged(beside, branch))
    } else {
        branch.clone()
    }
}

fn without(keys: &Map<String, Value>, name: &str) -> Map<String, Value> {
    keys.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Both schemas at once, as far as objects go: properties and required names are joined, of all else the second wins.
fn merged(mut all: Map<String, Value>, part: &Value) -> Map<String, Value> {
    for (key, value) in part.as_object().into_iter().flatten() {
        match (key.as_str(), all.get_mut(key), value) {
            ("properties", Some(Value::Object(have)), Value::Object(more)) => have.extend(more.clone()),
            ("required", Some(Value::Array(have)), Value::Array(more)) => {
                let new: Vec<Value> = more.iter().filter(|it| !have.contains(it)).cloned().collect();
                have.extend(new);
            }
            _ => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    all
}

fn mixed(seed: u64, salt: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&salt.to_le_bytes(), seed)
}
