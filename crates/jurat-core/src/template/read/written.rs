//! Templates written back, in the short forms.

use jurat_format::value::{Map, Val, Value};

use super::strategy::strategy_value;
use super::truth::case_value;
use crate::comparison::operator_value;
use crate::template::{Field, GroundTruth, Template};

impl Template {
    /// The template as it is written in a suite.
    pub fn to_value(&self) -> Value {
        let fields: Map<'static> = self.fields().iter().map(|it| (it.name.clone(), field_value(it))).collect();
        let strategy = self.strategy().map(|it| ("strategy", strategy_value(it)));
        Val::Map([("fields", Val::Map(fields))].into_iter().chain(strategy).collect())
    }
}

fn field_value(field: &Field) -> Value {
    let mut members: Vec<(&'static str, Value)> = Vec::new();
    if !field.is_trace() {
        members.push(("type", short_type(&field.schema)));
    }
    if !field.description.is_empty() {
        members.push(("description", Val::from(field.description.clone())));
    }
    match &field.ground_truth {
        GroundTruth::None => {}
        GroundTruth::Value(value) => members.push(("ground_truth", value.clone())),
        GroundTruth::Found(path) => members.push(("ground_truth", Val::from(format!("${{{path}}}")))),
        GroundTruth::Conditional { source, cases, default } => {
            let cases: Map<'static> = cases.iter().map(|(text, case)| (text.clone(), case_value(case))).collect();
            let conditional =
                [("source", Val::from(source.clone())), ("cases", Val::Map(cases)), ("default", case_value(default))];
            let conditional = Val::Map(conditional.into_iter().collect());
            members.push(("ground_truth", Val::Map([("conditional", conditional)].into_iter().collect())));
        }
    }
    if let Some(operator) = &field.verify_with {
        members.push(("verify_with", operator_value(operator)));
    }
    if field.weight != 1.0 {
        members.push(("weight", Val::F(field.weight)));
    }
    if let Some(hint) = &field.extraction_hint {
        members.push(("extraction_hint", Val::from(hint.clone())));
    }
    Val::Map(members.into_iter().collect())
}

/// `string` and `[string]` where that says it all.
fn short_type(schema: &Value) -> Value {
    if *schema == Val::Bool(true) {
        return Val::from("any");
    }
    let Some(members) = schema.as_map() else { return schema.clone() };
    match (members.len(), schema.get("type").and_then(Val::as_str), schema.get("items")) {
        (1, Some(name), _) => Val::from(name.to_owned()),
        (2, Some("array"), Some(items)) if items.as_map().is_some_and(|it| !it.is_empty()) => {
            Val::List(vec![match short_type(items) {
                // A word that is no type of JSON Schema cannot stand for one.
                Val::Str(name) if name == "any" => return schema.clone(),
                short => short,
            }])
        }
        _ => schema.clone(),
    }
}
