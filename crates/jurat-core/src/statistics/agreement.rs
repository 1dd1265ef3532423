//! Whether raters agree: people with a judge, people with each other.
//!
//! Raw agreement flatters where one label is common, so measures stand beside it that take out what chance would reach.

use super::confidence::{Confidence, Side};
use super::interval::{Interval, wilson_of};
use super::mean::student_reach;
use super::sum::sum;

/// How many cases got each pair of labels: a row for each label of the people, a column for each of the judge. Counts may be weighted.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion(Vec<Vec<f64>>);

impl Confusion {
    /// `None` unless there are as many columns as rows in every row, and no count is negative.
    pub fn new(rows: Vec<Vec<f64>>) -> Option<Confusion> {
        let is_square = rows.iter().all(|row| row.len() == rows.len());
        let is_count = rows.iter().flatten().all(|it| it.is_finite() && *it >= 0.0);
        (is_square && is_count).then_some(Confusion(rows))
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.0.len()
    }

    /// How many cases people gave the one label and the judge the other.
    pub fn count(&self, human: usize, judge: usize) -> f64 {
        self.0[human][judge]
    }

    /// How many cases there are.
    pub fn n(&self) -> f64 {
        sum(self.0.iter().flatten().copied())
    }

    /// How many cases people gave this label.
    pub fn human(&self, label: usize) -> f64 {
        sum(self.0[label].iter().copied())
    }

    /// How many cases the judge gave this label.
    pub fn judge(&self, label: usize) -> f64 {
        sum(self.0.iter().map(|row| row[label]))
    }

    /// How many cases both gave the same label.
    pub fn agreed(&self) -> f64 {
        sum((0..self.labels()).map(|it| self.0[it][it]))
    }

    fn each(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.0.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, it)| (i, j, *it)))
    }
}

/// How much a pair of different labels counts as agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Not at all.
    None,
    /// For ordered labels: less with every step between them.
    Linear,
    /// For ordered labels: less with the square of the steps.
    Quadratic,
}

impl Weights {
    fn of(self, i: usize, j: usize, labels: usize) -> f64 {
        let steps = i.abs_diff(j) as f64 / (labels.max(2) - 1) as f64;
        match self {
            Weights::None => f64::from(u8::from(i == j)),
            Weights::Linear => 1.0 - steps,
            Weights::Quadratic => 1.0 - steps * steps,
        }
    }
}

/// Cohen's κ and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// `None` when chance alone agrees always: a κ of 1 from one label would say nothing.
    pub kappa: Option<f64>,
    pub se: Option<f64>,
    pub interval: Option<Interval>,
    /// The (weighted) share that agrees.
    pub observed: f64,
    /// The share that would agree by chance, with labels as common as they are.
    pub expected: f64,
}

/// Cohen's κ, weighted for ordered labels, with the standard error of Fleiss, Cohen and Everitt (1969). `None` without cases.
///
/// ```
/// use jurat_core::statistics::{Confidence, Confusion, Weights, cohen_kappa};
///
/// let matrix = Confusion::new(vec![vec![20.0, 5.0], vec![10.0, 15.0]]).unwrap();
/// let found = cohen_kappa(&matrix, Weights::None, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.3}", found.kappa.unwrap()), "0.400");
/// ```
pub fn cohen_kappa(matrix: &Confusion, weights: Weights, confidence: Confidence) -> Option<Kappa> {
    let (n, labels) = (matrix.n(), matrix.labels());
    if n <= 0.0 {
        return None;
    }
    let weight = |i: usize, j: usize| weights.of(i, j, labels);
    let human: Vec<f64> = (0..labels).map(|it| matrix.human(it) / n).collect();
    let judge: Vec<f64> = (0..labels).map(|it| matrix.judge(it) / n).collect();
    let observed = sum(matrix.each().map(|(i, j, count)| weight(i, j) * count / n));
    // What each label's weight is on average, against labels of the other side.
    let of_human: Vec<f64> = (0..labels).map(|i| sum((0..labels).map(|j| judge[j] * weight(i, j)))).collect();
    let of_judge: Vec<f64> = (0..labels).map(|j| sum((0..labels).map(|i| human[i] * weight(i, j)))).collect();
    let expected = sum((0..labels).map(|i| human[i] * of_human[i]));
    if expected >= 1.0 - 1e-12 {
        return Some(Kappa { kappa: None, se: None, interval: None, observed, expected });
    }
    let kappa = (observed - expected) / (1.0 - expected);
    let disagreement = 1.0 - kappa;
    let spread = sum(matrix
        .each()
        .map(|(i, j, count)| count / n * (weight(i, j) - (of_human[i] + of_judge[j]) * disagreement).powi(2)));
    let shift = kappa - expected * disagreement;
    let variance = (spread - shift * shift) / (n * (1.0 - expected).powi(2));
    let se = if variance > 1e-18 { variance.sqrt() } else { 0.0 };
    let interval = Interval::around(kappa, confidence.z() * se).cut(-1.0, 1.0);
    Some(Kappa { kappa: Some(kappa), se: Some(se), interval: Some(interval), observed, expected })
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub value: f64,
    pub interval: Interval,
}

