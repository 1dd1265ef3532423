//! Pass rates as people would have judged.

use serde::{Deserialize, Serialize};

use super::estimate::{Estimate, Sample};
use super::figures::Figures;
use super::rated::{Design, Population};
use super::scale::{FAIL, PASS};
use crate::statistics::{
    Confidence, Corrected, EffectiveRecord, EffectiveTally, Interval, Pairs, Stratum, Tally, labelled_interval,
    paired_difference, poststratified, ppi_mean, rogan_gladen_difference_effective, rogan_gladen_effective,
};

/// How a rate was corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionMethod {
    /// Labels of each verdict of the judge, each verdict counting by its share of the cases.
    Poststratified,
    /// Prediction-powered inference: labels of a random part, sharpened by the judge.
    PpiMean,
    /// Rogan and Gladen's, for cases that were not labelled: the judge is taken to err as it did on those that were.
    RoganGladen,
}

impl CorrectionMethod {
    pub fn name(self) -> &'static str {
        match self {
            CorrectionMethod::Poststratified => "poststratified",
            CorrectionMethod::PpiMean => "ppi_mean",
            CorrectionMethod::RoganGladen => "rogan_gladen",
        }
    }
}

/// A pass rate as people would have judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrectedRate {
    /// The rate that the judge found.
    pub observed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<CorrectionMethod>,
    /// `None` when it is not given.
    pub rate: Option<f64>,
    pub interval: Option<Interval>,
    /// Why it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A difference of pass rates as people would have judged.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedDifference {
    pub difference: f64,
    pub interval: Interval,
    pub method: CorrectionMethod,
}

impl CorrectedRate {
    fn not_given(observed: Option<f64>, reason: &str) -> CorrectedRate {
        CorrectedRate { observed, method: None, rate: None, interval: None, reason: Some(reason.to_owned()) }
    }

    fn of(observed: Option<f64>, method: CorrectionMethod, estimate: f64, interval: Interval) -> CorrectedRate {
        let within = |it: f64| it.clamp(0.0, 1.0);
        let interval = Interval { low: within(interval.low), high: within(interval.high) };
        CorrectedRate {
            observed,
            method: Some(method),
            rate: Some(within(estimate)),
            interval: Some(interval),
            reason: None,
        }
    }
}

const NO_LABELS: &str = "no case has both a label and a verdict";
const NOT_SEPARATED: &str =
    "the judge does not distinguish pass from fail: sensitivity and specificity may add up to 1 or less";
const TOO_FEW_OF_A_VERDICT: &str = "a verdict of the judge has fewer than two labels";
const NOT_RANDOM: &str = "how the labelled cases were chosen is not known: label a sheet of `--sample`, or say `--random` if they are a simple random part of the run";
const OTHER_STRATA: &str = "the strata of the labels are not the verdicts of the judge";

/// The pass rate of the run that the labels are about.
pub(super) fn corrected_here(figures: &Figures, sample: &Sample, population: &Population) -> CorrectedRate {
    let [failed, passed] = [FAIL, PASS].map(|it| population.by_label.get(it).copied().unwrap_or(0));
    let observed = Tally { passed, judged: passed + failed }.rate();
    if figures.n == 0 {
        return CorrectedRate::not_given(observed, NO_LABELS);
    }
    if figures.youden_low().is_none_or(|it| it <= 0.0) {
        return CorrectedRate::not_given(observed, NOT_SEPARATED);
    }
    match figures.design {
        Design::Unknown => CorrectedRate::not_given(observed, NOT_RANDOM),
        Design::Weights => CorrectedRate::not_given(observed, OTHER_STRATA),
        Design::Strata => by_strata(observed, figures, population, sample.confidence()),
        Design::Random => by_prediction(observed, sample, passed, failed),
    }
}

fn by_strata(
    observed: Option<f64>,
    figures: &Figures,
    population: &Population,
    confidence: Confidence,
) -> CorrectedRate {
    let count = |human: usize, judge: usize| figures.matrix[human][judge] as u64;
    let stratum = |judge: usize| Stratum {
        cases: population.by_label.get(judge).copied().unwrap_or(0),
        labels: Tally { passed: count(PASS, judge), judged: count(PASS, judge) + count(FAIL, judge) },
    };
    let strata = [stratum(FAIL), stratum(PASS)];
    let labels = strata.iter().map(|it| it.labels.judged).sum();
    let found = poststratified(&strata, confidence);
    let interval = found.and_then(|it| labelled_interval(it.estimate, it.se, labels, confidence));
    match found.zip(interval) {
        Some((found, interval)) => {
            CorrectedRate::of(observed, CorrectionMethod::Poststratified, found.estimate, interval)
        }
        None => CorrectedRate::not_given(observed, TOO_FEW_OF_A_VERDICT),
    }
}

