//! The interval that a mean lies in.

use super::confidence::{Confidence, Side};
use super::interval::Interval;
use super::special::student_quantile;

/// The interval of a mean by Student's method, from how many numbers there are, their mean and their variance (that of a sample); `None` for
/// fewer than two, which say nothing about how far numbers lie apart.
///
/// ```
/// use jurat_core::statistics::{Confidence, mean_interval};
///
/// let interval = mean_interval(5, 7.0, 2.5, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.2} to {:.2}", interval.low, interval.high), "5.04 to 8.96");
/// assert_eq!(mean_interval(1, 7.0, 0.0, Confidence::USUAL), None);
/// ```
pub fn mean_interval(n: u64, mean: f64, variance: f64, confidence: Confidence) -> Option<Interval> {
    if n < 2 {
        return None;
    }
    let se = (variance.max(0.0) / n as f64).sqrt();
    Some(Interval::around(mean, student_reach(confidence, Side::Both, (n - 1) as f64) * se))
}

/// How many standard errors an interval of Student's distribution reaches.
pub(super) fn student_reach(confidence: Confidence, side: Side, df: f64) -> f64 {
    -student_quantile(confidence.tail(side), df)
}
