//! A table of tasks, for spreadsheets.

use jurat_report::CsvWriter;

use super::{Format, Holds};
use crate::Error;

/// A row for each task of each case.
pub static CSV: Format = Format {
    name: "csv",
    extensions: &["csv"],
    title: None,
    help: "The same as a table (`.csv`)",
    holds: Holds::Rows,
    write: |export, mut out| {
        let writer = CsvWriter::new(&mut out, export.report(), export.chosen_columns());
        export.write_cases(&mut writer.map_err(Error::Write)?)
    },
};
