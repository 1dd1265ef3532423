//! A run on standard output, for people or for programs, the same way by every command that shows one.

use std::io::{self, BufWriter, Write};

use jurat::format::JSON;
use jurat::view::RunView;
use jurat::{Export, TextOptions};

use crate::failure::Failure;
use crate::format::{Format, style};
use crate::progress::window;

/// Prints a run, or a part of it. `tasks` prints every task of each case; `name` is how commands name the run, nothing for the latest.
pub(crate) fn print(export: &Export<'_>, format: Format, tasks: bool, name: Option<&str>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout());
    match format {
        Format::Json => export.write(&JSON, &mut out)?,
        Format::Text => {
            let text = TextOptions { style: style(&io::stdout()), width: window(), tasks, run: name };
            export.write_text(&mut out, text)?;
        }
    }
    Ok(out.flush()?)
}

/// Reports rows that are left out, because they are no longer what was judged.
pub(crate) fn note_missing_rows(view: &RunView) -> io::Result<()> {
    for why in view.missing_rows() {
        writeln!(io::stderr(), "rows are left out: {}", jurat_report::visible_line(&why))?;
    }
    Ok(())
}
