//! A run written in a format, as a whole or in part.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::report::{CaseReport, RunReport};
use jurat_engine::view::query::{ColumnCache, Query};
use jurat_engine::view::{
    Code, Column as StoredColumn, Detailed, ExplainError, NOT_PASSED, RunView, StoredCase, Variant, ViewError,
};
use jurat_format::problem::listed_all;
use jurat_report::columns::{self, Column};
use jurat_report::{CaseWriter, MOST_CASES, MOST_FAILURES, Scope, Style, TerminalOptions, TerminalWriter};

use crate::format::{Format, FoundCases, PageOptions};
use crate::run::unreadable;
use crate::{Error, Run};

/// What of a run is exported; see [`Run::to_export`].
///
/// ```
/// # use jurat::{Assertion, RunOptions, Suite, compare::exists, format::CSV};
/// # use serde_json::json;
/// # let directory = tempfile::tempdir()?;
/// # let suite = Suite::builder("s").record(json!({ "id": "r1", "a": 1 })).task(Assertion::new("there", "a", exists())).build()?;
/// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
/// let mut table = Vec::new();
/// run.to_export().cases(["r1"])?.columns(["record", "verdict"])?.write(&CSV, &mut table)?;
/// assert_eq!(table, b"record,verdict\nr1,passed\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Export<'r> {
    run: &'r Run,
    cases: Cases<'r>,
    task: Option<TaskIx>,
    most: Option<usize>,
    scope: Scope,
    columns: Vec<&'static Column>,
    page: PageOptions,
    /// The query that found the cases.
    query: Option<String>,
}

/// Which cases of a run are written.
enum Cases<'r> {
    All,
    /// Those in which a task failed.
    Failures,
    These(Vec<StoredCase>),
    /// Those that ended, or whose task ended, in one of these ways.
    Ended(StoredColumn, &'r [Code]),
    /// Those with these numbers, in this order.
    Numbered(Vec<u32>),
    /// Of those, the cases of these variants.
    OfVariant(StoredColumn, &'r [Code], Box<dyn Fn(&Variant) -> bool + 'r>),
}

/// How a run is printed for people; see [`Export::write_text`].
#[derive(Debug, Clone, Copy, Default)]
pub struct TextOptions<'t> {
    /// Whether meanings are shown in colour.
    pub style: Style,
    /// How wide the window is; nothing when it is none, as in a file.
    pub width: Option<usize>,
    /// Whether every task of each case is printed.
    pub tasks: bool,
    /// How commands name the run; nothing for the latest.
    pub run: Option<&'t str>,
}

impl<'r> Export<'r> {
    pub(crate) fn new(run: &'r Run) -> Export<'r> {
        let columns = columns::columns(Scope::Everything).collect();
        let page = PageOptions::default();
        Export { run, cases: Cases::All, task: None, most: None, scope: Scope::Everything, columns, page, query: None }
    }

    /// These cases only, each by its id, the beginning of it, or `FILE:ROW`. They stay in the order of the run.
    pub fn cases(self, names: impl IntoIterator<Item: AsRef<str>>) -> Result<Export<'r>, Error> {
        let mut only = BTreeMap::new();
        for name in names {
            let found = self.run.view().known_cases(name.as_ref()).map_err(unknown)?;
            only.extend(found.into_iter().map(|it| (it.case_ix, it)));
        }
        Ok(self.these(only.into_values().collect()))
    }

