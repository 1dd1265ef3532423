//! The progress of a run, for display.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jurat_core::stopping::Monitoring;
use jurat_core::verdict::CaseVerdict;
use jurat_model::BatchProgress;
use serde::{Deserialize, Serialize};

/// Numbers that go up while a run is in progress.
#[derive(Debug)]
pub struct Progress {
    pub done: AtomicU64,
    /// Of them, those that failed.
    pub failed: AtomicU64,
    /// Of them, those that could not be judged.
    pub errors: AtomicU64,
    pub n_requests: AtomicU64,
    /// Of them, those that failed.
    pub failed_requests: AtomicU64,
    /// Requests that wait for an answer.
    pub in_flight: AtomicU64,
    /// What answers cost, in billionths of a dollar.
    pub nano_usd: AtomicU64,
    /// How many cases there are; the largest number while that is not known.
    pub total: AtomicU64,
    /// The case that all others wait for, because none may be further ahead of it; by name.
    slow_case: Mutex<Option<String>>,
    /// What is known of the pass rate, where the run stops when enough is known.
    watched: Mutex<Option<Watched>>,
    /// The batches that are with their providers.
    batches: Mutex<BatchProgress>,
    /// What happened that numbers do not say, in words.
    notes: Mutex<Vec<String>>,
}

/// How far a run in progress has come, as its file says it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunProgress {
    pub done: u64,
    pub failed: u64,
    pub errors: u64,
    pub in_flight: u64,
    pub requests: u64,
    pub failed_requests: u64,
    /// In billionths of a dollar.
    pub nano_usd: u64,
    /// The case that all others wait for, by name.
    pub slow_case: Option<String>,
}

/// The pass rate of a run so far, between the ends of its confidence sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watched {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

/// How many notes are held while no caller takes them. What comes after is in the run.
const MOST_NOTES: usize = 1000;

impl Default for Progress {
    fn default() -> Progress {
        let zero = || AtomicU64::new(0);
        Progress {
            done: zero(),
            failed: zero(),
            errors: zero(),
            n_requests: zero(),
            failed_requests: zero(),
            in_flight: zero(),
            nano_usd: zero(),
            total: AtomicU64::new(u64::MAX),
            slow_case: Mutex::new(None),
            watched: Mutex::new(None),
            batches: Mutex::default(),
            notes: Mutex::default(),
        }
    }
}

impl Progress {
    /// The case that all others wait for, by name, when there is one.
    pub fn slow_case(&self) -> Option<String> {
        self.slow_case.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is known of the pass rate, where the run stops when enough is known.
    pub fn watched(&self) -> Option<Watched> {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The batches that are with their providers.
    pub fn batches(&self) -> BatchProgress {
        *self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_batches(&self, batches: BatchProgress) {
        *self.batches.lock().unwrap_or_else(PoisonError::into_inner) = batches;
    }

    pub(crate) fn watch(&self, monitoring: &Monitoring) {
        let found = monitoring.estimate().rate().zip(monitoring.estimate().sequence());
        let found = found.map(|(rate, it)| Watched { rate, low: it.low, high: it.high });
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    pub(crate) fn wait_for(&self, case: Option<String>) {
        *self.slow_case.lock().unwrap_or_else(PoisonError::into_inner) = case;
    }

    /// What happened since this was called last: requests that failed and were made again, or that ended with an error.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(&self, words: impl FnOnce() -> String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MOST_NOTES {
            notes.push(words());
        }
    }

    /// What a run file says of it while the run is in progress.
    pub(crate) fn json(&self) -> String {
        let number = |it: &AtomicU64| it.load(Ordering::Relaxed);
        let said = RunProgress {
            done: number(&self.done),
            failed: number(&self.failed),
            errors: number(&self.errors),
            in_flight: number(&self.in_flight),
            requests: number(&self.n_requests),
            failed_requests: number(&self.failed_requests),
            nano_usd: number(&self.nano_usd),
            slow_case: self.slow_case(),
        };
        serde_json::to_string(&said).expect("numbers and texts are JSON")
    }

    pub(crate) fn count(&self, verdict: CaseVerdict) {
        match verdict {
            CaseVerdict::Failed => self.failed.fetch_add(1, Ordering::Relaxed),
            CaseVerdict::Error => self.errors.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
    }
}
