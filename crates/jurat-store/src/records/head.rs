//! The start of a file, as text, and why the text stops where it does.
//!
//! Readers walk the text and ask about its end only when they reach it. So bytes that are no text, and rows cut off by
//! the limit, matter only to a sample that gets that far.

use std::path::Path;

use super::SampleError;
use super::mark::Mark;
use crate::bounded::{Bytes, open, read_at_most};

/// The start of a file.
pub(super) struct Head {
    /// The text, without a byte-order mark.
    pub(super) text: String,
    pub(super) end: End,
    limit: u64,
}

/// Why a text stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The file ends.
    File,
    /// No more was to be read; the last line may be cut.
    Limit,
    /// What follows is not UTF-8.
    NotText,
}

impl Head {
    /// Reads at most `limit` bytes of a file.
    pub(super) fn read(path: &Path, limit: u64) -> Result<Head, SampleError> {
        let (file, size) = open(path)?;
        let (bytes, end) = match read_at_most(file, size, limit)? {
            Bytes::Whole(bytes) => (bytes, End::File),
            Bytes::Start(bytes) => (bytes, End::Limit),
        };
        let (mut text, end) = text_of(bytes, end);
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(Head { text, end, limit })
    }

    /// Whether the file continues behind the text.
    pub(super) fn is_cut(&self) -> bool {
        self.end == End::Limit
    }

    /// What to do about a row that does not end within the text, when `n_rows` came before it: `Ok` says that the sample
    /// is good without it, `None` that the file ends here and the row is the reader's to judge.
    pub(super) fn cut_row(&self, n_rows: usize) -> Option<Result<(), SampleError>> {
        match self.end {
            End::File => None,
            End::Limit if n_rows == 0 => Some(Err(SampleError::RowTooLong { limit: self.limit })),
            End::Limit => Some(Ok(())),
            End::NotText => Some(Err(SampleError::NotUtf8 { line: Mark::START.after(&self.text).line })),
        }
    }

    /// Says what is wrong at a byte of the text.
    pub(super) fn malformed_at(&self, at: usize, message: impl Into<String>) -> SampleError {
        let Mark { line, column } = Mark::START.after(&self.text[..self.text.floor_char_boundary(at)]);
        SampleError::Malformed { line, column, message: message.into() }
    }
}

/// The text that bytes begin with, and why it stops.
fn text_of(bytes: Vec<u8>, end: End) -> (String, End) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, end),
        Err(error) => {
            // A character cut in two by the limit is no fault of the file.
            let is_cut = error.utf8_error().error_len().is_none() && end == End::Limit;
            let length = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(length);
            let text = String::from_utf8(bytes).expect("the bytes are valid up to there");
            (text, if is_cut { End::Limit } else { End::NotText })
        }
    }
}
