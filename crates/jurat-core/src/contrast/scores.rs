//! Lines about scores.

use super::line::{About, Effect, Line, Method, word_of};
use super::sample::{Clustering, reach, share};
use crate::statistics::{Confidence, Word, cluster_mean, joined, sign_flip, wilcoxon};

/// How the p value of a score is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScoreTest {
    #[default]
    SignFlip,
    Wilcoxon,
}

/// The scores of two sides, gathered pair by pair.
#[derive(Debug)]
pub struct ScoreLine {
    clustering: Clustering,
    base: f64,
    new: f64,
    differences: Vec<f64>,
    clusters: Vec<u32>,
    unknown: u64,
    not_applicable: u64,
}

impl ScoreLine {
    pub fn new(clustering: Clustering) -> ScoreLine {
        ScoreLine {
            clustering,
            base: 0.0,
            new: 0.0,
            differences: Vec::new(),
            clusters: Vec::new(),
            unknown: 0,
            not_applicable: 0,
        }
    }

    /// Takes in the mean scores of a pair of units.
    pub fn add(&mut self, base: Option<f64>, new: Option<f64>, cluster: u32) {
        match (base, new) {
            (Some(base), Some(new)) => {
                self.base += base;
                self.new += new;
                self.differences.push(new - base);
                self.clusters.push(cluster);
            }
            (None, None) => self.not_applicable += 1,
            _ => self.unknown += 1,
        }
    }

    pub fn finish(&self, about: About, confidence: Confidence, test: ScoreTest) -> Line {
        let n = self.differences.len() as u64;
        let clusters = self.clustering.clusters(&self.clusters);
        let found = cluster_mean(&self.differences, &clusters, confidence);
        let ranks = wilcoxon(&self.differences);
        let (p, test) = match test {
            ScoreTest::Wilcoxon => (found.map(|_| ranks.p()), "wilcoxon"),
            ScoreTest::SignFlip => match sign_flip(&clusters.sums(self.differences.iter().copied())) {
                Some(flips) => (found.map(|_| flips.mid_p), "sign_flip_mid_p"),
                None => (found.and_then(|it| it.p()), "student"),
            },
        };
        // Where nothing varies, nothing is known of how much it could have.
        let varies = self.differences.iter().any(|it| *it != 0.0);
        let interval =
            found.and_then(|it| it.interval).filter(|_| varies).map(|it| p.map_or(it, |p| joined(it, p, confidence)));
        let n_clusters = found.map_or(0, |it| it.clusters);
        let se = found.and_then(|it| it.spread).map(|it| it.cr2.sqrt());
        let word = word_of(interval);
        let count = |is: fn(f64) -> bool| self.differences.iter().filter(|it| is(**it)).count() as u64;
        Line {
            pairs: n,
            clusters: self.clustering.is_shared().then_some(n_clusters),
            base: share(self.base, n),
            new: share(self.new, n),
            difference: found.map(|it| it.mean),
            interval,
            p: p.filter(|_| interval.is_some()),
            method: Method { interval: "cluster_mean", test },
            effect: Effect { d_z: self.d_z(), rank_biserial: ranks.rank_biserial, ..Effect::default() },
            moved: Some([count(|it| it > 0.0), count(|it| it == 0.0), count(|it| it < 0.0)]),
            unknown: self.unknown,
            not_applicable: self.not_applicable,
            mde: se.filter(|_| word == Word::NotShown).map(|se| Some(reach(confidence) * se)),
            word,
            marks: self.clustering.marks(n_clusters, interval, p, confidence),
            se,
            ..Line::empty(about)
        }
    }

    fn d_z(&self) -> Option<f64> {
        let n = self.differences.len() as f64;
        let mean = self.differences.iter().sum::<f64>() / n;
        let squares: f64 = self.differences.iter().map(|it| (it - mean) * (it - mean)).sum();
        let deviation = (squares / (n - 1.0)).sqrt();
        (n > 1.0 && deviation > 0.0).then(|| mean / deviation)
    }
}
