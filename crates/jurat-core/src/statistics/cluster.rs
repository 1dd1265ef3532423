//! Values that come in clusters: repetitions of a row, rows of one document, judgements of one case.
//!
//! What belongs together is not independent, and an interval that takes it for so promises too much. Variances are those of Bell and McCaffrey
//! (CR2), which are unbiased when clusters are alike, with Satterthwaite's degrees of freedom; for means and ratios both are closed forms.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::confidence::{Confidence, Side};
use super::flips::{FlipMethod, sign_flip};
use super::interval::{Interval, clopper_pearson};
use super::mean::student_reach;
use super::paired::{Score, Word, joined};
use super::special::student_two_sided;
use super::sum::{mean, sum};
use super::unpaired::Tally;

/// Which cluster each of a list of values belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clusters {
    /// Each value is a cluster of its own.
    Alone,
    /// The cluster of each value, numbered from 0 without gaps.
    Grouped(Vec<u32>),
}

impl Clusters {
    /// Clusters by their names, one for each value.
    ///
    /// ```
    /// use jurat_core::statistics::Clusters;
    ///
    /// assert_eq!(Clusters::by_key(["a", "b", "a"]), Clusters::Grouped(vec![0, 1, 0]));
    /// assert_eq!(Clusters::by_key(["a", "b", "c"]), Clusters::Alone);
    /// ```
    pub fn by_key<K: Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Clusters {
        let mut known: HashMap<K, u32> = HashMap::new();
        let mut of = Vec::new();
        for key in keys {
            let next = known.len() as u32;
            of.push(*known.entry(key).or_insert(next));
        }
        if known.len() == of.len() { Clusters::Alone } else { Clusters::Grouped(of) }
    }

    /// The values of each cluster, added up.
    pub(crate) fn sums(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let values: Vec<f64> = values.collect();
        self.gathered(&values).iter().map(|it| it.sum).collect()
    }

    /// The values of each cluster, added up; and how many there are. The order of clusters is that of their numbers.
    fn gathered(&self, values: &[f64]) -> Vec<Gathered> {
        let Clusters::Grouped(of) = self else {
            return values.iter().map(|it| Gathered { sum: *it, size: 1.0, spread: it.abs() }).collect();
        };
        let mut order: Vec<usize> = (0..values.len().min(of.len())).collect();
        order.sort_by_key(|ix| of[*ix]);
        order.chunk_by(|a, b| of[*a] == of[*b]).map(|members| Gathered::of(values, members)).collect()
    }
}

/// The share of what was added up that rounding may leave of values that cancel out.
const ROUNDING: f64 = 1e-13;

/// One cluster.
#[derive(Debug, Clone, Copy)]
struct Gathered {
    sum: f64,
    size: f64,
    /// The sum of absolute values, which says how large a rounding error may be.
    spread: f64,
}

impl Gathered {
    fn of(values: &[f64], members: &[usize]) -> Gathered {
        let spread = sum(members.iter().map(|ix| values[*ix].abs()));
        let total = sum(members.iter().map(|ix| values[*ix]));
        // Values such as 1 - 1/3 are rounded, so those that cancel out leave a little, which a test of signs would count as a difference.
        Gathered { sum: if total.abs() <= ROUNDING * spread { 0.0 } else { total }, size: members.len() as f64, spread }
    }

    /// What the cluster adds to the residuals of a mean; what rounding alone would leave counts as none.
    fn residual(&self, mean: f64) -> f64 {
        let residual = self.sum - self.size * mean;
        if residual.abs() <= ROUNDING * (self.spread + self.size * mean.abs()) { 0.0 } else { residual }
    }
}

/// How far clusters pull an estimate.
#[derive(Debug, Clone, Copy)]
struct Pull {
    /// The sum of its residuals, in units of the estimate.
    residual: f64,
    /// The share of all values that it holds.
    share: f64,
    /// How many clusters are like this one.
    count: f64,
}

impl Pull {
    fn rho(&self) -> f64 {
        self.share * self.share / (1.0 - self.share)
    }
}

