//! A run drawn for people or for programs, the same way by every command that shows one.

use std::io::{self, IsTerminal, Write};

use jurat_engine::view::{Detailed, RunView, ViewError};
use jurat_report::model::{CaseReport, RunReport};
use jurat_report::{CaseWriter, JsonWriter, Scope, TerminalOptions, TerminalWriter};

use crate::format::style;
use crate::progress::width;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing {
    /// For programs.
    pub(crate) is_json: bool,
    /// With a table of tasks.
    pub(crate) tasks: bool,
    pub(crate) scope: Scope,
}

/// Why drawing ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("{0}")]
    Output(#[from] io::Error),
}

impl DrawError {
    /// Whether nobody reads any more, which is their right.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, DrawError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Draws a run on standard output.
pub(crate) fn draw(view: &RunView, report: &RunReport, drawing: Drawing) -> Result<(), DrawError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let Drawing { is_json, tasks, scope } = drawing;
    if is_json {
        let mut writer = JsonWriter::new(&mut out, report, scope)?;
        write_cases(&mut writer, view.cases(0..u64::MAX, Detailed::Tasks))?;
    } else {
        let options = TerminalOptions {
            style: style(&io::stdout()),
            width: if io::stdout().is_terminal() { width() } else { None },
            scope,
            tasks,
            ..TerminalOptions::default()
        };
        let detailed = if tasks { Detailed::Tasks } else { Detailed::Counts };
        let mut writer = TerminalWriter::new(&mut out, report, options);
        write_cases(&mut writer, view.cases(0..u64::MAX, detailed))?;
    }
    Ok(out.flush()?)
}

/// Hands cases to a writer for as long as it wants more.
pub(crate) fn write_cases(
    writer: &mut dyn CaseWriter,
    cases: impl Iterator<Item = Result<CaseReport, ViewError>>,
) -> Result<(), DrawError> {
    for case in cases {
        if !writer.wants_more() {
            break;
        }
        writer.case(&case?)?;
    }
    Ok(writer.end()?)
}
