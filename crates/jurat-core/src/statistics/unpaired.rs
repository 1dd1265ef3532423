//! Two sides that judged different cases.

use super::confidence::Confidence;
use super::interval::Interval;
use super::paired::{Difference, Reach};
use super::sum::ExactSum;

/// What passed of what was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tally {
    pub passed: u64,
    pub judged: u64,
}

impl Tally {
    /// The share that passed; `None` when nothing was judged.
    pub fn rate(&self) -> Option<f64> {
        (self.judged > 0 && self.passed <= self.judged).then(|| self.passed as f64 / self.judged as f64)
    }
}

/// Newcombe's interval for a difference of independent rates (1998): Wilson's intervals of both, joined.
pub fn newcombe_unpaired(base: Tally, new: Tally, confidence: Confidence) -> Option<Difference> {
    let difference = new.rate()? - base.rate()?;
    let reach = |it: Tally| Reach::of(it.passed as f64, it.judged as f64, confidence.z());
    let (base, new) = (reach(base), reach(new));
    let interval = Interval { low: difference - new.down.hypot(base.up), high: difference + new.up.hypot(base.down) };
    Some(Difference { difference, interval })
}

/// Fisher's exact test of equal rates, two-sided: the probability of all tables with these margins that are at most as likely as the observed
/// one. `None` for impossible counts; 1 when a side judged nothing.
///
/// ```
/// use jurat_core::statistics::{Tally, fisher};
///
/// let p = fisher(Tally { passed: 5, judged: 5 }, Tally { passed: 0, judged: 5 }).unwrap();
/// assert_eq!(format!("{p:.6}"), "0.007937");
/// ```
pub fn fisher(base: Tally, new: Tally) -> Option<f64> {
    if base.passed > base.judged || new.passed > new.judged {
        return None;
    }
    let margins = Margins { base: base.judged, new: new.judged, passed: base.passed + new.passed };
    let observed = margins.weight(base.passed);
    // Tables that are equally likely must count as such although their weights were reached by different products.
    let limit = observed * (1.0 + 1e-10);
    let (mut all, mut extreme) = (ExactSum::default(), ExactSum::default());
    margins.each_weight(|_, weight| {
        all.add(weight);
        if weight <= limit {
            extreme.add(weight);
        }
    });
    Some((extreme.value() / all.value()).min(1.0))
}

/// What all tables share: how many were judged on either side, and how many passed in all.
struct Margins {
    base: u64,
    new: u64,
    passed: u64,
}

impl Margins {
    fn least(&self) -> u64 {
        self.passed.saturating_sub(self.new)
    }

    fn most(&self) -> u64 {
        self.passed.min(self.base)
    }

    /// The commonest number of passes in BASE.
    fn mode(&self) -> u64 {
        let product = u128::from(self.passed + 1) * u128::from(self.base + 1);
        let mode = product / u128::from(self.base + self.new + 2);
        u64::try_from(mode).unwrap_or(u64::MAX).clamp(self.least(), self.most())
    }

    /// How much likelier x + 1 passes in BASE are than x.
    fn growth(&self, x: u64) -> f64 {
        let x = x as f64;
        let (base, new, passed) = (self.base as f64, self.new as f64, self.passed as f64);
        (base - x) * (passed - x) / ((x + 1.0) * (new - passed + x + 1.0))
    }

    /// Each number of passes in BASE with its weight, where the commonest weighs 1. Outward from there, so that the far tables get small rather
    /// than the near ones infinite.
    fn each_weight(&self, mut take: impl FnMut(u64, f64)) {
        let mode = self.mode();
        take(mode, 1.0);
        let mut weight = 1.0;
        for x in mode..self.most() {
            weight *= self.growth(x);
            take(x + 1, weight);
        }
        weight = 1.0;
        for x in (self.least()..mode).rev() {
            weight /= self.growth(x);
            take(x, weight);
        }
    }

    fn weight(&self, of: u64) -> f64 {
        let mut found = 0.0;
        self.each_weight(|x, weight| {
            if x == of {
                found = weight;
            }
        });
        found
    }
}
