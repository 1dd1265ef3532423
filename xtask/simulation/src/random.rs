//! Numbers that look random and depend on a seed alone: xoshiro256++ of Blackman and Vigna, seeded by `SplitMix64`.
//!
//! A simulation must give the same bytes on every machine and in ten years, so it has a generator of its own rather than that of a library.

use std::f64::consts::TAU;

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct Random([u64; 4]);

impl Random {
    /// The stream that belongs to some words, such as those of a setting: settings can be added and reordered, and the others keep their draws.
    pub fn of(words: &str) -> Random {
        // FNV-1a.
        let mut seed = words
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Random(std::array::from_fn(|_| split_mix(&mut seed)))
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something happens that has this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// How many of `n` things happen that each have this probability.
    pub fn count(&mut self, n: u64, probability: f64) -> u64 {
        (0..n).map(|_| u64::from(self.chance(probability))).sum()
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// From the normal distribution with mean 0 and variance 1, by Box and Muller's method.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.share(), self.share());
        (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
    }

    /// Puts things in an order in which each is as likely as any other, by the method of Fisher and Yates.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}

fn split_mix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_that_of_its_authors() {
        // The first numbers of xoshiro256++ from the state 1, 2, 3, 4, as the reference implementation gives them.
        let mut random = Random([1, 2, 3, 4]);
        assert_eq!(
            [(); 4].map(|()| random.next()),
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]
        );
        // The first number of SplitMix64 from 0.
        assert_eq!(split_mix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn draws_have_the_moments_they_should_have() {
        let mut random = Random::of("moments");
        let n = 40_000;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let normal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        assert!(mean(&normal).abs() < 0.02, "{}", mean(&normal));
        let squares: Vec<f64> = normal.iter().map(|it| it * it).collect();
        assert!((mean(&squares) - 1.0).abs() < 0.03, "{}", mean(&squares));
        assert!((random.count(n, 0.3) as f64 / n as f64 - 0.3).abs() < 0.01);
        let below: Vec<f64> = (0..n).map(|_| random.below(5) as f64).collect();
        assert!((mean(&below) - 2.0).abs() < 0.03, "{}", mean(&below));
    }

    #[test]
    fn a_stream_belongs_to_its_words() {
        let first = |words: &str| Random::of(words).next();
        assert_eq!(first("n = 20"), first("n = 20"));
        assert_ne!(first("n = 20"), first("n = 21"));
        let mut cards: Vec<u32> = (0..52).collect();
        Random::of("cards").shuffle(&mut cards);
        let mut sorted = cards.clone();
        sorted.sort_unstable();
        assert!(sorted != cards && sorted == (0..52).collect::<Vec<u32>>());
    }
}
