//! How far a run has come, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};

use jurat_core::verdict::CaseVerdict;

/// Numbers that go up while a run goes on.
#[derive(Debug)]
pub struct Progress {
    /// Cases that are done.
    pub done: AtomicU64,
    /// Of them, those that failed.
    pub failed: AtomicU64,
    /// Of them, those that could not be judged.
    pub errors: AtomicU64,
    /// Requests that were made.
    pub n_requests: AtomicU64,
    /// Requests that wait for an answer.
    pub in_flight: AtomicU64,
    /// What answers cost, in billionths of a dollar.
    pub nano_usd: AtomicU64,
    /// How many cases there are; the largest number while that is not known.
    pub total: AtomicU64,
    /// The oldest case that is not done; the largest number when there is none.
    pub oldest_open: AtomicU64,
}

impl Default for Progress {
    fn default() -> Progress {
        let zero = || AtomicU64::new(0);
        Progress {
            done: zero(),
            failed: zero(),
            errors: zero(),
            n_requests: zero(),
            in_flight: zero(),
            nano_usd: zero(),
            total: AtomicU64::new(u64::MAX),
            oldest_open: AtomicU64::new(u64::MAX),
        }
    }
}

impl Progress {
    pub(crate) fn count(&self, verdict: CaseVerdict) {
        match verdict {
            CaseVerdict::Failed => self.failed.fetch_add(1, Ordering::Relaxed),
            CaseVerdict::Error => self.errors.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
    }
}
