//! Pass rates corrected for the errors of the judge that gave the verdicts.

use super::confidence::{Confidence, Side};
use super::interval::{Interval, clopper_pearson};
use super::sum::{mean, sum};
use super::unpaired::Tally;

/// How often a judge is right, by what people said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeRecord {
    /// Of what people passed, what the judge passed.
    pub sensitivity: Tally,
    /// Of what people failed, what the judge failed.
    pub specificity: Tally,
}

/// A share of cases that weights make worth more or less than their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveTally {
    pub passed: f64,
    pub judged: f64,
}

impl EffectiveTally {
    fn rate(self) -> Option<f64> {
        (self.judged > 0.0).then(|| self.passed / self.judged)
    }
}

impl From<Tally> for EffectiveTally {
    fn from(tally: Tally) -> EffectiveTally {
        EffectiveTally { passed: tally.passed as f64, judged: tally.judged as f64 }
    }
}

/// How often a judge is right, by labels that weights make worth more or less than their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveRecord {
    pub sensitivity: EffectiveTally,
    pub specificity: EffectiveTally,
}

impl From<JudgeRecord> for EffectiveRecord {
    fn from(judge: JudgeRecord) -> EffectiveRecord {
        EffectiveRecord { sensitivity: judge.sensitivity.into(), specificity: judge.specificity.into() }
    }
}

impl EffectiveRecord {
    /// Youden's J: how much likelier a judge passes what is right than what is wrong.
    fn youden(&self) -> Option<f64> {
        Some(self.sensitivity.rate()? + self.specificity.rate()? - 1.0)
    }
}

/// A pass rate as people would have judged, estimated from what a judge said of all cases and what people said of some others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoganGladen {
    /// The rate that the judge found.
    pub observed: f64,
    pub sensitivity: f64,
    pub specificity: f64,
    pub youden: f64,
    /// `None` when the judge does not separate pass from fail.
    pub corrected: Option<Corrected>,
}

/// A corrected rate or difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    pub estimate: f64,
    pub se: f64,
    pub interval: Interval,
}

/// The correction of Rogan and Gladen (1978) with the interval of Lang and Reiczigel (2014), which adds the uncertainty of sensitivity and specificity. `None` when one of them is unknown, or nothing
/// was judged.
///
/// It assumes that the judge errs as it did on the cases that people labelled.
///
/// ```
/// use jurat_core::statistics::{Confidence, JudgeRecord, Tally, rogan_gladen};
///
/// let judge = JudgeRecord { sensitivity: Tally { passed: 90, judged: 100 }, specificity: Tally { passed: 80, judged: 100 } };
/// let found = rogan_gladen(Tally { passed: 800, judged: 1000 }, judge, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.4}", found.corrected.unwrap().estimate), "0.8571");
/// ```
pub fn rogan_gladen(rate: Tally, judge: JudgeRecord, confidence: Confidence) -> Option<RoganGladen> {
    rogan_gladen_effective(rate.into(), judge.into(), confidence)
}

/// The same for shares that weights make worth more or less than their number.
pub fn rogan_gladen_effective(
    rate: EffectiveTally,
    judge: EffectiveRecord,
    confidence: Confidence,
) -> Option<RoganGladen> {
    let (observed, sensitivity, specificity) = (rate.rate()?, judge.sensitivity.rate()?, judge.specificity.rate()?);
    let youden = judge.youden()?;
    let corrected = (youden > 0.0).then(|| {
        let raw = (observed + specificity - 1.0) / youden;
        let variance = binomial_variance(observed, rate.judged)
            + raw.powi(2) * binomial_variance(sensitivity, judge.sensitivity.judged)
            + (1.0 - raw).powi(2) * binomial_variance(specificity, judge.specificity.judged);
        Corrected {
            estimate: raw.clamp(0.0, 1.0),
            se: variance.sqrt() / youden,
            interval: lang_reiczigel(rate, judge, confidence.z()),
        }
    });
    Some(RoganGladen { observed, sensitivity, specificity, youden, corrected })
}

