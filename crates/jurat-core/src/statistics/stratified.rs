//! Samples that were drawn from several strata, each case standing for as many as its weight says.

use super::confidence::{Confidence, Side};
use super::interval::{Interval, wilson_of};
use super::mean::student_reach;
use super::sum::sum;

/// Units of one stratum that are alike in everything a statistic looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratumUnits {
    pub stratum: usize,
    /// How many cases each of them stands for.
    pub weight: f64,
    /// How many they are.
    pub n: u64,
}

/// The standard error of a statistic, and the degrees of freedom behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jackknife {
    pub se: f64,
    pub df: f64,
}

impl Jackknife {
    /// The interval around an estimate, between two bounds.
    pub fn interval(&self, estimate: f64, (least, most): (f64, f64), confidence: Confidence) -> Interval {
        Interval::around(estimate, student_reach(confidence, Side::Both, self.df) * self.se).cut(least, most)
    }
}

/// The standard error of a statistic from leaving out one unit at a time, within strata: the others of its stratum then count for it. The statistic is given the weight of each
/// group of units. `None` when a stratum has a single unit, or the statistic cannot be computed without one.
///
/// ```
/// use jurat_core::statistics::{StratumUnits, stratified_jackknife};
///
/// // The mean of 0, 0, 1, 1 in one stratum: the usual standard error.
/// let units = [StratumUnits { stratum: 0, weight: 1.0, n: 2 }; 2];
/// let mean = |weights: &[f64]| Some(weights[1] / (weights[0] + weights[1]));
/// let found = stratified_jackknife(&units, mean).unwrap();
/// assert_eq!(format!("{:.6}", found.se), format!("{:.6}", (0.25_f64 / 3.0).sqrt()));
/// ```
pub fn stratified_jackknife(units: &[StratumUnits], statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<Jackknife> {
    let n_strata = units.iter().map(|it| it.stratum + 1).max().unwrap_or(0);
    let mut sizes = vec![0_u64; n_strata];
    units.iter().for_each(|it| sizes[it.stratum] += it.n);
    let mut variance = 0.0;
    let mut df = 0.0;
    for (stratum, size) in sizes.iter().enumerate().filter(|it| *it.1 > 0) {
        variance += of_stratum(units, stratum, *size, &statistic)?;
        df += *size as f64 - 1.0;
    }
    // Taking a unit out and putting it back leaves rounding of this size.
    Some(Jackknife { se: if variance > 1e-24 { variance.sqrt() } else { 0.0 }, df: f64::max(df, 1.0) })
}

/// What the units of one stratum add to the variance.
fn of_stratum(
    units: &[StratumUnits],
    stratum: usize,
    size: u64,
    statistic: &impl Fn(&[f64]) -> Option<f64>,
) -> Option<f64> {
    if size < 2 {
        return None;
    }
    let n = size as f64;
    let scale = n / (n - 1.0);
    let mut without: Vec<(f64, f64)> = Vec::new();
    for (left_out, group) in units.iter().enumerate().filter(|it| it.1.stratum == stratum && it.1.n > 0) {
        let weight = |(ix, it): (usize, &StratumUnits)| {
            let n = if ix == left_out { it.n - 1 } else { it.n } as f64;
            n * it.weight * if it.stratum == stratum { scale } else { 1.0 }
        };
        let weights: Vec<f64> = units.iter().enumerate().map(weight).collect();
        without.push((group.n as f64, statistic(&weights)?));
    }
    let mean = sum(without.iter().map(|(n, value)| n * value)) / n;
    Some((n - 1.0) / n * sum(without.iter().map(|(n, value)| n * (value - mean).powi(2))))
}

/// Wilson's interval for counts that need not be whole, such as those that weighted cases are worth. `None` of nothing.
pub fn wilson_effective(share: f64, effective: f64, confidence: Confidence) -> Option<Interval> {
    (effective > 0.0).then(|| wilson_of(share * effective, effective, confidence.z()))
}
