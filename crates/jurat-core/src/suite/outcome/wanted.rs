//! What a field must be, as it is written: a value, bounds such as `{gte: 3}`, or any comparison of jurat.

use jurat_compare::Operator;
use jurat_format::codes;
use jurat_format::form::Keys;
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Entry, Node, Span, Val, Value};

use super::super::ExpectedValue;
use super::super::comparison;
use crate::outcome::check::{about_traces, primitive};
use crate::outcome::{Relation, Wanted};

/// The keys of a comparison inside an outcome: the field is named already.
static COMPARED: Keys = Keys { what: "a comparison of a field", keys: &[comparison::KEYS[2], comparison::KEYS[3]] };

/// Reads what `field` must be.
pub(super) fn read(reading: &mut Reading<'_>, field: &str, node: &Node<'_>) -> Option<Wanted> {
    let Some(entries) = node.entries() else { return Some(Wanted::equal_to(node.to_val().into_owned())) };
    if node.get("operator").is_some() {
        return compared(reading, node);
    }
    if entries.is_empty() {
        reading.wrong_type(&format!("`{field}`"), "a value, or bounds such as `{ gte: 3 }`", node);
        return None;
    }
    bounds(reading, entries)
}

fn compared(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Wanted> {
    let fields = Fields::read(reading, &COMPARED, node)?;
    let compared = comparison::read(reading, &fields)?;
    let expected = match compared.expected {
        None => Val::Null,
        Some(it) => match it.value {
            ExpectedValue::Literal(value) => value,
            ExpectedValue::Path(path) => {
                let message = format!("`${{{path}}}` is not looked up in an outcome");
                let problem = Problem::new(&codes::WRONG_VALUE, message).at(it.span, "a value is needed");
                reading.problem(problem.help("to compare two turns use `cross_turn`; for all else `cel`"));
                return None;
            }
        },
    };
    checked(reading, compared.operator.value, compared.operator.span, expected)
}

/// A comparison that can be used in outcomes.
pub(super) fn checked(reading: &mut Reading<'_>, operator: Operator, span: Span, expected: Value) -> Option<Wanted> {
    if let Some(inapplicable) = about_traces(&operator) {
        reading.problem(Problem::new(&codes::BAD_OPERAND, inapplicable.reason).at(span, "not in an outcome"));
        return None;
    }
    Some(Wanted::new(operator, expected))
}

/// `{gte: 3}`, `{gt: 0, lte: 1}`, `{eq: 3}`.
fn bounds(reading: &mut Reading<'_>, entries: &[Entry<'_>]) -> Option<Wanted> {
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
