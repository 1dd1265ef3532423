//! `json_equality` and `json_distance`: two documents compared by what they say rather than by how they are written.
//!
//! Numbers are equal when their values are, so `1` and `1.0` are; the order of members does not matter, that of items does.

use std::cmp::Ordering;

use jurat_format::value::{Kind, Val, compare_numbers};

/// Whether two documents say the same.
pub fn is_equal(left: &Val<'_>, right: &Val<'_>) -> bool {
    distance(left, right) == 0
}

/// How many leaves differ. What only one of the two has counts with all its leaves.
pub fn distance(left: &Val<'_>, right: &Val<'_>) -> usize {
    match (left, right) {
        (Val::Map(left), Val::Map(right)) => {
            let ours =
                left.iter().map(|(key, value)| right.get(key).map_or_else(|| leaves(value), |it| distance(value, it)));
            let theirs = right.iter().filter(|(key, _)| left.get(key).is_none()).map(|(_, value)| leaves(value));
            ours.chain(theirs).sum()
        }
        (Val::List(left), Val::List(right)) => {
            let n_both = left.len().min(right.len());
            let both = left.iter().zip(right).map(|(left, right)| distance(left, right));
            both.chain(left[n_both..].iter().chain(&right[n_both..]).map(leaves)).sum()
        }
        (left, right) if left.kind() == Kind::Number && right.kind() == Kind::Number => {
            usize::from(compare_numbers(left, right) != Some(Ordering::Equal))
        }
        (left, right) if left == right => 0,
        (left, right) => leaves(left).max(leaves(right)),
    }
}

/// How many values there are that hold no others; an empty list or object is one.
fn leaves(value: &Val<'_>) -> usize {
    match value {
        Val::List(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        Val::Map(map) if !map.is_empty() => map.iter().map(|(_, value)| leaves(value)).sum(),
        _ => 1,
    }
}
