//! Markdown, for comments on pull requests.

use jurat_report::{MOST_MARKDOWN_CASES, MarkdownWriter};

use super::{Format, Holds};
use crate::Error;

/// A summary for a pull request.
pub static MARKDOWN: Format = Format {
    name: "markdown",
    extensions: &["md", "markdown"],
    title: None,
    help: "A summary for a pull request (`.md`)",
    holds: Holds::Run,
    write: |export, mut out| {
        let writer = MarkdownWriter::new(&mut out, export.report(), export.scope(), MOST_MARKDOWN_CASES);
        export.write_not_passed(&mut writer.map_err(Error::Write)?)
    },
};
