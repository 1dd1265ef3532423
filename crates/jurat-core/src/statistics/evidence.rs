//! Evidence that may be looked at after every case.
//!
//! An e-value grows when a hypothesis is wrong. Were it true, the chance that it ever reaches 1/α is at most α (Ville's inequality), so a run may stop as soon
//! as it does, and looking often costs nothing. A p value has no such property.

use super::confidence::Confidence;
use super::interval::Interval;
use super::paired::bisect;
use super::special::{ln_beta, ln_beta_lower, ln_beta_upper};
use super::sum::mean;

/// Natural logarithms of the evidence about a pass rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateEvidence {
    /// That the rate is above the threshold.
    pub ln_above: f64,
    /// That it is below.
    pub ln_below: f64,
    /// That it is below what was expected, so that it will hardly be shown to be above the threshold; `None` without an expected rate above the threshold.
    pub ln_hopeless: Option<f64>,
}

/// How much of a mixture is bet on the expected rate; the rest is spread evenly.
const BET: f64 = 0.75;

/// Evidence about a pass rate against a threshold, from counts alone: three quarters are bet on the expected rate, one quarter on all others evenly. `None` for a
/// threshold that is not between 0 and 1.
pub fn e_rate(passed: u64, failed: u64, threshold: f64, expected: Option<f64>) -> Option<RateEvidence> {
    e_share(passed as f64, failed as f64, threshold, expected)
}

/// [`e_rate`] for rows that pass in part, such as two of three repetitions.
///
/// It is evidence all the same: (p/r)ˣ((1−p)/(1−r))¹⁻ˣ is at most x·p/r + (1−x)·(1−p)/(1−r), by the inequality of weighted means, and that has a mean of at most 1 under the hypothesis.
pub fn e_share(passed: f64, failed: f64, threshold: f64, expected: Option<f64>) -> Option<RateEvidence> {
    if !(threshold > 0.0 && threshold < 1.0) {
        return None;
    }
    let counts = Counts { passed, failed };
    let expected = expected.filter(|it| *it > threshold && *it <= 1.0);
    let mirrored = expected.map(|it| 2.0 * threshold - it).filter(|it| *it > 0.0);
    Some(RateEvidence {
        ln_above: bet(expected.map(|it| counts.ln_ratio(it, threshold)), counts.ln_mixture_above(threshold)),
        ln_below: bet(mirrored.map(|it| counts.ln_ratio(it, threshold)), counts.ln_mixture_below(threshold)),
        ln_hopeless: expected.map(|it| bet(Some(counts.ln_ratio(threshold, it)), counts.ln_mixture_below(it))),
    })
}

/// ln of the bet and the mixture together; the mixture alone where there is nothing to bet on.
fn bet(ln_ratio: Option<f64>, ln_mixture: f64) -> f64 {
    let Some(ln_ratio) = ln_ratio else { return ln_mixture };
    let (one, other) = (ln_ratio + BET.ln(), ln_mixture + (1.0 - BET).ln());
    let (large, small) = (one.max(other), one.min(other));
    if large.is_infinite() { large } else { large + (small - large).exp().ln_1p() }
}

struct Counts {
    passed: f64,
    failed: f64,
}

impl Counts {
    /// ln of the likelihood of these counts.
    fn ln_likelihood(&self, rate: f64) -> f64 {
        times_ln(self.passed, rate) + times_ln(self.failed, 1.0 - rate)
    }

    fn ln_ratio(&self, of: f64, against: f64) -> f64 {
        let above = self.ln_likelihood(of);
        // Impossible under both says nothing for either; under the hypothesis alone it is a proof.
        if above == f64::NEG_INFINITY { above } else { above - self.ln_likelihood(against) }
    }

    /// The likelihood averaged over all rates above one, against that rate.
    fn ln_mixture_above(&self, rate: f64) -> f64 {
        let (a, b) = (1.0 + self.passed, 1.0 + self.failed);
        ln_beta(a, b) + ln_beta_upper(a, b, rate) - (1.0 - rate).ln() - self.ln_likelihood(rate)
    }

    /// The likelihood averaged over all rates below one, against that rate.
    fn ln_mixture_below(&self, rate: f64) -> f64 {
        let (a, b) = (1.0 + self.passed, 1.0 + self.failed);
        ln_beta(a, b) + ln_beta_lower(a, b, rate) - rate.ln() - self.ln_likelihood(rate)
    }
}

