//! Results in the order of the run, whatever order they arrive in.

use std::collections::BTreeMap;

/// What has finished, handed on only as far as everything before it has finished.
///
/// ```
/// use jurat_core::stopping::Prefix;
///
/// let mut prefix = Prefix::default();
/// prefix.put(1, 'b');
/// assert_eq!(prefix.next(), None);
/// prefix.put(0, 'a');
/// assert_eq!((prefix.next(), prefix.next(), prefix.next()), (Some('a'), Some('b'), None));
/// ```
#[derive(Debug)]
pub struct Prefix<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> Default for Prefix<T> {
    fn default() -> Prefix<T> {
        Prefix { next: 0, waiting: BTreeMap::new() }
    }
}

impl<T> Prefix<T> {
    /// Takes in the result of a turn, counted from 0.
    pub fn put(&mut self, turn: u64, result: T) {
        self.waiting.insert(turn, result);
    }

    /// The next result of the prefix, once it is there.
    #[expect(clippy::should_implement_trait, reason = "it continues after `None`, which iterators should not")]
    pub fn next(&mut self) -> Option<T> {
        let found = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_order_of_arrival_gives_the_order_of_the_run(arrival in Just((0_u64..20).collect::<Vec<_>>()).prop_shuffle()) {
            let (mut prefix, mut seen) = (Prefix::default(), Vec::new());
            for turn in arrival {
                prefix.put(turn, turn);
                while let Some(next) = prefix.next() {
                    seen.push(next);
                }
            }
            prop_assert_eq!(seen, (0..20).collect::<Vec<_>>());
        }
    }
}
