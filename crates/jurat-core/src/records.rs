//! `records`: where the rows come from.

use std::path::PathBuf;

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, FieldPath, Kind, Map, Node, Span, Spanned, Val, Value, parse_json};

use crate::section::lost::Part;
use crate::section::{Heading, Section};

/// Rows, each of which is a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    pub from: RowSource,
    /// The format of files, when their names do not say.
    pub format: Option<RowFormat>,
    /// Where a row's id stands.
    pub id: Option<Spanned<FieldPath>>,
    /// The sheet of a workbook that has the rows.
    pub sheet: Option<Spanned<String>>,
    /// Columns of a CSV file that are not text.
    pub types: Vec<(Spanned<String>, CellType)>,
    /// Words to select the rows by.
    pub tags: Vec<Spanned<String>>,
    /// Whether each row is the artifact of an agent's run.
    pub is_runs: bool,
    /// What rows have that do not say otherwise.
    pub defaults: Map<'static>,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    Files(Vec<RowFile>),
    StandardInput,
    /// The program that runs the suite. A definition has it as standard input.
    Program,
    /// The definition itself.
    Inline(Vec<Spanned<Value>>),
}

impl RowSource {
    /// Whether its rows can be read only once, while the suite runs.
    pub fn is_stream(&self) -> bool {
        matches!(self, RowSource::StandardInput | RowSource::Program)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RowFile {
    /// The path as it was written.
    pub written: Spanned<String>,
    /// The path as it is meant, relative to the file that holds it.
    pub path: PathBuf,
}

choices! {
    /// The formats of row files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RowFormat {
        /// One JSON value a line.
        JsonLines = "jsonl",
        /// A JSON list of rows.
        Json = "json",
        /// Comma separated, with a header.
        Csv = "csv",
        /// Tab separated, with a header.
        Tsv = "tsv",
        /// A YAML list of rows.
        Yaml = "yaml",
        /// A sheet of an Excel workbook, with a header.
        Xlsx = "xlsx",
        Parquet = "parquet",
        /// Arrow IPC: a file (Feather) or a stream.
        Arrow = "arrow",
        /// A folder that the library `datasets` of Hugging Face wrote.
        Dataset = "dataset",
    }
}

choices! {
    /// What the cells of a CSV column are.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CellType {
        Number = "number",
        /// Whole numbers.
        Integer = "integer",
        /// `true` or `false`.
        Boolean = "boolean",
        Json = "json",
    }
}

choices! {
    /// What each row is.
    #[derive(Clone, Copy, PartialEq)]
    enum RowKind {
        Rows = "rows",
        Runs = "runs",
    }
}

impl Records {
    /// A row with what it does not have itself.
    pub fn with_defaults<'v>(&'v self, row: Val<'v>) -> Val<'v> {
        match row {
            Val::Map(mut members) => {
                for (key, value) in self.defaults.iter() {
                    if members.get(key).is_none() {
                        members.insert(key.to_owned().into(), value.borrowed());
                    }
                }
                Val::Map(members)
            }
            other => other,
        }
    }
}

impl CellType {
    /// The value of a cell; `None` when its text does not read as this type.
    pub fn read(self, text: &str) -> Option<Value> {
        let value = parse_json(text).ok()?.value.into_owned();
        let fits = match self {
            CellType::Json => true,
            CellType::Number => value.kind() == Kind::Number,
            CellType::Integer => matches!(value, Val::I(_) | Val::U(_) | Val::Big(_)),
            CellType::Boolean => value.kind() == Kind::Boolean,
        };
        fits.then_some(value)
    }
}

const PATH: Field<RowSource> = Field::required(
    "path",
    Shape::new(shape::TEXT_OR_TEXTS, one_or_more_files),
    "the file or files; `-` is standard input",
);
const FORMAT: Field<RowFormat> = Field::optional("format", shape::choice(), "the format")
    .default_words("by the ending of the file's name; `jsonl` for standard input");
const ID: Field<Spanned<FieldPath>> = Field::optional("id", shape::PATH, "the path of a row's id")
    .default_words("`id`, `record_id` or `case_id`, else a hash of the row");
const TYPES: Field<Vec<(Spanned<String>, CellType)>> = Field::optional(
    "types",
    Shape::new(const { Form::Map(&shape::choice::<CellType>().form) }, types),
    "types of columns of CSV, TSV and Excel files",
)
.default_words("text");
const SHEET: Field<Spanned<String>> =
    Field::optional("sheet", shape::TEXT, "the sheet of an Excel workbook").default_words("its only sheet with rows");
