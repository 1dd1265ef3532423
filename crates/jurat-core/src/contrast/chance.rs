//! Whether a repeated unit changed by chance.

use std::collections::BTreeMap;

use super::change::Change;
use crate::statistics::{Tally, fisher};

/// A change is probably no chance when its q is at most this.
pub(super) const LIKELY: f64 = 0.1;

/// Passed and judged in BASE, then in NEW.
type Tallies = [u32; 4];

/// Changes that are tested together.
#[derive(Debug, Clone, Default)]
pub struct ChangeTests {
    /// How many repeated units have the same tallies. There are few kinds, so a test for each unit is one for each kind.
    kinds: BTreeMap<Tallies, u64>,
}

/// The p value of each kind of change, and whether it is probably no chance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TestedChanges(BTreeMap<Tallies, (f64, bool)>);

impl ChangeTests {
    /// Adds a unit that changed: how often it passed and was judged in BASE, then in NEW. One that was judged once on each side is not tested.
    pub fn add(&mut self, tallies: [u32; 4]) {
        if tallies[1] > 1 || tallies[3] > 1 {
            *self.kinds.entry(tallies).or_default() += 1;
        }
    }

    /// Tests all of them by Benjamini and Hochberg's procedure over `n_units`. A unit that did not change has p = 1, which is the last of any order and
    /// changes no other q.
    pub fn finish(&self, n_units: u64) -> TestedChanges {
        let p = |it: &Tallies| {
            let tally = |passed: u32, judged: u32| Tally { passed: passed.into(), judged: judged.into() };
            fisher(tally(it[0], it[1]), tally(it[2], it[3]))
        };
        let mut family: Vec<(f64, Tallies, u64)> =
            self.kinds.iter().filter_map(|(it, n)| Some((p(it)?, *it, *n))).collect();
        family.sort_by(|one, other| one.0.total_cmp(&other.0));
        let n_changed: u64 = family.iter().map(|it| it.2).sum();
        let n = n_units.max(n_changed) as f64;
        let (mut rank, mut q) = (n_changed, 1.0_f64);
        let mut tested = BTreeMap::new();
        for (p, tallies, of_kind) in family.into_iter().rev() {
            q = q.min(p * n / rank as f64);
            rank -= of_kind;
            tested.insert(tallies, (p, q <= LIKELY));
        }
        TestedChanges(tested)
    }
}

impl TestedChanges {
    pub fn mark(&self, change: &mut Change) {
        if let Some((p, is_likely)) = self.0.get(&change.tallies()) {
            change.p = Some(*p);
            change.is_likely = *is_likely;
        }
    }
}
