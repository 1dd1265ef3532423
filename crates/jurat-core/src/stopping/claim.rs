//! What is to be shown, and the bets on it.

use crate::statistics::{Beyond, Confidence, Interval, MeanBets, PairedBets, RateEvidence, cs_mean, cs_share, e_share};

/// What is to be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// The pass rate is at least `least`. `expected` is what it is thought to be; three quarters of each bet are on it.
    Rate { least: f64, expected: Option<f64> },
    /// The mean of paired differences, each between −1 and 1, is beyond `bound`. It is thought to be `gain` above it.
    Difference { bound: f64, gain: f64 },
    /// The same for scores, whose differences lie between −`span` and `span`.
    Score { bound: f64, gain: f64, span: f64 },
}

impl Claim {
    /// NEW is at most `margin` worse than BASE, and thought to be as good.
    pub fn not_worse(margin: f64) -> Claim {
        Claim::Difference { bound: -margin, gain: margin }
    }

    /// NEW is more than `least` better than BASE, and thought to be `gain` better than that.
    pub fn better(least: f64, gain: f64) -> Claim {
        Claim::Difference { bound: least, gain }
    }

    /// The bound itself.
    pub fn bound(&self) -> f64 {
        match self {
            Claim::Rate { least, .. } => *least,
            Claim::Difference { bound, .. } | Claim::Score { bound, .. } => *bound,
        }
    }
}

/// A value that is known, or between which it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub least: f64,
    pub most: f64,
}

impl Range {
    pub fn known(value: f64) -> Range {
        Range { least: value, most: value }
    }

    /// Whether it is known to have passed or failed as a whole, or is not known at all.
    fn is_whole(self) -> bool {
        let is_end = |it: f64| it <= 0.0 || it >= 1.0;
        is_end(self.least) && is_end(self.most)
    }

    /// Whether it passed; `None` where that is not known.
    pub(super) fn passed(self) -> Option<bool> {
        (self.least == self.most).then_some(self.least >= 1.0)
    }
}

/// One step of a run: a row with all its tasks and repetitions, or a cluster of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The share of it that passed; `None` where it ended in an error.
    Share(Option<Range>),
    /// The shares that passed on both sides, or their scores.
    Pair { base: Option<Range>, new: Option<Range> },
}

impl Step {
    /// A step whose share of passes is known: 0 or 1 for a row that was run once.
    pub fn share(value: f64) -> Step {
        Step::Share(Some(Range::known(value)))
    }

    /// A step that is known on both sides.
    pub fn pair(base: f64, new: f64) -> Step {
        Step::Pair { base: Some(Range::known(base)), new: Some(Range::known(new)) }
    }

    /// Whether it passed neither as a whole nor not at all.
    pub(super) fn is_partial(self) -> bool {
        let is_between = |it: Option<Range>| it.is_some_and(|it| !it.is_whole());
        match self {
            Step::Share(share) => is_between(share),
            Step::Pair { base, new } => is_between(base) || is_between(new),
        }
    }

    /// Its value in the evidence for passing and in that for failing: what is not known counts against what would be shown.
    fn values(self, span: f64) -> (f64, f64) {
        match self {
            Step::Share(Some(share)) => (share.least, share.most),
            Step::Share(None) => (0.0, 1.0),
            Step::Pair { base: Some(base), new: Some(new) } => (new.least - base.most, new.most - base.least),
            Step::Pair { .. } => (-span, span),
        }
    }
}

/// Natural logarithms of the evidence about a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    pub ln_pass: f64,
    pub ln_fail: f64,
    /// That what was expected is not so; `None` where nothing was expected.
    pub ln_hopeless: Option<f64>,
}

/// The bets on a claim, step by step.
#[derive(Debug, Clone)]
pub(super) enum Bets {
    Rate { least: f64, expected: Option<f64>, passed: f64, unknown: f64, n: f64 },
    Pairs { pass: PairedBets, fail: PairedBets, hopeless: PairedBets, seen: Seen },
    Scores { pass: MeanBets, fail: MeanBets, hopeless: MeanBets, span: f64, seen: Seen },
}

