//! The bounds of rates and differences, and how many rows would decide between them.

use std::collections::BTreeMap;

use jurat_core::contrast::Line;
use jurat_core::gate::Bounds;
use jurat_core::statistics::{
    Confidence, Interval, Side, Tally, beta_cdf, clopper_pearson, effective_rate, more_pairs, normal_quantile,
    rows_needed, student_two_sided, tango_test,
};

/// The power with which more rows would decide a condition.
const POWER: f64 = 0.8;

/// A pass rate with exact one-sided bounds.
pub(super) struct RateBounds {
    pub(super) rate: Option<f64>,
    pub(super) bounds: Bounds,
    pub(super) clusters: u64,
    /// How many passed of how many, as far as they are independent.
    effective: Option<(f64, f64)>,
}

impl RateBounds {
    pub(super) fn of(clusters: &BTreeMap<u32, Tally>, is_single: bool, confidence: Confidence) -> RateBounds {
        let tallies: Vec<Tally> = clusters.values().copied().filter(|it| it.judged > 0).collect();
        let all = tallies
            .iter()
            .fold(Tally::default(), |sum, it| Tally { passed: sum.passed + it.passed, judged: sum.judged + it.judged });
        let end = |side: Side| match is_single {
            true => clopper_pearson(all.passed as f64, all.judged as f64, confidence, side),
            false => effective_rate(&tallies, confidence, side).and_then(|it| it.interval),
        };
        let effective = match is_single {
            true => Some((all.passed as f64, all.judged as f64)),
            false => {
                let found = effective_rate(&tallies, confidence, Side::Both);
                found.and_then(|it| it.effective.map(|n| (it.rate * n, n)))
            }
        };
        RateBounds {
            rate: all.rate(),
            bounds: Bounds { low: end(Side::Lower).map(|it| it.low), high: end(Side::Upper).map(|it| it.high) },
            clusters: tallies.len() as u64,
            effective,
        }
    }

    /// How many independent judgements it is worth.
    pub(super) fn worth(&self) -> Option<f64> {
        self.effective.map(|it| it.1)
    }

    /// The probability of as few passes if the rate were the least that is wanted.
    pub(super) fn p_fail(&self, rate: f64) -> Option<f64> {
        let (passed, n) = self.effective?;
        Some(if passed >= n { 1.0 } else { 1.0 - beta_cdf(passed + 1.0, n - passed, rate) })
    }
}

/// The probability of a difference as small if it were at its bound.
pub(super) fn p_of_failing(line: &Line, bound: f64) -> Option<f64> {
    if let Some(table) = line.table {
        return tango_test(table, -bound).map(|it| 1.0 - it.p);
    }
    let (difference, se) = line.difference.zip(line.se.filter(|it| *it > 0.0))?;
    let t = (difference - bound) / se;
    let two_sided = student_two_sided(t, line.clusters.unwrap_or(line.pairs).saturating_sub(1).max(1) as f64);
    Some(if t < 0.0 { two_sided / 2.0 } else { 1.0 - two_sided / 2.0 })
}

/// How many rows would decide a rate; `None` when none would.
pub(super) fn rows_for_rate(value: f64, bound: f64, confidence: Confidence) -> Option<f64> {
    if value > bound {
        return rows_needed(bound, value, confidence, POWER).map(|it| it.rows as f64);
    }
    // That a rate is too low is shown by the mirrored test; its normal form is enough for a number of rows.
    let (c, p) = (normal_quantile(confidence.level()), normal_quantile(POWER));
    let gap = value - bound;
    let reach = c * (bound * (1.0 - bound)).sqrt() + p * (value * (1.0 - value)).sqrt();
    (gap.abs() > 1e-9).then(|| (reach / gap).powi(2))
}

/// How many pairs would decide a difference; `None` when none would.
pub(super) fn rows_for_difference(line: &Line, value: f64, bound: f64, confidence: Confidence) -> Option<f64> {
    if let Some(table) = line.table {
        return more_pairs(table, -bound, confidence, POWER).map(|it| it.total as f64);
    }
    let reach = normal_quantile(confidence.level()) + normal_quantile(POWER);
    let gap = value - bound;
    let variance = line.se.map(|se| se * se * line.pairs as f64)?;
    (gap.abs() > 1e-9).then(|| (reach / gap).powi(2) * variance)
}

/// The same from an interval.
pub(super) fn rows_for_interval(value: f64, bounds: Bounds, bound: f64, n: u64, confidence: Confidence) -> Option<f64> {
    let half = (bounds.high? - bounds.low?) / 2.0;
    let se = half / normal_quantile(confidence.level());
    let reach = normal_quantile(confidence.level()) + normal_quantile(POWER);
    let gap = value - bound;
    (gap.abs() > 1e-12).then(|| (reach * se / gap).powi(2) * n as f64)
}

pub(super) fn bounds_of(interval: Option<Interval>) -> Bounds {
    Bounds { low: interval.map(|it| it.low), high: interval.map(|it| it.high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_decide_a_rate_that_is_not_at_its_bound() {
        assert_eq!(rows_for_rate(0.9, 0.9, Confidence::USUAL), None);
        let needed = rows_for_rate(0.95, 0.9, Confidence::USUAL).expect("it is above");
        assert!((150.0..250.0).contains(&needed), "{needed}");
    }
}
