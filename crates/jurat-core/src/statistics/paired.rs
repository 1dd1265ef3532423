//! Two sides that judged the same cases: how far their pass rates lie apart, and whether that may be chance.
//!
//! Only pairs that differ say anything about the difference, and both sides of a pair share its difficulty; methods for independent samples
//! throw that away. A difference is always NEW − BASE.

use super::confidence::{Confidence, Side};
use super::interval::{Interval, clopper_pearson, wilson_of};
use super::special::{binomial_point, binomial_tails, normal_sf};

/// Pairs of judgements, by what each side said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairs {
    /// Both sides passed.
    pub both: u64,
    /// Only BASE passed: regressions.
    pub only_base: u64,
    /// Only NEW passed: fixes.
    pub only_new: u64,
    /// Neither side passed.
    pub neither: u64,
}

impl Pairs {
    /// How many pairs there are.
    pub fn n(&self) -> u64 {
        self.both + self.only_base + self.only_new + self.neither
    }

    /// How many pairs differ.
    pub fn discordant(&self) -> u64 {
        self.only_base + self.only_new
    }

    /// The difference of the pass rates; `None` without pairs.
    pub fn difference(&self) -> Option<f64> {
        let n = self.n();
        (n > 0).then(|| (self.only_new as f64 - self.only_base as f64) / n as f64)
    }
}

/// A difference NEW − BASE and the interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub difference: f64,
    pub interval: Interval,
}

/// Newcombe's interval for a difference of paired rates (1998, method 10): Wilson's intervals of both rates, joined by their correlation.
pub fn newcombe_paired(pairs: Pairs, confidence: Confidence) -> Option<Difference> {
    let difference = pairs.difference()?;
    let n = pairs.n() as f64;
    let z = confidence.z();
    let correlation = correlation(pairs);
    let new = Reach::of((pairs.both + pairs.only_new) as f64, n, z);
    let base = Reach::of((pairs.both + pairs.only_base) as f64, n, z);
    let joined = |one: f64, other: f64| (one * one - 2.0 * correlation * one * other + other * other).max(0.0).sqrt();
    let interval =
        Interval { low: difference - joined(new.down, base.up), high: difference + joined(new.up, base.down) };
    Some(Difference { difference, interval })
}

/// How far Wilson's interval reaches from the rate, to either side.
pub(super) struct Reach {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Reach {
    pub(super) fn of(passed: f64, judged: f64, z: f64) -> Reach {
        let (rate, interval) = (passed / judged, wilson_of(passed, judged, z));
        Reach { down: rate - interval.low, up: interval.high - rate }
    }
}

/// The correlation φ of the two sides, with Newcombe's correction for small samples where it is positive.
fn correlation(pairs: Pairs) -> f64 {
    let [both, only_base, only_new, neither] =
        [pairs.both, pairs.only_base, pairs.only_new, pairs.neither].map(|it| it as f64);
    let margins = (both + only_base) * (only_new + neither) * (both + only_new) * (only_base + neither);
    if margins <= 0.0 {
        return 0.0;
    }
    let product = both * neither - only_base * only_new;
    let corrected = if product > 0.0 { (product - pairs.n() as f64 / 2.0).max(0.0) } else { product };
    corrected / margins.sqrt()
}

/// Tango's score interval for a difference of paired rates (1998): all differences that a score test does not reject.
///
/// It covers what it promises down to 20 pairs, where the textbook interval covers 72 %; and because it inverts a test for any margin, the
/// interval and a gate on non-inferiority cannot contradict each other.
///
/// ```
/// use jurat_core::statistics::{Confidence, Pairs, tango};
///
/// let found = tango(Pairs { both: 90, only_base: 3, only_new: 12, neither: 15 }, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.3} ({:.3} to {:.3})", found.difference, found.interval.low, found.interval.high), "0.075 (0.013 to 0.146)");
/// ```
pub fn tango(pairs: Pairs, confidence: Confidence) -> Option<Difference> {
    let difference = pairs.difference()?;
    let score = Score { n: pairs.n() as f64, only_base: pairs.only_base as f64, only_new: pairs.only_new as f64 };
    Some(Difference { difference, interval: score.interval(confidence) })
}

/// What a one-sided test against a margin found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginTest {
    pub z: f64,
    /// The probability of a result at least as good, were NEW worse by exactly the margin.
    pub p: f64,
}

