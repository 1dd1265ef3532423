//! `has_length_equal` and its kin: how many characters, items or members there are. What has no length is an error.

use jurat_format::value::{Kind, Kinds, Val};

use super::judgement::{Inapplicable, Parameters, Test, counted};
use super::{Arrays, Entry, Operand, order};

const HAS_LENGTH: Kinds = Kinds::of(&[Kind::Text, Kind::List, Kind::Object]);
const LENGTH: Entry = Entry { operand: Operand::Number, passes: HAS_LENGTH, arrays: Arrays::Whole, ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "HasLengthEqual",
        summary: "has exactly this number of characters, items or members",
        example: "{ id: three_tips, field_path: tips, operator: has_length_equal, expected_value: 3 }",
        read: |_| Ok(Operator(order::Operator::Equal).into()),
        ..LENGTH
    },
    Entry {
        name: "HasLengthGreaterThan",
        summary: "has more characters, items or members",
        example: "{ id: long_enough, field_path: answer, operator: has_length_greater_than, expected_value: 20 }",
        read: |_| Ok(Operator(order::Operator::Greater).into()),
        ..LENGTH
    },
    Entry {
        name: "HasLengthLessThan",
        summary: "has fewer characters, items or members",
        example: "{ id: short, field_path: title, operator: has_length_less_than, expected_value: 60 }",
        read: |_| Ok(Operator(order::Operator::Less).into()),
        ..LENGTH
    },
    Entry {
        name: "HasLengthGreaterThanOrEqual",
        summary: "has this number of characters, items or members, or more",
        example: "{ id: some_sources, field_path: sources, operator: has_length_greater_than_or_equal, expected_value: 1 }",
        read: |_| Ok(Operator(order::Operator::GreaterOrEqual).into()),
        ..LENGTH
    },
    Entry {
        name: "HasLengthLessThanOrEqual",
        summary: "has this number of characters, items or members, or fewer",
        example: "{ id: tweet, field_path: post, operator: has_length_less_than_or_equal, expected_value: 280 }",
        read: |_| Ok(Operator(order::Operator::LessOrEqual).into()),
        ..LENGTH
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator(order::Operator);

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v>(order::Comparison<'v>);

impl Operator {
    pub(super) fn bind<'v>(&self, bound: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        self.0.bind(bound).map(Comparison)
    }
}

impl Parameters for Operator {}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let length = length(value).ok_or_else(|| Inapplicable::kind(HAS_LENGTH, value))?;
        self.0.holds(&Val::from(length))
    }

    fn expected(&self) -> String {
        format!("a length of {}", self.0.phrase())
    }

    fn flaw(&self) -> Option<String> {
        self.0.flaw().or_else(|| {
            let bound = self.0.bound()?;
            let is_length = bound >= 0.0 && bound.fract() == 0.0;
            (!is_length).then(|| format!("a length is a whole number and never negative, not {bound}"))
        })
    }

    fn found(&self, value: &Val<'_>) -> String {
        let length = length(value).unwrap_or_default();
        let one = match value.kind() {
            Kind::Text => "character",
            Kind::List => "item",
            _ => "member",
        };
        counted(length, one)
    }
}

/// Characters are code points: what Python and JSON count, whatever they look like.
fn length(value: &Val<'_>) -> Option<u64> {
    match value {
        Val::Str(text) => Some(text.chars().count() as u64),
        Val::List(items) => Some(items.len() as u64),
        Val::Map(map) => Some(map.len() as u64),
        _ => None,
    }
}
