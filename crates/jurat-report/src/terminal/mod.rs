//! A run as people read it in a terminal: the cases that failed, totals in tables, why cases could not be judged, and how it ended.

mod cases;
mod causes;
mod closing;
mod tables;

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport, TaskVerdict};
use jurat_core::verdict::CaseVerdict;

use crate::Style;
use crate::case_writer::{CaseWriter, Scope};
use crate::columns::total;
use crate::table::Table;
use crate::words;

pub(crate) use cases::Listing;
use closing::Closing;
pub(crate) use closing::totals;
pub(crate) use tables::{attempts, flaky, judged_words, uncounted};

/// How many cases are listed when every task of each is, unless more are asked for.
pub const MOST_CASES: usize = 100;

/// How many of the cases that failed are listed, unless more are asked for.
pub const MOST_FAILURES: usize = 10;

/// What is rendered, and for which window.
#[derive(Debug, Clone, Copy)]
pub struct TerminalOptions {
    /// Whether meanings are shown in colour.
    pub style: Style,
    /// How wide the window is; nothing when it is none, as in a file.
    pub width: Option<usize>,
    pub scope: Scope,
    /// Whether cases are listed. Without `tasks` and without a selection, those that failed.
    pub cases: bool,
    /// Whether every task is listed, and every case; of many, those that did not pass.
    pub tasks: bool,
    /// Whether texts are whole; else what was asked and answered has one line each.
    pub is_full: bool,
    /// Whether there are tables and lines about the run as a whole.
    pub totals: bool,
    /// How many cases are listed.
    pub most_cases: usize,
    /// How many cases were selected to be shown; nothing when none were. Of a selection, none is passed over.
    pub n_selected: Option<u64>,
}

impl Default for TerminalOptions {
    fn default() -> TerminalOptions {
        TerminalOptions {
            style: Style::Plain,
            width: None,
            scope: Scope::Everything,
            cases: true,
            tasks: false,
            is_full: false,
            totals: true,
            most_cases: MOST_FAILURES,
            n_selected: None,
        }
    }
}

/// Writes a run for people.
///
/// ```
/// use jurat_core::verdict::{CaseVerdict, Counts};
/// use jurat_core::report::{CaseReport, RunReport, TaskReport, TaskTotal, TaskVerdict};
/// use jurat_report::{CaseWriter, Scope, TerminalOptions, TerminalWriter};
///
/// let counts = Counts { failed: 1, ..Counts::default() };
/// let task = TaskTotal { id: "polite".to_owned(), counts, ..TaskTotal::default() };
/// let mut run = RunReport { suite: "support".to_owned(), tasks: vec![task], counts, ..RunReport::default() };
/// run.cases.add(CaseVerdict::Failed);
///
/// let mut text = Vec::new();
/// let options = TerminalOptions { scope: Scope::ResultsOnly, ..TerminalOptions::default() };
/// let mut writer = TerminalWriter::new(&mut text, &run, options);
/// let failed = TaskReport { message: "expected true, found false".to_owned(), ..TaskReport::new(0, TaskVerdict::Failed) };
/// let exchange = vec![("answer".to_owned(), "What now?".to_owned())];
/// writer.case(&CaseReport { counts, exchange, tasks: vec![failed], ..CaseReport::new("r1", CaseVerdict::Failed) })?;
/// writer.end()?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// r1: failed
///     answer  What now?
///   ✗ polite  failed: expected true, found false
///
/// task    passed  failed  pass rate  95 % interval
/// polite       0       1      0.0 %     0.0–79.3 %
///
/// 1 case: 1 failed; 1 task judged: 0 passed (0.0 %)
/// ");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TerminalWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    options: TerminalOptions,
    /// What is said about cases.
    listed: Vec<u8>,
    n_listed: u64,
    /// How many of them failed: others could not be judged although a task failed.
    n_failed: u64,
    /// The first task that went wrong, for the command that explains it.
    first_wrong: Option<(String, String)>,
    /// How commands name the run; nothing for the latest.
    name: Option<String>,
}

