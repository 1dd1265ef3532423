//! Rows of a program as JSON lines, written when they are read: memory holds one at a time.

use std::io::{self, Read};

use serde::Serialize;

/// The name of rows by their content, which is read to its end; for [`RunOptions::rows_digest`](crate::RunOptions::rows_digest).
pub fn digest_of_rows(rows: impl Read) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(rows)?;
    Ok(hasher.finalize().to_hex().to_string())
}

pub(crate) struct RowLines<I> {
    rows: I,
    line: Vec<u8>,
    n_read: usize,
}

impl<I> RowLines<I> {
    pub(crate) fn new(rows: I) -> RowLines<I> {
        RowLines { rows, line: Vec::new(), n_read: 0 }
    }
}

impl<I: Iterator<Item: Serialize>> Read for RowLines<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.n_read == self.line.len() {
            let Some(row) = self.rows.next() else { return Ok(0) };
            self.line.clear();
            self.n_read = 0;
            serde_json::to_writer(&mut self.line, &row)?;
            self.line.push(b'\n');
        }
        let n = buffer.len().min(self.line.len() - self.n_read);
        buffer[..n].copy_from_slice(&self.line[self.n_read..self.n_read + n]);
        self.n_read += n;
        Ok(n)
    }
}
