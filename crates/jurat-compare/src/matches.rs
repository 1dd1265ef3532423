//! `matches`, `matches_regex`: the text matches a regular expression, anywhere in it.
//!
//! The expressions are Rust's: linear in time, Unicode, `$` only at the very end unless `(?m)`. Look-around and
//! back-references are understood too; such an expression gives up after a fixed number of steps, as an error.

use jurat_format::value::{Kind, Kinds, Val, shown};

use super::judgement::{Fault, Inapplicable, Parameters, Test};
use super::pattern::Pattern;
use super::{Entry, Operand};

const PATTERN: Entry = Entry {
    operand: Operand::Pattern,
    passes: Kinds::of(&[Kind::Text]),
    read: |_| Ok(Operator.into()),
    ..Entry::OPERATOR
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "Matches",
        summary: "is text that the regular expression matches somewhere",
        example: r"{ id: ticket, field_path: answer, operator: matches, expected_value: '[A-Z]{3}-\d+' }",
        ..PATTERN
    },
    Entry {
        name: "MatchesRegex",
        summary: "is text that the regular expression matches somewhere; another name for `matches`",
        example: r"{ id: order, field_path: answer, operator: matches_regex, expected_value: '^Order \d+$' }",
        ..PATTERN
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator;

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pattern: Pattern,
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        let text = operand.as_str().ok_or_else(|| Inapplicable::operand("a regular expression", &operand))?;
        let pattern = Pattern::rust(text).map_err(|error| Inapplicable {
            fault: Fault::Pattern,
            reason: format!("not a regular expression: {}", error.message),
        })?;
        Ok(Comparison { pattern })
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        self.pattern.is_match(text).map_err(Inapplicable::from)
    }

    fn expected(&self) -> String {
        format!("text that matches {}", shown(&Val::from(self.pattern.as_str())))
    }
}

impl From<super::pattern::StepLimit> for Inapplicable {
    fn from(limit: super::pattern::StepLimit) -> Inapplicable {
        Inapplicable { fault: Fault::Steps, reason: limit.to_string() }
    }
}
