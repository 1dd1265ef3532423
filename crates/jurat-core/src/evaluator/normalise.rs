//! From what an evaluator returned to what it means, in two stages for each output.

use jurat_format::value::{Val, Value};

use super::rejection::{Expected, Rejection};
use super::{Language, Object, OutputConfig, OutputKind};

/// What an evaluator says: any of a label, a score and an explanation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Triple {
    pub label: Option<String>,
    /// The score. Without an output, or with one that is free, it may be infinite or not a number.
    pub score: Option<f64>,
    pub explanation: Option<String>,
}

impl Triple {
    /// `{label, score, explanation}`, as other tasks read it.
    pub fn to_value(&self) -> Value {
        let text = |it: &Option<String>| it.clone().map_or(Val::Null, Val::from);
        let members = [
            ("label", text(&self.label)),
            ("score", self.score.map_or(Val::Null, Val::F)),
            ("explanation", text(&self.explanation)),
        ];
        Val::Map(members.into_iter().collect())
    }
}

/// The result of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The evaluator's name; with several outputs `{evaluator}.{output}`.
    pub name: String,
    /// What it says, or why that is not taken.
    pub result: Result<Triple, Rejection>,
}

impl Evaluation {
    /// The same, without a score that can be neither compared nor averaged: that is rejected.
    pub fn finite(mut self, language: Language) -> Evaluation {
        if let Ok(Triple { score: Some(score), .. }) = self.result
            && !score.is_finite()
        {
            let expected = Expected { config: None, language, names: &[] };
            self.result = Err(expected.not_finite(&Object::Float(score)));
        }
        self
    }
}

/// What was returned, held against every output, in their order. Without outputs there is one result, whatever was returned.
///
/// With several outputs, a dict that has a key for each of them answers each by its name; anything else is the answer for all of them.
/// What one output rejects says nothing about the others.
pub fn normalise(evaluator: &str, language: Language, configs: &[OutputConfig], returned: &Object) -> Vec<Evaluation> {
    if configs.len() > 1 {
        return routed(evaluator, language, configs, returned);
    }
    let expected = Expected { config: configs.first(), language, names: &[] };
    vec![Evaluation { name: evaluator.to_owned(), result: one(expected, returned) }]
}

fn routed(evaluator: &str, language: Language, configs: &[OutputConfig], returned: &Object) -> Vec<Evaluation> {
    let names: Vec<&str> = configs.iter().map(|it| it.name.as_str()).collect();
    let is_routed = names.iter().all(|it| returned.get(it).is_some());
    let shared = if is_routed { returned.get("explanation").and_then(Object::as_str) } else { None };
    let evaluation = |config: &OutputConfig| {
        let value = if is_routed { returned.get(&config.name).unwrap_or(returned) } else { returned };
        let mut result = one(Expected { config: Some(config), language, names: &names }, value);
        if let (Ok(triple), Some(shared)) = (&mut result, shared) {
            triple.explanation.get_or_insert_with(|| shared.to_owned());
        }
        Evaluation { name: format!("{evaluator}.{}", config.name), result }
    };
    configs.iter().map(evaluation).collect()
}

fn one(expected: Expected<'_>, returned: &Object) -> Result<Triple, Rejection> {
    let extracted = extract(expected, returned)?;
    validate(expected, extracted, returned)
}

/// What the first stage finds: the score is still whatever it was returned as.
struct Extracted<'r> {
    label: Option<String>,
    score: Option<&'r Object>,
    explanation: Option<String>,
}

const KEYS: [&str; 3] = ["label", "score", "explanation"];

