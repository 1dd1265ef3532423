//! What several rounds of one measurement say together.

/// The median of the ratios within each round: what slows a round slows both.
pub(super) fn ratio(rounds: &[f64], reference: &[f64]) -> f64 {
    median(rounds.iter().zip(reference).map(|(it, reference)| it / reference).collect())
}

/// The one in the middle.
pub(super) fn median(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least. Noise only adds, so this is the best guess at a single cost.
pub(super) fn least(rounds: &[f64]) -> f64 {
    rounds.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The most.
pub(super) fn most(rounds: &[f64]) -> f64 {
    rounds.iter().copied().fold(0.0, f64::max)
}

/// The most over the least: how noisy it was.
pub(super) fn spread(rounds: &[f64]) -> f64 {
    most(rounds) / least(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_rounds() {
        // Rounds two and three ran while the machine was slow; the ratio of the medians would be 1.5.
        assert_eq!(ratio(&[110.0, 330.0, 660.0], &[100.0, 300.0, 600.0]), 1.1);
    }

    #[test]
    fn the_ends_and_the_middle() {
        let rounds = [3.0, 2.0, 8.0];
        assert_eq!((least(&rounds), median(rounds.to_vec()), most(&rounds), spread(&rounds)), (2.0, 3.0, 8.0, 4.0));
        assert!(median(Vec::new()).is_nan());
    }
}
