//! All rows of `records`, in chunks.
//!
//! A chunk is a buffer with the JSON texts of some rows, cut at row borders and handed over whole, so that it can go to
//! another thread. Rows of JSON files are slices of the file and are not copied one by one; rows of CSV files and of the
//! definition are written as JSON. Whether a line of a JSON Lines file is JSON is for those who parse it: a plan that reads
//! two fields should not pay for a second look at the others.

mod chunk;
mod csv;
mod error;
mod inline;
mod json;
mod jsonl;
mod window;

use std::io::Read;
use std::ops::{ControlFlow, Range};

use jurat_core::suite::{Records, RowSource};

use super::Format;
use crate::bounded::open;
use chunk::Delivery;
pub use error::{RowsError, RowsFault};
use window::Window;

/// A run of rows, each one JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The rows' JSON texts one after the other, with whatever stands between them in the file.
    pub text: String,
    /// Where in the text they are; never empty.
    pub rows: Vec<RowAt>,
}

/// Where a row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAt {
    /// Its JSON in the text of the chunk.
    pub range: Range<u32>,
    /// Which file it is from, counted from 0; 0 for other sources.
    pub source: u32,
    /// Which row of its source it is, counted from 1.
    pub number: u64,
    /// The line of its source that it begins on, counted from 1. For rows of the definition, its number.
    pub line: u64,
    /// Where in the file its bytes begin, when they are its JSON as it is. They are as many as `range` is long.
    pub offset: Option<u64>,
}

impl Chunk {
    /// The JSON of each row, and where it is.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&RowAt, &str)> {
        self.rows.iter().map(|row| (row, &self.text[row.range.start as usize..row.range.end as usize]))
    }
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSummary {
    /// How many rows were handed over.
    pub rows: u64,
    /// Whether reading was asked to stop before the rows came to an end.
    pub stopped: bool,
}

/// How much is held at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimits {
    /// The bytes of a chunk. Only a row that is longer by itself makes a longer one.
    pub chunk: usize,
    /// The most bytes of a row. A longer one is an error.
    pub row: usize,
}

impl Default for RowLimits {
    /// Chunks of 512 KiB, rows of up to 64 MiB.
    fn default() -> Self {
        RowLimits { chunk: 512 << 10, row: 64 << 20 }
    }
}

impl RowLimits {
    /// Ranges of a chunk are 32 bits wide, and text can become six times as long when it is written as JSON.
    const MOST: usize = 256 << 20;
}

/// Hands all rows to `each`, in order, until it says [`ControlFlow::Break`]. `stdin` is read when the rows come from
/// standard input. The rows before a bad one have been handed over when its error is returned.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use jurat_core::suite::{Records, RowSource};
/// use jurat_store::records::read_rows;
///
/// let records =
///     Records { from: RowSource::StandardInput, format: None, id: None, types: vec![], tags: vec![] };
/// let mut texts = Vec::new();
/// let summary = read_rows(&records, &mut "{\"a\": 1}\n\n2\n".as_bytes(), &mut |chunk| {
///     texts.extend(chunk.iter().map(|(row, text)| format!("line {}: {text}", row.line)));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(texts, ["line 1: {\"a\": 1}", "line 3: 2"]);
/// assert_eq!(summary.rows, 2);
/// # Ok::<(), jurat_store::records::RowsError>(())
/// ```
pub fn read_rows(
    records: &Records,
    stdin: &mut dyn Read,
    each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
) -> Result<ReadSummary, RowsError> {
    read_rows_within(records, stdin, RowLimits::default(), each)
}

/// Like [`read_rows`], with limits of the caller's choice; beyond 256 MiB they are taken as that.
pub fn read_rows_within(
    records: &Records,
    stdin: &mut dyn Read,
    limits: RowLimits,
    each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
) -> Result<ReadSummary, RowsError> {
    let most = RowLimits::MOST;
    let limits = RowLimits { chunk: limits.chunk.clamp(1, most), row: limits.row.clamp(1, most) };
    let mut delivery = Delivery::new(each, limits);
    let flow = match &records.from {
        RowSource::Inline(rows) => inline::read(rows, &mut delivery).map_err(RowsFault::in_definition)?,
        RowSource::StandardInput => {
            let format = readable(records.format.map_or(Format::JsonLines, Format::from));
            format.and_then(|it| read(it, stdin, records, &mut delivery)).map_err(RowsFault::in_standard_input)?
        }
        RowSource::Files(files) => {
            // A name that tells no format is found before the files in front of it have been evaluated.
            let formats = files.iter().map(|file| {
                let format = records.format.map_or_else(|| Format::of(&file.path), |it| Ok(it.into()));
                format.map_err(RowsFault::from).and_then(readable).map_err(|it| it.in_file(file))
            });
            let formats: Vec<Format> = formats.collect::<Result<_, _>>()?;
            let mut flow = ControlFlow::Continue(());
            for ((source, file), format) in (0..).zip(files).zip(formats) {
                delivery.source = source;
                let opened = open(&file.path).map_err(RowsFault::from);
                flow = opened
                    .and_then(|(mut it, _)| read(format, &mut it, records, &mut delivery))
                    .map_err(|it| it.in_file(file))?;
                if flow.is_break() {
                    break;
                }
            }
            flow
        }
    };
    Ok(ReadSummary { rows: delivery.n_rows, stopped: flow.is_break() })
}

/// A format that can be read.
fn readable(format: Format) -> Result<Format, RowsFault> {
    match format {
        Format::Parquet => Err(RowsFault::NotReadYet(format)),
        Format::JsonLines | Format::Json | Format::Csv => Ok(format),
    }
}

fn read(
    format: Format,
    input: &mut dyn Read,
    records: &Records,
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    let window = Window::open(input, delivery.limits.chunk)?;
    match format {
        Format::JsonLines => jsonl::read(window, delivery),
        Format::Json => json::read(window, delivery),
        Format::Csv => csv::read(window, &records.types, delivery),
        Format::Parquet => Err(RowsFault::NotReadYet(format)),
    }
}
