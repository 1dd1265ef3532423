//! Means and ratios of what cases take: money, tokens, seconds.
//!
//! Most cases are cheap and a few are not, so a few cases hold too few of the dear ones, and Student's t puts the upper bound too low: of systems
//! exactly at the bound of a gate, 14 % of those with 20 cases passed. Here the upper end allows for skewness by Hall's transformation (1992). The skewness of
//! a few values is itself too small, so it counts one and a half times, and at least as that of waiting times: 2. The lower end is Student's, which is on the
//! safe side for such amounts.

use super::cluster::{ClusterMean, Clusters, Ratio, cluster_mean, ratio_of_means};
use super::confidence::{Confidence, Side};
use super::interval::Interval;
use super::mean::student_reach;
use super::sum::sum;

/// How much more skewed amounts are than a few of them show.
const MORE_SKEWED: f64 = 1.5;
/// The least skewness that is reckoned with: that of the exponential distribution.
const LEAST_SKEWNESS: f64 = 2.0;

/// The mean of amounts, with an upper end that allows for a long tail. `None` without values.
///
/// ```
/// use jurat_core::statistics::{Clusters, Confidence, amount_mean, cluster_mean};
///
/// let tokens = [310.0, 280.0, 350.0, 295.0, 320.0, 900.0, 305.0, 330.0];
/// let found = amount_mean(&tokens, &Clusters::Alone, Confidence::USUAL).unwrap().interval.unwrap();
/// let student = cluster_mean(&tokens, &Clusters::Alone, Confidence::USUAL).unwrap().interval.unwrap();
/// assert!(found.high > student.high && found.low == student.low);
/// ```
pub fn amount_mean(values: &[f64], clusters: &Clusters, confidence: Confidence) -> Option<ClusterMean> {
    let found = cluster_mean(values, clusters, confidence)?;
    let interval = found.spread.zip(found.interval).map(|(spread, interval)| {
        let residuals = clusters.sums(values.iter().map(|it| it - found.mean));
        let reach = upper_reach(&residuals, confidence, spread.df) * spread.cr2.sqrt();
        Interval { high: interval.high.max(found.mean + reach), ..interval }
    });
    Some(ClusterMean { interval, ..found })
}

/// The ratio of the means of two paired lists of amounts, with an upper end that allows for a long tail. `None` as for [`ratio_of_means`].
pub fn amount_ratio(base: &[f64], new: &[f64], clusters: &Clusters, confidence: Confidence) -> Option<Ratio> {
    let found = ratio_of_means(base, new, clusters, confidence)?;
    let n = base.len() as f64;
    let (base_mean, new_mean) = (sum(base.iter().copied()) / n, sum(new.iter().copied()) / n);
    let pulls: Vec<f64> = base.iter().zip(new).map(|(x, y)| y / new_mean - x / base_mean).collect();
    let spread = cluster_mean(&pulls, clusters, confidence).and_then(|it| it.spread);
    let interval = spread.zip(found.interval).map(|(spread, interval)| {
        let reach = upper_reach(&clusters.sums(pulls.iter().copied()), confidence, spread.df) * spread.cr2.sqrt();
        Interval { high: interval.high.max(found.ratio * reach.exp()), ..interval }
    });
    Some(Ratio { interval, ..found })
}

/// How many standard errors the upper end is above the estimate: Hall's cubic transformation of Student's t, inverted.
fn upper_reach(residuals: &[f64], confidence: Confidence, df: f64) -> f64 {
    let t = student_reach(confidence, Side::Both, df);
    let skewness = (MORE_SKEWED * skewness(residuals)).max(LEAST_SKEWNESS) / (residuals.len() as f64).sqrt();
    3.0 * (1.0 - (1.0 - skewness * (t + skewness / 6.0)).cbrt()) / skewness
}

/// The skewness of a sample around 0, its bias removed; 0 for values that do not vary or are fewer than three.
fn skewness(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    let moment = |power: i32| sum(residuals.iter().map(|it| it.powi(power))) / n;
    let spread = moment(2);
    if n < 3.0 || spread <= 0.0 {
        return 0.0;
    }
    moment(3) / spread.powf(1.5) * (n * (n - 1.0)).sqrt() / (n - 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_is_that_of_halls_transformation() {
        // scipy: skew(bias=False) of these is 2.195992988167683.
        let values = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 9.0, 22.0];
        let residuals: Vec<f64> = values.iter().map(|it| it - 6.0).collect();
        assert!((skewness(&residuals) - 2.195_992_988_167_683).abs() < 1e-12, "{}", skewness(&residuals));
        let both = Confidence::USUAL.two_sided().expect("a one-sided confidence above a half");
        let reach = upper_reach(&residuals, both, 7.0);
        let scaled = 1.5 * skewness(&residuals) / 8.0_f64.sqrt();
        // The transformation of the reach is Student's t again.
        let back = -reach + scaled * reach * reach / 3.0 - scaled * scaled * reach.powi(3) / 27.0 + scaled / 6.0;
        assert!((back + student_reach(both, Side::Both, 7.0)).abs() < 1e-9, "{back}");
    }

    #[test]
    fn amounts_without_variation_have_no_reach() {
        let found = amount_mean(&[3.0; 20], &Clusters::Alone, Confidence::USUAL).and_then(|it| it.interval);
        assert_eq!(found, Some(Interval { low: 3.0, high: 3.0 }));
    }

    #[test]
    fn few_cases_of_a_cluster_are_worth_less_than_as_many_cases() {
        let values: Vec<f64> = (0..60).map(|it| f64::from(it / 3 % 7) + 1.0).collect();
        let clusters = Clusters::by_key((0..60).map(|it| it / 3).collect::<Vec<u32>>());
        let high = |clusters: &Clusters| {
            amount_mean(&values, clusters, Confidence::USUAL).and_then(|it| it.interval).map(|it| it.high)
        };
        assert!(high(&clusters) > high(&Clusters::Alone));
    }
}
