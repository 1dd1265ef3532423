//! Conditions as they are written.
//!
//! ```yaml
//! when: { verify_result: true }                          # a field and what it must be
//! when: [{ verify_result: true }, { turn: { lt: 4 } }]   # all of them
//! when: { parsed.city: { in: [Paris, Rome] } }           # an operator
//! when: { any: [{ turn: 3 }, { not: { parsed.done: true } }] }
//! when: { cel: "turn > 2 && accumulated.score < 0.5" }
//! ```
//!
//! What a field is compared with decides how: a boolean by truth, text without regard to case and outer space, a number by value, a
//! list as a set. [`read`] takes everything that jurat knows, and [`read_stored`] what files have; each is written by one function too.

use std::borrow::Cow;
use std::sync::Arc;

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_compare::{Args, Operator, Origin, find};
use jurat_format::choices;
use jurat_format::problem::{listed, nearest};
use jurat_format::value::{Content, Entry, Kind, Map, Node, Span, Val, Value};

use super::{Condition, State, StateCheck, StatePath};

/// What is wrong with a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct WhenError {
    /// What kind of mistake it is.
    pub kind: WhenErrorKind,
    pub span: Span,
    /// What is wrong, in words.
    pub message: String,
    pub help: Option<String>,
}

choices! {
    /// The kinds of mistake in a condition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WhenErrorKind {
        /// It has the wrong shape, or compares with something that cannot be compared with.
        BadCondition = "bad_condition",
        /// It uses an operator that does not exist.
        UnknownOperator = "unknown_operator",
        /// It is something that cannot be a condition at all.
        UnsupportedCondition = "unsupported_condition",
        /// It has an expression that cannot be read.
        BadExpression = "bad_expression",
    }
}

/// Reads a condition in every form that jurat knows; `None` for null, which is no condition.
pub fn read(node: &Node<'_>) -> Result<Option<Condition>, Vec<WhenError>> {
    match &node.content {
        Content::Scalar(Val::Null) => Ok(None),
        _ => condition(node).map(Some),
    }
}

/// Reads a condition as it is stored: a state check, a list of them, or what jurat has besides.
pub fn read_stored(node: &Node<'_>) -> Result<Option<Condition>, Vec<WhenError>> {
    let is_check = |node: &Node<'_>| is_state_check(node);
    match &node.content {
        Content::Scalar(Val::Null) => Ok(None),
        Content::Map(_) if is_check(node) => stored_check(node, Strictness::Lenient).map(|it| Some(it.into())),
        Content::List(items) if items.iter().all(is_check) => {
            let checks = collected(items.iter().map(|it| stored_check(it, Strictness::Lenient)))?;
            Ok(Some(Condition::Checks(checks)))
        }
        _ => read(node),
    }
}

/// The check of a field against a value, with the comparison that suits the value.
///
/// ```
/// use jurat_core::scenario::when::inferred;
///
/// let check = inferred("parsed.city", "Paris".into());
/// assert_eq!(check.verify_with.entry().name, "ExactMatch");
/// ```
pub fn inferred(field: &str, expected: Value) -> StateCheck {
    let name = match expected.kind() {
        Kind::Boolean => "BooleanMatch",
        Kind::Number => "NumericExact",
        Kind::List => "SetContainment",
        _ => "ExactMatch",
    };
    StateCheck { field: StatePath::parse(field), expected, verify_with: comparison(name) }
}

/// The check that a field is a number beyond a bound: `gte`, `gt`, `lte` or `lt`.
///
/// ```
/// use jurat_core::scenario::when::{Bound, bounded};
///
/// let check = bounded("node_visits.retry", Bound::AtLeast, 3.0);
/// assert_eq!(check.verify_with.entry().name, "NumericRange");
/// ```
pub fn bounded(field: &str, bound: Bound, number: f64) -> StateCheck {
    let node = Node { span: Span::default(), content: Content::Scalar(Val::F(number)) };
    let verify_with = range(bound, &node).expect("a number is a bound");
    StateCheck { field: StatePath::parse(field), expected: Val::Null, verify_with }
}

