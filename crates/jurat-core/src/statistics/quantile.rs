//! Quantiles of many numbers that are not held in memory.

/// The number at a rank among many: the smallest that at least this share of them do not exceed. `each` gives all numbers to what it is handed, in
/// any order, as often as it is called; it is called four times, and the memory that is needed does not depend on how many numbers there are.
/// `None` when there are none.
///
/// ```
/// use jurat_core::statistics::quantile;
///
/// let mut scores = |take: &mut dyn FnMut(f64)| -> Result<(), ()> { Ok([3.0, 1.0, 2.0, 4.0].into_iter().for_each(take)) };
/// assert_eq!(quantile(0.5, &mut scores), Ok(Some(2.0)));
/// assert_eq!(quantile(0.0, &mut scores), Ok(Some(1.0)));
/// assert_eq!(quantile(1.0, &mut scores), Ok(Some(4.0)));
/// ```
pub fn quantile<E>(share: f64, mut each: impl FnMut(&mut dyn FnMut(f64)) -> Result<(), E>) -> Result<Option<f64>, E> {
    // Selected by 16 bits at a time, the highest first: the numbers that share the bits found so far are counted by their next ones.
    let mut found = 0u64;
    let mut rank = None;
    for shift in [48, 32, 16, 0] {
        let mut counts = vec![0u64; 1 << 16];
        each(&mut |number| {
            let key = key_of(number);
            let is_above = shift == 48 || key >> (shift + 16) == found >> (shift + 16);
            counts[(key >> shift) as usize & 0xffff] += u64::from(is_above);
        })?;
        let mut left = match rank {
            Some(rank) => rank,
            None => match first_rank(share, counts.iter().sum()) {
                Some(rank) => rank,
                None => return Ok(None),
            },
        };
        let bits = counts.iter().position(|n| match left < *n {
            true => true,
            false => {
                left -= n;
                false
            }
        });
        found |= (bits.unwrap_or(0xffff) as u64) << shift;
        rank = Some(left);
    }
    Ok(Some(number_of(found)))
}

/// How many of the numbers come before the one that is looked for.
fn first_rank(share: f64, n: u64) -> Option<u64> {
    let least = (share.clamp(0.0, 1.0) * n as f64).ceil() as u64;
    (n > 0).then(|| least.clamp(1, n) - 1)
}

/// A whole number that is larger when the number is.
fn key_of(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn number_of(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[track_caller]
    fn found(numbers: &[f64], share: f64, expected: Option<f64>) {
        let mut each = |take: &mut dyn FnMut(f64)| -> Result<(), Infallible> {
            numbers.iter().copied().for_each(take);
            Ok(())
        };
        assert_eq!(quantile(share, &mut each), Ok(expected));
    }

    #[test]
    fn the_number_at_a_rank_is_one_of_them() {
        found(&[], 0.5, None);
        found(&[7.5], 0.01, Some(7.5));
        found(&[0.1, 0.2, 0.3, 0.4], 0.25, Some(0.1));
        found(&[0.1, 0.2, 0.3, 0.4], 0.26, Some(0.2));
        found(&[-1.0, -0.0, 0.0, 1e300, -1e-300], 0.0, Some(-1.0));
        found(&[-1.0, -2.0, 3.0], 1.0, Some(3.0));
    }

    #[test]
    fn it_is_what_sorting_finds() {
        let numbers: Vec<f64> = (0..2000).map(|it| f64::from(it * 7919 % 2003) / 17.0 - 40.0).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        for percent in 1..=100 {
            found(&numbers, f64::from(percent) / 100.0, Some(sorted[percent as usize * 20 - 1]));
        }
    }
}
