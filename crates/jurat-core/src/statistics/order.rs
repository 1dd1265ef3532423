//! Quantiles of a list, and where they lie.

use super::confidence::{Confidence, Side};
use super::special::binomial_tails;

/// A quantile with the order statistics around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// Between the two nearest values, linearly.
    pub value: f64,
    /// A value of the list; `None` where even the smallest is not low enough.
    pub low: Option<f64>,
    /// A value of the list; `None` where even the largest is not high enough.
    pub high: Option<f64>,
}

/// The quantile `q` of values and its interval, which holds whatever their distribution is: how many values lie below the true quantile is a
/// binomial count. `None` without values.
///
/// ```
/// use jurat_core::statistics::{Confidence, quantile_interval};
///
/// let values: Vec<f64> = (1..=20).map(f64::from).collect();
/// let found = quantile_interval(&values, 0.5, Confidence::USUAL).unwrap();
/// assert_eq!((found.value, found.low, found.high), (10.5, Some(6.0), Some(15.0)));
/// ```
pub fn quantile_interval(values: &[f64], q: f64, confidence: Confidence) -> Option<QuantileInterval> {
    if values.is_empty() || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tail = confidence.tail(Side::Both);
    // Ranks from 1. How many lie below the quantile is binomial: both conditions hold up to some rank and from some rank on.
    let n = values.len() as f64;
    let low = partition_point(values.len(), |rank| binomial_tails(rank as f64 - 1.0, n, q).lower <= tail);
    let before_high = partition_point(values.len(), |rank| binomial_tails(rank as f64 - 1.0, n, q).upper > tail);
    let value = linear_quantile(&sorted, q);
    let low = low.checked_sub(1).map(|ix| sorted[ix]);
    Some(QuantileInterval { value, low, high: sorted.get(before_high).copied() })
}

/// How many of the ranks 1 to n a condition holds for, which holds for none after the first that it does not hold for.
fn partition_point(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle + 1) { low = middle + 1 } else { high = middle }
    }
    low
}

/// A quantile of sorted values, between the two nearest ones.
pub(super) fn linear_quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor();
    let (low, share) = (sorted[below as usize], at - below);
    let high = sorted[(below as usize + 1).min(sorted.len() - 1)];
    if share == 0.0 { low } else { low + (high - low) * share }
}
