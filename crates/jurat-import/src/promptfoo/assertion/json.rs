//! Assertions about JSON in an answer.

use jurat_format::value::{Val, Value};

use super::{AssertionType, Taken, Taking, Use};
use crate::document::{Object, text};

pub(super) static TYPES: &[AssertionType] = &[
    AssertionType::new("is-json", Use::Filled, is_json),
    AssertionType::new("contains-json", Use::Filled, contains_json),
];

fn is_json(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let schema = schema(taking)?;
    if schema.is_none() && !taking.is_negated && !taking.output.contains("@json") {
        return Ok(Taken::exact(taking.comparison(text("is_json"))));
    }
    let schema = schema.unwrap_or_else(|| Object::new().into());
    let builtin = Object::new().with("json_schema", Object::new().with("schema", schema));
    let evaluator = taking.draft.evaluator("json_schema", Object::new().with("builtin", builtin));
    Ok(Taken::exact(taking.labelled(&evaluator, ("valid", "invalid"))))
}

/// The schema: an object, YAML text, or a file.
fn schema(taking: &mut Taking<'_, '_>) -> Result<Option<Value>, String> {
    let Some(value) = taking.value().cloned() else { return Ok(None) };
    let (name, written) = match &value {
        Val::Map(_) => return Ok(Some(value)),
        Val::Bool(_) => return Ok(None),
        Val::Str(reference) if reference.starts_with("file://") => taking.places.text(reference)?,
        Val::Str(written) => ("the schema".to_owned(), written.to_string()),
        _ => return Err("its value is no schema".to_owned()),
    };
    if matches!(super::super::places::ending(&name).as_str(), "js" | "ts" | "py") {
        return Err("its schema is made by code".to_owned());
    }
    let tree = taking.places.tree(&name, &written)?.into_val().into_owned();
    match tree {
        Val::Map(_) => Ok(Some(tree)),
        _ => Err("its value is no schema".to_owned()),
    }
}

fn contains_json(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    if schema(taking)?.is_some() {
        return Err("jurat validates a whole answer by a schema, not JSON somewhere in it".to_owned());
    }
    let source = super::code::javascript_source(CONTAINS_JSON, None, &Value::from(Object::new()), false);
    let evaluator = super::code::evaluator(taking, "contains_json", "js", &source);
    Ok(Taken::approximate(
        taking.labelled(&evaluator, ("pass", "fail")),
        "an evaluator looks for objects of JSON; promptfoo reads what stands in braces as YAML",
    ))
}

/// Whether an object stands somewhere in a text. Braces that are not closed are closed at its end, as in promptfoo.
const CONTAINS_JSON: &str = r#"
    for (let start = 0; start < output.length; start++) {
      if (output[start] !== "{") continue;
      let open = 1;
      let end = start + 1;
      for (; end < output.length && open > 0; end++) {
        if (output[end] === "{") open++;
        if (output[end] === "}") open--;
      }
      try { JSON.parse(output.slice(start, end) + "}".repeat(open)); return true; } catch { continue; }
    }
    return false;
"#;
