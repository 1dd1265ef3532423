//! What rows are known by.
//!
//! A row's id is what stands at the path that `id:` names; else its `id`, `record_id` or `case_id`; else a hash of its
//! bytes. Two rows with one id could not be distinguished in a report, so that is an error, which names both. Rows without an
//! id that are equal byte by byte are distinguished by a number: `…-2`, `…-3`.

use std::borrow::Cow;
use std::collections::HashMap;

use jurat_core::suite::{Records, RowSource};
use jurat_format::value::{FieldPath, Kind, Val, shown};
use xxhash_rust::xxh3::xxh3_128;

use super::{RowAt, SourcePart};

/// The members that hold a row's id when the suite does not say where it is, in the order they are looked for.
pub const ID_KEYS: [&str; 3] = ["id", "record_id", "case_id"];

/// What a row is known by, before it is known whether another row has the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowId<'r> {
    /// The id that the row holds; numbers and booleans as they are printed.
    Given(Cow<'r, str>),
    /// A hash of the row's bytes (XXH3 with 128 bits), because it holds none.
    Content(u128),
}

/// Why a row has no id. The caller names the row, with [`RowNames::row`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The path that `id` names leads nowhere.
    #[error("no id at `{path}`: {why}")]
    Missing { path: String, why: String },
    /// What should be the id is no id.
    #[error("the id at `{path}` is {}; an id is text, a number or a boolean", kind.phrase())]
    Kind { path: String, kind: Kind },
}

/// Returns what a row is known by. `text` is its JSON as it stands in its source.
///
/// ```
/// use jurat_format::value::parse_json;
/// use jurat_store::records::{RowId, row_id};
///
/// let text = "{\"case_id\": 7}";
/// assert_eq!(row_id(&parse_json(text)?.value, None, text), Ok(RowId::Given("7".into())));
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
pub fn row_id<'r>(row: &'r Val<'_>, id_path: Option<&FieldPath>, text: &str) -> Result<RowId<'r>, IdError> {
    if let Some(path) = id_path {
        let found = path.find(row).map_err(|it| IdError::Missing { path: path.to_string(), why: it.explain(path) })?;
        let id = match &found {
            Cow::Borrowed(value) => printed(value),
            Cow::Owned(value) => printed(value).map(|it| Cow::Owned(it.into_owned())),
        };
        return id.map(RowId::Given).ok_or_else(|| IdError::Kind { path: path.to_string(), kind: found.kind() });
    }
    match ID_KEYS.into_iter().find_map(|key| Some((key, row.get(key)?))) {
        Some((key, value)) => {
            printed(value).map(RowId::Given).ok_or_else(|| IdError::Kind { path: key.to_owned(), kind: value.kind() })
        }
        None => Ok(RowId::Content(xxh3_128(text.as_bytes()))),
    }
}

fn printed<'r>(value: &'r Val<'_>) -> Option<Cow<'r, str>> {
    match value.kind() {
        Kind::Text => value.as_str().map(Cow::Borrowed),
        Kind::Number | Kind::Boolean => Some(Cow::Owned(value.to_string())),
        Kind::Null | Kind::List | Kind::Object => None,
    }
}

#[derive(Debug, Clone)]
pub struct RowNames(Vec<String>);

impl RowNames {
    /// The names of the sources that the rows of all sections come from, in order.
    pub fn of_all(sections: &[Records]) -> RowNames {
        let names = sections.iter().enumerate().flat_map(|(ix, records)| match &records.from {
            RowSource::Files(files) => files.iter().map(|it| format!("`{}`", it.written.value)).collect(),
            RowSource::StandardInput => vec!["standard input".to_owned()],
            RowSource::Program => vec!["the given rows".to_owned()],
            RowSource::Inline(_) if sections.len() == 1 => vec!["`records`".to_owned()],
            // One file of a suite has one such section, and included files come first.
            RowSource::Inline(_) => vec![format!("`records` number {}", ix + 1)],
        });
        RowNames(names.collect())
    }

    /// The names for rows of a part of a source, which are counted from its beginning.
    pub fn within(mut self, part: &SourcePart) -> RowNames {
        let name = usize::try_from(part.source).ok().and_then(|it| self.0.get_mut(it));
        if let (Some(name), Some(start)) = (name, part.extent.start_words()) {
            *name = format!("{name} from {start}");
        }
        self
    }

    /// The source in words: a file's path in backticks as its author wrote it, `standard input`, `the given rows`, or `records`.
    pub fn source(&self, source: u32) -> &str {
        let name = usize::try_from(source).ok().and_then(|it| self.0.get(it));
        name.map_or("`records`", String::as_str)
    }

    /// The row in words, such as ``row 3 of `records.jsonl` ``.
    pub fn row(&self, source: u32, number: u64) -> String {
        format!("row {number} of {}", self.source(source))
    }
}

/// Two rows hold the same id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} have the same id, {}; give each row its own, or leave ids out", shown(&Val::from(id.as_str())))]
pub struct DuplicateId {
    pub id: String,
    /// The row that had it first, in words.
    pub first: String,
    /// The row that has it too, in words.
    pub second: String,
}

/// The ids of the rows so far, for looking at the first rows before a run. A run finds equal ids when it ends, in its file.
#[derive(Debug)]
pub struct Ids {
    names: RowNames,
    /// Each with the source and the number of its row.
    rows: HashMap<String, (u32, u64)>,
}

impl Ids {
    pub fn new(names: RowNames) -> Ids {
        Ids { names, rows: HashMap::new() }
    }

    /// Takes in the id of a row and returns the one it will be known by. Rows have to come in order, or equal contents
    /// would be numbered differently from run to run.
    pub fn admit<'r>(&mut self, id: RowId<'r>, at: &RowAt) -> Result<Cow<'r, str>, DuplicateId> {
        let id = match id {
            RowId::Given(id) => id,
            RowId::Content(hash) => self.unused(format!("{hash:032x}")).into(),
        };
        match self.rows.insert(id.clone().into_owned(), (at.source, at.number)) {
            None => Ok(id),
            Some(first) => {
                self.rows.insert(id.clone().into_owned(), first);
                Err(DuplicateId {
                    id: id.into_owned(),
                    first: self.names.row(first.0, first.1),
                    second: self.names.row(at.source, at.number),
                })
            }
        }
    }

    /// The id of a content, with a number when it is used. An id that a row holds may look like a numbered one; then the next number is taken.
    fn unused(&self, id: String) -> String {
        let mut numbered = (2_u64..).map(|n| format!("{id}-{n}"));
        match self.rows.contains_key(&id) {
            true => numbered.find(|it| !self.rows.contains_key(it)).expect("there are more numbers than rows"),
            false => id,
        }
    }
}