/// The variance of an estimate, robust against clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterVariance {
    /// Without correction: too small when clusters are few.
    pub cr0: f64,
    /// Corrected by G / (G − 1).
    pub cr1: f64,
    /// Corrected cluster by cluster; what intervals use.
    pub cr2: f64,
    /// Satterthwaite's degrees of freedom of `cr2`.
    pub df: f64,
}

impl ClusterVariance {
    /// `None` for fewer than two clusters. They are gone through several times rather than held: there may be a million.
    fn of(clusters: impl Iterator<Item = Pull> + Clone) -> Option<ClusterVariance> {
        let count = sum(clusters.clone().map(|it| it.count));
        if count < 2.0 {
            return None;
        }
        let over = |term: fn(&Pull) -> f64| sum(clusters.clone().map(|it| it.count * term(&it)));
        let cr0 = over(|it| it.residual * it.residual);
        let rhos = over(Pull::rho);
        let df = 1.0 / (over(|it| it.share * it.share) + rhos * rhos - over(|it| it.rho().powi(2)));
        Some(ClusterVariance {
            cr0,
            cr1: cr0 * count / (count - 1.0),
            cr2: over(|it| it.residual * it.residual / (1.0 - it.share)),
            df,
        })
    }

    fn se(&self) -> f64 {
        self.cr2.sqrt()
    }
}

/// A mean over clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterMean {
    pub mean: f64,
    pub n: u64,
    pub clusters: u64,
    /// `None` for fewer than two clusters.
    pub spread: Option<ClusterVariance>,
    pub interval: Option<Interval>,
}

impl ClusterMean {
    /// The two-sided p value of a mean of 0, from the same t; `None` without an interval, and where nothing varies and the mean is not 0.
    pub fn p(&self) -> Option<f64> {
        t_test(self.mean, self.spread?)
    }
}

/// The p value of an estimate of 0.
fn t_test(estimate: f64, spread: ClusterVariance) -> Option<f64> {
    match (estimate == 0.0, spread.cr2 > 0.0) {
        (true, _) => Some(1.0),
        (_, true) => Some(student_two_sided(estimate / spread.se(), spread.df)),
        _ => None,
    }
}

/// The mean of values in clusters; `None` without values.
///
/// ```
/// use jurat_core::statistics::{Clusters, Confidence, cluster_mean};
///
/// let values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
/// let clusters = Clusters::by_key(["a", "a", "b", "b", "c", "c", "d", "d"]);
/// let found = cluster_mean(&values, &clusters, Confidence::USUAL).unwrap();
/// assert_eq!((found.mean, found.clusters), (0.625, 4));
/// assert_eq!(format!("{:.4}", found.interval.unwrap().high), "1.3867");
/// ```
pub fn cluster_mean(values: &[f64], clusters: &Clusters, confidence: Confidence) -> Option<ClusterMean> {
    let mean = mean(values)?;
    let n = values.len() as f64;
    let gathered = clusters.gathered(values);
    let spread = spread_of_mean(&gathered, mean, n);
    let interval = spread.map(|it| Interval::around(mean, student_reach(confidence, Side::Both, it.df) * it.se()));
    Some(ClusterMean { mean, n: values.len() as u64, clusters: gathered.len() as u64, spread, interval })
}

fn spread_of_mean(gathered: &[Gathered], mean: f64, n: f64) -> Option<ClusterVariance> {
    let pull = |it: &Gathered| Pull { residual: it.residual(mean) / n, share: it.size / n, count: 1.0 };
    ClusterVariance::of(gathered.iter().map(pull))
}

/// A pass rate over clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveRate {
    pub rate: f64,
    /// How many independent judgements these are worth; `None` for fewer than two clusters.
    pub effective: Option<f64>,
    pub interval: Option<Interval>,
}

/// The pass rate of judgements that come in clusters, with the exact interval for as many judgements as they are worth (Korn and Graubard
/// 1998). `None` when nothing was judged.
///
/// 24 judgements of 4 cases say little more than 4 judgements do. Where all or none passed, nothing shows how alike the judgements of a cluster
/// are, so each cluster counts once.
///
/// ```
/// use jurat_core::statistics::{Confidence, Side, Tally, effective_rate};
///
/// let cases = [3, 3, 3, 3].map(|it| Tally { passed: it, judged: 3 });
/// let found = effective_rate(&cases, Confidence::USUAL, Side::Both).unwrap();
/// assert_eq!((found.rate, found.effective), (1.0, Some(4.0)));
/// ```
pub fn effective_rate(clusters: &[Tally], confidence: Confidence, side: Side) -> Option<EffectiveRate> {
    let mut counted: BTreeMap<Tally, u64> = BTreeMap::new();
    clusters.iter().for_each(|it| *counted.entry(*it).or_default() += 1);
    effective_rate_counted(&counted, confidence, side)
}

