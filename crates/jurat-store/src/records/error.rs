//! Why records could not be read, in words their author can act on.

use std::io;

use jurat_core::suite::RowFormat;
use jurat_format::problem::listed;

use super::format::ENDINGS;

/// Why a file gives no rows.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The file's name does not say its format.
    #[error("{} does not say the format of the records; name the file {}, or say `format`", named(ending.as_deref()), endings())]
    UnknownFormat {
        /// What the name ends with, without the dot.
        ending: Option<String>,
    },
    /// The first row does not end within what is read.
    #[error("the first row does not end within the first {limit} bytes, which is as much as is read to check a suite")]
    RowTooLong {
        /// The most bytes that were to be read.
        limit: u64,
    },
    /// The bytes are no text.
    #[error("line {line} is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The line, from 1.
        line: u64,
    },
    /// The text is not what the format asks for.
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// The column in characters, from 1.
        column: u64,
        message: String,
    },
    /// A line of CSV does not fit its header.
    #[error("the row at line {line} has {cells} cells, but the header has {columns}")]
    CellCount {
        /// The line that the row starts on, from 1.
        line: u64,
        /// How many cells it has.
        cells: u64,
        /// How many it should have.
        columns: u64,
    },
    /// A CSV header is too wide.
    #[error("the header has {columns} columns; {most} are the most")]
    TooManyColumns { columns: usize, most: usize },
    /// A CSV header has a name twice.
    #[error("the header has the column `{column}` twice; give one of them another name")]
    RepeatedColumn { column: String },
    /// The file is not what Parquet asks for.
    #[error("it cannot be read as Parquet: {message}")]
    NotParquet { message: String },
    /// The file is not what Arrow asks for.
    #[error("it cannot be read as Arrow: {message}")]
    NotArrow { message: String },
    /// The file is no workbook, or none whose rows can be read.
    #[error("it cannot be read as an Excel workbook: {message}")]
    NotExcel { message: String },
    /// The folder of a dataset does not hold what it should.
    #[error("it cannot be read as a dataset: {message}")]
    Dataset { message: String },
    /// A file of a dataset cannot be read.
    #[error("`{name}`: {error}")]
    Shard { name: String, error: Box<SampleError> },
    /// A file that has to be read whole is too large for that.
    #[error("it is larger than {most} bytes, the most {what} may have; save it as JSON lines or Parquet")]
    TooLarge { what: &'static str, most: u64 },
    /// The file is compressed in a way that is not understood.
    #[error("it is compressed with {codec}, which is not read; write it with Zstandard or Snappy")]
    Compression { codec: &'static str },
    /// A column holds what JSON has no form for.
    #[error("the column `{column}` holds {holds}, which JSON cannot express; turn it into text, or leave it out")]
    OddColumn {
        /// The column, and the place in it.
        column: String,
        holds: String,
    },
    /// A cell holds what JSON has no form for.
    #[error("row {row}: the column `{column}` holds {found}, which JSON cannot express; replace it by null")]
    OddCell {
        /// The row, from 1.
        row: u64,
        /// The column, and the place in it.
        column: String,
        found: &'static str,
    },
    /// The system would not give the file.
    #[error("{0}")]
    Read(#[source] io::Error),
}

impl From<io::Error> for SampleError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SampleError::NotFound,
            _ => SampleError::Read(error),
        }
    }
}

/// Where the rows come from, and what is wrong with them.
#[derive(Debug, thiserror::Error)]
#[error("{from}: {fault}")]
pub struct RowsError {
    /// The source in words: a file's path in backticks as its author wrote it, `standard input`, or `records`.
    pub from: String,
    #[source]
    pub fault: RowsFault,
}

/// What is wrong with rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsFault {
    /// The file cannot be read, or is not what its format asks for.
    #[error(transparent)]
    File(#[from] SampleError),
    /// Rows of this format cannot be read as they come.
    #[error("{} cannot be read from standard input, because its end is read first; name a file", .0.name())]
    NotFromStandardInput(RowFormat),
    /// A row is longer than any is expected to be.
    #[error("row {row}{} is longer than {limit} bytes, the most a row may have", line.map(|it| format!(", which begins on line {it},")).unwrap_or_default())]
    RowTooLong {
        /// The row, from 1.
        row: u64,
        /// The line that it begins on, from 1, when there are lines.
        line: Option<u64>,
        limit: usize,
    },
    /// `types` names a column that a CSV file does not have.
    #[error("`types` names the column `{column}`, but the header has {}", first_columns(columns))]
    NoColumn { column: String, columns: Vec<String> },
    /// A cell of a CSV file is not of the type that `types` gives its column.
    #[error("row {row}, which begins on line {line}: the column `{column}` should hold {expected}, found {found}")]
    Cell {
        /// The row, from 1.
        row: u64,
        /// The line that it begins on, from 1.
        line: u64,
        column: String,
        expected: &'static str,
        /// What it holds, as messages show it.
        found: String,
    },
    /// A row of the definition holds a number that JSON does not have.
    #[error("row {row} holds `{number}`, which JSON cannot write; write `null`, or text in quotes")]
    NotJson {
        /// The row, from 1.
        row: u64,
        number: String,
    },
}

impl From<io::Error> for RowsFault {
    fn from(error: io::Error) -> Self {
        RowsFault::File(error.into())
    }
}

fn named(ending: Option<&str>) -> String {
    match ending {
        Some(ending) => format!("the ending `.{ending}`"),
        None => "a name without an ending".to_owned(),
    }
}

fn endings() -> String {
    let endings = ENDINGS.map(|(ending, _)| format!(".{ending}"));
    listed(endings.iter().map(String::as_str))
}

fn first_columns(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("`{it}`")).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST { ", …" } else { "" })
}
