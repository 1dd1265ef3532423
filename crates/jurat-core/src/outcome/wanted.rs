//! What a value must be: a comparison and what it compares with.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use jurat_compare::{
    ArgError, Args, Comparison, Fault, Fill, Inapplicable, Judgement, Operand, Operator, Origin, find,
};
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, Context, Entry, FieldPath, Node, Span, Spanned, Val, Value, shown_within};

use super::stored::{object, present, required, wrong};
use crate::comparison::{self, ExpectedValue, FilledValue};

/// What a value must be: a comparison and what it compares with, compiled once.
#[derive(Clone)]
pub struct Wanted {
    operator: Box<Operator>,
    expected: Value,
    /// What cannot be used is an error each time it is asked, as it is where suites come from.
    bound: Result<Box<Comparison<'static>>, Box<Inapplicable>>,
    /// What each case fills, where `expected` has placeholders.
    supplied: Option<Supplied>,
    /// What a case has filled, as it is written.
    filled_from: Option<Value>,
}

/// What a value must be, where each case says it.
#[derive(Clone)]
struct Supplied {
    value: Arc<FilledValue>,
    /// Whether the comparison is the one that fits what the case says.
    is_inferred: bool,
}

/// Two are equal when they compare the same in the same way.
impl PartialEq for Wanted {
    fn eq(&self, other: &Wanted) -> bool {
        let (own, others) = (self.supplied.as_ref(), other.supplied.as_ref());
        self.operator == other.operator && self.expected == other.expected && own.is_some() == others.is_some()
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted").field("operator", &self.operator).field("expected", &self.expected).finish()
    }
}

impl Wanted {
    /// This comparison with this value.
    pub fn new(operator: Operator, expected: Value) -> Wanted {
        let bound = match about_traces(&operator) {
            Some(inapplicable) => Err(Box::new(inapplicable)),
            None => operator.bind(expected.clone()).map(Box::new).map_err(Box::new),
        };
        Wanted { operator: Box::new(operator), expected, bound, supplied: None, filled_from: None }
    }

    /// What each case says, compared like this, or in the way that fits it.
    fn supplied(operator: Option<Operator>, value: FilledValue) -> Wanted {
        let is_inferred = operator.is_none();
        let written = value.written.clone();
        let wanted = operator.map_or_else(|| Wanted::equal_to(written.clone()), |it| Wanted::new(it, written.clone()));
        Wanted { supplied: Some(Supplied { value: Arc::new(value), is_inferred }), ..wanted }
    }

