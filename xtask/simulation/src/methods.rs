//! What other products compute, as their sources had it when we read them (`docs/statistics.md` names them).
//!
//! Where a product gives no interval at all, because nothing varies, it is taken for one without width at the estimate: the kindest reading.

use jurat_core::statistics::{Interval, Pairs, normal_quantile, student_quantile};

/// The quantile that a two-sided interval of 95 % reaches to.
pub fn z() -> f64 {
    normal_quantile(0.975)
}

fn around(middle: f64, reach: f64) -> Interval {
    Interval { low: middle - reach, high: middle + reach }
}

/// Whether an interval holds a value.
pub fn holds(interval: Interval, value: f64) -> bool {
    // The truth may be a bound itself, such as 0, and both were rounded.
    interval.low <= value + 1e-12 && value <= interval.high + 1e-12
}

/// Whether an interval of a difference lies to one side of 0.
pub fn excludes_zero(interval: Interval) -> bool {
    interval.low > 0.0 || interval.high < 0.0
}

/// The textbook interval of a rate (Wald's): what `stderr` times 1.96 gives.
pub fn wald_rate(passed: u64, judged: u64, z: f64) -> Interval {
    let rate = passed as f64 / judged as f64;
    around(rate, z * (rate * (1.0 - rate) / judged as f64).sqrt())
}

/// The textbook interval of a difference of paired rates (Wald's).
pub fn wald_paired(pairs: Pairs, z: f64) -> Interval {
    let n = pairs.n() as f64;
    let difference = pairs.difference().unwrap_or_default();
    around(difference, z * ((pairs.discordant() as f64 / n - difference * difference).max(0.0) / n).sqrt())
}

/// Student's interval of the differences of pairs.
pub fn student_paired(pairs: Pairs) -> Interval {
    let n = pairs.n() as f64;
    let difference = pairs.difference().unwrap_or_default();
    let variance = (pairs.discordant() as f64 - n * difference * difference).max(0.0) / (n - 1.0);
    around(difference, student_quantile(0.975, n - 1.0) * (variance / n).sqrt())
}

/// The interval of two rates as if they were of different cases.
pub fn unpaired(pairs: Pairs) -> Interval {
    let n = pairs.n() as f64;
    let rate = |passed: u64| passed as f64 / n;
    let (base, new) = (rate(pairs.both + pairs.only_base), rate(pairs.both + pairs.only_new));
    let variance = |rate: f64| rate * (1.0 - rate) / n;
    around(new - base, z() * (variance(base) + variance(new)).sqrt())
}

/// What a rule of another product says about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    Pass,
    Block,
    Inconclusive,
}

/// The rule of `NeMo` Evaluator's gate for a largest drop: no pair that differs passes, the difference as observed blocks, and what its `mde_estimate` (2.8 / √ of the
/// pairs that differ) calls too few is inconclusive.
pub fn nemo_gate(pairs: Pairs, largest_drop: f64) -> Says {
    let discordant = pairs.discordant();
    let drop = -pairs.difference().unwrap_or_default();
    match () {
        () if discordant == 0 => Says::Pass,
        () if drop > largest_drop => Says::Block,
        () if 2.8 / (discordant as f64).sqrt() > largest_drop => Says::Inconclusive,
        () => Says::Pass,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(both: u64, only_base: u64, only_new: u64, neither: u64) -> Pairs {
        Pairs { both, only_base, only_new, neither }
    }

    #[test]
    fn intervals_are_those_of_textbooks() {
        let shown = |it: Interval| format!("{:.4} {:.4}", it.low, it.high);
        assert_eq!(shown(wald_rate(8, 10, z())), "0.5521 1.0479");
        assert_eq!(shown(wald_paired(pairs(90, 3, 12, 15), z())), "0.0132 0.1368");
        assert_eq!(shown(student_paired(pairs(90, 3, 12, 15))), "0.0123 0.1377");
        assert_eq!(shown(unpaired(pairs(90, 3, 12, 15))), "-0.0233 0.1733");
        assert!(holds(wald_paired(pairs(20, 0, 0, 0), z()), 0.0));
    }

    #[test]
    fn the_gate_of_nemo_calls_almost_everything_inconclusive() {
        assert_eq!(nemo_gate(pairs(960, 20, 20, 0), 0.05), Says::Inconclusive);
        assert_eq!(nemo_gate(pairs(20, 0, 0, 0), 0.05), Says::Pass);
        assert_eq!(nemo_gate(pairs(90, 8, 2, 0), 0.05), Says::Block);
    }
}
