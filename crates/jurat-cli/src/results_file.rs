//! Files that the results of a run are written to, each in the format that its name says.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jurat::ParquetWriter;
use jurat_core::report::RunReport;
use jurat_engine::view::{Detailed, NOT_PASSED, RunView};
use jurat_report::columns::{self, Column};
use jurat_report::{
    CaseWriter, CsvWriter, JsonLinesWriter, JsonWriter, JunitWriter, MOST_MARKDOWN_CASES, MarkdownWriter, Scope,
};
use jurat_store::run::{Column as RunColumn, StoredCase};

use crate::drawing::{self, CasesShown, write_cases};
use crate::failure::Failure;

/// What a run is written as.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum To {
    /// A JSON object for each task of each case (`.jsonl`)
    Jsonl,
    /// The same as a table (`.csv`)
    Csv,
    /// The same as a table with types (`.parquet`)
    Parquet,
    /// Tests for continuous integration (`.xml`)
    Junit,
    /// A summary for a pull request (`.md`)
    Markdown,
    /// The whole run as one object (`.json`)
    Json,
    /// What was requested and returned, for replay
    Effects,
}

impl To {
    /// Whether it is a table whose columns can be chosen.
    pub(crate) fn has_columns(self) -> bool {
        matches!(self, To::Jsonl | To::Csv | To::Parquet)
    }

    /// The format that the name of a file says.
    pub(crate) fn of_name(path: &Path) -> Option<To> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(To::Jsonl),
            "csv" => Some(To::Csv),
            "parquet" => Some(To::Parquet),
            "xml" | "junit" => Some(To::Junit),
            "md" | "markdown" => Some(To::Markdown),
            "json" => Some(To::Json),
            _ => None,
        }
    }
}

/// A file and its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultsFile {
    pub(crate) path: PathBuf,
    pub(crate) to: To,
}

impl ResultsFile {
    /// Reads the name of a file that says its format.
    pub(crate) fn parse(text: &str) -> Result<ResultsFile, String> {
        let path = PathBuf::from(text);
        match To::of_name(&path) {
            Some(to) => Ok(ResultsFile { path, to }),
            None => Err(format!(
                "the name of the file says the format, and `{text}` ends in none of them: `.json`, `.jsonl`, `.csv`, \
                 `.parquet`, `.xml` (JUnit) or `.md`"
            )),
        }
    }
}

/// Which columns tables have.
#[derive(Args, Clone, Debug)]
pub(crate) struct ColumnsOption {
    /// Columns of `.csv`, `.jsonl` and `.parquet`, separated by commas [default: all of them]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = known_column)]
    columns: Vec<String>,
}

fn known_column(name: &str) -> Result<String, String> {
    let is_known = columns::names().any(|it| it == name);
    let known = || jurat_format::problem::listed_all(columns::names());
    if is_known { Ok(name.to_owned()) } else { Err(format!("there is no column `{name}`; columns are {}", known())) }
}

impl ColumnsOption {
    /// Whether any were chosen.
    pub(crate) fn is_given(&self) -> bool {
        !self.columns.is_empty()
    }

    fn get(&self, scope: Scope) -> Vec<&'static Column> {
        match columns::chosen(&self.columns) {
            Ok(chosen) if !chosen.is_empty() => chosen,
            _ => columns::columns(scope).collect(),
        }
    }
}

/// A run that is written, and how much of it.
pub(crate) struct Results<'r> {
    pub(crate) view: &'r RunView,
    pub(crate) report: &'r RunReport,
    /// The cases that are written; nothing for all of them.
    pub(crate) only: Option<&'r [StoredCase]>,
    pub(crate) scope: Scope,
    pub(crate) columns: &'r ColumnsOption,
}

impl Results<'_> {
    /// Writes a file that is there when it is whole, and not before.
    pub(crate) fn write_file(&self, to: To, path: &Path) -> Result<(), Failure> {
        let refused = |error: io::Error| Failure::Reason(format!("`{}` cannot be written: {error}", path.display()));
        // What is no file, such as a pipe, takes what comes.
        let is_file = fs::metadata(path).map_or(true, |it| it.is_file());
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        let target = if is_file { Path::new(&unfinished) } else { path };
        let file = if is_file { File::create(target) } else { File::options().write(true).open(target) };
        let written = self.write(to, Box::new(BufWriter::new(file.map_err(refused)?)));
        match written {
            Ok(()) if is_file => fs::rename(target, path).map_err(refused),
            Err(failure) if is_file => {
                // Half a file is of no use. Whether it can be removed is beside the point.
                let _ = fs::remove_file(target);
                Err(failure)
            }
            other => other,
        }
    }

    /// Writes the run in a format.
    pub(crate) fn write(&self, to: To, mut out: Box<dyn Write + Send>) -> Result<(), Failure> {
        let Results { view, report, only, scope, columns } = *self;
        let mut writer: Box<dyn CaseWriter> = match to {
            To::Effects => return write_effects(view, only, &mut out),
            To::Parquet => Box::new(ParquetWriter::new(out, report, columns.get(scope))?),
            To::Jsonl => Box::new(JsonLinesWriter::new(&mut out, report, columns.get(scope))),
            To::Csv => Box::new(CsvWriter::new(&mut out, report, columns.get(scope))?),
            To::Junit => Box::new(JunitWriter::new(&mut out, report, scope)?),
            To::Json => Box::new(JsonWriter::new(&mut out, report, scope)?),
            To::Markdown => {
                let mut writer = MarkdownWriter::new(&mut out, report, scope, MOST_MARKDOWN_CASES)?;
                // It shows none that passed.
                write_cases(&mut writer, view.find(RunColumn::CASE, &NOT_PASSED, Detailed::Tasks))?;
                return Ok(());
            }
        };
        let cases = only.map_or(CasesShown::All, CasesShown::These);
        write_cases(&mut *writer, drawing::cases(view, cases))?;
        Ok(())
    }
}

fn write_effects(view: &RunView, only: Option<&[StoredCase]>, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(only) = only else {
        for line in view.effect_lines() {
            writeln!(out, "{}", line?.to_json())?;
        }
        return Ok(out.flush()?);
    };
    for case in only {
        for line in view.effect_lines_of(case)? {
            writeln!(out, "{}", line.to_json())?;
        }
    }
    Ok(out.flush()?)
}
