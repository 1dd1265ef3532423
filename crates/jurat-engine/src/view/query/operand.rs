//! What values are compared with: numbers, texts with stars, and texts that are looked for.

use super::probe::Probe;
use super::syntax::{Operator, Spanned};

/// A number that is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub(crate) operator: Operator,
    pub(crate) values: Vec<f64>,
}

impl Bound {
    pub(crate) fn holds(&self, number: f64) -> bool {
        let is = |value: &f64| match self.operator {
            Operator::Is | Operator::IsNot => number == *value,
            Operator::Less => number < *value,
            Operator::AtMost => number <= *value,
            Operator::More => number > *value,
            Operator::AtLeast => number >= *value,
        };
        !number.is_nan() && (self.values.iter().any(is) != (self.operator == Operator::IsNot))
    }
}

/// A text with `*` at either end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    text: String,
    open_start: bool,
    open_end: bool,
}

impl Glob {
    pub(crate) fn of(text: &str) -> Glob {
        let open_start = text.len() > 1 && text.starts_with('*');
        let rest = if open_start { &text[1..] } else { text };
        let open_end = rest.ends_with('*');
        let rest = if open_end { &rest[..rest.len() - 1] } else { rest };
        Glob { text: rest.to_owned(), open_start, open_end }
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        match (self.open_start, self.open_end) {
            (false, false) => text == self.text,
            (false, true) => text.starts_with(&self.text),
            (true, false) => text.ends_with(&self.text),
            (true, true) => text.contains(&self.text),
        }
    }
}

/// A text that is looked for. Small letters match both cases, a capital makes it exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    text: String,
    is_exact: bool,
    /// The longest run of letters and digits in it: JSON writes those as they are, so a row without it need not be parsed.
    pub(crate) probe: Probe,
}

impl Needle {
    pub(crate) fn of(text: &str) -> Needle {
        let is_exact = text.chars().any(char::is_uppercase);
        let text = if is_exact { text.to_owned() } else { text.to_lowercase() };
        let runs = text.split(|it: char| !it.is_ascii_alphanumeric());
        let probe = Probe::of(runs.max_by_key(|it| it.len()).unwrap_or_default());
        Needle { text, is_exact, probe }
    }

    /// Whether a text has it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.is_exact { text.contains(&self.text) } else { text.to_lowercase().contains(&self.text) }
    }
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Plain,
    /// In microseconds, when read.
    Time,
}

impl Unit {
    pub(crate) fn read(self, text: &str) -> Option<f64> {
        let units = [("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 6e7)];
        let (number, factor) = match self {
            Unit::Plain => (text, 1.0),
            Unit::Time => units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?,
        };
        number.parse::<f64>().ok().filter(|it| it.is_finite()).map(|it| it * factor)
    }
}

/// Texts that are looked for, any of them.
pub(crate) fn needles(values: &[Spanned]) -> Vec<Needle> {
    values.iter().map(|it| Needle::of(&it.text)).collect()
}
