//! How much data a question needs, and what the data at hand could have shown.
//!
//! `alpha` is the two-sided level of a test, `power` the probability of showing what is there. A discordance is the share of pairs that differ.

use super::confidence::Confidence;
use super::paired::{Pairs, mcnemar};
use super::special::{binomial_point, binomial_tails, normal_quantile};

/// More rows than this are not worth naming: the question is not one that more rows decide.
pub const MOST_ROWS: u64 = 1_000_000;

/// The smallest difference of paired rates that a test of this many pairs shows with the given power. `None` when even all discordant pairs going one way
/// would not do.
///
/// ```
/// use jurat_core::statistics::mde_paired;
///
/// assert_eq!(format!("{:.4}", mde_paired(100, 0.2, 0.05, 0.8).unwrap()), "0.1238");
/// assert_eq!(mde_paired(20, 0.05, 0.05, 0.8), None);
/// ```
pub fn mde_paired(pairs: u64, discordance: f64, alpha: f64, power: f64) -> Option<f64> {
    let (n, z_alpha, z_beta) = (pairs as f64, z_two_sided(alpha), normal_quantile(power));
    // √n δ = z_α √ψ + z_β √(ψ − δ²), which is a quadratic in δ.
    let root = n - z_alpha * z_alpha + z_beta * z_beta;
    if pairs == 0 || root < 0.0 {
        return None;
    }
    let difference = discordance.sqrt() * (n.sqrt() * z_alpha + z_beta * root.sqrt()) / (n + z_beta * z_beta);
    (difference <= discordance).then_some(difference)
}

/// The number of pairs with which a difference is shown with the given power. `None` for no difference, and for one larger than the discordance.
///
/// ```
/// use jurat_core::statistics::pairs_needed;
///
/// assert_eq!(pairs_needed(0.05, 0.2, 0.05, 0.8), Some(626));
/// ```
pub fn pairs_needed(difference: f64, discordance: f64, alpha: f64, power: f64) -> Option<u64> {
    let size = difference.abs();
    if size == 0.0 || size > discordance {
        return None;
    }
    let (z_alpha, z_beta) = (z_two_sided(alpha), normal_quantile(power));
    let root = (z_alpha * discordance.sqrt() + z_beta * (discordance - size * size).sqrt()) / size;
    whole(root * root)
}

/// The probability that McNemar's test (mid-p) shows a difference, counted over all tables. `None` for a difference larger than the discordance.
///
/// ```
/// use jurat_core::statistics::power_paired;
///
/// assert_eq!(format!("{:.4}", power_paired(100, 0.2, 0.1, 0.05).unwrap()), "0.6177");
/// ```
pub fn power_paired(pairs: u64, discordance: f64, difference: f64, alpha: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&discordance) || difference.abs() > discordance {
        return None;
    }
    if discordance == 0.0 {
        return Some(0.0);
    }
    let to_new = f64::midpoint(1.0, difference / discordance);
    let mut power = 0.0;
    let mut rejected = 0;
    for flips in 0..=pairs {
        // The number of tables that are rejected on either side grows by at most one with each flip.
        while rejected <= flips / 2 && mcnemar(rejected, flips - rejected).mid_p <= alpha {
            rejected += 1;
        }
        if rejected > 0 {
            let (few, n) = (rejected as f64 - 1.0, flips as f64);
            let shown = binomial_tails(few, n, to_new).lower + binomial_tails(n - few - 1.0, n, to_new).upper;
            power += shown * binomial_point(flips as f64, pairs as f64, discordance);
        }
    }
    Some(power.min(1.0))
}

/// The number of pairs with which "not worse by `margin`" is shown with the given power, when the true difference is `difference`. `None` when that difference is
/// at the margin or beyond it.
pub fn pairs_needed_not_worse(
    margin: f64,
    difference: f64,
    discordance: f64,
    confidence: Confidence,
    power: f64,
) -> Option<u64> {
    let gap = margin + difference;
    if gap <= EDGE || difference.abs() > discordance {
        return None;
    }
    one_sided_rows(gap, discordance - difference * difference, confidence, power)
}

/// Differences closer than this are rounding.
const EDGE: f64 = 1e-12;

/// ((z + z) / gap)² times a variance.
fn one_sided_rows(gap: f64, variance: f64, confidence: Confidence, power: f64) -> Option<u64> {
    let root = (normal_quantile(confidence.level()) + normal_quantile(power)) / gap;
    whole(root * root * variance)
}

/// How many rows a test of a rate against a threshold takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsNeeded {
    pub rows: u64,
    /// How many of them must pass.
    pub passes: u64,
}

