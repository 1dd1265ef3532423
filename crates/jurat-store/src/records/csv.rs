//! Comma-separated and tab-separated values: each row is written as a JSON object, with the names of the header line as keys.
//!
//! A header that has a name twice is refused.

use std::collections::HashSet;
use std::io::{self, Read};
use std::ops::ControlFlow;

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use jurat_core::plan::TAGS;
use jurat_core::suite::CellType;
use jurat_format::value::{Val, shown};

use super::chunk::{Delivery, write_rows};
use super::mark::{Mark, n_lines};
use super::rows::Types;
use super::window::Window;
use super::{RowsFault, SampleError};

/// How many columns are accepted; as many as spreadsheets have.
const MAX_COLUMNS: usize = 16_384;

pub(super) fn read(
    window: Window<'_>,
    delimiter: u8,
    types: Types<'_>,
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = Rows::new(window, delimiter, delivery.limits.row);
    let mut cells = StringRecord::new();
    if !rows.next(&mut cells)? {
        return Ok(ControlFlow::Continue(()));
    }
    let columns = columns(&cells, types)?;
    write_rows(delivery, |json| {
        if !rows.next(&mut cells)? {
            return Ok(None);
        }
        write_row(json, &columns, &cells, (&rows, types))?;
        Ok(Some((rows.number, rows.line)))
    })
}

/// Finds where a table can be cut: the byte behind its header, and its parts. `is_full` says whether a part that has this many rows, and ends at this
/// byte, is long enough.
pub(super) fn cuts(
    window: Window<'_>,
    delimiter: u8,
    longest: usize,
    is_full: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(u64, Vec<Cut>), RowsFault> {
    let start = window.offset().unwrap_or_default();
    let mut rows = Rows::new(window, delimiter, longest);
    let mut cells = StringRecord::new();
    let end = |rows: &Rows<'_>| start + rows.reader.position().byte();
    rows.next(&mut cells)?;
    let header = end(&rows);
    let (mut cuts, mut cut) = (Vec::new(), Cut { offset: header, bytes: 0, rows: 0 });
    while rows.next(&mut cells)? {
        cut.rows += 1;
        cut.bytes = end(&rows) - cut.offset;
        if is_full(cut.rows, end(&rows)) {
            let offset = end(&rows);
            cuts.push(std::mem::replace(&mut cut, Cut { offset, bytes: 0, rows: 0 }));
        }
    }
    if cut.rows > 0 || cuts.is_empty() {
        cuts.push(cut);
    }
    Ok((header, cuts))
}

/// Some rows of a table that follow each other.
pub(super) struct Cut {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) rows: u64,
}

/// A column of the header.
struct Column {
    name: String,
    /// What an object has before its value: `,"name":`.
    key: String,
    /// What its cells are; default: text.
    cells: Option<CellType>,
    /// Whether it holds the tags of rows, which may be lists without a type that says so.
    is_tags: bool,
}

fn columns(header: &StringRecord, types: Types<'_>) -> Result<Vec<Column>, RowsFault> {
    if header.len() > MAX_COLUMNS {
        return Err(SampleError::TooManyColumns { columns: header.len(), most: MAX_COLUMNS }.into());
    }
    refuse_repeated(header)?;
    if let Some((name, _)) = types.columns.iter().find(|(name, _)| !header.iter().any(|it| it == name.value)) {
        let columns = header.iter().map(str::to_owned).collect();
        types.refuse(RowsFault::NoColumn { column: name.value.clone(), columns })?;
    }
    let column = |(ix, name): (usize, &str)| Column {
        name: name.to_owned(),
        key: format!("{}{}:", if ix == 0 { "" } else { "," }, Val::from(name)),
        cells: types.columns.iter().find(|(typed, _)| typed.value == name).map(|(_, it)| *it),
        is_tags: name == TAGS,
    };
    Ok(header.iter().enumerate().map(column).collect())
}

