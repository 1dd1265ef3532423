//! Lines about cost, tokens and latency, as ratios NEW / BASE.

use super::line::{About, Line, Method};
use super::sample::share;
use crate::statistics::{Clusters, Confidence, Interval, QuantileInterval, Word, quantile_interval, ratio_of_means};

/// What a unit took on both sides, the mean over its repetitions; `None` where it is not known.
#[derive(Debug, Clone, Default)]
pub struct Spending {
    pub base: Vec<f64>,
    pub new: Vec<f64>,
    pub clusters: Vec<u32>,
    /// Units whose amount is not known on a side.
    pub left_out: u64,
}

impl Spending {
    pub fn add(&mut self, base: Option<f64>, new: Option<f64>, cluster: u32) {
        match (base, new) {
            (Some(base), Some(new)) => {
                self.base.push(base);
                self.new.push(new);
                self.clusters.push(cluster);
            }
            (None, None) => {}
            _ => self.left_out += 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.base.is_empty()
    }
}

/// A ratio of means: money and tokens add up. Above 1 NEW takes more.
pub fn ratio_line(about: About, spending: &Spending, confidence: Confidence) -> Line {
    let n = spending.base.len() as u64;
    let found = ratio_of_means(&spending.base, &spending.new, &Clusters::by_key(&spending.clusters), confidence);
    let interval = found.and_then(|it| it.interval);
    Line {
        pairs: n,
        base: share(spending.base.iter().sum(), n),
        new: share(spending.new.iter().sum(), n),
        difference: found.map(|it| it.ratio),
        interval,
        method: Method { interval: "ratio_of_means", test: "none" },
        word: word(interval),
        left_out: spending.left_out,
        ..Line::empty(about)
    }
}

/// The median of the units' ratios. Its reader is one of many who each wait once, so times do not add up.
pub fn latency_line(spending: &Spending, reused: u64, confidence: Confidence) -> Line {
    let pairs = || spending.base.iter().zip(&spending.new).filter(|it| *it.0 > 0.0);
    let ratios: Vec<f64> = pairs().map(|(base, new)| new / base).collect();
    let found = quantile_interval(&ratios, 0.5, confidence);
    let interval = found.and_then(ends);
    let median = |of: &[f64]| quantile_interval(of, 0.5, confidence).map(|it| it.value);
    let high = |of: &[f64]| quantile_interval(of, 0.95, confidence).map(|it| (it.value, ends(it)));
    Line {
        pairs: ratios.len() as u64,
        base: median(&spending.base),
        new: median(&spending.new),
        difference: found.map(|it| it.value),
        interval,
        method: Method { interval: "quantile_interval", test: "none" },
        word: word(interval),
        p95: high(&spending.base).zip(high(&spending.new)).map(|(base, new)| [base, new]),
        left_out: spending.left_out,
        reused,
        ..Line::empty(About::Latency)
    }
}

/// The interval of a quantile, where it has both ends.
fn ends(quantile: QuantileInterval) -> Option<Interval> {
    Some(Interval { low: quantile.low?, high: quantile.high? })
}

/// Less is better.
fn word(interval: Option<Interval>) -> Word {
    match interval {
        Some(Interval { high, .. }) if high < 1.0 => Word::Better,
        Some(Interval { low, .. }) if low > 1.0 => Word::Worse,
        _ => Word::NotShown,
    }
}
