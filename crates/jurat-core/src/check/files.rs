//! `file_exists`, `path_exists`, `file_contains` and `file_matches`: files on the host and in the workspace of the run.

use std::sync::Arc;

use jurat_compare::{Assertion, Inapplicable};
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Context, Node, Spanned, Val, shown, shown_within};

use super::decision::{Decided, cannot_tell, mismatch, not_passed};
use super::read::{compared, conflict, missing};
use super::workspace::{self, Found};
use super::{Base, Look, MOST_TEXT, Needs, Rule, Seen, SeenFile, Wants, kind};
use crate::comparison::{self, OPERATOR};
use crate::output::{self, CompiledSchema, Output};

const PATH: Field<String> =
    Field::optional("path", shape::STRING, "a path on the host, relative to this file").or_null();
const WORKSPACE: Field<Spanned<String>> =
    Field::optional("workspace", shape::TEXT, "a path in the workspace of the run").or_null();
const TEXT: Field<String> = Field::required("text", shape::STRING, "the text, compared exactly");
const SCHEMA: Field<Output> =
    Field::optional("schema", output::SHAPE, "what the file must hold as JSON: fields in short form, or a JSON Schema")
        .or_null();

kind! {
    FILE_EXISTS = "file_exists": "passes if the path is a file",
    keys: [PATH.key, WORKSPACE.key],
    read: |reading, it| Some(Arc::new(FileRule { place: place(reading, it)?, asks: Asks::IsFile })),
    dimensions: ["task"],
}

kind! {
    PATH_EXISTS = "path_exists": "passes if the path is a file or a directory",
    keys: [PATH.key, WORKSPACE.key],
    read: |reading, it| Some(Arc::new(FileRule { place: place(reading, it)?, asks: Asks::IsThere })),
    dimensions: ["task"],
}

kind! {
    FILE_CONTAINS = "file_contains": "passes if the file exists and contains the text",
    keys: [PATH.key, WORKSPACE.key, TEXT.key],
    read: |reading, it| {
        let (place, text) = (place(reading, it), it.read(reading, &TEXT));
        Some(Arc::new(FileRule { place: place?, asks: Asks::Contains(text?) }))
    },
    dimensions: ["task"],
    note: "Lines may end in either way. A file that is not there, or is a directory, fails; one that is not UTF-8 cannot be decided. Files of up to 256 MiB are searched.",
}

kind! {
    FILE_MATCHES = "file_matches": "passes if the file exists and its text passes a comparison, or fits a JSON Schema",
    keys: [
        PATH.key,
        WORKSPACE.key,
        comparison::KEYS[0],
        comparison::KEYS[1],
        comparison::KEYS[2],
        comparison::KEYS[3],
        comparison::KEYS[4],
        SCHEMA.key,
    ],
    read: file_matches,
    dimensions: ["task"],
}

/// Where a file is.
#[derive(Debug)]
enum Place {
    /// On the host; relative to the definition.
    Host(String),
    /// In the workspace of the run, which it cannot lead out of.
    Workspace(String),
}

impl Place {
    fn path(&self) -> &str {
        match self {
            Place::Host(path) | Place::Workspace(path) => path,
        }
    }

    fn looks(&self, evidence: &Val<'_>, wants: Wants) -> Vec<Look> {
        match self {
            Place::Host(path) => vec![Look { path: path.clone(), base: Base::Definition, wants }],
            Place::Workspace(path) => workspace::looks(evidence, path),
        }
    }

    fn find<'f>(&self, evidence: &'f Val<'f>, seen: &'f [Seen]) -> Found<'f> {
        let path = match self {
            Place::Host(path) => path,
            Place::Workspace(path) => return workspace::find(evidence, path, seen),
        };
        match seen.first() {
            None => Found::Unknown(format!("`{path}` was not looked at")),
            Some(Seen::Hidden(reason)) => Found::Unknown(format!("`{path}` cannot be looked at: {reason}")),
            Some(Seen::Outside) => Found::Unknown(format!("`{path}` leads out of the run's directory")),
            Some(Seen::Nothing) => Found::Nothing,
            Some(Seen::Directory) => Found::Directory,
            Some(Seen::Other) => Found::Other,
            Some(Seen::File(file)) => match &file.unread {
                Some(reason) => Found::Unknown(format!("`{path}` cannot be read: {reason}")),
                None => Found::File { text: file.text.as_deref().map(Into::into), is_cut: file.is_cut },
            },
        }
    }
}

