//! Tails and quantiles of the distributions that intervals and tests are made of.
//!
//! They keep their relative accuracy in the tails: a p value of 1e-200 has as many correct digits as one of 0.2. The crates that offer these
//! functions miss nine digits for some arguments, so only ln Γ and erfc are taken from one.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

/// The normal quantile: the number that a standard normal variable stays below with probability `p`.
///
/// Wichura's rational approximation (AS 241), then one Newton step on the distribution function. −∞ at 0, ∞ at 1.
///
/// ```
/// use jurat_core::statistics::normal_quantile;
///
/// assert_eq!(format!("{:.9}", normal_quantile(0.975)), "1.959963985");
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        // Solved in the smaller tail, whose digits 1 − p still has.
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let x = wichura(p);
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    x - (normal_sf(-x) - p) / density
}

/// The probability that a standard normal variable exceeds `x`.
///
/// ```
/// use jurat_core::statistics::normal_sf;
///
/// assert_eq!(normal_sf(0.0), 0.5);
/// ```
pub fn normal_sf(x: f64) -> f64 {
    0.5 * libm::erfc(x * FRAC_1_SQRT_2)
}

/// The quantile of Student's distribution with `df` degrees of freedom, which need not be a whole number. NaN unless `df` is positive.
///
/// ```
/// use jurat_core::statistics::student_quantile;
///
/// assert_eq!(format!("{:.9}", student_quantile(0.975, 2.0)), "4.302652730");
/// ```
pub fn student_quantile(p: f64, df: f64) -> f64 {
    if df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    let tails = 2.0 * p.min(1.0 - p);
    let t = if tails <= 0.0 { f64::INFINITY } else { student_reach(tails, (2.0 * p - 1.0).abs(), df) };
    if p < 0.5 { -t } else { t }
}

/// The probability that a variable of Student's distribution lies at least as far from 0 as `t`.
///
/// ```
/// use jurat_core::statistics::student_two_sided;
///
/// assert_eq!(student_two_sided(0.0, 5.0), 1.0);
/// ```
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    let ratio = t / df.sqrt();
    if ratio.abs() > FAR {
        return (-df * ratio.abs().ln() - ln_tail_constant(df)).exp();
    }
    let square = ratio * ratio;
    beta_tails(df / 2.0, 0.5, 1.0 / (1.0 + square), square / (1.0 + square)).lower
}

/// The distribution function of the beta distribution: the regularised incomplete beta function.
///
/// ```
/// use jurat_core::statistics::beta_cdf;
///
/// assert!((beta_cdf(2.0, 3.0, 0.7) - 0.9163).abs() < 1e-15);
/// ```
pub fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    beta_tails(a, b, x, 1.0 - x).lower
}

/// The quantile of the beta distribution.
///
/// ```
/// use jurat_core::statistics::beta_quantile;
///
/// // With 10 of 10 passed, a rate below this one would be a surprise.
/// assert_eq!(format!("{:.6}", beta_quantile(10.0, 1.0, 0.025)), "0.691503");
/// ```
pub fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    beta_root(a, b, Tails { lower: p, upper: 1.0 - p }).0
}

/// The two sides of a distribution at a point, each with its own digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tails {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Tails {
    fn swapped(self) -> Tails {
        Tails { lower: self.upper, upper: self.lower }
    }
}

