//! What a field must be: a value, or one that depends on the results of other turns.

use jurat_compare::{Operand, Operator};
use jurat_format::codes;
use jurat_format::field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Unused};
use jurat_format::value::{Kind, Node, Span, Spanned, Val, Value, shown};

use super::VERIFY_WITH;
use crate::comparison::{self, operator_value};
use crate::template::definition::{is_trace, unusable, usual_operator};
use crate::template::{Field, GroundTruth, GroundTruthCase};

const SOURCE: field::Field<Spanned<String>> =
    field::Field::required("source", shape::TEXT, "a path that starts with `node_results.`");
const CASES: field::Field<Vec<(String, GroundTruthCase)>> = field::Field::required(
    "cases",
    Shape::new(Form::Map(&Form::Any), read_cases),
    "the ground truth for each value found there, by its text",
);
const DEFAULT: field::Field<GroundTruthCase> = field::Field::required(
    "default",
    Shape::new(Form::Any, read_case),
    "the ground truth for any other value, and when there is none",
);
const MARK: field::Field<Unused> =
    field::Field::optional("__conditional__", shape::unused(Form::Boolean), "how Karenina marks it");

pub(crate) static CONDITIONAL: Object =
    Object { what: "a conditional ground truth", keys: &[SOURCE.key, CASES.key, DEFAULT.key, MARK.key] };

const VALUE: field::Field<Value> = field::Field::required("value", shape::VALUE, "what the field must be");

pub(crate) static CASE: Object = Object { what: "a case of a ground truth", keys: &[VALUE.key, VERIFY_WITH.key] };

/// A value, or `{conditional: {source, cases, default}}`, or the same as a peer stores it.
pub(crate) fn read_ground_truth(reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> Option<GroundTruth> {
    let inner = match node.entries() {
        Some([only]) if only.key == "conditional" => Some(&only.value),
        _ if node.get(MARK.key.name).is_some() => Some(node),
        _ => None,
    };
    let Some(inner) = inner else {
        return match comparison::looked_up(reading, "`ground_truth`", node) {
            Some(path) => path.map(GroundTruth::Found),
            None => Some(GroundTruth::Value(node.to_val().into_owned())),
        };
    };
    let keys = CONDITIONAL.fields(reading, inner)?;
    let source = keys.read(reading, &SOURCE);
    if let Some(source) = &source
        && source.value.strip_prefix("node_results.").is_none_or(|it| it.is_empty() || it.contains(".."))
    {
        let message = format!("`source` of `{name}` must be a path into the results of earlier nodes");
        let problem = Problem::new(&codes::BAD_PATH, message).at(source.span, "leads nowhere");
        reading.problem(problem.help("for example `node_results.first.parsed.kind`"));
        return None;
    }
    let cases = keys.read(reading, &CASES);
    let default = keys.read(reading, &DEFAULT);
    Some(GroundTruth::Conditional { source: source?.value, cases: cases?, default: default? })
}

fn read_cases(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, GroundTruthCase)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of texts and what holds for each", node);
        return None;
    };
    let read: Vec<_> =
        entries.iter().map(|it| Some((it.key.clone().into_owned(), read_case(reading, what, &it.value)?))).collect();
    read.into_iter().collect()
}