/// Tango's test of "NEW is worse than BASE by at least `margin`"; a small p speaks against it.
pub fn tango_test(pairs: Pairs, margin: f64) -> Option<MarginTest> {
    if pairs.n() == 0 || !(-1.0..=1.0).contains(&margin) {
        return None;
    }
    let score = Score { n: pairs.n() as f64, only_base: pairs.only_base as f64, only_new: pairs.only_new as f64 };
    let z = score.at(-margin);
    Some(MarginTest { z, p: normal_sf(z) })
}

/// Tango's score for counts that need not be whole: those that clusters are worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    pub(super) n: f64,
    pub(super) only_base: f64,
    pub(super) only_new: f64,
}

impl Score {
    /// How many standard errors the observed difference lies above `d`, with the variance that fits best where `d` is the truth.
    pub(super) fn at(&self, d: f64) -> f64 {
        let above = self.only_new - self.only_base - self.n * d;
        let variance = self.n * (2.0 * self.regressions(d) + d * (1.0 - d));
        if above == 0.0 { 0.0 } else { above / variance.max(0.0).sqrt() }
    }

    /// The share of regressions that is most likely where `d` is the difference.
    fn regressions(&self, d: f64) -> f64 {
        let Score { n, only_base, only_new } = *self;
        let b = (2.0 * n - only_new + only_base) * d - only_base - only_new;
        let rest = 8.0 * n * only_base * d * (1.0 - d);
        let root = (b * b + rest).max(0.0).sqrt();
        // The same root of the quadratic, written so that nothing cancels.
        if b > 0.0 { rest / (root + b) / (4.0 * n) } else { (root - b) / (4.0 * n) }
    }

    pub(super) fn interval(&self, confidence: Confidence) -> Interval {
        let z = confidence.z();
        let difference = (self.only_new - self.only_base) / self.n;
        let low = if self.only_base >= self.n { -1.0 } else { bisect(-1.0, difference, |d| self.at(d) > z) };
        let high = if self.only_new >= self.n { 1.0 } else { bisect(difference, 1.0, |d| self.at(d) > -z) };
        Interval { low: low.min(difference), high: high.max(difference) }
    }
}

/// Where a condition that holds at `low` and not at `high` ends, to the last digit.
pub(super) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
}

/// p values of McNemar's test: is one kind of flip more common than the other?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    pub exact: f64,
    /// The observed table counted half. The exact test gives power away; this one holds its level nearly as well.
    pub mid_p: f64,
    /// One-sided: small when NEW is better.
    pub exact_better: f64,
    pub mid_p_better: f64,
    /// One-sided: small when NEW is worse.
    pub exact_worse: f64,
    pub mid_p_worse: f64,
}

/// McNemar's test from the two kinds of flips: without a difference each flip is as likely one way as the other. All are 1 without flips.
///
/// ```
/// use jurat_core::statistics::mcnemar;
///
/// assert_eq!(mcnemar(0, 5).exact, 0.0625);
/// assert_eq!(mcnemar(0, 5).mid_p, 0.03125);
/// ```
pub fn mcnemar(only_base: u64, only_new: u64) -> McNemar {
    if only_base + only_new == 0 {
        return McNemar {
            exact: 1.0,
            mid_p: 1.0,
            exact_better: 1.0,
            mid_p_better: 1.0,
            exact_worse: 1.0,
            mid_p_worse: 1.0,
        };
    }
    let flips = only_base + only_new;
    // By symmetry P(X ≥ c) = P(X ≤ b). The point is taken from the smaller count, so that swapping the sides changes no digit.
    let ((better, of_base), (worse, of_new)) = (coin(only_base, flips), coin(only_new, flips));
    let point = if only_base < only_new { of_base } else { of_new };
    let smaller = better.min(worse);
    McNemar {
        exact: (2.0 * smaller).min(1.0),
        mid_p: if only_base == only_new { 1.0 } else { (2.0 * smaller - point).min(1.0) },
        exact_better: better,
        mid_p_better: better - point / 2.0,
        exact_worse: worse,
        mid_p_worse: worse - point / 2.0,
    }
}

