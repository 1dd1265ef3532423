//! Numbers compared exactly, whatever they were read into.
//!
//! Going through `f64` would make 9007199254740993 equal to 9007199254740992, and a score that an author wrote as an
//! integer must not be rounded behind their back.

use std::cmp::Ordering;

use super::Val;

/// Compares two numbers by their exact values. `None` when one is not a number, or is NaN.
#[inline]
pub fn compare_numbers(left: &Val<'_>, right: &Val<'_>) -> Option<Ordering> {
    match (Number::of(left)?, Number::of(right)?) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        (Number::Integer(left), Number::Float(right)) => integer_and_float(left, right),
        (Number::Float(left), Number::Integer(right)) => integer_and_float(right, left).map(Ordering::reverse),
        (left, right) => Some(Decimal::of(&left)?.cmp(&Decimal::of(&right)?)),
    }
}

/// Whether a number equals what `text` writes as a decimal number (`5`, `+5`, `5.`, `.5`, `1e3`; no spaces, no `_`).
pub fn decimal_equal(number: &Val<'_>, text: &str) -> bool {
    if let Ok(integer) = text.parse::<i64>() {
        return compare_numbers(number, &Val::I(integer)) == Some(Ordering::Equal);
    }
    let Ok(float) = text.parse::<f64>() else { return false };
    let integral = text.bytes().all(|it| it.is_ascii_digit() || it == b'+' || it == b'-');
    // `1e400` is no infinity, though the nearest double is; `inf` is one.
    let too_large = float.is_infinite() && text.contains(|it: char| it.is_ascii_digit());
    let written = if integral || too_large { Val::Big(text.trim_start_matches('+').into()) } else { Val::F(float) };
    compare_numbers(number, &written) == Some(Ordering::Equal)
}

enum Number<'t> {
    Integer(i128),
    Float(f64),
    Big(&'t str),
}

impl<'t> Number<'t> {
    fn of(value: &'t Val<'_>) -> Option<Number<'t>> {
        match value {
            Val::I(number) => Some(Number::Integer(i128::from(*number))),
            Val::U(number) => Some(Number::Integer(i128::from(*number))),
            Val::F(number) => Some(Number::Float(*number)),
            Val::Big(text) => Some(Number::Big(text)),
            _ => None,
        }
    }
}

fn integer_and_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Beyond this the float is larger than any integer of 64 bits; below it the cast is exact.
    if float.abs() >= 1e30 {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i128)).then_with(|| 0.0_f64.total_cmp(&(float - whole + 0.0))))
}

/// A number in decimal: sign, digits without zeros at either end, and where the point stands before the first of them.
#[derive(PartialEq, Eq)]
enum Decimal {
    Finite { negative: bool, point: i64, digits: Vec<u8> },
    Infinite { negative: bool },
}

impl Decimal {
    fn of(number: &Number<'_>) -> Option<Decimal> {
        match number {
            Number::Integer(integer) => Some(Decimal::read(&integer.to_string())),
            Number::Float(float) if float.is_nan() => None,
            Number::Float(float) if float.is_infinite() => Some(Decimal::Infinite { negative: *float < 0.0 }),
            // Rust prints a float with a given number of places exactly, and 1074 places hold every double.
            Number::Float(float) => Some(Decimal::read(&format!("{float:.1074}"))),
            Number::Big(text) => Some(Decimal::read(text)),
        }
    }

    /// Reads a number as JSON writes it. Anything else reads as some number too; only numbers are given to it.
    fn read(text: &str) -> Decimal {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = exponent.trim_start_matches('+').parse().unwrap_or(if exponent.starts_with('-') {
            i64::MIN / 2
        } else {
            i64::MAX / 2
        });
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).collect();
        let zeros = digits.iter().take_while(|it| **it == b'0').count();
        let end = digits.iter().rposition(|it| *it != b'0').map_or(zeros, |last| last + 1);
        if zeros == digits.len() {
            return Decimal::Finite { negative: false, point: 0, digits: Vec::new() };
        }
        let point = i64::try_from(whole.len()).unwrap_or(i64::MAX / 4) - i64::try_from(zeros).unwrap_or(0);
        Decimal::Finite { negative, point: point.saturating_add(exponent), digits: digits[zeros..end].to_vec() }
    }

    fn sign(&self) -> i8 {
        match self {
            Decimal::Finite { digits, .. } if digits.is_empty() => 0,
            Decimal::Finite { negative, .. } | Decimal::Infinite { negative } => {
                if *negative {
                    -1
                } else {
                    1
                }
            }
        }
    }

    fn cmp(&self, other: &Decimal) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.sign() == 0 {
            return by_sign;
        }
        let by_size = match (self, other) {
            (Decimal::Infinite { .. }, Decimal::Infinite { .. }) => Ordering::Equal,
            (Decimal::Infinite { .. }, _) => Ordering::Greater,
            (_, Decimal::Infinite { .. }) => Ordering::Less,
            (Decimal::Finite { point, digits, .. }, Decimal::Finite { point: others, digits: theirs, .. }) => {
                point.cmp(others).then_with(|| digits.cmp(theirs))
            }
        };
        if self.sign() < 0 { by_size.reverse() } else { by_size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::parse_json;

    #[track_caller]
    fn ordered(left: &str, right: &str, expected: Option<Ordering>) {
        let (a, b) = (parse_json(left).unwrap().value, parse_json(right).unwrap().value);
        assert_eq!(compare_numbers(&a, &b), expected, "{left} against {right}");
        assert_eq!(compare_numbers(&b, &a), expected.map(Ordering::reverse), "{right} against {left}");
    }

    #[test]
    fn numbers_compare_by_exact_value() {
        use Ordering::{Equal, Greater, Less};
        ordered("5", "5.0", Some(Equal));
        ordered("-0.0", "0", Some(Equal));
        ordered("9007199254740993", "9007199254740992.0", Some(Greater));
        ordered("9007199254740993", "9007199254740992", Some(Greater));
        ordered("18446744073709551615", "18446744073709551616", Some(Less));
        ordered("18446744073709551616", "18446744073709551616.0", Some(Equal));
        ordered("18446744073709551617", "18446744073709551616.0", Some(Greater));
        ordered("-18446744073709551617", "-1e40", Some(Greater));
        ordered("1e999", "1e400", Some(Greater));
        ordered("1e400", "10000e396", Some(Equal));
        ordered("123456789012345678901234567890", "123456789012345678901234567891", Some(Less));
        ordered("2", "1.5", Some(Greater));
        ordered("-2", "-1.5", Some(Less));
        ordered("0.1", "1", Some(Less));
        ordered("9223372036854775807", "1e300", Some(Less));
        ordered("\"5\"", "5", None);
    }

    #[test]
    fn text_equals_a_number_as_rust_reads_decimals() {
        for (number, text, equal) in [
            ("5", "5", true),
            ("5", "+5", true),
            ("5", "5.", true),
            ("0.5", ".5", true),
            ("1000", "1e3", true),
            ("5", " 5", false),
            ("1000", "1_000", false),
            ("16", "0x10", false),
            ("9007199254740993", "9007199254740993", true),
            ("9007199254740992", "9007199254740993", false),
            ("123456789012345678901234567890", "123456789012345678901234567890", true),
            ("1e400", "1e400", true),
            ("1e400", "+.1e401", true),
            ("1e400", "1e401", false),
        ] {
            let value = parse_json(number).unwrap().value;
            assert_eq!(decimal_equal(&value, text), equal, "{number} and `{text}`");
        }
    }
}
