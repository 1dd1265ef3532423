//! `in_range`, `is_positive`, `approximately_equals` and their kin: where a number lies.

use std::cmp::Ordering;

use jurat_format::value::{Kind, Kinds, Val, compare_numbers};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

const NUMBER: Entry = Entry { operand: Operand::Ignored, passes: Kinds::of(&[Kind::Number]), ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "InRange",
        summary: "is a number between the two of the operand, both included",
        operand: Operand::Range,
        example: "{ id: plausible, field_path: price, operator: in_range, expected_value: [10, 500] }",
        read: |_| Ok(Operator::In.into()),
        ..NUMBER
    },
    Entry {
        name: "NotInRange",
        summary: "is a number below the first or above the second of the operand",
        operand: Operand::Range,
        example: "{ id: not_teen, field_path: age, operator: not_in_range, expected_value: [13, 19] }",
        read: |_| Ok(Operator::NotIn.into()),
        ..NUMBER
    },
    Entry {
        name: "IsPositive",
        summary: "is a number above zero",
        example: "{ id: gained, field_path: delta, operator: is_positive }",
        read: |_| Ok(Operator::Positive.into()),
        ..NUMBER
    },
    Entry {
        name: "IsNegative",
        summary: "is a number below zero",
        example: "{ id: lost, field_path: delta, operator: is_negative }",
        read: |_| Ok(Operator::Negative.into()),
        ..NUMBER
    },
    Entry {
        name: "IsZero",
        summary: "is zero",
        example: "{ id: no_errors, field_path: error_count, operator: is_zero }",
        read: |_| Ok(Operator::Zero.into()),
        ..NUMBER
    },
    Entry {
        name: "ApproximatelyEquals",
        summary: "is a number within the tolerance of the operand's value",
        operand: Operand::Tolerance,
        example: "{ id: about_pi, field_path: value, operator: approximately_equals, expected_value: [3.14159, 0.001] }",
        read: |_| Ok(Operator::Near.into()),
        ..NUMBER
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    In,
    NotIn,
    Positive,
    Negative,
    Zero,
    Near,
}

#[derive(Debug, Clone)]
pub(super) enum Comparison<'v> {
    Range { lowest: Val<'v>, highest: Val<'v>, outside: bool },
    Sign(Ordering),
    Near { center: f64, tolerance: f64 },
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        Ok(match self {
            Operator::Positive => Comparison::Sign(Ordering::Greater),
            Operator::Negative => Comparison::Sign(Ordering::Less),
            Operator::Zero => Comparison::Sign(Ordering::Equal),
            Operator::In | Operator::NotIn => {
                let [lowest, highest] = two_numbers(operand, "`[lowest, highest]`, two numbers")?;
                Comparison::Range { lowest, highest, outside: *self == Operator::NotIn }
            }
            Operator::Near => {
                let [center, tolerance] = two_numbers(operand, "`[value, tolerance]`, two numbers")?;
                let nearest = |it: &Val<'_>| it.as_f64().unwrap_or(f64::NAN);
                Comparison::Near { center: nearest(&center), tolerance: nearest(&tolerance) }
            }
        })
    }
}

impl Parameters for Operator {}

fn two_numbers<'v>(operand: Val<'v>, needs: &str) -> Result<[Val<'v>; 2], Inapplicable> {
    let Val::List(items) = operand else { return Err(Inapplicable::operand(needs, &operand)) };
    if items.iter().any(|it| it.kind() != Kind::Number) {
        return Err(Inapplicable::operand(needs, &Val::List(items)));
    }
    <[Val<'v>; 2]>::try_from(items).map_err(|items| Inapplicable::operand(needs, &Val::List(items)))
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        if value.kind() != Kind::Number {
            return Err(Inapplicable::kind("a number", value));
        }
        if matches!(value, Val::F(number) if number.is_nan()) {
            return Err(Inapplicable::not_a_number());
        }
        Ok(match self {
            Comparison::Range { lowest, highest, outside } => {
                let inside = compare_numbers(value, lowest).is_some_and(Ordering::is_ge)
                    && compare_numbers(value, highest).is_some_and(Ordering::is_le);
                inside != *outside
            }
            Comparison::Sign(sign) => compare_numbers(value, &Val::I(0)) == Some(*sign),
            Comparison::Near { center, tolerance } => {
                value.as_f64().is_some_and(|it| (it - center).abs() <= *tolerance)
            }
        })
    }

    fn expected(&self) -> String {
        match self {
            Comparison::Range { lowest, highest, outside: false } => format!("a number from {lowest} to {highest}"),
            Comparison::Range { lowest, highest, outside: true } => {
                format!("a number below {lowest} or above {highest}")
            }
            Comparison::Sign(Ordering::Greater) => "a number above zero".to_owned(),
            Comparison::Sign(Ordering::Less) => "a number below zero".to_owned(),
            Comparison::Sign(Ordering::Equal) => "zero".to_owned(),
            Comparison::Near { center, tolerance } => format!("a number within {tolerance} of {center}"),
        }
    }

    fn flaw(&self) -> Option<String> {
        match self {
            Comparison::Range { lowest, highest, .. }
                if compare_numbers(lowest, highest) == Some(Ordering::Greater) =>
            {
                Some(format!("no number lies between {lowest} and {highest}: the range is reversed"))
            }
            Comparison::Near { tolerance, .. } if *tolerance < 0.0 => {
                Some(format!("a tolerance of {tolerance} is below zero, so nothing passes"))
            }
            _ => None,
        }
    }
}
