//! `is_empty`, `is_not_empty`: nothing in it. Text of spaces is not empty; numbers and booleans are neither.

use jurat_format::value::{Kind, Kinds, Val};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Arrays, Entry, Operand};

const CAN_BE_EMPTY: Kinds = Kinds::of(&[Kind::Null, Kind::Text, Kind::List, Kind::Object]);
const EMPTINESS: Entry = Entry { operand: Operand::Ignored, arrays: Arrays::Whole, ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "IsEmpty",
        summary: "is null, or text, a list or an object with nothing in it",
        passes: CAN_BE_EMPTY,
        example: "{ id: no_warnings, field_path: warnings, operator: is_empty }",
        read: |_| Ok(Operator { negated: false }.into()),
        ..EMPTINESS
    },
    Entry {
        name: "IsNotEmpty",
        summary: "is text, a list or an object with something in it",
        passes: Kinds::of(&[Kind::Text, Kind::List, Kind::Object]),
        example: "{ id: answered, field_path: answer, operator: is_not_empty }",
        read: |_| Ok(Operator { negated: true }.into()),
        ..EMPTINESS
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    negated: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    negated: bool,
}

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison { negated: self.negated })
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let empty = match value {
            Val::Null => true,
            Val::Str(text) => text.is_empty(),
            Val::List(items) => items.is_empty(),
            Val::Map(map) => map.is_empty(),
            other => return Err(Inapplicable::kind(CAN_BE_EMPTY, other)),
        };
        Ok(empty != self.negated)
    }

    fn expected(&self) -> String {
        if self.negated { "a value that is not empty" } else { "an empty value" }.to_owned()
    }
}
