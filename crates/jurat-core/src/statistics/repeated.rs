//! Cases that were asked several times: how often one of k attempts passes, how often all do, and how much of what varies is noise.

use super::sum::{mean, sum};
use super::unpaired::Tally;

/// The probability that at least one of k attempts passes, estimated without bias from n attempts of which c passed: 1 − C(n−c, k)/C(n, k). `None`
/// for k above n, which n attempts say nothing about, and for k = 0.
///
/// The rate to a power is not used: from 2 of 4 it makes 25 % of two passes in a row, where 1 in 6 pairs has them.
///
/// ```
/// use jurat_core::statistics::{Tally, pass_at_k};
///
/// assert_eq!(pass_at_k(Tally { passed: 2, judged: 5 }, 1), Some(0.4));
/// assert_eq!(pass_at_k(Tally { passed: 0, judged: 1 }, 5), None);
/// ```
pub fn pass_at_k(case: Tally, k: u64) -> Option<f64> {
    none_of(case.judged.checked_sub(case.passed)?, case.judged, k).map(|it| 1.0 - it)
}

/// The probability that all of k attempts pass (pass^k), estimated without bias: C(c, k)/C(n, k). `None` as for [`pass_at_k`].
///
/// ```
/// use jurat_core::statistics::{Tally, pass_all_k};
///
/// assert_eq!(pass_all_k(Tally { passed: 19, judged: 20 }, 2), Some(0.9));
/// ```
pub fn pass_all_k(case: Tally, k: u64) -> Option<f64> {
    none_of(case.passed, case.judged, k)
}

/// C(few, k) / C(all, k): the probability that k draws from all of them are among the few.
fn none_of(few: u64, all: u64, k: u64) -> Option<f64> {
    if k == 0 || k > all || few > all {
        return None;
    }
    if k > few {
        return Some(0.0);
    }
    // The same ratio has min(k, all − few) factors either way round.
    let others = all - few;
    let share = |drawn: u64, left: u64| (0..drawn).map(|it| (left - it) as f64 / (all - it) as f64).product();
    Some(if k <= others { share(k, few) } else { share(others, all - k) })
}

/// pass@k and pass^k over cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// The mean over cases with at least k attempts; `None` without any.
    pub pass_at_k: Option<f64>,
    pub pass_all_k: Option<f64>,
    /// Cases with at least k attempts.
    pub cases: u64,
    /// Cases with fewer, which say nothing about k.
    pub too_few: u64,
    /// Cases that passed sometimes and failed sometimes.
    pub flaky: u64,
}

/// pass@k and pass^k over cases, each of which counts alike.
pub fn repeats(cases: &[Tally], k: u64) -> Repeats {
    let at: Vec<f64> = cases.iter().filter_map(|it| pass_at_k(*it, k)).collect();
    let all: Vec<f64> = cases.iter().filter_map(|it| pass_all_k(*it, k)).collect();
    Repeats {
        pass_at_k: mean(&at),
        pass_all_k: mean(&all),
        cases: at.len() as u64,
        too_few: (cases.len() - at.len()) as u64,
        flaky: cases.iter().filter(|it| is_flaky(**it)).count() as u64,
    }
}

/// Whether a case passed sometimes and failed sometimes.
pub fn is_flaky(case: Tally) -> bool {
    0 < case.passed && case.passed < case.judged
}

/// What varies: asking again, or the cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponents {
    /// The mean over cases, each of which counts alike.
    pub mean: f64,
    /// The variance between cases, with the noise taken out. `None` where no case was asked twice, or there is only one.
    pub between: Option<f64>,
    /// The variance of asking one case again.
    pub within: Option<f64>,
    /// The share of all variance that lies between cases; `None` where nothing varies.
    pub icc: Option<f64>,
    /// The standard error of the mean for these cases: only the noise.
    pub se_these: Option<f64>,
    /// The standard error for cases like these, which comparisons and gates use. `None` for a single case.
    pub se_such: Option<f64>,
}

/// The variance of values that come in groups, split by one-way analysis of variance with random effects, for groups of any sizes. `None` without values.
///
/// ```
/// use jurat_core::statistics::variance_components;
///
/// let found = variance_components(&[vec![1.0, 1.0, 0.0], vec![0.0, 0.0, 0.0], vec![1.0, 1.0, 1.0], vec![1.0, 0.0, 1.0]]).unwrap();
/// assert_eq!(format!("{:.4} {:.4}", found.within.unwrap(), found.between.unwrap()), "0.1667 0.1204");
/// ```
pub fn variance_components(groups: &[Vec<f64>]) -> Option<VarianceComponents> {
    let groups: Vec<Group> = groups.iter().filter_map(|it| Group::of(it)).collect();
    let means: Vec<f64> = groups.iter().map(|it| it.mean).collect();
    let mean = mean(&means)?;
    let count = groups.len() as f64;
    let se_such = (groups.len() > 1).then(|| (squares(&means, mean) / (count - 1.0) / count).sqrt());
    let within = within(&groups);
    let between = within.map(|it| between(&groups, it));
    let icc = within.zip(between).and_then(|(within, between)| {
        let all = within + between;
        (all > 0.0).then(|| between / all)
    });
    let se_these = within.map(|it| sum(groups.iter().map(|group| it / group.n)).sqrt() / count);
    Some(VarianceComponents { mean, between, within, icc, se_these, se_such })
}

struct Group {
    n: f64,
    mean: f64,
    /// The squared distances from the mean, added up.
    squares: f64,
}

impl Group {
    fn of(values: &[f64]) -> Option<Group> {
        let mean = mean(values)?;
        Some(Group { n: values.len() as f64, mean, squares: squares(values, mean) })
    }
}

fn squares(values: &[f64], mean: f64) -> f64 {
    sum(values.iter().map(|it| (it - mean).powi(2)))
}

fn within(groups: &[Group]) -> Option<f64> {
    let freedom = sum(groups.iter().map(|it| it.n)) - groups.len() as f64;
    (groups.len() > 1 && freedom > 0.0).then(|| sum(groups.iter().map(|it| it.squares)) / freedom)
}

fn between(groups: &[Group], within: f64) -> f64 {
    let count = groups.len() as f64;
    let n = sum(groups.iter().map(|it| it.n));
    let grand = sum(groups.iter().map(|it| it.n * it.mean)) / n;
    let among = sum(groups.iter().map(|it| it.n * (it.mean - grand).powi(2))) / (count - 1.0);
    let size = (n - sum(groups.iter().map(|it| it.n * it.n)) / n) / (count - 1.0);
    ((among - within) / size).max(0.0)
}
