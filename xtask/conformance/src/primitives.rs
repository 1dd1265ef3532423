//! Verification primitives: checked, scored, constructed; and the normalisers.

use std::borrow::Cow;

use jurat_compare::normalise::{Normaliser, normalise};
use jurat_compare::{Entry, Judgement, Operator};
use jurat_format::value::{Val, Value};

use super::{Answer, compared, error, fault, nearly_same, part, text_part, with_node};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let got = match text_part(input, "op")? {
        "check" => judged(input, part(input, "extracted")?, part(input, "expected")?, false)?,
        "check_trace" => judged(input, part(input, "trace")?, &Val::Null, true)?,
        "score" => scored(input)?,
        "construct" => constructed(part(input, "primitive")?)?,
        "normalize" => normalised(input)?,
        other => return Err(format!("there is no operation `{other}`")),
    };
    Ok(compared(case, part(case, "expect")?, &got, nearly_same))
}

fn judged(input: &Val<'_>, value: &Val<'_>, expected: &Val<'_>, trace: bool) -> Result<Value, String> {
    let Ok(operator) = constructed_operator(part(input, "primitive")?)? else { return Ok(error("invalid_definition")) };
    if is_trace(operator.entry()) != trace {
        return Ok(error("not_implemented"));
    }
    Ok(match operator.bind(expected.borrowed()) {
        Err(inapplicable) => fault(inapplicable.fault),
        Ok(comparison) => match comparison.judge(value) {
            Judgement::Passed => Val::Bool(true),
            Judgement::Failed(_) => Val::Bool(false),
            Judgement::Error(inapplicable) => fault(inapplicable.fault),
        },
    })
}

fn scored(input: &Val<'_>) -> Result<Value, String> {
    let Ok(operator) = constructed_operator(part(input, "primitive")?)? else { return Ok(error("invalid_definition")) };
    if is_trace(operator.entry()) {
        return Ok(error("not_implemented"));
    }
    let score = operator
        .bind(part(input, "expected")?.borrowed())
        .and_then(|comparison| comparison.score(part(input, "extracted").unwrap_or(&Val::Null)));
    Ok(match score {
        Ok(score) if score.is_nan() => Val::from("nan"),
        Ok(score) => Val::F(score),
        Err(inapplicable) => fault(inapplicable.fault),
    })
}

fn constructed(primitive: &Val<'_>) -> Result<Value, String> {
    let Ok(operator) = constructed_operator(primitive)? else { return Ok(error("invalid_definition")) };
    let name = Val::from(operator.entry().name);
    Ok(Val::Map(operator.parameters().into_iter().chain([("type", name)]).collect()))
}

fn constructed_operator(primitive: &Val<'_>) -> Result<Result<Operator, String>, String> {
    with_node(primitive, |node| Operator::from_stored(node).map_err(|error| error.to_string()))
}

fn normalised(input: &Val<'_>) -> Result<Value, String> {
    let text = text_part(input, "text")?;
    let normalisers = with_node(part(input, "normalizers")?, |node| {
        node.as_list().unwrap_or(&[]).iter().map(Normaliser::read).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(match normalisers {
        Err(_) => error("invalid_definition"),
        Ok(normalisers) => match normalise(&normalisers, Cow::Borrowed(text)) {
            Ok(text) => Val::from(text.into_owned()),
            Err(inapplicable) => fault(inapplicable.fault),
        },
    })
}

fn is_trace(entry: &Entry) -> bool {
    entry.name.starts_with("Trace")
}
