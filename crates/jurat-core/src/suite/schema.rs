//! The JSON Schema of definitions, made from the tables that the reader uses.

use jurat_compare::{Entry, Origin, entries};
use jurat_format::form::object;
use jurat_format::value::{Map, Val, Value, parse_json};

use super::{sections, template};
use crate::check;
use crate::evaluator::builtin::{ENTRIES, Param};
use crate::outcome::format as outcome;

/// The JSON Schema of a suite.
pub fn suite_schema() -> Value {
    let Val::Map(suite) = sections::SUITE.schema() else { return Val::Null };
    let head = object([
        ("$schema", Val::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", Val::from("jurat suite")),
        ("description", Val::from("What a suite evaluates, and how. Made from the program by `jurat schema`.")),
    ]);
    let defs = object([
        ("operator", operator_schema()),
        ("output", output_schema()),
        ("check", check::schema()),
        ("outcome", outcome::schema()),
        ("builtin", builtin_schema()),
        ("strategy", template::strategy_schema()),
    ]);
    let members = head.iter().chain(suite.iter()).map(|(key, value)| (key.to_owned(), value.clone()));
    Val::Map(members.chain([("$defs".to_owned(), Val::Map(defs))]).collect())
}

/// A name, or an object with parameters.
fn operator_schema() -> Value {
    let mut names: Vec<(String, &str)> = Vec::new();
    for entry in entries() {
        for name in [entry.snake_case(), entry.name.to_owned()] {
            if !names.iter().any(|(known, _)| *known == name) {
                names.push((name, entry.summary));
            }
        }
    }
    let name = |(name, summary): &(String, &str)| {
        Val::Map(
            [("const", Val::from(name.clone())), ("description", Val::from(format!("the value {summary}")))]
                .into_iter()
                .collect(),
        )
    };
    let named = object([("type", Val::from("string")), ("anyOf", names.iter().map(name).collect())]);
    let with_parameters = entries().filter(|it| it.origin == Origin::Primitive).flat_map(parameter_schemas);
    Val::Map(object([("anyOf", [Val::Map(named)].into_iter().chain(with_parameters).collect())]))
}

/// `{type: Name, …}` and `{name: {…}}`.
fn parameter_schemas(entry: &Entry) -> [Value; 2] {
    let parameters = |mut properties: Map<'static>, mut required: Vec<Value>| {
        for param in entry.params {
            let mut schema = match parse_json(param.schema).map(|it| it.value.into_owned()) {
                Ok(Val::Map(schema)) => schema,
                _ => Map::default(),
            };
            schema.insert("description".into(), Val::from(param.doc));
            if let Some(default) = param.default.and_then(|it| parse_json(it).ok()) {
                schema.insert("default".into(), default.value.into_owned());
            }
            properties.insert(param.name.into(), Val::Map(schema));
            if param.default.is_none() {
                required.push(Val::from(param.name));
            }
        }
        let mut schema = object([("type", Val::from("object")), ("properties", Val::Map(properties))]);
        if !required.is_empty() {
            schema.insert("required".into(), Val::List(required));
        }
        schema.insert("additionalProperties".into(), Val::Bool(false));
        schema
    };
    let names: Value = [Val::from(entry.name), Val::from(entry.snake_case())].into_iter().collect();
    let kind = object([("type", Val::Map(object([("enum", names)])))]);
    let mut tagged = parameters(kind, vec![Val::from("type")]);
    tagged.insert("description".into(), Val::from(format!("the value {}", entry.summary)));
    let inner = Val::Map(parameters(Map::default(), Vec::new()));
    let keyed: Map<'static> = [(entry.snake_case(), inner)].into_iter().collect();
    let keyed = object([
        ("type", Val::from("object")),
        ("properties", Val::Map(keyed)),
        ("required", [Val::from(entry.snake_case())].into_iter().collect()),
        ("additionalProperties", Val::Bool(false)),
    ]);
    [Val::Map(tagged), Val::Map(keyed)]
}

/// The name of a built-in evaluator, or an object with its parameters.
fn builtin_schema() -> Value {
    let names = ENTRIES.iter().map(|entry| {
        let members = [("const", Val::from(entry.name)), ("description", Val::from(entry.summary))];
        Val::Map(members.into_iter().collect())
    });
    let named = object([("type", Val::from("string")), ("anyOf", names.collect())]);
    let with_parameters = ENTRIES.iter().map(|entry| {
        let inner = of_parameters(entry.params);
        let keyed: Map<'static> = [(entry.name, inner)].into_iter().collect();
        Val::Map(object([
            ("type", Val::from("object")),
            ("description", Val::from(entry.summary)),
            ("properties", Val::Map(keyed)),
            ("required", [Val::from(entry.name)].into_iter().collect()),
            ("additionalProperties", Val::Bool(false)),
        ]))
    });
    Val::Map(object([("anyOf", [Val::Map(named)].into_iter().chain(with_parameters).collect())]))
}

fn of_parameters(params: &[Param]) -> Value {
    let property = |param: &Param| {
        let Val::Map(mut schema) = param.takes.schema() else { return (param.name, Val::Null) };
        schema.insert("description".into(), Val::from(param.doc));
        if let Some(default) = param.default.filter(|it| *it != "null").and_then(|it| parse_json(it).ok()) {
            schema.insert("default".into(), default.value.into_owned());
        }
        (param.name, Val::Map(schema))
    };
    let properties: Map<'static> = params.iter().map(property).collect();
    let required: Vec<Value> = params.iter().filter(|it| it.default.is_none()).map(|it| Val::from(it.name)).collect();
    let mut schema = object([("type", Val::from("object")), ("properties", Val::Map(properties))]);
    if !required.is_empty() {
        schema.insert("required".into(), Val::List(required));
    }
    schema.insert("additionalProperties".into(), Val::Bool(false));
    Val::Map(schema)
}

fn output_schema() -> Value {
    let doc = "fields in short form (`string`, `integer`, `number`, `boolean`, `[string]`, `{enum: […]}`, nested fields), or a JSON Schema";
    Val::Map(object([("type", Val::from("object")), ("minProperties", Val::I(1)), ("description", Val::from(doc))]))
}
