//! Three or more sides in order.

use super::line::Line;
use crate::statistics::{Confidence, holm, tiers};

/// Two sides of several, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct SidePair {
    /// Their places among the sides.
    pub base: usize,
    pub new: usize,
    pub line: Line,
    /// p, adjusted for all pairs of sides.
    pub p_adjusted: Option<f64>,
}

/// Several sides in the order of their rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// All pairs of sides.
    pub pairs: Vec<SidePair>,
    /// Places of sides, best first. A tier ends before the first side that is shown to differ from its leader.
    pub tiers: Vec<Vec<usize>>,
}

/// Puts sides in order by their rates and by the comparison of each pair of them.
pub fn rank(rates: &[Option<f64>], mut pairs: Vec<SidePair>, confidence: Confidence) -> Ranking {
    let p: Vec<f64> = pairs.iter().filter_map(|it| it.line.p).collect();
    let mut adjusted = holm(&p).into_iter();
    for pair in pairs.iter_mut().filter(|it| it.line.p.is_some()) {
        pair.p_adjusted = adjusted.next();
    }
    let of_pair = |one: usize, other: usize| {
        let is_of = |it: &&SidePair| (it.base, it.new) == (one, other) || (it.base, it.new) == (other, one);
        pairs.iter().find(is_of).and_then(|it| it.line.p).unwrap_or(1.0)
    };
    let n = rates.len();
    let p: Vec<f64> =
        (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))).map(|(a, b)| of_pair(a, b)).collect();
    let rates: Vec<f64> = rates.iter().map(|it| it.unwrap_or(0.0)).collect();
    let tiers = tiers(&rates, &p, confidence.alpha()).unwrap_or_default();
    Ranking { pairs, tiers }
}
