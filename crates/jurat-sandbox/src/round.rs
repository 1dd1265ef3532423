//! Calls of one source that are made one after the other, for everybody who asked for some of them.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::Arguments;
use crate::returned::{Failure, Return};

/// What came of each call of a batch.
pub(crate) type Results = Vec<Result<Return, Failure>>;

/// Calls, and who waits for what comes of them.
pub(crate) struct Round<'p> {
    batch: Vec<Arguments>,
    n_done: usize,
    /// Who waits, in the order of the calls.
    waiting: VecDeque<Waiting>,
    is_over: &'p dyn Fn() -> bool,
}

struct Waiting {
    n_calls: usize,
    results: Results,
    sender: oneshot::Sender<Results>,
}

impl<'p> Round<'p> {
    /// One without calls. `is_over` says that nothing is wanted any more, whoever waits.
    pub(crate) fn new(is_over: &'p dyn Fn() -> bool) -> Round<'p> {
        Round { batch: Vec::new(), n_done: 0, waiting: VecDeque::new(), is_over }
    }

    /// Adds calls, and who waits for them.
    pub(crate) fn add(&mut self, batch: Vec<Arguments>, sender: oneshot::Sender<Results>) {
        if batch.is_empty() {
            // Whoever asked may be gone.
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

    /// Whether somebody waits for what is left.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.iter().any(|it| !it.sender.is_closed()) && !(self.is_over)()
    }

    /// Takes what came of the next call. Whoever has everything is told at once and waits for nobody else's calls.
    pub(crate) fn deliver(&mut self, result: Result<Return, Failure>) {
        self.n_done += 1;
        let Some(first) = self.waiting.front_mut() else { return };
        first.results.push(result);
        if first.results.len() == first.n_calls
            && let Some(Waiting { results, sender, .. }) = self.waiting.pop_front()
        {
            // Whoever asked may be gone.
            drop(sender.send(results));
        }
    }

    /// All that is left comes to the same.
    pub(crate) fn give_up(&mut self, failure: &Failure) {
        while !self.left().is_empty() {
            self.deliver(Err(failure.clone()));
        }
    }
}
