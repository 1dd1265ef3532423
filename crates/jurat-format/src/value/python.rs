//! The text rules that come from Python, as far as a suite that was moved from there depends on them.
//!
//! Python prints `True`, `None` and `1.0`, holds `True == 1 == 1.0`, and reads `float(" 1_000 ")`. These are rules of the
//! verification primitives; operators never use them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write;

use super::{Map, Val, compare_numbers};

/// `str(value)`
pub fn str<'v>(value: &'v Val<'_>) -> Cow<'v, str> {
    match value {
        Val::Str(text) => Cow::Borrowed(text),
        other => Cow::Owned(repr(other)),
    }
}

/// `repr(value)`
pub fn repr(value: &Val<'_>) -> String {
    let mut out = String::new();
    write_repr(&mut out, value);
    out
}

fn write_repr(out: &mut String, value: &Val<'_>) {
    match value {
        Val::Null => out.push_str("None"),
        Val::Bool(true) => out.push_str("True"),
        Val::Bool(false) => out.push_str("False"),
        Val::I(_) | Val::U(_) => out.push_str(&value.to_string()),
        Val::F(number) => write_float(out, *number),
        // Python's reader has exact integers and turns 1e999 into an infinity.
        Val::Big(text) if text.contains(['.', 'e', 'E']) => write_float(out, text.parse().unwrap_or(f64::NAN)),
        Val::Big(text) => out.push_str(text),
        Val::Str(text) => write_str(out, text),
        Val::List(items) => {
            out.push('[');
            for (ix, item) in items.iter().enumerate() {
                out.push_str(if ix == 0 { "" } else { ", " });
                write_repr(out, item);
            }
            out.push(']');
        }
        Val::Map(map) => {
            out.push('{');
            for (ix, (key, item)) in map.iter().enumerate() {
                out.push_str(if ix == 0 { "" } else { ", " });
                write_str(out, key);
                out.push_str(": ");
                write_repr(out, item);
            }
            out.push('}');
        }
    }
}

/// `repr(number)`: the shortest digits that read back, with a point or an exponent.
pub fn float_text(number: f64) -> String {
    let mut out = String::new();
    write_float(&mut out, number);
    out
}

/// `repr(text)`: in quotes, with everything escaped that does not print.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_str(&mut out, text);
    out
}

/// The shortest digits that read back, in plain notation from 1e-4 up to 1e16.
fn write_float(out: &mut String, number: f64) {
    if !number.is_finite() {
        out.push_str(if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        });
        return;
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Writing to a `String` cannot fail.
    let _ = if number == 0.0 || (-4..16).contains(&exponent) {
        write!(out, "{number:?}")
    } else {
        write!(out, "{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
}

fn write_str(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for it in text.chars() {
        let _ = match it {
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            _ if it == quote => write!(out, "\\{it}"),
            _ if is_printable(it) => write!(out, "{it}"),
            _ if u32::from(it) <= 0xff => write!(out, "\\x{:02x}", u32::from(it)),
            _ if u32::from(it) <= 0xffff => write!(out, "\\u{:04x}", u32::from(it)),
            _ => write!(out, "\\U{:08x}", u32::from(it)),
        };
    }
    out.push(quote);
}

/// Rust escapes the same characters in `{:?}` that Python does not print; after a letter, combining marks stay as they are.
fn is_printable(it: char) -> bool {
    matches!(it, ' '..='~') || (!it.is_ascii() && !format!("a{it}").escape_debug().any(|it| it == '\\'))
}

/// Why `float(value)` fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAFloat {
    /// The value is of a kind that has no number.
    Kind,
    /// The text is not a number.
    Text,
    /// The integer is too large for a double.
    Overflow,
}

/// `float(value)`
pub fn float(value: &Val<'_>) -> Result<f64, NotAFloat> {
    match value {
        Val::Bool(value) => Ok(f64::from(u8::from(*value))),
        Val::I(_) | Val::U(_) | Val::F(_) => value.as_f64().ok_or(NotAFloat::Kind),
        Val::Big(text) => match text.parse::<f64>() {
            Ok(number) if number.is_infinite() && !text.contains(['.', 'e', 'E']) => Err(NotAFloat::Overflow),
            Ok(number) => Ok(number),
            Err(_) => Err(NotAFloat::Text),
        },
        Val::Str(text) => float_of_text(text).ok_or(NotAFloat::Text),
        Val::Null | Val::List(_) | Val::Map(_) => Err(NotAFloat::Kind),
    }
}

/// Digits of any script, `_` between digits, space around, `inf`, `infinity` and `nan` in any case.
fn float_of_text(text: &str) -> Option<f64> {
    let text = strip(text);
    let mut ascii = String::with_capacity(text.len());
    for it in text.chars() {
        ascii.push(match decimal_digit(it) {
            Some(digit) => char::from(b'0' + digit),
            None if it.is_ascii() => it,
            None => return None,
        });
    }
    let bytes = ascii.as_bytes();
    for (ix, it) in bytes.iter().enumerate() {
        let digit_at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        if *it == b'_' && !(digit_at(ix.checked_sub(1)) && digit_at(Some(ix + 1))) {
            return None;
        }
    }
    // What is left of Rust's own grammar is Python's: sign, digits, point, exponent, inf, infinity, nan.
    ascii.replace('_', "").parse().ok()
}

/// The value of a decimal digit in any script: Unicode has each script's ten digits in one run, zero first.
fn decimal_digit(it: char) -> Option<u8> {
    const ZEROS: &[u32] = &[
        0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
        0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
        0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
        0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0,
        0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
    ];
    let code = u32::from(it);
    let zero = ZEROS[ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?];
    u8::try_from(code - zero).ok().filter(|digit| *digit < 10)
}

/// `bool(value)`
pub fn truth(value: &Val<'_>) -> bool {
    match value {
        Val::Null => false,
        Val::Bool(value) => *value,
        Val::I(number) => *number != 0,
        Val::U(_) | Val::Big(_) => true,
        Val::F(number) => *number != 0.0,
        Val::Str(text) => !text.is_empty(),
        Val::List(items) => !items.is_empty(),
        Val::Map(map) => !map.is_empty(),
    }
}

/// `left == right`: numbers and booleans by value, at any depth.
pub fn equal(left: &Val<'_>, right: &Val<'_>) -> bool {
    match (left, right) {
        (Val::Null, Val::Null) => true,
        (Val::Str(left), Val::Str(right)) => left == right,
        (Val::List(left), Val::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Val::Map(left), Val::Map(right)) => same_members(left, right),
        _ => compare_numbers(&number(left), &number(right)) == Some(Ordering::Equal),
    }
}

fn same_members(left: &Map<'_>, right: &Map<'_>) -> bool {
    left.len() == right.len() && left.iter().all(|(key, value)| right.get(key).is_some_and(|it| equal(value, it)))
}

/// A boolean as the number that Python takes it for.
fn number<'v>(value: &'v Val<'_>) -> Val<'v> {
    match value {
        Val::Bool(value) => Val::I(i64::from(*value)),
        Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => value.borrowed(),
        _ => Val::Null,
    }
}

/// What `str.strip`, `str.split` and `\s` take for space: Unicode's space, and the four separators of ASCII.
pub fn is_space(it: char) -> bool {
    it.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&it)
}

