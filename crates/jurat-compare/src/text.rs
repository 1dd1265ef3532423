//! `starts_with`, `ends_with`, `contains_word`: where a text stands in another.

use std::borrow::Cow;

use jurat_format::value::{Kind, Kinds, Val, shown};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

const TEXT: Entry = Entry { operand: Operand::Text, passes: Kinds::of(&[Kind::Text]), ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "StartsWith",
        summary: "is text that starts with the operand",
        example: "{ id: greets, field_path: answer, operator: starts_with, expected_value: Hello }",
        read: |_| Ok(Operator::StartsWith.into()),
        ..TEXT
    },
    Entry {
        name: "EndsWith",
        summary: "is text that ends with the operand",
        example: "{ id: signed, field_path: mail, operator: ends_with, expected_value: Kind regards }",
        read: |_| Ok(Operator::EndsWith.into()),
        ..TEXT
    },
    Entry {
        name: "ContainsWord",
        summary: "is text in which the operand stands as a whole word",
        example: "{ id: names_the_cat, field_path: story, operator: contains_word, expected_value: cat }",
        read: |_| Ok(Operator::ContainsWord.into()),
        ..TEXT
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    StartsWith,
    EndsWith,
    ContainsWord,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    place: Operator,
    part: Cow<'v, str>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        match operand {
            Val::Str(part) => Ok(Comparison { place: *self, part }),
            other => Err(Inapplicable::operand("text", &other)),
        }
    }
}

impl Parameters for Operator {}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        Ok(match self.place {
            Operator::StartsWith => text.starts_with(&*self.part),
            Operator::EndsWith => text.ends_with(&*self.part),
            Operator::ContainsWord => contains_word(text, &self.part),
        })
    }

    fn expected(&self) -> String {
        let part = shown(&Val::from(&*self.part));
        match self.place {
            Operator::StartsWith => format!("text that starts with {part}"),
            Operator::EndsWith => format!("text that ends with {part}"),
            Operator::ContainsWord => format!("text with the word {part}"),
        }
    }

    fn flaw(&self) -> Option<String> {
        if let Operator::ContainsWord = self.place { word_flaw(&self.part) } else { None }
    }
}

/// Why a text is never a whole word, if it is not.
pub(super) fn word_flaw(part: &str) -> Option<String> {
    let is_word = |it: Option<char>| it.is_some_and(in_word);
    let is_bounded = is_word(part.chars().next()) && is_word(part.chars().next_back());
    (!is_bounded).then(|| {
        if part.is_empty() {
            return "an empty text is never a whole word; write the word".to_owned();
        }
        let part = shown(&Val::from(part));
        format!(
            "{part} does not begin and end with a letter, a digit or `_`, so it is never a whole word; use `contains`"
        )
    })
}

/// Whether `word` stands between two word boundaries, the `\b` of regular expressions.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    let mut from = 0;
    while let Some(found) = text[from..].find(word) {
        let start = from + found;
        if is_boundary(text, start) && is_boundary(text, start + word.len()) {
            return true;
        }
        match text[start..].chars().next() {
            Some(it) => from = start + it.len_utf8(),
            None => return false,
        }
    }
    false
}

fn is_boundary(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(in_word);
    let after = text[at..].chars().next().is_some_and(in_word);
    before != after
}

fn in_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_' || (!it.is_ascii() && regex_syntax::is_word_character(it))
}