choices! {
    /// Which side of a number.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Bound {
        /// `gte`.
        AtLeast = "gte",
        /// `gt`.
        Above = "gt",
        /// `lte`.
        AtMost = "lte",
        /// `lt`.
        Below = "lt",
    }
}

/// The condition in its shortest form.
pub fn write(condition: &Condition) -> Value {
    match condition {
        Condition::Check(check) => write_check(check),
        Condition::Checks(checks) => checks.iter().map(write_check).collect(),
        Condition::All(all) => all.iter().map(write).collect(),
        Condition::Any(any) => keyed("any", any.iter().map(write).collect()),
        Condition::Not(not) => keyed("not", write(not)),
        Condition::Cel(expression) => keyed("cel", Val::from(expression.source().to_owned())),
        // The text of code stands under a key of its own.
        Condition::Callable(_) => Val::Null,
    }
}

/// The condition as it is stored; null for code, whose text stands under a key of its own.
pub fn write_stored(condition: &Condition) -> Value {
    match condition {
        Condition::Check(check) => write_stored_check(check),
        Condition::Checks(checks) => checks.iter().map(write_stored_check).collect(),
        other => write(other),
    }
}

fn write_check(check: &StateCheck) -> Value {
    let field = check.field.as_str();
    let short = |value: Value| Val::Map([(field.to_owned(), value)].into_iter().collect::<Map<'_>>());
    // A field with the name of a word of this language would be taken for the word.
    let is_word = WORDS.contains(&field);
    if !is_word && check.expected.kind() != Kind::Object && *check == inferred(field, check.expected.clone()) {
        return short(check.expected.clone());
    }
    match write_bound(check) {
        Some(bound) if !is_word => short(bound),
        _ => write_stored_check(check),
    }
}

fn write_bound(check: &StateCheck) -> Option<Value> {
    if check.expected != Val::Null || check.verify_with.entry().name != "NumericRange" {
        return None;
    }
    let parameters: Map<'static> = check.verify_with.parameters().into_iter().collect();
    let of = |name: &str| parameters.get(name).filter(|it| **it != Val::Null);
    let excludes = |name: &str| parameters.get(name) == Some(&Val::Bool(true));
    let (bound, number) = match (of("min"), of("max")) {
        (Some(min), None) if !excludes("exclusive_max") => (if excludes("exclusive_min") { "gt" } else { "gte" }, min),
        (None, Some(max)) if !excludes("exclusive_min") => (if excludes("exclusive_max") { "lt" } else { "lte" }, max),
        _ => return None,
    };
    Some(keyed(bound, number.clone()))
}

fn write_stored_check(check: &StateCheck) -> Value {
    let members = [
        ("type", Val::from("state_check")),
        ("field", Val::from(check.field.as_str().to_owned())),
        ("expected", check.expected.clone()),
        ("verify_with", write_operator(&check.verify_with)),
    ];
    Val::Map(members.into_iter().collect())
}

/// A comparison as it is stored: its parameters, all of them, and its name.
pub(crate) fn write_operator(operator: &Operator) -> Value {
    let name = ("type", Val::from(operator.entry().name));
    Val::Map(operator.parameters().into_iter().chain([name]).collect())
}

fn keyed(key: &'static str, value: Value) -> Value {
    Val::Map([(key, value)].into_iter().collect::<Map<'static>>())
}

/// The operators of jurat.
const OPERATORS: [&str; 9] = ["gte", "gt", "lte", "lt", "eq", "neq", "in", "contains", "not"];

/// Keys that are not fields.
const WORDS: [&str; 3] = ["any", "not", "cel"];

fn condition(node: &Node<'_>) -> Result<Condition, Vec<WhenError>> {
    match &node.content {
        Content::List(items) => {
            let all = collected(items.iter().map(condition))?;
            let checks: Option<Vec<StateCheck>> = all
                .iter()
                .map(|it| match it {
                    Condition::Check(check) => Some((**check).clone()),
                    _ => None,
                })
                .collect();
            Ok(checks.map_or(Condition::All(all), Condition::Checks))
        }
        Content::Map(_) if is_state_check(node) => stored_check(node, Strictness::Strict).map(Condition::from),
        Content::Map(entries) => match entries.as_slice() {
            [only] => member(only),
            _ => Err(vec![not_one_field(node)]),
        },
        Content::Scalar(_) => Err(vec![unsupported(node)]),
    }
}

fn member(entry: &Entry<'_>) -> Result<Condition, Vec<WhenError>> {
    let value = &entry.value;
    match &*entry.key {
        "any" => match value.as_list() {
            Some(items @ [_, ..]) => Ok(Condition::Any(collected(items.iter().map(condition))?)),
            _ => Err(vec![bad(value.span, format!("`any` must be a list of conditions, not {}", value.phrase()))]),
        },
        "not" => Ok(Condition::Not(Box::new(condition(value)?))),
        "cel" => expression(value, Expression::must_be_boolean).map(Condition::Cel).map_err(|it| vec![it]),
        field => of_field(field, entry.key_span, value).map_err(|it| vec![it]),
    }
}

/// A field and what it must be; operators that state checks do not have become conditions of several checks.
fn of_field(field: &str, span: Span, value: &Node<'_>) -> Result<Condition, WhenError> {
    let beyond = match value.entries() {
        Some([only]) => Some((&*only.key, &only.value)),
        _ => None,
    };
    let plain = |value: &Node<'_>| of_field(field, span, value);
    match beyond {
        Some(("neq", value)) => Ok(Condition::Not(Box::new(match value.to_val().kind() {
            Kind::Object => return Err(bad(value.span, "`neq` must be a value, not an object".to_owned())),
            _ => plain(value)?,
        }))),
        Some(("not", value)) => Ok(Condition::Not(Box::new(plain(value)?))),
        Some(("in", value)) => match value.as_list() {
            Some(items @ [_, ..]) => Ok(Condition::Any(items.iter().map(plain).collect::<Result<_, _>>()?)),
            _ => Err(bad(value.span, format!("`in` must be a list of values, not {}", value.phrase()))),
        },
        Some(("contains", value)) => Ok(Condition::from(StateCheck {
            field: StatePath::parse(field),
            expected: value.to_val().into_owned(),
            verify_with: comparison("Contains"),
        })),
        _ => check(field, span, value, &OPERATORS).map(Condition::from),
    }
}

/// One check, with one of these operators.
pub(crate) fn check(
    field: &str,
    span: Span,
    value: &Node<'_>,
    known: &[&'static str],
) -> Result<StateCheck, WhenError> {
    let Some(operators) = value.entries() else { return Ok(inferred(field, value.to_val().into_owned())) };
    let [only] = operators else {
        let message = match operators {
            [] => format!("`{field}` is compared with an object without an operator"),
            _ => format!("`{field}` has several operators in one object"),
        };
        let error = bad(value.span, message);
        return Err(error.help(match operators {
            [] => format!("write one of {}", listed(known.iter().copied())),
            _ => format!("write a list: `[{{{field}: {{gte: 1}}}}, {{{field}: {{lte: 3}}}}]`"),
        }));
    };
    let field = StatePath::parse(field);
    if only.key == "eq" {
        let expected = only.value.to_val().into_owned();
        return Ok(StateCheck { field, expected, verify_with: comparison("NumericExact") });
    }
    let Some(bound) = Bound::named(&only.key) else {
        return Err(unknown_operator(&only.key, only.key_span, known, (field.as_str(), span)));
    };
    let verify_with = range(bound, &only.value)
        .map_err(|()| bad(only.value.span, format!("`{}` must be a number, not {}", only.key, only.value.phrase())))?;
    Ok(StateCheck { field, expected: Val::Null, verify_with })
}

fn range(bound: Bound, number: &Node<'_>) -> Result<Operator, ()> {
    let (side, exclusive) = match bound {
        Bound::AtLeast => ("min", None),
        Bound::Above => ("min", Some("exclusive_min")),
        Bound::AtMost => ("max", None),
        Bound::Below => ("max", Some("exclusive_max")),
    };
    let at = |content| Node { span: number.span, content };
    let entry = |key: &'static str, value| Entry { key: Cow::Borrowed(key), key_span: number.span, value };
    let mut entries = vec![entry("type", at(Content::Scalar(Val::from("NumericRange")))), entry(side, number.clone())];
    entries.extend(exclusive.map(|it| entry(it, at(Content::Scalar(Val::Bool(true))))));
    Operator::from_stored(&at(Content::Map(entries))).map_err(|_| ())
}

/// A comparison of the vocabulary without parameters, or with its defaults; the primitive of two with one name.
fn comparison(name: &str) -> Operator {
    let node = Node { span: Span::default(), content: Content::Map(Vec::new()) };
    let found = find(name);
    let entry = found.iter().find(|it| it.origin == Origin::Primitive).or(found.first());
    let mut args = Args::new(&node).expect("an object");
    Operator::read(entry.expect("a comparison of the vocabulary"), &mut args).expect("it needs no parameter")
}

/// What becomes of unknown parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// They are mistakes.
    Strict,
    /// They are ignored.
    Lenient,
}

fn is_state_check(node: &Node<'_>) -> bool {
    let kind = node.get("type").and_then(Node::as_str);
    let is_named = matches!(kind, Some("state_check" | "StateCheck"));
    is_named || (node.get("field").is_some() && node.get("verify_with").is_some())
}

fn stored_check(node: &Node<'_>, strictness: Strictness) -> Result<StateCheck, Vec<WhenError>> {
    let mut errors = Vec::new();
    let known = ["type", "field", "expected", "verify_with"];
    let unknown: Vec<&Entry<'_>> =
        node.entries().unwrap_or(&[]).iter().filter(|it| !known.contains(&&*it.key)).collect();
    let is_meant = |name: &str| unknown.iter().any(|it| nearest(&it.key, known) == Some(name));
    if strictness == Strictness::Strict {
        errors.extend(unknown.iter().map(|it| {
            let error = bad(it.key_span, format!("a state check has no key `{}`", it.key));
            error.help(match nearest(&it.key, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("a state check may have {}", listed(known)),
            })
        }));
    }
    let field = match node.get("field") {
        Some(field) => field
            .as_str()
            .map(StatePath::parse)
            .ok_or_else(|| bad(field.span, format!("`field` must be a path into the state, not {}", field.phrase()))),
        None if strictness == Strictness::Strict && is_meant("field") => return Err(errors),
        None => Err(bad(node.span, "a state check needs `field`".to_owned())),
    };
    let expected = node.get("expected").map_or(Val::Null, |it| it.to_val().into_owned());
    let verify_with = match node.get("verify_with") {
        Some(operator) => read_operator(operator, strictness),
        None => Err(bad(node.span, "a state check needs `verify_with`".to_owned())
            .help("for example `verify_with: { type: ExactMatch }`".to_owned())),
    };
    let verify_with = verify_with.and_then(|operator| {
        let bound = operator.bind(expected.borrowed());
        let flaw = bound.map_or_else(|it| Some(it.reason), |it| it.flaw());
        match flaw.filter(|_| strictness == Strictness::Strict) {
            Some(flaw) => {
                let span = node.get("expected").unwrap_or(node).span;
                Err(bad(span, format!("`{}`: {flaw}", operator.entry().snake_case())))
            }
            None => Ok(operator),
        }
    });
    match (field, verify_with) {
        (Ok(field), Ok(verify_with)) if errors.is_empty() => Ok(StateCheck { field, expected, verify_with }),
        (field, verify_with) => {
            errors.extend(field.err());
            errors.extend(verify_with.err());
            Err(errors)
        }
    }
}

/// `{type: NumericRange, min: 1}`, or the name of a comparison alone.
fn read_operator(node: &Node<'_>, strictness: Strictness) -> Result<Operator, WhenError> {
    let empty = Node { span: node.span, content: Content::Map(Vec::new()) };
    let (name, span, params) = match (node.as_str(), node.get("type")) {
        (Some(name), _) => (name, node.span, &empty),
        (None, Some(kind)) => {
            let name = kind.as_str();
            let name = name.ok_or_else(|| bad(kind.span, format!("`type` must be a name, not {}", kind.phrase())))?;
            (name, kind.span, node)
        }
        (None, None) => {
            let error = bad(node.span, "`verify_with` needs `type`, the name of a comparison".to_owned());
            return Err(error.help("for example `{ type: NumericRange, min: 1 }`".to_owned()));
        }
    };
    let found = find(name);
    let entry = found.iter().find(|it| it.origin == Origin::Primitive).or(found.first()).ok_or_else(|| {
        let names: Vec<&str> = jurat_compare::entries().map(|it| it.name).collect();
        let help = nearest(name, names).map(|it| format!("did you mean `{it}`?"));
        WhenError { kind: WhenErrorKind::BadCondition, span, message: format!("there is no comparison `{name}`"), help }
    })?;
    let wrong = |span: Span, message: &str| {
        let colon = if message.starts_with('`') { ":" } else { "" };
        bad(span, format!("`{}`{colon} {message}", entry.snake_case()))
    };
    let mut args = Args::new(params).map_err(|it| wrong(it.span, &it.message))?;
    args.allow("type");
    let operator = Operator::read(entry, &mut args).map_err(|it| wrong(it.span, &it.message))?;
    if strictness == Strictness::Strict {
        if let Some(flaw) = args.flaws().first() {
            return Err(wrong(flaw.span, &flaw.message));
        }
        if let Some((key, span)) = args.unknown().next() {
            return Err(wrong(span, &format!("has no parameter `{key}`")));
        }
    }
    Ok(operator)
}

/// The expression of `{cel: …}`, which reads the state and gives what `must_be` asks for.
pub(crate) fn expression(
    node: &Node<'_>,
    must_be: fn(Expression) -> Result<Expression, ExpressionError>,
) -> Result<Arc<Expression>, WhenError> {
    let source = node.as_str().ok_or_else(|| bad(node.span, format!("`cel` must be text, not {}", node.phrase())))?;
    Expression::compile(source)
        .and_then(|it| it.must_read(&State::NAMES))
        .and_then(must_be)
        .map(Arc::new)
        .map_err(|error| WhenError { kind: WhenErrorKind::BadExpression, ..bad(node.span, error.to_string()) })
}

/// Every value, or every error.
pub(crate) fn collected<T>(results: impl Iterator<Item = Result<T, Vec<WhenError>>>) -> Result<Vec<T>, Vec<WhenError>> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

impl WhenError {
    fn help(self, help: String) -> WhenError {
        WhenError { help: Some(help), ..self }
    }
}

fn bad(span: Span, message: String) -> WhenError {
    WhenError { kind: WhenErrorKind::BadCondition, span, message, help: None }
}

pub(crate) fn not_one_field(node: &Node<'_>) -> WhenError {
    match node.entries() {
        Some([]) => bad(node.span, "a condition without a field".to_owned())
            .help("leave `when` out for an edge without a condition".to_owned()),
        Some(entries) => {
            let items: Vec<String> = entries.iter().map(|it| format!("{{{}: …}}", it.key)).collect();
            bad(node.span, "a condition has one field; several stand in a list".to_owned())
                .help(format!("write `when: [{}]`", items.join(", ")))
        }
        None => bad(node.span, format!("a condition must be an object with one field, not {}", node.phrase())),
    }
}

pub(crate) fn unsupported(node: &Node<'_>) -> WhenError {
    let message = format!("{} is not a condition", node.phrase());
    let help = match node.as_str() {
        Some(text) => format!("an expression is written `{{cel: {}}}`", Val::from(text)),
        None => "write an object such as `{verify_result: true}`, or a list of them".to_owned(),
    };
    WhenError { kind: WhenErrorKind::UnsupportedCondition, span: node.span, message, help: Some(help) }
}

fn unknown_operator(name: &str, span: Span, known: &[&'static str], (field, _): (&str, Span)) -> WhenError {
    let message = format!("there is no operator `{name}` for `{field}`");
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", listed(known.iter().copied())),
    };
    WhenError { kind: WhenErrorKind::UnknownOperator, span, message, help: Some(help) }
}
