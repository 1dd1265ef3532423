//! `is_numeric`, `is_string` and their kin: what kind of value it is.

use jurat_format::value::{Kind, Kinds, Val};

use super::judgement::{Inapplicable, Parameters, Test, shown_with_kind};
use super::{Arrays, Entry, Operand};

const KIND: Entry = Entry { operand: Operand::Ignored, arrays: Arrays::Whole, ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "IsNumeric",
        summary: "is a number; text that reads as one is not",
        passes: Kinds::of(&[Kind::Number]),
        example: "{ id: has_score, field_path: score, operator: is_numeric }",
        read: |_| Ok(Operator(Kind::Number).into()),
        ..KIND
    },
    Entry {
        name: "IsString",
        summary: "is text",
        passes: Kinds::of(&[Kind::Text]),
        example: "{ id: has_text, field_path: answer, operator: is_string }",
        read: |_| Ok(Operator(Kind::Text).into()),
        ..KIND
    },
    Entry {
        name: "IsBoolean",
        summary: "is `true` or `false`",
        passes: Kinds::of(&[Kind::Boolean]),
        example: "{ id: decided, field_path: refund, operator: is_boolean }",
        read: |_| Ok(Operator(Kind::Boolean).into()),
        ..KIND
    },
    Entry {
        name: "IsNull",
        summary: "is null",
        passes: Kinds::of(&[Kind::Null]),
        example: "{ id: no_error, field_path: error, operator: is_null }",
        read: |_| Ok(Operator(Kind::Null).into()),
        ..KIND
    },
    Entry {
        name: "IsArray",
        summary: "is a list",
        passes: Kinds::of(&[Kind::List]),
        example: "{ id: listed, field_path: sources, operator: is_array }",
        read: |_| Ok(Operator(Kind::List).into()),
        ..KIND
    },
    Entry {
        name: "IsObject",
        summary: "is an object",
        passes: Kinds::of(&[Kind::Object]),
        example: "{ id: structured, field_path: reply, operator: is_object }",
        read: |_| Ok(Operator(Kind::Object).into()),
        ..KIND
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator(Kind);

#[derive(Debug, Clone)]
pub(super) struct Comparison(Kind);

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison(self.0))
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(value.kind() == self.0)
    }

    fn expected(&self) -> String {
        self.0.phrase().to_owned()
    }

    fn found(&self, value: &Val<'_>) -> String {
        shown_with_kind(value)
    }
}
