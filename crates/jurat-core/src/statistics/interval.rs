//! The interval that a share lies in, as far as the counts show.

use super::confidence::{Confidence, Side};
use super::special::beta_quantile;

/// A range, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// How far its ends lie apart.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// A range around a middle, as far on either side.
    pub(super) fn around(middle: f64, reach: f64) -> Interval {
        Interval { low: middle - reach, high: middle + reach }
    }

    /// The part of the range between two bounds.
    pub(crate) fn cut(self, low: f64, high: f64) -> Interval {
        Interval { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }
}

/// The interval of a pass rate by Wilson's score method; `None` when nothing was judged.
///
/// It never leaves 0 to 1 and says something for 0 and for all passed, where the textbook interval has no width: after 10 of
/// 10, a rate of 0.72 would still be no surprise.
///
/// It takes judgements for independent. Those of one case that is asked several times are not: `effective_rate` is for them.
///
/// ```
/// use jurat_core::statistics::{Confidence, wilson};
///
/// let interval = wilson(8, 10, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.4} to {:.4}", interval.low, interval.high), "0.4902 to 0.9433");
/// assert_eq!(wilson(0, 0, Confidence::USUAL), None);
/// ```
pub fn wilson(passed: u64, judged: u64, confidence: Confidence) -> Option<Interval> {
    (judged > 0 && passed <= judged).then(|| wilson_of(passed as f64, judged as f64, confidence.z()))
}

/// The same for counts that need not be whole, such as weighted ones.
pub(super) fn wilson_of(passed: f64, judged: f64, z: f64) -> Interval {
    let rate = passed / judged;
    let square = z * z;
    let shrink = 1.0 + square / judged;
    let middle = (rate + square / (2.0 * judged)) / shrink;
    let reach = z / shrink * (rate * (1.0 - rate) / judged + square / (4.0 * judged * judged)).sqrt();
    // In exact arithmetic the rate lies inside, and nothing is below 0 or above 1; rounding may disagree in the last place.
    let low = if passed == 0.0 { 0.0 } else { (middle - reach).clamp(0.0, rate) };
    let high = if passed == judged { 1.0 } else { (middle + reach).clamp(rate, 1.0) };
    Interval { low, high }
}

/// The interval of a pass rate by the exact method of Clopper and Pearson, for counts that need not be whole; `None` when nothing was judged.
///
/// A gate promises an error rate, and this interval never breaks the promise: of systems that sit at a threshold of 0.9, with 100
/// cases, Wilson's lower bound lets 5.8 % through, this one 2.4 %.
///
/// ```
/// use jurat_core::statistics::{Confidence, Side, clopper_pearson};
///
/// let interval = clopper_pearson(279.0, 300.0, Confidence::USUAL, Side::Lower).unwrap();
/// assert_eq!(format!("{:.4} to {}", interval.low, interval.high), "0.9008 to 1");
/// ```
pub fn clopper_pearson(passed: f64, judged: f64, confidence: Confidence, side: Side) -> Option<Interval> {
    if !(judged > 0.0 && (0.0..=judged).contains(&passed)) {
        return None;
    }
    let (failed, tail) = (judged - passed, confidence.tail(side));
    let low = if passed > 0.0 { beta_quantile(passed, failed + 1.0, tail) } else { 0.0 };
    // The bound of the failures, mirrored: its quantile is in a lower tail, which has all the digits.
    let high = if failed > 0.0 { 1.0 - beta_quantile(failed, passed + 1.0, tail) } else { 1.0 };
    Some(match side {
        Side::Both => Interval { low, high },
        Side::Lower => Interval { low, high: 1.0 },
        Side::Upper => Interval { low: 0.0, high },
    })
}