impl Share {
    /// A share of counts that need not be whole; `None` of nothing.
    pub(super) fn of(part: f64, whole: f64, confidence: Confidence) -> Option<Share> {
        (whole > 0.0).then(|| Share { value: part / whole, interval: wilson_of(part, whole, confidence.z()) })
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Share {
        let Interval { low, high } = self.interval;
        Share { value: change(self.value), interval: Interval { low: change(low), high: change(high) } }
    }
}

/// How well a judge does on one label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelScore {
    /// Of the cases that the judge gave the label, the share that people gave it; `None` when it never did.
    pub precision: Option<Share>,
    /// Of the cases that people gave the label, the share that the judge gave it; `None` when they never did.
    pub recall: Option<Share>,
    pub f1: Option<Share>,
}

/// Precision, recall and F1 of each label, with Wilson's intervals. That of F1 follows from the one of q = TP / (TP + FP + FN), because F1 = 2q / (1 + q) grows with it.
pub fn label_scores(matrix: &Confusion, confidence: Confidence) -> Vec<LabelScore> {
    let score = |label: usize| {
        let (both, human, judge) = (matrix.count(label, label), matrix.human(label), matrix.judge(label));
        LabelScore {
            precision: Share::of(both, judge, confidence),
            recall: Share::of(both, human, confidence),
            f1: Share::of(both, human + judge - both, confidence).map(|it| it.map(|q| 2.0 * q / (1.0 + q))),
        }
    };
    (0..matrix.labels()).map(score).collect()
}

/// What kind of values raters gave, which says how far two of them lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Names: equal or not.
    Nominal,
    /// Ranks: as far apart as ratings lie between them.
    Ordinal,
    /// Numbers: the square of their distance.
    Interval,
}

/// Krippendorff's α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alpha {
    /// 1 for perfect agreement, 0 for that of chance; `None` where values do not vary.
    pub alpha: Option<f64>,
    /// Cases with at least two ratings.
    pub units: u64,
    pub se: Option<f64>,
    pub interval: Option<Interval>,
}

/// Krippendorff's α of ratings, a list for each case with an entry for each rater, and the interval of a jackknife that leaves out one case at a time.
///
/// It takes any number of raters, gaps, and three kinds of values. Cases with fewer than two ratings say nothing about agreement.
///
/// ```
/// use jurat_core::statistics::{Confidence, Level, krippendorff_alpha};
///
/// let ratings = vec![vec![Some(1.0), Some(1.0)], vec![Some(0.0), Some(0.0)], vec![Some(1.0), None]];
/// let found = krippendorff_alpha(&ratings, Level::Nominal, Confidence::USUAL);
/// assert_eq!((found.alpha, found.units), (Some(1.0), 2));
/// ```
pub fn krippendorff_alpha(ratings: &[Vec<Option<f64>>], level: Level, confidence: Confidence) -> Alpha {
    let table = Coincidences::of(ratings, None);
    let alpha = alpha(&table.pairs, level, &table.values);
    let se = alpha.and_then(|_| jackknife(&table, level));
    let units = table.units.len();
    let interval = alpha.zip(se).map(|(alpha, se)| {
        Interval::around(alpha, student_reach(confidence, Side::Both, units as f64 - 1.0) * se).cut(-1.0, 1.0)
    });
    Alpha { alpha, units: units as u64, se, interval }
}