/// `{value, verify_with}`, or the value alone.
fn read_case(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<GroundTruthCase> {
    if node.get(VALUE.key.name).is_none() {
        return Some(GroundTruthCase { value: node.to_val().into_owned(), verify_with: None });
    }
    let keys = CASE.fields(reading, node)?;
    let operator = keys.node(&VERIFY_WITH).map(|_| keys.read(reading, &VERIFY_WITH));
    let value = keys.read(reading, &VALUE)?;
    let verify_with = match operator {
        Some(operator) => Some(operator?.value),
        None => None,
    };
    Some(GroundTruthCase { value, verify_with })
}

/// The type of a ground truth, when the definition does not give the type of a field. A whole number may be compared with one that is not.
pub(crate) fn schema_of(ground_truth: &GroundTruth) -> Option<Value> {
    fn of(value: &Val<'_>) -> Option<Value> {
        let kind = |name: &'static str| Some(Val::Map([("type", Val::from(name))].into_iter().collect()));
        match value {
            Val::Null => None,
            Val::Bool(_) => kind("boolean"),
            Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => kind("number"),
            Val::Str(_) => kind("string"),
            Val::Map(_) => kind("object"),
            Val::List(items) => {
                let mut schemas = items.iter().map(of);
                let first = schemas.next().flatten();
                match first {
                    Some(first) if schemas.all(|it| it.as_ref() == Some(&first)) => {
                        Some(Val::Map([("type", Val::from("array")), ("items", first)].into_iter().collect()))
                    }
                    _ => kind("array"),
                }
            }
        }
    }
    match ground_truth {
        GroundTruth::None | GroundTruth::Found(_) => None,
        GroundTruth::Value(value) => of(value),
        GroundTruth::Conditional { default, .. } => of(&default.value),
    }
}

/// Finds ground truths that cannot be compared with, and those that no value of the field's type can reach.
pub(crate) fn check_truths(
    reading: &mut Reading<'_>,
    field: &Field,
    name: Span,
    truth: Option<Span>,
    operator: Option<Span>,
) {
    let Some(truth) = truth else {
        if let (Some(span), Some(verify_with)) = (operator, &field.verify_with)
            && !field.is_judged()
        {
            let entry = verify_with.entry();
            let problem = Problem::new(&codes::MISSING_KEY, format!("`{}` needs `ground_truth`", entry.snake_case()));
            let problem =
                problem.at(span, format!("compares with {}", entry.operand.phrase())).at(name, "for this field");
            reading.problem(
                problem.help("add `ground_truth`, or drop `verify_with` to read the field without judging it"),
            );
        }
        return;
    };
    let truths: Vec<(&Value, Option<&Operator>)> = match &field.ground_truth {
        GroundTruth::None | GroundTruth::Found(_) => Vec::new(),
        GroundTruth::Value(value) => vec![(value, field.verify_with.as_ref())],
        GroundTruth::Conditional { cases, default, .. } => {
            let cases = cases.iter().map(|(_, case)| case).chain([default]);
            cases.map(|it| (&it.value, it.verify_with.as_ref().or(field.verify_with.as_ref()))).collect()
        }
    };
    for (value, written) in truths {
        let operator = written.cloned().unwrap_or_else(|| usual_operator(value));
        if is_trace(&operator) || operator.entry().operand == Operand::Ignored {
            continue;
        }
        let entry = operator.entry().snake_case();
        let flaw = match operator.bind(value.borrowed()) {
            Ok(comparison) => comparison.flaw(),
            Err(_) => unusable(&operator, value).map(|it| it.reason.replace("`expected_value`", "`ground_truth`")),
        };
        if let Some(flaw) = flaw {
            let problem = Problem::new(&codes::BAD_OPERAND, format!("`{entry}`: {flaw}"));
            reading.problem(problem.at(truth, format!("should be {}", operator.entry().operand.phrase())));
            continue;
        }
        out_of_reach(reading, field, &operator, value, truth, written.is_none());
    }
}

/// Warns of a ground truth that no value of the field's type can be equal to.
fn out_of_reach(
    reading: &mut Reading<'_>,
    field: &Field,
    operator: &Operator,
    truth: &Val<'_>,
    span: Span,
    is_inferred: bool,
) {
    let Ok(comparison) = operator.bind(truth.borrowed()) else { return };
    if let Some(members) = field.schema.get("enum").and_then(Val::as_list) {
        let passes = |it: &Val<'_>| comparison.judge(it) == jurat_compare::Judgement::Passed;
        if !members.iter().any(passes) {
            let message = format!("no value that `{}` may have is {}", field.name, comparison.expected());
            let problem = Problem::new(&codes::OUTSIDE_ENUM, message).at(span, "never passes");
            let members: Vec<String> = members.iter().map(shown).collect();
            reading.problem(problem.help(format!("`{}` is one of {}", field.name, members.join(", "))));
        }
        return;
    }
    let Some(kind) = field.schema.get("type").and_then(Val::as_str).and_then(kind_of) else { return };
    let entry = operator.entry();
    if !entry.may_pass(kind) {
        let message = format!("`{}` never passes on {}", entry.snake_case(), kind.phrase());
        let problem = Problem::new(&codes::NEVER_APPLIES, message).at(span, "never passes");
        reading.problem(problem.help(format!("`{}` is {}", field.name, kind.phrase())));
    } else if is_inferred && truth.kind() != kind {
        let message =
            format!("`{}` is {}, and {} is {}", field.name, kind.phrase(), shown(truth), truth.kind().phrase());
        let problem = Problem::new(&codes::UNEXPECTED_TYPE, message).at(span, "of another type");
        reading.problem(problem.help("make them of one type, or say with `verify_with` how they are compared"));
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "string" => Kind::Text,
        "integer" | "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "array" => Kind::List,
        "object" => Kind::Object,
        "null" => Kind::Null,
        _ => return None,
    })
}

pub(crate) fn case_value(case: &GroundTruthCase) -> Value {
    let operator = case.verify_with.as_ref().map(|it| ("verify_with", operator_value(it)));
    Val::Map([("value", case.value.clone())].into_iter().chain(operator).collect())
}
