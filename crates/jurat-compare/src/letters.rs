//! `is_alphabetic`, `is_lower_case` and their kin: which letters a text is made of.

use jurat_format::value::{Kind, Kinds, Val};

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

const LETTERS: Entry = Entry { operand: Operand::Ignored, passes: Kinds::of(&[Kind::Text]), ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "IsAlphabetic",
        summary: "is text of letters only; empty text passes",
        example: "{ id: letters, field_path: code, operator: is_alphabetic }",
        read: |_| Ok(Operator::Alphabetic.into()),
        ..LETTERS
    },
    Entry {
        name: "IsAlphanumeric",
        summary: "is text of letters and digits only; empty text passes",
        example: "{ id: plain_code, field_path: code, operator: is_alphanumeric }",
        read: |_| Ok(Operator::Alphanumeric.into()),
        ..LETTERS
    },
    Entry {
        name: "IsLowerCase",
        summary: "is text whose letters are all lower case; text without letters is an error",
        example: "{ id: plain_slug, field_path: slug, operator: is_lower_case }",
        read: |_| Ok(Operator::Lower.into()),
        ..LETTERS
    },
    Entry {
        name: "IsUpperCase",
        summary: "is text whose letters are all upper case; text without letters is an error",
        example: "{ id: country, field_path: country_code, operator: is_upper_case }",
        read: |_| Ok(Operator::Upper.into()),
        ..LETTERS
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Alphabetic,
    Alphanumeric,
    Lower,
    Upper,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison(Operator);

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison(*self))
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        match self.0 {
            Operator::Alphabetic => Ok(text.chars().all(char::is_alphabetic)),
            Operator::Alphanumeric => Ok(text.chars().all(char::is_alphanumeric)),
            Operator::Lower => all_letters(text, char::is_lowercase),
            Operator::Upper => all_letters(text, char::is_uppercase),
        }
    }

    fn expected(&self) -> String {
        match self.0 {
            Operator::Alphabetic => "text of letters only",
            Operator::Alphanumeric => "text of letters and digits only",
            Operator::Lower => "text in lower case",
            Operator::Upper => "text in upper case",
        }
        .to_owned()
    }
}

fn all_letters(text: &str, fits: impl Fn(char) -> bool) -> Result<bool, Inapplicable> {
    let mut letters = text.chars().filter(|it| it.is_alphabetic()).peekable();
    if letters.peek().is_none() {
        return Err(Inapplicable::content("text without letters has no case"));
    }
    Ok(letters.all(fits))
}
