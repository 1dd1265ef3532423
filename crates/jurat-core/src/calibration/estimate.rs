//! Figures with their intervals, from labels that are weighted or not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rated::{Design, Population, Rated, gold};
use super::scale::Scale;
use crate::statistics::{
    Confidence, Confusion, Interval, StratumUnits, stratified_jackknife, wilson, wilson_effective,
};

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// `None` when it cannot be computed: nothing was rated, or ratings do not vary.
    pub value: Option<f64>,
    pub interval: Option<Interval>,
    /// How many independent labels a share rests on; weights make it other than their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<f64>,
}

impl Estimate {
    pub fn new(value: Option<f64>, interval: Option<Interval>) -> Estimate {
        Estimate { value, interval, n: None }
    }

    /// Half of the width of its interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|it| it.width() / 2.0)
    }
}

/// Cases that are alike in all that figures look at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    pub(super) gold: Option<f64>,
    pub(super) judge: f64,
    pub(super) people: Vec<Option<f64>>,
}

/// Rated cases by their patterns, in an order of their own, so that the order of labels changes nothing.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) patterns: Vec<Pattern>,
    units: Vec<StratumUnits>,
    /// How many cases each pattern stands for, scaled so that all together stand for their number.
    pub(super) weights: Vec<f64>,
    is_weighted: bool,
    confidence: Confidence,
}

impl Sample {
    pub(super) fn of(
        rated: &[&Rated],
        scale: &Scale,
        design: Design,
        population: &Population,
        confidence: Confidence,
    ) -> Sample {
        type Key = (usize, u64, u64, Vec<Option<u64>>);
        let strata = Strata::of(rated, design);
        let mut groups: BTreeMap<Key, (Pattern, u64)> = BTreeMap::new();
        for it in rated {
            let stratum = strata.place(it);
            let weight = match design {
                Design::Strata => strata.weight(it, population),
                Design::Weights => it.weight.unwrap_or(1.0),
                Design::Random | Design::Unknown => 1.0,
            };
            let bits = it.people.iter().map(|it| it.map(f64::to_bits)).collect();
            let key = (stratum, weight.to_bits(), it.judge.to_bits(), bits);
            let pattern = || Pattern { gold: gold(&it.people, scale), judge: it.judge, people: it.people.clone() };
            groups.entry(key).or_insert_with(|| (pattern(), 0)).1 += 1;
        }
        let total: f64 = groups.iter().map(|(key, (_, n))| f64::from_bits(key.1) * *n as f64).sum();
        let factor = if total > 0.0 { rated.len() as f64 / total } else { 1.0 };
        let unit = |(key, (_, n)): (&Key, &(Pattern, u64))| StratumUnits {
            stratum: key.0,
            weight: f64::from_bits(key.1) * factor,
            n: *n,
        };
        let units: Vec<StratumUnits> = groups.iter().map(unit).collect();
        Sample {
            weights: units.iter().map(|it| it.weight * it.n as f64).collect(),
            patterns: groups.into_values().map(|it| it.0).collect(),
            units,
            is_weighted: design.is_weighted(),
            confidence,
        }
    }

    /// How many cases there are.
    pub(super) fn n(&self) -> u64 {
        self.units.iter().map(|it| it.n).sum()
    }

    /// The patterns, each as many times as there are cases.
    pub(super) fn each(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter().zip(&self.units).flat_map(|(it, units)| std::iter::repeat_n(it, units.n as usize))
    }

    /// The share of the cases of a whole that are of a part.
    pub(super) fn share(&self, part: impl Fn(&Pattern) -> bool, whole: impl Fn(&Pattern) -> bool) -> Estimate {
        let share = |weights: &[f64]| {
            let sum = |is: &dyn Fn(&Pattern) -> bool| {
                self.patterns.iter().zip(weights).filter(|it| is(it.0)).map(|it| it.1).sum::<f64>()
            };
            let of_whole = sum(&whole);
            (of_whole > 0.0).then(|| sum(&|it| whole(it) && part(it)) / of_whole)
        };
        let n = |is: &dyn Fn(&Pattern) -> bool| {
            self.patterns.iter().zip(&self.units).filter(|it| is(it.0)).map(|it| it.1.n).sum::<u64>()
        };
        let judged = n(&whole);
        if !self.is_weighted {
            let interval = wilson(n(&|it| whole(it) && part(it)), judged, self.confidence);
            return Estimate { value: share(&self.weights), interval, n: interval.map(|_| judged as f64) };
        }
        let value = share(&self.weights);
        let effective = value.and_then(|it| self.effective(it, &whole, &share));
        let interval = value.zip(effective).and_then(|(value, n)| wilson_effective(value, n, self.confidence));
        Estimate { value, interval, n: effective }
    }

