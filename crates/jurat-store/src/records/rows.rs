//! All rows of all `records`, in chunks.
//!
//! A chunk is a buffer with the JSON texts of some rows, cut at row borders and handed over whole, so that it can go to
//! another thread. Rows of JSON files are slices of the file and are not copied one by one; rows of CSV and Parquet
//! files and of the definition are written as JSON. Whether a line of a JSON Lines file is JSON is found when it is parsed:
//! a plan that reads two fields should not pay for a second look at the others.

use std::cell::OnceCell;
use std::io::Read;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use jurat_core::suite::{CellType, Records, RowFormat, RowSource};
use jurat_format::value::{Projection, Spanned, Value};

use super::chunk::Delivery;
use super::format::format_of;
use super::spares::Spares;
use super::table_rows::{ColumnParts, TableRows};
use super::window::Window;
use super::{RowNames, RowsError, RowsFault, arrow, csv, dataset, inline, json, jsonl, parquet, xlsx, yaml};
use crate::bounded::open;

/// A run of rows, each one JSON text. Its buffers are used again when it is dropped.
#[derive(Debug)]
pub struct Chunk {
    /// The rows' JSON texts one after the other, with whatever stands between them in the file.
    pub text: String,
    /// Where in the text they are; never empty.
    pub rows: Vec<RowAt>,
    /// The tables that they come from, in order, where they come from tables.
    pub(super) tables: Vec<Arc<TableRows>>,
    pub(super) spares: Arc<Spares>,
}