/// n ln x, and 0 for nothing.
fn times_ln(n: f64, x: f64) -> f64 {
    if n == 0.0 { 0.0 } else { n * x.ln() }
}

/// ln of the evidence that the mean of paired differences is beyond `null`, on the side of `toward`, after each of them. Differences lie between −1 and 1, in the
/// order of the run.
///
/// Each bet is what would have been best for the discordance seen so far, were the difference `toward`; it never risks more than nine tenths.
pub fn e_paired(differences: &[f64], null: f64, toward: f64) -> Vec<f64> {
    let mut bets = PairedBets::new(null, toward);
    differences.iter().map(|it| bets.add(*it)).collect()
}

/// The bets of [`e_paired`], one difference after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedBets {
    null: f64,
    goal: f64,
    ln: f64,
    n: f64,
    squares: f64,
}

impl PairedBets {
    pub fn new(null: f64, toward: f64) -> PairedBets {
        PairedBets { null, goal: toward - null, ln: 0.0, n: 0.0, squares: 0.0 }
    }

    /// ln of the evidence with one difference more.
    pub fn add(&mut self, difference: f64) -> f64 {
        let PairedBets { null, goal, .. } = *self;
        let discordance = (PRIOR_PAIRS * PRIOR_DISCORDANCE + self.squares) / (PRIOR_PAIRS + self.n);
        let stake = (goal / (discordance + goal * goal)).clamp(-MOST_RISKED / (1.0 - null), MOST_RISKED / (1.0 + null));
        self.ln += (stake * (difference - null)).ln_1p();
        self.squares += difference * difference;
        self.n += 1.0;
        self.ln
    }
}

/// What the discordance is taken for before anything was seen, and how many pairs that counts for.
const PRIOR_DISCORDANCE: f64 = 0.2;
const PRIOR_PAIRS: f64 = 10.0;

/// The share of what was won that one bet may lose.
const MOST_RISKED: f64 = 0.9;

/// On which side of a mean evidence is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    Above,
    Below,
}

/// ln of the evidence that the mean of values between 0 and 1 is beyond `null`, after each value, by the adaptive bets of Waudby-Smith and Ramdas.
pub fn e_mean(values: &[f64], null: f64, beyond: Beyond) -> Vec<f64> {
    let mut bets = MeanBets::new(null, beyond);
    values.iter().map(|it| bets.add(*it)).collect()
}

/// The bets of [`e_mean`], one value after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanBets {
    null: f64,
    beyond: Beyond,
    seen: Seen,
    ln: f64,
}

impl MeanBets {
    pub fn new(null: f64, beyond: Beyond) -> MeanBets {
        let null = if beyond == Beyond::Below { 1.0 - null } else { null };
        MeanBets { null, beyond, seen: Seen::default(), ln: 0.0 }
    }

    /// ln of the evidence with one value more.
    pub fn add(&mut self, value: f64) -> f64 {
        let value = if self.beyond == Beyond::Below { 1.0 - value } else { value };
        let gap = self.seen.mean() - self.null;
        let stake = (gap / (self.seen.variance() + gap * gap)).clamp(0.0, MOST_RISKED / self.null);
        self.ln += (stake * (value - self.null)).ln_1p();
        self.seen.add(value);
        self.ln
    }
}

/// Mean and variance of what was seen, begun with one half and one quarter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Seen {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Seen {
    fn mean(&self) -> f64 {
        (0.5 + self.sum) / (self.n + 1.0)
    }

    fn variance(&self) -> f64 {
        (0.25 + self.squares) / (self.n + 1.0)
    }

    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += (value - self.mean()).powi(2);
    }
}

/// The stake on each value before it was seen: large at first, when little is known, and smaller with time.
fn stakes(values: &[f64], confidence: Confidence) -> Vec<f64> {
    let mut seen = Seen::default();
    let stake = |value: &f64| {
        let t = seen.n + 1.0;
        let stake = (2.0 * (2.0 / confidence.alpha()).ln() / (t * t.ln_1p() * seen.variance())).sqrt();
        seen.add(*value);
        stake
    };
    values.iter().map(stake).collect()
}