    /// The same for one case, whose evidence fills it.
    pub(super) fn of_case(&self, evidence: &Val<'_>) -> Result<Cow<'_, Wanted>, Inapplicable> {
        let Some(Supplied { value, is_inferred }) = &self.supplied else { return Ok(Cow::Borrowed(self)) };
        let filled_from = Some(value.written.clone());
        let filled = value.fill(Context::of(evidence));
        let value = filled.map_err(|reason| Inapplicable { fault: Fault::Content, reason })?;
        let wanted = match is_inferred {
            true => Wanted::equal_to(value),
            false => Wanted::new((*self.operator).clone(), value),
        };
        Ok(Cow::Owned(Wanted { filled_from, ..wanted }))
    }

    /// What it reads of the evidence, with the places.
    pub(super) fn reads(&self) -> &[Spanned<FieldPath>] {
        self.supplied.as_ref().map_or(&[], |it| &it.value.reads)
    }

    /// This value, compared in the way that fits its kind: booleans by whether they count as true, numbers as numbers, everything else as text
    /// without regard to case and outer space.
    pub fn equal_to(value: Value) -> Wanted {
        let name = match &value {
            Val::Bool(_) => "BooleanMatch",
            Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => "NumericExact",
            Val::Null | Val::Str(_) | Val::List(_) | Val::Map(_) => "ExactMatch",
        };
        Wanted::new(primitive(name, &[]), value)
    }

    /// A number that stands so to a bound.
    pub fn number(relation: Relation, bound: Value) -> Wanted {
        let exclusive = Val::Bool(true);
        let range = |params: &[(&'static str, Value)]| Wanted::new(primitive("NumericRange", params), Val::Null);
        match relation {
            Relation::Gte => range(&[("min", bound)]),
            Relation::Gt => range(&[("min", bound), ("exclusive_min", exclusive)]),
            Relation::Lte => range(&[("max", bound)]),
            Relation::Lt => range(&[("max", bound), ("exclusive_max", exclusive)]),
            Relation::Eq => Wanted::new(primitive("NumericExact", &[]), bound),
        }
    }

    /// A number of at least this.
    pub fn at_least(bound: f64) -> Wanted {
        Wanted::number(Relation::Gte, Val::F(bound))
    }

    /// A number of at most this.
    pub fn at_most(bound: f64) -> Wanted {
        Wanted::number(Relation::Lte, Val::F(bound))
    }

    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    pub fn expected(&self) -> &Value {
        &self.expected
    }

    /// Whether a value is as wanted.
    #[inline(always)]
    pub fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        match &self.bound {
            Ok(comparison) => comparison.holds(value),
            Err(inapplicable) => Err((**inapplicable).clone()),
        }
    }

    /// Judges a value, with the words for one that is not as wanted.
    pub fn judge(&self, value: &Val<'_>) -> Judgement {
        match &self.bound {
            Ok(comparison) => comparison.judge(value),
            Err(inapplicable) => Judgement::Error(inapplicable.clone()),
        }
    }

    /// Reads what `field` must be.
    pub(super) fn read(reading: &mut Reading<'_>, field: &str, node: &Node<'_>) -> Option<Wanted> {
        let Some(entries) = node.entries() else {
            let filled = FilledValue::read(reading, node).ok()?;
            return Some(match filled {
                Some(filled) => Wanted::supplied(None, filled),
                None => Wanted::equal_to(node.to_val().into_owned()),
            });
        };
        if node.get("operator").is_some() {
            return compared(reading, node);
        }
        if entries.is_empty() {
            reading.wrong_type(&format!("`{field}`"), "a value, or bounds such as `{ gte: 3 }`", node);
            return None;
        }
        read_bounds(reading, entries)
    }

    /// `expected` and `verify_with`. What a comparison cannot use is found now.
    pub(super) fn read_stored(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Wanted> {
        let expected = fields.read(reading, &EXPECTED).unwrap_or(Val::Null);
        let operator = fields.read(reading, &VERIFY_WITH)?;
        if let Err(inapplicable) = operator.value.bind(expected.borrowed()) {
            let message = format!("`{}`: {}", operator.value.entry().snake_case(), inapplicable.reason);
            let span = fields.node(&EXPECTED).map_or(operator.span, |it| it.span);
            let phrase = operator.value.entry().operand.phrase();
            reading.problem(Problem::new(&codes::BAD_OPERAND, message).at(span, format!("should be {phrase}")));
            return None;
        }
        checked(reading, operator.value, operator.span, expected)
    }

    /// A value alone where it says everything, bounds for a range of numbers, else the comparison by name. `None` when none of these reads
    /// back the same.
    pub(super) fn to_written(&self) -> Option<Value> {
        let expected = &self.expected;
        if self.supplied.as_ref().is_some_and(|it| it.is_inferred) {
            return Some(expected.clone());
        }
        let is_plain = !matches!(expected, Val::Map(_)) && !expected.as_str().is_some_and(|it| it.contains("${"));
        if is_plain && Wanted::equal_to(expected.clone()) == *self {
            return Some(expected.clone());
        }
        if let Some(bounds) = written_bounds(self) {
            return Some(bounds);
        }
        // A placeholder would be filled.
        if self.supplied.is_none() && expected.as_str().is_some_and(|it| it.contains("${")) {
            return None;
        }
        let entry = self.operator().entry();
        let is_needless = *expected == Val::Null && matches!(entry.operand, Operand::Ignored | Operand::Direction);
        let operand = (!is_needless).then(|| ("expected_value", expected.clone()));
        Some(Val::Map([("operator", comparison::operator_value(self.operator()))].into_iter().chain(operand).collect()))
    }

    /// Reads `expected` and `verify_with` of a stored check.
    pub(super) fn from_stored(node: &Node<'_>) -> Result<Wanted, ArgError> {
        let verify_with = required(node, "verify_with")?;
        let operator = match present(verify_with, "operator") {
            Some(named) => operator(named)?,
            None => Operator::from_stored(verify_with)?,
        };
        let expected = node.get("expected").map_or(Val::Null, |it| it.to_val().into_owned());
        Ok(Wanted::new(operator, expected))
    }

    /// The comparison as it is stored.
    pub(super) fn verify_with(&self) -> Value {
        let entry = self.operator.entry();
        if entry.origin == Origin::Operator {
            return object([("operator", Val::from(entry.snake_case()))]);
        }
        let name = Val::from(entry.name);
        Val::Map(self.operator.parameters().into_iter().chain([("type", name)]).collect())
    }

    /// What is wanted, in words that fit after "is".
    pub fn phrase(&self) -> String {
        let wanted = match &self.bound {
            Ok(comparison) => comparison.expected(),
            Err(_) => format!("as `{}` says", self.operator.entry().snake_case()),
        };
        match &self.filled_from {
            Some(written) => format!("{wanted} (from {})", shown_within(written, 60)),
            None => wanted,
        }
    }
}

macro_rules! wanted_from {
    ($($kind:ty => $value:expr),* $(,)?) => {
        $(impl From<$kind> for Wanted {
            fn from(value: $kind) -> Wanted {
                let value_of: fn($kind) -> Value = $value;
                Wanted::equal_to(value_of(value))
            }
        })*
    };
}

wanted_from! {
    bool => Val::Bool,
    i32 => |it| Val::I(it.into()),
    i64 => Val::I,
    u64 => Val::from,
    f64 => Val::F,
    &str => |it| Val::from(it.to_owned()),
    String => Val::from,
    Value => |it| it,
}

/// A primitive by name, with these parameters.
pub(crate) fn primitive(name: &'static str, params: &[(&'static str, Value)]) -> Operator {
    let scalar = |value: Value| Node { span: Span::default(), content: Content::Scalar(value) };
    let members = params.iter().cloned().chain([("type", Val::from(name))]);
    let entries =
        members.map(|(key, value)| Entry { key: key.into(), key_span: Span::default(), value: scalar(value) });
    let node = Node { span: Span::default(), content: Content::Map(entries.collect()) };
    Operator::from_stored(&node).expect("the primitives that are named here take these parameters")
}

/// Comparisons that read what a template sees of a whole answer have nothing to read here.
pub(crate) fn about_traces(operator: &Operator) -> Option<Inapplicable> {
    let name = operator.entry().name;
    name.starts_with("Trace").then(|| Inapplicable {
        fault: Fault::Unsupported,
        reason: format!(
            "`{name}` is for the fields of a template; compare `raw_response` with `contains` or `matches`"
        ),
    })
}

/// An operator of ours by its name; they have no parameters.
fn operator(node: &Node<'_>) -> Result<Operator, ArgError> {
    let name = node.as_str().ok_or_else(|| wrong("operator", "the name of an operator", node))?;
    let known = find(name).into_iter().find(|it| it.origin == Origin::Operator);
    let entry = known.ok_or_else(|| ArgError { span: node.span, message: format!("there is no operator `{name}`") })?;
    let empty = Node { span: node.span, content: Content::Map(Vec::new()) };
    Operator::read(entry, &mut Args::new(&empty)?)
}

choices! {
    /// How a number must stand to a bound.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Relation {
        /// At least it.
        Gte = "gte",
        /// More than it.
        Gt = "gt",
        /// At most it.
        Lte = "lte",
        /// Less than it.
        Lt = "lt",
        /// Equal to it.
        Eq = "eq",
    }
}

