//! What is done to a value before it is judged: a part of it is taken, by a path, a regular expression or an expression, or a function of the author makes
//! another one of it.
//!
//! ```yaml
//! transform: { path: answer.text }
//! transform: { regex: 'Answer: (.*)' }
//! transform: { cel: "output.trim().lowerAscii()", otherwise: "" }
//! transform: { evaluate: tidy }
//! ```
//!
//! A transform that finds nothing makes the case an error, unless `otherwise` says what there is then: a value that is not there must not look like an empty one.

use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{FieldPath, Node, Span, Spanned, Val, Value, parse_json, shown_within};
use regex::Regex;

/// What is done to a value.
#[derive(Debug, Clone)]
pub struct Transform {
    taking: Taking,
    /// What there is where it finds nothing.
    otherwise: Option<Value>,
    pub span: Span,
}

#[derive(Debug, Clone)]
enum Taking {
    /// What is at a path; a text is read as JSON first.
    Path(FieldPath),
    /// The first group of the first match, or all of it.
    Regex(Box<Regex>),
    /// What an expression gives, which sees the value as `output` and as `value`.
    Cel(Arc<Expression>),
    /// What an evaluator of the suite returns. It is called, which is for others to do.
    Evaluator(Spanned<String>),
}

const PATH: Field<Spanned<FieldPath>> =
    Field::optional("path", shape::PATH, "takes what is at this path; a text is read as JSON first");
const REGEX: Field<Spanned<String>> = Field::optional(
    "regex",
    shape::TEXT,
    "takes the first group of the first match of this regular expression, or the whole match when it has no group",
);
const CEL: Field<Spanned<String>> =
    Field::optional("cel", shape::TEXT, "takes what this CEL expression gives, which sees the value as `output`");
const EVALUATE: Field<Spanned<String>> = Field::optional(
    "evaluate",
    shape::TEXT,
    "takes what this evaluator of the suite returns, which gets the value as `output`",
);
const OTHERWISE: Field<Value> =
    Field::optional("otherwise", shape::VALUE, "the value where nothing is found; without it the case is an error");

static TRANSFORM: Object =
    Object { what: "a transform", keys: &[PATH.key, REGEX.key, CEL.key, EVALUATE.key, OTHERWISE.key] };

pub(crate) const SHAPE: Shape<Transform> = Shape::new(Form::Object(&TRANSFORM), read);

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Transform> {
    let fields = TRANSFORM.fields(reading, node)?;
    let (path, regex, cel) = (fields.read(reading, &PATH), fields.read(reading, &REGEX), fields.read(reading, &CEL));
    let evaluate = fields.read(reading, &EVALUATE);
    let ways = [&PATH.key, &REGEX.key, &CEL.key, &EVALUATE.key];
    let n_named = ways.iter().filter(|it| fields.key_span(**it).is_some()).count();
    if n_named != 1 {
        if n_named > 1 || !ways.iter().any(|it| fields.may_mean(*it)) {
            let problem =
                Problem::new(&codes::CONFLICT, "a transform has one of `path`, `regex`, `cel` and `evaluate`");
            reading
                .problem(problem.at(node.span, "this one").help("for example `transform: { regex: 'Answer: (.*)' }`"));
        }
        return None;
    }
    let taking = match (path, regex, cel, evaluate) {
        (Some(path), ..) => Taking::Path(path.value),
        (_, Some(regex), ..) => Taking::Regex(Box::new(pattern(reading, &regex)?)),
        (_, _, Some(cel), _) => Taking::Cel(expression(reading, &cel)?),
        (.., Some(evaluator)) => Taking::Evaluator(evaluator),
        _ => return None,
    };
    let otherwise = fields.read(reading, &OTHERWISE);
    Some(Transform { taking, otherwise, span: node.span })
}

fn pattern(reading: &mut Reading<'_>, written: &Spanned<String>) -> Option<Regex> {
    Regex::new(&written.value)
        .map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let problem = Problem::new(&codes::WRONG_VALUE, format!("`regex` is not a regular expression: {reason}"));
            reading.problem(problem.at(written.span, "this expression"));
        })
        .ok()
}

fn expression(reading: &mut Reading<'_>, written: &Spanned<String>) -> Option<Arc<Expression>> {
    let compiled = Expression::compile(&written.value).and_then(|it| it.must_read(&["output", "value"]));
    compiled
        .map_err(|error| {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("`cel` cannot be read: {error}"));
            reading.problem(problem.at(written.span, "this expression").help("the value is `output`"));
        })
        .map(Arc::new)
        .ok()
}

impl Transform {
    /// What a value becomes, or in words why that cannot be known.
    pub fn apply(&self, value: &Val<'_>) -> Result<Value, String> {
        self.taking.apply(value).or_else(|reason| self.instead(&reason))
    }

    /// The evaluator that it calls.
    pub fn evaluator(&self) -> Option<&Spanned<String>> {
        if let Taking::Evaluator(name) = &self.taking { Some(name) } else { None }
    }

    /// What there is where nothing is found, or in words why.
    pub(crate) fn instead(&self, reason: &str) -> Result<Value, String> {
        self.otherwise.clone().ok_or_else(|| format!("the transform finds nothing: {reason}"))
    }
}

impl Taking {
    fn apply(&self, value: &Val<'_>) -> Result<Value, String> {
        match self {
            Taking::Path(path) => at_path(path, value),
            Taking::Regex(regex) => {
                let text = value.as_str().ok_or_else(|| format!("it needs text, not {}", shown_within(value, 60)))?;
                let found = regex
                    .captures(text)
                    .ok_or_else(|| format!("`{}` matches nowhere in {}", regex.as_str(), shown_within(value, 200)))?;
                // A group that took no part found nothing. The whole match is taken only where there is no group to take.
                let group = usize::from(regex.captures_len() > 1);
                let taken = found.get(group).ok_or_else(|| {
                    format!(
                        "the group of `{}` takes no part in the match in {}",
                        regex.as_str(),
                        shown_within(value, 200)
                    )
                })?;
                Ok(Val::from(taken.as_str().to_owned()))
            }
            Taking::Cel(expression) => {
                let names = Val::Map([("output", value.borrowed()), ("value", value.borrowed())].into_iter().collect());
                expression.evaluate(&names).map_err(|error| error.to_string())
            }
            Taking::Evaluator(name) => Err(format!("`{}` has to be called", name.value)),
        }
    }
}

fn at_path(path: &FieldPath, value: &Val<'_>) -> Result<Value, String> {
    let find = |value: &Val<'_>| match path.find(value) {
        Ok(found) => Ok(found.into_owned().into_owned()),
        Err(missing) => Err(missing.explain(path)),
    };
    match value {
        Val::Str(text) => match parse_json(text.trim()) {
            Ok(record) => find(&record.value),
            Err(_) => Err(format!("{} is not JSON", shown_within(value, 200))),
        },
        other => find(other),
    }
}
