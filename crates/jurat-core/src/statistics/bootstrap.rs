//! Intervals from replicates that the caller made.

use super::confidence::{Confidence, Side};
use super::interval::Interval;
use super::order::linear_quantile;
use super::special::{normal_quantile, normal_sf};
use super::sum::{mean, sum};

/// The bias-corrected and accelerated interval of Efron, for statistics of users' own: from their estimate, replicates of it, and what it is when one value at a time is left out. `None`
/// where it is undefined, as when nothing varies.
///
/// Nothing in jurat's own reports uses it, because replicates are drawn at random.
pub fn bca(estimate: f64, replicates: &[f64], jackknife: &[f64], confidence: Confidence) -> Option<Interval> {
    let below = replicates.iter().filter(|it| **it < estimate).count() as f64;
    let equal = replicates.iter().filter(|it| **it == estimate).count() as f64;
    let bias = normal_quantile((below + equal / 2.0) / replicates.len() as f64);
    let acceleration = acceleration(jackknife)?;
    let mut sorted = replicates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let end = |tail: f64| {
        let reach = bias + normal_quantile(tail);
        let share = normal_sf(-(bias + reach / (1.0 - acceleration * reach)));
        share.is_finite().then(|| linear_quantile(&sorted, share))
    };
    let tail = confidence.tail(Side::Both);
    if !bias.is_finite() {
        return None;
    }
    Some(Interval { low: end(tail)?, high: end(1.0 - tail)? })
}

/// How fast the standard error changes with the estimate.
fn acceleration(jackknife: &[f64]) -> Option<f64> {
    let middle = mean(jackknife)?;
    let squares = sum(jackknife.iter().map(|it| (middle - it).powi(2)));
    let cubes = sum(jackknife.iter().map(|it| (middle - it).powi(3)));
    (squares > 0.0).then(|| cubes / (6.0 * squares.powf(1.5)))
}
