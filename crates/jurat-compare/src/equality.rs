//! `equals`, `not_equal`: the same value.
//!
//! Numbers are compared by value (`5` equals `5.0`) and text that reads as a number equals it (`"5"` equals `5`), because
//! models write numbers as text. Inside lists and objects nothing is converted.

use jurat_format::value::{Kind, Val, compare_numbers, decimal_equal, shown};

use super::judgement::{Inapplicable, Parameters, Test, shown_beside};
use super::{Arrays, Entry, Operand};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "Equals",
        summary: "equals the operand; numbers by value, and text that reads as a number equals that number",
        operand: Operand::Any,
        arrays: Arrays::WholeAgainstList,
        example: "{ id: paid, field_path: status, operator: equals, expected_value: paid }",
        read: |_| Ok(Operator { negated: false }.into()),
        ..Entry::OPERATOR
    },
    Entry {
        name: "NotEqual",
        summary: "does not equal the operand",
        operand: Operand::Any,
        arrays: Arrays::WholeAgainstList,
        example: "{ id: not_open, field_path: status, operator: not_equal, expected_value: open }",
        read: |_| Ok(Operator { negated: true }.into()),
        ..Entry::OPERATOR
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    negated: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    operand: Val<'v>,
    negated: bool,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        Ok(Comparison { operand, negated: self.negated })
    }
}

impl Parameters for Operator {}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(equal(value, &self.operand) != self.negated)
    }

    fn expected(&self) -> String {
        format!("{}{}", if self.negated { "anything but " } else { "" }, shown(&self.operand))
    }

    fn operand(&self) -> Option<&Val<'_>> {
        Some(&self.operand)
    }

    fn expected_of(&self, value: &Val<'_>) -> String {
        if self.negated { self.expected() } else { shown_beside(&self.operand, value) }
    }

    fn found(&self, value: &Val<'_>) -> String {
        if self.negated { shown(value) } else { shown_beside(value, &self.operand) }
    }
}

fn equal(left: &Val<'_>, right: &Val<'_>) -> bool {
    match (left, right) {
        (Val::Str(left), Val::Str(right)) => left == right,
        (Val::Str(text), number) if number.kind() == Kind::Number => decimal_equal(number, text),
        (number, Val::Str(text)) if number.kind() == Kind::Number => decimal_equal(number, text),
        (left, right) if left.kind() == Kind::Number && right.kind() == Kind::Number => {
            compare_numbers(left, right) == Some(std::cmp::Ordering::Equal)
        }
        (left, right) => left == right,
    }
}
