//! The JSON Schema of definitions, made from the tables that the reader uses.

use jurat_compare::{Entry, Origin, entries};
use jurat_format::form::{Definitions, closed_object, object, or_null, reference};
use jurat_format::value::{Map, Val, Value, parse_json};

use super::sections;
use crate::evaluator::builtin::{ENTRIES, Param};
use crate::outcome::format as outcome;
use crate::{check, template};

/// The JSON Schema of a suite.
pub fn suite_schema() -> Value {
    let mut definitions = Definitions::default();
    definitions.define("operator", operator_schema);
    definitions.define("output", output_schema);
    definitions.define("check", check::schema);
    definitions.define("outcome", outcome::schema);
    definitions.define("builtin", builtin_schema);
    definitions.define("strategy", template::strategy_schema);
    let suite = sections::SUITE.schema("#", &mut definitions);
    let head = object([
        ("$schema", Val::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", Val::from("jurat suite")),
        ("description", Val::from("What a suite evaluates, and how. Made from the program by `jurat schema`.")),
    ]);
    let members = head.iter().chain(suite.iter()).map(|(key, value)| (key.to_owned(), value.clone()));
    Val::Map(members.chain([("$defs".to_owned(), Val::Map(definitions.schemas))]).collect())
}

/// A name, or an object with parameters: `{type: Name, …}` or `{name: {…}}`.
fn operator_schema(definitions: &mut Definitions) -> Value {
    let names = entries().map(|it| (spellings(it), format!("the value {}", it.summary)));
    let mut ways = vec![named(names)];
    let mut keyed = Map::default();
    for entry in entries().filter(|it| it.origin == Origin::Primitive) {
        let place = definitions.add(&format!("operator_{}", entry.snake_case()), parameters(entry));
        keyed.insert(entry.snake_case().into(), Val::Map(reference(place.clone())));
        let mut tagged = reference(place);
        tagged.insert("required".into(), [Val::from("type")].into_iter().collect());
        ways.push(Val::Map(tagged));
    }
    ways.push(one_key(keyed));
    Val::Map(object([("anyOf", Val::List(ways))]))
}

/// Both spellings of the name of an operator.
fn spellings(entry: &Entry) -> Value {
    [Val::from(entry.snake_case()), Val::from(entry.name)].into_iter().collect()
}

/// The parameters of an operator, and the `type` that may name it beside them.
fn parameters(entry: &Entry) -> Map<'static> {
    let tag = ("type", Val::Map(object([("enum", spellings(entry))])));
    let parameter = |param: &jurat_compare::Param| {
        let schema = parse_json(param.schema).map_or(Val::Null, |it| it.value.into_owned());
        (param.name, described(schema, param.doc, param.default))
    };
    let required = entry.params.iter().filter(|it| it.default.is_none()).map(|it| it.name);
    let mut schema = closed_object([tag].into_iter().chain(entry.params.iter().map(parameter)).collect(), required);
    schema.insert("description".into(), Val::from(format!("the value {}", entry.summary)));
    schema
}

/// The name of a built-in evaluator, or an object with its parameters.
fn builtin_schema(_: &mut Definitions) -> Value {
    let names = ENTRIES.iter().map(|it| ([Val::from(it.name)].into_iter().collect(), it.summary.to_owned()));
    let keyed = ENTRIES.iter().map(|entry| {
        let parameter =
            |it: &Param| (it.name, described(it.takes.schema(), it.doc, it.default.filter(|it| *it != "null")));
        let required = entry.params.iter().filter(|it| it.default.is_none()).map(|it| it.name);
        let mut schema = closed_object(entry.params.iter().map(parameter).collect(), required);
        schema.insert("description".into(), Val::from(entry.summary));
        (entry.name, Val::Map(schema))
    });
    let ways = [named(names), one_key(keyed.collect())];
    Val::Map(object([("anyOf", ways.into_iter().collect())]))
}

/// Names with their meanings.
fn named(names: impl Iterator<Item = (Value, String)>) -> Value {
    let name =
        |(names, meaning): (Value, String)| Val::Map(object([("enum", names), ("description", Val::from(meaning))]));
    Val::Map(object([("type", Val::from("string")), ("anyOf", names.map(name).collect())]))
}

/// An object with one of these keys.
fn one_key(properties: Map<'static>) -> Value {
    let mut schema = closed_object(properties, [].into_iter());
    schema.insert("minProperties".into(), Val::I(1));
    schema.insert("maxProperties".into(), Val::I(1));
    Val::Map(schema)
}

/// The schema of a parameter with its meaning and its default, which is JSON.
fn described(schema: Value, doc: &'static str, default: Option<&str>) -> Value {
    let Val::Map(schema) = schema else { return Val::Null };
    let mut schema = if default.is_some() { or_null(schema) } else { schema };
    schema.insert("description".into(), Val::from(doc));
    if let Some(default) = default.and_then(|it| parse_json(it).ok()) {
        schema.insert("default".into(), default.value.into_owned());
    }
    Val::Map(schema)
}

fn output_schema(_: &mut Definitions) -> Value {
    let doc = "fields in short form (`string`, `integer`, `number`, `boolean`, `[string]`, `{enum: […]}`, nested fields), or a JSON Schema";
    Val::Map(object([("type", Val::from("object")), ("minProperties", Val::I(1)), ("description", Val::from(doc))]))
}
