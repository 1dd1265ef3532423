//! How often a gate passes, fails and stays undecided with no change at all.

use std::collections::BTreeMap;
use std::path::Path;

use jurat_core::gate::{GateVerdict, Policy, Rehearsal};

use super::gate;
use crate::contrast::selection::Selection;
use crate::contrast::{CompareError, CompareOptions, ComparedSide};
use crate::view::RunView;

/// The most ways in which repetitions are split.
const MOST_SPLITS: usize = 200;

/// Splits the repetitions of a run into halves, compares each split with the rest, and says how often the gate passes with no change at all. `None` when there
/// are no repetitions to split.
pub fn rehearse(path: &Path, policy: &Policy, options: &CompareOptions) -> Result<Option<Rehearsal>, CompareError> {
    let view = RunView::open(path)?;
    let repeat = view.head().variants.iter().map(|it| it.replicate + 1).max().unwrap_or(1);
    if repeat < 2 {
        return Ok(None);
    }
    let mut rehearsal = Rehearsal::default();
    let mut failures: BTreeMap<String, u64> = BTreeMap::new();
    for half in halves(repeat, MOST_SPLITS) {
        let rest: Vec<u32> = (0..repeat).filter(|it| !half.contains(it)).collect();
        let side = |replicates: Vec<u32>| {
            let selection = Selection { replicates: Some(replicates), ..Selection::whole(view.head().id.clone()) };
            ComparedSide::open(path, &selection)
        };
        let report = gate(Some(&side(half)?), &side(rest)?, policy, options)?;
        rehearsal.splits += 1;
        *match report.verdict {
            GateVerdict::Pass => &mut rehearsal.passed,
            GateVerdict::Fail => &mut rehearsal.failed,
            GateVerdict::Undecided => &mut rehearsal.undecided,
        } += 1;
        for condition in report.conditions.iter().filter(|it| it.verdict == GateVerdict::Fail && !it.advisory) {
            *failures.entry(condition.id.clone()).or_default() += 1;
        }
    }
    rehearsal.failures = failures.into_iter().collect();
    Ok(Some(rehearsal))
}

/// The first halves of these numbers, in lexicographic order.
fn halves(n: u32, most: usize) -> Vec<Vec<u32>> {
    let size = (n / 2) as usize;
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut half: Vec<u32> = (0..size as u32).collect();
    while found.len() < most {
        found.push(half.clone());
        // The last number that can still grow; those behind it follow it.
        let Some(at) = (0..size).rev().find(|at| half[*at] < n - (size - at) as u32) else { break };
        half[at] += 1;
        for next in at + 1..size {
            half[next] = half[next - 1] + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_halved_in_every_way() {
        assert_eq!(halves(3, 9), [[0], [1], [2]]);
        assert_eq!(halves(4, 9), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(halves(20, 200).len(), 200);
    }
}