const TAGS: Field<Vec<Spanned<String>>> = Field::optional("tags", shape::TEXTS, "tags to select the rows by");
const DEFAULTS: Field<Map<'static>> = Field::optional(
    "defaults",
    Shape::new(Form::Map(&Form::Any), |reading, what, node| match node.to_val().into_owned() {
        Val::Map(map) => Some(map),
        _ => {
            reading.wrong_type(what, "an object of fields and values", node);
            None
        }
    }),
    "fields and their values for rows that do not have them",
);
const AS: Defaulted<RowKind> = Field::optional(
    "as",
    shape::choice(),
    "what each row is: a row, or a recorded agent run (a run artifact), whose id is its `run_id`",
)
.default_choice("rows");

static RECORDS: Object = Object {
    what: "`records`",
    keys: &[PATH.key, FORMAT.key, ID.key, TYPES.key, SHEET.key, TAGS.key, DEFAULTS.key, AS.key],
};

const FORM: Form = Form::Either(&[Form::Text, Form::List(&Form::Any), Form::Object(&RECORDS)]);

pub(crate) const SECTION: Section<Vec<Records>> = Heading::new(
    "records",
    FORM,
    "the rows to evaluate: files, `-` for standard input, or the rows themselves",
    &[Part::Case],
)
.read(|reading, lost, known, at| {
    let records = read(reading, at.node);
    lost.add_if(records.is_none(), &[Part::Case]);
    let reads_input = |it: &Records| it.from == RowSource::StandardInput;
    if records.as_ref().is_some_and(reads_input) && known.iter().any(reads_input) {
        let message = "standard input is read by another file of this suite already";
        let problem = Problem::new(&codes::CONFLICT, message).at(at.node.span, "again here");
        reading.problem(problem.help("it can be read once; put the rows into a file"));
    }
    known.extend(records);
});

pub(crate) const GROUP_BY: Section<Vec<Spanned<FieldPath>>> =
    Heading::new("group_by", PATHS, "paths; the summary has one line per value found there", &[])
        .read(|reading, _, known, at| known.extend(paths(reading, "group_by", at.node)));

pub(crate) const CLUSTER_BY: Section<Option<Spanned<FieldPath>>> = Heading::new(
    "cluster_by",
    Form::Path,
    "the path of what rows share, such as a document; intervals, comparisons and gates take rows with one value there for one cluster",
    &[],
)
.default_words("each row is a cluster of its own")
.read(|reading, _, known, at| *known = reading.path("`cluster_by`", at.node).or(known.take()));

pub(crate) const QUESTION: Section<Vec<Spanned<FieldPath>>> = Heading::new(
    "question",
    PATHS,
    "paths of a row that are the question; comparisons leave out rows in which they differ",
    &[],
)
.read(|reading, _, known, at| known.extend(paths(reading, "question", at.node)));

const PATHS: Form = Form::List(&Form::Path);

/// The paths that a section lists.
fn paths(reading: &mut Reading<'_>, key: &str, node: &Node<'_>) -> Vec<Spanned<FieldPath>> {
    let items = reading.list(&format!("`{key}`"), "a list of paths", node);
    items.iter().filter_map(|it| reading.path(&format!("a path in `{key}`"), it)).collect()
}

/// Reads `records`: a path, a list of paths, `-`, rows, or an object that says more.
pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Records> {
    let plain = |from| Records {
        from,
        format: None,
        id: None,
        sheet: None,
        types: Vec::new(),
        tags: Vec::new(),
        is_runs: false,
        defaults: Map::default(),
    };
    match &node.content {
        Content::Scalar(Val::Str(_)) => files(reading, std::slice::from_ref(node)).map(plain),
        Content::List(items) if items.is_empty() => {
            reading.problem(no_rows("`records` without a row", node.span));
            None
        }
        Content::List(items) if items.iter().all(|it| it.as_str().is_some()) => files(reading, items).map(plain),
        Content::List(items) => inline(reading, items).map(plain),
        Content::Map(_) => described(reading, node),
        Content::Scalar(_) => {
            reading.wrong_type("`records`", "a path, a list of paths or rows, `-`, or an object with `path`", node);
            None
        }
    }
}

fn no_rows(message: &str, span: Span) -> Problem {
    Problem::new(&codes::NO_CASES, message).at(span, "empty").help("name a file: `records: records.jsonl`")
}

fn files(reading: &mut Reading<'_>, nodes: &[Node<'_>]) -> Option<RowSource> {
    let texts: Vec<Spanned<String>> = nodes.iter().filter_map(|it| reading.text("a path in `records`", it)).collect();
    match texts.as_slice() {
        [only] if only.value == "-" => Some(RowSource::StandardInput),
        texts => {
            if let Some(dash) = texts.iter().find(|it| it.value == "-") {
                let problem = Problem::new(&codes::CONFLICT, "standard input cannot be mixed with files");
                reading.problem(
                    problem.at(dash.span, "standard input").help("read either from files or from standard input"),
                );
            }
            let file = |it: &Spanned<String>| RowFile { path: reading.beside(it.span, &it.value), written: it.clone() };
            Some(RowSource::Files(texts.iter().filter(|it| it.value != "-").map(file).collect()))
        }
    }
}