/// `text.strip()`
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text.split()`
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::parse_json;

    #[test]
    fn values_print_as_python_prints_them() {
        // The right column is what CPython 3.11 answers to `str(json.loads(left))`.
        for (json, printed) in [
            ("null", "None"),
            ("true", "True"),
            ("1.0", "1.0"),
            ("1e16", "1e+16"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("1e-5", "1e-05"),
            ("0.0001", "0.0001"),
            ("-0.0", "-0.0"),
            ("1e300", "1e+300"),
            ("1e999", "inf"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("\"plain 'text'\"", "plain 'text'"),
            ("[\"a\", 1, true, null]", "['a', 1, True, None]"),
            ("[\"it's\"]", "[\"it's\"]"),
            ("[\"it's \\\"so\\\"\"]", "['it\\'s \"so\"']"),
            ("[\"tab\\t\\u0001\\u00a0é\\u200b\"]", "['tab\\t\\x01\\xa0é\\u200b']"),
            ("{\"k\": [1.5]}", "{'k': [1.5]}"),
        ] {
            assert_eq!(str(&parse_json(json).unwrap().value), printed, "{json}");
        }
    }

    #[test]
    fn text_becomes_a_number_as_float_reads_it() {
        for (text, number) in [
            ("  7 \n", Some(7.0)),
            ("1_000", Some(1000.0)),
            ("_1", None),
            ("1__0", None),
            ("+.5e-1", Some(0.05)),
            ("5.", Some(5.0)),
            ("Infinity", Some(f64::INFINITY)),
            ("-INF", Some(f64::NEG_INFINITY)),
            ("٣٤", Some(34.0)),
            ("1,000", None),
            ("0x10", None),
            ("", None),
            ("1e", None),
            ("½", None),
        ] {
            assert_eq!(float_of_text(text), number, "{text:?}");
        }
        assert!(float_of_text("NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn equality_is_by_value() {
        for (left, right, same) in [
            ("1", "1.0", true),
            ("0", "false", true),
            ("[1, {\"a\": true}]", "[true, {\"a\": 1}]", true),
            ("null", "false", false),
            ("\"1\"", "1", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true),
        ] {
            let (a, b) = (parse_json(left).unwrap().value, parse_json(right).unwrap().value);
            assert_eq!(equal(&a, &b), same, "{left} == {right}");
        }
    }
}
