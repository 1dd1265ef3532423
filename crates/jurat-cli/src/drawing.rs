//! A run rendered for people or for programs, the same way by every command that shows one.

use std::io::{self, IsTerminal, Write};

use jurat::view::{Code, Column, StoredCase};
use jurat::view::{Detailed, NOT_PASSED, RunView, ViewError};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::report::{CaseReport, RunReport};
use jurat_report::{CaseWriter, JsonWriter, MOST_CASES, MOST_FAILURES, Scope, TerminalOptions, TerminalWriter};

use crate::format::style;
use crate::progress::width;
use crate::variant::VariantOptions;

/// What is rendered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing<'d> {
    /// For programs.
    pub(crate) is_json: bool,
    /// With every task of each case.
    pub(crate) tasks: bool,
    pub(crate) scope: Scope,
    /// How commands name the run; nothing for the latest.
    pub(crate) run: Option<&'d str>,
}

/// Which part of a run is rendered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'p> {
    pub(crate) cases: CasesShown<'p>,
    /// Of each case only this task.
    pub(crate) task: Option<TaskIx>,
    /// At most this number of cases. Nothing: all for programs, as many as can be read for people.
    pub(crate) most: Option<usize>,
}

/// Which cases are rendered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CasesShown<'p> {
    /// Those of the whole run. People see those that failed, or with every task those that did not pass.
    All,
    /// Those in which a task failed.
    Failures,
    /// These.
    These(&'p [StoredCase]),
    /// Those that ended, or whose task ended, in one of these ways.
    Ended(Column, &'p [Code]),
    /// Of those, the cases of one variant: how many there are, and which.
    OfVariant(&'p VariantOptions, Column, &'p [Code]),
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
    /// Whether the reader of the output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, DrawError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Draws a run on standard output.
pub(crate) fn draw(view: &RunView, report: &RunReport, drawing: Drawing<'_>) -> Result<(), DrawError> {
    draw_part(view, report, drawing, Part { cases: CasesShown::All, task: None, most: None })
}

/// Draws a part of a run on standard output.
pub(crate) fn draw_part(
    view: &RunView,
    report: &RunReport,
    drawing: Drawing<'_>,
    part: Part<'_>,
) -> Result<(), DrawError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if drawing.is_json {
        let mut writer = JsonWriter::new(&mut out, report, drawing.scope)?;
        let cases = cases(view, part.cases).take(part.most.unwrap_or(usize::MAX));
        write_cases(&mut writer, cases.map(|it| only_task(it, part.task)))?;
    } else {
        let options = terminal_options(view, drawing, part)?;
        // What is not shown is not read either.
        let shown = match part.cases {
            CasesShown::All if !options.tasks => CasesShown::Failures,
            CasesShown::All if report.cases.total() > options.most_cases as u64 => {
                CasesShown::Ended(Column::CASE, &NOT_PASSED)
            }
            other => other,
        };
        let mut writer = TerminalWriter::new(&mut out, report, options);
        if let Some(run) = drawing.run {
            writer = writer.named(run);
        }
        let cases = cases(view, shown).take(options.most_cases);
        write_cases(&mut writer, cases.map(|it| only_task(it, part.task)))?;
    }
    Ok(out.flush()?)
}

fn terminal_options(view: &RunView, drawing: Drawing<'_>, part: Part<'_>) -> Result<TerminalOptions, ViewError> {
    let (n_selected, tasks) = match part.cases {
        CasesShown::All | CasesShown::Failures => (None, drawing.tasks),
        CasesShown::These(cases) => (Some(cases.len() as u64), true),
        CasesShown::Ended(column, codes) => (Some(view.count(column, codes)?), drawing.tasks || part.task.is_some()),
        CasesShown::OfVariant(variant, column, codes) => {
            let n = view.count_of_variant(column, codes, &|it| variant.is_meant(it))?;
            (Some(n), drawing.tasks || part.task.is_some())
        }
    };
    let is_list = tasks || n_selected.is_some();
    let most_cases = part.most.unwrap_or(if is_list { MOST_CASES } else { MOST_FAILURES });
    Ok(TerminalOptions {
        style: style(&io::stdout()),
        width: if io::stdout().is_terminal() { width() } else { None },
        scope: drawing.scope,
        cases: most_cases > 0,
        tasks,
        is_full: n_selected.is_some(),
        totals: n_selected.is_none(),
        most_cases,
        n_selected,
    })
}

/// The cases of a part of a run, with all their tasks.
pub(crate) fn cases<'v>(
    view: &'v RunView,
    shown: CasesShown<'v>,
) -> Box<dyn Iterator<Item = Result<CaseReport, ViewError>> + 'v> {
    let detailed = Detailed::Tasks;
    match shown {
        CasesShown::All => Box::new(view.cases(CaseIx::ALL, detailed)),
        CasesShown::Failures => Box::new(view.failures()),
        CasesShown::These(cases) => Box::new(cases.iter().map(move |it| view.case_report(it, detailed))),
        CasesShown::Ended(column, codes) => Box::new(view.find(column, codes, detailed)),
        CasesShown::OfVariant(variant, column, codes) => {
            Box::new(view.find_of_variant(column, codes, detailed, |it| variant.is_meant(it)))
        }
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

/// Reports rows that are left out, because they are no longer what was judged.
pub(crate) fn note_missing_rows(view: &RunView) -> io::Result<()> {
    for why in view.missing_rows() {
        writeln!(io::stderr(), "rows are left out: {}", jurat_report::visible_line(&why))?;
    }
    Ok(())
}
