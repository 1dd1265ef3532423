//! # The pieces of a date in free form
//!
//! Cuts text into words, numbers, marks and spaces, and knows what a word can mean. What it does
//! mean depends on its neighbours and is not decided here.

use std::borrow::Cow;

use jiff::civil::Weekday;

use super::super::moment::{MONTHS, WEEKDAYS, abbreviation, is_space};
use super::clock::{Half, Unit};

/// A piece of text that has one meaning at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Number(Number<'t>),
    Word(&'t str),
    Mark(char),
    Space,
}

impl<'t> Token<'t> {
    pub(super) fn number(self) -> Option<Number<'t>> {
        match self {
            Token::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the digits of a whole number.
    pub(super) fn digits(self) -> Option<&'t str> {
        self.number()?.digits()
    }

    /// Returns the place of the first list in which the word stands, whatever its case.
    fn among(&self, lists: &[&[&str]]) -> Option<usize> {
        let Token::Word(word) = self else { return None };
        let holds = |list: &&[&str]| list.iter().any(|it| it.eq_ignore_ascii_case(word));
        lists.iter().position(holds)
    }

    fn name_among(&self, names: &[&'static str]) -> Option<usize> {
        let Token::Word(word) = self else { return None };
        names.iter().position(|it| it.eq_ignore_ascii_case(word) || abbreviation(it).eq_ignore_ascii_case(word))
    }

    pub(super) fn month(&self) -> Option<u32> {
        match self {
            Token::Word(word) if word.eq_ignore_ascii_case("sept") => Some(9),
            _ => u32::try_from(self.name_among(&MONTHS)? + 1).ok(),
        }
    }

    pub(super) fn weekday(&self) -> Option<Weekday> {
        let from_monday = i8::try_from(self.name_among(&WEEKDAYS)?).ok()?;
        Weekday::from_monday_zero_offset(from_monday).ok()
    }

    pub(super) fn half(&self) -> Option<Half> {
        let at = self.among(&[&["am", "a"], &["pm", "p"]])?;
        [Half::Am, Half::Pm].get(at).copied()
    }

    pub(super) fn unit(&self) -> Option<Unit> {
        let at = self.among(&[&["h", "hour", "hours"], &["m", "minute", "minutes"], &["s", "second", "seconds"]])?;
        [Unit::Hour, Unit::Minute, Unit::Second].get(at).copied()
    }

    /// Returns whether a number before this token must be part of a clock.
    pub(super) fn continues_clock(&self) -> bool {
        *self == Token::Mark(':') || self.unit().is_some()
    }

    /// Returns whether the token may stand between the parts of a date and mean nothing.
    pub(super) fn is_filler(&self) -> bool {
        // The m is from "a.m." and the t from the ISO separator.
        const WORDS: &[&str] = &["at", "on", "and", "ad", "m", "t", "of", "st", "nd", "rd", "th"];
        match self {
            Token::Space | Token::Mark('.' | ',' | ';' | '-' | '/' | '\'') => true,
            Token::Word(_) => self.among(&[WORDS]).is_some(),
            Token::Mark(_) | Token::Number(_) => false,
        }
    }
}

/// Digits, perhaps with a fraction after a point or a comma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'t> {
    pub(super) whole: &'t str,
    pub(super) fraction: Option<&'t str>,
}

impl<'t> Number<'t> {
    pub(super) fn read(run: &'t str) -> Option<Number<'t>> {
        let (whole, fraction) = match run.split_once(['.', ',']) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (run, None),
        };
        let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        (is_digits(whole) && fraction.is_none_or(is_digits)).then_some(Number { whole, fraction })
    }

    pub(super) fn written_len(self) -> usize {
        self.whole.len() + self.fraction.map_or(0, |it| it.len() + 1)
    }

    /// Returns the digits, unless there is a fraction.
    pub(super) fn digits(self) -> Option<&'t str> {
        self.fraction.is_none().then_some(self.whole)
    }

    pub(super) fn floor(self) -> u32 {
        floor(self.whole)
    }

    /// Returns the fraction in sixtieths, rounded down, unless it is zero.
    pub(super) fn sixtieths(self) -> Option<u32> {
        // Thirty digits are more than dateutil uses, and sixty times as much fits in a u128.
        const PLACES: usize = 30;
        let scaled = 60 * decimal_places(self.fraction?, PLACES);
        let sixtieths = u32::try_from(scaled / 10_u128.pow(PLACES as u32)).ok()?;
        (scaled != 0).then_some(sixtieths)
    }

    pub(super) fn millionths(self) -> u32 {
        let places = decimal_places(self.fraction.unwrap_or(""), 6);
        u32::try_from(places).unwrap_or(0)
    }
}

