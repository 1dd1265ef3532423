//! The order of rows, kept by threads that judge them side by side.
//!
//! Batches are taken in order, and what comes of them is stored in order, whichever thread is done first: a run is the same whatever the number of
//! threads. A thread does not wait for its turn but leaves its blocks to the thread whose turn it is; only one that is far ahead waits. After a batch
//! that failed nothing is stored, and no batch behind it is begun.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use jurat_store::run::Block;

use crate::RunError;
use crate::rows::Batch;

/// Batches of rows that are judged by several threads.
pub(crate) struct RowOrder {
    waiting: Mutex<Waiting>,
    judged: Mutex<Judged>,
    changed: Condvar,
    /// How many batches a thread may be ahead of the first that is not judged: their blocks are held in memory.
    most_ahead: u64,
}

struct Waiting {
    batches: Receiver<Batch>,
    n_taken: u64,
}

#[derive(Default)]
struct Judged {
    /// How many batches were stored; the next one has this number.
    n_stored: u64,
    /// The blocks of later ones.
    blocks: BTreeMap<u64, Vec<Block>>,
    /// The first batch that could not be judged.
    failed: Option<u64>,
}

impl Judged {
    fn is_behind_failure(&self, number: u64) -> bool {
        self.failed.is_some_and(|it| it < number)
    }

    /// The blocks whose turn it is.
    fn next(&mut self) -> Option<Vec<Block>> {
        let blocks = self.blocks.remove(&self.n_stored)?;
        self.n_stored += 1;
        Some(blocks)
    }
}

impl RowOrder {
    pub(crate) fn new(batches: Receiver<Batch>, n_threads: usize) -> RowOrder {
        RowOrder {
            waiting: Mutex::new(Waiting { batches, n_taken: 0 }),
            judged: Mutex::default(),
            changed: Condvar::new(),
            most_ahead: 2 * n_threads as u64,
        }
    }

    /// Waits for the next batch; `None` when there is none, or when one before it failed.
    pub(crate) fn next(&self) -> Option<(Batch, Turn<'_>)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = waiting.batches.recv().ok()?;
        let number = waiting.n_taken;
        waiting.n_taken += 1;
        let is_in_vain = self.judged().is_behind_failure(number);
        (!is_in_vain).then_some((batch, Turn { order: self, number, is_over: false }))
    }

    fn judged(&self) -> MutexGuard<'_, Judged> {
        self.judged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a batch among all. Dropped before it is over, it says that the batch failed.
pub(crate) struct Turn<'o> {
    order: &'o RowOrder,
    /// Counted from 0.
    pub(crate) number: u64,
    is_over: bool,
}

impl Turn<'_> {
    /// Stores the blocks of the batch when its turn has come, and those that others have left behind it.
    pub(crate) fn end(
        mut self,
        blocks: Vec<Block>,
        store: &mut dyn FnMut(Block) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let number = self.number;
        let is_ahead = |it: &mut Judged| number > it.n_stored + self.order.most_ahead && !it.is_behind_failure(number);
        let judged = self.order.changed.wait_while(self.order.judged(), is_ahead);
        let mut judged = judged.unwrap_or_else(PoisonError::into_inner);
        judged.blocks.insert(number, blocks);
        while let Some(blocks) = judged.next() {
            blocks.into_iter().try_for_each(&mut *store)?;
        }
        self.is_over = true;
        self.order.changed.notify_all();
        Ok(())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let mut judged = self.order.judged();
            judged.failed = Some(judged.failed.map_or(self.number, |it| it.min(self.number)));
            self.order.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use jurat_core::plan::{CaseIx, VariantCount};
    use jurat_store::records::{Chunk, RowId};
    use jurat_store::run::{BlockBuilder, CaseRow, RowPlace};

    use super::*;

    /// As many batches, without rows.
    fn order(n: usize) -> RowOrder {
        let (batches, waiting) = sync_channel(n);
        for _ in 0..n {
            let empty = Chunk::of(String::new(), Vec::new());
            batches.send(Batch::ordered(empty, Vec::new(), Vec::new())).expect("there is room");
        }
        RowOrder::new(waiting, n)
    }

    /// A block with so many cases.
    fn block(n: usize) -> Vec<Block> {
        let mut block = BlockBuilder::new(0, VariantCount::of(1));
        for ix in 0..n {
            let place = RowPlace { source: 0, number: 1, bytes: None };
            block.case(CaseIx::numbered(ix as u64), &RowId::Content(0), CaseRow { place, text: "", keep: false });
        }
        block.close().into_iter().collect()
    }

    /// The sizes of the blocks that were stored.
    #[derive(Default)]
    struct Stored(Vec<usize>);

    impl Stored {
        fn end(&mut self, turn: Turn<'_>, n_cases: usize) {
            let mut store = |it: Block| {
                self.0.push(it.n_cases());
                Ok(())
            };
            turn.end(block(n_cases), &mut store).expect("it can be stored");
        }
    }

    #[test]
    fn blocks_are_stored_in_the_order_of_rows() {
        let order = order(4);
        let turns: Vec<Turn<'_>> = (0..4).map(|_| order.next().expect("a batch").1).collect();
        let [first, second, third, fourth] = turns.try_into().unwrap_or_else(|_| unreachable!("four were taken"));
        let mut stored = Stored::default();
        stored.end(third, 3);
        stored.end(second, 2);
        assert!(stored.0.is_empty());
        stored.end(first, 1);
        assert_eq!(stored.0, [1, 2, 3]);
        stored.end(fourth, 0);
        assert_eq!(stored.0, [1, 2, 3]);
        assert!(order.next().is_none());
    }

    #[test]
    fn nothing_behind_a_failure_is_stored_or_begun() {
        let order = order(5);
        let mut turns = (0..4).map(|_| order.next().expect("a batch").1).collect::<Vec<_>>().into_iter();
        let mut next = || turns.next().expect("four were taken");
        let (first, second, third) = (next(), next(), next());
        let mut stored = Stored::default();
        drop(third);
        assert!(order.next().is_none());
        stored.end(second, 2);
        stored.end(next(), 4);
        stored.end(first, 1);
        assert_eq!(stored.0, [1, 2]);
    }
}
