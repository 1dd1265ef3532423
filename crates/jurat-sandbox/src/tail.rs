//! The end of what was written.

use crate::Output;

/// Retains the end of what is written, and counts the rest.
#[derive(Debug)]
pub(crate) struct Tail {
    max: usize,
    pub(crate) n_dropped: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Tail {
    pub(crate) fn new(max: usize) -> Tail {
        Tail { max, n_dropped: 0, bytes: Vec::new() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * self.max {
            self.shorten();
        }
    }

    pub(crate) fn shorten(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.max);
        self.bytes.drain(..excess);
        self.n_dropped += excess as u64;
    }

    /// What there is; it begins anew.
    pub(crate) fn take(&mut self) -> Output {
        self.shorten();
        let output = Output::read((self.n_dropped, &self.bytes));
        *self = Tail::new(self.max);
        output
    }
}

impl Output {
    pub(crate) fn read((n_dropped, bytes): (u64, &[u8])) -> Output {
        Output { text: String::from_utf8_lossy(bytes).into_owned(), n_dropped }
    }

    pub(crate) fn append(&mut self, more: Output) {
        self.text.push_str(&more.text);
        self.n_dropped += more.n_dropped;
    }
}
