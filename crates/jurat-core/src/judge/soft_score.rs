//! `soft_score` of a judge: the field whose labels are weighed by their probabilities, and what each label counts.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node, Span, Spanned, Val, Value};

use super::{Label, PROBABILITIES, SOFT_SCORE, SoftScore};
use crate::output::Output;

/// The most labels of a scale.
const MOST_LABELS: i64 = 101;

/// A soft score as it is written.
#[derive(Debug, Clone)]
pub(crate) struct WrittenSoftScore {
    field: Spanned<String>,
    values: Option<Vec<(Spanned<String>, f64)>>,
    span: Span,
}

const FIELD: Field<Spanned<String>> = Field::required(
    "field",
    shape::TEXT,
    "the field of `output` that has the label: a boolean, an `enum`, or an integer with `minimum` and `maximum`",
);
const VALUES: Field<Vec<(Spanned<String>, f64)>> = Field::optional(
    "values",
    Shape::new(Form::Map(&Form::Number(f64::NEG_INFINITY, f64::INFINITY)), read_values),
    "what each label counts: label → number",
)
.default_words("numbers are themselves, `true` is 1 and `false` is 0");

static SOFT: Object = Object { what: "`soft_score`", keys: &[FIELD.key, VALUES.key] };

const FORM: Form = Form::Either(&[Form::Text, Form::Object(&SOFT)]);

pub(crate) const SHAPE: Shape<WrittenSoftScore> = Shape::new(FORM, read);

fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<WrittenSoftScore> {
    if node.entries().is_some() {
        let fields = SOFT.fields(reading, node)?;
        let (field, values) = (fields.read(reading, &FIELD), fields.read(reading, &VALUES));
        return Some(WrittenSoftScore { field: field?, values, span: node.span });
    }
    let Some(field) = node.as_str() else {
        reading.wrong_type(what, "the name of a field of `output`, or an object with `field` and `values`", node);
        return None;
    };
    Some(WrittenSoftScore { field: Spanned::new(field.to_owned(), node.span), values: None, span: node.span })
}

fn read_values(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(Spanned<String>, f64)>> {
    let Some(entries) = node.entries().filter(|it| !it.is_empty()) else {
        reading.wrong_type(what, "an object of labels and numbers", node);
        return None;
    };
    let value = |entry: &jurat_format::value::Entry<'_>| {
        let number = entry.value.to_val().as_f64().filter(|it| it.is_finite());
        if number.is_none() {
            reading.wrong_type(&format!("the value of `{}`", entry.key), "a number", &entry.value);
        }
        Some((Spanned::new(entry.key.clone().into_owned(), entry.key_span), number?))
    };
    entries.iter().map(value).collect()
}

/// The score over a field of what a judge answers to its last question; `concluded` is what it answers in the end.
pub(crate) fn resolve(
    reading: &mut Reading<'_>,
    written: WrittenSoftScore,
    output: Option<&Output>,
    concluded: Option<&Output>,
) -> Option<Spanned<SoftScore>> {
    let WrittenSoftScore { field, values, span } = written;
    let Some(output) = output else {
        let problem = Problem::new(
            &codes::MISSING_KEY,
            "`soft_score` is about a field of the reply, and the judge has no `output`",
        );
        let example =
            format!("say what it answers: `output: {{ reason: string, {}: {{ enum: [1, 2, 3] }} }}`", field.value);
        reading.problem(problem.at(span, "of a reply in words").help(example));
        return None;
    };
    let properties = output.schema.get("properties").and_then(Val::as_map);
    let Some(property) = properties.and_then(|it| it.get(&field.value)) else {
        let names = || properties.into_iter().flat_map(Map::keys);
        let problem = Problem::new(&codes::WRONG_VALUE, format!("`output` has no field `{}`", field.value));
        let problem = problem.at(field.span, "unknown field").did_you_mean(&field.value, names());
        reading.problem(problem.help(format!("it has {}", listed(names()))));
        return None;
    };
    if let Some((taken, output)) = [output].into_iter().chain(concluded).find_map(|it| Some((taken(it)?, it))) {
        let problem = Problem::new(
            &codes::CONFLICT,
            format!("`soft_score` adds `{taken}` to the reply, and `output` has a field of that name"),
        );
        reading
            .problem(problem.at(span, "added here").at(output.span, "has it already").help("call the field otherwise"));
        return None;
    }
    let Some(labels) = labels_of(property) else {
        let message = format!("`{}` may be too many things for `soft_score`, which needs every label", field.value);
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(field.span, "no labels");
        reading.problem(problem.help("make it a boolean, an `enum`, or an integer with `minimum` and `maximum`"));
        return None;
    };
    let labels = counted(reading, &field, &labels, values.as_deref())?;
    if let Some(repeated) = repeated(&labels) {
        let message = format!("`{}` has the label `{repeated}` more than once", field.value);
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(field.span, "whose probability?");
        reading
            .problem(problem.help("leave one of them out, or call it otherwise: `1`, `1.0` and `\"1\"` are one name"));
        return None;
    }
    Some(Spanned::new(SoftScore::new(field.value, labels), span))
}

