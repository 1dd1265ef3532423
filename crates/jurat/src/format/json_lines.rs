//! One JSON object a line for each task of each case.

use jurat_report::JsonLinesWriter;

use super::{Format, Holds};

/// A JSON object for each task of each case.
pub static JSON_LINES: Format = Format {
    name: "jsonl",
    extensions: &["jsonl", "ndjson"],
    title: None,
    help: "A JSON object for each task of each case (`.jsonl`)",
    holds: Holds::Rows,
    write: |export, mut out| {
        export.write_cases(&mut JsonLinesWriter::new(&mut out, export.report(), export.chosen_columns()))
    },
};