/// The same for clusters of which many are alike: what passed of what was judged, with the number of such clusters.
pub fn effective_rate_counted(
    clusters: &BTreeMap<Tally, u64>,
    confidence: Confidence,
    side: Side,
) -> Option<EffectiveRate> {
    let clusters: Vec<(Tally, u64)> = clusters.iter().map(|it| (*it.0, *it.1)).filter(|it| it.0.judged > 0).collect();
    let passed: u64 = clusters.iter().map(|(it, n)| it.passed * n).sum();
    let judged: u64 = clusters.iter().map(|(it, n)| it.judged * n).sum();
    let rate = Tally { passed, judged }.rate()?;
    let effective = worth(&clusters, rate, judged as f64, confidence, side);
    let interval = effective.and_then(|it| clopper_pearson(it * rate, it, confidence, side));
    Some(EffectiveRate { rate, effective, interval })
}

/// How many independent judgements clusters of them are worth.
fn worth(clusters: &[(Tally, u64)], rate: f64, judged: f64, confidence: Confidence, side: Side) -> Option<f64> {
    let pull = |(it, n): &(Tally, u64)| {
        let gathered = Gathered { sum: it.passed as f64, size: it.judged as f64, spread: it.passed as f64 };
        Pull { residual: gathered.residual(rate) / judged, share: it.judged as f64 / judged, count: *n as f64 }
    };
    let spread = ClusterVariance::of(clusters.iter().map(pull))?;
    if rate == 0.0 || rate == 1.0 {
        return Some(clusters.iter().map(|it| it.1).sum::<u64>() as f64);
    }
    if spread.cr2 == 0.0 {
        return Some(judged);
    }
    let reaches = student_reach(confidence, side, judged - 1.0) / student_reach(confidence, side, spread.df);
    Some((rate * (1.0 - rate) / spread.cr2 * reaches * reaches).min(judged))
}

/// A difference of pass rates of units that are repeated or come in clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveDifference {
    pub difference: f64,
    /// The mean size of the units' differences.
    pub discordance: f64,
    pub clusters: u64,
    /// How many independent pairs these are worth; `None` for fewer than two clusters.
    pub effective: Option<f64>,
    pub interval: Option<Interval>,
    /// Two-sided.
    pub p: Option<f64>,
    /// How p was found; `None` for the t test, where signs could not be counted.
    pub method: Option<FlipMethod>,
}

impl EffectiveDifference {
    /// What may be said of it.
    pub fn word(&self) -> Word {
        self.interval.map_or(Word::NotShown, Word::of)
    }
}

/// Tango's interval for as many pairs as the differences of units are worth, joined with a sign-flip test of the clusters' sums. `None` without
/// differences.
///
/// The usual interval from a robust variance and t covers as little as 64 % where passes are rare; this one covers 94 % and more for
/// repeated rows.
pub fn effective_difference(
    differences: &[f64],
    clusters: &Clusters,
    confidence: Confidence,
) -> Option<EffectiveDifference> {
    let difference = mean(differences)?;
    let n = differences.len() as f64;
    let discordance = sum(differences.iter().map(|it| it.abs())) / n;
    let gathered = clusters.gathered(differences);
    let spread = spread_of_mean(&gathered, difference, n);
    let sums: Vec<f64> = gathered.iter().map(|it| it.sum).collect();
    let flips = sign_flip(&sums);
    let p = flips.map(|it| it.mid_p).or_else(|| t_test(difference, spread?));
    let varying = discordance - difference * difference;
    let effective = spread.map(|it| worth_in_pairs(&it, varying, n, gathered.len() as f64, confidence));
    let interval = effective.map(|it| {
        let score = Score {
            n: it,
            only_base: it * (discordance - difference) / 2.0,
            only_new: it * (discordance + difference) / 2.0,
        };
        let interval = score.interval(confidence);
        p.map_or(interval, |p| joined(interval, p, confidence))
    });
    let clusters = gathered.len() as u64;
    let method = flips.map(|it| it.method);
    Some(EffectiveDifference { difference, discordance, clusters, effective, interval, p, method })
}

