//! What is expected of a case, and what scores of its runs mean: for all cases of an evaluation, or for one of them.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Map, Node, Val};

use super::text;
use crate::evaluation::{Criterion, Expectation, Expectations, Rubric, Scale};

static EXPECTATION: Keys = Keys {
    what: "an expectation",
    keys: &[
        Key::required("text", Form::Text, "what is expected"),
        Key::optional("weight", Form::Number(0.0, f64::INFINITY), "its weight").default("`1`"),
        Key::METADATA,
    ],
};

const EXPECTED: Form = Form::List(&Form::Either(&[Form::Text, Form::Object(&EXPECTATION)]));

static EXPECTATIONS: Keys = Keys {
    what: "`expectations`",
    keys: &[
        Key::optional("hard_expectations", EXPECTED, "expectations that must be met").or(&["hard"]),
        Key::optional("soft_expectations", EXPECTED, "expectations that should be met").or(&["soft"]),
    ],
};

static SCALE: Keys = Keys {
    what: "`scale`",
    keys: &[
        Key::optional("min", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the lowest score").default("`0`"),
        Key::optional("max", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the highest score").default("`10`"),
        Key::optional("anchors", Form::Map(&Form::Text), "what some of the scores mean: score → text"),
    ],
};

static CRITERION: Keys = Keys {
    what: "a criterion",
    keys: &[
        Key::required("name", Form::Text, "what judges look at"),
        Key::required("what_good_looks_like", Form::Text, "what good looks like"),
        Key::required("what_bad_looks_like", Form::Text, "what bad looks like"),
    ],
};

static RUBRIC: Keys = Keys {
    what: "the rubric of a case",
    keys: &[
        Key::optional("version", Form::Any, "its version; stored and not used"),
        Key::optional("scale", Form::Object(&SCALE), "the range of scores").default("from 0 to 10"),
        Key::optional("criteria", Form::List(&Form::Object(&CRITERION)), "what judges look at"),
        Key::optional("scoring_instructions", Form::Text, "instructions for scoring"),
    ],
};

pub(crate) const EXPECTATIONS_FORM: Form = Form::Object(&EXPECTATIONS);
pub(crate) const RUBRIC_FORM: Form = Form::Object(&RUBRIC);

/// Reads what is expected of a case.
pub(in crate::suite) fn expectations(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Expectations> {
    let fields = Fields::read(reading, &EXPECTATIONS, node)?;
    let mut of = |name: &str| {
        let items = fields.given(name).map(|it| reading.list(&format!("`{name}`"), "a list of expectations", it));
        items.unwrap_or_default().iter().filter_map(|it| expectation(reading, it)).collect()
    };
    Some(Expectations { hard: of("hard_expectations"), soft: of("soft_expectations") })
}

fn expectation(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Expectation> {
    let metadata = || Val::Map(Map::default());
    if node.entries().is_none() {
        let text = reading.text("an expectation", node)?.value;
        return Some(Expectation { text, weight: 1.0, metadata: metadata() });
    }
    let fields = Fields::read(reading, &EXPECTATION, node)?;
    let weight = fields.given("weight").and_then(|it| reading.number("`weight`", (0.0, f64::INFINITY), it));
    let kept = fields.given("metadata").map(|it| it.to_val().into_owned());
    let text = fields.get("text").and_then(|it| reading.text("`text`", it))?.value;
    Some(Expectation { text, weight: weight.unwrap_or(1.0), metadata: kept.unwrap_or_else(metadata) })
}

/// Reads what scores mean in a case.
pub(in crate::suite) fn rubric(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Rubric> {
    let fields = Fields::read(reading, &RUBRIC, node)?;
    let version = fields.given("version").map(|it| it.to_val().into_owned());
    let scale = fields.given("scale").and_then(|it| scale(reading, it)).unwrap_or_default();
    let items = fields.given("criteria").map(|it| reading.list("`criteria`", "a list of criteria", it));
    let mut criteria = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(fields) = Fields::read(reading, &CRITERION, item) else { continue };
        let mut words = |name: &str| {
            let text = fields.get(name).and_then(|it| reading.text(&format!("`{name}`"), it))?;
            if text.value.trim().is_empty() {
                let problem = Problem::new(&codes::WRONG_VALUE, format!("`{name}` must not be empty"));
                reading.problem(problem.at(text.span, "empty"));
            }
            Some(text.value)
        };
        let (name, good, bad) = (words("name"), words("what_good_looks_like"), words("what_bad_looks_like"));
        if let (Some(name), Some(good), Some(bad)) = (name, good, bad) {
            criteria.push(Criterion { name, good, bad });
        }
    }
    let scoring_instructions = text(reading, &fields, "scoring_instructions");
    Some(Rubric { version, scale, criteria, scoring_instructions })
}

fn scale(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Scale> {
    let fields = Fields::read(reading, &SCALE, node)?;
    let default = Scale::default();
    let mut end = |name: &str, default: f64| {
        let any = (f64::NEG_INFINITY, f64::INFINITY);
        fields.given(name).and_then(|it| reading.number(&format!("`{name}`"), any, it)).unwrap_or(default)
    };
    let (min, max) = (end("min", default.min), end("max", default.max));
    if max <= min || !(max - min).is_finite() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("a scale from {min} to {max} has no scores"));
        let at = fields.key_span("max").unwrap_or(fields.span);
        reading.problem(problem.at(at, "must be more than `min`"));
        return None;
    }
    let mut anchors = Vec::new();
    if let Some(node) = fields.given("anchors") {
        let Some(entries) = node.entries() else {
            reading.wrong_type("`anchors` of a scale", "an object of scores and what they mean", node);
            return None;
        };
        for entry in entries {
            if let Some(text) = reading.text(&format!("the anchor of `{}`", entry.key), &entry.value) {
                anchors.push((entry.key.clone().into_owned(), text.value));
            }
        }
    }
    Some(Scale { min, max, anchors })
}
