//! Rows as JSON lines, written a batch at a time and read as a stream.

use std::io::{self, Read};

/// Where lines come from.
pub(crate) trait Source {
    /// Writes the next batch of lines; nothing when there are no more.
    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<()>;
}

/// The lines of a source as a stream. No more than a batch is held.
pub(crate) struct Lines<S> {
    source: S,
    batch: Vec<u8>,
    n_read: usize,
}

impl<S: Source> Lines<S> {
    pub(crate) fn of(source: S) -> Lines<S> {
        Lines { source, batch: Vec::new(), n_read: 0 }
    }
}

impl<S: Source> Read for Lines<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.n_read == self.batch.len() {
            self.batch.clear();
            self.n_read = 0;
            self.source.fill(&mut self.batch)?;
        }
        let rest = &self.batch[self.n_read..];
        let n = buffer.len().min(rest.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.n_read += n;
        Ok(n)
    }
}
