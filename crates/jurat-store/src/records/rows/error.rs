//! Why reading rows ended before they did.

use std::io;

use super::super::{Format, SampleError};

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
    #[error("{0} cannot be read from standard input, because its end is read first; name a file")]
    NotFromStandardInput(Format),
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
    #[error("`types` names the column `{column}`, but the header has {}", listed(columns))]
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

fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("`{it}`")).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST { ", …" } else { "" })
}
