//! The formats that records come in, and the endings of file names that distinguish them.

use std::fmt;
use std::path::Path;

use jurat_core::suite::RowFormat;

use super::SampleError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON value per line.
    JsonLines,
    /// One JSON document: a list of rows, or one object that is the only row.
    Json,
    /// Comma-separated values with a header line; every cell is text.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The endings of file names and what they mean, in the order messages list them.
    pub const ENDINGS: [(&'static str, Format); 5] = [
        ("jsonl", Format::JsonLines),
        ("ndjson", Format::JsonLines),
        ("json", Format::Json),
        ("csv", Format::Csv),
        ("parquet", Format::Parquet),
    ];

    /// The format that a file's name says, in whatever case it is written.
    pub fn of(path: &Path) -> Result<Format, SampleError> {
        let ending = path.extension().map(|it| it.to_string_lossy().into_owned());
        let known = |ending: &str| Format::ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending));
        match ending.as_deref().and_then(known) {
            Some((_, format)) => Ok(*format),
            None => Err(SampleError::UnknownFormat { ending }),
        }
    }
}

impl From<RowFormat> for Format {
    fn from(format: RowFormat) -> Self {
        match format {
            RowFormat::JsonLines => Format::JsonLines,
            RowFormat::Json => Format::Json,
            RowFormat::Csv => Format::Csv,
            RowFormat::Parquet => Format::Parquet,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::JsonLines => "jsonl",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        })
    }
}