/// The member that would be added to a reply that has one of that name.
fn taken(output: &Output) -> Option<&'static str> {
    let properties = output.schema.get("properties")?.as_map()?;
    [SOFT_SCORE, PROBABILITIES].into_iter().find(|it| properties.get(it).is_some())
}

/// A label that cannot be told from one before it: `probabilities` has each name once, and a token that begins both decides between none.
fn repeated(labels: &[Label]) -> Option<&str> {
    let is_before = |ix: usize| labels[..ix].iter().any(|it| it.is_like(&labels[ix]));
    (0..labels.len()).find(|ix| is_before(*ix)).map(|ix| labels[ix].name.as_str())
}

/// Everything that a field may be, where that is a short list.
fn labels_of(property: &Value) -> Option<Vec<Value>> {
    if let Some(values) = property.get("enum").and_then(Val::as_list) {
        let is_label = |it: &Value| matches!(it, Val::Bool(_) | Val::Str(_)) || it.as_f64().is_some();
        return values.iter().all(is_label).then(|| values.to_vec());
    }
    let end = |key: &str| if let Some(Val::I(end)) = property.get(key) { Some(*end) } else { None };
    match property.get("type").and_then(Val::as_str)? {
        "boolean" => Some(vec![Val::Bool(true), Val::Bool(false)]),
        "integer" => {
            let (low, high) = end("minimum").zip(end("maximum"))?;
            let n = high.checked_sub(low)?;
            (0..MOST_LABELS).contains(&n).then(|| (low..=high).map(Val::I).collect())
        }
        _ => None,
    }
}

/// The labels with what each counts.
fn counted(
    reading: &mut Reading<'_>,
    field: &Spanned<String>,
    labels: &[Value],
    values: Option<&[(Spanned<String>, f64)]>,
) -> Option<Vec<Label>> {
    let name = |it: &Value| it.as_str().map_or_else(|| it.to_json(), str::to_owned);
    let names: Vec<String> = labels.iter().map(name).collect();
    for (unknown, _) in values.unwrap_or_default().iter().filter(|(it, _)| !names.contains(&it.value)) {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("`{}` has no label `{}`", field.value, unknown.value));
        let problem =
            problem.at(unknown.span, "unknown label").did_you_mean(&unknown.value, names.iter().map(String::as_str));
        reading.problem(problem.help(format!("it has {}", listed(names.iter().map(String::as_str)))));
    }
    let own = |it: &Value| if let Val::Bool(yes) = it { Some(f64::from(u8::from(*yes))) } else { it.as_f64() };
    let value = |label: &Value| match values {
        Some(values) => values.iter().find(|(it, _)| it.value == name(label)).map(|(_, value)| *value),
        None => own(label),
    };
    let without: Vec<&str> =
        labels.iter().zip(&names).filter(|(it, _)| value(it).is_none()).map(|(_, name)| name.as_str()).collect();
    if without.is_empty() {
        return Some(labels.iter().filter_map(|it| Some(Label::new(it, value(it)?))).collect());
    }
    let problem = Problem::new(
        &codes::MISSING_KEY,
        format!("`soft_score` needs a number for {}", listed_all(without.iter().copied())),
    );
    let all: Vec<String> = names.iter().map(|it| format!("{it}: …")).collect();
    let example = format!(
        "say what each label counts: `soft_score: {{ field: {}, values: {{ {} }} }}`",
        field.value,
        all.join(", ")
    );
    reading.problem(problem.at(field.span, "no number").help(example));
    None
}
