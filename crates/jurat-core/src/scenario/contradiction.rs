//! Conditions that can never hold, because they ask for two things of one value that exclude each other.

use jurat_compare::Judgement;
use jurat_format::value::Val;

use super::state::Place;
use super::{Condition, StateCheck};

/// The checks of one condition that are compared with each other. Conditions that people write have a few.
const MOST_CHECKS: usize = 50;

/// Comparisons that one value passes, up to how it is written.
const EQUALITIES: [&str; 5] = ["Equals", "ExactMatch", "BooleanMatch", "NumericExact", "LiteralMatch"];

/// The field of which a condition asks what cannot be, if there is one.
pub(super) fn impossible(condition: &Condition) -> Option<&StateCheck> {
    let mut all = Vec::new();
    conjuncts(condition, true, &mut all);
    let alone = all.iter().find(|it| it.is_impossible());
    let pair = || {
        let pairs = all.iter().enumerate().flat_map(|(ix, first)| all[ix + 1..].iter().map(move |it| (first, it)));
        pairs.into_iter().find(|(first, second)| first.excludes(second)).map(|(_, second)| second)
    };
    alone.or_else(pair).map(|it| it.check).or_else(|| impossible_part(condition))
}

/// A condition of several alternatives is impossible when each of them is.
fn impossible_part(condition: &Condition) -> Option<&StateCheck> {
    match condition {
        Condition::Any(parts) => {
            let each: Option<Vec<_>> = parts.iter().map(impossible).collect();
            each?.into_iter().next()
        }
        Condition::All(parts) => parts.iter().find_map(impossible_part),
        _ => None,
    }
}

/// A check that must hold, or must not.
struct Claim<'c> {
    check: &'c StateCheck,
    holds: bool,
}

fn conjuncts<'c>(condition: &'c Condition, holds: bool, found: &mut Vec<Claim<'c>>) {
    if found.len() >= MOST_CHECKS {
        return;
    }
    match condition {
        Condition::Check(check) => found.push(Claim { check, holds }),
        Condition::Checks(checks) if holds => {
            let room = MOST_CHECKS - found.len();
            found.extend(checks.iter().take(room).map(|check| Claim { check, holds }));
        }
        Condition::All(parts) if holds => parts.iter().for_each(|it| conjuncts(it, true, found)),
        Condition::Any(parts) if !holds => parts.iter().for_each(|it| conjuncts(it, false, found)),
        Condition::Not(part) => conjuncts(part, !holds, found),
        _ => {}
    }
}

impl Claim<'_> {
    /// Whether no number of turns or visits passes: they are never below zero.
    fn is_impossible(&self) -> bool {
        let counts = matches!(self.check.field.place(), Place::Turn | Place::NodeVisits(_));
        let below_zero = |it: Interval| it.high.is_some_and(|(high, is_open)| high < 0.0 || (is_open && high == 0.0));
        self.holds && counts && Interval::of(self.check).is_some_and(below_zero)
    }

    fn excludes(&self, other: &Claim<'_>) -> bool {
        let (first, second) = (self.check, other.check);
        if first.field != second.field {
            return false;
        }
        match (self.holds, other.holds) {
            (true, true) => are_different(first, second) || do_not_meet(first, second),
            (false, false) => false,
            _ => first == second,
        }
    }
}

/// Whether two checks ask for equality with two values.
fn are_different(first: &StateCheck, second: &StateCheck) -> bool {
    let name = first.verify_with.entry().name;
    let passes = |one: &StateCheck, value: &Val<'_>| {
        let bound = one.verify_with.bind(one.expected.borrowed());
        bound.is_ok_and(|it| it.judge(value) != Judgement::Passed)
    };
    name == second.verify_with.entry().name
        && EQUALITIES.contains(&name)
        && first.verify_with == second.verify_with
        && passes(first, &second.expected)
        && passes(second, &first.expected)
}

fn do_not_meet(first: &StateCheck, second: &StateCheck) -> bool {
    let (Some(first), Some(second)) = (Interval::of(first), Interval::of(second)) else { return false };
    first.is_below(&second) || second.is_below(&first)
}

/// The numbers that pass; each bound with whether it is left out itself.
struct Interval {
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
}

impl Interval {
    fn of(check: &StateCheck) -> Option<Interval> {
        let parameters = check.verify_with.parameters();
        let get = |name: &str| parameters.iter().find(|(it, _)| *it == name).map(|(_, value)| value);
        let bound = |name: &str, open: &str| Some((get(name)?.as_f64()?, get(open) == Some(&Val::Bool(true))));
        match check.verify_with.entry().name {
            "NumericRange" => {
                Some(Interval { low: bound("min", "exclusive_min"), high: bound("max", "exclusive_max") })
            }
            "NumericExact" => {
                let number = check.expected.as_f64()?;
                Some(Interval { low: Some((number, false)), high: Some((number, false)) })
            }
            _ => None,
        }
    }

    fn is_below(&self, other: &Interval) -> bool {
        match (self.high, other.low) {
            (Some((high, high_open)), Some((low, low_open))) => high < low || (high == low && (high_open || low_open)),
            _ => false,
        }
    }
}