/// How many pairs have the variance that was found, were they independent.
fn worth_in_pairs(spread: &ClusterVariance, varying: f64, n: f64, clusters: f64, confidence: Confidence) -> f64 {
    if spread.cr2 == 0.0 || varying <= 1e-14 {
        return clusters;
    }
    let reaches = confidence.z() / student_reach(confidence, Side::Both, spread.df);
    let effective = varying / spread.cr2 * reaches * reaches;
    if clusters < n { effective.min(n) } else { effective }
}

/// A difference of pass rates over all judgements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledDifference {
    pub difference: f64,
    /// `None` for fewer than two rows.
    pub se: Option<f64>,
    pub df: Option<f64>,
    pub interval: Option<Interval>,
    /// Two-sided, from the same t.
    pub p: Option<f64>,
}

/// What one row adds to either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowTally {
    pub base: Tally,
    pub new: Tally,
}

/// The difference of pass rates over all judgements, with rows as clusters: a ratio estimator, because rows may have judged more or fewer tasks. `None` when a side
/// judged nothing.
pub fn pooled_difference(rows: &[RowTally], confidence: Confidence) -> Option<PooledDifference> {
    let total = |side: fn(&RowTally) -> Tally| Tally {
        passed: rows.iter().map(|it| side(it).passed).sum(),
        judged: rows.iter().map(|it| side(it).judged).sum(),
    };
    let (base, new) = (total(|it| it.base), total(|it| it.new));
    let (base_rate, new_rate) = (base.rate()?, new.rate()?);
    let difference = new_rate - base_rate;
    let pull = |it: Tally, rate: f64, all: Tally| (it.passed as f64 - it.judged as f64 * rate) / all.judged as f64;
    let share = |it: Tally, all: Tally| it.judged as f64 / all.judged as f64;
    let clusters = rows.iter().filter(|it| it.base.judged + it.new.judged > 0).map(|it| {
        let residual = pull(it.new, new_rate, new) - pull(it.base, base_rate, base);
        let share = f64::midpoint(share(it.base, base), share(it.new, new));
        Pull { residual, share, count: 1.0 }
    });
    let spread = ClusterVariance::of(clusters);
    let interval = spread
        .map(|it| Interval::around(difference, student_reach(confidence, Side::Both, it.df) * it.se()).cut(-1.0, 1.0));
    let p = spread.and_then(|it| t_test(difference, it));
    Some(PooledDifference { difference, se: spread.map(|it| it.se()), df: spread.map(|it| it.df), interval, p })
}

/// A ratio NEW / BASE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    /// `None` for fewer than two clusters.
    pub interval: Option<Interval>,
}

/// The ratio of the means of two paired lists, such as costs: money adds up, so the ratio of means is what matters, not the mean of ratios. `None` when
/// a mean is not positive, or the lists differ in length.
///
/// The interval is found on the logarithmic scale, where halving and doubling are as far away.
pub fn ratio_of_means(base: &[f64], new: &[f64], clusters: &Clusters, confidence: Confidence) -> Option<Ratio> {
    let (base_mean, new_mean) = (mean(base)?, mean(new)?);
    if base.len() != new.len() || base_mean <= 0.0 || new_mean <= 0.0 {
        return None;
    }
    let pulls: Vec<f64> = base.iter().zip(new).map(|(x, y)| y / new_mean - x / base_mean).collect();
    let ratio = new_mean / base_mean;
    let spread = spread_of_mean(&clusters.gathered(&pulls), 0.0, pulls.len() as f64);
    let interval = spread.map(|it| {
        let reach = student_reach(confidence, Side::Both, it.df) * it.se();
        Interval { low: ratio * (-reach).exp(), high: ratio * reach.exp() }
    });
    Some(Ratio { ratio, interval })
}