/// The same for cases that stand for several each, without an interval. Weights of all cases sum to their number.
pub fn weighted_alpha(ratings: &[Vec<Option<f64>>], weights: &[f64], level: Level) -> Option<f64> {
    let table = Coincidences::of(ratings, Some(weights));
    alpha(&table.pairs, level, &table.values)
}

/// How often each two values stand together in a case.
struct Coincidences {
    values: Vec<f64>,
    /// Value by value, a row after the other.
    pairs: Vec<f64>,
    /// The values of each case with at least two ratings, by their index.
    units: Vec<Vec<usize>>,
}

impl Coincidences {
    fn of(ratings: &[Vec<Option<f64>>], weights: Option<&[f64]>) -> Coincidences {
        let mut values: Vec<f64> = ratings.iter().flatten().flatten().copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let index = |it: &f64| values.partition_point(|value| value < it);
        let weight = |ix: usize| weights.map_or(1.0, |it| it[ix]);
        let mut pairs = vec![0.0; values.len() * values.len()];
        let mut units = Vec::new();
        for (ix, unit) in ratings.iter().enumerate() {
            let unit: Vec<usize> = unit.iter().flatten().map(index).collect();
            if unit.len() > 1 {
                add_unit(&mut pairs, &unit, values.len(), weight(ix));
                units.push(unit);
            }
        }
        Coincidences { values, pairs, units }
    }
}

/// Adds the pairs of a case with its weight; with a negative one, takes them away.
fn add_unit(pairs: &mut [f64], unit: &[usize], values: usize, weight: f64) {
    let each = weight / (unit.len() - 1) as f64;
    for (at, one) in unit.iter().enumerate() {
        for (other_at, other) in unit.iter().enumerate() {
            if at != other_at {
                pairs[one * values + other] += each;
            }
        }
    }
}

fn alpha(pairs: &[f64], level: Level, values: &[f64]) -> Option<f64> {
    let count = values.len();
    let totals: Vec<f64> = (0..count).map(|it| sum(pairs[it * count..(it + 1) * count].iter().copied())).collect();
    let n = sum(totals.iter().copied());
    let distance = distances(level, values, &totals);
    let each = || (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
    let observed = sum(each().map(|(i, j)| pairs[i * count + j] * distance(i, j)));
    let expected = sum(each().map(|(i, j)| totals[i] * totals[j] * distance(i, j)));
    // Values that another case took away leave rounding behind.
    (expected > 1e-9 * n).then(|| 1.0 - (n - 1.0) * observed / expected)
}

/// How far two values lie apart, squared.
fn distances<'a>(level: Level, values: &'a [f64], totals: &'a [f64]) -> impl Fn(usize, usize) -> f64 + 'a {
    move |i, j| match level {
        _ if i == j => 0.0,
        Level::Nominal => 1.0,
        Level::Interval => (values[i] - values[j]).powi(2),
        Level::Ordinal => {
            let between = totals[i.min(j)..=i.max(j)].iter().sum::<f64>();
            (between - f64::midpoint(totals[i], totals[j])).powi(2)
        }
    }
}

/// The standard error of α from leaving out one case at a time; `None` where what is left does not vary.
fn jackknife(table: &Coincidences, level: Level) -> Option<f64> {
    let count = table.units.len() as f64;
    if table.units.len() < 2 {
        return None;
    }
    let mut pairs = table.pairs.clone();
    let mut without = Vec::with_capacity(table.units.len());
    for unit in &table.units {
        add_unit(&mut pairs, unit, table.values.len(), -1.0);
        without.push(alpha(&pairs, level, &table.values)?);
        add_unit(&mut pairs, unit, table.values.len(), 1.0);
    }
    let mean = sum(without.iter().copied()) / count;
    let spread = sum(without.iter().map(|it| (it - mean).powi(2)));
    // Taking a case out and putting it back leaves rounding of this size.
    let variance = (count - 1.0) / count * spread;
    Some(if variance > 1e-24 { variance.sqrt() } else { 0.0 })
}

/// Gwet's AC1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ac1 {
    pub ac1: f64,
    /// `None` for a single case.
    pub se: Option<f64>,
    pub interval: Option<Interval>,
}