/// Differences as shares of all there can be: (d + 1) / 2, once with what is not known against NEW and once for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    against: Vec<f64>,
    favourable: Vec<f64>,
}

impl Seen {
    fn add(&mut self, (against, favourable): (f64, f64)) {
        self.against.push(f64::midpoint(against, 1.0));
        self.favourable.push(f64::midpoint(favourable, 1.0));
    }

    fn sequence(&self, confidence: Confidence) -> Option<Interval> {
        let (low, high) = (cs_mean(&self.against, confidence)?.low, cs_mean(&self.favourable, confidence)?.high);
        Some(Interval { low: 2.0 * low - 1.0, high: 2.0 * high - 1.0 })
    }
}

impl Bets {
    pub(super) fn on(claim: Claim) -> Bets {
        match claim {
            Claim::Rate { least, expected } => Bets::Rate { least, expected, passed: 0.0, unknown: 0.0, n: 0.0 },
            Claim::Difference { bound, gain } => Bets::Pairs {
                pass: PairedBets::new(bound, bound + gain),
                fail: PairedBets::new(bound, bound - gain),
                hopeless: PairedBets::new(bound + gain, bound),
                seen: Seen::default(),
            },
            Claim::Score { bound, gain, span } => {
                let share = |it: f64| f64::midpoint(it / span, 1.0).clamp(LEAST_NULL, 1.0 - LEAST_NULL);
                Bets::Scores {
                    pass: MeanBets::new(share(bound), Beyond::Above),
                    fail: MeanBets::new(share(bound), Beyond::Below),
                    hopeless: MeanBets::new(share(bound + gain), Beyond::Below),
                    span,
                    seen: Seen::default(),
                }
            }
        }
    }

    /// The evidence with one step more; `None` for a threshold that no evidence speaks about: 0 and 1.
    pub(super) fn add(&mut self, step: Step) -> Option<Evidence> {
        match self {
            Bets::Rate { least, expected, passed, unknown, n } => {
                let (against, favourable) = step.values(1.0);
                *passed += against;
                *unknown += favourable - against;
                *n += 1.0;
                let of = |passed: f64| e_share(passed, *n - passed, *least, *expected);
                let RateEvidence { ln_above, .. } = of(*passed)?;
                let RateEvidence { ln_below, ln_hopeless, .. } = of(*passed + *unknown)?;
                Some(Evidence { ln_pass: ln_above, ln_fail: ln_below, ln_hopeless })
            }
            Bets::Pairs { pass, fail, hopeless, seen } => {
                let (against, favourable) = step.values(1.0);
                seen.add((against, favourable));
                Some(Evidence {
                    ln_pass: pass.add(against),
                    ln_fail: fail.add(favourable),
                    ln_hopeless: Some(hopeless.add(favourable)),
                })
            }
            Bets::Scores { pass, fail, hopeless, span, seen } => {
                let (against, favourable) = step.values(*span);
                let within = |it: f64| (it / *span).clamp(-1.0, 1.0);
                let (against, favourable) = (within(against), within(favourable));
                seen.add((against, favourable));
                let share = |it: f64| f64::midpoint(it, 1.0);
                Some(Evidence {
                    ln_pass: pass.add(share(against)),
                    ln_fail: fail.add(share(favourable)),
                    ln_hopeless: Some(hopeless.add(share(favourable))),
                })
            }
        }
    }

    /// The confidence sequence of what the claim is about: it holds at every time at once.
    pub(super) fn sequence(&self, confidence: Confidence) -> Option<Interval> {
        match self {
            Bets::Rate { passed, unknown, n, .. } => {
                let low = cs_share(*passed, n - passed, confidence).low;
                let high = cs_share(passed + unknown, n - passed - unknown, confidence).high;
                (*n > 0.0).then_some(Interval { low, high })
            }
            Bets::Pairs { seen, .. } => seen.sequence(confidence),
            Bets::Scores { seen, span, .. } => {
                let Interval { low, high } = seen.sequence(confidence)?;
                Some(Interval { low: low * span, high: high * span })
            }
        }
    }
}

/// A bound at the very end of a scale leaves nothing to bet on.
const LEAST_NULL: f64 = 1e-9;
