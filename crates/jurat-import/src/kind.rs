//! The kinds of files that can be imported, and the import of one.

use std::io::{self, Write};

use jurat_format::problem::listed_all;
use jurat_format::value::{Val, Value};
use jurat_format::yaml_writer::yaml_text;

use crate::document::{Object, text};
use crate::folder::Folder;
use crate::input::Input;
use crate::report::Report;
use crate::source::{Rows, Spool};
use crate::trace::{By, Unfinished};
use crate::{deepeval, inspect, langfuse, openai_evals, phoenix, promptfoo, trace};

/// One format.
#[derive(Debug)]
pub struct Kind {
    /// What `--from` calls it.
    pub name: &'static str,
    /// What it is, for people.
    pub help: &'static str,
    /// Whether a file is of this kind, by its content.
    pub(crate) recognises: fn(&Input) -> bool,
    pub(crate) read: fn(&mut Import<'_>) -> Result<(), ImportError>,
}

/// The kinds, in the order in which files are compared with them: special ones first.
pub static KINDS: &[&Kind] = &[
    &promptfoo::RESULTS,
    &promptfoo::CONFIG,
    &trace::OTLP,
    &inspect::KIND,
    &phoenix::SPANS,
    &phoenix::DATASET,
    &langfuse::KIND,
    &deepeval::KIND,
    &openai_evals::KIND,
];

/// How something is imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the suite; default: what the source calls itself.
    pub name: Option<String>,
    /// What is one run of a trace.
    pub by: By,
    /// What is made of traces without an end.
    pub unfinished: Unfinished,
}

/// A file to write, relative to the directory that the caller chose.
#[derive(Debug)]
pub struct NewFile {
    pub name: String,
    pub content: Contents,
}

/// What is in a file to write.
#[derive(Debug)]
pub enum Contents {
    Text(String),
    Rows(Rows),
}

impl NewFile {
    /// Writes what is in it.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.content {
            Contents::Text(text) => out.write_all(text.as_bytes()),
            Contents::Rows(rows) => rows.write_to(out),
        }
    }

    /// What is in it, as text.
    pub fn text(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// What came of an import.
#[derive(Debug)]
pub struct Imported {
    pub kind: &'static Kind,
    /// What there is now, such as "3 rows, 2 models and 5 tasks".
    pub summary: String,
    pub files: Vec<NewFile>,
    pub report: Report,
}

/// Why something cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("`{name}` cannot be read: {why}")]
    Unreadable { name: String, why: String },
    #[error("`{name}` is of no kind that can be imported; known are {kinds}")]
    Unknown { name: String, kinds: String },
    #[error("`{name}` is {found}, and `{other}` is {expected}; import them one after the other")]
    Mixed { name: String, found: &'static str, other: String, expected: &'static str },
    #[error("nothing was given to import")]
    Nothing,
    #[error("the temporary file for rows cannot be written: {why}")]
    Spool { why: String },
}

impl ImportError {
    pub(crate) fn unreadable(name: &str, why: impl Into<String>) -> ImportError {
        ImportError::Unreadable { name: name.to_owned(), why: why.into() }
    }
}

/// An import in progress.
pub(crate) struct Import<'i> {
    pub(crate) inputs: &'i [Input],
    pub(crate) folder: &'i dyn Folder,
    pub(crate) options: &'i Options,
    pub(crate) report: Report,
    pub(crate) summary: Vec<String>,
    rows: Rows,
    files: Vec<NewFile>,
}

impl Import<'_> {
    pub(crate) fn file(&mut self, name: impl Into<String>, content: String) {
        self.files.push(NewFile { name: name.into(), content: Contents::Text(content) });
    }

    /// Adds `suite.yaml`.
    pub(crate) fn suite(&mut self, suite: Object) {
        self.file("suite.yaml", yaml_text(&suite.into()));
    }

    /// Adds a row, which may be forgotten then.
    pub(crate) fn row(&mut self, row: &Value) -> Result<(), ImportError> {
        self.rows.push(row).map_err(|error| ImportError::Spool { why: error.to_string() })
    }

    /// How many rows there are.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Puts the rows into another order: that of these numbers of theirs.
    pub(crate) fn arrange_rows(&mut self, order: &[usize]) {
        self.rows.arrange(order);
    }

    /// Adds the file of all rows, as JSON lines.
    pub(crate) fn rows_file(&mut self, name: &str) {
        let rows = std::mem::replace(&mut self.rows, Rows::new(Box::new(Vec::new())));
        self.files.push(NewFile { name: name.to_owned(), content: Contents::Rows(rows) });
    }
}

