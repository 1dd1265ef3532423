//! Results as cases write them.

use jurat_core::statistics::{Difference, Interval};
use jurat_format::value::{Val, Value};

use crate::object;

pub(super) fn number(value: f64) -> Value {
    if value.is_infinite() { Val::from("inf") } else { Val::from(value) }
}

pub(super) fn maybe(value: Option<f64>) -> Value {
    value.map_or(Val::Null, number)
}

pub(super) fn numbers(values: impl IntoIterator<Item = f64>) -> Value {
    Val::List(values.into_iter().map(number).collect())
}

/// A result, or null where there is none.
pub(super) fn or_null<T>(value: Option<T>, written: impl Fn(T) -> Value) -> Value {
    value.map_or(Val::Null, written)
}

pub(super) fn interval(it: Interval) -> Value {
    object([("low", number(it.low)), ("high", number(it.high))])
}

pub(super) fn difference(it: Difference) -> Value {
    with_interval([("difference", number(it.difference))], Some(it.interval))
}

/// Members, and the ends of an interval after them; null where there is none.
pub(super) fn with_interval<const N: usize>(members: [(&'static str, Value); N], interval: Option<Interval>) -> Value {
    let ends = [("low", maybe(interval.map(|it| it.low))), ("high", maybe(interval.map(|it| it.high)))];
    Val::Map(members.into_iter().chain(ends).collect())
}