fn inline(reading: &mut Reading<'_>, items: &[Node<'_>]) -> Option<RowSource> {
    if let Some(path) = items.iter().find(|it| it.as_str().is_some()) {
        let problem =
            Problem::new(&codes::CONFLICT, "`records` mixes paths and rows").at(path.span, "a path, or a row of text?");
        reading.problem(problem.help("put the rows into a file, or write a row of text as `{value: …}`"));
        return None;
    }
    let rows = items.iter().map(|it| Spanned::new(it.to_val().into_owned(), it.span));
    Some(RowSource::Inline(rows.collect()))
}

fn described(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Records> {
    let fields = RECORDS.fields(reading, node)?;
    let from = fields.read(reading, &PATH);
    let types = fields.read(reading, &TYPES).unwrap_or_default();
    let is_runs = fields.value(reading, &AS) == RowKind::Runs;
    let id = fields.read(reading, &ID);
    let run_id = || FieldPath::parse("identity.run_id").ok().map(|it| Spanned::new(it, fields.span));
    Some(Records {
        is_runs,
        format: fields.read(reading, &FORMAT),
        id: id.or_else(|| run_id().filter(|_| is_runs)),
        sheet: fields.read(reading, &SHEET),
        types,
        tags: fields.read(reading, &TAGS).unwrap_or_default(),
        defaults: fields.read(reading, &DEFAULTS).unwrap_or_default(),
        from: from?,
    })
}

fn one_or_more_files(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<RowSource> {
    match node.as_list() {
        Some([]) => {
            reading.problem(no_rows(&format!("{what} without a file"), node.span));
            None
        }
        Some(items) => files(reading, items),
        None => files(reading, std::slice::from_ref(node)),
    }
}

fn types(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(Spanned<String>, CellType)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of column names and types", node);
        return None;
    };
    let read = |entry: &jurat_format::value::Entry<'_>| {
        let kind = reading.choice("the type of a column", &CellType::NAMED, &entry.value)?;
        Some((Spanned::new(entry.key.clone().into_owned(), entry.key_span), kind))
    };
    Some(entries.iter().filter_map(read).collect())
}

/// A row that cannot be a case.
pub fn bad_row(span: Span, why: &str) -> Problem {
    Problem::new(&codes::BAD_ROWS, why).at(span, "these rows")
}

/// A row file in which there is nothing.
pub fn file_without_rows(span: Span, written: &str) -> Problem {
    let problem = Problem::new(&codes::NO_ROWS, format!("`{written}` has no rows")).at(span, "named here");
    problem.help("a run over it judges nothing")
}

/// The format that the name of a file promises, if rows are not read from it.
fn other_format(written: &str) -> Option<&'static str> {
    const FORMATS: [(&str, &str); 5] = [
        ("xls", "Excel before 2007"),
        ("ods", "OpenDocument"),
        ("xml", "XML"),
        ("pickle", "pickle"),
        ("sqlite", "SQLite"),
    ];
    let extension = written.rsplit_once('.').map(|(_, it)| it.to_ascii_lowercase())?;
    FORMATS.iter().find(|(it, _)| *it == extension).map(|(_, format)| *format)
}

/// A directory where a row file should be.
pub fn directory_of_rows(span: Span, written: &str) -> Problem {
    let message = format!("`{written}` is a directory, and not one that the library `datasets` wrote");
    let problem = Problem::new(&codes::BAD_ROWS, message);
    let folder = written.trim_end_matches('/');
    problem
        .at(span, "named here")
        .help(format!("name the files in it: `records: {{ path: [{folder}/a.jsonl, {folder}/b.jsonl] }}`"))
}

/// A row file that could not be read.
pub fn unreadable(span: Span, written: &str, why: &str, is_missing: bool) -> Problem {
    if written.starts_with("http://") || written.starts_with("https://") {
        let message = format!("`{written}` is an address, and rows are read from files");
        let problem = Problem::new(&codes::NOT_FOUND, message).at(span, "named here");
        return problem.help("download it first, for example with `curl -o rows.jsonl ADDRESS`, and name the file");
    }
    if let Some(format) = other_format(written).filter(|_| !is_missing) {
        let message = format!("`{written}` cannot be read as rows: {format} is not a format of rows");
        let problem = Problem::new(&codes::BAD_ROWS, message).at(span, "named here");
        return problem.help("save it as CSV, JSON, JSON lines (`.jsonl`), Excel (`.xlsx`) or Parquet");
    }
    if is_missing {
        return Problem::new(&codes::NOT_FOUND, format!("there is no file `{written}`"))
            .at(span, "named here")
            .help("paths are relative to the file that holds them");
    }
    Problem::new(&codes::BAD_ROWS, format!("`{written}` cannot be read as rows: {why}")).at(span, "named here")
}