/// The least number of rows with which the exact one-sided test shows a rate above `threshold` with the given power, when the true rate is `expected`. `None` when
/// `expected` is not above the threshold, or a million rows would not do.
///
/// ```
/// use jurat_core::statistics::{Confidence, RowsNeeded, rows_needed};
///
/// let needed = rows_needed(0.9, 0.95, Confidence::USUAL, 0.9);
/// assert_eq!(needed, Some(RowsNeeded { rows: 239, passes: 223 }));
/// ```
pub fn rows_needed(threshold: f64, expected: f64, confidence: Confidence, power: f64) -> Option<RowsNeeded> {
    if !(0.0 <= threshold && threshold < expected && expected <= 1.0) {
        return None;
    }
    let first = first_candidate(threshold, expected, confidence, power)?;
    let mut passes = least_passes(first, threshold, confidence.alpha());
    for rows in first..=MOST_ROWS {
        // With one row more, the same number of passes does, or one more.
        if at_least(passes, rows, threshold) > confidence.alpha() {
            passes += 1;
        }
        if passes <= rows && at_least(passes, rows, expected) >= power {
            return Some(RowsNeeded { rows, passes });
        }
    }
    None
}

/// The probability of at least k of n.
fn at_least(k: u64, n: u64, rate: f64) -> f64 {
    binomial_tails(k as f64 - 1.0, n as f64, rate).upper
}

/// Where the search begins: power rises in teeth, so the least number of rows lies below the approximation, but for large numbers not far below.
fn first_candidate(threshold: f64, expected: f64, confidence: Confidence, power: f64) -> Option<u64> {
    let spread = |rate: f64| (rate * (1.0 - rate)).sqrt();
    let reach = normal_quantile(confidence.level()) * spread(threshold) + normal_quantile(power) * spread(expected);
    let about = (reach / (expected - threshold)).powi(2);
    match about {
        it if it > 1.2 * MOST_ROWS as f64 => None,
        it if it > 20_000.0 => Some((0.9 * it) as u64),
        _ => Some(1),
    }
}

/// The least number of passes that is rarer than α at the threshold, found by halving.
fn least_passes(rows: u64, threshold: f64, alpha: f64) -> u64 {
    let (mut low, mut high) = (0, rows + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_least(middle, rows, threshold) <= alpha {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The smallest difference of means that n values with this standard deviation show with the given power. `None` without values.
pub fn mde_mean(n: u64, sd: f64, alpha: f64, power: f64) -> Option<f64> {
    (n > 0).then(|| (z_two_sided(alpha) + normal_quantile(power)) * sd / (n as f64).sqrt())
}

/// What more pairs would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MorePairs {
    /// Pairs in all.
    pub total: u64,
    /// How many of them are still to be judged.
    pub more: u64,
    pub towards: Towards,
}

/// Which way a condition would be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Towards {
    Pass,
    Fail,
}

impl Towards {
    /// How reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Towards::Pass => "pass",
            Towards::Fail => "fail",
        }
    }
}

/// How many pairs would decide "not worse by `margin`" with the given power, if the difference stays what it is. `None` when it is at the margin, or a
/// million pairs would not do: more rows do not decide that.
///
/// ```
/// use jurat_core::statistics::{Confidence, Pairs, more_pairs};
///
/// let pairs = Pairs { both: 182, only_base: 10, only_new: 8, neither: 0 };
/// let more = more_pairs(pairs, 0.05, Confidence::USUAL, 0.8).unwrap();
/// assert_eq!((more.total, more.more, more.towards.as_str()), (348, 148, "pass"));
/// ```
pub fn more_pairs(pairs: Pairs, margin: f64, confidence: Confidence, power: f64) -> Option<MorePairs> {
    let difference = pairs.difference()?;
    let n = pairs.n();
    let gap = difference + margin;
    if gap.abs() <= EDGE {
        return None;
    }
    // With no flip so far, up to three in n would be no surprise.
    let discordance = (pairs.discordant().max(3) as f64 / n as f64).min(1.0);
    let total = one_sided_rows(gap.abs(), discordance - difference * difference, confidence, power)?;
    let towards = if gap > 0.0 { Towards::Pass } else { Towards::Fail };
    (total <= MOST_ROWS).then_some(MorePairs { total, more: total.saturating_sub(n), towards })
}

fn z_two_sided(alpha: f64) -> f64 {
    -normal_quantile(alpha / 2.0)
}

/// A number of rows, rounded up; `None` where it is no number.
fn whole(rows: f64) -> Option<u64> {
    rows.is_finite().then(|| rows.ceil() as u64)
}
