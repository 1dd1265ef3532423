//! What a model must answer: a JSON Schema, or one of its short forms.
//!
//! ```yaml
//! output: { category: { enum: [kitchen, bath] }, reason: string, scores: [number], detail: { depth: integer } }
//! ```
//!
//! An object without schema keywords names fields, all of them required and nothing else allowed. Fields keep the order
//! they were written in: models answer in that order.

use std::collections::HashSet;

use jurat_format::codes;
use jurat_format::form::Form;
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value, parse_json};

/// The types of JSON Schema.
pub(crate) const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// What a model must answer.
#[derive(Debug, Clone)]
pub struct Output {
    /// The JSON Schema, in the author's order.
    pub schema: Value,
    pub span: Span,
    /// The fields on the top level, with the places of their names.
    pub fields: Vec<Spanned<String>>,
}

/// What other languages call them.
const TYPES_ELSEWHERE: [(&str, &str); 9] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("dict", "object"),
    ("none", "null"),
];

/// The keywords that make an object a schema rather than a set of fields.
const KEYWORDS: [&str; 20] = [
    "type",
    "enum",
    "const",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "$defs",
    "$schema",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "format",
];

/// How deep a schema may be nested. Short forms get deeper when they are written out, and must still fit into a file.
pub(crate) const MAX_DEPTH: usize = 64;

/// Reads `output`.
pub(crate) const SHAPE: Shape<Output> = Shape::new(Form::Defined("output"), |reading, _, node| read(reading, node));

pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Output> {
    let Some(entries) = node.entries() else {
        reading.wrong_type("`output`", "an object of fields, or a JSON Schema", node);
        return None;
    };
    if entries.is_empty() {
        let problem = Problem::new(&codes::BAD_SCHEMA, "an `output` without fields").at(node.span, "empty");
        reading.problem(problem.help("name what is answered: `output: { reason: string, ok: boolean }`"));
        return None;
    }
    let n_before = reading.n_errors();
    let (schema, fields) = if is_whole_schema(node) {
        check_schema(reading, node);
        let fields = node.get("properties").and_then(Node::entries).unwrap_or(&[]);
        (node.to_val().into_owned(), fields)
    } else {
        (object_of(reading, entries), entries)
    };
    if depth(&schema) > MAX_DEPTH {
        let message = format!("an `output` whose schema is nested more than {MAX_DEPTH} deep");
        reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(node.span, "too deep"));
    }
    let fields = fields.iter().map(|it| Spanned::new(it.key.clone().into_owned(), it.key_span)).collect();
    (reading.n_errors() == n_before).then_some(Output { schema, span: node.span, fields })
}

/// How deep a schema is nested.
pub(crate) fn depth(value: &Val<'_>) -> usize {
    match value {
        Val::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Val::Map(map) => 1 + map.iter().map(|(_, it)| depth(it)).max().unwrap_or(0),
        _ => 0,
    }
}

/// On the top level `type: string` alone is a field called `type`; a schema for an object says so.
fn is_whole_schema(node: &Node<'_>) -> bool {
    let says_object = node.get("type").and_then(Node::as_str) == Some("object");
    let has = |key: &str| {
        node.get(key).is_some_and(|it| it.entries().is_some() || it.as_list().is_some() || key.starts_with('$'))
    };
    says_object || ["properties", "$schema", "$ref", "$defs", "anyOf", "oneOf", "allOf"].into_iter().any(has)
}

/// An object with these fields and no others.
fn object_of(reading: &mut Reading<'_>, entries: &[Entry<'_>]) -> Value {
    let field =
        |entry: &Entry<'_>| (entry.key.clone().into_owned(), type_of(reading, &in_output(&entry.key), &entry.value));
    let properties: Map<'static> = entries.iter().map(field).collect();
    let required = properties.keys().map(|it| Val::from(it.to_owned())).collect();
    Val::Map(jurat_format::form::object([
        ("type", Val::from("object")),
        ("properties", Val::Map(properties)),
        ("required", required),
        ("additionalProperties", Val::Bool(false)),
    ]))
}

