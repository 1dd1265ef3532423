//! One HTML file, to send around.

use jurat_view::file::{FileError, write};

use super::{Format, Holds};
use crate::Error;
use crate::run::unreadable;

/// The run as one page that opens from disk: totals, tasks, every verdict, and the details of cases that did not pass.
pub static HTML: Format = Format {
    name: "html",
    extensions: &["html", "htm"],
    title: None,
    help: "One page that opens without a server or a network (`.html`)",
    holds: Holds::Run,
    write: |export, mut out| {
        write(export.view(), &export.page_options(), &mut out).map_err(|error| match error {
            FileError::View(error) => unreadable(error),
            FileError::Compare(error) => crate::contrast::error(error),
            FileError::Write(error) => Error::Write(error),
            error @ FileError::TooLarge { .. } => Error::Usage(error.to_string()),
        })
    },
};