/// What a gambler has, after each value, who bets half on a mean above `null` and half below it: the larger of the two.
pub fn hedged_capital(values: &[f64], null: f64, confidence: Confidence) -> Vec<f64> {
    let (mut up, mut down) = (0.5, 0.5);
    let step = |(value, stake): (&f64, f64)| {
        up *= 1.0 + stake.min(0.5 / null) * (value - null);
        down *= 1.0 - stake.min(0.5 / (1.0 - null)) * (value - null);
        f64::max(up, down)
    };
    values.iter().zip(stakes(values, confidence)).map(step).collect()
}

/// The same after the last value, as a logarithm that does not overflow.
fn ln_hedged_capital(values: &[f64], stakes: &[f64], null: f64) -> f64 {
    let half = 0.5_f64.ln();
    let (mut up, mut down) = (half, half);
    for (value, stake) in values.iter().zip(stakes) {
        up += (stake.min(0.5 / null) * (value - null)).ln_1p();
        down += (-stake.min(0.5 / (1.0 - null)) * (value - null)).ln_1p();
    }
    up.max(down)
}

/// The confidence sequence of a mean of values between 0 and 1, after the last of them: all means against which the gambler of [`hedged_capital`] has not yet won 1/α. It
/// holds at every time at once. `None` without values.
pub fn cs_mean(values: &[f64], confidence: Confidence) -> Option<Interval> {
    let middle = mean(values)?;
    let stakes = stakes(values, confidence);
    let limit = -confidence.alpha().ln();
    let is_out = |null: f64| ln_hedged_capital(values, &stakes, null) >= limit;
    let low = if middle > 0.0 { bisect(0.0, middle, is_out) } else { 0.0 };
    let high = if middle < 1.0 { bisect(middle, 1.0, |null| !is_out(null)) } else { 1.0 };
    Some(Interval { low, high })
}

/// The confidence sequence of a rate by the mixture of Robbins: all rates that the evenly spread mixture of all others does not beat by 1/α.
///
/// ```
/// use jurat_core::statistics::{Confidence, cs_rate};
///
/// assert_eq!(format!("{:.3}", cs_rate(0, 1, Confidence::USUAL).high), "0.975");
/// ```
pub fn cs_rate(passed: u64, failed: u64, confidence: Confidence) -> Interval {
    cs_share(passed as f64, failed as f64, confidence)
}

/// [`cs_rate`] for rows that pass in part.
pub fn cs_share(passed: f64, failed: f64, confidence: Confidence) -> Interval {
    let counts = Counts { passed, failed };
    let mixture = ln_beta(1.0 + passed, 1.0 + failed);
    let is_out = |rate: f64| mixture - counts.ln_likelihood(rate) >= -confidence.alpha().ln();
    let rate = if passed + failed <= 0.0 { 0.5 } else { passed / (passed + failed) };
    let low = if passed <= 0.0 { 0.0 } else { bisect(0.0, rate, is_out) };
    let high = if failed <= 0.0 { 1.0 } else { bisect(rate, 1.0, |it| !is_out(it)) };
    Interval { low, high }
}

/// The empirical Bernstein sequence of a mean of values between 0 and 1, after each of them: wider than [`cs_mean`], but a closed form, for the line that shows progress.
pub fn cs_empirical_bernstein(values: &[f64], confidence: Confidence) -> Vec<Interval> {
    let mirrored: Vec<f64> = values.iter().map(|it| 1.0 - it).collect();
    let (below, above) = (lower_bernstein(values, confidence), lower_bernstein(&mirrored, confidence));
    below.into_iter().zip(above).map(|(low, high)| Interval { low, high: 1.0 - high }).collect()
}

fn lower_bernstein(values: &[f64], confidence: Confidence) -> Vec<f64> {
    let cost = (2.0 / confidence.alpha()).ln();
    let (mut staked, mut won, mut penalty, mut total) = (0.0, 0.0, 0.0, 0.0);
    let step = |(ix, (value, stake)): (usize, (&f64, f64))| {
        let stake = stake.min(0.5);
        let before = if ix == 0 { 0.0 } else { total / ix as f64 };
        staked += stake;
        won += stake * value;
        penalty += (value - before).powi(2) * (-(-stake).ln_1p() - stake);
        total += value;
        f64::max((won - cost - penalty) / staked, 0.0)
    };
    values.iter().zip(stakes(values, confidence)).enumerate().map(step).collect()
}