fn binomial_variance(rate: f64, n: f64) -> f64 {
    rate * (1.0 - rate) / n
}

fn lang_reiczigel(rate: EffectiveTally, judge: EffectiveRecord, z: f64) -> Interval {
    let n = rate.judged + z * z;
    let q = (rate.passed + z * z / 2.0) / n;
    let softened = |it: EffectiveTally| ((it.passed + 1.0) / (it.judged + 2.0), it.judged + 2.0);
    let (sensitivity, m1) = softened(judge.sensitivity);
    let (specificity, m0) = softened(judge.specificity);
    let youden = sensitivity + specificity - 1.0;
    let theta = (q + specificity - 1.0) / youden;
    let (of_pass, of_fail) = (binomial_variance(sensitivity, m1), binomial_variance(specificity, m0));
    let shift = 2.0 * z * z * (theta * of_pass - (1.0 - theta) * of_fail);
    let variance = binomial_variance(q, n) + theta.powi(2) * of_pass + (1.0 - theta).powi(2) * of_fail;
    Interval::around(theta + shift, z / youden * variance.sqrt()).cut(0.0, 1.0)
}

/// A difference of pass rates corrected for a judge that judged both sides: its errors cancel in part, and the true difference is 1/J times the observed one. `None`
/// when the judge does not separate pass from fail.
pub fn rogan_gladen_difference(
    difference: f64,
    se: f64,
    judge: JudgeRecord,
    confidence: Confidence,
) -> Option<Corrected> {
    rogan_gladen_difference_effective(difference, se, judge.into(), confidence)
}

/// The same for a judge whose labels were weighted.
pub fn rogan_gladen_difference_effective(
    difference: f64,
    se: f64,
    judge: EffectiveRecord,
    confidence: Confidence,
) -> Option<Corrected> {
    let youden = judge.youden().filter(|it| *it > 0.0)?;
    let estimate = difference / youden;
    let spread = |it: EffectiveTally| it.rate().map(|rate| binomial_variance(rate, it.judged));
    let of_judge = spread(judge.sensitivity)? + spread(judge.specificity)?;
    let se = (se * se + estimate * estimate * of_judge).sqrt() / youden;
    Some(Corrected { estimate, se, interval: Interval::around(estimate, confidence.z() * se) })
}

/// A mean estimated from some values that people gave and many that a judge gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiMean {
    /// How much the judge's values count, from 0 to 1.
    pub weight: f64,
    pub estimate: f64,
    pub se: f64,
    pub interval: Interval,
}

/// Prediction-powered inference (PPI++, Angelopoulos and others 2023): the mean of what people said of a random part of the cases, sharpened by what the judge said of all. `None` without labels.
///
/// It is unbiased whatever the judge does: a useless judge gets the weight 0, and the labels speak alone.
///
/// `judged` holds what the judge said of the labelled cases, in the same order; `rest` what it said of the others.
pub fn ppi_mean(human: &[f64], judged: &[f64], rest: &[f64], confidence: Confidence) -> Option<PpiMean> {
    if human.len() != judged.len() {
        return None;
    }
    let (mean_human, n) = (mean(human)?, human.len() as f64);
    let weight = ppi_weight(human, judged, rest)?;
    let mean_rest = mean(rest).unwrap_or(0.0);
    let corrections: Vec<f64> = human.iter().zip(judged).map(|(y, f)| y - weight * f).collect();
    let estimate = weight * mean_rest + mean_human - weight * mean(judged)?;
    let of_rest = if rest.is_empty() { 0.0 } else { weight * weight * variance(rest)? / rest.len() as f64 };
    let se = (of_rest + variance(&corrections)? / n).sqrt();
    Some(PpiMean { weight, estimate, se, interval: Interval::around(estimate, confidence.z() * se) })
}

