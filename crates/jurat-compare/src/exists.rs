//! `exists`: the path finds something, null included. The one comparison for which a path that finds nothing is an
//! answer rather than an error.

use jurat_format::value::Val;

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Arrays, Entry, Operand};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "Exists",
    summary: "exists, `null` included; with `expected_value: false`, does not exist",
    operand: Operand::Direction,
    arrays: Arrays::Whole,
    example: "{ id: has_refund, field_path: refund.amount, operator: exists }",
    read: |_| Ok(Operator.into()),
    ..Entry::OPERATOR
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator;

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    wanted: bool,
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        let wanted = match operand {
            Val::Null => true,
            Val::Bool(wanted) => wanted,
            other => return Err(Inapplicable::operand("`true` or `false`", &other)),
        };
        Ok(Comparison { wanted })
    }
}

impl Parameters for Operator {}

impl Comparison {
    /// Whether it should be there.
    pub(super) fn wanted(&self) -> bool {
        self.wanted
    }
}

impl Test for Comparison {
    fn holds(&self, _: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(self.wanted)
    }

    fn expected(&self) -> String {
        if self.wanted { "something" } else { "nothing" }.to_owned()
    }
}
