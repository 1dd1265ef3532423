//! `contains` and its kin: a text in a text, an item in a list. Items are compared strictly: `1.0` is not `1`.

use std::collections::BTreeSet;
use std::fmt::Write;

use jurat_format::value::{Kind, Kinds, Val, shown};
use memchr::memmem::Finder;

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Arrays, Entry, Operand};

const WHOLE: Entry = Entry { arrays: Arrays::Whole, ..Entry::OPERATOR };
const LISTS: Entry = Entry { operand: Operand::List, passes: Kinds::of(&[Kind::List]), ..WHOLE };
const TEXT_OR_LIST: Kinds = Kinds::of(&[Kind::Text, Kind::List]);

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "Contains",
        summary: "is text with the operand in it, or a list that has it as an item",
        operand: Operand::Any,
        passes: TEXT_OR_LIST,
        example: "{ id: mentions_warranty, field_path: answer, operator: contains, expected_value: warranty }",
        read: |_| Ok(Operator::Contains.into()),
        ..WHOLE
    },
    Entry {
        name: "NotContains",
        summary: "is text without the operand in it, or a list that does not have it as an item",
        operand: Operand::Any,
        passes: TEXT_OR_LIST,
        example: "{ id: no_apology, field_path: answer, operator: not_contains, expected_value: I am sorry }",
        read: |_| Ok(Operator::NotContains.into()),
        ..WHOLE
    },
    Entry {
        name: "ContainsAll",
        summary: "is a list that has every item of the operand",
        example: "{ id: tagged, field_path: tags, operator: contains_all, expected_value: [billing, urgent] }",
        read: |_| Ok(Operator::ContainsAll.into()),
        ..LISTS
    },
    Entry {
        name: "ContainsAny",
        summary: "is a list that has an item of the operand, or text with one of its texts in it",
        passes: TEXT_OR_LIST,
        example: "{ id: names_a_city, field_path: answer, operator: contains_any, expected_value: [Paris, Rome] }",
        read: |_| Ok(Operator::ContainsAny.into()),
        ..LISTS
    },
    Entry {
        name: "ContainsNone",
        summary: "is a list that has no item of the operand",
        example: "{ id: no_banned_tag, field_path: tags, operator: contains_none, expected_value: [spam, scam] }",
        read: |_| Ok(Operator::ContainsNone.into()),
        ..LISTS
    },
    Entry {
        name: "HasUniqueItems",
        summary: "is a list in which no item comes twice",
        operand: Operand::Ignored,
        example: "{ id: no_repeats, field_path: steps, operator: has_unique_items }",
        read: |_| Ok(Operator::HasUniqueItems.into()),
        ..LISTS
    },
    Entry {
        name: "SequenceMatches",
        summary: "is a list with the operand's items in the operand's order and nothing else",
        example: "{ id: plan, field_path: steps, operator: sequence_matches, expected_value: [search, read, answer] }",
        read: |_| Ok(Operator::SequenceMatches.into()),
        ..LISTS
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Contains,
    NotContains,
    ContainsAll,
    ContainsAny,
    ContainsNone,
    HasUniqueItems,
    SequenceMatches,
}

