//! Outcomes written down again, in the short form where it says everything, else in the long one.

use jurat_compare::Operand;
use jurat_compare::normalise::Normaliser;
use jurat_format::value::{Map, Val, Value};

use super::super::write::operator;
use super::short::STATUSES;
use crate::outcome::{
    Aggregation, Check, CrossTurnCheck, Nodes, ResultCheck, Scope, TurnCheck, TurnTest, Wanted, status_is,
};

/// An outcome as it is written in a definition.
pub(in crate::suite) fn write(check: &Check) -> Value {
    let parts = |parts: &[Check]| -> Value { parts.iter().map(write).collect() };
    match check {
        Check::AllOf(of) => keyed("all_of", parts(of)),
        Check::AnyOf(of) => keyed("any_of", parts(of)),
        Check::AtLeast { n, of } => keyed("at_least_n", object([("n", Val::from(*n)), ("of", parts(of))])),
        Check::Not(part) => keyed("not", write(part)),
        Check::Code(name) => keyed("code", Val::from(name.clone())),
        Check::Cel(expression) => keyed("cel", Val::from(expression.source().to_owned())),
        Check::Turn(it) => turn(it).unwrap_or_else(|| check.to_stored()),
        Check::Result(it) => result(it).unwrap_or_else(|| check.to_stored()),
        Check::CrossTurn(it) => keyed("cross_turn", cross_turn(it)),
        Check::Aggregation(it) => aggregation(it),
    }
}

/// Keys that say something else than a field, where turns are named.
const TAKEN: [&str; 3] = ["node", "index", "cel"];

fn turn(check: &TurnCheck) -> Option<Value> {
    let (field, wanted) = match &check.test {
        TurnTest::Cel(expression) => ("cel", Val::from(expression.source().to_owned())),
        TurnTest::Field(field, wanted) => (field.as_str(), self::wanted(wanted)?),
    };
    if TAKEN.contains(&field) && !matches!(check.test, TurnTest::Cel(_)) {
        return None;
    }
    let (name, narrowed) = match &check.scope {
        Scope::First => ("first_turn", None),
        Scope::Last => ("last_turn", None),
        Scope::At(index) => ("turn_at", Some(("index", Val::I(*index)))),
        Scope::Any(nodes) => ("any_turn", node(nodes)),
        Scope::All(nodes) => ("all_turns", node(nodes)),
    };
    let members = narrowed.into_iter().map(|(key, value)| (key.to_owned(), value)).chain([(field.to_owned(), wanted)]);
    Some(keyed(name, Val::Map(members.collect::<Map<'static>>())))
}

fn result(check: &ResultCheck) -> Option<Value> {
    let status = check.wanted.expected().as_str().filter(|_| check.field.as_str() == "status");
    if let Some(status) = status.filter(|it| STATUSES.contains(it))
        && Check::Result(check.clone()) == status_is(status)
    {
        return Some(keyed("status_is", Val::from(status.to_owned())));
    }
    let members = [(check.field.to_string(), wanted(&check.wanted)?)];
    Some(keyed("result", Val::Map(members.into_iter().collect::<Map<'static>>())))
}

fn cross_turn(check: &CrossTurnCheck) -> Value {
    let scope = |scope: &Scope| match scope {
        Scope::First => Val::from("first_turn"),
        Scope::Last => Val::from("last_turn"),
        Scope::At(index) => keyed("turn_at", Val::I(*index)),
        several => several.to_stored(),
    };
    let members = [
        ("source", scope(&check.source_turn)),
        ("source_field", Val::from(check.source_field.to_string())),
        ("target", scope(&check.target_turn)),
        ("target_field", Val::from(check.target_field.to_string())),
        ("comparison", Val::from(check.comparison.name())),
    ];
    let normalize: Value = check.normalize.iter().map(Normaliser::to_value).collect();
    let normalize = (!check.normalize.is_empty()).then_some(("normalize", normalize));
    Val::Map(members.into_iter().chain(normalize).collect())
}

fn aggregation(check: &Aggregation) -> Value {
    let verify_result = check.filter.verify_result.map(|it| ("verify_result", Val::Bool(it)));
    let bounds = check.thresholds.iter().map(|it| (it.relation.name(), Val::I(it.than)));
    keyed(
        check.kind.name(),
        Val::Map(node(&check.filter.nodes).into_iter().chain(verify_result).chain(bounds).collect()),
    )
}

fn node(nodes: &Nodes) -> Option<(&'static str, Value)> {
    match nodes {
        Nodes::Every => None,
        Nodes::One(node) => Some(("node", Val::from(node.clone()))),
        Nodes::Of(nodes) => Some(("node", nodes.iter().map(|it| Val::from(it.clone())).collect())),
    }
}

/// A value alone where it says everything, bounds for a range of numbers, else the comparison by name. `None` when none of these reads
/// back the same.
fn wanted(wanted: &Wanted) -> Option<Value> {
    let expected = wanted.expected();
    if !matches!(expected, Val::Map(_)) && Wanted::equal_to(expected.clone()) == *wanted {
        return Some(expected.clone());
    }
    if let Some(bounds) = bounds(wanted) {
        return Some(bounds);
    }
    // `${path}` alone would be taken for something to look up.
    if expected.as_str().is_some_and(|it| it.starts_with("${")) {
        return None;
    }
    let entry = wanted.operator().entry();
    let is_needless = *expected == Val::Null && matches!(entry.operand, Operand::Ignored | Operand::Direction);
    let operand = (!is_needless).then(|| ("expected_value", expected.clone()));
    Some(Val::Map([("operator", operator(wanted.operator()))].into_iter().chain(operand).collect()))
}

/// `{gte: 3}` and its like.
fn bounds(wanted: &Wanted) -> Option<Value> {
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

fn keyed(name: &'static str, value: Value) -> Value {
    object([(name, value)])
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
