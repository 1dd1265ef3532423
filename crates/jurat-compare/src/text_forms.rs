//! Other forms of the operators over text: negated (`not_starts_with`), without regard to case (`contains_ignoring_case`), and both.
//!
//! Case is folded as Unicode says, for the value and the operand alike: `STRASSE` is `Straße`. A negated form of a value that is no text is an
//! error like any other, not a pass.

use jurat_format::value::{Kind, Kinds, Val, shown};

use super::judgement::{Fault, Inapplicable, Parameters, Test};
use super::pattern::Pattern;
use super::text::{contains_word, word_flaw};
use super::{Entry, Operand};

/// Declares entries: name, summary, example, how the text is looked for, whether that is negated, whether case counts.
macro_rules! forms {
    ($($name:literal $operand:ident $place:ident $negated:literal $case:ident $summary:literal $example:literal;)+) => {
        pub(super) const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            summary: $summary,
            example: $example,
            operand: Operand::$operand,
            passes: Kinds::of(&[Kind::Text]),
            read: |_| Ok(Operator { place: Place::$place, negated: $negated, case: Case::$case }.into()),
            ..Entry::OPERATOR
        }),+];
    };
}

forms! {
    "NotStartsWith" Text Start true Counts "is text that does not start with the operand"
        "{ id: no_apology, field_path: answer, operator: not_starts_with, expected_value: I am sorry }";
    "NotEndsWith" Text End true Counts "is text that does not end with the operand"
        "{ id: finished, field_path: answer, operator: not_ends_with, expected_value: ... }";
    "NotContainsWord" Text Word true Counts "is text in which the operand does not stand as a whole word"
        "{ id: no_cat, field_path: story, operator: not_contains_word, expected_value: cat }";
    "NotMatches" Pattern Pattern true Counts "is text that the regular expression matches nowhere"
        r"{ id: no_number, field_path: answer, operator: not_matches, expected_value: '\d' }";
    "EqualsIgnoringCase" Text Whole false Folded "is text that equals the operand without regard to case"
        "{ id: label, field_path: answer, operator: equals_ignoring_case, expected_value: positive }";
    "NotEqualsIgnoringCase" Text Whole true Folded "is text that differs from the operand in more than case"
        "{ id: no_refusal, field_path: answer, operator: not_equals_ignoring_case, expected_value: refused }";
    "ContainsIgnoringCase" Text Part false Folded "is text with the operand in it, without regard to case"
        "{ id: mentions, field_path: answer, operator: contains_ignoring_case, expected_value: warranty }";
    "NotContainsIgnoringCase" Text Part true Folded "is text without the operand in it, whatever its case"
        "{ id: no_sorry, field_path: answer, operator: not_contains_ignoring_case, expected_value: sorry }";
    "StartsWithIgnoringCase" Text Start false Folded "is text that starts with the operand, without regard to case"
        "{ id: greets, field_path: answer, operator: starts_with_ignoring_case, expected_value: hello }";
    "NotStartsWithIgnoringCase" Text Start true Folded "is text that does not start with the operand, whatever its case"
        "{ id: no_greeting, field_path: answer, operator: not_starts_with_ignoring_case, expected_value: hello }";
    "EndsWithIgnoringCase" Text End false Folded "is text that ends with the operand, without regard to case"
        "{ id: signed, field_path: mail, operator: ends_with_ignoring_case, expected_value: kind regards }";
    "NotEndsWithIgnoringCase" Text End true Folded "is text that does not end with the operand, whatever its case"
        "{ id: unsigned, field_path: mail, operator: not_ends_with_ignoring_case, expected_value: kind regards }";
    "ContainsWordIgnoringCase" Text Word false Folded "is text in which the operand stands as a whole word, without regard to case"
        "{ id: names_the_cat, field_path: story, operator: contains_word_ignoring_case, expected_value: cat }";
    "NotContainsWordIgnoringCase" Text Word true Folded "is text in which the operand does not stand as a whole word, whatever its case"
        "{ id: no_cat_at_all, field_path: story, operator: not_contains_word_ignoring_case, expected_value: cat }";
    "MatchesIgnoringCase" Pattern Pattern false Folded "is text that the regular expression matches somewhere, without regard to case"
        r"{ id: ticket, field_path: answer, operator: matches_ignoring_case, expected_value: '[a-z]{3}-\d+' }";
    "NotMatchesIgnoringCase" Pattern Pattern true Folded "is text that the regular expression matches nowhere, whatever the case"
        r"{ id: no_ticket, field_path: answer, operator: not_matches_ignoring_case, expected_value: '[a-z]{3}-\d+' }";
}

