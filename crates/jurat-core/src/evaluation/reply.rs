//! What a judge answers, and what is made of all answers: both as JSON Schemas.

use jurat_format::value::{Map, Val, Value};

use super::Scale;

/// The JSON Schema of a reply. Scores outside the scale do not fit, so they are asked for again.
pub fn reply_schema(dimensions: &[String], scale: &Scale) -> Value {
    let score = object([
        ("type", Val::from("number")),
        ("minimum", Val::F(scale.min)),
        ("maximum", Val::F(scale.max)),
        ("description", Val::from(format!("from {} to {}", scale.min, scale.max))),
    ]);
    let evidence = object([("type", Val::from("array")), ("items", typed("string"))]);
    // Evidence stands first, so that a model that writes from left to right has named it when it scores.
    let scored = || closed([("evidence".to_owned(), evidence.clone()), ("score".to_owned(), score.clone())]);
    let each = closed(dimensions.iter().map(|it| (it.clone(), scored())));
    let members = [("summary", typed("string")), ("dimensions", each), ("overall", scored())];
    closed(members.map(|(name, schema)| (name.to_owned(), schema)))
}

/// The JSON Schema of what tasks that depend on an evaluation see of it.
pub fn output_schema(dimensions: &[String]) -> Value {
    let number = || typed("number");
    let maybe = || object([("type", ["number", "null"].into_iter().map(Val::from).collect())]);
    let texts = || object([("type", Val::from("array")), ("items", typed("string"))]);
    let named = |members: Vec<(&str, Value)>| closed(members.into_iter().map(|(name, it)| (name.to_owned(), it)));
    let spread = || vec![("score", number()), ("min", number()), ("max", number()), ("stdev", maybe())];
    let count = || typed("integer");
    let checks = || named(vec![("score", maybe()), ("passed", count()), ("failed", count()), ("error", count())]);
    let each = closed(dimensions.iter().map(|it| {
        let members = vec![
            ("score", number()),
            ("judge", named(spread())),
            ("checks", checks()),
            ("evidence", texts()),
            ("failed_checks", texts()),
        ];
        (it.clone(), named(members))
    }));
    let mut overall = spread();
    overall.push(("evidence", texts()));
    named(vec![
        ("score", number()),
        ("explanation", typed("string")),
        ("scale", named(vec![("min", number()), ("max", number())])),
        ("method", typed("string")),
        ("judges", count()),
        ("overall", named(overall)),
        ("dimensions", each),
        ("warnings", texts()),
    ])
}

fn typed(name: &'static str) -> Value {
    object([("type", Val::from(name))])
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

/// An object with these members and no others.
fn closed(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    let members: Vec<(String, Value)> = members.into_iter().collect();
    let required: Value = members.iter().map(|(name, _)| Val::from(name.clone())).collect();
    object([
        ("type", Val::from("object")),
        ("properties", Val::Map(members.into_iter().collect::<Map<'static>>())),
        ("required", required),
        ("additionalProperties", Val::Bool(false)),
    ])
}