/// Imports files. All of them are of one kind: `from`, or what their content says. Rows are in memory.
pub fn import(
    inputs: &[Input],
    from: Option<&'static Kind>,
    folder: &dyn Folder,
    options: &Options,
) -> Result<Imported, ImportError> {
    import_with(inputs, from, folder, options, Box::new(Vec::new()))
}

/// Imports files, and puts rows into a spool.
pub fn import_with(
    inputs: &[Input],
    from: Option<&'static Kind>,
    folder: &dyn Folder,
    options: &Options,
    spool: Box<dyn Spool>,
) -> Result<Imported, ImportError> {
    let kind = match from {
        Some(kind) => {
            inputs.iter().try_for_each(|it| is_of(it, kind))?;
            kind
        }
        None => common_kind(inputs)?,
    };
    let mut import = Import {
        inputs,
        folder,
        options,
        report: Report::default(),
        summary: Vec::new(),
        rows: Rows::new(spool),
        files: Vec::new(),
    };
    (kind.read)(&mut import)?;
    let Import { mut files, mut report, summary, .. } = import;
    report.sort();
    let report_text = report_text(kind, inputs, &report);
    files.push(NewFile { name: "import.json".to_owned(), content: Contents::Text(report_text) });
    Ok(Imported { kind, summary: listed(&summary), files, report })
}

fn common_kind(inputs: &[Input]) -> Result<&'static Kind, ImportError> {
    let mut common: Option<(&'static Kind, &Input)> = None;
    for input in inputs {
        let kind = KINDS.iter().find(|it| (it.recognises)(input)).ok_or_else(|| unknown(input))?;
        match common {
            Some((other, first)) if other.name != kind.name => {
                let (name, found, other_name, expected) =
                    (input.name.clone(), kind.help, first.name.clone(), other.help);
                return Err(ImportError::Mixed { name, found, other: other_name, expected });
            }
            _ => common = Some((kind, input)),
        }
    }
    common.map(|(kind, _)| kind).ok_or(ImportError::Nothing)
}

/// Whether an input is of the kind that was asked for: an input of another kind would give an empty report.
fn is_of(input: &Input, kind: &'static Kind) -> Result<(), ImportError> {
    if (kind.recognises)(input) || kind.name == promptfoo::CONFIG.name && input.json().is_none() {
        // Configurations say by themselves where they cannot be read.
        return Ok(());
    }
    if let Some(why) = input.damage() {
        return Err(ImportError::unreadable(&input.name, why));
    }
    let found = KINDS.iter().find(|it| (it.recognises)(input)).map(|it| it.help);
    let found = found.map_or_else(String::new, |it| format!("; it is {it}"));
    Err(ImportError::unreadable(&input.name, format!("there is nothing of the kind `{}` in it{found}", kind.name)))
}

fn unknown(input: &Input) -> ImportError {
    if let Some(why) = input.damage() {
        return ImportError::unreadable(&input.name, why);
    }
    let kinds: Vec<&str> = KINDS.iter().map(|it| it.name).collect();
    ImportError::Unknown { name: input.name.clone(), kinds: listed_all(kinds) }
}

/// `import.json`: the kind, the sources and the report.
fn report_text(kind: &Kind, inputs: &[Input], report: &Report) -> String {
    let sources: Value = inputs.iter().map(|it| text(&it.name)).collect();
    let about = [("version", Val::I(1)), ("kind", text(kind.name)), ("sources", sources)];
    report.to_json(about.into_iter().collect()) + "\n"
}

fn listed(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    jurat_format::problem::listed_plainly(&parts)
}

/// A number with its noun, in the plural where it needs one.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
