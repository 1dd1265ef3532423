//! Tests that count what chance could have done: every way to flip signs, every way to rank.

use super::special::normal_sf;
use super::sum::{ExactSum, sum};

/// p values of a sign-flip test, two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    pub exact: f64,
    /// Patterns as extreme as the observed one counted half; equals McNemar's where every sum is −1, 0 or 1.
    pub mid_p: f64,
    pub method: FlipMethod,
}

/// How the patterns of signs were counted; the result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlipMethod {
    /// Over whole numbers, by convolution.
    Counted,
    /// One by one.
    Enumerated,
}

impl FlipMethod {
    /// How reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            FlipMethod::Counted => "counted",
            FlipMethod::Enumerated => "enumerated",
        }
    }
}

/// Sums that differ by less than this share of all of them count as equal: they were reached by different roundings.
const EQUAL: f64 = 1e-9;

/// The share of the 2ᵐ patterns of signs whose sum lies at least as far from 0 as the observed one: without a difference between sides, each cluster's
/// sum could as well have had the other sign. Both are 1 when the observed sum is 0.
///
/// Nothing is drawn at random. Sums that are multiples of a small unit are counted by convolution, up to 20 others one by one; `None` where neither
/// can be done, and a t test must take its place.
///
/// ```
/// use jurat_core::statistics::sign_flip;
///
/// let found = sign_flip(&[0.3, -0.1, 0.2, 0.4, -0.2]).unwrap();
/// assert_eq!((found.exact, found.mid_p), (0.4375, 0.34375));
/// ```
pub fn sign_flip(sums: &[f64]) -> Option<SignFlip> {
    let total = sum(sums.iter().map(|it| it.abs()));
    let sums: Vec<f64> = sums.iter().copied().filter(|it| it.abs() > EQUAL * total).collect();
    let observed = sum(sums.iter().copied()).abs();
    if observed <= EQUAL * total {
        return Some(SignFlip { exact: 1.0, mid_p: 1.0, method: FlipMethod::Counted });
    }
    if let Some(whole) = whole_numbers(&sums, total) {
        return Some(counted(&whole));
    }
    (sums.len() <= MOST_ENUMERATED).then(|| enumerated(&sums, observed, EQUAL * total))
}

/// More are 2²⁰ patterns and beyond.
const MOST_ENUMERATED: usize = 20;

/// Additions that counting may take.
const MOST_ADDITIONS: f64 = 1e8;

/// The finest grid that is looked for: four decimal places.
const FINEST: u32 = 10_000;

/// The sums as multiples of the largest unit 1/d that fits all of them, where counting them is affordable.
fn whole_numbers(sums: &[f64], total: f64) -> Option<Vec<i64>> {
    (1..=FINEST).take_while(|it| sums.len() as f64 * total * f64::from(*it) <= MOST_ADDITIONS).find_map(|denominator| {
        let scale = f64::from(denominator);
        let fits = |it: &f64| (it * scale - (it * scale).round()).abs() <= EQUAL * (it * scale).abs().max(EQUAL);
        sums.iter().all(fits).then(|| sums.iter().map(|it| (it * scale).round() as i64).collect())
    })
}

fn counted(sums: &[i64]) -> SignFlip {
    let sizes: Vec<usize> = sums.iter().map(|it| it.unsigned_abs() as usize).collect();
    let all: usize = sizes.iter().sum();
    let observed = sums.iter().sum::<i64>().unsigned_abs() as usize;
    let chances = subset_chances(&sizes);
    // A subset with sum s is a pattern with sum 2s − all. Both tails are alike, and the observed sum has the parity of all.
    let at = (all - observed) / 2;
    let beyond = sum(chances[..at].iter().copied());
    flip_shares(2.0 * beyond, 2.0 * chances[at], FlipMethod::Counted)
}

