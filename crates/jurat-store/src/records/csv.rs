//! The first rows of comma-separated values: a header line with the names, then one row per record. Every cell is text.

use std::collections::HashSet;

use csv::{ErrorKind, Reader, StringRecord};
use jurat_format::value::{Map, Val};

use super::head::{End, Head};
use super::mark::n_lines;
use super::{Sample, SampleError};

/// How many columns are accepted; as many as spreadsheets have.
pub(super) const MAX_COLUMNS: usize = 16_384;

pub(super) fn sample(head: &Head, most: usize) -> Result<Sample, SampleError> {
    let mut sample = Sample::default();
    let mut reader = Reader::from_reader(head.text.as_bytes());
    let names = reader.headers().map_err(|it| sample_error(it, head))?.clone();
    if is_cut(head, &Row::up_to(&reader, 0, head)) {
        return ended(head, sample);
    }
    if names.len() > MAX_COLUMNS {
        return Err(SampleError::TooManyColumns { columns: names.len(), most: MAX_COLUMNS });
    }
    refuse_repeated(&names)?;
    let mut cells = StringRecord::new();
    loop {
        let start = reader.position().byte();
        let read = reader.read_record(&mut cells);
        if sample.rows.len() == most {
            sample.more = head.end != End::File || !matches!(read, Ok(false));
            return Ok(sample);
        }
        // A row that was cut off may have too few cells or an open quote, and that would not be its fault.
        let row = Row::up_to(&reader, start, head);
        if matches!(read, Ok(false)) || is_cut(head, &row) {
            return ended(head, sample);
        }
        if let Some(quote) = row.open_quote {
            return Err(head.malformed_at(quote, OPEN_QUOTE));
        }
        read.map_err(|it| sample_error(it, head))?;
        let pairs = names.iter().zip(&cells).map(|(name, cell)| (name.to_owned().into(), Val::from(cell.to_owned())));
        let (row, _) = Map::from_pairs(pairs.collect());
        sample.rows.push(Val::Map(row));
    }
}

/// Refuses a header that has a name twice: only the last of these columns would be read. Spreadsheets write columns without a name.
pub(super) fn refuse_repeated(header: &StringRecord) -> Result<(), SampleError> {
    let mut seen = HashSet::new();
    match header.iter().find(|it| !it.is_empty() && !seen.insert(*it)) {
        Some(column) => Err(SampleError::RepeatedColumn { column: column.to_owned() }),
        None => Ok(()),
    }
}

/// What is said of a quote that opens a cell which then reaches the end of the file.
pub(super) const OPEN_QUOTE: &str = "the quote that opens here is never closed";

/// The text of a row.
struct Row {
    end: usize,
    /// Where the quote stands that it opens and does not close. The parser takes such a row to reach the end of the file,
    /// and would swallow every row after it without a word.
    open_quote: Option<usize>,
}

impl Row {
    /// The row that was read last and began at byte `start`.
    fn up_to(reader: &Reader<&[u8]>, start: u64, head: &Head) -> Row {
        let (start, end) = (to_usize(start), to_usize(reader.position().byte()));
        Row { end, open_quote: open_quote(&head.text.as_bytes()[start..end]).map(|it| start + it) }
    }
}

/// Whether a row may continue beyond the text.
fn is_cut(head: &Head, row: &Row) -> bool {
    let is_whole = head.text.ends_with('\n') && row.open_quote.is_none();
    head.end != End::File && row.end >= head.text.len() && !is_whole
}

/// The sample, where the text ends.
fn ended(head: &Head, sample: Sample) -> Result<Sample, SampleError> {
    match head.cut_row(sample.rows.len()) {
        None => Ok(sample),
        Some(Ok(())) => Ok(Sample { more: true, ..sample }),
        Some(Err(error)) => Err(error),
    }
}

/// Where the quote stands that a row opens and does not close.
pub(super) fn open_quote(row: &[u8]) -> Option<usize> {
    let mut cell = Cell::Start;
    for (at, byte) in row.iter().enumerate() {
        cell = match (cell, byte) {
            (Cell::Start, b'"') => Cell::Quoted(at),
            (Cell::Quoted(opened), b'"') => Cell::Closed(opened),
            // A doubled quote is one of the cell's text.
            (Cell::Closed(opened), b'"') | (Cell::Quoted(opened), _) => Cell::Quoted(opened),
            (_, b',' | b'\r' | b'\n') => Cell::Start,
            (_, _) => Cell::Plain,
        };
    }
    match cell {
        Cell::Quoted(opened) => Some(opened),
        Cell::Start | Cell::Plain | Cell::Closed(_) => None,
    }
}

/// Where in a cell a reader is; a quoted one remembers where it began.
enum Cell {
    Start,
    Plain,
    Quoted(usize),
    Closed(usize),
}

fn sample_error(error: csv::Error, head: &Head) -> SampleError {
    let message = error.to_string();
    match error.into_kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let text = head.text.as_bytes();
            let start = pos.map_or(0, |it| to_usize(it.byte()));
            let line = 1 + n_lines(&text[..start + line_ends(&text[start..])]);
            SampleError::CellCount { line, cells: len, columns: expected_len }
        }
        // The text is in memory and known to be text, so nothing else is expected.
        _ => head.malformed_at(0, message),
    }
}

/// How many bytes of line endings a row begins with: the parser counts those of the row before, and empty lines, to the
/// row that follows them.
pub(super) fn line_ends(row: &[u8]) -> usize {
    row.iter().take_while(|it| is_line_end(it)).count()
}

pub(super) fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// An offset into text that is in memory.
fn to_usize(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