/// The decision where something else was expected than what was found.
fn not_found(expected: String, found: Found<'_>) -> Decided {
    let found = match found {
        Found::Unknown(reason) => return Err(cannot_tell(reason)),
        Found::Link(link) => link,
        Found::Nothing => "nothing there".to_owned(),
        Found::Directory => "a directory".to_owned(),
        Found::Other => "neither a file nor a directory".to_owned(),
        Found::File { .. } => "a file".to_owned(),
    };
    Ok(Some(mismatch(expected, found)))
}

fn no_text(path: &str) -> Inapplicable {
    cannot_tell(format!("the text of `{path}` was not recorded, or is none"))
}

/// A check of one file.
#[derive(Debug)]
struct FileRule {
    place: Place,
    asks: Asks,
}

#[derive(Debug)]
enum Asks {
    /// Whether it is a file.
    IsFile,
    /// Whether anything is there.
    IsThere,
    Contains(String),
    /// Whether its text passes a comparison, and fits a schema.
    Matches {
        assertion: Option<Box<Assertion>>,
        schema: Option<Box<CompiledSchema>>,
    },
}

impl Rule for FileRule {
    fn needs(&self) -> Needs<'_> {
        Needs::Files
    }

    fn looks(&self, evidence: &Val<'_>) -> Vec<Look> {
        self.place.looks(
            evidence,
            match &self.asks {
                Asks::IsFile | Asks::IsThere => Wants::Kind,
                Asks::Contains(text) => Wants::Search(text.clone()),
                Asks::Matches { .. } => Wants::Text(MOST_TEXT),
            },
        )
    }

    fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Decided {
        let path = self.place.path();
        match (&self.asks, self.place.find(evidence, seen)) {
            (Asks::IsFile, Found::File { .. }) => Ok(None),
            (Asks::IsThere, Found::File { .. } | Found::Directory | Found::Other) => Ok(None),
            (Asks::Contains(text), found @ Found::File { .. }) => {
                let on_host = matches!(self.place, Place::Host(_)).then(|| seen.first()?.file()).flatten();
                contains(path, text, found, on_host)
            }
            (Asks::Matches { assertion, schema }, Found::File { text: Some(text), is_cut: false }) => {
                matches(&text, assertion.as_deref(), schema.as_deref(), evidence)
            }
            (Asks::Matches { .. }, Found::File { text: Some(_), is_cut: true }) => {
                Err(cannot_tell(format!("`{path}` has more than {MOST_TEXT} bytes, so only its beginning was read")))
            }
            (Asks::Matches { .. }, Found::File { text: None, .. }) => Err(no_text(path)),
            (Asks::IsThere, other) => not_found(format!("something at `{path}`"), other),
            (Asks::Contains(text), other) => not_found(with_text(path, text), other),
            (Asks::IsFile | Asks::Matches { .. }, other) => not_found(format!("a file `{path}`"), other),
        }
    }
}

fn with_text(path: &str, text: &str) -> String {
    format!("a file `{path}` with {}", shown(&Val::from(text)))
}

/// A file on the host was searched whole; its text is the beginning alone.
fn contains(path: &str, text: &str, found: Found<'_>, on_host: Option<&SeenFile>) -> Decided {
    let without = |found: String| Ok(Some(mismatch(with_text(path, text), found)));
    match (on_host, found) {
        (Some(file), _) => match file.found {
            Some(true) => Ok(None),
            Some(false) => without(format!("a file of {} bytes without it", file.size)),
            None => Err(cannot_tell(format!("`{path}` was not searched"))),
        },
        (None, Found::File { text: Some(found), .. }) if found.contains(text) => Ok(None),
        (None, Found::File { text: Some(_), is_cut: false }) => without("a file without it".to_owned()),
        (None, Found::File { text: Some(_), is_cut: true }) => {
            Err(cannot_tell(format!("of `{path}` only the beginning was recorded, and it is not in there")))
        }
        (None, _) => Err(no_text(path)),
    }
}

