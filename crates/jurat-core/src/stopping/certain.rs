//! Verdicts that no result of the remaining rows could change.

use super::claim::{Range, Step};
use crate::gate::{Bounds, GateVerdict, Wants, condition_verdict};
use crate::statistics::{Confidence, Pairs, Side, clopper_pearson, paired_difference};

/// The test of all rows when the run is over, as far as it can be foreseen: where each row is a step that passes or fails.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// A pass rate: with at least `least_passed` rows of all it passes, with at most `most_failing` it fails; `None` where no number does.
    Rate { rows: u64, least_passed: Option<u64>, most_failing: Option<u64>, passed: u64, unknown: u64, seen: u64 },
    /// Paired rows, of which BASE is known.
    Pairs { bound: f64, wants: Wants, confidence: Confidence, rest: Rest, against: Pairs, favourable: Pairs },
}

/// What BASE has in the rows that are to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rest {
    pub passed: u64,
    pub failed: u64,
    pub unknown: u64,
}

impl Look {
    /// The look at a pass rate of this many rows. It is the exact one-sided test of a gate.
    pub fn at_rate(rows: u64, least: f64, confidence: Confidence) -> Look {
        let verdict = |passed: u64| {
            let end = |side| clopper_pearson(passed as f64, rows as f64, confidence, side);
            let bounds = Bounds { low: end(Side::Lower).map(|it| it.low), high: end(Side::Upper).map(|it| it.high) };
            condition_verdict(bounds, least, Wants::AtLeast)
        };
        let least_passed = first(rows, |it| verdict(it) == GateVerdict::Pass);
        let first_not_failing = first(rows, |it| verdict(it) != GateVerdict::Fail);
        let most_failing = first_not_failing.map_or(Some(rows), |it| it.checked_sub(1));
        Look::Rate { rows, least_passed, most_failing, passed: 0, unknown: 0, seen: 0 }
    }

    /// The look at a difference of paired rows.
    pub fn at_pairs(rest: Rest, bound: f64, wants: Wants, confidence: Confidence) -> Look {
        Look::Pairs { bound, wants, confidence, rest, against: Pairs::default(), favourable: Pairs::default() }
    }

    /// The verdict of the end, once it is certain. Steps pass or fail as a whole, or are not known.
    pub(super) fn add(&mut self, step: Step) -> Option<GateVerdict> {
        match (self, step) {
            (Look::Rate { rows, least_passed, most_failing, passed, unknown, seen }, Step::Share(share)) => {
                let ending = share.and_then(Range::passed);
                *seen += 1;
                *passed += u64::from(ending == Some(true));
                *unknown += u64::from(ending.is_none());
                let best = *passed + *unknown + rows.checked_sub(*seen)?;
                match () {
                    () if least_passed.is_some_and(|it| *passed >= it) => Some(GateVerdict::Pass),
                    () if most_failing.is_some_and(|it| best <= it) => Some(GateVerdict::Fail),
                    () => None,
                }
            }
            (Look::Pairs { bound, wants, confidence, rest, against, favourable }, Step::Pair { base, new }) => {
                let (base, new) = (base.and_then(Range::passed), new.and_then(Range::passed));
                rest.take(base)?;
                *against.cell(base.unwrap_or(true), new.unwrap_or(false)) += 1;
                *favourable.cell(base.unwrap_or(false), new.unwrap_or(true)) += 1;
                let verdict = |pairs: Pairs| {
                    let interval = paired_difference(pairs, confidence.two_sided()?)?.interval;
                    let bounds = Bounds { low: Some(interval.low), high: Some(interval.high) };
                    Some(condition_verdict(bounds, *bound, *wants))
                };
                let of = |pairs: Pairs, wanted: GateVerdict| (verdict(pairs) == Some(wanted)).then_some(wanted);
                of(rest.worst(*against), GateVerdict::Pass).or_else(|| of(rest.best(*favourable), GateVerdict::Fail))
            }
            _ => None,
        }
    }
}

/// The least number for which something holds that then holds for all larger ones.
fn first(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, most + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    (low <= most).then_some(low)
}

impl Rest {
    /// One of them is no longer to come.
    fn take(&mut self, base: Option<bool>) -> Option<()> {
        let of = match base {
            Some(true) => &mut self.passed,
            Some(false) => &mut self.failed,
            None => &mut self.unknown,
        };
        *of = of.checked_sub(1)?;
        Some(())
    }

    /// All of them fail in NEW.
    fn worst(self, pairs: Pairs) -> Pairs {
        Pairs { only_base: pairs.only_base + self.passed + self.unknown, neither: pairs.neither + self.failed, ..pairs }
    }

    /// All of them pass in NEW.
    fn best(self, pairs: Pairs) -> Pairs {
        Pairs { both: pairs.both + self.passed, only_new: pairs.only_new + self.failed + self.unknown, ..pairs }
    }
}

impl Pairs {
    fn cell(&mut self, base: bool, new: bool) -> &mut u64 {
        match (base, new) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_base,
            (false, true) => &mut self.only_new,
            (false, false) => &mut self.neither,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rate_is_certain_when_the_rest_cannot_change_it() {
        // Of 30 rows at least 30 must pass for 90 %, and 23 and fewer fail it.
        let mut look = Look::at_rate(30, 0.9, Confidence::USUAL);
        let Look::Rate { least_passed, most_failing, .. } = look else { unreachable!() };
        assert_eq!((least_passed, most_failing), (Some(30), Some(23)));
        let failed = Step::share(0.0);
        assert_eq!((0..6).find_map(|_| look.add(failed)), None);
        assert_eq!(look.add(failed), Some(GateVerdict::Fail));
    }

    proptest! {
        /// Whatever the remaining rows are, the look at the end agrees with what was certain before.
        #[test]
        fn what_is_certain_stays_so(rows in prop::collection::vec((any::<bool>(), any::<bool>()), 20..60), least in 0.3..0.95) {
            let mut rate = Look::at_rate(rows.len() as u64, least, Confidence::USUAL);
            let certain: Vec<GateVerdict> = rows.iter().filter_map(|it| rate.add(Step::share(f64::from(it.1)))).collect();
            let passed = rows.iter().filter(|it| it.1).count();
            let end = |side| clopper_pearson(passed as f64, rows.len() as f64, Confidence::USUAL, side);
            let bounds = Bounds { low: end(Side::Lower).map(|it| it.low), high: end(Side::Upper).map(|it| it.high) };
            let verdict = condition_verdict(bounds, least, Wants::AtLeast);
            prop_assert!(certain.iter().all(|it| *it == verdict), "{certain:?} {verdict:?}");

            let count = |wanted: bool| rows.iter().filter(|it| it.0 == wanted).count() as u64;
            let rest = Rest { passed: count(true), failed: count(false), unknown: 0 };
            let mut pairs = Look::at_pairs(rest, -0.3, Wants::AtLeast, Confidence::USUAL);
            let step = |it: &(bool, bool)| Step::pair(f64::from(it.0), f64::from(it.1));
            let certain: Vec<GateVerdict> = rows.iter().filter_map(|it| pairs.add(step(it))).collect();
            let mut table = Pairs::default();
            rows.iter().for_each(|it| *table.cell(it.0, it.1) += 1);
            let interval = paired_difference(table, Confidence::new(0.9).unwrap()).unwrap().interval;
            let bounds = Bounds { low: Some(interval.low), high: Some(interval.high) };
            let verdict = condition_verdict(bounds, -0.3, Wants::AtLeast);
            prop_assert!(certain.iter().all(|it| *it == verdict), "{certain:?} {verdict:?}");
        }
    }
}