/// The first stage: by the shape alone.
fn extract<'r>(expected: Expected<'_>, returned: &'r Object) -> Result<Extracted<'r>, Rejection> {
    let is_continuous = matches!(expected.config.map(|it| &it.kind), Some(OutputKind::Continuous { .. }));
    let nothing = Extracted { label: None, score: None, explanation: None };
    Ok(match returned {
        Object::Bool(_) if is_continuous => return Err(expected.not_numeric(returned)),
        Object::Dict(items) => {
            let is_known = |key: &Object| key.as_str().is_some_and(|it| KEYS.contains(&it));
            let unknown: Vec<&Object> = items.iter().map(|(key, _)| key).filter(|it| !is_known(it)).collect();
            if !unknown.is_empty() {
                return Err(expected.unknown_keys(&unknown, returned));
            }
            let text = |key: &str| match returned.get(key) {
                None | Some(Object::None) => Ok(None),
                Some(Object::Str(text)) => Ok(Some(text.clone())),
                Some(other) => Err(expected.bad_field(key, "text", other)),
            };
            let (label, explanation) = (text("label")?, text("explanation")?);
            Extracted { label, score: returned.get("score").filter(|it| **it != Object::None), explanation }
        }
        // A truth value is a label, in Python's spelling whatever the language: it is no number, and there is nothing else it could be.
        Object::Bool(value) => Extracted { label: Some(if *value { "True" } else { "False" }.to_owned()), ..nothing },
        Object::Str(text) => Extracted { label: Some(text.clone()), ..nothing },
        number if number.is_number() => match number.as_f64() {
            Some(_) => Extracted { score: Some(number), ..nothing },
            None => return Err(expected.not_finite(number)),
        },
        // A label or a score is missed in the second stage, by those that need one.
        _ => nothing,
    })
}

/// The second stage: against what the output may be.
fn validate(expected: Expected<'_>, extracted: Extracted<'_>, returned: &Object) -> Result<Triple, Rejection> {
    let Extracted { label, score, explanation } = extracted;
    match expected.config.map(|it| &it.kind) {
        Some(OutputKind::Categorical(values)) => {
            let label = label.ok_or_else(|| expected.missing_label(returned))?;
            let value = values.iter().find(|it| it.label == label).ok_or_else(|| expected.unknown_label(&label))?;
            let given = match score {
                Some(Object::Bool(score)) => return Err(expected.bool_score(*score, &label)),
                other => number(expected, other)?,
            };
            let score = match (value.score, given) {
                (Some(configured), Some(given)) if configured != given => {
                    return Err(expected.score_conflict(given, configured, &label));
                }
                (configured, given) => configured.or(given),
            };
            Ok(Triple { label: Some(label), score, explanation })
        }
        Some(OutputKind::Continuous { lower_bound, upper_bound }) => {
            let given = score.filter(|it| !is_null(expected, it)).ok_or_else(|| expected.missing_score(returned))?;
            if !given.is_number() {
                return Err(expected.not_numeric(given));
            }
            let score = given.as_f64().filter(|it| it.is_finite()).ok_or_else(|| expected.not_finite(given))?;
            match (lower_bound, upper_bound) {
                (Some(bound), _) if score < *bound => Err(expected.below(score, *bound)),
                (_, Some(bound)) if score > *bound => Err(expected.above(score, *bound)),
                _ => Ok(Triple { label, score: Some(score), explanation }),
            }
        }
        Some(OutputKind::Freeform { .. }) | None => {
            let is_shape = matches!(returned, Object::None | Object::Bool(_) | Object::Str(_) | Object::Dict(_));
            if !is_shape && !returned.is_number() {
                return Err(expected.unsupported(returned));
            }
            Ok(Triple { label, score: number(expected, score)?, explanation })
        }
    }
}

/// Whether JSON has null for a number. In JavaScript that is what people see of one that is not finite, so it is missed like one.
fn is_null(expected: Expected<'_>, score: &Object) -> bool {
    let is_script = matches!(expected.language, Language::TypeScript | Language::JavaScript);
    is_script && matches!(score, Object::Float(number) if !number.is_finite())
}

/// A score that may be left out, and may be infinite.
fn number(expected: Expected<'_>, score: Option<&Object>) -> Result<Option<f64>, Rejection> {
    match score {
        None => Ok(None),
        Some(score) if score.is_number() => score.as_f64().map(Some).ok_or_else(|| expected.not_finite(score)),
        Some(other) => Err(expected.bad_field("score", "a number", other)),
    }
}
