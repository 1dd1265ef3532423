//! How long to wait before asking again, when the provider does not say.

use std::time::Duration;

/// Waits that double, each between nothing and its bound: spread evenly, callers that failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The bound of the first wait.
    pub base: Duration,
    /// The bound that is never passed.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { base: Duration::from_millis(500), cap: Duration::from_secs(30) }
    }
}

impl Backoff {
    /// The wait after `n_failed` requests failed, by a number that is random.
    pub(super) fn wait(&self, n_failed: u32, random: u64) -> Duration {
        let doubled = self.base.saturating_mul(1u32.checked_shl(n_failed.saturating_sub(1)).unwrap_or(u32::MAX));
        // 53 bits fit a double.
        let share = (random >> 11) as f64 / (1u64 << 53) as f64;
        doubled.min(self.cap).mul_f64(share)
    }
}

/// A number that looks random, and is the same for the same seed and count.
pub(super) fn random(seed: u64, count: u64) -> u64 {
    let mut number = seed.wrapping_add(count.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_are_spread() {
        let backoff = Backoff::default();
        let longest = |n_failed| backoff.wait(n_failed, u64::MAX).as_millis();
        assert_eq!([1, 2, 3, 6, 7, 8, 60].map(longest), [500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(backoff.wait(5, 0), Duration::ZERO);
        let waits: Vec<f64> = (0..1000).map(|it| backoff.wait(1, random(7, it)).as_secs_f64()).collect();
        let mean = waits.iter().sum::<f64>() / 1000.0;
        assert!((0.23..0.27).contains(&mean), "{mean}");
    }
}
