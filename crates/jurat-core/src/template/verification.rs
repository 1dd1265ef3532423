//! What a template says about an answer: each field compared, all of them put together, and partial credit.
//!
//! A field is right, wrong, or not there: what the answer does not say is never right. A comparison that cannot be applied (a number was
//! needed and text was read) is an error of the verification, whatever the other fields say and whatever the strategy asks for. A verdict
//! must not depend on which of two fields happened to be looked at.

use std::fmt;

use jurat_compare::{Comparison, Fault, Inapplicable, Judgement};
use jurat_format::value::{Map, Val, Value, python, shown};

use super::definition::{
    Field, GroundTruth, GroundTruthCase, Strategy, Template, TemplateError, is_trace, usual_operator,
};
use crate::judge::ReplyForm;
use crate::output::{CompiledSchema, TYPES};

/// What is concluded about an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// Whether it is right; `None` when nothing was judged, and in words why that cannot be decided.
    pub verify: Result<Option<bool>, String>,
    /// Partial credit, between 0 and 1 unless a weight is negative; `None` when nothing was judged or it cannot be decided.
    pub granular: Option<f64>,
    /// The result of each field, in order.
    pub fields: Vec<FieldVerdict>,
    /// By what it was judged.
    pub judged_by: JudgedBy,
}

/// The result of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldVerdict {
    pub name: String,
    /// Whether it is right; `None` when it was not there or is not judged, and why that cannot be decided.
    pub result: Result<Option<bool>, Inapplicable>,
    /// Its credit between 0 and 1, when it was judged.
    pub score: Option<f64>,
    /// What was expected, in words; empty for a field that is not judged.
    pub expected: String,
    /// What was found, in words.
    pub found: String,
}

/// By what an answer was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedBy {
    Template,
    /// By a model that compared it with the reference.
    Default,
    /// By its text, which had to be that of the reference.
    ExactMatch,
}

impl JudgedBy {
    /// The name that records use.
    pub fn name(self) -> &'static str {
        match self {
            JudgedBy::Template => "template",
            JudgedBy::Default => "default",
            JudgedBy::ExactMatch => "exact_match",
        }
    }
}

impl fmt::Display for JudgedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Verified {
    /// Whether the answer is right, where that could be decided.
    pub fn verify_result(&self) -> Option<bool> {
        self.verify.as_ref().ok().copied().flatten()
    }

    pub fn error(&self) -> Option<&str> {
        self.verify.as_ref().err().map(String::as_str)
    }

    /// The whole as one value, for records.
    pub fn to_value(&self) -> Value {
        let yes_or_no = |it: Option<bool>| it.map_or(Val::Null, Val::Bool);
        let number = |it: Option<f64>| it.map_or(Val::Null, Val::F);
        let field = |it: &FieldVerdict| {
            let mut members = Map::with_capacity(5);
            members.insert("name".into(), Val::from(it.name.clone()));
            members.insert("result".into(), yes_or_no(it.result.as_ref().ok().copied().flatten()));
            members.insert("score".into(), number(it.score));
            if !it.expected.is_empty() {
                members.insert("expected".into(), Val::from(it.expected.clone()));
            }
            members.insert("found".into(), Val::from(it.found.clone()));
            if let Err(inapplicable) = &it.result {
                members.insert("error".into(), Val::from(inapplicable.reason.clone()));
            }
            Val::Map(members)
        };
        let mut members = Map::with_capacity(5);
        members.insert("verify_result".into(), yes_or_no(self.verify_result()));
        members.insert("granular".into(), number(self.granular));
        members.insert("judged_by".into(), Val::from(self.judged_by.name()));
        if let Some(reason) = self.error() {
            members.insert("error".into(), Val::from(reason.to_owned()));
        }
        members.insert("fields".into(), self.fields.iter().map(field).collect());
        Val::Map(members)
    }
}

