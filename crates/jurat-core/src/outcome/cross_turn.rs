//! How the values of two turns compare: as Python compares them, because that is where such checks come from.

use std::cmp::Ordering;

use jurat_compare::Inapplicable;
use jurat_compare::normalise::{Normaliser, normalise};
use jurat_format::value::{Val, compare_numbers, python};

/// How the target must stand to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossComparison {
    /// Equal to it.
    Eq,
    /// Not equal to it.
    Neq,
    /// Its text holds that of the source.
    Contains,
    /// Greater than it.
    Gt,
    /// Greater than or equal to it.
    Gte,
    /// Less than it.
    Lt,
    /// Less than or equal to it.
    Lte,
}

impl CrossComparison {
    /// Every comparison, by the name that authors write.
    pub const NAMED: [(&'static str, CrossComparison); 7] = [
        ("eq", CrossComparison::Eq),
        ("neq", CrossComparison::Neq),
        ("contains", CrossComparison::Contains),
        ("gt", CrossComparison::Gt),
        ("gte", CrossComparison::Gte),
        ("lt", CrossComparison::Lt),
        ("lte", CrossComparison::Lte),
    ];

    /// The name that authors write.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }

    /// In words that fit between two values.
    pub fn phrase(self) -> &'static str {
        match self {
            CrossComparison::Eq => "equals",
            CrossComparison::Neq => "differs from",
            CrossComparison::Contains => "contains",
            CrossComparison::Gt => "is greater than",
            CrossComparison::Gte => "is at least",
            CrossComparison::Lt => "is less than",
            CrossComparison::Lte => "is at most",
        }
    }

    /// Whether the target stands so to the source. Values that have no order among them do not.
    pub fn holds(self, target: &Val<'_>, source: &Val<'_>) -> bool {
        let ordered = |fits: fn(Ordering) -> bool| order(target, source).is_some_and(fits);
        match self {
            CrossComparison::Eq => python::equal(target, source),
            CrossComparison::Neq => !python::equal(target, source),
            CrossComparison::Contains => python::str(target).contains(&*python::str(source)),
            CrossComparison::Gt => ordered(Ordering::is_gt),
            CrossComparison::Gte => ordered(Ordering::is_ge),
            CrossComparison::Lt => ordered(Ordering::is_lt),
            CrossComparison::Lte => ordered(Ordering::is_le),
        }
    }

    /// Like [`holds`](Self::holds), after both were normalised; then both are text.
    pub fn holds_normalised(
        self,
        normalisers: &[Normaliser],
        target: &Val<'_>,
        source: &Val<'_>,
    ) -> Result<bool, Inapplicable> {
        if normalisers.is_empty() {
            return Ok(self.holds(target, source));
        }
        let source = normalise(normalisers, python::str(source))?;
        let target = normalise(normalisers, python::str(target))?;
        Ok(self.holds(&Val::Str(target), &Val::Str(source)))
    }
}

/// Numbers and booleans by value, text by code point, lists item by item; nothing else has an order.
fn order(left: &Val<'_>, right: &Val<'_>) -> Option<Ordering> {
    match (left, right) {
        (Val::Str(left), Val::Str(right)) => Some(left.cmp(right)),
        (Val::List(left), Val::List(right)) => {
            let differing = left.iter().zip(right).find(|(left, right)| !python::equal(left, right));
            differing.map_or(Some(left.len().cmp(&right.len())), |(left, right)| order(left, right))
        }
        (Val::Bool(left), right) => order(&Val::I((*left).into()), right),
        (left, Val::Bool(right)) => order(left, &Val::I((*right).into())),
        (left, right) => compare_numbers(left, right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    // The right column is what CPython 3.11 answers to `left < right`; an exception is `None`.
    #[test]
    fn values_are_ordered_as_python_orders_them() {
        for (left, right, less) in [
            ("1", "2", Some(true)),
            ("1", "1.5", Some(true)),
            ("false", "true", Some(true)),
            ("true", "2", Some(true)),
            ("\"10\"", "\"9\"", Some(true)),
            ("\"Z\"", "\"a\"", Some(true)),
            ("\"a\"", "1", None),
            ("null", "null", None),
            ("{}", "{}", None),
            ("[1, 2]", "[1, 3]", Some(true)),
            ("[1]", "[1, 0]", Some(true)),
            ("[]", "[]", Some(false)),
            ("[1]", "[\"a\"]", None),
            ("[[1], 5]", "[[1.0], 6]", Some(true)),
            ("[null, 1]", "[null, 2]", Some(true)),
            ("[null]", "[1]", None),
        ] {
            let (a, b) = (parse_json(left).unwrap().value, parse_json(right).unwrap().value);
            assert_eq!(order(&a, &b).map(Ordering::is_lt), less, "{left} < {right}");
        }
    }
}
