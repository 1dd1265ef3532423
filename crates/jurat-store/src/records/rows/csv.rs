//! Comma-separated values: each row is written as a JSON object, with the names of the header line as keys.
//!
//! A header that has a name twice is refused.

use std::io::{self, Read};
use std::ops::ControlFlow;

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use jurat_core::suite::CellType;
use jurat_format::value::{Spanned, Val, shown};

use super::super::SampleError;
use super::super::csv::{MAX_COLUMNS, OPEN_QUOTE, is_line_end, line_ends, open_quote, refuse_repeated};
use super::super::mark::{Mark, n_lines};
use super::RowsFault;
use super::chunk::{Delivery, Written};
use super::window::Window;

pub(super) fn read(
    window: Window<'_>,
    types: &[(Spanned<String>, CellType)],
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = Rows::new(window, delivery.limits.row);
    let mut cells = StringRecord::new();
    if !rows.next(&mut cells)? {
        return Ok(ControlFlow::Continue(()));
    }
    let columns = columns(&cells, types)?;
    let mut written = Written::default();
    loop {
        let row = rows.next(&mut cells).and_then(|is_row| match is_row {
            true => write_row(&mut written.json, &columns, &cells, &rows).map(|()| true),
            false => Ok(false),
        });
        let flow = match row {
            Ok(true) => written.end_row(rows.number, rows.line, delivery),
            Ok(false) => return Ok(written.flush(delivery)),
            Err(fault) => match written.flush(delivery) {
                ControlFlow::Continue(()) => return Err(fault),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            },
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
}

/// A column of the header.
struct Column {
    name: String,
    /// What an object has before its value: `,"name":`.
    key: String,
    /// What its cells are; default: text.
    cells: Option<CellType>,
}

fn columns(header: &StringRecord, types: &[(Spanned<String>, CellType)]) -> Result<Vec<Column>, RowsFault> {
    if header.len() > MAX_COLUMNS {
        return Err(SampleError::TooManyColumns { columns: header.len(), most: MAX_COLUMNS }.into());
    }
    refuse_repeated(header)?;
    if let Some((name, _)) = types.iter().find(|(name, _)| !header.iter().any(|it| it == name.value)) {
        let columns = header.iter().map(str::to_owned).collect();
        return Err(RowsFault::NoColumn { column: name.value.clone(), columns });
    }
    let column = |(ix, name): (usize, &str)| Column {
        name: name.to_owned(),
        key: format!("{}{}:", if ix == 0 { "" } else { "," }, Val::from(name)),
        cells: types.iter().find(|(typed, _)| typed.value == name).map(|(_, it)| *it),
    };
    Ok(header.iter().enumerate().map(column).collect())
}

fn write_row(json: &mut Vec<u8>, columns: &[Column], cells: &StringRecord, rows: &Rows<'_>) -> Result<(), RowsFault> {
    json.push(b'{');
    for (column, cell) in columns.iter().zip(cells) {
        json.extend_from_slice(column.key.as_bytes());
        match column.cells {
            None => serde_json::to_writer(&mut *json, cell).expect("text can be written to memory"),
            Some(cells) => match cell.trim() {
                "" => json.extend_from_slice(b"null"),
                // A cell that reads as its type is JSON as it stands.
                text if cells.read(text).is_some() => json.extend_from_slice(text.as_bytes()),
                text => {
                    let (column, found) = (column.name.clone(), shown(&Val::from(text)));
                    let expected = expected(cells);
                    return Err(RowsFault::Cell { row: rows.number, line: rows.line, column, expected, found });
                }
            },
        }
    }
    json.push(b'}');
    Ok(())
}

fn expected(cells: CellType) -> &'static str {
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
    fn new(window: Window<'r>, longest: usize) -> Rows<'r> {
        let retained =
            Retained { window, bytes: Vec::new(), offset: 0, row: 0, longest, has_ended: false, is_too_long: false };
        let reader = ReaderBuilder::new().has_headers(false).buffer_capacity(BUFFER).from_reader(retained);
        Rows { reader, longest, number: 0, line: 1, last_line: 1, is_header: true }
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
        if let Some(quote) = retained.has_ended.then(|| open_quote(row)).flatten() {
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

/// How many bytes the parser reads at a time.
const BUFFER: usize = 64 << 10;

/// An input that keeps the bytes of the row that is being parsed: the parser does not say where a quote was opened that is
/// never closed, and would gather a row of any length.
struct Retained<'r> {
    window: Window<'r>,
    bytes: Vec<u8>,
    /// Where in the input the retained bytes begin.
    offset: u64,
    /// Where in them the row begins.
    row: usize,
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
        &self.bytes[self.row..self.place(at)]
    }

    fn place(&self, at: u64) -> usize {
        usize::try_from(at - self.offset).expect("what is retained fits memory")
    }
}

impl Read for Retained<'_> {
    /// The parser reads when it has used up what it has, so all that is retained from the row's beginning is the row's, with the
    /// line endings before it.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.bytes.drain(..self.row);
        self.offset += self.row as u64;
        self.row = 0;
        if self.bytes.len() > self.longest + BUFFER {
            self.is_too_long = true;
            return Err(io::Error::other("the row is too long"));
        }
        let n = self.window.read(into)?;
        self.bytes.extend_from_slice(&into[..n]);
        self.has_ended = n == 0;
        Ok(n)
    }
}
