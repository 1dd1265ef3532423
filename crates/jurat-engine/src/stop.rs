//! What ends a run early, and how.
//!
//! A run is stopped in two steps. First nothing new is asked: what is in flight is finished and stored. Then, when the user insists or a
//! deadline has passed, what is in flight is dropped. Writing is never stopped.

use std::sync::atomic::{AtomicU8, Ordering};

use jurat_compare::expression::Interrupt;
use jurat_core::verdict::StopReason;
use tokio::sync::Notify;

/// Whether a run continues. Shared by all that may stop it and all that have to notice.
#[derive(Debug, Default)]
pub struct Stop {
    /// 0: it was not stopped; else the reason, by its place in [`StopReason::NAMED`].
    closed: AtomicU8,
    dropped: AtomicU8,
    changed: Notify,
    /// Ends expressions that take long. They are evaluated on threads that notice nothing else meanwhile.
    evaluations: Interrupt,
}

impl Stop {
    /// A run that was not stopped.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ctrl-C: the first finishes what is in flight, the second drops it.
    pub fn interrupt(&self) {
        if self.reason() == Some(StopReason::Interrupted) {
            self.drop_all(StopReason::Interrupted);
        } else {
            self.set(&self.closed, StopReason::Interrupted);
        }
    }

    /// Nothing new is asked. The first reason stays, except that Ctrl-C is always heard.
    pub fn close(&self, reason: StopReason) {
        if self.reason().is_none() {
            self.set(&self.closed, reason);
        }
    }

    /// What is in flight is dropped, too.
    pub fn drop_all(&self, reason: StopReason) {
        self.close(reason);
        self.set(&self.dropped, reason);
    }

    /// Why nothing new is asked.
    pub fn reason(&self) -> Option<StopReason> {
        read(&self.closed)
    }

    /// Why what is in flight is dropped.
    pub fn dropped_for(&self) -> Option<StopReason> {
        read(&self.dropped)
    }

    /// What ends expressions that take long, when the run is interrupted or out of time. What they would have concluded is computed again when the run is resumed.
    pub(crate) fn evaluations(&self) -> &Interrupt {
        &self.evaluations
    }

    /// Waits until what is in flight is to be dropped.
    pub async fn dropped(&self) -> StopReason {
        loop {
            let changed = self.changed.notified();
            if let Some(reason) = self.dropped_for() {
                return reason;
            }
            changed.await;
        }
    }

    /// Waits until nothing new is to be asked.
    pub async fn closed(&self) -> StopReason {
        loop {
            let changed = self.changed.notified();
            if let Some(reason) = self.reason() {
                return reason;
            }
            changed.await;
        }
    }

    fn set(&self, place: &AtomicU8, reason: StopReason) {
        let ix = StopReason::NAMED.iter().position(|(_, it)| *it == reason).unwrap_or(0);
        place.store(ix as u8 + 1, Ordering::SeqCst);
        if matches!(reason, StopReason::Interrupted | StopReason::Deadline) {
            self.evaluations.raise();
        }
        self.changed.notify_waiters();
    }
}

fn read(place: &AtomicU8) -> Option<StopReason> {
    match place.load(Ordering::SeqCst) {
        0 => None,
        ix => StopReason::NAMED.get(usize::from(ix) - 1).map(|(_, it)| *it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_interrupt_drops_what_is_in_flight() {
        let stop = Stop::new();
        stop.close(StopReason::Budget);
        stop.close(StopReason::Deadline);
        assert_eq!((stop.reason(), stop.dropped_for()), (Some(StopReason::Budget), None));
        stop.interrupt();
        assert_eq!((stop.reason(), stop.dropped_for()), (Some(StopReason::Interrupted), None));
        stop.interrupt();
        assert_eq!(stop.dropped_for(), Some(StopReason::Interrupted));
    }
}
