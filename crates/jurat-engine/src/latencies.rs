//! How long responses took, counted in buckets: whole numbers, so that runs and parts of runs add up exactly.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many responses took how long. The first bucket ends at 100 µs, and each is longer than the one before by the square root of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latencies([u64; Latencies::BUCKETS]);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies([0; Latencies::BUCKETS])
    }
}

impl Latencies {
    pub const BUCKETS: usize = 48;

    /// The longest latency that a bucket counts; the last also counts all that are longer.
    pub fn end(bucket: usize) -> Duration {
        Duration::from_micros((100.0 * 2_f64.powf(bucket as f64 / 2.0)).round() as u64)
    }

    pub(crate) fn add(&mut self, latency: Duration) {
        let bucket = (0..Self::BUCKETS - 1).find(|it| latency <= Self::end(*it));
        self.0[bucket.unwrap_or(Self::BUCKETS - 1)] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Latencies) {
        self.0.iter_mut().zip(other.0).for_each(|(it, other)| *it += other);
    }

    /// How many responses each bucket counts.
    pub fn counts(&self) -> &[u64; Self::BUCKETS] {
        &self.0
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The upper end of the bucket in which this share of the responses is reached.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = (share * self.total() as f64).ceil().max(1.0);
        let mut before = 0;
        let bucket = self.0.iter().position(|count| {
            before += count;
            before as f64 >= rank
        });
        bucket.filter(|_| !self.is_empty()).map(Latencies::end)
    }
}

impl Serialize for Latencies {
    /// Without the zeros at the end.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n = self.0.iter().rposition(|it| *it > 0).map_or(0, |it| it + 1);
        self.0[..n].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Latencies, D::Error> {
        let counts = Vec::<u64>::deserialize(deserializer)?;
        let mut latencies = Latencies::default();
        latencies.0.iter_mut().zip(counts).for_each(|(it, count)| *it = count);
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(milliseconds: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        milliseconds.iter().for_each(|it| latencies.add(Duration::from_millis(*it)));
        latencies
    }

    #[test]
    fn a_quantile_is_the_upper_end_of_its_bucket() {
        let latencies = of(&[1, 1, 1, 10_000_000]);
        let median = latencies.quantile(0.5).expect("a median");
        assert!(median >= Duration::from_millis(1) && median <= Duration::from_micros(1_415), "{median:?}");
        assert_eq!(latencies.quantile(1.0), Some(Latencies::end(Latencies::BUCKETS - 1)));
        assert_eq!(Latencies::default().quantile(0.5), None);
    }

    #[test]
    fn parts_add_up_and_come_back() {
        let mut parts = of(&[0, 5]);
        parts.merge(&of(&[70]));
        assert_eq!(parts, of(&[70, 0, 5]));
        let stored = serde_json::to_string(&parts).expect("JSON");
        assert!(stored.len() < 60, "{stored}");
        assert_eq!(serde_json::from_str::<Latencies>(&stored).expect("counts"), parts);
    }
}
