//! How certain an interval is asked to be.

use super::special::normal_quantile;

/// The share of intervals that hold what they are about: a number strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %, which every report uses where nothing else was asked for.
    pub const USUAL: Confidence = Confidence(0.95);

    /// `None` for a level that is not strictly between 0 and 1.
    ///
    /// ```
    /// use jurat_core::statistics::Confidence;
    ///
    /// assert_eq!(Confidence::new(0.95), Some(Confidence::USUAL));
    /// assert_eq!(Confidence::new(95.0), None);
    /// ```
    pub fn new(level: f64) -> Option<Confidence> {
        (level > 0.0 && level < 1.0).then_some(Confidence(level))
    }

    /// The level itself, such as 0.95.
    pub fn level(self) -> f64 {
        self.0
    }

    /// The risk of being wrong: 1 − level.
    pub fn alpha(self) -> f64 {
        1.0 - self.0
    }

    /// The two-sided confidence whose interval has the bounds that are valid one by one at this level: 2 · level − 1. A gate promises one bound, so
    /// its interval at 95 % is the two-sided one at 90 %. `None` up to one half, where a one-sided bound promises nothing.
    pub fn two_sided(self) -> Option<Confidence> {
        Confidence::new(2.0 * self.0 - 1.0)
    }

    /// The probability in the tail beyond one bound.
    pub(super) fn tail(self, side: Side) -> f64 {
        match side {
            Side::Both => self.alpha() / 2.0,
            Side::Lower | Side::Upper => self.alpha(),
        }
    }

    /// The quantile of the normal distribution that a two-sided interval reaches to.
    pub(super) fn z(self) -> f64 {
        -normal_quantile(self.tail(Side::Both))
    }
}

/// Which ends of an interval carry the risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Half of it on either end.
    Both,
    /// All of it below: the other end is the largest value there is.
    Lower,
    /// All of it above: the other end is the smallest value there is.
    Upper,
}
