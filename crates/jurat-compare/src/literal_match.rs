//! `LiteralMatch`: equal as Python's `==` has it: `1`, `1.0` and `true` are equal, text is compared letter by letter.

use jurat_format::value::{Val, python, shown};

use super::judgement::{Inapplicable, Parameters, Test, shown_beside};
use super::{Entry, Operand};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "LiteralMatch",
    summary: "equals the operand at every depth; numbers and booleans by value",
    operand: Operand::Any,
    example: "{ id: right_phase, field_path: phase, operator: literal_match, expected_value: III }",
    read: |_| Ok(Operator.into()),
    ..Entry::PRIMITIVE
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator;

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v>(Val<'v>);

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        Ok(Comparison(operand))
    }
}

impl Parameters for Operator {}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(python::equal(value, &self.0))
    }

    fn expected(&self) -> String {
        shown(&self.0)
    }

    fn operand(&self) -> Option<&Val<'_>> {
        Some(&self.0)
    }

    fn expected_of(&self, value: &Val<'_>) -> String {
        shown_beside(&self.0, value)
    }

    fn found(&self, value: &Val<'_>) -> String {
        shown_beside(value, &self.0)
    }
}