/// Refuses a header that has a name twice: only the last of these columns would be read. Spreadsheets write columns without a name.
fn refuse_repeated(header: &StringRecord) -> Result<(), SampleError> {
    let mut seen = HashSet::new();
    match header.iter().find(|it| !it.is_empty() && !seen.insert(*it)) {
        Some(column) => Err(SampleError::RepeatedColumn { column: column.to_owned() }),
        None => Ok(()),
    }
}

fn write_row(
    json: &mut Vec<u8>,
    columns: &[Column],
    cells: &StringRecord,
    (rows, types): (&Rows<'_>, Types<'_>),
) -> Result<(), RowsFault> {
    json.push(b'{');
    for (column, cell) in columns.iter().zip(cells) {
        json.extend_from_slice(column.key.as_bytes());
        match column.cells {
            None if column.is_tags && is_list_of_texts(cell) => json.extend_from_slice(cell.trim().as_bytes()),
            None => write_text(json, cell),
            Some(cells) => match cell.trim() {
                "" => json.extend_from_slice(b"null"),
                // A cell that reads as its type is JSON as it stands.
                text if cells.read(text).is_some() => json.extend_from_slice(text.as_bytes()),
                text => {
                    let (column, found) = (column.name.clone(), shown(&Val::from(text)));
                    let (row, line, expected) = (rows.number, rows.line, expected(cells));
                    types.refuse(RowsFault::Cell { row, line, column, expected, found })?;
                    write_text(json, cell);
                }
            },
        }
    }
    json.push(b'}');
    Ok(())
}

/// Whether a cell is a list of texts as JSON writes it.
fn is_list_of_texts(cell: &str) -> bool {
    cell.trim_start().starts_with('[') && serde_json::from_str::<Vec<String>>(cell).is_ok()
}

fn write_text(json: &mut Vec<u8>, cell: &str) {
    serde_json::to_writer(json, cell).expect("text can be written to memory");
}

pub(super) fn expected(cells: CellType) -> &'static str {
    match cells {
        CellType::Number => "a number",
        CellType::Integer => "a whole number",
        CellType::Boolean => "`true` or `false`",
        CellType::Json => "JSON",
    }
}

/// The rows of a file, the header being the one with number 0.
struct Rows<'r> {
    reader: Reader<Retained<'r>>,
    delimiter: u8,
    longest: usize,
    /// The row that was read last.
    number: u64,
    /// The line that it begins on.
    line: u64,
    /// The line that it ends on.
    last_line: u64,
    is_header: bool,
}

impl<'r> Rows<'r> {
    fn new(window: Window<'r>, delimiter: u8, longest: usize) -> Rows<'r> {
        let retained =
            Retained { window, offset: 0, row: 0, n_parsed: 0, longest, has_ended: false, is_too_long: false };
        let reader =
            ReaderBuilder::new().has_headers(false).delimiter(delimiter).buffer_capacity(BUFFER).from_reader(retained);
        Rows { reader, delimiter, longest, number: 0, line: 1, last_line: 1, is_header: true }
    }

    /// Reads the next row; `false` at the end.
    fn next(&mut self, cells: &mut StringRecord) -> Result<bool, RowsFault> {
        let start = self.reader.position().byte();
        self.reader.get_mut().begin_row(start);
        let read = self.reader.read_record(cells);
        if !std::mem::take(&mut self.is_header) {
            self.number += 1;
        }
        let retained = self.reader.get_ref();
        let row = retained.row_up_to(self.reader.position().byte());
        let before = line_ends(row);
        self.line = self.last_line + n_lines(&row[..before]);
        self.last_line += n_lines(row);
        let row = &row[before..];
        let length = row.len() - row.iter().rev().take_while(|it| is_line_end(it)).count();
        if retained.is_too_long || length > self.longest {
            return Err(RowsFault::RowTooLong { row: self.number, line: Some(self.line), limit: self.longest });
        }
        // Only the end of the file can cut a quoted cell.
        if let Some(quote) = retained.has_ended.then(|| open_quote(row, self.delimiter)).flatten() {
            let before = String::from_utf8_lossy(&row[..quote]);
            let Mark { line, column } = Mark { line: self.line, column: 1 }.after(&before);
            return Err(SampleError::Malformed { line, column, message: OPEN_QUOTE.to_owned() }.into());
        }
        read.map_err(|it| self.fault(it, row))
    }

    fn fault(&self, error: csv::Error, row: &[u8]) -> RowsFault {
        let message = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(error) => error.into(),
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                SampleError::CellCount { line: self.line, cells: len, columns: expected_len }.into()
            }
            ErrorKind::Utf8 { .. } => {
                let valid = row.utf8_chunks().next().map_or(0, |it| it.valid().len());
                SampleError::NotUtf8 { line: self.line + n_lines(&row[..valid]) }.into()
            }
            _ => SampleError::Malformed { line: self.line, column: 1, message }.into(),
        }
    }
}

