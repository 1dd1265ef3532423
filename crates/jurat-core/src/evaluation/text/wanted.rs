//! What is expected of a case, and what scores of its runs mean: for all cases of an evaluation, or for one of them.

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field, METADATA};
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node, Val, Value};

use crate::evaluation::{Criterion, Expectation, Expectations, Rubric, Scale};

const TEXT: Field<String> = Field::required("text", shape::STRING, "what is expected");
const WEIGHT: Defaulted<f64> = Field::optional("weight", shape::AMOUNT, "its weight").or_null().default(1.0);

static EXPECTATION: Object = Object { what: "an expectation", keys: &[TEXT.key, WEIGHT.key, METADATA.key] };

const EXPECTED: Shape<Vec<Expectation>> =
    Shape::new(const { Form::List(&Form::Either(&[Form::Text, Form::Object(&EXPECTATION)])) }, expected);

const HARD_EXPECTATIONS: Field<Vec<Expectation>> =
    Field::optional("hard_expectations", EXPECTED, "expectations that must be met").or(&["hard"]).or_null();
const SOFT_EXPECTATIONS: Field<Vec<Expectation>> =
    Field::optional("soft_expectations", EXPECTED, "expectations that should be met").or(&["soft"]).or_null();

static EXPECTATIONS: Object = Object { what: "`expectations`", keys: &[HARD_EXPECTATIONS.key, SOFT_EXPECTATIONS.key] };

const MIN: Defaulted<f64> = Field::optional("min", shape::NUMBER, "the lowest score").or_null().default(Scale::MIN);
const MAX: Defaulted<f64> = Field::optional("max", shape::NUMBER, "the highest score").or_null().default(Scale::MAX);
const ANCHORS: Field<Vec<(String, String)>> = Field::optional(
    "anchors",
    Shape::new(Form::Map(&Form::Text), anchors),
    "what some of the scores mean: score → text",
)
.or_null();

static SCALE_KEYS: Object = Object { what: "`scale`", keys: &[MIN.key, MAX.key, ANCHORS.key] };

const WORDS: Shape<String> = Shape::new(Form::Text, words);

const NAME: Field<String> = Field::required("name", WORDS, "what judges look at");
const WHAT_GOOD_LOOKS_LIKE: Field<String> = Field::required("what_good_looks_like", WORDS, "what good looks like");
const WHAT_BAD_LOOKS_LIKE: Field<String> = Field::required("what_bad_looks_like", WORDS, "what bad looks like");

static CRITERION: Object =
    Object { what: "a criterion", keys: &[NAME.key, WHAT_GOOD_LOOKS_LIKE.key, WHAT_BAD_LOOKS_LIKE.key] };

const VERSION: Field<Value> = Field::optional("version", shape::VALUE, "its version; stored and not used").or_null();
const SCALE: Field<Scale> =
    Field::optional("scale", Shape::new(Form::Object(&SCALE_KEYS), scale), "the range of scores")
        .or_null()
        .default_words("from 0 to 10");
const CRITERIA: Field<Vec<Criterion>> = Field::optional(
    "criteria",
    Shape::new(const { Form::List(&Form::Object(&CRITERION)) }, criteria),
    "what judges look at",
)
.or_null();
const SCORING_INSTRUCTIONS: Field<String> =
    Field::optional("scoring_instructions", shape::STRING, "instructions for scoring").or_null();

static RUBRIC: Object =
    Object { what: "the rubric of a case", keys: &[VERSION.key, SCALE.key, CRITERIA.key, SCORING_INSTRUCTIONS.key] };

pub(crate) const EXPECTATIONS_SHAPE: Shape<Expectations> = Shape::new(Form::Object(&EXPECTATIONS), read_expectations);
pub(crate) const RUBRIC_SHAPE: Shape<Rubric> = Shape::new(Form::Object(&RUBRIC), rubric);

/// Reads what is expected of a case.
fn read_expectations(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Expectations> {
    let fields = EXPECTATIONS.fields(reading, node)?;
    let hard = fields.read(reading, &HARD_EXPECTATIONS).unwrap_or_default();
    let soft = fields.read(reading, &SOFT_EXPECTATIONS).unwrap_or_default();
    Some(Expectations { hard, soft })
}

fn expected(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Expectation>> {
    let items = reading.list(what, "a list of expectations", node);
    Some(items.iter().filter_map(|it| expectation(reading, it)).collect())
}

fn expectation(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Expectation> {
    let metadata = || Val::Map(Map::default());
    if node.entries().is_none() {
        let text = reading.text("an expectation", node)?.value;
        return Some(Expectation { text, weight: WEIGHT.value, metadata: metadata() });
    }
    let fields = EXPECTATION.fields(reading, node)?;
    let weight = fields.value(reading, &WEIGHT);
    let written = fields.node(&METADATA).map(|it| it.to_val().into_owned());
    let text = fields.read(reading, &TEXT)?;
    Some(Expectation { text, weight, metadata: written.unwrap_or_else(metadata) })
}

/// Reads what scores mean in a case.
fn rubric(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Rubric> {
    let fields = RUBRIC.fields(reading, node)?;
    let version = fields.read(reading, &VERSION);
    let scale = fields.read(reading, &SCALE).unwrap_or_default();
    let criteria = fields.read(reading, &CRITERIA).unwrap_or_default();
    let scoring_instructions = fields.read(reading, &SCORING_INSTRUCTIONS);
    Some(Rubric { version, scale, criteria, scoring_instructions })
}

fn criteria(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Criterion>> {
    let mut criteria = Vec::new();
    for item in reading.list(what, "a list of criteria", node) {
        let Some(fields) = CRITERION.fields(reading, item) else { continue };
        let name = fields.read(reading, &NAME);
        let (good, bad) = (fields.read(reading, &WHAT_GOOD_LOOKS_LIKE), fields.read(reading, &WHAT_BAD_LOOKS_LIKE));
        if let (Some(name), Some(good), Some(bad)) = (name, good, bad) {
            criteria.push(Criterion { name, good, bad });
        }
    }
    Some(criteria)
}

/// A text that says something.
fn words(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<String> {
    let text = reading.text(what, node)?;
    if text.value.trim().is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must not be empty"));
        reading.problem(problem.at(text.span, "empty"));
    }
    Some(text.value)
}

fn scale(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Scale> {
    let fields = SCALE_KEYS.fields(reading, node)?;
    let (min, max) = (fields.value(reading, &MIN), fields.value(reading, &MAX));
    if max <= min || !(max - min).is_finite() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("a scale from {min} to {max} has no scores"));
        let at = fields.key_span(&MAX).unwrap_or(fields.span);
        reading.problem(problem.at(at, "must be more than `min`"));
        return None;
    }
    let anchors = match fields.node(&ANCHORS) {
        Some(_) => fields.read(reading, &ANCHORS)?,
        None => Vec::new(),
    };
    Some(Scale { min, max, anchors })
}

fn anchors(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(&format!("{what} of a scale"), "an object of scores and what they mean", node);
        return None;
    };
    let mut anchors = Vec::new();
    for entry in entries {
        if let Some(text) = reading.text(&format!("the anchor of `{}`", entry.key), &entry.value) {
            anchors.push((entry.key.clone().into_owned(), text.value));
        }
    }
    Some(anchors)
}
