//! `BooleanMatch`: true where the ground truth is true, in Python's sense; null matches only null.

use jurat_format::value::{Val, python};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "BooleanMatch",
    summary: "is as true as the operand: empty and zero are false, all else is true, null matches only null",
    operand: Operand::Any,
    example: "{ id: is_eligible, field_path: eligible, operator: boolean_match, expected_value: true }",
    read: |_| Ok(Operator.into()),
    ..Entry::PRIMITIVE
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator;

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    /// `None` is null.
    wanted: Option<bool>,
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison { wanted: truth(&operand) })
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(truth(value) == self.wanted)
    }

    fn expected(&self) -> String {
        match self.wanted {
            None => "null",
            Some(true) => "a value that counts as true",
            Some(false) => "a value that counts as false",
        }
        .to_owned()
    }
}

fn truth(value: &Val<'_>) -> Option<bool> {
    (*value != Val::Null).then(|| python::truth(value))
}