/// Where the operand is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Whole,
    Part,
    Start,
    End,
    Word,
    Pattern,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Case {
    Counts,
    Folded,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Operator {
    place: Place,
    negated: bool,
    case: Case,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    form: Operator,
    /// As the author wrote it, for messages.
    operand: String,
    sought: Sought,
}

#[derive(Debug, Clone)]
enum Sought {
    /// A text, folded where case does not count.
    Text(String),
    Pattern(Box<Pattern>),
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        let wanted = if self.place == Place::Pattern { "a regular expression" } else { "text" };
        let text = operand.as_str().ok_or_else(|| Inapplicable::operand(wanted, &operand))?;
        let sought = match self.place {
            Place::Pattern => Sought::Pattern(Box::new(self.pattern(text)?)),
            _ => Sought::Text(self.case.of(text)),
        };
        Ok(Comparison { form: *self, operand: text.to_owned(), sought })
    }

    fn pattern(&self, text: &str) -> Result<Pattern, Inapplicable> {
        let reason = |error: super::pattern::PatternError| Inapplicable {
            fault: Fault::Pattern,
            reason: format!("not a regular expression: {}", error.message),
        };
        // Read as it was written first, so that a flaw is not one of what is put before it.
        let plain = Pattern::rust(text).map_err(reason)?;
        match self.case {
            Case::Counts => Ok(plain),
            Case::Folded => Pattern::rust(&format!("(?i:{text})"))
                .or_else(|_| Pattern::rust(&format!("(?i){text}")))
                .map_err(reason),
        }
    }
}

impl Case {
    fn of(self, text: &str) -> String {
        match self {
            Case::Counts => text.to_owned(),
            Case::Folded => caseless::default_case_fold_str(text),
        }
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        let is_found = match &self.sought {
            Sought::Pattern(pattern) => pattern.is_match(text).map_err(Inapplicable::from)?,
            Sought::Text(sought) => self.form.place.has(&self.form.case.of(text), sought),
        };
        Ok(is_found != self.form.negated)
    }

    fn expected(&self) -> String {
        let operand = shown(&Val::from(self.operand.as_str()));
        let (found, absent) = match self.form.place {
            Place::Whole => ("equal to", "other than"),
            Place::Part => ("with", "without"),
            Place::Start => ("that starts with", "that does not start with"),
            Place::End => ("that ends with", "that does not end with"),
            Place::Word => ("with the word", "without the word"),
            Place::Pattern => ("that matches", "that does not match"),
        };
        let words = if self.form.negated { absent } else { found };
        let case = if self.form.case == Case::Folded { " without regard to case" } else { "" };
        format!("text {words} {operand}{case}")
    }

    fn flaw(&self) -> Option<String> {
        if self.form.place == Place::Word { word_flaw(&self.operand) } else { None }
    }
}

impl Place {
    fn has(self, text: &str, sought: &str) -> bool {
        match self {
            Place::Whole => text == sought,
            Place::Part => text.contains(sought),
            Place::Start => text.starts_with(sought),
            Place::End => text.ends_with(sought),
            Place::Word => contains_word(text, sought),
            // A pattern is no text.
            Place::Pattern => false,
        }
    }
}
