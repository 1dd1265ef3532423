//! The order in which the rows of a run come.

/// Random numbers from a seed: `SplitMix64`. The same seed gives the same numbers on every machine and in every version, because run files name the seed alone.
#[derive(Debug, Clone)]
pub struct Shuffle {
    state: u64,
}

impl Shuffle {
    pub fn new(seed: u64) -> Shuffle {
        Shuffle { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`, each with the same probability: numbers from the incomplete last range are drawn again.
    fn below(&mut self, n: u64) -> u64 {
        let most = u64::MAX - u64::MAX % n;
        loop {
            let drawn = self.next();
            if drawn < most {
                return drawn % n;
            }
        }
    }

    /// The numbers below `n` in a random order, by the method of Fisher and Yates.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..n).collect();
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, self.below(last as u64 + 1) as usize);
        }
        numbers
    }
}

/// A random order of rows, fixed by a seed before the first of them runs. Rows of one cluster follow each other and are one step.
///
/// ```
/// use jurat_core::stopping::Order;
///
/// let order = Order::of_clusters(7, &[0, 1, 0, 2]);
/// assert_eq!(order.steps().map(<[u32]>::len).collect::<Vec<_>>().iter().sum::<usize>(), 4);
/// assert_eq!(order.n_steps(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    rows: Vec<u32>,
    /// Where each step begins in `rows`; absent when each row is a step.
    starts: Option<Vec<u32>>,
}

impl Order {
    pub fn of_rows(seed: u64, n_rows: u32) -> Order {
        Order { rows: Shuffle::new(seed).permutation(n_rows), starts: None }
    }

    /// The clusters in a random order. `clusters` has the number of each row's cluster, and numbers leave no gap.
    pub fn of_clusters(seed: u64, clusters: &[u32]) -> Order {
        let n_clusters = clusters.iter().max().map_or(0, |it| it + 1);
        let mut turns = vec![0; n_clusters as usize];
        for (turn, cluster) in (0..).zip(Shuffle::new(seed).permutation(n_clusters)) {
            turns[cluster as usize] = turn;
        }
        let turn = |row: u32| turns[clusters[row as usize] as usize];
        let mut rows: Vec<u32> = (0..clusters.len() as u32).collect();
        rows.sort_by_key(|it| turn(*it));
        let is_first = |it: &usize| *it == 0 || turn(rows[*it]) != turn(rows[it - 1]);
        let starts = (0..rows.len()).filter(is_first).map(|it| it as u32).collect();
        Order { rows, starts: Some(starts) }
    }

    /// The rows in the order in which they run.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    pub fn n_steps(&self) -> usize {
        self.starts.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// The rows of each step.
    pub fn steps(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.n_steps()).map(|step| &self.rows[self.start(step)..self.start(step + 1)])
    }

    /// The step of the row that runs at each turn.
    pub fn step_of_turns(&self) -> Vec<u32> {
        self.steps().zip(0..).flat_map(|(rows, step)| std::iter::repeat_n(step, rows.len())).collect()
    }

    fn start(&self, step: usize) -> usize {
        match &self.starts {
            Some(starts) => starts.get(step).map_or(self.rows.len(), |it| *it as usize),
            None => step,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_seed_names_one_order_for_ever() {
        assert_eq!(Order::of_rows(42, 8).rows(), [3, 1, 6, 2, 4, 0, 7, 5]);
        assert_eq!(Order::of_rows(43, 8).rows(), [4, 7, 2, 6, 1, 3, 5, 0]);
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(Order::of_rows(seed, 3).rows().to_vec()).or_insert(0) += 1;
        }
        // The standard deviation of each count is 29.
        assert!(counts.len() == 6 && counts.values().all(|it| (880..1120).contains(it)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn each_row_comes_once_and_clusters_stay_together(seed: u64, clusters in prop::collection::vec(0_u32..5, 0..30)) {
            // Numbers without a gap, in the order in which they first occur.
            let mut known: Vec<u32> = Vec::new();
            let clusters: Vec<u32> = clusters
                .iter()
                .map(|it| known.iter().position(|known| known == it).unwrap_or_else(|| { known.push(*it); known.len() - 1 }) as u32)
                .collect();
            let order = Order::of_clusters(seed, &clusters);
            let mut rows = order.rows().to_vec();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..clusters.len() as u32).collect::<Vec<_>>());
            prop_assert_eq!(order.n_steps(), known.len());
            for step in order.steps() {
                prop_assert!(step.iter().all(|it| clusters[*it as usize] == clusters[step[0] as usize]));
            }
        }
    }
}