#[derive(Debug, Clone)]
pub(super) enum Comparison<'v> {
    /// `Contains` or `NotContains` text; the finder is made once.
    Part {
        finder: Box<Finder<'static>>,
        negated: bool,
    },
    /// `Contains` or `NotContains` something else.
    Item {
        item: Val<'v>,
        negated: bool,
    },
    All(Vec<Val<'v>>),
    Any(Vec<Val<'v>>),
    None(Vec<Val<'v>>),
    Unique,
    Sequence(Vec<Val<'v>>),
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let negated = *self == Operator::NotContains;
        Ok(match (self, operand) {
            (Operator::HasUniqueItems, _) => Comparison::Unique,
            (Operator::Contains | Operator::NotContains, Val::Str(part)) => {
                Comparison::Part { finder: Box::new(Finder::new(part.as_bytes()).into_owned()), negated }
            }
            (Operator::Contains | Operator::NotContains, item) => Comparison::Item { item, negated },
            (Operator::ContainsAll, Val::List(items)) => Comparison::All(items),
            (Operator::ContainsAny, Val::List(items)) => Comparison::Any(items),
            (Operator::ContainsNone, Val::List(items)) => Comparison::None(items),
            (Operator::SequenceMatches, Val::List(items)) => Comparison::Sequence(items),
            (_, other) => return Err(Inapplicable::operand("a list", &other)),
        })
    }
}

impl Parameters for Operator {}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        match (self, value) {
            (Comparison::Part { finder, negated }, Val::Str(text)) => {
                Ok(finder.find(text.as_bytes()).is_some() != *negated)
            }
            (Comparison::Part { finder, negated }, Val::List(items)) => {
                Ok(items.iter().any(|it| it.as_str().is_some_and(|it| it.as_bytes() == finder.needle())) != *negated)
            }
            (Comparison::Item { item, negated }, Val::List(items)) => Ok(items.contains(item) != *negated),
            (Comparison::Item { item, .. }, Val::Str(_)) => {
                Err(Inapplicable::operand("text when the value is text", item))
            }
            (Comparison::All(wanted), Val::List(items)) => Ok(wanted.iter().all(|it| items.contains(it))),
            (Comparison::Any(wanted), Val::List(items)) => Ok(wanted.iter().any(|it| items.contains(it))),
            (Comparison::Any(wanted), Val::Str(text)) => {
                Ok(wanted.iter().filter_map(Val::as_str).any(|it| text.contains(it)))
            }
            (Comparison::None(banned), Val::List(items)) => Ok(!banned.iter().any(|it| items.contains(it))),
            (Comparison::Unique, Val::List(items)) => Ok(repeated(items).is_none()),
            (Comparison::Sequence(wanted), Val::List(items)) => Ok(items == wanted),
            (Comparison::Part { .. } | Comparison::Item { .. } | Comparison::Any(_), other) => {
                Err(Inapplicable::kind(TEXT_OR_LIST, other))
            }
            (_, other) => Err(Inapplicable::kind("a list", other)),
        }
    }

    fn expected(&self) -> String {
        match self {
            Comparison::Part { finder, negated } => {
                let part = String::from_utf8_lossy(finder.needle());
                format!("text {} {}", if *negated { "without" } else { "with" }, shown(&Val::from(&*part)))
            }
            Comparison::Item { item, negated } => {
                format!("a list {} {}", if *negated { "without" } else { "with" }, shown(item))
            }
            Comparison::All(items) => format!("a list with all of {}", shown_items(items)),
            Comparison::Any(items) => format!("text with one of {}", shown_items(items)),
            Comparison::None(items) => format!("a list with none of {}", shown_items(items)),
            Comparison::Unique => "a list in which no item comes twice".to_owned(),
            Comparison::Sequence(items) => format!("the sequence {}", shown_items(items)),
        }
    }

    fn expected_of(&self, value: &Val<'_>) -> String {
        match (self, value) {
            (Comparison::Part { .. } | Comparison::Any(_), Val::List(_)) => {
                self.expected().replacen("text", "a list", 1)
            }
            _ => self.expected(),
        }
    }

    /// A long list is cut, so what is wrong with it is said apart.
    fn found(&self, value: &Val<'_>) -> String {
        let items = value.as_list().unwrap_or(&[]);
        let those = |wanted: &[Val<'_>], are_there: bool| {
            let those: Vec<Val<'_>> = wanted.iter().filter(|it| items.contains(it) == are_there).cloned().collect();
            shown_items(&those)
        };
        match self {
            Comparison::All(wanted) => format!("{} without {}", shown(value), those(wanted, false)),
            Comparison::None(banned) => format!("{} with {}", shown(value), those(banned, true)),
            Comparison::Unique => match repeated(items) {
                Some(item) => format!("{} with {} twice", shown(value), shown(item)),
                None => shown(value),
            },
            _ => shown(value),
        }
    }
}

fn shown_items(items: &[Val<'_>]) -> String {
    shown(&Val::List(items.to_vec()))
}

/// The first item that comes a second time. Items are the same when they would be written the same, whatever the order of
/// members: `1` and `1.0` differ.
fn repeated<'r, 'v>(items: &'r [Val<'v>]) -> Option<&'r Val<'v>> {
    const FEW: usize = 32;
    if items.len() <= FEW {
        let is_repeated = |ix: &usize| items[..*ix].iter().any(|earlier| identical(earlier, &items[*ix]));
        return (1..items.len()).find(is_repeated).map(|ix| &items[ix]);
    }
    let mut seen = BTreeSet::new();
    items.iter().find(|item| {
        let mut written = String::new();
        write_sorted(&mut written, item);
        !seen.insert(written)
    })
}

fn identical(left: &Val<'_>, right: &Val<'_>) -> bool {
    match (left, right) {
        (Val::F(left), Val::F(right)) => left.to_bits() == right.to_bits(),
        (Val::List(left), Val::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| identical(left, right))
        }
        (Val::Map(left), Val::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, it)| right.get(key).is_some_and(|other| identical(it, other)))
        }
        (left, right) => left == right,
    }
}

fn write_sorted(out: &mut String, value: &Val<'_>) {
    match value {
        Val::List(items) => {
            out.push('[');
            for item in items {
                write_sorted(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Val::Map(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, item) in members {
                let _ = write!(out, "{key:?}:");
                write_sorted(out, item);
                out.push(',');
            }
            out.push('}');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}
