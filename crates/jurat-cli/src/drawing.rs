//! A run drawn for people or for programs, the same way by every command that shows one.

use std::io::{self, IsTerminal, Write};

use jurat_core::plan::TaskIx;
use jurat_engine::view::{Detailed, NOT_PASSED, RunView, ViewError};
use jurat_report::model::{CaseReport, RunReport};
use jurat_report::{CaseWriter, JsonWriter, MOST_CASES, Scope, TerminalOptions, TerminalWriter};
use jurat_store::run::{Code, Column, StoredCase};

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

/// Which part of a run is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'p> {
    pub(crate) cases: CasesShown<'p>,
    /// Of each case only this task.
    pub(crate) task: Option<TaskIx>,
    /// So many cases at most. Nothing: all for programs, as many as can be read for people.
    pub(crate) most: Option<usize>,
}

/// Which cases are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CasesShown<'p> {
    /// Those of the whole run. Of many, people see those that did not pass.
    All,
    /// These.
    These(&'p [StoredCase]),
    /// Those that ended, or whose task ended, in one of these ways.
    Ended(Column, &'p [Code]),
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
    draw_part(view, report, drawing, Part { cases: CasesShown::All, task: None, most: None })
}

/// Draws a part of a run on standard output.
pub(crate) fn draw_part(view: &RunView, report: &RunReport, drawing: Drawing, part: Part<'_>) -> Result<(), DrawError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if drawing.is_json {
        let mut writer = JsonWriter::new(&mut out, report, drawing.scope)?;
        let cases = cases(view, part.cases, Detailed::Tasks).take(part.most.unwrap_or(usize::MAX));
        write_cases(&mut writer, cases.map(|it| only_task(it, part.task)))?;
    } else {
        let options = terminal_options(view, drawing, part)?;
        // Of a run with many cases those that passed are not shown, so they are not read either.
        let passes_over = options.n_selected.is_none() && report.cases.total() > options.most_cases as u64;
        let shown = if passes_over { CasesShown::Ended(Column::CASE, &NOT_PASSED) } else { part.cases };
        let detailed = if options.tasks { Detailed::Tasks } else { Detailed::Counts };
        let mut writer = TerminalWriter::new(&mut out, report, options);
        let cases = cases(view, shown, detailed).take(options.most_cases);
        write_cases(&mut writer, cases.map(|it| only_task(it, part.task)))?;
    }
    Ok(out.flush()?)
}

fn terminal_options(view: &RunView, drawing: Drawing, part: Part<'_>) -> Result<TerminalOptions, ViewError> {
    let most_cases = part.most.unwrap_or(MOST_CASES);
    let (n_selected, tasks) = match part.cases {
        CasesShown::All => (None, drawing.tasks),
        CasesShown::These(cases) => (Some(cases.len() as u64), true),
        CasesShown::Ended(column, codes) => (Some(view.count(column, codes)?), drawing.tasks || part.task.is_some()),
    };
    Ok(TerminalOptions {
        style: style(&io::stdout()),
        width: if io::stdout().is_terminal() { width() } else { None },
        scope: drawing.scope,
        // Counts over all tasks say nothing about one of them.
        cases: part.task.is_none() && most_cases > 0,
        tasks: tasks && most_cases > 0,
        totals: n_selected.is_none(),
        most_cases,
        n_selected,
    })
}

fn cases<'v>(
    view: &'v RunView,
    shown: CasesShown<'v>,
    detailed: Detailed,
) -> Box<dyn Iterator<Item = Result<CaseReport, ViewError>> + 'v> {
    match shown {
        CasesShown::All => Box::new(view.cases(0..u64::MAX, detailed)),
        CasesShown::These(cases) => Box::new(cases.iter().map(move |it| view.case_report(it, detailed))),
        CasesShown::Ended(column, codes) => Box::new(view.find(column, codes, detailed)),
    }
}

fn only_task(case: Result<CaseReport, ViewError>, task: Option<TaskIx>) -> Result<CaseReport, ViewError> {
    let mut case = case?;
    if let Some(task) = task {
        case.tasks.retain(|it| it.task == task.index());
    }
    Ok(case)
}

/// Hands cases to a writer for as long as it wants more.
pub(crate) fn write_cases(
    writer: &mut dyn CaseWriter,
    mut cases: impl Iterator<Item = Result<CaseReport, ViewError>>,
) -> Result<(), DrawError> {
    while writer.wants_more()
        && let Some(case) = cases.next()
    {
        writer.case(&case?)?;
    }
    Ok(writer.end()?)
}
