//! Several comparisons at once: the more there are, the likelier one of them looks like something by chance.

/// Holm's adjustment: with adjusted values up to α, the risk of even one wrong conclusion in the family is at most α. In the order of `p`.
///
/// ```
/// use jurat_core::statistics::holm;
///
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, ix) in ascending(p).into_iter().enumerate() {
        largest = largest.max(p[ix] * (p.len() - rank) as f64).min(1.0);
        adjusted[ix] = largest;
    }
    adjusted
}

/// The adjustment of Benjamini and Hochberg: of the lines with adjusted values up to α, at most the share α is expected to be wrong. In the order of `p`.
///
/// ```
/// use jurat_core::statistics::benjamini_hochberg;
///
/// assert_eq!(benjamini_hochberg(&[0.02, 0.04, 1.0]), [0.06, 0.06, 1.0]);
/// ```
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (rank, ix) in ascending(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[ix] * (p.len() as f64 / (rank + 1) as f64));
        adjusted[ix] = smallest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

/// Sides in tiers, best first, each as its index: a tier ends before the first side that is shown to differ from the tier's leader. `p` holds all pairs in the order (0, 1),
/// (0, 2), …, (1, 2), …, not adjusted: Holm's adjustment is made here.
///
/// `None` when there are not as many p values as pairs.
///
/// ```
/// use jurat_core::statistics::tiers;
///
/// assert_eq!(tiers(&[0.7, 0.95, 0.9], &[0.001, 0.004, 0.3], 0.05), Some(vec![vec![1, 2], vec![0]]));
/// ```
pub fn tiers(rates: &[f64], p: &[f64], alpha: f64) -> Option<Vec<Vec<usize>>> {
    let sides = rates.len();
    if p.len() != sides * sides.saturating_sub(1) / 2 {
        return None;
    }
    let adjusted = holm(p);
    let mut order: Vec<usize> = (0..sides).collect();
    order.sort_by(|a, b| rates[*b].total_cmp(&rates[*a]));
    let mut tiers: Vec<Vec<usize>> = Vec::new();
    for side in order {
        match tiers.last_mut() {
            Some(tier) if adjusted[pair(tier[0], side, sides)] > alpha => tier.push(side),
            _ => tiers.push(vec![side]),
        }
    }
    Some(tiers)
}

/// Where a pair of sides stands in the list of all pairs.
fn pair(one: usize, other: usize, sides: usize) -> usize {
    let (first, second) = (one.min(other), one.max(other));
    first * sides - first * (first + 1) / 2 + second - first - 1
}
