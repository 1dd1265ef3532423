//! Asking for an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a running program to end, from any thread. Copies are the same flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// One that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
