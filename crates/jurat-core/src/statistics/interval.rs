//! The interval that a share lies in, as far as the counts show.

/// A range of shares, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// How far its ends lie apart.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// The 97.5 % quantile of the normal distribution: 95 % lie between it and its negative.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a pass rate by Wilson's score method; `None` when nothing was judged.
///
/// It never leaves 0 to 1 and says something for 0 and for all passed, where the textbook interval has no width: after 10 of
/// 10, a rate of 0.72 would still be no surprise.
///
/// It takes judgements for independent. Those of one case that is asked several times are not quite, so for them the true
/// interval is wider.
///
/// ```
/// use jurat_core::statistics::wilson;
///
/// let interval = wilson(8, 10).unwrap();
/// assert_eq!(format!("{:.4} to {:.4}", interval.low, interval.high), "0.4902 to 0.9433");
/// assert_eq!(wilson(0, 0), None);
/// ```
pub fn wilson(passed: u64, judged: u64) -> Option<Interval> {
    if judged == 0 || passed > judged {
        return None;
    }
    let n = judged as f64;
    let rate = passed as f64 / n;
    let shrink = 1.0 + Z * Z / n;
    let middle = (rate + Z * Z / (2.0 * n)) / shrink;
    let reach = Z / shrink * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    // In exact arithmetic the rate lies inside, and nothing is below 0 or above 1; rounding may disagree in the last place.
    Some(Interval { low: (middle - reach).clamp(0.0, rate), high: (middle + reach).clamp(rate, 1.0) })
}