impl Template {
    /// What the model that reads answers found, as later turns see it: the fields, without those that it did not find.
    pub fn parsed(&self, reply: &Val<'_>) -> Map<'static> {
        let found = |(field, check): (&Field, &Check)| {
            let value = check.found(field, reply)?;
            (!field.is_trace()).then(|| (field.name.clone(), value.clone().into_owned()))
        };
        self.fields().iter().zip(self.checks.iter()).filter_map(found).collect()
    }

    /// Judges what was read from an answer.
    ///
    /// `values` holds the fields; one that is absent, or null though its type has no null, was not found. `raw` is the answer itself, which
    /// some fields look at. `node_results` holds the results of earlier nodes by their ids, and may be null.
    pub fn verify(&self, values: &Val<'_>, raw: Option<&str>, node_results: &Val<'_>) -> Verified {
        let judged = self.fields().iter().zip(self.checks.iter());
        let fields: Vec<FieldVerdict> =
            judged.map(|(field, check)| check.judge(field, values, raw, node_results)).collect();
        let error = fields.iter().find_map(|it| it.result.as_ref().err().map(|why| format!("`{}`: {why}", it.name)));
        let is_judged = |it: &&Field| it.is_judged();
        let (verify, granular) = match error {
            Some(reason) => (Err(reason), None),
            None if !self.fields().iter().any(Field::is_judged) => (Ok(None), None),
            None => {
                let passed = |name: &str| fields.iter().any(|it| it.name == name && it.result == Ok(Some(true)));
                let verify = match self.strategy() {
                    Some(strategy) => holds(strategy, &passed),
                    None => self.fields().iter().filter(is_judged).all(|it| passed(&it.name)),
                };
                (Ok(Some(verify)), Some(self.granular(&fields)))
            }
        };
        Verified { verify, granular, fields, judged_by: JudgedBy::Template }
    }

    /// Partial credit: what the fields earned of their weights. Where one of several is enough only the best counts, where a number of them is
    /// enough only as many; parts of a strategy below its root make no difference.
    fn granular(&self, verdicts: &[FieldVerdict]) -> f64 {
        let fields = self.fields().iter().zip(verdicts).filter(|(field, _)| field.is_judged());
        let (weights, mut earned): (Vec<f64>, Vec<f64>) =
            fields.map(|(field, verdict)| (field.weight, field.weight * verdict.score.unwrap_or(0.0))).unzip();
        let total: f64 = weights.iter().sum();
        if total == 0.0 {
            return 0.0;
        }
        earned.sort_by(|left, right| right.total_cmp(left));
        let n_counted = match self.strategy() {
            Some(Strategy::AnyOf(_)) => 1,
            Some(Strategy::AtLeastN(n, _)) => usize::try_from(*n).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        earned.iter().take(n_counted).sum::<f64>() / total
    }
}

fn holds(strategy: &Strategy, passed: &impl Fn(&str) -> bool) -> bool {
    let n_passed = |parts: &[Strategy]| parts.iter().filter(|it| holds(it, passed)).count();
    match strategy {
        Strategy::Field(name) => passed(name),
        Strategy::AllOf(parts) => n_passed(parts) == parts.len(),
        Strategy::AnyOf(parts) => n_passed(parts) > 0,
        Strategy::AtLeastN(n, parts) => n_passed(parts) >= usize::try_from(*n).unwrap_or(usize::MAX),
    }
}

/// How a field is judged, compiled with the template.
#[derive(Debug)]
pub(super) struct Check {
    /// Whether null is a value of its type, rather than a sign that nothing was found.
    has_null: bool,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    /// It is not judged.
    Nothing,
    /// It is always judged the same way.
    Fixed(Ready),
    /// An earlier turn decides.
    Conditional { source: String, cases: Vec<(String, Ready)>, default: Ready },
}

/// A comparison with its operand. One that the operand does not fit is an error each time it is used.
#[derive(Debug)]
struct Ready {
    comparison: Result<Comparison<'static>, Inapplicable>,
    /// For comparisons with the raw answer: whether they must hold.
    trace: Option<bool>,
}

impl Check {
    pub(super) fn prepare(field: &Field) -> Result<Check, TemplateError> {
        let has_null =
            has_null(&field.schema).map_err(|reason| TemplateError::Schema { field: field.name.clone(), reason })?;
        let ready = |case: &GroundTruthCase| {
            let operator = case.verify_with.clone().or_else(|| field.verify_with.clone());
            let operator = operator.unwrap_or_else(|| usual_operator(&case.value));
            let trace = is_trace(&operator).then(|| python::truth(&case.value));
            Ready { comparison: operator.bind(case.value.clone()), trace }
        };
        let always = |value: Value| Rule::Fixed(ready(&GroundTruthCase { value, verify_with: None }));
        let rule = match &field.ground_truth {
            GroundTruth::None if !field.is_judged() => Rule::Nothing,
            // A comparison with the raw answer expects the text to be there by default.
            GroundTruth::None if field.is_trace() => always(Val::Bool(true)),
            GroundTruth::None => always(Val::Null),
            GroundTruth::Value(value) => always(value.clone()),
            // It is prepared once a case has it.
            GroundTruth::Found(_) => Rule::Nothing,
            GroundTruth::Conditional { source, cases, default } => Rule::Conditional {
                source: source.clone(),
                cases: cases.iter().map(|(text, case)| (text.clone(), ready(case))).collect(),
                default: ready(default),
            },
        };
        Ok(Check { has_null, rule })
    }

    /// The value of a field, unless it was not found.
    fn found<'v, 'a>(&self, field: &Field, values: &'v Val<'a>) -> Option<&'v Val<'a>> {
        values.get(&field.name).filter(|it| **it != Val::Null || self.has_null)
    }

    fn judge(&self, field: &Field, values: &Val<'_>, raw: Option<&str>, node_results: &Val<'_>) -> FieldVerdict {
        let value = self.found(field, values);
        let said = |result, score, expected: String, found: String| FieldVerdict {
            name: field.name.clone(),
            result,
            score,
            expected,
            found,
        };
        let nothing = || "nothing: the answer does not say".to_owned();
        let ready = match &self.rule {
            Rule::Nothing => return said(Ok(None), None, String::new(), value.map_or_else(nothing, shown)),
            Rule::Fixed(ready) => ready,
            Rule::Conditional { source, cases, default } => case_of(source, cases, node_results).unwrap_or(default),
        };
        let comparison = match (&ready.comparison, ready.trace, value) {
            (Err(why), _, found) => {
                return said(Err(why.clone()), None, "something else".to_owned(), found.map_or_else(nothing, shown));
            }
            (Ok(comparison), Some(wanted), _) => {
                let (result, found) = judge_raw(comparison, raw, wanted);
                let not = if wanted { "" } else { "anything but " };
                let score = result.as_ref().ok().copied().flatten().map(credit);
                return said(result, score, format!("{not}{}", comparison.expected()), found);
            }
            (Ok(comparison), None, None) => return said(Ok(None), None, comparison.expected(), nothing()),
            (Ok(comparison), None, Some(_)) => comparison,
        };
        let value = value.unwrap_or(&Val::Null);
        match comparison.judge(value) {
            Judgement::Passed => {
                said(Ok(Some(true)), Some(graded(comparison, value, true)), comparison.expected(), shown(value))
            }
            Judgement::Failed(mismatch) => {
                said(Ok(Some(false)), Some(graded(comparison, value, false)), mismatch.expected, mismatch.found)
            }
            Judgement::Error(why) => said(Err(*why), None, comparison.expected(), shown(value)),
        }
    }
}

/// Whether null fits a schema.
fn has_null(schema: &Val<'_>) -> Result<bool, String> {
    // A type says it without compiling anything, and most schemas are one.
    match (schema.get("type").and_then(Val::as_str), schema.as_map().map_or(0, Map::len)) {
        (Some(name), 1) if TYPES.contains(&name) => Ok(name == "null"),
        _ => Ok(ReplyForm::Schema(Box::new(CompiledSchema::compile(schema)?)).read("null").is_ok()),
    }
}

/// The case that the result of an earlier node picks. Texts pick as Python prints them (`True`, `1.0`), and `true` and `false` too.
fn case_of<'c>(source: &str, cases: &'c [(String, Ready)], node_results: &Val<'_>) -> Option<&'c Ready> {
    let found = source.strip_prefix("node_results.").and_then(|it| within(node_results, it))?;
    let case = |text: &str| cases.iter().find(|(known, _)| known == text).map(|(_, ready)| ready);
    case(&python::str(found)).or_else(|| match found {
        Val::Bool(value) => case(if *value { "true" } else { "false" }),
        _ => None,
    })
}

/// What a dotted path leads to. What is left of a path may be one key: `rubric.facts.recall` is a member of `rubric`.
fn within<'v, 'a>(value: &'v Val<'a>, path: &str) -> Option<&'v Val<'a>> {
    let found = match (value.get(path), path.split_once('.')) {
        (Some(found), _) => found,
        (None, Some((first, rest))) => within(value.get(first)?, rest)?,
        (None, None) => return None,
    };
    (*found != Val::Null).then_some(found)
}

fn judge_raw(
    comparison: &Comparison<'_>,
    raw: Option<&str>,
    wanted: bool,
) -> (Result<Option<bool>, Inapplicable>, String) {
    let Some(raw) = raw else {
        let reason = "it looks at the raw answer, and there is none".to_owned();
        return (Err(Inapplicable { fault: Fault::Content, reason }), "no answer".to_owned());
    };
    let raw = Val::from(raw);
    match comparison.judge(&raw) {
        Judgement::Passed => (Ok(Some(wanted)), shown(&raw)),
        Judgement::Failed(mismatch) => (Ok(Some(!wanted)), mismatch.found),
        Judgement::Error(why) => (Err(*why), shown(&raw)),
    }
}

/// The credit of a value. A grade that cannot be had, or is no number, is what was decided without it.
fn graded(comparison: &Comparison<'_>, value: &Val<'_>, passed: bool) -> f64 {
    match comparison.score(value) {
        Ok(score) if score.is_nan() => 0.0,
        Ok(score) => score.clamp(0.0, 1.0),
        Err(_) => credit(passed),
    }
}

fn credit(passed: bool) -> f64 {
    if passed { 1.0 } else { 0.0 }
}