fn matches(text: &str, assertion: Option<&Assertion>, schema: Option<&CompiledSchema>, evidence: &Val<'_>) -> Decided {
    if let Some(assertion) = assertion
        && let Some(decided) = not_passed(assertion.judge_reply(&Val::from(text), Context::of(evidence)))
    {
        return decided;
    }
    // Whether a file is JSON is for the agent to see to.
    Ok(schema.and_then(|it| it.problems(text)).map(|it| mismatch("JSON that fits the schema", it)))
}

/// A path with a character that no path has.
pub(super) fn no_path(what: &str, node: &Node<'_>) -> Option<Problem> {
    node.as_str().filter(|it| it.contains('\0'))?;
    let message = format!("{what} has a NUL character in it, which no path has");
    Some(Problem::new(&codes::WRONG_VALUE, message).at(node.span, "names nothing").help("take out `\\0`"))
}

/// `path` or `workspace`.
fn place(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Place> {
    for key in [PATH.key, WORKSPACE.key] {
        if let Some(problem) = fields.node(&key).and_then(|it| no_path(&key.quoted(), it)) {
            reading.problem(problem);
            return None;
        }
    }
    match (fields.node(&PATH), fields.node(&WORKSPACE)) {
        (Some(_), None) => fields.read(reading, &PATH).map(Place::Host),
        (None, Some(_)) => {
            let text = fields.read(reading, &WORKSPACE)?;
            let plain = text.value.replace('\\', "/");
            let leads_out = plain.starts_with('/') || plain.split('/').any(|it| it == "..");
            if leads_out || plain.split('/').all(|it| it.is_empty() || it == ".") {
                let shown = shown_within(&Val::from(text.value.as_str()), 40);
                let message = format!("`workspace` must be a path inside the workspace, not {shown}");
                let problem = Problem::new(&codes::WRONG_VALUE, message).at(text.span, "leads elsewhere");
                reading.problem(problem.help("it is relative to the workspace; `path` is on the host"));
                return None;
            }
            let names: Vec<&str> = plain.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
            Some(Place::Workspace(names.join("/")))
        }
        (Some(_), Some(_)) => {
            let help = "`path` is on the host, `workspace` in the run's workspace";
            conflict(reading, fields, (&PATH.key, &WORKSPACE.key), help);
            None
        }
        (None, None) => {
            let (message, help) =
                ("a check of a file needs `path` or `workspace`", "for example `workspace: report.md`");
            missing(reading, fields, &[PATH.key, WORKSPACE.key], message, help);
            None
        }
    }
}

fn file_matches(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let n_before = reading.n_errors();
    let place = place(reading, fields);
    let assertion = compared(reading, fields).map(Box::new);
    let schema = fields.read(reading, &SCHEMA).and_then(|it| file_schema(reading, &it)).map(Box::new);
    if assertion.is_none() && schema.is_none() && reading.n_errors() == n_before {
        let message = "`file_matches` needs an `operator` or a `schema`";
        let help = "for example `operator: contains` with an `expected_value`";
        missing(reading, fields, &[OPERATOR.key, SCHEMA.key], message, help);
    }
    Some(Arc::new(FileRule { place: place?, asks: Asks::Matches { assertion, schema } }))
}

fn file_schema(reading: &mut Reading<'_>, Output { schema, span, .. }: &Output) -> Option<CompiledSchema> {
    match CompiledSchema::compile(schema) {
        Ok(schema) => Some(schema),
        Err(reason) => {
            let message = format!("`schema` is not a JSON Schema: {reason}");
            reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(*span, "here"));
            None
        }
    }
}
