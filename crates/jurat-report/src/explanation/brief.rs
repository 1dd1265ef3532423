//! A case in short: what was asked and answered, the result of each of its tasks, and why.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport};

use crate::Style;
use crate::terminal::Listing;
use crate::words::cut;

/// How much of a name is shown.
const ROOM_FOR_NAMES: usize = 200;

/// Writes a case with its tasks, in a window of this width when there is one.
pub fn write_brief(
    out: &mut dyn Write,
    run: &RunReport,
    case: &CaseReport,
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    Listing { run, style, width, every_task: true, is_full: true }.write(out, case)?;
    let suite = format!("{} in run {}", run.suite, run.observed.run_id);
    writeln!(out, "\nsuite: {}", cut(&suite, ROOM_FOR_NAMES))
}
