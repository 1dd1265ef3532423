//! Records: the first rows of a file, all rows, and the ids they are known by.
//!
//! `jurat check` looks at a few rows to see whether the paths a suite reads lead anywhere. It should cost the same for a
//! hundred rows and for a hundred million, so [`sample`] reads the start of the file and parses no more rows than were
//! asked for; what comes after them is neither read nor judged. A run reads all of them with [`read_all`], in chunks.

mod csv;
mod error;
mod format;
mod head;
mod ids;
mod json;
mod jsonl;
mod mark;
mod parquet;
mod rows;
mod walk;

use std::path::Path;

use jurat_format::value::Value;

use crate::bounded::open;

pub use error::SampleError;
pub use format::Format;
use head::Head;
pub use ids::{DuplicateId, IdError, Ids, RowId, RowNames, row_id};
pub use parquet::write_rows;
pub use rows::{
    Chunk, ReadSummary, RowAt, RowLimits, RowsError, RowsFault, read_all, read_all_within, sections_by_source,
};

/// The first rows of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// The rows, in the order of the file.
    pub rows: Vec<Value>,
    /// Whether the file has more after them.
    pub more: bool,
    /// The first of them, from 1, in which an object has a key twice; the last value won.
    pub repeated_key: Option<u64>,
}

impl Sample {
    fn push(&mut self, row: Value, has_repeated_key: bool) {
        self.rows.push(row);
        let number = self.rows.len() as u64;
        self.repeated_key = self.repeated_key.or_else(|| has_repeated_key.then_some(number));
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleLimits {
    pub rows: usize,
    /// The most bytes read. A row that ends beyond them is left out; a first row that does is an error.
    pub bytes: u64,
}

impl Default for SampleLimits {
    /// A hundred rows within the first 8 MiB.
    fn default() -> Self {
        SampleLimits { rows: 100, bytes: 8 << 20 }
    }
}

/// Reads the first rows of a file, whose name says what format it has unless `format` does.
///
/// ```
/// use jurat_store::records::{SampleLimits, sample};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("records.jsonl");
/// std::fs::write(&path, "{\"id\": 1}\n{\"id\": 2}\n")?;
///
/// let sample = sample(&path, None, SampleLimits { rows: 1, ..SampleLimits::default() })?;
/// assert_eq!(sample.rows[0].to_string(), "{\"id\": 1}");
/// assert!(sample.more);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sample(path: &Path, format: Option<Format>, limits: SampleLimits) -> Result<Sample, SampleError> {
    let format = match format {
        Some(format) => format,
        None => Format::of(path)?,
    };
    let sample = match format {
        Format::JsonLines => jsonl::sample,
        Format::Json => json::sample,
        Format::Csv => csv::sample,
        Format::Parquet => return parquet::sample(open(path)?.0, limits),
    };
    // Few files have rows so long that a hundred of them take megabytes.
    let mut bytes = limits.bytes.min(FIRST_BYTES);
    loop {
        let head = Head::read(path, bytes)?;
        let sampled = sample(&head, limits.rows);
        let is_short = match &sampled {
            Ok(sampled) => sampled.rows.len() < limits.rows,
            Err(_) => true,
        };
        if !is_short || !head.is_cut() || bytes >= limits.bytes {
            return sampled;
        }
        bytes = bytes.saturating_mul(8).min(limits.bytes);
    }
}

/// How much of a file is looked at first.
const FIRST_BYTES: u64 = 256 << 10;
