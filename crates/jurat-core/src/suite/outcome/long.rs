//! The long form: an object with `type`, as checks are stored, with the same care for positions as the short one.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Val};

use super::super::comparison;
use super::short::{self, N, aggregation, cross_turn};
use super::{category, negated, nodes, of_result, of_turn, parts, result_field, turn_field, wanted};
use crate::outcome::check::AggregationKind;
use crate::outcome::wire::{CHECKS, SCOPES};
use crate::outcome::{Check, ResultCheck, Scope, TurnCheck, TurnTest, Wanted};

pub(super) const TYPE: Key = Key::required("type", Form::Text, "what is checked");

const CONDITIONS: Key = Key::required("conditions", Form::List(&Form::Defined("outcome")), "the outcomes").or(&["of"]);
const SCOPE: Key = Key::required("scope", Form::Any, "which turns");
const FIELD: Key = Key::required("field", Form::Text, "which field");
const EXPECTED: Key = Key::optional("expected", Form::Any, "what it is compared with");
const VERIFY_WITH: Key = Key::required("verify_with", Form::Any, "the comparison");
const EXPRESSION: Key = Key::required("expression", Form::Text, "the expression");

static COMPOSITION: Keys = Keys { what: "a composition", keys: &[TYPE, CONDITIONS] };
static AT_LEAST: Keys = Keys { what: "an `at_least_n` with `type`", keys: &[TYPE, N, CONDITIONS] };
static NOT: Keys =
    Keys { what: "a `not`", keys: &[TYPE, Key::required("condition", Form::Defined("outcome"), "the outcome")] };
static TURN_CHECK: Keys = Keys { what: "a `turn_check`", keys: &[TYPE, SCOPE, FIELD, EXPECTED, VERIFY_WITH] };
static RESULT_CHECK: Keys = Keys { what: "a `result_check`", keys: &[TYPE, FIELD, EXPECTED, VERIFY_WITH] };
static CEL: Keys = Keys { what: "a `cel`", keys: &[TYPE, EXPRESSION] };
static TURN_CEL: Keys = Keys { what: "a `turn_cel`", keys: &[TYPE, SCOPE, EXPRESSION] };

/// The keys of each type, for the schema.
pub(super) static TYPES: [(&str, &Keys); 11] = [
    ("all_of", &COMPOSITION),
    ("any_of", &COMPOSITION),
    ("at_least_n", &AT_LEAST),
    ("not", &NOT),
    ("turn_check", &TURN_CHECK),
    ("result_check", &RESULT_CHECK),
    ("cross_turn_check", &short::CROSS_TURN_CHECK),
    ("count_turns", &short::STORED_AGGREGATION),
    ("first_match_index", &short::STORED_AGGREGATION),
    ("cel", &CEL),
    ("turn_cel", &TURN_CEL),
];

/// Reads an outcome with `type`.
pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Check> {
    let kind = kind(reading, "the `type` of an outcome", &CHECKS, node)?;
    let keys = TYPES.iter().find(|(name, _)| *name == kind).map(|(_, keys)| *keys)?;
    match kind {
        "count_turns" => return aggregation(reading, AggregationKind::Count, keys, node),
        "first_match_index" => return aggregation(reading, AggregationKind::FirstIndex, keys, node),
        "cross_turn_check" => return cross_turn(reading, keys, node).map(Check::CrossTurn),
        _ => {}
    }
    let fields = Fields::read(reading, keys, node)?;
    let mut conditions = || {
        let it = fields.get("conditions")?;
        if it.as_list().is_none() {
            reading.wrong_type("`conditions`", "a list of outcomes", it);
            return None;
        }
        parts(reading, &format!("`{kind}`"), it)
    };
    match kind {
        "all_of" => conditions().map(Check::AllOf),
        "any_of" => conditions().map(Check::AnyOf),
        "at_least_n" => {
            let of = conditions();
            super::at_least(reading, fields.get("n"), of)
        }
        "not" => fields.get("condition").and_then(|it| negated(reading, it)),
        "cel" => fields.get("expression").and_then(|it| of_result(reading, "`expression`", it)),
        "turn_cel" => {
            let scope = fields.get("scope").and_then(|it| scope(reading, it));
            let test = fields.get("expression").and_then(|it| of_turn(reading, "`expression`", it));
            Some(Check::Turn(TurnCheck { scope: scope?, test: test? }))
        }
        "turn_check" => {
            let scope = fields.get("scope").and_then(|it| scope(reading, it));
            let field = fields.get("field").and_then(|it| reading.text("`field`", it));
            let field = field.map(|it| turn_field(reading, &it.value, it.span));
            let (field, wanted) = (field?, verified(reading, &fields)?);
            fields.get("expected").into_iter().for_each(|it| category(reading, &field, &wanted, it.span));
            Some(Check::Turn(TurnCheck { scope: scope?, test: TurnTest::Field(field, wanted) }))
        }
        _ => {
            let field = fields.get("field").and_then(|it| reading.text("`field`", it));
            let field = field.map(|it| result_field(reading, &it.value, it.span));
            let wanted = verified(reading, &fields);
            Some(Check::Result(ResultCheck { field: field?, wanted: wanted? }))
        }
    }
}