/// What is said of a quote that opens a cell which then reaches the end of the file.
const OPEN_QUOTE: &str = "the quote that opens here is never closed";

/// Where the quote stands that a row opens and does not close.
fn open_quote(row: &[u8], delimiter: u8) -> Option<usize> {
    let mut cell = Cell::Start;
    for (at, byte) in row.iter().enumerate() {
        cell = match (cell, byte) {
            (Cell::Start, b'"') => Cell::Quoted(at),
            (Cell::Quoted(opened), b'"') => Cell::Closed(opened),
            // A doubled quote is one of the cell's text.
            (Cell::Closed(opened), b'"') | (Cell::Quoted(opened), _) => Cell::Quoted(opened),
            (_, b'\r' | b'\n') => Cell::Start,
            (_, byte) if *byte == delimiter => Cell::Start,
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

/// How many bytes of line endings a row begins with: the parser counts those of the row before, and empty lines, to the
/// row that follows them.
fn line_ends(row: &[u8]) -> usize {
    row.iter().take_while(|it| is_line_end(it)).count()
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// How many bytes the parser reads at a time.
const BUFFER: usize = 64 << 10;

/// An input that retains the bytes of the row that is being parsed: the parser does not say where a quote was opened that is
/// never closed, and would gather a row of any length.
struct Retained<'r> {
    /// The retained bytes, then those that the parser has not had yet.
    window: Window<'r>,
    /// Where in the input the retained bytes begin.
    offset: u64,
    /// Where in them the row begins.
    row: usize,
    /// How many of them the parser has had.
    n_parsed: usize,
    longest: usize,
    has_ended: bool,
    is_too_long: bool,
}

impl Retained<'_> {
    /// Says that a row begins at a byte of the input. The bytes before it are dropped when there is more to read, not row
    /// by row.
    fn begin_row(&mut self, at: u64) {
        self.row = self.place(at);
    }

    fn row_up_to(&self, at: u64) -> &[u8] {
        &self.window.bytes()[self.row..self.place(at)]
    }

    fn place(&self, at: u64) -> usize {
        usize::try_from(at - self.offset).expect("what is retained fits memory")
    }
}

impl Read for Retained<'_> {
    /// The parser reads when it has used up what it has, so all that is retained from the row's beginning is the row's, with the
    /// line endings before it.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.window.skip(self.row);
        self.offset += self.row as u64;
        self.n_parsed -= self.row;
        self.row = 0;
        self.is_too_long = self.n_parsed > self.longest + BUFFER;
        if !self.is_too_long {
            self.window.fill(self.n_parsed + into.len())?;
        }
        let n = (&self.window.bytes()[self.n_parsed..]).read(into)?;
        self.n_parsed += n;
        self.has_ended = n == 0;
        self.is_too_long |= self.has_ended && self.window.is_cut();
        if self.is_too_long { Err(io::Error::other("the row is too long")) } else { Ok(n) }
    }
}