/// The probabilities of at most k and of exactly k heads in n tosses of a fair coin.
fn coin(k: u64, n: u64) -> (f64, f64) {
    if n <= MOST_TOSSES {
        let halved = |ways: u128| ways as f64 * (-(n as f64)).exp2();
        let (sum, last) = ways(k, n);
        return (halved(sum), halved(last));
    }
    (binomial_tails(k as f64, n as f64, 0.5).lower, binomial_point(k as f64, n as f64, 0.5))
}

/// Up to this many tosses all ways are counted in whole numbers, and a p value of 1/16 is 0.0625 to the last digit.
const MOST_TOSSES: u64 = 100;

/// In how many ways n tosses give at most k heads, and exactly k.
fn ways(k: u64, n: u64) -> (u128, u128) {
    let mut ways = 1_u128;
    let mut sum = 1;
    for heads in 1..=k.min(n) {
        ways = ways * u128::from(n - heads + 1) / u128::from(heads);
        sum += ways;
    }
    (sum, ways)
}

/// How many fixes there are for each regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlipOdds {
    /// `None` without regressions.
    pub ratio: Option<f64>,
    /// The upper end is infinite without regressions.
    pub interval: Interval,
}

/// Fixes for each regression, with the exact interval of their share turned into odds; `None` without flips.
pub fn flip_odds(only_base: u64, only_new: u64, confidence: Confidence) -> Option<FlipOdds> {
    let (base, new) = (only_base as f64, only_new as f64);
    let fixes = clopper_pearson(new, base + new, confidence, Side::Both)?;
    let regressions = clopper_pearson(base, base + new, confidence, Side::Both)?;
    // 1 − high of the fixes is low of the regressions, which has digits where the other has none.
    let interval = Interval { low: fixes.low / regressions.high, high: fixes.high / regressions.low };
    Some(FlipOdds { ratio: (only_base > 0).then(|| new / base), interval })
}

/// What may be said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Better,
    Worse,
    /// Neither was shown, which does not mean that there is no difference.
    NotShown,
}

impl Word {
    /// How reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Word::Better => "better",
            Word::Worse => "worse",
            Word::NotShown => "not_shown",
        }
    }

    /// What an interval of a difference shows: it lies above 0, below it, or holds it.
    pub fn of(interval: Interval) -> Word {
        match (interval.low > 0.0, interval.high < 0.0) {
            (true, _) => Word::Better,
            (_, true) => Word::Worse,
            _ => Word::NotShown,
        }
    }
}

/// The interval that may stand beside `p`: where p exceeds 1 − confidence, an end that excludes 0 is moved to 0.
///
/// The interval and the p value come from two tests that differ for a few tables; readers must never see one that contradicts the other.
pub fn joined(interval: Interval, p: f64, confidence: Confidence) -> Interval {
    if p <= confidence.alpha() {
        return interval;
    }
    Interval { low: interval.low.min(0.0), high: interval.high.max(0.0) }
}

/// A difference of paired rates with all that is said about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDifference {
    pub difference: f64,
    pub interval: Interval,
    /// Two-sided.
    pub p: f64,
    pub word: Word,
}

/// Tango's interval and McNemar's mid-p, joined so that they agree: `better` exactly when the interval lies above 0, and exactly when p is at
/// most 1 − confidence with more fixes than regressions.
///
/// ```
/// use jurat_core::statistics::{Confidence, Pairs, Word, paired_difference};
///
/// let pairs = Pairs { both: 996, only_base: 0, only_new: 4, neither: 0 };
/// let found = paired_difference(pairs, Confidence::USUAL).unwrap();
/// assert_eq!((found.p, found.interval.low, found.word), (0.0625, 0.0, Word::NotShown));
/// ```
pub fn paired_difference(pairs: Pairs, confidence: Confidence) -> Option<PairedDifference> {
    let found = tango(pairs, confidence)?;
    let p = mcnemar(pairs.only_base, pairs.only_new).mid_p;
    let interval = joined(found.interval, p, confidence);
    Some(PairedDifference { difference: found.difference, interval, p, word: Word::of(interval) })
}
