//! `exists`: the path finds something, null included. The one comparison for which a path that finds nothing is an
//! answer rather than an error.

use super::judgement::{Inapplicable, Test};
use super::{Arrays, Entry, Operand};
use crate::value::{Val, Value};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "Exists",
    summary: "is there, whatever it is; with `expected_value: false`, is not there",
    operand: Operand::Direction,
    arrays: Arrays::Whole,
    example: "{ id: has_refund, field_path: refund.amount, operator: exists }",
    read: |_| Ok(Operator.into()),
    ..Entry::OPERATOR
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator;

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    wanted: bool,
    operand: std::marker::PhantomData<&'v ()>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let wanted = match operand {
            Val::Null => true,
            Val::Bool(wanted) => wanted,
            other => return Err(Inapplicable::operand("`true` or `false`", &other)),
        };
        Ok(Comparison { wanted, operand: std::marker::PhantomData })
    }

    pub(super) fn parameters(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

impl Comparison<'_> {
    /// Whether it should be there.
    pub(super) fn wanted(&self) -> bool {
        self.wanted
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, _: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(self.wanted)
    }

    fn expected(&self) -> String {
        if self.wanted { "something" } else { "nothing" }.to_owned()
    }
}
