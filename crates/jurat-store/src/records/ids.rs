//! What rows are known by.
//!
//! A row's id is what stands at the path that `id:` names; else its `id`, `record_id` or `case_id`; else a hash of its
//! bytes. Two rows with one id could not be distinguished in a report, so that is an error, which names both. Rows without an
//! id that are equal byte by byte are distinguished by a number: `…-2`, `…-3`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use jurat_core::suite::{Records, RowSource};
use jurat_format::value::{FieldPath, Kind, Val, shown};
use xxhash_rust::xxh3::xxh3_128;

use super::RowAt;

/// The members that hold a row's id when the suite does not say where it is, in the order they are looked for.
const ID_KEYS: [&str; 3] = ["id", "record_id", "case_id"];

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
            RowSource::Inline(_) if sections.len() == 1 => vec!["`records`".to_owned()],
            // One file of a suite has one such section, and included files come first.
            RowSource::Inline(_) => vec![format!("`records` number {}", ix + 1)],
        });
        RowNames(names.collect())
    }

    /// The source in words: a file's path in backticks as its author wrote it, `standard input`, or `records`.
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

/// The ids of all rows so far.
///
/// It holds no texts: a row costs 24 bytes, 16 of a hash and 8 for its place, which in a hash table that is between 44 %
/// and 88 % full are 29 to 57 bytes. A content that comes more than once costs as much again, once. The table is in parts,
/// so that growing does not need twice that.
pub struct Ids {
    names: RowNames,
    parts: Vec<HashMap<Key, Place, BuildHasherDefault<AlreadyHashed>>>,
    /// How often each content was met that was met more than once.
    repeats: HashMap<u128, u64>,
}

impl Ids {
    const PARTS: usize = 64;

    pub fn new(names: RowNames) -> Ids {
        Ids { names, parts: (0..Self::PARTS).map(|_| HashMap::default()).collect(), repeats: HashMap::new() }
    }

    /// Takes in the id of a row and returns the one it will be known by. Rows have to come in order, or equal contents
    /// would be numbered differently from run to run.
    pub fn admit<'r>(&mut self, id: RowId<'r>, at: &RowAt) -> Result<Cow<'r, str>, DuplicateId> {
        let place = Place::of(at);
        match id {
            RowId::Given(id) => match self.insert(&id, place) {
                None => Ok(id),
                Some(first) => Err(DuplicateId {
                    id: id.into_owned(),
                    first: self.names.row(first.source(), first.number()),
                    second: self.names.row(at.source, at.number),
                }),
            },
            RowId::Content(hash) => {
                let id = format!("{hash:032x}");
                if self.insert(&id, place).is_none() {
                    return Ok(id.into());
                }
                // An id that a row holds may look like a numbered one; then the next number is taken.
                let mut n = self.repeats.get(&hash).copied().unwrap_or(1);
                let numbered = loop {
                    n += 1;
                    let numbered = format!("{id}-{n}");
                    if self.insert(&numbered, place).is_none() {
                        break numbered;
                    }
                };
                self.repeats.insert(hash, n);
                Ok(numbered.into())
            }
        }
    }

    /// Puts an id in its place, unless a row has it already.
    fn insert(&mut self, id: &str, place: Place) -> Option<Place> {
        let key = Key::of(id);
        match self.parts[key.part()].entry(key) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(vacant) => {
                vacant.insert(place);
                None
            }
        }
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_ids: usize = self.parts.iter().map(HashMap::len).sum();
        f.debug_struct("Ids").field("names", &self.names).field("n_ids", &n_ids).finish_non_exhaustive()
    }
}

/// The hash of an id. Two halves, because a `u128` is aligned to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    high: u64,
    low: u64,
}

impl Key {
    fn of(id: &str) -> Key {
        let hash = xxh3_128(id.as_bytes());
        Key { high: (hash >> 64) as u64, low: hash as u64 }
    }

    /// The part of the table it belongs to, from the half that the table itself does not look at.
    fn part(self) -> usize {
        (self.high % Ids::PARTS as u64) as usize
    }
}

impl std::hash::Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.low);
    }
}

/// Keys are hashes; hashing them again would only cost time.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key writes one number");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A row in 8 bytes: the source in the upper 24 bits, the number in the lower 40. Beyond 16 million files or a million
/// million rows in one, duplicates are still found; only the row that is named is another.
#[derive(Clone, Copy)]
struct Place(u64);

impl Place {
    const NUMBER_BITS: u32 = 40;

    fn of(at: &RowAt) -> Place {
        let number = at.number.min((1 << Self::NUMBER_BITS) - 1);
        Place((u64::from(at.source) << Self::NUMBER_BITS) | number)
    }

    fn source(self) -> u32 {
        (self.0 >> Self::NUMBER_BITS) as u32
    }

    fn number(self) -> u64 {
        self.0 & ((1 << Self::NUMBER_BITS) - 1)
    }
}