/// Cuts text into tokens. Letters and digits gather into runs, anything else stands alone.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (run, after) = rest.split_at(run_len(rest));
        rest = after;
        match first {
            _ if is_space(first) => tokens.push(Token::Space),
            _ if is_letter_or_digit(first) => push_run(run, &mut tokens),
            _ => tokens.push(Token::Mark(first)),
        }
    }
    tokens
}

/// Writes the decimal digits of every script in ASCII, as Python understands them all.
pub(super) fn with_ascii_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let in_ascii = |character: char| {
        let value = ZEROS.iter().map(|zero| u32::from(character).wrapping_sub(u32::from(*zero))).find(|it| *it < 10);
        value.and_then(|it| char::from_digit(it, 10)).unwrap_or(character)
    };
    text.chars().map(in_ascii).collect()
}

/// Reads digits; what no calendar can hold becomes the largest number there is.
pub(super) fn floor(digits: &str) -> u32 {
    digits.parse().unwrap_or(u32::MAX)
}

/// Reads a fraction's first digits as if there were exactly `n_places`.
fn decimal_places(fraction: &str, n_places: usize) -> u128 {
    fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(n_places)
        .fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'))
}

/// Measures the run at the start of text: letters or digits, and across points also both.
fn run_len(text: &str) -> usize {
    let mut characters = text.char_indices();
    let Some((_, mut last)) = characters.next() else {
        return 0;
    };
    if !is_letter_or_digit(last) {
        return last.len_utf8();
    }
    for (at, next) in characters {
        let joins = match next {
            '.' => true,
            // A decimal comma, in `10:30:15,25`. After one digit it is more likely a list.
            ',' => at >= 2 && text.as_bytes()[..at].iter().all(u8::is_ascii_digit),
            _ if next.is_ascii_digit() => last.is_ascii_digit() || last == '.' || last == ',',
            _ => next.is_alphabetic() && (last.is_alphabetic() || last == '.'),
        };
        if !joins {
            return at;
        }
        last = next;
    }
    text.len()
}

/// A point is a decimal point in `15.25` and a separator in `Sep.20.2009`.
fn push_run<'t>(run: &'t str, tokens: &mut Vec<Token<'t>>) {
    let is_separated = run.contains(char::is_alphabetic) || run.matches('.').count() > 1 || run.ends_with(['.', ',']);
    if !is_separated {
        // `12,5.3` is neither a number nor a date; as a word it is unknown.
        tokens.push(Number::read(run).map_or(Token::Word(run), Token::Number));
        return;
    }
    for piece in run.split_inclusive(['.', ',']) {
        let text = piece.trim_end_matches(['.', ',']);
        if !text.is_empty() {
            tokens.push(Number::read(text).map_or(Token::Word(text), Token::Number));
        }
        tokens.extend(piece.get(text.len()..).and_then(|it| it.chars().next()).map(Token::Mark));
    }
}

fn is_letter_or_digit(character: char) -> bool {
    character.is_alphabetic() || character.is_ascii_digit()
}

/// The zero of every script but ASCII in Unicode 14, which is that of Python 3.11; the other nine
/// digits follow each.
#[rustfmt::skip]
const ZEROS: &[char] = &[
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
    '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}',
    '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}',
    '\u{1b50}', '\u{1bb0}', '\u{1c40}', '\u{1c50}', '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}',
    '\u{a9f0}', '\u{aa50}', '\u{abf0}', '\u{ff10}', '\u{104a0}', '\u{10d30}', '\u{11066}', '\u{110f0}',
    '\u{11136}', '\u{111d0}', '\u{112f0}', '\u{11450}', '\u{114d0}', '\u{11650}', '\u{116c0}', '\u{11730}',
    '\u{118e0}', '\u{11950}', '\u{11c50}', '\u{11d50}', '\u{11da0}', '\u{16a60}', '\u{16ac0}', '\u{16b50}',
    '\u{1d7ce}', '\u{1d7d8}', '\u{1d7e2}', '\u{1d7ec}', '\u{1d7f6}', '\u{1e140}', '\u{1e2f0}', '\u{1e950}',
    '\u{1fbf0}',
];
