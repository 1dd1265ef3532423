//! The kinds of files that can be imported, and the import of one.

use jurat_format::problem::listed_all;
use jurat_format::value::{Val, Value};
use jurat_format::yaml_writer::yaml_text;

use crate::document::{Object, text};
use crate::folder::Folder;
use crate::input::Input;
use crate::report::Report;
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub content: String,
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
    files: Vec<NewFile>,
}

impl Import<'_> {
    pub(crate) fn file(&mut self, name: impl Into<String>, content: String) {
        self.files.push(NewFile { name: name.into(), content });
    }

    /// Adds `suite.yaml`.
    pub(crate) fn suite(&mut self, suite: Object) {
        self.file("suite.yaml", yaml_text(&suite.into()));
    }

    /// Adds a file of JSON lines.
    pub(crate) fn lines<'v>(&mut self, name: &str, rows: impl IntoIterator<Item = &'v Value>) {
        let mut content = String::new();
        for row in rows {
            jurat_format::value::write_json(&mut content, row);
            content.push('\n');
        }
        self.file(name, content);
    }
}

/// Imports files. All of them are of one kind: `from`, or what their content says.
pub fn import(
    inputs: &[Input],
    from: Option<&'static Kind>,
    folder: &dyn Folder,
    options: &Options,
) -> Result<Imported, ImportError> {
    let kind = match from {
        Some(kind) => kind,
        None => common_kind(inputs)?,
    };
    let mut import =
        Import { inputs, folder, options, report: Report::default(), summary: Vec::new(), files: Vec::new() };
    (kind.read)(&mut import)?;
    let Import { mut files, mut report, summary, .. } = import;
    report.sort();
    files.push(NewFile { name: "import.json".to_owned(), content: report_text(kind, inputs, &report) });
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

fn unknown(input: &Input) -> ImportError {
    let kinds: Vec<&str> = KINDS.iter().map(|it| it.name).collect();
    ImportError::Unknown { name: input.name.clone(), kinds: listed_all(kinds) }
}

/// `import.json`: the kind, the sources and the report.
fn report_text(kind: &Kind, inputs: &[Input], report: &Report) -> String {
    let sources: Value = inputs.iter().map(|it| text(&it.name)).collect();
    let mut whole = Object::new().with("version", 1).with("kind", text(kind.name)).with("sources", sources);
    if let Val::Map(members) = report.to_value() {
        for (key, value) in members {
            whole.put(&key, value);
        }
    }
    let mut json = Value::from(whole).to_json();
    json.push('\n');
    json
}

fn listed(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    jurat_format::problem::listed_plainly(&parts)
}

/// A number with its noun, in the plural where it needs one.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