/// Gwet's AC1 (2008) for any number of raters, which does not collapse where one label is rare, as κ does. Each rating is the index of one of `labels` labels.
/// `None` without a case that two rated, and for fewer than two labels.
///
/// ```
/// use jurat_core::statistics::{Confidence, gwet_ac1};
///
/// let ratings = vec![vec![Some(1), Some(1)], vec![Some(1), Some(1)], vec![Some(1), Some(1)], vec![Some(1), Some(0)]];
/// let found = gwet_ac1(&ratings, 2, Confidence::USUAL).unwrap();
/// assert_eq!(format!("{:.2}", found.ac1), "0.68");
/// ```
pub fn gwet_ac1(ratings: &[Vec<Option<usize>>], labels: usize, confidence: Confidence) -> Option<Ac1> {
    let units: Vec<Counts> = ratings.iter().filter_map(|it| Counts::of(it, labels)).collect();
    let several: Vec<&Counts> = units.iter().filter(|it| it.n > 1.0).collect();
    if labels < 2 || several.is_empty() {
        return None;
    }
    let n = units.len() as f64;
    let observed = sum(several.iter().map(|it| it.agreement())) / several.len() as f64;
    let common: Vec<f64> = (0..labels).map(|k| sum(units.iter().map(|it| it.of[k] / it.n)) / n).collect();
    let scale = (labels - 1) as f64;
    let expected = sum(common.iter().map(|it| it * (1.0 - it))) / scale;
    let ac1 = (observed - expected) / (1.0 - expected);
    // What each case adds, through its agreement and through how common it makes labels.
    let pull = |it: &Counts| {
        let own =
            if it.n > 1.0 { n / several.len() as f64 * (it.agreement() - expected) / (1.0 - expected) } else { 0.0 };
        let chance = sum((0..labels).map(|k| it.of[k] / it.n * (1.0 - common[k]))) / scale;
        own - 2.0 * (1.0 - ac1) * (chance - expected) / (1.0 - expected) - ac1
    };
    let se = (units.len() > 1).then(|| (sum(units.iter().map(|it| pull(it).powi(2))) / (n * (n - 1.0))).sqrt());
    let interval =
        se.map(|it| Interval::around(ac1, student_reach(confidence, Side::Both, n - 1.0) * it).cut(-1.0, 1.0));
    Some(Ac1 { ac1, se, interval })
}

/// The same for cases that stand for several each, without an interval.
pub fn weighted_ac1(ratings: &[Vec<Option<usize>>], weights: &[f64], labels: usize) -> Option<f64> {
    let units: Vec<(Counts, f64)> =
        ratings.iter().zip(weights).filter_map(|(it, weight)| Some((Counts::of(it, labels)?, *weight))).collect();
    let several = || units.iter().filter(|it| it.0.n > 1.0);
    let (all, of_several) = (sum(units.iter().map(|it| it.1)), sum(several().map(|it| it.1)));
    if labels < 2 || of_several <= 0.0 {
        return None;
    }
    let observed = sum(several().map(|(it, weight)| weight * it.agreement())) / of_several;
    let common = |k: usize| sum(units.iter().map(|(it, weight)| weight * it.of[k] / it.n)) / all;
    let expected = sum((0..labels).map(common).map(|it| it * (1.0 - it))) / (labels - 1) as f64;
    Some((observed - expected) / (1.0 - expected))
}

/// How often a case got each label.
struct Counts {
    of: Vec<f64>,
    n: f64,
}

impl Counts {
    /// `None` for a case without a rating.
    fn of(ratings: &[Option<usize>], labels: usize) -> Option<Counts> {
        let mut of = vec![0.0; labels];
        ratings.iter().flatten().filter(|it| **it < labels).for_each(|it| of[*it] += 1.0);
        let n = of.iter().sum();
        (n > 0.0).then_some(Counts { of, n })
    }

    /// The share of pairs of raters that agree.
    fn agreement(&self) -> f64 {
        self.of.iter().map(|it| it * (it - 1.0)).sum::<f64>() / (self.n * (self.n - 1.0))
    }
}
