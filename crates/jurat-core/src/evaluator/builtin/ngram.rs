//! Runs of tokens, counted.

use std::collections::HashMap;
use std::hash::Hash;

/// How often each run of `n` tokens comes.
pub(super) fn counts<T: Eq + Hash>(tokens: &[T], n: usize) -> HashMap<&[T], usize> {
    let mut counts = HashMap::new();
    // An order of zero has no runs.
    for run in tokens.windows(n.max(1)).filter(|_| n > 0) {
        *counts.entry(run).or_insert(0) += 1;
    }
    counts
}

/// How many runs two texts share, each as often as it comes in both.
pub(super) fn shared<T: Eq + Hash>(left: &HashMap<&[T], usize>, right: &HashMap<&[T], usize>) -> usize {
    left.iter().map(|(run, n)| right.get(run).map_or(0, |it| *n.min(it))).sum()
}

/// The harmonic mean of precision and recall; zero when both are.
pub(super) fn f_measure(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// A share, zero of nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
