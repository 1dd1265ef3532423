//! Where in a text something stands, for people.

use memchr::{memchr_iter, memrchr};

/// A line and a column in characters, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Mark {
    /// Where a text begins.
    pub(super) const START: Mark = Mark { line: 1, column: 1 };

    /// Where one is after some more text.
    #[must_use]
    pub(super) fn after(self, text: &str) -> Mark {
        match memrchr(b'\n', text.as_bytes()) {
            None => Mark { column: self.column + n_chars(text), ..self },
            Some(last) => Mark { line: self.line + n_lines(text.as_bytes()), column: 1 + n_chars(&text[last + 1..]) },
        }
    }
}

/// How many line feeds there are.
pub(super) fn n_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

fn n_chars(text: &str) -> u64 {
    text.chars().count() as u64
}