    /// These cases only.
    pub fn these(self, cases: Vec<StoredCase>) -> Export<'r> {
        Export { cases: Cases::These(cases), ..self }
    }

    /// Only the cases that a query finds, in the order of the run.
    ///
    /// ```
    /// # use jurat::{Assertion, RunOptions, Suite, compare::equals, format::CSV};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let rows = ["paid", "open"].map(|it| json!({ "id": it, "status": it }));
    /// # let suite = Suite::builder("s").records(rows).task(Assertion::new("paid", "status", equals("paid"))).build()?;
    /// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let mut table = Vec::new();
    /// run.to_export().found_by("task:paid=failed -id:p*")?.columns(["record", "verdict"])?.write(&CSV, &mut table)?;
    /// assert_eq!(table, b"record,verdict\nopen,failed\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn found_by(self, text: &str) -> Result<Export<'r>, Error> {
        let (view, cache) = (self.run.view(), ColumnCache::default());
        let columns = cache.of(view).map_err(unreadable)?;
        let query = Query::parse(text, view, &columns).map_err(unreadable)?;
        let query = query.map_err(|problem| Error::Usage(problem.to_string()))?;
        let found = query.all(view, &columns).map_err(unreadable)?;
        Ok(Export { cases: Cases::Numbered(found), query: Some(text.to_owned()), ..self })
    }

    /// Whether cases were selected, and none fits.
    pub fn is_empty(&self) -> bool {
        matches!(&self.cases, Cases::Numbered(cases) if cases.is_empty())
    }

    /// Only the cases that ended, or whose task ended, in one of these ways.
    pub fn ended(self, column: StoredColumn, codes: &'r [Code]) -> Export<'r> {
        Export { cases: Cases::Ended(column, codes), ..self }
    }

    /// The same, and of those only the cases of certain variants.
    pub fn of_variant(
        self,
        column: StoredColumn,
        codes: &'r [Code],
        is_meant: impl Fn(&Variant) -> bool + 'r,
    ) -> Export<'r> {
        Export { cases: Cases::OfVariant(column, codes, Box::new(is_meant)), ..self }
    }

    /// Only this task of each case.
    pub fn task(self, task: TaskIx) -> Export<'r> {
        Export { task: Some(task), ..self }
    }

    /// At most this number of cases. Default: all for programs, and for people as many as can be read.
    pub fn most(self, n_cases: usize) -> Export<'r> {
        Export { most: Some(n_cases), ..self }
    }

    /// Only what a replay reproduces byte for byte. Columns are chosen after it.
    pub fn results_only(self) -> Export<'r> {
        let scope = Scope::ResultsOnly;
        Export { scope, columns: columns::columns(scope).collect(), ..self }
    }

    /// These columns, for formats that [hold rows](crate::format::Holds::Rows).
    pub fn columns(self, names: impl IntoIterator<Item: Into<String>>) -> Result<Export<'r>, Error> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let unknown = |name| format!("there is no column `{name}`; columns are {}", listed_all(columns::names()));
        let columns = columns::chosen(&names).map_err(|name| Error::Usage(unknown(name)))?;
        Ok(Export { columns, ..self })
    }

    /// What a [page](crate::format::HTML) holds: how many cases with details, how large it may be, what is left out of it.
    pub fn page(self, page: PageOptions) -> Export<'r> {
        Export { page, ..self }
    }

    /// The same, with what holds for every format.
    pub(crate) fn page_options(&self) -> PageOptions {
        let found = match (&self.cases, &self.query) {
            (Cases::Numbered(cases), Some(query)) => Some(FoundCases { query: query.clone(), cases: cases.clone() }),
            _ => self.page.found.clone(),
        };
        PageOptions { results_only: self.scope == Scope::ResultsOnly, found, ..self.page.clone() }
    }

    /// Writes it in a format.
    pub fn write(&self, format: &Format, out: impl Write + Send) -> Result<(), Error> {
        (format.write)(self, Box::new(out))
    }

    /// The run that is exported.
    pub(crate) fn view(&self) -> &RunView {
        self.run.view()
    }

    /// Writes it to a file, which is there when it is whole, and not before.
    pub fn write_file(&self, format: &Format, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let refused = |error: io::Error| Error::Usage(format!("`{}` cannot be written: {error}", path.display()));
        // What is no file, such as a pipe, takes what comes.
        let is_file = fs::metadata(path).map_or(true, |it| it.is_file());
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        let target = if is_file { Path::new(&unfinished) } else { path };
        let file = if is_file { File::create(target) } else { File::options().write(true).open(target) };
        let written = self.write(format, BufWriter::new(file.map_err(refused)?));
        match written {
            Ok(()) if is_file => fs::rename(target, path).map_err(refused),
            Err(error) if is_file => {
                // Half a file is of no use. Whether it can be removed does not matter.
                let _ = fs::remove_file(target);
                Err(error)
            }
            other => other,
        }
    }

    /// Writes it for people: the cases that failed, or those that were chosen, and of a whole run its totals and how it ended.
    pub fn write_text(&self, out: &mut dyn Write, text: TextOptions<'_>) -> Result<(), Error> {
        let options = self.terminal_options(text).map_err(unreadable)?;
        let mut writer = TerminalWriter::new(out, self.report(), options);
        if let Some(run) = text.run {
            writer = writer.named(run);
        }
        // What is not shown is not read either.
        match &self.cases {
            Cases::All if !options.tasks => self.hand_over(&mut writer, &Cases::Failures),
            Cases::All if self.report().cases.total() > options.most_cases as u64 => self.write_not_passed(&mut writer),
            _ => self.write_cases(&mut writer),
        }
    }

    fn terminal_options(&self, text: TextOptions<'_>) -> Result<TerminalOptions, ViewError> {
        let view = self.run.view();
        let n_selected = match &self.cases {
            Cases::All | Cases::Failures => None,
            Cases::These(cases) => Some(cases.len() as u64),
            Cases::Numbered(cases) => Some(cases.len() as u64),
            Cases::Ended(column, codes) => Some(view.count(*column, codes)?),
            Cases::OfVariant(column, codes, is_meant) => Some(view.count_of_variant(*column, codes, is_meant)?),
        };
        let tasks = text.tasks || self.task.is_some() || matches!(self.cases, Cases::These(_));
        let is_list = tasks || n_selected.is_some();
        let most_cases = self.most.unwrap_or(if is_list { MOST_CASES } else { MOST_FAILURES });
        Ok(TerminalOptions {
            style: text.style,
            width: text.width,
            scope: self.scope,
            cases: most_cases > 0,
            tasks,
            is_full: n_selected.is_some(),
            totals: n_selected.is_none(),
            most_cases,
            n_selected,
        })
    }

    pub(crate) fn report(&self) -> &'r RunReport {
        self.run.report()
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    pub(crate) fn chosen_columns(&self) -> Vec<&'static Column> {
        self.columns.clone()
    }

    /// Hands the cases to a writer for as long as it wants more.
    pub(crate) fn write_cases(&self, writer: &mut dyn CaseWriter) -> Result<(), Error> {
        self.hand_over(writer, &self.cases)
    }

    /// The same for a format that shows no case that passed.
    pub(crate) fn write_not_passed(&self, writer: &mut dyn CaseWriter) -> Result<(), Error> {
        self.hand_over(writer, &Cases::Ended(StoredColumn::CASE, &NOT_PASSED))
    }

    fn hand_over(&self, writer: &mut dyn CaseWriter, cases: &Cases<'_>) -> Result<(), Error> {
        let mut cases = cases.read(self.run.view()).take(self.most.unwrap_or(usize::MAX));
        while writer.wants_more()
            && let Some(case) = cases.next()
        {
            let mut case = case.map_err(unreadable)?;
            if let Some(task) = self.task {
                case.tasks.retain(|it| it.task == task.index());
            }
            writer.case(&case).map_err(Error::Write)?;
        }
        writer.end().map_err(Error::Write)
    }

    /// Reads the recorded effects, each as a line of JSON.
    pub(crate) fn read_effects(&self, each: &mut dyn FnMut(String) -> Result<(), Error>) -> Result<(), Error> {
        let view = self.run.view();
        let mut of_case = |case: &StoredCase| {
            view.effect_lines_of(case).map_err(unreadable)?.iter().try_for_each(|line| each(line.to_json()))
        };
        match &self.cases {
            Cases::These(only) => only.iter().try_for_each(of_case),
            Cases::Numbered(only) => only.iter().try_for_each(|it| {
                let case =
                    view.reader().case(CaseIx::numbered(u64::from(*it))).map_err(|error| unreadable(error.into()))?;
                case.as_ref().map_or(Ok(()), &mut of_case)
            }),
            _ => view.effect_lines().try_for_each(|line| each(line.map_err(unreadable)?.to_json())),
        }
    }
}

