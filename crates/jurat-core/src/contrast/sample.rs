//! Pairs of values, and what they show of the difference between two sides.

use super::line::{Effect, Mark, Method, word_of};
use crate::statistics::{
    Clusters, Confidence, Interval, Pairs, Word, cluster_mean, effective_difference, flip_odds, mde_paired,
    normal_quantile, paired_difference,
};

/// Whether units are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// Each unit passed or failed once, and is a cluster of its own.
    Single,
    /// Units were repeated; each is a cluster of its own.
    Repeated,
    /// A row is several units, which differ in prompt or subject; the row is the cluster.
    Rows,
    /// Several rows share a cluster.
    Clustered,
}

/// With fewer clusters than this, intervals are rough.
pub(super) const ENOUGH_CLUSTERS: u64 = 30;

/// The power at which the smallest difference that would have been shown is computed.
pub(super) const POWER: f64 = 0.8;

/// Pairs of pass rates.
#[derive(Debug)]
pub(super) struct Sample {
    clustering: Clustering,
    table: Pairs,
    base: f64,
    new: f64,
    differences: Vec<f64>,
    clusters: Vec<u32>,
}

/// What a sample shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Estimate {
    pub(super) pairs: u64,
    pub(super) base: Option<f64>,
    pub(super) new: Option<f64>,
    pub(super) difference: Option<f64>,
    pub(super) interval: Option<Interval>,
    pub(super) p: Option<f64>,
    pub(super) clusters: Option<u64>,
    pub(super) method: Method,
    pub(super) table: Option<Pairs>,
    pub(super) effect: Effect,
    pub(super) mde: Option<Option<f64>>,
    pub(super) se: Option<f64>,
    pub(super) marks: Vec<Mark>,
}

impl Estimate {
    pub(super) fn word(&self) -> Word {
        word_of(self.interval)
    }
}

impl Sample {
    pub(super) fn new(clustering: Clustering) -> Sample {
        Sample {
            clustering,
            table: Pairs::default(),
            base: 0.0,
            new: 0.0,
            differences: Vec::new(),
            clusters: Vec::new(),
        }
    }

    /// Takes in a pair of rates.
    pub(super) fn push(&mut self, base: f64, new: f64, cluster: u32) {
        if self.clustering == Clustering::Single {
            let count = match (base > 0.5, new > 0.5) {
                (true, true) => &mut self.table.both,
                (true, false) => &mut self.table.only_base,
                (false, true) => &mut self.table.only_new,
                (false, false) => &mut self.table.neither,
            };
            *count += 1;
            return;
        }
        self.base += base;
        self.new += new;
        self.differences.push(new - base);
        if self.clustering.is_shared() {
            self.clusters.push(cluster);
        }
    }

    /// The difference alone.
    pub(super) fn difference(&self) -> Option<f64> {
        match self.clustering {
            Clustering::Single => self.table.difference(),
            _ => share(self.new - self.base, self.differences.len() as u64),
        }
    }

    pub(super) fn estimate(&self, confidence: Confidence) -> Estimate {
        match self.clustering {
            Clustering::Single => self.of_table(confidence),
            Clustering::Repeated | Clustering::Rows | Clustering::Clustered => self.of_clusters(confidence),
        }
    }

    fn of_table(&self, confidence: Confidence) -> Estimate {
        let Pairs { both, only_base, only_new, .. } = self.table;
        let pairs = self.table.n();
        let found = paired_difference(self.table, confidence).filter(|_| pairs > 1);
        Estimate {
            pairs,
            base: share((both + only_base) as f64, pairs),
            new: share((both + only_new) as f64, pairs),
            difference: self.difference(),
            interval: found.as_ref().map(|it| it.interval),
            p: found.as_ref().map(|it| it.p),
            clusters: None,
            method: Method { interval: "tango", test: "mcnemar_mid_p" },
            table: Some(self.table),
            effect: Effect { flip_odds: flip_odds(only_base, only_new, confidence), ..Effect::default() },
            mde: found.is_some().then(|| {
                let discordance = (only_base + only_new).max(3) as f64 / pairs as f64;
                mde_paired(pairs, discordance.min(1.0), confidence.alpha(), POWER)
            }),
            se: None,
            marks: Vec::new(),
        }
    }

    fn of_clusters(&self, confidence: Confidence) -> Estimate {
        let pairs = self.differences.len() as u64;
        let clusters = self.clustering.clusters(&self.clusters);
        let found = effective_difference(&self.differences, &clusters, confidence);
        let n_clusters = found.map_or(0, |it| it.clusters);
        let interval = found.and_then(|it| it.interval);
        // One cluster has no interval, and so no p value.
        let p = found.and_then(|it| it.p).filter(|_| interval.is_some());
        let test = found.and_then(|it| it.method).map_or("student", |_| "sign_flip_mid_p");
        let spread = cluster_mean(&self.differences, &clusters, confidence).and_then(|it| it.spread);
        let se = spread.map(|it| it.cr2.sqrt());
        Estimate {
            pairs,
            base: share(self.base, pairs),
            new: share(self.new, pairs),
            difference: self.difference(),
            interval,
            p,
            clusters: Some(n_clusters),
            method: Method { interval: "effective_difference", test },
            table: None,
            effect: Effect::default(),
            mde: se.map(|se| Some(reach(confidence) * se)),
            se,
            marks: self.clustering.marks(n_clusters, interval, p, confidence),
        }
    }
}

impl Clustering {
    /// Whether clusters hold several units.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Clustering::Rows | Clustering::Clustered)
    }

    /// The clusters of values, whose names are given where they share any.
    pub(super) fn clusters(self, names: &[u32]) -> Clusters {
        match self {
            Clustering::Rows | Clustering::Clustered => Clusters::by_key(names),
            Clustering::Single | Clustering::Repeated => Clusters::Alone,
        }
    }

    /// What a reader must know of a line.
    pub(super) fn marks(
        self,
        n_clusters: u64,
        interval: Option<Interval>,
        p: Option<f64>,
        confidence: Confidence,
    ) -> Vec<Mark> {
        let is_borderline = p.is_some_and(|it| it <= confidence.alpha()) && word_of(interval) == Word::NotShown;
        let is_few = self == Clustering::Clustered && n_clusters < ENOUGH_CLUSTERS;
        let marks = [(Mark::Borderline, is_borderline), (Mark::FewClusters, is_few)];
        marks.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }
}

/// How many standard errors a difference must be to be shown with the usual power.
pub(super) fn reach(confidence: Confidence) -> f64 {
    normal_quantile(1.0 - confidence.alpha() / 2.0) + normal_quantile(POWER)
}

pub(super) fn share(sum: f64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum / n as f64)
}
