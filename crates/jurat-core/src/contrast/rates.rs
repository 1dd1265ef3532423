//! Lines about pass rates.

use super::line::{About, Line, Method, word_of};
use super::repetitions::{Repetitions, Standing};
use super::sample::{Clustering, Sample};
use crate::statistics::{Confidence, Interval, Tally, Word, fisher, joined, newcombe_unpaired};

/// A difference under some assumption about what is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World {
    pub difference: Option<f64>,
    pub interval: Option<Interval>,
}

/// A pass rate of two sides, gathered pair by pair.
#[derive(Debug)]
pub struct RateLine {
    observed: Sample,
    /// With everything that is unknown against NEW, and for it.
    least: Sample,
    most: Sample,
    moved: [u64; 3],
    unknown: u64,
    not_applicable: u64,
}

impl RateLine {
    pub fn new(clustering: Clustering) -> RateLine {
        RateLine {
            observed: Sample::new(clustering),
            least: Sample::new(clustering),
            most: Sample::new(clustering),
            moved: [0; 3],
            unknown: 0,
            not_applicable: 0,
        }
    }

    /// Takes in a pair of units.
    pub fn add(&mut self, base: &Repetitions, new: &Repetitions, cluster: u32) {
        match base.against(new) {
            Standing::NotApplicable => return self.not_applicable += 1,
            Standing::Unknown => self.unknown += 1,
            Standing::Pair => {
                if let (Some(was), Some(now)) = (base.rate(), new.rate()) {
                    self.observe(was, now, cluster);
                    if base.is_one_judged() && new.is_one_judged() {
                        self.least.push(was, now, cluster);
                        self.most.push(was, now, cluster);
                        return;
                    }
                }
            }
        }
        self.least.push(base.most(), new.least(), cluster);
        self.most.push(base.least(), new.most(), cluster);
    }

    fn observe(&mut self, base: f64, new: f64, cluster: u32) {
        self.observed.push(base, new, cluster);
        self.moved[if new > base {
            0
        } else if new < base {
            2
        } else {
            1
        }] += 1;
    }

    /// How many pairs are unknown, and how many have nothing to compare.
    pub fn left_out(&self) -> (u64, u64) {
        (self.unknown, self.not_applicable)
    }

    /// What is shown as observed, with everything that is unknown against NEW, and with all of it for NEW.
    pub fn worlds(&self, confidence: Confidence) -> [World; 3] {
        [&self.observed, &self.least, &self.most].map(|it| {
            let found = it.estimate(confidence);
            World { difference: found.difference, interval: found.interval }
        })
    }

    pub fn finish(&self, about: About, confidence: Confidence) -> Line {
        let found = self.observed.estimate(confidence);
        let word = found.word();
        let least = self.least.estimate(confidence);
        let most = self.most.estimate(confidence);
        let robust = found.difference.map(|_| least.word() == word && most.word() == word);
        Line {
            pairs: found.pairs,
            clusters: found.clusters,
            base: found.base,
            new: found.new,
            difference: found.difference,
            interval: found.interval,
            p: found.p,
            method: found.method,
            table: found.table,
            effect: found.effect,
            moved: Some(self.moved),
            unknown: self.unknown,
            not_applicable: self.not_applicable,
            least: least.difference,
            most: most.difference,
            robust,
            mde: found.mde.filter(|_| word == Word::NotShown),
            word,
            marks: found.marks,
            se: found.se,
            ..Line::empty(about)
        }
    }
}

/// The same for sides that are independent samples.
pub fn unpaired(about: About, base: Tally, new: Tally, confidence: Confidence) -> Line {
    let found = newcombe_unpaired(base, new, confidence);
    let p = fisher(base, new).filter(|_| found.is_some());
    let interval = found.zip(p).map(|(found, p)| joined(found.interval, p, confidence));
    Line {
        pairs: base.judged.min(new.judged),
        base: base.rate(),
        new: new.rate(),
        difference: found.map(|it| it.difference),
        interval,
        p,
        method: Method { interval: "newcombe_unpaired", test: "fisher" },
        word: word_of(interval),
        ..Line::empty(about)
    }
}
