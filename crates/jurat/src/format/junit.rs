//! JUnit XML, for continuous integration.

use jurat_report::JunitWriter;

use super::{Format, Holds};
use crate::Error;

/// Tests for continuous integration.
pub static JUNIT: Format = Format {
    name: "junit",
    extensions: &["xml", "junit"],
    title: Some("JUnit"),
    help: "Tests for continuous integration (`.xml`)",
    holds: Holds::Run,
    write: |export, mut out| {
        export.write_cases(&mut JunitWriter::new(&mut out, export.report(), export.scope()).map_err(Error::Write)?)
    },
};
