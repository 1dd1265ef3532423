//! The first rows of a file, read as a run reads them.

use std::cell::OnceCell;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jurat_core::suite::{CellType, Records, RowFormat};
use jurat_format::value::{JsonError, Spanned, Value, parse_json};

use super::chunk::Delivery;
use super::format::format_of;
use super::mark::Mark;
use super::rows::{Types, read_file};
use super::{Chunk, RowAt, RowLimits, RowsFault, SampleError};
use crate::bounded::{Bytes, open, read_at_most};

/// The first rows of a file.
#[derive(Debug, Default)]
pub struct Sample {
    /// The rows, in the order of the file.
    pub rows: Vec<Value>,
    /// Whether the file has more after them.
    pub more: bool,
    /// The first of them, from 1, in which an object has a key twice; the last value won.
    pub repeated_key: Option<u64>,
    /// What would stop a run at a row: a column that is not there, or a cell that is not of its type. The sample has its text.
    pub fault: Option<RowsFault>,
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
/// let sample = sample(&path, None, &[], SampleLimits { rows: 1, ..SampleLimits::default() })?;
/// assert_eq!(sample.rows[0].to_string(), "{\"id\": 1}");
/// assert!(sample.more);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sample(
    path: &Path,
    format: Option<RowFormat>,
    types: &[(Spanned<String>, CellType)],
    limits: SampleLimits,
) -> Result<Sample, SampleError> {
    first_rows(path, format, Types { columns: types, sheet: None, noted: None }, limits)
}

/// Reads the first rows of a file of these `records`.
pub fn sample_of(records: &Records, path: &Path, limits: SampleLimits) -> Result<Sample, SampleError> {
    let sheet = records.sheet.as_ref().map(|it| it.value.as_str());
    first_rows(path, records.format, Types { columns: &records.types, sheet, noted: None }, limits)
}

fn first_rows(
    path: &Path,
    format: Option<RowFormat>,
    types: Types<'_>,
    limits: SampleLimits,
) -> Result<Sample, SampleError> {
    let format = format.map_or_else(|| format_of(path), Ok)?;
    let mut first = FirstRows { most: limits.rows, format, sample: Sample::default(), malformed: None };
    let longest = usize::try_from(limits.bytes).unwrap_or(usize::MAX).min(RowLimits::MOST);
    let mut each = |chunk: Chunk| first.take(&chunk);
    let mut delivery = Delivery::new(&mut each, RowLimits { chunk: PIECE, row: longest });
    delivery.most_bytes = limits.bytes;
    let noted = OnceCell::new();
    let read = read_file(path, format, Types { noted: Some(&noted), ..types }, &mut delivery);
    let FirstRows { sample, malformed, .. } = first;
    let sample = Sample { fault: noted.into_inner(), ..sample };
    match (malformed, read) {
        (Some((at, message)), _) => Err(malformed_at(path, limits.bytes, at, message)),
        (None, Ok(_)) => Ok(sample),
        (None, Err(_)) if sample.rows.len() == limits.rows => Ok(Sample { more: true, ..sample }),
        (None, Err(RowsFault::RowTooLong { .. })) if !sample.rows.is_empty() => Ok(Sample { more: true, ..sample }),
        (None, Err(RowsFault::RowTooLong { .. })) => Err(SampleError::RowTooLong { limit: limits.bytes }),
        (None, Err(RowsFault::File(error))) => Err(error),
        (None, Err(fault)) => Err(SampleError::Read(io::Error::other(fault))),
    }
}

/// How much of a file is read at a time. Few files have rows so long that a hundred of them take megabytes.
const PIECE: usize = 64 << 10;

/// The rows of a sample so far.
struct FirstRows {
    most: usize,
    format: RowFormat,
    sample: Sample,
    /// What is wrong with the row that comes next, and where in the file.
    malformed: Option<(u64, String)>,
}

impl FirstRows {
    fn take(&mut self, chunk: &Chunk) -> ControlFlow<()> {
        for (at, text) in chunk.iter() {
            if self.sample.rows.len() == self.most {
                self.sample.more = true;
                return ControlFlow::Break(());
            }
            match parse_json(text) {
                // Columns without a name are accepted in CSV, however many there are.
                Ok(row) => {
                    self.sample.push(row.value.into_owned(), row.repeated_key && !self.may_repeat_names());
                }
                Err(error) => {
                    self.malformed = Some((self.place(at, &error), error.message));
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether columns without a name make objects that have the empty key several times.
    fn may_repeat_names(&self) -> bool {
        matches!(self.format, RowFormat::Csv | RowFormat::Tsv | RowFormat::Xlsx)
    }

    /// Where in the file an error is. In a JSON document only nesting is left to find, which is reported at the row's start.
    fn place(&self, row: &RowAt, error: &JsonError) -> u64 {
        let within = if self.format == RowFormat::JsonLines { error.column - 1 } else { 0 };
        row.offset.unwrap_or_default() + within as u64
    }
}

/// What is wrong at a byte of a file. The file is read again up to there, because rows do not know the column that they begin in.
fn malformed_at(path: &Path, limit: u64, at: u64, message: String) -> SampleError {
    let read = open(path).and_then(|(file, size)| read_at_most(file, size, limit));
    let bytes = read.map_or_else(|_| Vec::new(), |(Bytes::Whole(bytes) | Bytes::Start(bytes))| bytes);
    let text = String::from_utf8_lossy(&bytes);
    let before = &text[..text.floor_char_boundary(usize::try_from(at).unwrap_or(usize::MAX))];
    let Mark { line, column } = Mark::START.after(without_mark(before));
    let is_continued = message.starts_with("EOF while parsing") && parse_json(without_mark(&text)).is_ok();
    let hint = "; the value continues in the next line: name the file `.json`, or write one value on each line, as `jq -c .` does";
    SampleError::Malformed { line, column, message: if is_continued { message + hint } else { message } }
}

/// A text without its byte-order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
