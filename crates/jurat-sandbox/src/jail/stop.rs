//! Asking for an end, and insisting on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Asks a running program to end, from any thread. Copies are the same flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicU8>);

const RAISED: u8 = 1;
const INSISTENT: u8 = 2;

impl StopFlag {
    /// One that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises it, for good: the program is asked to end (SIGTERM), and has its [grace](super::Limits::grace) to do so.
    pub fn raise(&self) {
        self.0.fetch_max(RAISED, Ordering::SeqCst);
    }

    /// Raises it for a program whose result is no longer wanted: it is killed at once.
    pub fn insist(&self) {
        self.0.store(INSISTENT, Ordering::SeqCst);
    }

    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= RAISED
    }

    /// Whether the program is to be ended at once.
    pub fn is_insistent(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= INSISTENT
    }
}