/// Both tails of a binomial variable around `k`: at most k, and more than k.
pub(super) fn binomial_tails(k: f64, n: f64, rate: f64) -> Tails {
    if k < 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if k >= n {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    beta_tails(n - k, k + 1.0, 1.0 - rate, rate)
}

/// The probability of exactly `k` of `n` at a rate; both may be real numbers.
pub(super) fn binomial_point(k: f64, n: f64, rate: f64) -> f64 {
    binomial_point_at(k, n, rate, 1.0 - rate)
}

/// ln of the beta function.
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// ln of the lower tail of the beta distribution, also where the tail itself is too small for a number.
pub(super) fn ln_beta_lower(a: f64, b: f64, x: f64) -> f64 {
    let y = 1.0 - x;
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { f64::NEG_INFINITY } else { 0.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return (-beta_tails_below_mean(b, a, y, x).lower).ln_1p();
    }
    a * x.ln() + b * y.ln() - a.ln() - ln_beta(a, b) + continued_fraction(a, b, x).ln()
}

/// ln of the upper tail of the beta distribution.
pub(super) fn ln_beta_upper(a: f64, b: f64, x: f64) -> f64 {
    ln_beta_lower(b, a, 1.0 - x)
}

/// Both tails of the beta distribution at x, given y = 1 − x with its own digits.
pub(super) fn beta_tails(a: f64, b: f64, x: f64, y: f64) -> Tails {
    if x <= 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if y <= 0.0 {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    // The fraction converges fast below the mean; above it, the other tail is the small one.
    if x > (a + 1.0) / (a + b + 2.0) {
        return beta_tails_below_mean(b, a, y, x).swapped();
    }
    beta_tails_below_mean(a, b, x, y)
}

fn beta_tails_below_mean(a: f64, b: f64, x: f64, y: f64) -> Tails {
    let front = b / (a + b) * binomial_point_at(a, a + b, x, y);
    let lower = (front * continued_fraction(a, b, x)).min(1.0);
    Tails { lower, upper: 1.0 - lower }
}

/// x^a (1 − x)^b / (a B(a, b)) is a binomial probability times b / (a + b). Loader's saddle-point form computes it from small deviances, because
/// logarithms of gamma functions of 10⁶ would cancel to nothing.
fn binomial_point_at(k: f64, n: f64, rate: f64, other: f64) -> f64 {
    if k <= 0.0 {
        return if k < 0.0 { 0.0 } else { power_of_complement(n, rate, other) };
    }
    if k >= n {
        return if k > n { 0.0 } else { power_of_complement(n, other, rate) };
    }
    let ln = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(k, n * rate)
        - deviance(n - k, n * other);
    let scale = 2.0 * PI * k * ((n - k) / n);
    ln.exp() / scale.sqrt()
}

/// (1 − rate)ⁿ, from whichever of the rate and its complement has the digits.
fn power_of_complement(n: f64, rate: f64, complement: f64) -> f64 {
    let ln = if rate < 0.5 { (-rate).ln_1p() } else { complement.ln() };
    (n * ln).exp()
}

/// The part of ln n! that Stirling's formula leaves out.
fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    let square = n * n;
    let coefficients = [1.0 / 12.0, 1.0 / 360.0, 1.0 / 1260.0, 1.0 / 1680.0, 1.0 / 1188.0, 691.0 / 360_360.0];
    let series = coefficients.iter().rev().fold(0.0, |sum, coefficient| coefficient - sum / square);
    series / n
}

/// x ln(x / m) + m − x, without the cancellation near x = m.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for odd in (3..2000).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The continued fraction of the incomplete beta function, by the modified method of Lentz.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let guard = |it: f64| if it.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { it };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // Needs about √max(a, b) steps.
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / guard(1.0 + numerator * d);
            c = guard(1.0 + numerator / c);
            change = d * c;
            value *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// The point of the beta distribution with these tails, and its complement, both with all their digits.
fn beta_root(a: f64, b: f64, tails: Tails) -> (f64, f64) {
    if tails.lower <= 0.0 {
        return (0.0, 1.0);
    }
    if tails.upper <= 0.0 {
        return (1.0, 0.0);
    }
    let half = beta_tails(a, b, 0.5, 0.5);
    let is_below_half = if tails.lower <= tails.upper { half.lower >= tails.lower } else { half.upper <= tails.upper };
    if is_below_half {
        let x = small_beta_root(a, b, tails);
        return (x, 1.0 - x);
    }
    let y = small_beta_root(b, a, tails.swapped());
    (1.0 - y, y)
}

/// The same where the point is at most one half: Newton's method for its logarithm, on the logarithm of the smaller tail, inside a bracket.
fn small_beta_root(a: f64, b: f64, tails: Tails) -> f64 {
    let by_lower = tails.lower <= tails.upper;
    let (mut low, mut high) = (f64::MIN_POSITIVE.ln(), -LN_2);
    let mut at = (a / (a + b)).ln().clamp(low, high);
    for _ in 0..200 {
        let x = at.exp();
        let here = beta_tails(a, b, x, 1.0 - x);
        let density = a * b / (a + b) * binomial_point_at(a, a + b, x, 1.0 - x) / (1.0 - x);
        // Both grow with x, so the sign of the miss says on which side the root is.
        let (miss, slope) = match by_lower {
            true => ((here.lower / tails.lower).ln(), density / here.lower),
            false => ((tails.upper / here.upper).ln(), density / here.upper),
        };
        if miss > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let newton = at - miss / slope;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        let is_last = (next - at).abs() <= 4.0 * f64::EPSILON * at.abs().max(1.0);
        at = next;
        if is_last {
            break;
        }
    }
    polished(a, b, tails, at.exp())
}

/// One more Newton step for the point itself: its logarithm −700 knows it to 10⁻¹³ only.
fn polished(a: f64, b: f64, tails: Tails, x: f64) -> f64 {
    let here = beta_tails(a, b, x, 1.0 - x);
    let density = a * b / (a + b) * binomial_point_at(a, a + b, x, 1.0 - x) / (x * (1.0 - x));
    let miss = match tails.lower <= tails.upper {
        true => here.lower - tails.lower,
        false => tails.upper - here.upper,
    };
    let step = miss / density;
    if step.is_finite() && step.abs() < 1e-6 * x { x - step } else { x }
}

/// Where |t| / √df is above this, the first term of the tail is all of it, to every digit.
const FAR: f64 = 1e20;

/// How far from 0 a variable of Student's distribution has these two tails together, and this probability between them.
fn student_reach(tails: f64, between: f64, df: f64) -> f64 {
    let ln_ratio = -(tails.ln() + ln_tail_constant(df)) / df;
    if ln_ratio > FAR.ln() {
        return df.sqrt() * ln_ratio.exp();
    }
    let (x, y) = beta_root(0.5, df / 2.0, Tails { lower: between, upper: tails });
    (df * (x / y)).sqrt()
}

/// ln of a · B(a, ½) with a = df / 2: far out the tails are (t/√df)^−df divided by it.
fn ln_tail_constant(df: f64) -> f64 {
    (df / 2.0).ln() + ln_beta(df / 2.0, 0.5)
}

/// Wichura's approximation for 0 < p ≤ ½, to about 16 digits.
fn wichura(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let r = (-p.ln()).sqrt();
    if r <= 5.0 { -ratio(r - 1.6, &MIDDLE) } else { -ratio(r - 5.0, &END) }
}

/// Numerator and denominator of a rational function, lowest power first.
type Rational = ([f64; 8], [f64; 8]);

fn ratio(r: f64, (above, below): &Rational) -> f64 {
    let polynomial = |of: &[f64; 8]| of.iter().rev().fold(0.0, |sum, coefficient| sum * r + coefficient);
    polynomial(above) / polynomial(below)
}

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_395_498_715e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const END: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_049e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);