    /// How many independent labels a weighted share is worth. Where all or none of them are of the part, nothing varies, and weights alone say it.
    fn effective(
        &self,
        value: f64,
        whole: &impl Fn(&Pattern) -> bool,
        share: &impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<f64> {
        let spread = value * (1.0 - value);
        let found = stratified_jackknife(&self.units, share).filter(|it| it.se > 0.0 && spread > 1e-12);
        if let Some(found) = found {
            return Some(spread / (found.se * found.se));
        }
        let own = self.patterns.iter().zip(&self.units).filter(|it| whole(it.0));
        let (sum, squares) = own.fold((0.0, 0.0), |(sum, squares), (_, it)| {
            let n = it.n as f64;
            (sum + n * it.weight, squares + n * it.weight * it.weight)
        });
        (squares > 0.0).then(|| sum * sum / squares)
    }

    /// A figure between two bounds: by its closed form where cases count alike, else by the jackknife.
    pub(super) fn figure(
        &self,
        bounds: (f64, f64),
        statistic: impl Fn(&[f64]) -> Option<f64>,
        closed: impl FnOnce() -> Estimate,
    ) -> Estimate {
        if !self.is_weighted {
            return closed();
        }
        let value = statistic(&self.weights);
        let found = value.and_then(|_| stratified_jackknife(&self.units, &statistic));
        let interval = value.zip(found).map(|(value, found)| found.interval(value, bounds, self.confidence));
        Estimate::new(value, interval)
    }

    /// How many cases people gave one label and the judge another, with these weights.
    pub(super) fn confusion(&self, labels: usize, weights: &[f64]) -> Option<Confusion> {
        let mut rows = vec![vec![0.0; labels]; labels];
        for (pattern, weight) in self.patterns.iter().zip(weights) {
            if let Some(gold) = pattern.gold {
                rows[gold as usize][pattern.judge as usize] += weight;
            }
        }
        Confusion::new(rows)
    }

    /// The same, every case once.
    pub(super) fn counts(&self, labels: usize) -> Option<Confusion> {
        let ones: Vec<f64> = self.units.iter().map(|it| it.n as f64).collect();
        self.confusion(labels, &ones)
    }

    pub(super) fn confidence(&self) -> Confidence {
        self.confidence
    }
}

/// The strata of some cases, numbered by their names.
struct Strata {
    design: Design,
    names: Vec<String>,
    /// How many rated cases have each rating of the judge.
    by_verdict: BTreeMap<u64, u64>,
}

impl Strata {
    fn of(rated: &[&Rated], design: Design) -> Strata {
        let mut names: Vec<String> = rated.iter().filter_map(|it| it.stratum.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let mut by_verdict = BTreeMap::new();
        rated.iter().for_each(|it| *by_verdict.entry(it.judge.to_bits()).or_insert(0) += 1);
        Strata { design, names, by_verdict }
    }

    fn place(&self, rated: &Rated) -> usize {
        match self.design {
            Design::Strata => self.by_verdict.keys().position(|it| *it == rated.judge.to_bits()).unwrap_or(0),
            Design::Weights => rated.stratum.as_ref().and_then(|it| self.names.binary_search(it).ok()).unwrap_or(0),
            Design::Random | Design::Unknown => 0,
        }
    }

    /// How many cases of its verdict there are for each that people labelled.
    fn weight(&self, rated: &Rated, population: &Population) -> f64 {
        let cases = population.by_label.get(rated.judge as usize).copied().unwrap_or(0);
        let labelled = self.by_verdict.get(&rated.judge.to_bits()).copied().unwrap_or(0);
        if cases == 0 || labelled == 0 { 1.0 } else { cases as f64 / labelled as f64 }
    }
}