/// How likely each sum of a subset is, when each number is in it with probability ½.
fn subset_chances(sizes: &[usize]) -> Vec<f64> {
    let mut chances = vec![0.0; sizes.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for size in sizes {
        reached += size;
        for s in (*size..=reached).rev() {
            chances[s] = 0.5 * (chances[s] + chances[s - size]);
        }
        chances[..*size].iter_mut().for_each(|it| *it *= 0.5);
    }
    chances
}

fn enumerated(sums: &[f64], observed: f64, equal: f64) -> SignFlip {
    // The first sign is fixed: every pattern has a mirror image that is as extreme.
    let Some((first, rest)) = sums.split_first() else {
        return flip_shares(0.0, 1.0, FlipMethod::Enumerated);
    };
    let mut count = Extremes { observed, equal, beyond: 0, alike: 0 };
    count.each(*first, rest);
    let patterns = (1_u64 << rest.len()) as f64;
    flip_shares(count.beyond as f64 / patterns, count.alike as f64 / patterns, FlipMethod::Enumerated)
}

/// Patterns that are more extreme than the observed one, and those that are as extreme.
struct Extremes {
    observed: f64,
    equal: f64,
    beyond: u64,
    alike: u64,
}

impl Extremes {
    fn each(&mut self, so_far: f64, rest: &[f64]) {
        match rest.split_first() {
            Some((next, rest)) => {
                self.each(so_far + next, rest);
                self.each(so_far - next, rest);
            }
            None if (so_far.abs() - self.observed).abs() <= self.equal => self.alike += 1,
            None => self.beyond += u64::from(so_far.abs() > self.observed),
        }
    }
}

fn flip_shares(beyond: f64, alike: f64, method: FlipMethod) -> SignFlip {
    SignFlip { exact: (beyond + alike).min(1.0), mid_p: (beyond + alike / 2.0).min(1.0), method }
}

/// Wilcoxon's signed-rank test of differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Differences that are not 0.
    pub n: u64,
    /// The ranks of those above 0, added up.
    pub w_plus: f64,
    /// The ranks of those below 0, added up.
    pub w_minus: f64,
    /// Two-sided, by counting; for up to 200 differences.
    pub exact: Option<f64>,
    /// Two-sided, by the normal distribution with a correction for ties and none for continuity.
    pub normal: f64,
    /// From −1 (all ranks below 0) to 1 (all above); `None` when every difference is 0.
    pub rank_biserial: Option<f64>,
}

impl Wilcoxon {
    /// The p value to report: counted where it could be.
    pub fn p(&self) -> f64 {
        self.exact.unwrap_or(self.normal)
    }
}

/// Differences for which ranks are counted exactly.
const MOST_RANKED: usize = 200;

/// Wilcoxon's signed-rank test: zeros are dropped, equal sizes share the mean of their ranks.
///
/// ```
/// use jurat_core::statistics::wilcoxon;
///
/// let found = wilcoxon(&[1.0, 1.0, -1.0, 2.0, 2.0, -3.0, 1.0]);
/// assert_eq!((found.n, found.w_plus, found.w_minus, found.exact), (7, 18.5, 9.5, Some(0.46875)));
/// ```
pub fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    let ranked = Ranked::of(differences);
    let n = ranked.doubled.len() as f64;
    let whole = n * (n + 1.0) / 2.0;
    let w_plus = ranked.doubled.iter().filter(|it| it.above).map(|it| it.rank as f64).sum::<f64>() / 2.0;
    let w_minus = whole - w_plus;
    Wilcoxon {
        n: ranked.doubled.len() as u64,
        w_plus,
        w_minus,
        exact: (ranked.doubled.len() <= MOST_RANKED).then(|| ranked.exact(w_plus)),
        normal: ranked.normal(w_plus),
        rank_biserial: (n > 0.0).then(|| (w_plus - w_minus) / whole),
    }
}

struct Rank {
    /// Twice the rank, which is a whole number for shared ranks too.
    rank: usize,
    above: bool,
}

struct Ranked {
    doubled: Vec<Rank>,
    /// Σ (t³ − t) over groups of t equal sizes.
    ties: f64,
}

impl Ranked {
    fn of(differences: &[f64]) -> Ranked {
        let largest = differences.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        // 0.3 − 0.1 and 0.2 are the same difference, although their last digits are not.
        let equal = largest * 1e-12;
        let mut sorted: Vec<f64> = differences.iter().copied().filter(|it| it.abs() > equal).collect();
        sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let mut ranked = Ranked { doubled: Vec::with_capacity(sorted.len()), ties: 0.0 };
        for group in sorted.chunk_by(|a, b| b.abs() - a.abs() <= equal) {
            let (before, size) = (ranked.doubled.len(), group.len());
            let rank = 2 * before + size + 1;
            ranked.doubled.extend(group.iter().map(|it| Rank { rank, above: *it > 0.0 }));
            ranked.ties += (size as f64).powi(3) - size as f64;
        }
        ranked
    }

    /// Twice the smaller tail of the rank sum, over all patterns of signs.
    fn exact(&self, w_plus: f64) -> f64 {
        let sizes: Vec<usize> = self.doubled.iter().map(|it| it.rank).collect();
        let chances = subset_chances(&sizes);
        let at = (2.0 * w_plus).round() as usize;
        let tail = |chances: &[f64]| chances.iter().copied().collect::<ExactSum>().value();
        (2.0 * tail(&chances[..=at]).min(tail(&chances[at..]))).min(1.0)
    }

    fn normal(&self, w_plus: f64) -> f64 {
        let n = self.doubled.len() as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - self.ties / 48.0;
        if variance <= 0.0 {
            return 1.0;
        }
        2.0 * normal_sf((w_plus - n * (n + 1.0) / 4.0).abs() / variance.sqrt())
    }
}