/// Which of these an object says it is, in either spelling.
fn kind(
    reading: &mut Reading<'_>,
    what: &str,
    known: &'static [(&'static str, &'static str)],
    node: &Node<'_>,
) -> Option<&'static str> {
    let named = node.get("type")?;
    let class = named.as_str().and_then(|it| known.iter().find(|(_, class)| *class == it));
    if let Some((name, _)) = class {
        return Some(name);
    }
    let choices: Vec<(&str, &'static str)> = known.iter().map(|(name, _)| (*name, *name)).collect();
    reading.choice(what, &choices, named)
}

/// A scope in its stored form, or by its name alone.
pub(super) fn scope(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Scope> {
    if let Some(name) = node.as_str().filter(|it| !matches!(*it, "turn_at" | "TurnAt")) {
        let choices = [("first_turn", 0), ("last_turn", 1), ("any_turn", 2), ("all_turns", 3)];
        let class = SCOPES.iter().find(|(_, class)| *class == name).map(|(name, _)| *name);
        let chosen = match class {
            Some(class) => choices.iter().find(|(name, _)| *name == class).map(|(_, ix)| *ix),
            None => reading.choice("`scope`", &choices, node),
        };
        let every = crate::outcome::Nodes::default;
        return chosen.map(|ix| match ix {
            0 => Scope::First,
            1 => Scope::Last,
            2 => Scope::Any(every()),
            _ => Scope::All(every()),
        });
    }
    if node.get("type").is_none() {
        reading.wrong_type("`scope`", "an object such as `{ type: last_turn }`", node);
        return None;
    }
    let kind = kind(reading, "the `type` of a scope", &SCOPES, node)?;
    let fields = Fields::read(reading, keys_of_scope(kind), node)?;
    Some(match kind {
        "first_turn" => Scope::First,
        "last_turn" => Scope::Last,
        "turn_at" => Scope::At(fields.get("index").and_then(|it| reading.integer("`index`", i64::MIN, it))?),
        quantified => {
            let nodes = match fields.get("node_id") {
                Some(it) => nodes(reading, "`node_id`", it)?,
                None => crate::outcome::Nodes::Every,
            };
            if quantified == "any_turn" { Scope::Any(nodes) } else { Scope::All(nodes) }
        }
    })
}

fn keys_of_scope(kind: &str) -> &'static Keys {
    static SINGLE: Keys = Keys { what: "a scope", keys: &[TYPE] };
    static AT: Keys = Keys {
        what: "the scope `turn_at`",
        keys: &[TYPE, Key::required("index", Form::Integer(i64::MIN), "which turn; negative ones count from the end")],
    };
    static SEVERAL: Keys = Keys {
        what: "a scope of several turns",
        keys: &[TYPE, Key::optional("node_id", Form::Any, "the node they were at, or several").or(&["node"])],
    };
    match kind {
        "turn_at" => &AT,
        "any_turn" | "all_turns" => &SEVERAL,
        _ => &SINGLE,
    }
}

/// `expected` and `verify_with`. What a comparison cannot use is found now.
fn verified(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Wanted> {
    let expected = fields.get("expected").map_or(Val::Null, |it| it.to_val().into_owned());
    let node = fields.get("verify_with")?;
    let operator = comparison::operator(reading, node.get("operator").unwrap_or(node))?;
    if let Err(inapplicable) = operator.value.bind(expected.borrowed()) {
        let message = format!("`{}`: {}", operator.value.entry().snake_case(), inapplicable.reason);
        let span = fields.get("expected").map_or(operator.span, |it| it.span);
        let phrase = operator.value.entry().operand.phrase();
        reading.problem(Problem::new(&codes::BAD_OPERAND, message).at(span, format!("should be {phrase}")));
        return None;
    }
    wanted::checked(reading, operator.value, operator.span, expected)
}
