//! Which row each node of a graph stands in, and which arrows lead back up.
//!
//! Conversations go in circles, rows do not. Walking from the entry, an arrow to a node that is still being walked from leads back; without those
//! arrows there is no circle, and a node stands below all that lead to it.

/// The rows of a graph.
pub(super) struct Layers {
    /// The row of each node, from 0.
    pub(super) rows: Vec<usize>,
    /// Whether an arrow leads back, to itself or to a row above.
    pub(super) is_back: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    NotYet,
    On,
    Done,
}

impl Layers {
    /// The rows of this number of nodes; arrows are from a node to another.
    pub(super) fn of(n_nodes: usize, entry: usize, arrows: &[(usize, usize)]) -> Layers {
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); n_nodes];
        for (ix, (from, _)) in arrows.iter().enumerate() {
            out[*from].push(ix);
        }
        let mut is_back = vec![false; arrows.len()];
        let mut walked = vec![Walk::NotYet; n_nodes];
        // Done nodes, those that are led to before those that lead there.
        let mut order = Vec::with_capacity(n_nodes);
        for start in [entry].into_iter().filter(|it| *it < n_nodes).chain(0..n_nodes) {
            if walked[start] != Walk::NotYet {
                continue;
            }
            walked[start] = Walk::On;
            // Each node with the next of its arrows to follow. Graphs may be deeper than a stack of calls.
            let mut open = vec![(start, 0)];
            while let Some((node, next)) = open.last_mut() {
                let Some(&arrow) = out[*node].get(*next) else {
                    walked[*node] = Walk::Done;
                    order.push(*node);
                    open.pop();
                    continue;
                };
                *next += 1;
                let to = arrows[arrow].1;
                match walked[to] {
                    Walk::NotYet => {
                        walked[to] = Walk::On;
                        open.push((to, 0));
                    }
                    Walk::On => is_back[arrow] = true,
                    Walk::Done => {}
                }
            }
        }
        let mut rows = vec![0; n_nodes];
        for node in order.into_iter().rev() {
            for &arrow in out[node].iter().filter(|it| !is_back[**it]) {
                let to = arrows[arrow].1;
                rows[to] = rows[to].max(rows[node] + 1);
            }
        }
        Layers { rows, is_back }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_arrow_leads_down_or_is_said_to_lead_back(
            arrows in proptest::collection::vec((0..12_usize, 0..12_usize), 0..40),
            entry in 0..12_usize,
        ) {
            let layers = Layers::of(12, entry, &arrows);
            for ((from, to), is_back) in arrows.iter().zip(&layers.is_back) {
                let (from, to) = (layers.rows[*from], layers.rows[*to]);
                prop_assert_eq!(*is_back, to <= from);
            }
            // What stands in a row has a node above it that leads there, so that no row is empty.
            for (node, row) in layers.rows.iter().enumerate().filter(|(_, row)| **row > 0) {
                let leads = |(ix, (from, to)): (usize, &(usize, usize))| {
                    *to == node && !layers.is_back[ix] && layers.rows[*from] + 1 == *row
                };
                prop_assert!(arrows.iter().enumerate().any(leads));
            }
        }
    }
}
