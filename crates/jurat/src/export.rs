//! A run written in a format, as a whole or in part.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use jurat_core::plan::CaseIx;
use jurat_core::report::{CaseReport, RunReport};
use jurat_engine::view::{Detailed, ExplainError, NOT_PASSED, ViewError};
use jurat_format::problem::listed_all;
use jurat_report::columns::{self, Column};
use jurat_report::{CaseWriter, Scope};
use jurat_store::run::{Column as StoredColumn, StoredCase};

use crate::format::Format;
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
#[derive(Debug)]
pub struct Export<'r> {
    run: &'r Run,
    only: Option<Vec<StoredCase>>,
    scope: Scope,
    columns: Vec<&'static Column>,
}

impl<'r> Export<'r> {
    pub(crate) fn new(run: &'r Run) -> Export<'r> {
        Export { run, only: None, scope: Scope::Everything, columns: columns::columns(Scope::Everything).collect() }
    }

    /// These cases only, each by its id, the beginning of it, or `FILE:ROW`. They stay in the order of the run.
    pub fn cases(self, names: impl IntoIterator<Item: AsRef<str>>) -> Result<Export<'r>, Error> {
        let mut only = BTreeMap::new();
        for name in names {
            let found = self.run.view().known_cases(name.as_ref()).map_err(unknown_case)?;
            only.extend(found.into_iter().map(|it| (it.case_ix, it)));
        }
        Ok(Export { only: Some(only.into_values().collect()), ..self })
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

    /// Writes it in a format.
    pub fn write(&self, format: &Format, out: impl Write + Send) -> Result<(), Error> {
        (format.write)(self, Box::new(out))
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

    pub(crate) fn report(&self) -> &RunReport {
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
        let (view, detailed) = (self.run.view(), Detailed::Tasks);
        match &self.only {
            None => write_cases(writer, view.cases(CaseIx::ALL, detailed)),
            Some(only) => write_cases(writer, only.iter().map(|it| view.case_report(it, detailed))),
        }
    }

    /// The same for a format that shows no case that passed.
    pub(crate) fn write_not_passed(&self, writer: &mut dyn CaseWriter) -> Result<(), Error> {
        write_cases(writer, self.run.view().find(StoredColumn::CASE, &NOT_PASSED, Detailed::Tasks))
    }

    /// Reads the recorded effects, each as a line of JSON.
    pub(crate) fn read_effects(&self, each: &mut dyn FnMut(String) -> Result<(), Error>) -> Result<(), Error> {
        let view = self.run.view();
        let Some(only) = &self.only else {
            return view.effect_lines().try_for_each(|line| each(line.map_err(unreadable)?.to_json()));
        };
        for case in only {
            view.effect_lines_of(case).map_err(unreadable)?.iter().try_for_each(|line| each(line.to_json()))?;
        }
        Ok(())
    }
}

fn unknown_case(error: ExplainError) -> Error {
    match error {
        ExplainError::View(error) => unreadable(error),
        unknown => Error::Usage(unknown.to_string()),
    }
}

/// Hands cases to a writer for as long as it wants more.
pub(crate) fn write_cases(
    writer: &mut dyn CaseWriter,
    mut cases: impl Iterator<Item = Result<CaseReport, ViewError>>,
) -> Result<(), Error> {
    while writer.wants_more()
        && let Some(case) = cases.next()
    {
        writer.case(&case.map_err(unreadable)?).map_err(Error::Write)?;
    }
    writer.end().map_err(Error::Write)
}