/// The weight that makes the variance smallest, cut to 0 and 1.
fn ppi_weight(human: &[f64], judged: &[f64], rest: &[f64]) -> Option<f64> {
    let (mean_human, mean_judged, n) = (mean(human)?, mean(judged)?, human.len() as f64);
    let covariance = sum(human.iter().zip(judged).map(|(y, f)| (y - mean_human) * (f - mean_judged))) / n;
    let pooled: Vec<f64> = judged.iter().chain(rest).copied().collect();
    let pooled_n = pooled.len() as f64;
    let spread = (1.0 + n / rest.len() as f64) * variance(&pooled)? * pooled_n / (pooled_n - 1.0);
    Some(if spread > 0.0 && spread.is_finite() { (covariance / spread).clamp(0.0, 1.0) } else { 0.0 })
}

/// The mean squared distance from the mean.
fn variance(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    Some(sum(values.iter().map(|it| (it - middle).powi(2))) / values.len() as f64)
}

/// The interval of a corrected pass rate: the exact one for as many independent labels as its standard error stands for, as [`effective_rate`] has it for clusters. `labels` is how many there
/// are, which counts where they do not vary.
///
/// A normal interval around a rate near 0 or 1 is too short on the side that matters: where 90 % pass, it held 92 % of the time with a hundred labels.
///
/// [`effective_rate`]: super::effective_rate
///
/// ```
/// use jurat_core::statistics::{Confidence, labelled_interval};
///
/// let found = labelled_interval(0.95, 0.025, 100, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.3} {:.3}", found.low, found.high), "0.874 0.987");
/// ```
pub fn labelled_interval(estimate: f64, se: f64, labels: u64, confidence: Confidence) -> Option<Interval> {
    let rate = estimate.clamp(0.0, 1.0);
    let varies = se > 0.0 && rate > 0.0 && rate < 1.0;
    let effective = if varies { rate * (1.0 - rate) / (se * se) } else { labels as f64 };
    clopper_pearson(effective * rate, effective, confidence, Side::Both)
}

/// Cases that the judge gave one verdict, and the labels that some of them got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum {
    pub cases: u64,
    /// What people passed, of the cases that they labelled.
    pub labels: Tally,
}

/// A pass rate from labels that were drawn from each verdict of the judge separately: every stratum counts by its share of the cases, with the variance of double sampling. `None` when a stratum that
/// has cases has fewer than two labels.
///
/// ```
/// use jurat_core::statistics::{Confidence, Stratum, Tally, poststratified};
///
/// let passed = Stratum { cases: 800, labels: Tally { passed: 47, judged: 50 } };
/// let failed = Stratum { cases: 200, labels: Tally { passed: 6, judged: 50 } };
/// assert_eq!(format!("{:.3}", poststratified(&[passed, failed], Confidence::USUAL).unwrap().estimate), "0.776");
/// ```
pub fn poststratified(strata: &[Stratum], confidence: Confidence) -> Option<Corrected> {
    let strata: Vec<&Stratum> = strata.iter().filter(|it| it.cases > 0).collect();
    let all = strata.iter().map(|it| it.cases).sum::<u64>() as f64;
    if strata.is_empty() || strata.iter().any(|it| it.labels.judged < 2) {
        return None;
    }
    let each: Vec<(f64, f64, f64)> = strata
        .iter()
        .map(|it| Some((it.cases as f64 / all, it.labels.rate()?, it.labels.judged as f64)))
        .collect::<Option<_>>()?;
    let estimate = sum(each.iter().map(|(share, rate, _)| share * rate));
    let inside = sum(each.iter().map(|(share, rate, n)| share * share * rate * (1.0 - rate) / (n - 1.0)));
    let between = sum(each.iter().map(|(share, rate, _)| share * (rate - estimate).powi(2))) / all;
    let se = (inside + between).sqrt();
    Some(Corrected { estimate, se, interval: Interval::around(estimate, confidence.z() * se) })
}