fn in_output(name: &str) -> String {
    format!("`{name}` in `output`")
}

/// The schema of `string`, `[string]`, `{enum: […]}`, a schema, or an object of fields.
pub(crate) fn type_of(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Value {
    match &node.content {
        Content::Scalar(Val::Str(kind)) => {
            if !TYPES.contains(&&**kind) {
                reading.problem(unknown_type(kind, node.span));
            }
            Val::Map(jurat_format::form::object([("type", Val::from(kind.clone().into_owned()))]))
        }
        Content::List(items) if items.len() == 1 => {
            let items = type_of(reading, what, &items[0]);
            Val::Map(jurat_format::form::object([("type", Val::from("array")), ("items", items)]))
        }
        Content::Map(entries) if entries.iter().any(|it| KEYWORDS.contains(&&*it.key)) => {
            check_schema(reading, node);
            node.to_val().into_owned()
        }
        Content::Map(entries) if !entries.is_empty() => object_of(reading, entries),
        _ => {
            let message =
                format!("{what} must be a type, `[type]`, `{{enum: […]}}` or a JSON Schema, not {}", node.phrase());
            let problem = Problem::new(&codes::BAD_SCHEMA, message).at(node.span, "not a type");
            reading.problem(problem.help(format!("types are {}", listed_all(TYPES))));
            Val::Null
        }
    }
}

fn unknown_type(written: &str, span: Span) -> Problem {
    let problem = Problem::new(&codes::BAD_SCHEMA, format!("there is no type `{written}`")).at(span, "unknown type");
    let problem = match TYPES_ELSEWHERE.iter().find(|(name, _)| name.eq_ignore_ascii_case(written)) {
        Some((_, meant)) => problem.help(format!("did you mean `{meant}`?")),
        None => problem.did_you_mean(written, TYPES),
    };
    problem.help(format!("types are {}", listed_all(TYPES)))
}

/// Finds what no JSON Schema has: enough to catch slips, not a validator of validators.
fn check_schema(reading: &mut Reading<'_>, node: &Node<'_>) {
    let Some(entries) = node.entries() else {
        if !matches!(node.content, Content::Scalar(Val::Bool(_))) {
            let problem = Problem::new(&codes::BAD_SCHEMA, format!("a schema is an object, not {}", node.phrase()));
            reading.problem(problem.at(node.span, "not a schema"));
        }
        return;
    };
    for entry in entries {
        check_keyword(reading, entry);
    }
    let properties = node.get("properties").and_then(Node::entries).unwrap_or(&[]);
    let names: HashSet<&str> = properties.iter().map(|it| &*it.key).collect();
    for name in node.get("required").and_then(Node::as_list).unwrap_or(&[]) {
        let Some(text) = name.as_str() else { continue };
        if !names.is_empty() && !names.contains(text) && reading.problems.has_room(&codes::BAD_SCHEMA) {
            let message = format!("`{text}` is required, but no property is called so");
            let problem = Problem::new(&codes::BAD_SCHEMA, message).at(name.span, "required here");
            reading.problem(problem.did_you_mean(text, properties.iter().map(|it| &*it.key)));
        }
    }
}

/// Notes a keyword whose value cannot be what it is.
fn expect(reading: &mut Reading<'_>, entry: &Entry<'_>, ok: bool, needs: &str) {
    if !ok {
        let message = format!("`{}` in a schema must be {needs}, not {}", entry.key, entry.value.phrase());
        reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(entry.value.span, format!("should be {needs}")));
    }
}

