//! Calls of one source that are made one after the other, for all callers that asked for some of them.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::Arguments;
use crate::returned::{Failure, Return};

/// What came of each call of a batch.
pub(crate) type Results = Vec<Result<Return, Failure>>;

/// Calls, and the callers that wait for their results.
pub(crate) struct Round<'p> {
    batch: Vec<Arguments>,
    n_done: usize,
    /// The callers, in the order of the calls.
    waiting: VecDeque<Waiting>,
    is_over: &'p dyn Fn() -> bool,
}

struct Waiting {
    n_calls: usize,
    results: Results,
    sender: oneshot::Sender<Results>,
}

impl<'p> Round<'p> {
    /// One without calls. `is_over` says that no result is wanted any more, even if callers wait.
    pub(crate) fn new(is_over: &'p dyn Fn() -> bool) -> Round<'p> {
        Round { batch: Vec::new(), n_done: 0, waiting: VecDeque::new(), is_over }
    }

    /// Adds the calls of a caller.
    pub(crate) fn add(&mut self, batch: Vec<Arguments>, sender: oneshot::Sender<Results>) {
        if batch.is_empty() {
            // The caller may have gone away.
            drop(sender.send(Vec::new()));
            return;
        }
        self.waiting.push_back(Waiting { n_calls: batch.len(), results: Vec::with_capacity(batch.len()), sender });
        self.batch.extend(batch);
    }

    /// How many calls it has.
    pub(crate) fn n_calls(&self) -> usize {
        self.batch.len()
    }

    /// The calls that are not made yet.
    pub(crate) fn left(&self) -> &[Arguments] {
        &self.batch[self.n_done..]
    }

    /// Whether a caller waits for what is left.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.iter().any(|it| !it.sender.is_closed()) && !(self.is_over)()
    }

    /// Takes the result of the next call. A caller whose calls are all done gets its results at once, without waiting for those of others.
    pub(crate) fn deliver(&mut self, result: Result<Return, Failure>) {
        self.n_done += 1;
        let Some(first) = self.waiting.front_mut() else { return };
        first.results.push(result);
        if first.results.len() == first.n_calls
            && let Some(Waiting { results, sender, .. }) = self.waiting.pop_front()
        {
            // The caller may have gone away.
            drop(sender.send(results));
        }
    }

    /// All remaining calls have this result.
    pub(crate) fn give_up(&mut self, failure: &Failure) {
        while !self.left().is_empty() {
            self.deliver(Err(failure.clone()));
        }
    }
}
