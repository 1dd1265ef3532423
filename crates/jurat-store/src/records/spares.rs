//! Buffers that were used, and are used again.
//!
//! Chunks are made by one thread and dropped by others. A buffer that goes back to where it was made costs neither the pages of a new
//! one nor the gaps that it would leave: memory stays what it was after the first few chunks.

use std::sync::{Mutex, PoisonError};

use super::RowAt;

/// More are dropped: at most this many are in use at a time.
const MOST: usize = 8;

/// Buffers that were used.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Vec<(Vec<u8>, Vec<RowAt>)>>);

impl Spares {
    /// Takes back the buffers of a chunk. Those that one long row has blown up are let go.
    pub(super) fn put(&self, mut bytes: Vec<u8>, mut rows: Vec<RowAt>) {
        const USUAL: usize = 2 << 20;
        let mut spares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < MOST && bytes.capacity() <= USUAL && rows.capacity() * size_of::<RowAt>() <= USUAL {
            bytes.clear();
            rows.clear();
            spares.push((bytes, rows));
        }
    }

    /// Buffers, empty, used before if there are any.
    pub(super) fn take(&self) -> (Vec<u8>, Vec<RowAt>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}
