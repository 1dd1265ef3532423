//! Short ways to make checks, by the names that suites use.
//!
//! A field is named with what it must be: a value, compared in the way that fits its kind, or a [`Wanted`] that says how. Several fields are several checks:
//! with [`any_turn`], different turns may satisfy them.

use jurat_compare::normalise::Normaliser;
use jurat_format::value::Val;

use super::check::{
    Aggregation, AggregationKind, Check, CrossTurnCheck, Nodes, Relation, ResultCheck, Scope, Thresholds, TurnCheck,
    TurnFilter, TurnTest, Wanted,
};
use super::cross_turn::CrossComparison;
use super::field::{ResultField, TurnField};

/// All of these hold. Asked in order, until one does not.
///
/// ```
/// use jurat_core::outcome::{all_of, first_turn, status_is};
///
/// let check = all_of([status_is("completed"), first_turn([("verify_result", true.into())])]);
/// assert_eq!(
///     check.to_string(),
///     "all of 2 (`status` is `completed`; the first turn: `verify_result` is a value that counts as true)"
/// );
/// ```
pub fn all_of(checks: impl IntoIterator<Item = Check>) -> Check {
    Check::AllOf(checks.into_iter().collect())
}

/// One of these holds. Asked in order, until one does.
pub fn any_of(checks: impl IntoIterator<Item = Check>) -> Check {
    Check::AnyOf(checks.into_iter().collect())
}

/// At least so many of these hold. All of them are asked.
pub fn at_least_n(n: u64, checks: impl IntoIterator<Item = Check>) -> Check {
    Check::AtLeast { n, of: checks.into_iter().collect() }
}

pub fn not(check: Check) -> Check {
    Check::Not(Box::new(check))
}

/// The turn at this index, for [`turn`] and [`cross_turn`]; negative ones count from the end.
pub fn turn_at(index: i64) -> Scope {
    Scope::At(index)
}

/// The first turn, for [`cross_turn`].
pub fn first_turn_scope() -> Scope {
    Scope::First
}

/// The last turn, for [`cross_turn`].
pub fn last_turn_scope() -> Scope {
    Scope::Last
}

/// These fields of the turns that a scope means. One field is one check, several are all of them.
///
/// ```
/// use jurat_core::outcome::{turn, turn_at};
///
/// let check = turn(turn_at(-2), [("node_id", "challenge".into()), ("verify_result", true.into())]);
/// assert_eq!(
///     check.to_string(),
///     "all of 2 (turn -2: `node_id` is `challenge`; turn -2: `verify_result` is a value that counts as true)"
/// );
/// ```
pub fn turn<F: AsRef<str>>(scope: Scope, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    let check = |(field, wanted): (F, Wanted)| {
        let test = TurnTest::Field(TurnField::parse(field.as_ref()), wanted);
        Check::Turn(TurnCheck { scope: scope.clone(), test })
    };
    let mut checks: Vec<Check> = fields.into_iter().map(check).collect();
    if checks.len() == 1 { checks.remove(0) } else { Check::AllOf(checks) }
}

/// These fields of the first turn.
///
/// ```
/// use jurat_core::outcome::{Wanted, first_turn};
///
/// let sure = first_turn([("parsed.confidence", Wanted::at_least(0.8)), ("parsed.answer", "BCL-2".into())]);
/// # assert_eq!(sure.parts().len(), 2);
/// ```
pub fn first_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::First, fields)
}

/// These fields of the last turn.
pub fn last_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Last, fields)
}

/// These fields, each of some turn.
pub fn any_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Any(Nodes::Every), fields)
}

/// These fields, each of some turn at one of these nodes.
///
/// ```
/// use jurat_core::outcome::any_turn_of;
///
/// let gave_in = any_turn_of("challenge", [("parsed.stance", "changed".into())]);
/// assert_eq!(gave_in.to_string(), "any turn at `challenge`: `parsed.stance` is `changed`");
/// ```
pub fn any_turn_of<F: AsRef<str>>(nodes: impl Into<Nodes>, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Any(nodes.into()), fields)
}

/// These fields of every turn; there must be one.
pub fn all_turns<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::All(Nodes::Every), fields)
}

/// These fields of every turn at one of these nodes; there must be one.
pub fn all_turns_of<F: AsRef<str>>(nodes: impl Into<Nodes>, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::All(nodes.into()), fields)
}

/// How the scenario ended: `completed`, `limit_reached`, `timeout` or `error`.
pub fn status_is(expected: &str) -> Check {
    result("status", expected.into())
}

/// It took so many turns.
pub fn turn_count_eq(n: i64) -> Check {
    result("turn_count", n.into())
}

/// It took at least so many turns.
pub fn turn_count_gte(n: i64) -> Check {
    result("turn_count", Wanted::number(Relation::Gte, Val::from(n)))
}

fn result(field: &str, wanted: Wanted) -> Check {
    Check::Result(ResultCheck { field: ResultField::parse(field), wanted })
}

/// How many turns there are of these.
///
/// ```
/// use jurat_core::outcome::{Relation, TurnFilter, count_turns};
///
/// let right = TurnFilter { verify_result: Some(true), ..TurnFilter::default() };
/// let three_right = count_turns(right).within(Relation::Gte, 3);
/// assert_eq!(three_right.to_string(), "the number of turns with `verify_result` true is at least 3");
/// ```
pub fn count_turns(filter: TurnFilter) -> Check {
    Check::Aggregation(Aggregation { kind: AggregationKind::Count, filter, thresholds: Thresholds::default() })
}

/// The index of the first of these turns; -1 when there is none.
pub fn first_match_index(filter: TurnFilter) -> Check {
    Check::Aggregation(Aggregation { kind: AggregationKind::FirstIndex, filter, thresholds: Thresholds::default() })
}

impl Check {
    /// The check with a threshold for its number, so that it holds or does not. One that gives no number is as it was.
    #[must_use]
    pub fn within(mut self, relation: Relation, than: i64) -> Check {
        if let Check::Aggregation(it) = &mut self {
            it.thresholds.set(relation, than);
        }
        self
    }
}

/// A field of one turn, the target, compared with a field of another, the source: target, comparison, source.
///
/// ```
/// use jurat_core::outcome::{CrossComparison, cross_turn, first_turn_scope, last_turn_scope};
///
/// let (first, last) = ((first_turn_scope(), "raw_response"), (last_turn_scope(), "raw_response"));
/// let same = cross_turn(first, last, CrossComparison::Eq, []);
/// assert_eq!(same.to_string(), "`raw_response` of the last turn equals `raw_response` of the first turn");
/// ```
pub fn cross_turn(
    source: (Scope, &str),
    target: (Scope, &str),
    comparison: CrossComparison,
    normalize: impl IntoIterator<Item = Normaliser>,
) -> Check {
    Check::CrossTurn(CrossTurnCheck {
        source_turn: source.0,
        source_field: TurnField::parse(source.1),
        target_turn: target.0,
        target_field: TurnField::parse(target.1),
        comparison,
        normalize: normalize.into_iter().collect(),
    })
}