impl<'r> TerminalWriter<'r> {
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, options: TerminalOptions) -> TerminalWriter<'r> {
        TerminalWriter {
            out,
            run,
            options,
            listed: Vec::new(),
            n_listed: 0,
            n_failed: 0,
            first_wrong: None,
            name: None,
        }
    }

    /// The same for a run that is not the latest, which the commands it proposes have to name.
    pub fn named(self, name: &str) -> TerminalWriter<'r> {
        TerminalWriter { name: Some(name.to_owned()), ..self }
    }

    /// Whether a case is listed.
    fn is_listed(&self, case: &CaseReport) -> bool {
        match self.options {
            TerminalOptions { n_selected: Some(_), .. } => true,
            TerminalOptions { tasks: true, .. } => !self.passes_over() || case.verdict != CaseVerdict::Passed,
            _ => case.counts.failed > 0 && matches!(case.verdict, CaseVerdict::Failed | CaseVerdict::Error),
        }
    }

    /// Whether cases that passed are not listed although every task is, because there are many.
    fn passes_over(&self) -> bool {
        self.options.n_selected.is_none() && self.run.cases.total() > self.options.most_cases as u64
    }

    /// How many cases would be listed if all were.
    fn n_to_list(&self) -> u64 {
        let cases = &self.run.cases;
        match self.options {
            TerminalOptions { n_selected: Some(n), .. } => n,
            TerminalOptions { tasks: true, .. } if self.passes_over() => cases.total() - cases.passed,
            TerminalOptions { tasks: true, .. } => cases.total(),
            _ => cases.failed,
        }
    }

    /// How many more there are, and how they can be seen.
    fn write_more(&mut self) -> io::Result<()> {
        let is_list = self.options.tasks || self.options.n_selected.is_some();
        let n_more = self.n_to_list().saturating_sub(if is_list { self.n_listed } else { self.n_failed });
        if n_more == 0 {
            return Ok(());
        }
        let name = self.name.as_ref().map_or_else(String::new, |it| format!(" {}", words::argument(it)));
        let limit = self.n_to_list();
        let how = match self.options {
            TerminalOptions { n_selected: Some(_), .. } => format!("`--limit {limit}` shows them"),
            TerminalOptions { tasks: true, .. } => format!("jurat show{name} --tasks --limit {limit}"),
            _ => format!("jurat show{name} --failed"),
        };
        self.listed.extend_from_slice(if self.n_listed > 0 { b"\n" } else { b"" });
        writeln!(self.listed, "and {}: {how}", words::counted(n_more, "more case"))
    }

    fn rendered(&self, table: &Table) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        table.write(&mut text, self.options.style, self.options.width)?;
        Ok(text)
    }

    /// Tables, reasons and the end: what is said about the run as a whole.
    fn totals(&self) -> io::Result<Vec<Vec<u8>>> {
        let TerminalOptions { style, width, scope, .. } = self.options;
        let run = self.run;
        let mut sections = Vec::new();
        let (dimensions, slices) = (tables::dimensions(run), tables::slices(run));
        for table in [tables::totals(run), dimensions, slices, tables::subjects(run, scope), tables::variants(run)] {
            if !table.is_empty() {
                sections.push(self.rendered(&table)?);
            }
        }
        if let Some(repetition) = &run.repetition {
            let mut section = self.rendered(&tables::attempts(Some(repetition)))?;
            writeln!(section, "{}", crate::repetition::sentence(repetition))?;
            sections.push(section);
        }
        for (table, n_more, what) in [tables::disagreements(run), tables::scenarios(run), tables::unexercised(run)] {
            if !table.is_empty() {
                let mut section = self.rendered(&table)?;
                if n_more > 0 {
                    writeln!(section, "… and {}", words::counted(n_more, what))?;
                }
                sections.push(section);
            }
        }
        let mut causes = Vec::new();
        causes::write(&mut causes, run, style, width)?;
        let mut end = Vec::new();
        Closing { run, scope, style, width, next: self.next() }.write(&mut end)?;
        sections.extend([causes, end]);
        Ok(sections)
    }

    /// The command that says most about what went wrong.
    fn next(&self) -> Option<String> {
        let of_cause = || {
            let cause = self.run.causes.first()?;
            Some((cause.cases.first()?.clone(), cause.tasks.first()?.clone()))
        };
        let (case, task) = self.first_wrong.clone().or_else(of_cause)?;
        let run = self.name.as_ref().map_or_else(String::new, |it| format!(" --run {}", words::argument(it)));
        Some(format!("jurat explain {} {}{run}", words::argument(&case), words::argument(&task)))
    }
}

impl CaseWriter for TerminalWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        if !self.is_listed(case) || !self.wants_more() {
            return Ok(());
        }
        if self.first_wrong.is_none() {
            self.first_wrong = first_wrong(self.run, case)?;
        }
        self.listed.extend_from_slice(if self.n_listed > 0 { b"\n" } else { b"" });
        self.n_listed += 1;
        self.n_failed += u64::from(case.verdict == CaseVerdict::Failed);
        let TerminalOptions { style, width, tasks, is_full, .. } = self.options;
        let listing = Listing { run: self.run, style, width, every_task: tasks, is_full };
        listing.write(&mut self.listed, case)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.options.cases {
            self.write_more()?;
        }
        let mut sections = vec![std::mem::take(&mut self.listed)];
        if self.options.totals {
            sections.extend(self.totals()?);
        }
        sections.retain(|it| !it.is_empty());
        self.out.write_all(&sections.join(&b"\n"[..]))?;
        self.out.flush()
    }

    fn wants_more(&self) -> bool {
        self.options.cases && self.n_listed < self.options.most_cases as u64
    }
}

/// The case and its first task that failed or could not be judged, as commands name them.
fn first_wrong(run: &RunReport, case: &CaseReport) -> io::Result<Option<(String, String)>> {
    for task in &case.tasks {
        let total = total(run, case, task)?;
        let is_wrong = match task.verdict {
            TaskVerdict::Failed => total.is_counted(),
            TaskVerdict::Error => true,
            _ => false,
        };
        if is_wrong {
            return Ok(Some((case.id.clone(), total.id.clone())));
        }
    }
    Ok(None)
}
