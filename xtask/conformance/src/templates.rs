//! Answer templates: fields judged, put together and given credit.

use jurat_compare::Operator;
use jurat_core::template::{Field, GroundTruth, GroundTruthCase, Strategy, Template, TemplateError};
use jurat_format::value::{Map, Val, Value};

use super::{Answer, compared, error, fault, nearly_same, object, part, text_part, with_node};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let got = match text_part(input, "op")? {
        "template_verify" => verified(input)?,
        other => return Err(format!("there is no operation `{other}`")),
    };
    Ok(compared(case, part(case, "expect")?, &got, nearly_same))
}

fn verified(input: &Val<'_>) -> Result<Value, String> {
    let fields = part(input, "fields")?.as_list().ok_or("`fields` is no list")?;
    let fields = fields.iter().map(field).collect::<Result<Option<Vec<_>>, _>>()?;
    let strategy = match part(input, "strategy")? {
        Val::Null => None,
        it => Some(strategy(it)?),
    };
    let Some(fields) = fields else { return Ok(error("invalid_definition")) };
    let template = match Template::new(fields, strategy) {
        Ok(template) => template,
        Err(TemplateError::UnknownField { .. }) => return Ok(error("unknown_field")),
        Err(_) => return Ok(error("invalid_definition")),
    };
    let nulls = input.get("null_fields").and_then(Val::as_list).unwrap_or(&[]);
    let is_null = |name: &str| nulls.iter().any(|it| it.as_str() == Some(name));
    let values = part(input, "values")?.as_map().ok_or("`values` is no object")?;
    let values = values.iter().filter(|(name, _)| !is_null(name)).map(|(name, value)| (name, value.borrowed()));
    let values = Val::Map(values.collect::<Map<'_>>());
    let results = input.get("scenario_context").and_then(|it| it.get("node_results")).unwrap_or(&Val::Null);
    let verified = template.verify(&values, input.get("raw_trace").and_then(Val::as_str), results);
    if let Some(inapplicable) = verified.fields.iter().find_map(|it| it.result.as_ref().err()) {
        return Ok(fault(inapplicable.fault));
    }
    let yes_or_no = |it: Option<bool>| it.map_or(Val::Null, Val::Bool);
    let number = |it: Option<f64>| it.map_or(Val::Null, Val::F);
    let results: Map<'static> =
        verified.fields.iter().map(|it| (it.name.clone(), yes_or_no(it.result.clone().unwrap_or_default()))).collect();
    let scores: Map<'static> = verified.fields.iter().map(|it| (it.name.clone(), number(it.score))).collect();
    Ok(object([
        ("verify", yes_or_no(verified.verify_result())),
        ("granular", number(verified.granular)),
        ("field_results", Val::Map(results)),
        ("field_scores", Val::Map(scores)),
    ]))
}

/// A field; `None` when its primitive is refused.
fn field(stored: &Val<'_>) -> Result<Option<Field>, String> {
    let truth = part(stored, "ground_truth")?;
    let ground_truth = match truth.get("conditional") {
        None => Some(GroundTruth::Value(truth.clone().into_owned())),
        Some(conditional) => {
            let cases = part(conditional, "cases")?.as_map().ok_or("`cases` is no object")?;
            let cases = cases.iter().map(|(text, case)| Ok(ground_truth_case(case)?.map(|it| (text.to_owned(), it))));
            let cases = cases.collect::<Result<Option<Vec<_>>, String>>()?;
            let default = ground_truth_case(part(conditional, "default")?)?;
            let source = text_part(conditional, "source")?.to_owned();
            cases.zip(default).map(|(cases, default)| GroundTruth::Conditional { source, cases, default })
        }
    };
    let operator = primitive(part(stored, "verify_with")?)?;
    let weight = stored.get("weight").map_or(Some(1.0), Val::as_f64).ok_or("`weight` is no number")?;
    let name = text_part(stored, "name")?;
    Ok(ground_truth.zip(operator).map(|(ground_truth, operator)| Field {
        ground_truth,
        verify_with: Some(operator),
        weight,
        ..Field::new(name, Val::Bool(true))
    }))
}

fn ground_truth_case(stored: &Val<'_>) -> Result<Option<GroundTruthCase>, String> {
    let value = part(stored, "value")?.clone().into_owned();
    match stored.get("verify_with") {
        None | Some(Val::Null) => Ok(Some(GroundTruthCase { value, verify_with: None })),
        Some(it) => Ok(primitive(it)?.map(|operator| GroundTruthCase { value, verify_with: Some(operator) })),
    }
}

fn primitive(stored: &Val<'_>) -> Result<Option<Operator>, String> {
    with_node(stored, |node| Operator::from_stored(node).ok())
}

fn strategy(stored: &Val<'_>) -> Result<Strategy, String> {
    let parts = || {
        let parts = part(stored, "conditions")?.as_list().ok_or("`conditions` is no list")?;
        parts.iter().map(strategy).collect::<Result<Vec<_>, String>>()
    };
    Ok(match text_part(stored, "type")? {
        "field_check" => Strategy::Field(text_part(stored, "field")?.to_owned()),
        "all_of" => Strategy::AllOf(parts()?),
        "any_of" => Strategy::AnyOf(parts()?),
        "at_least_n" => match part(stored, "n")? {
            Val::I(n) => Strategy::AtLeastN(u32::try_from(*n).map_err(|_| "`n` is no count")?, parts()?),
            _ => return Err("`n` is no number".to_owned()),
        },
        other => return Err(format!("there is no strategy `{other}`")),
    })
}