impl Relation {
    /// In words that fit before the bound.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Relation::Gte => "at least",
            Relation::Gt => "more than",
            Relation::Lte => "at most",
            Relation::Lt => "less than",
            Relation::Eq => "exactly",
        }
    }
}

pub(super) const EXPECTED: Field<Value> = Field::optional("expected", shape::VALUE, "the expected value");
pub(super) const VERIFY_WITH: Field<Spanned<Operator>> = Field::required(
    "verify_with",
    Shape::new(Form::Any, |reading, _, node| comparison::operator(reading, node.get("operator").unwrap_or(node))),
    "the comparison",
);

/// The keys of a comparison inside an outcome: the field is named already.
static COMPARED: Object = Object { what: "a comparison of a field", keys: &[comparison::KEYS[2], comparison::KEYS[3]] };

fn compared(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Wanted> {
    let fields = COMPARED.fields(reading, node)?;
    let compared = comparison::read(reading, &fields)?;
    let expected = match compared.expected {
        None => Val::Null,
        Some(it) => match it.value {
            ExpectedValue::Literal(value) => value,
            ExpectedValue::Path(_) | ExpectedValue::Filled(_) => {
                let operator = compared.operator;
                checked(reading, operator.value.clone(), operator.span, Val::Null)?;
                let filled = FilledValue::read(reading, fields.node(&comparison::EXPECTED_VALUE)?).ok()??;
                return Some(Wanted::supplied(Some(operator.value), filled));
            }
        },
    };
    checked(reading, compared.operator.value, compared.operator.span, expected)
}

/// A comparison that can be used in outcomes.
fn checked(reading: &mut Reading<'_>, operator: Operator, span: Span, expected: Value) -> Option<Wanted> {
    if let Some(inapplicable) = about_traces(&operator) {
        reading.problem(Problem::new(&codes::BAD_OPERAND, inapplicable.reason).at(span, "not in an outcome"));
        return None;
    }
    Some(Wanted::new(operator, expected))
}

/// `{gte: 3}`, `{gt: 0, lte: 1}`, `{eq: 3}`.
fn read_bounds(reading: &mut Reading<'_>, entries: &[Entry<'_>]) -> Option<Wanted> {
    let n_before = reading.n_errors();
    let mut bounds: Vec<(Relation, Span, Value)> = Vec::new();
    for entry in entries {
        let names = Relation::NAMED.iter().map(|(name, _)| *name).chain(["operator"]);
        match Relation::NAMED.iter().find(|(name, _)| *name == entry.key) {
            Some((name, relation)) => {
                let number = reading.number(&format!("`{name}`"), (f64::NEG_INFINITY, f64::INFINITY), &entry.value);
                bounds.extend(number.map(|_| (*relation, entry.key_span, entry.value.to_val().into_owned())));
            }
            None => {
                let message = format!("there is no comparison `{}`", entry.key);
                let problem = Problem::new(&codes::UNKNOWN_KEY, message).at(entry.key_span, "unknown key");
                let problem = problem.did_you_mean(&entry.key, names.clone());
                reading.problem(problem.help(format!(
                    "write {}; an object itself is compared with `{{ operator: literal_match, expected_value: {{ … }} }}`",
                    listed(names)
                )));
            }
        }
    }
    if reading.n_errors() > n_before {
        return None;
    }
    if let [(relation, _, bound)] = bounds.as_slice() {
        return Some(Wanted::number(*relation, bound.clone()));
    }
    between(reading, &bounds)
}

