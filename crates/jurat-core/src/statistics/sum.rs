//! Sums that do not depend on the order of their terms.

/// A sum that is exact until it is read, and rounded once then.
///
/// A report must be the same bytes in whatever order cases finished, and addition of floating-point numbers is not associative. The sum is
/// held as numbers whose digits do not overlap (Shewchuk 1997); there are rarely more than four of them.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    pub(super) fn add(&mut self, term: f64) {
        let mut carried = term;
        let mut len = 0;
        for ix in 0..self.parts.len() {
            let (high, low) = two_sum(carried, self.parts[ix]);
            if low != 0.0 {
                self.parts[len] = low;
                len += 1;
            }
            carried = high;
        }
        self.parts.truncate(len);
        self.parts.push(carried);
    }

    /// The sum, correctly rounded.
    pub(super) fn value(&self) -> f64 {
        let mut parts = self.parts.iter().rev().copied();
        let Some(mut total) = parts.next() else { return 0.0 };
        while let Some(part) = parts.next() {
            let (high, low) = two_sum(total, part);
            total = high;
            if low != 0.0 {
                return half_way(total, low, parts.next());
            }
        }
        total
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<T: IntoIterator<Item = f64>>(terms: T) -> Self {
        let mut sum = ExactSum::default();
        terms.into_iter().for_each(|it| sum.add(it));
        sum
    }
}

/// The exact sum of terms, rounded once.
pub(super) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().collect::<ExactSum>().value()
}

/// The mean of numbers, `None` without any.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values.iter().copied()) / values.len() as f64)
}

/// A sum of two numbers, and what rounding took from it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let high = large + small;
    (high, small - (high - large))
}

/// Where what is left is exactly half a unit of the last place, the part below it says which way to round.
fn half_way(total: f64, low: f64, below: Option<f64>) -> f64 {
    let twice = low * 2.0;
    let rounded = total + twice;
    let is_half = rounded - total == twice;
    match below {
        Some(below) if is_half && (low < 0.0) == (below < 0.0) => rounded,
        _ => total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_the_order() {
        let mut terms: Vec<f64> = (1..2000).map(|it| f64::from(it).sin() * 10_f64.powi(it % 40 - 20)).collect();
        let forward = sum(terms.iter().copied());
        terms.reverse();
        assert_eq!(forward.to_bits(), sum(terms.iter().copied()).to_bits());
        terms.sort_by(f64::total_cmp);
        assert_eq!(forward.to_bits(), sum(terms).to_bits());
    }

    #[test]
    fn what_cancels_leaves_the_rest() {
        assert_eq!(sum([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum([0.1; 10]), 1.0);
        assert_eq!(sum([]), 0.0);
        // Half a unit of the last place, and a little more or less.
        assert_eq!(sum([1.0, f64::EPSILON / 2.0, 1e-300]), 1.0 + f64::EPSILON);
        assert_eq!(sum([1.0, f64::EPSILON / 2.0, -1e-300]), 1.0);
    }
}