/// Two chunks are equal when they hold the same rows.
impl PartialEq for Chunk {
    fn eq(&self, other: &Chunk) -> bool {
        (&self.text, &self.rows) == (&other.text, &other.rows)
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.spares.put(std::mem::take(&mut self.text).into_bytes(), std::mem::take(&mut self.rows));
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAt {
    /// Its JSON in the text of the chunk.
    pub range: Range<u32>,
    /// Which source it is from, counted from 0 over all sections: each file is one, and so are standard input and the rows
    /// of a definition.
    pub source: u32,
    /// Which row of its source it is, counted from 1.
    pub number: u64,
    /// The line of its source that it begins on, counted from 1. For rows of the definition and of Parquet, its number.
    pub line: u64,
    /// Where in the file its bytes begin, when they are its JSON as it is. They are as many as `range` is long.
    pub offset: Option<u64>,
}

impl Chunk {
    /// Rows of which the caller has the texts.
    pub fn of(text: String, rows: Vec<RowAt>) -> Chunk {
        Chunk { text, rows, tables: Vec::new(), spares: Arc::default() }
    }

    /// The parts of the rows that some paths read, from the columns that the rows come in; `None` where they are there as text alone.
    pub fn parts<'c>(&'c self, wanted: &'c Projection) -> Option<ColumnParts<'c>> {
        ColumnParts::of(&self.tables, wanted)
    }

    /// The JSON of each row, and where it is.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&RowAt, &str)> {
        self.rows.iter().map(|row| (row, &self.text[row.range.start as usize..row.range.end as usize]))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSummary {
    /// How many rows were handed over.
    pub rows: u64,
    /// Whether reading was asked to stop before the last row.
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
    pub(super) const MOST: usize = 256 << 20;

    pub(super) fn clamped(self) -> RowLimits {
        RowLimits { chunk: self.chunk.clamp(1, Self::MOST), row: self.row.clamp(1, Self::MOST) }
    }
}

/// Hands all rows of all sections to `each`, in order, until it says [`ControlFlow::Break`]. `stdin` is read when rows
/// come from standard input. The rows before a bad one have been handed over when its error is returned.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use jurat_core::suite::{Records, RowSource};
/// use jurat_store::records::read_all;
///
/// let records =
///     Records { from: RowSource::StandardInput, format: None, id: None, sheet: None, types: vec![], tags: vec![], is_runs: false, defaults: Default::default() };
/// let mut texts = Vec::new();
/// let summary = read_all(&[records], &mut "{\"a\": 1}\n\n2\n".as_bytes(), &mut |chunk| {
///     texts.extend(chunk.iter().map(|(row, text)| format!("line {}: {text}", row.line)));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(texts, ["line 1: {\"a\": 1}", "line 3: 2"]);
/// assert_eq!(summary.rows, 2);
/// # Ok::<(), jurat_store::records::RowsError>(())
/// ```
pub fn read_all(
    sections: &[Records],
    stdin: &mut dyn Read,
    each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
) -> Result<ReadSummary, RowsError> {
    read_all_within(sections, stdin, RowLimits::default(), each)
}

/// Like [`read_all`], with limits of the caller's choice; beyond 256 MiB they are taken as that.
pub fn read_all_within(
    sections: &[Records],
    stdin: &mut dyn Read,
    limits: RowLimits,
    each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
) -> Result<ReadSummary, RowsError> {
    let limits = limits.clamped();
    let names = RowNames::of_all(sections);
    let wrong = |number, fault| RowsError { from: names.source(number).to_owned(), fault };
    // A name that says no format is found before the files in front of it have been evaluated.
    let sources = (0..).zip(sources(sections)).map(|(number, it)| Ok((number, it.map_err(|it| wrong(number, it))?)));
    let sources: Vec<(u32, Source<'_>)> = sources.collect::<Result<_, RowsError>>()?;
    let mut delivery = Delivery::new(each, limits);
    for (number, source) in sources {
        delivery.source = number;
        let flow = source.read(stdin, &mut delivery).map_err(|it| wrong(number, it))?;
        if flow.is_break() {
            return Ok(ReadSummary { rows: delivery.n_rows, stopped: true });
        }
    }
    Ok(ReadSummary { rows: delivery.n_rows, stopped: false })
}

/// The section that each source belongs to, by the number that [`RowAt::source`] has.
pub fn sections_by_source(sections: &[Records]) -> Vec<&Records> {
    sections.iter().flat_map(|it| std::iter::repeat_n(it, n_sources(it))).collect()
}

fn n_sources(records: &Records) -> usize {
    match &records.from {
        RowSource::Files(files) => files.len(),
        RowSource::StandardInput | RowSource::Program | RowSource::Inline(_) => 1,
    }
}

/// What an author says about the rows of a table: columns that are not text, and the sheet that has them.
#[derive(Clone, Copy)]
pub(super) struct Types<'r> {
    pub(super) columns: &'r [(Spanned<String>, CellType)],
    /// The sheet of a workbook.
    pub(super) sheet: Option<&'r str>,
    /// Where the first cell that is not of its type is noted, when the rows behind it are read nevertheless.
    pub(super) noted: Option<&'r OnceCell<RowsFault>>,
}

impl Types<'_> {
    /// Notes the first fault, or stops at it.
    pub(super) fn refuse(self, fault: RowsFault) -> Result<(), RowsFault> {
        match self.noted {
            Some(noted) => Ok(_ = noted.set(fault)),
            None => Err(fault),
        }
    }
}

/// A source and how to read it.
pub(super) enum Source<'r> {
    Inline(&'r [Spanned<Value>]),
    StandardInput(Streamed, Types<'r>),
    File(&'r Path, RowFormat, Types<'r>),
}

/// Reads rows of some format as they come.
pub(super) type Streamed = fn(Window<'_>, Types<'_>, &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault>;

/// How rows of a format are read as they come, if they can be.
fn streamed(format: RowFormat) -> Option<Streamed> {
    match format {
        RowFormat::JsonLines => Some(|window, _, delivery| jsonl::read(window, delivery)),
        RowFormat::Json => Some(|window, _, delivery| json::read(window, delivery)),
        RowFormat::Csv => Some(|window, types, delivery| csv::read(window, b',', types, delivery)),
        RowFormat::Tsv => Some(|window, types, delivery| csv::read(window, b'\t', types, delivery)),
        RowFormat::Yaml | RowFormat::Xlsx | RowFormat::Parquet | RowFormat::Arrow | RowFormat::Dataset => None,
    }
}

/// The sources of all sections, or why one cannot be read.
pub(super) fn sources(sections: &[Records]) -> impl Iterator<Item = Result<Source<'_>, RowsFault>> {
    sections.iter().flat_map(|records| match &records.from {
        RowSource::Inline(rows) => vec![Ok(Source::Inline(rows))],
        RowSource::StandardInput | RowSource::Program => {
            let format = records.format.unwrap_or(RowFormat::JsonLines);
            let streamed = streamed(format).ok_or(RowsFault::NotFromStandardInput(format));
            vec![streamed.map(|it| Source::StandardInput(it, types(records)))]
        }
        RowSource::Files(files) => files.iter().map(|file| in_file(&file.path, records)).collect(),
    })
}

fn in_file<'r>(path: &'r Path, records: &'r Records) -> Result<Source<'r>, RowsFault> {
    let format = records.format.map_or_else(|| format_of(path), Ok)?;
    Ok(Source::File(path, format, types(records)))
}

fn types(records: &Records) -> Types<'_> {
    Types { columns: &records.types, sheet: records.sheet.as_ref().map(|it| it.value.as_str()), noted: None }
}

impl Source<'_> {
    pub(super) fn read(&self, stdin: &mut dyn Read, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
        match self {
            Source::Inline(rows) => inline::read(rows, delivery),
            Source::StandardInput(read, types) => read(Window::open(stdin, delivery)?, *types, delivery),
            Source::File(path, format, types) => read_file(path, *format, *types, delivery),
        }
    }
}

/// Hands over the rows of a file.
pub(super) fn read_file(
    path: &Path,
    format: RowFormat,
    types: Types<'_>,
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    if format == RowFormat::Dataset {
        return dataset::read(path, delivery);
    }
    let (mut file, _) = open(path)?;
    match (streamed(format), format) {
        (Some(read), _) => read(Window::open_file(&mut file, delivery)?, types, delivery),
        (None, RowFormat::Yaml) => yaml::read(file, delivery),
        (None, RowFormat::Xlsx) => xlsx::read(file, types, delivery),
        (None, RowFormat::Arrow) => arrow::read(file, delivery),
        (None, _) => parquet::read(file, delivery),
    }
}