impl Cases<'_> {
    fn read<'c>(&'c self, view: &'c RunView) -> Box<dyn Iterator<Item = Result<CaseReport, ViewError>> + 'c> {
        let detailed = Detailed::Tasks;
        match self {
            Cases::All => Box::new(view.cases(CaseIx::ALL, detailed)),
            Cases::Failures => Box::new(view.failures()),
            Cases::These(cases) => Box::new(cases.iter().map(move |it| view.case_report(it, detailed))),
            Cases::Numbered(cases) => Box::new(cases.iter().filter_map(move |it| {
                let case = view.reader().case(CaseIx::numbered(u64::from(*it))).map_err(ViewError::from).transpose()?;
                Some(case.and_then(|it| view.case_report(&it, detailed)))
            })),
            Cases::Ended(column, codes) => Box::new(view.find(*column, codes, detailed)),
            Cases::OfVariant(column, codes, is_meant) => {
                Box::new(view.find_of_variant(*column, codes, detailed, move |it| it.is_some_and(is_meant)))
            }
        }
    }
}

/// Why a case or a task that was named is not found.
pub(crate) fn unknown(error: ExplainError) -> Error {
    match error {
        ExplainError::View(error) => unreadable(error),
        unknown => Error::Usage(unknown.to_string()),
    }
}
