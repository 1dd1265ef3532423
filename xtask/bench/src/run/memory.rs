//! How much memory a run holds at its peak, and that it does not grow with the run.

use super::figure::{Figure, Reference, Target, Unit, grouped};
use crate::rounds::{most, spread};

/// The most, in megabytes.
const MOST_MB: f64 = 64.0;

/// The most of a large run, as a multiple of a small one's.
const MOST_GROWTH: f64 = 1.1;

/// The peaks of several runs of one size, in megabytes.
pub(super) struct Peaks<'r> {
    /// Records or calls.
    pub(super) n: u64,
    pub(super) rounds: &'r [f64],
}

/// Compares a large run with a small one. Of several runs the highest peak counts: none may be above the limit.
pub(super) fn figure(name: &str, small: &Peaks<'_>, large: &Peaks<'_>) -> Figure {
    let (peak, of_small) = (most(large.rounds), most(small.rounds));
    let reference = Reference {
        name: format!("at {}", grouped(small.n)),
        value: of_small,
        ratio: peak / of_small,
        noise: Some(spread(small.rounds)),
    };
    Figure::new(format!("peak memory: {name}, {}", grouped(large.n)), peak, Unit::Megabytes)
        .target(Target::AtMost(MOST_MB))
        .target(Target::Ratio(MOST_GROWTH))
        .reference(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_peak_counts() {
        let (small, large) = (Peaks { n: 1_000, rounds: &[20.0, 25.0] }, Peaks { n: 100_000, rounds: &[27.0, 30.0] });
        let figure = figure("judges", &small, &large);
        let reference = figure.reference.unwrap();
        assert_eq!((figure.name.as_str(), figure.reached), ("peak memory: judges, 100,000", 30.0));
        assert_eq!((reference.name.as_str(), reference.ratio, reference.noise), ("at 1,000", 1.2, Some(1.25)));
    }
}
