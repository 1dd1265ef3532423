//! The pass rate over all counted tasks, with rows as clusters.

use super::line::{About, Line, Method, word_of};
use super::repetitions::{Repetitions, Standing};
use super::sample::{reach, share};
use crate::statistics::{Confidence, RowTally, Word, joined, pooled_difference};

/// The judgements of all tasks, gathered task by task; each cluster has a place.
#[derive(Debug)]
pub struct JudgementLine {
    clusters: Vec<RowTally>,
    pairs: u64,
    unknown: u64,
    not_applicable: u64,
    least: f64,
    most: f64,
}

impl JudgementLine {
    pub fn new(n_clusters: usize) -> JudgementLine {
        JudgementLine {
            clusters: vec![RowTally::default(); n_clusters],
            pairs: 0,
            unknown: 0,
            not_applicable: 0,
            least: 0.0,
            most: 0.0,
        }
    }

    /// Takes in a task of a pair of units.
    pub fn add(&mut self, base: &Repetitions, new: &Repetitions, cluster: u32) {
        match base.against(new) {
            Standing::NotApplicable => return self.not_applicable += 1,
            Standing::Unknown => self.unknown += 1,
            Standing::Pair => {
                let RowTally { base: was, new: now } = &mut self.clusters[cluster as usize];
                for (tally, unit) in [(was, base), (now, new)] {
                    tally.passed += u64::from(unit.passed());
                    tally.judged += u64::from(unit.judged());
                }
                self.pairs += 1;
                if base.is_one_judged() && new.is_one_judged() {
                    let difference = new.least() - base.least();
                    self.least += difference;
                    self.most += difference;
                    return;
                }
            }
        }
        self.least += new.least() - base.most();
        self.most += new.most() - base.least();
    }

    pub fn finish(self, confidence: Confidence) -> Line {
        let found = pooled_difference(&self.clusters, confidence);
        let (p, se) = (found.and_then(|it| it.p), found.and_then(|it| it.se));
        // Where nothing varies, nothing is known of how much it could have.
        let varies = found.is_some_and(|it| it.difference != 0.0) || se.is_some_and(|it| it > 0.0);
        let interval = found.and_then(|it| it.interval).filter(|_| varies);
        let interval = interval.map(|it| p.map_or(it, |p| joined(it, p, confidence)));
        let word = word_of(interval);
        let rate = |side: fn(&RowTally) -> (u64, u64)| {
            let (passed, judged) = self.clusters.iter().map(side).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            share(passed as f64, judged)
        };
        let of_all = |sum: f64| share(sum, self.pairs + self.unknown);
        Line {
            pairs: self.pairs,
            clusters: Some(self.clusters.iter().filter(|it| it.base.judged > 0).count() as u64),
            base: rate(|it| (it.base.passed, it.base.judged)),
            new: rate(|it| (it.new.passed, it.new.judged)),
            difference: found.map(|it| it.difference),
            interval,
            p,
            method: Method { interval: "pooled_difference", test: "student" },
            unknown: self.unknown,
            not_applicable: self.not_applicable,
            least: of_all(self.least),
            most: of_all(self.most),
            mde: se.filter(|_| word == Word::NotShown).map(|se| Some(reach(confidence) * se)),
            word,
            se,
            ..Line::empty(About::Judgements)
        }
    }
}