/// One bound below and one above; anything else says something twice.
fn between(reading: &mut Reading<'_>, bounds: &[(Relation, Span, Value)]) -> Option<Wanted> {
    let side =
        |of: [Relation; 2]| bounds.iter().filter(move |(relation, ..)| of.contains(relation)).collect::<Vec<_>>();
    let (below, above) = (side([Relation::Gte, Relation::Gt]), side([Relation::Lte, Relation::Lt]));
    let ([lower], [upper], 2) = (below.as_slice(), above.as_slice(), bounds.len()) else {
        let [(first, at, _), (second, again, _), ..] = bounds else { return None };
        let message = format!("`{}` and `{}` cannot stand together", first.name(), second.name());
        let problem = Problem::new(&codes::CONFLICT, message).at(*again, "and this").at(*at, "this");
        reading.problem(problem.help("keep one bound below (`gte` or `gt`), one above (`lte` or `lt`), or `eq` alone"));
        return None;
    };
    let params = [
        ("min", lower.2.clone()),
        ("exclusive_min", Val::Bool(lower.0 == Relation::Gt)),
        ("max", upper.2.clone()),
        ("exclusive_max", Val::Bool(upper.0 == Relation::Lt)),
    ];
    Some(Wanted::new(primitive("NumericRange", &params), Val::Null))
}

/// `{gte: 3}` and its like.
fn written_bounds(wanted: &Wanted) -> Option<Value> {
    let operator = wanted.operator();
    if operator.entry().name != "NumericRange" || *wanted.expected() != Val::Null {
        return None;
    }
    let parameters = operator.parameters();
    let value = |name: &str| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let bound = |name: &str, exclusive: &str, [at, beyond]: [&'static str; 2]| {
        let number = value(name).filter(|it| it.as_f64().is_some_and(f64::is_finite))?;
        let is_exclusive = value(exclusive) == Some(&Val::Bool(true));
        Some((if is_exclusive { beyond } else { at }, number.clone()))
    };
    let lower = bound("min", "exclusive_min", ["gte", "gt"]);
    let upper = bound("max", "exclusive_max", ["lte", "lt"]);
    // A flag without its bound would be lost.
    let is_lost = |bound: &Option<_>, exclusive: &str, name: &str| {
        bound.is_none()
            && (value(exclusive) == Some(&Val::Bool(true)) || value(name).is_some_and(|it| *it != Val::Null))
    };
    if is_lost(&lower, "exclusive_min", "min") || is_lost(&upper, "exclusive_max", "max") {
        return None;
    }
    let members: Vec<(&'static str, Value)> = lower.into_iter().chain(upper).collect();
    (!members.is_empty()).then(|| Val::Map(members.into_iter().collect()))
}
