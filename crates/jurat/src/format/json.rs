//! One JSON document, as `jurat run --json` prints it.

use jurat_report::JsonWriter;

use super::{Format, Holds};
use crate::Error;

/// The whole run as one JSON object.
pub static JSON: Format = Format {
    name: "json",
    extensions: &["json"],
    title: None,
    help: "The whole run as one object (`.json`)",
    holds: Holds::Cases,
    write: |export, mut out| {
        export.write_cases(&mut JsonWriter::new(&mut out, export.report(), export.scope()).map_err(Error::Write)?)
    },
};
