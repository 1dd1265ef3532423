//! A pass rate, estimated until it is known closely enough.

use super::claim::Range;
use super::monitor::LEAST_STEPS;
use crate::statistics::{Confidence, Interval, cs_share};

/// The pass rate of a run with its confidence sequence, row by row.
#[derive(Debug, Clone)]
pub struct Estimate {
    confidence: Confidence,
    passed: f64,
    unknown: f64,
    steps: u64,
}

impl Estimate {
    pub fn new(confidence: Confidence) -> Estimate {
        Estimate { confidence, passed: 0.0, unknown: 0.0, steps: 0 }
    }

    /// Takes in the share of a step that passed; `None` for one that ended in an error.
    pub fn add(&mut self, share: Option<Range>) {
        let Range { least, most } = share.unwrap_or(Range { least: 0.0, most: 1.0 });
        self.steps += 1;
        self.passed += least;
        self.unknown += most - least;
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many steps passed, where one may pass in part.
    pub fn passed(&self) -> f64 {
        self.passed
    }

    /// How many steps are not known.
    pub fn unknown(&self) -> f64 {
        self.unknown
    }

    /// The rate of what is known.
    pub fn rate(&self) -> Option<f64> {
        let known = self.steps as f64 - self.unknown;
        (known > 0.0).then(|| self.passed / known)
    }

    /// The confidence sequence; what is not known may be either.
    pub fn sequence(&self) -> Option<Interval> {
        let (n, most) = (self.steps as f64, self.passed + self.unknown);
        let low = cs_share(self.passed, n - self.passed, self.confidence).low;
        let high = cs_share(most, n - most, self.confidence).high;
        (self.steps > 0).then_some(Interval { low, high })
    }

    /// Whether the sequence is at most this wide on either side of the rate.
    pub fn is_within(&self, width: f64) -> bool {
        let found = self.rate().zip(self.sequence()).filter(|_| self.steps >= LEAST_STEPS);
        found.is_some_and(|(rate, it)| rate - it.low <= width && it.high - rate <= width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_known_after_enough_rows() {
        let rows = |width: f64| {
            let mut estimate = Estimate::new(Confidence::USUAL);
            (0..).find(|row| {
                estimate.add(Some(Range::known(f64::from(row % 10 != 0))));
                estimate.is_within(width)
            })
        };
        let (wide, narrow) = (rows(0.1).expect("it ends"), rows(0.05).expect("it ends"));
        assert!((60..200).contains(&wide) && (3 * wide..6 * wide).contains(&narrow), "{wide} {narrow}");
    }

    #[test]
    fn what_is_not_known_widens_the_sequence() {
        let mut estimate = Estimate::new(Confidence::USUAL);
        (0..1000).for_each(|_| estimate.add(Some(Range::known(1.0))));
        assert!(estimate.is_within(0.02));
        (0..50).for_each(|_| estimate.add(None));
        assert_eq!((estimate.rate(), estimate.unknown(), estimate.is_within(0.02)), (Some(1.0), 50.0, false));
    }
}