fn check_keyword(reading: &mut Reading<'_>, entry: &Entry<'_>) {
    let node = &entry.value;
    let is_number = matches!(&node.content, Content::Scalar(it) if it.as_f64().is_some());
    match &*entry.key {
        "type" => {
            let names = node.as_list().unwrap_or(std::slice::from_ref(node));
            for name in names {
                match name.as_str() {
                    Some(text) if TYPES.contains(&text) => {}
                    Some(text) => reading.problem(unknown_type(text, name.span)),
                    None => {
                        expect(reading, entry, false, "the name of a type");
                    }
                }
            }
        }
        "enum" => {
            expect(reading, entry, node.as_list().is_some_and(|it| !it.is_empty()), "a list of values");
        }
        "required" => {
            expect(
                reading,
                entry,
                node.as_list().is_some_and(|it| it.iter().all(|it| it.as_str().is_some())),
                "a list of names",
            );
        }
        "properties" | "$defs" | "patternProperties" => {
            expect(reading, entry, node.entries().is_some(), "an object of schemas");
            for property in node.entries().unwrap_or(&[]) {
                check_schema(reading, &property.value);
            }
        }
        "anyOf" | "oneOf" | "allOf" => {
            expect(reading, entry, node.as_list().is_some_and(|it| !it.is_empty()), "a list of schemas");
            for schema in node.as_list().unwrap_or(&[]) {
                check_schema(reading, schema);
            }
        }
        "items" | "additionalProperties" | "not" => check_schema(reading, node),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            expect(reading, entry, is_number, "a number");
        }
        "pattern" | "format" | "title" | "description" | "$ref" | "$schema" | "$id" => {
            expect(reading, entry, node.as_str().is_some(), "text");
        }
        _ => {}
    }
}

/// A JSON Schema, compiled once.
#[derive(Debug, Clone)]
pub struct CompiledSchema {
    validator: jsonschema::Validator,
    /// The `type` that it names.
    kind: Option<String>,
}

impl CompiledSchema {
    /// Compiles a schema. References to other documents are never fetched.
    pub fn compile(schema: &Val<'_>) -> Result<CompiledSchema, String> {
        let validator = jsonschema::validator_for(&plain(schema)).map_err(|error| error.to_string())?;
        Ok(CompiledSchema { validator, kind: schema.get("type").and_then(Val::as_str).map(str::to_owned) })
    }

    /// What is wrong with a text that should be JSON that fits; nothing when it does.
    pub(crate) fn problems(&self, text: &str) -> Option<String> {
        match parse_json(text.trim()) {
            Ok(read) => self.check(&read.value).err(),
            Err(error) => Some(format!("text that is not JSON: {error}")),
        }
    }

    /// Whether a value fits, or where it does not.
    pub fn check(&self, value: &Val<'_>) -> Result<(), String> {
        let instance = plain(value);
        // Most values fit, and saying so takes less than saying what is wrong.
        if self.validator.is_valid(&instance) {
            return Ok(());
        }
        let problems: Vec<String> = self.validator.iter_errors(&instance).take(5).map(described).collect();
        Err(problems.join("; "))
    }

    /// Whether a value is of the type that the schema names: a list such as `[1]` in a sentence is no object.
    pub(crate) fn may_fit(&self, value: &Val<'_>) -> bool {
        match self.kind.as_deref() {
            Some("object") => value.as_map().is_some(),
            Some("array") => value.as_list().is_some(),
            Some(_) => value.as_map().is_none() && value.as_list().is_none(),
            None => true,
        }
    }
}

fn described(error: jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() { error.to_string() } else { format!("{error} at `{place}`") }
}

/// The value as the validator wants it. Numbers beyond 64 bits become doubles there, which schemas do not mind.
fn plain(value: &Val<'_>) -> serde_json::Value {
    match value {
        Val::Null => serde_json::Value::Null,
        Val::Bool(value) => (*value).into(),
        Val::I(number) => (*number).into(),
        Val::U(number) => (*number).into(),
        Val::F(_) | Val::Big(_) => value.as_f64().into(),
        Val::Str(text) => text.clone().into_owned().into(),
        Val::List(items) => items.iter().map(plain).collect(),
        Val::Map(map) => map.iter().map(|(key, value)| (key.to_owned(), plain(value))).collect(),
    }
}
