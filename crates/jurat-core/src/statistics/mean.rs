//! The interval that a mean lies in.

use super::Interval;

/// The 97.5 % quantiles of Student's distribution, for 1 to 30 degrees of freedom.
const QUANTILES: [f64; 30] = [
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
];

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a mean by Student's method, from how many numbers there are, their mean and their variance (that of a sample); `None` for
/// fewer than two, which say nothing about how far numbers lie apart.
///
/// ```
/// use jurat_core::statistics::mean_interval;
///
/// let interval = mean_interval(5, 7.0, 2.5).unwrap();
/// assert_eq!(format!("{:.2} to {:.2}", interval.low, interval.high), "5.04 to 8.96");
/// assert_eq!(mean_interval(1, 7.0, 0.0), None);
/// ```
pub fn mean_interval(n: u64, mean: f64, variance: f64) -> Option<Interval> {
    if n < 2 {
        return None;
    }
    let reach = quantile(n - 1) * (variance.max(0.0) / n as f64).sqrt();
    Some(Interval { low: mean - reach, high: mean + reach })
}

fn quantile(freedom: u64) -> f64 {
    if let Some(known) = usize::try_from(freedom - 1).ok().and_then(|it| QUANTILES.get(it)) {
        return *known;
    }
    // Beyond the table three terms of the expansion around the normal distribution are exact to four places.
    let v = freedom as f64;
    let (z3, z5) = (Z.powi(3), Z.powi(5));
    Z + (z3 + Z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_go_on_where_the_table_ends() {
        assert!((quantile(31) - 2.0395).abs() < 1e-4, "{}", quantile(31));
        assert!((quantile(100) - 1.9840).abs() < 1e-4, "{}", quantile(100));
        assert!((quantile(1_000_000) - Z).abs() < 1e-5);
    }
}
