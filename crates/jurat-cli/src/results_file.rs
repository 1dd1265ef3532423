//! Files that the results of a run are written to, each in the format that its name says.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jurat::format::{FORMATS, Format, Holds};
use jurat::{Export, Run};
use jurat_format::problem::listed_all;
use jurat_report::columns;

use crate::failure::Failure;

/// A file and its format.
#[derive(Debug, Clone)]
pub(crate) struct ResultsFile {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static Format,
}

impl ResultsFile {
    /// Reads the name of a file that says its format.
    pub(crate) fn parse(text: &str) -> Result<ResultsFile, String> {
        let path = PathBuf::from(text);
        match Format::of_file(&path) {
            Some(format) => Ok(ResultsFile { path, format }),
            None => {
                let endings = endings(|_| true, "or", "`");
                Err(format!("the name of the file says the format, and `{text}` ends in none of them: {endings}"))
            }
        }
    }

    pub(crate) fn help() -> String {
        format!("Write the results to a file: {}; may be repeated", endings(|_| true, "or", ""))
    }
}

/// Reads the name of a format.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS.iter().map(|it| PossibleValue::new(it.name).help(it.help));
    PossibleValuesParser::new(values).map(|it| Format::named(&it).expect("the parser takes names of formats only"))
}

/// The endings of the files of formats, in words.
pub(crate) fn endings(which: impl Fn(&Format) -> bool, and: &str, quote: &str) -> String {
    let ending = |it: &Format| {
        let title = it.title.map_or_else(String::new, |it| format!(" ({it})"));
        Some(format!("{quote}.{}{quote}{title}", it.extensions.first()?))
    };
    let endings: Vec<String> = FORMATS.iter().filter(|it| which(it)).filter_map(|it| ending(it)).collect();
    match endings.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} {and} {last}", all.join(", ")),
        all => all.join(""),
    }
}

/// Whether a format is a table whose columns can be chosen.
pub(crate) fn has_columns(format: &Format) -> bool {
    format.holds == Holds::Rows
}

/// Which columns tables have.
#[derive(Args, Clone, Debug)]
pub(crate) struct ColumnsOption {
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = known_column, help = columns_help())]
    columns: Vec<String>,
}

fn columns_help() -> String {
    format!("Columns of {}, separated by commas [default: all of them]", endings(has_columns, "and", "`"))
}

fn known_column(name: &str) -> Result<String, String> {
    let is_known = columns::names().any(|it| it == name);
    let known = || listed_all(columns::names());
    if is_known { Ok(name.to_owned()) } else { Err(format!("there is no column `{name}`; columns are {}", known())) }
}

impl ColumnsOption {
    pub(crate) fn is_given(&self) -> bool {
        !self.columns.is_empty()
    }

    /// What of a run is written.
    pub(crate) fn export<'r>(&self, run: &'r Run, results_only: bool) -> Result<Export<'r>, Failure> {
        let export = if results_only { run.to_export().results_only() } else { run.to_export() };
        Ok(if self.is_given() { export.columns(self.columns.iter().cloned())? } else { export })
    }
}
