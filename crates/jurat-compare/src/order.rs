//! `greater_than` and its kin: numbers in order. Anything that is not a number is neither greater nor less: an error.

use std::cmp::Ordering;

use jurat_format::value::{Kind, Kinds, Val, compare_numbers, shown};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

const NUMBER: Entry = Entry { operand: Operand::Number, passes: Kinds::of(&[Kind::Number]), ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "GreaterThan",
        summary: "is a number greater than the operand",
        example: "{ id: confident, field_path: confidence, operator: greater_than, expected_value: 0.8 }",
        read: |_| Ok(Operator::Greater.into()),
        ..NUMBER
    },
    Entry {
        name: "GreaterThanOrEqual",
        summary: "is a number greater than the operand, or equal to it",
        example: "{ id: accurate, field_path: score, operator: greater_than_or_equal, expected_value: 7 }",
        read: |_| Ok(Operator::GreaterOrEqual.into()),
        ..NUMBER
    },
    Entry {
        name: "LessThan",
        summary: "is a number less than the operand",
        example: "{ id: quick, field_path: latency_ms, operator: less_than, expected_value: 2000 }",
        read: |_| Ok(Operator::Less.into()),
        ..NUMBER
    },
    Entry {
        name: "LessThanOrEqual",
        summary: "is a number less than the operand, or equal to it",
        example: "{ id: few_calls, field_path: calls, operator: less_than_or_equal, expected_value: 3 }",
        read: |_| Ok(Operator::LessOrEqual.into()),
        ..NUMBER
    },
];

/// How two numbers must stand to each other. Lengths use it too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    order: Operator,
    bound: Val<'v>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, bound: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        Ok(Comparison { order: *self, bound })
    }
    fn allows(self, ordering: Ordering) -> bool {
        match self {
            Operator::Equal => ordering.is_eq(),
            Operator::Greater => ordering.is_gt(),
            Operator::GreaterOrEqual => ordering.is_ge(),
            Operator::Less => ordering.is_lt(),
            Operator::LessOrEqual => ordering.is_le(),
        }
    }
}

impl Parameters for Operator {}

impl Comparison<'_> {
    /// The number that values are compared with, when it is one.
    pub(super) fn bound(&self) -> Option<f64> {
        self.bound.as_f64()
    }

    /// `at least 7`; the bound alone when it must be met exactly.
    pub(super) fn phrase(&self) -> String {
        let order = match self.order {
            Operator::Equal => "",
            Operator::Greater => "more than ",
            Operator::GreaterOrEqual => "at least ",
            Operator::Less => "less than ",
            Operator::LessOrEqual => "at most ",
        };
        format!("{order}{}", shown(&self.bound))
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        if value.kind() != Kind::Number {
            return Err(Inapplicable::kind("a number", value));
        }
        if self.bound.kind() != Kind::Number {
            return Err(Inapplicable::operand("a number", &self.bound));
        }
        compare_numbers(value, &self.bound).map(|it| self.order.allows(it)).ok_or_else(Inapplicable::not_a_number)
    }

    fn expected(&self) -> String {
        match self.order {
            Operator::Greater => format!("a number greater than {}", shown(&self.bound)),
            Operator::Less => format!("a number less than {}", shown(&self.bound)),
            _ => format!("a number of {}", self.phrase()),
        }
    }

    /// A bound that is no number is only noticed when a number is compared with it, so it is no error of binding.
    fn flaw(&self) -> Option<String> {
        (self.bound.kind() != Kind::Number).then(|| Inapplicable::operand("a number", &self.bound).reason)
    }
}