fn by_prediction(observed: Option<f64>, sample: &Sample, passed: u64, failed: u64) -> CorrectedRate {
    let human: Vec<f64> = sample.each().filter_map(|it| it.gold).collect();
    let judged: Vec<f64> = sample.each().filter(|it| it.gold.is_some()).map(|it| it.judge).collect();
    let labelled = |label: usize| judged.iter().filter(|it| **it == label as f64).count() as u64;
    let rest = |n: u64, label: usize| vec![label as f64; n.saturating_sub(labelled(label)) as usize];
    let rest = [rest(failed, FAIL), rest(passed, PASS)].concat();
    let found = ppi_mean(&human, &judged, &rest, sample.confidence());
    let interval = found.and_then(|it| labelled_interval(it.estimate, it.se, human.len() as u64, sample.confidence()));
    match found.zip(interval) {
        Some((found, interval)) => {
            let rate = found.estimate.clamp(0.0, 1.0);
            CorrectedRate::of(observed, CorrectionMethod::PpiMean, rate, interval)
        }
        None => CorrectedRate::not_given(observed, NO_LABELS),
    }
}

/// What labels say of a judge's errors, as far as it can be carried to other cases.
fn record(figures: &Figures) -> Option<EffectiveRecord> {
    let tally = |it: &Option<Estimate>| {
        let Estimate { value, n, .. } = (*it)?;
        Some(EffectiveTally { passed: value? * n?, judged: n? })
    };
    Some(EffectiveRecord { sensitivity: tally(&figures.sensitivity)?, specificity: tally(&figures.specificity)? })
}

/// Differences between two sides, of cases that people labelled on both and of the others.
#[derive(Debug, Clone, Default)]
pub struct LabelledDifferences {
    human: Vec<f64>,
    judged: Vec<f64>,
    rest: Vec<f64>,
    pairs: Pairs,
}

/// Fewer labels than this are too few to rely on.
const ENOUGH_LABELS: u64 = 30;

impl LabelledDifferences {
    /// Adds a pair that people labelled: what they said of BASE and of NEW, and how far the judge's verdicts differ.
    pub fn add_labelled(&mut self, said: [bool; 2], judged: f64) {
        let number = |it: bool| f64::from(u8::from(it));
        self.human.push(number(said[1]) - number(said[0]));
        self.judged.push(judged);
        *match said {
            [true, true] => &mut self.pairs.both,
            [true, false] => &mut self.pairs.only_base,
            [false, true] => &mut self.pairs.only_new,
            [false, false] => &mut self.pairs.neither,
        } += 1;
    }

    /// Adds a pair of which only the judge's verdicts are known.
    pub fn add_rest(&mut self, judged: f64) {
        self.rest.push(judged);
    }

    /// The difference as people would have judged. `None` with fewer than 30 labelled pairs.
    pub fn corrected(&self, confidence: Confidence) -> Option<CorrectedDifference> {
        if self.pairs.n() < ENOUGH_LABELS {
            return None;
        }
        let found = ppi_mean(&self.human, &self.judged, &self.rest, confidence)?;
        // Where people saw no change, their pairs say how large one could be all the same.
        let of_people = || paired_difference(self.pairs, confidence).map(|it| it.interval);
        let interval = if found.se > 0.0 { found.interval.cut(-1.0, 1.0) } else { of_people()? };
        Some(CorrectedDifference { difference: found.estimate, interval, method: CorrectionMethod::PpiMean })
    }
}

impl Figures {
    /// The pass rate of cases that were not labelled, of which some passed and some did not. The judge is taken to err as it did on those that were.
    ///
    /// `worth` is how many independent judgements the rate is worth.
    pub fn corrected_elsewhere(&self, rate: Option<f64>, worth: f64, confidence: Confidence) -> CorrectedRate {
        let Some(rate) = rate else { return CorrectedRate::not_given(None, "nothing was judged") };
        let Some(record) = record(self) else { return CorrectedRate::not_given(Some(rate), NO_LABELS) };
        if self.youden_low().is_none_or(|it| it <= 0.0) {
            return CorrectedRate::not_given(Some(rate), NOT_SEPARATED);
        }
        let tally = EffectiveTally { passed: rate * worth, judged: worth };
        match rogan_gladen_effective(tally, record, confidence).and_then(|it| it.corrected) {
            Some(Corrected { estimate, interval, .. }) => {
                let ends = Interval { low: interval.low.min(estimate), high: interval.high.max(estimate) };
                CorrectedRate::of(Some(rate), CorrectionMethod::RoganGladen, estimate, ends)
            }
            None => CorrectedRate::not_given(Some(rate), NOT_SEPARATED),
        }
    }

    /// The difference of two pass rates that one judge found, as people would have judged; `None` when the judge does not tell pass from fail.
    pub fn corrected_difference(
        &self,
        difference: f64,
        se: f64,
        confidence: Confidence,
    ) -> Option<CorrectedDifference> {
        self.youden_low().filter(|it| *it > 0.0)?;
        let found = rogan_gladen_difference_effective(difference, se, record(self)?, confidence)?;
        Some(CorrectedDifference {
            difference: found.estimate,
            interval: found.interval,
            method: CorrectionMethod::RoganGladen,
        })
    }
}
