//! Which requests the journal has answers to, held in memory.
//!
//! A run that looks for rows it has never asked about looks at every key once. Four bytes of each are enough: of ten million answers one key in 400 that is
//! not there seems to be, and its row is asked in the order of the rows rather than first.

use jurat_core::effect::EffectKey;

use super::Journal;
use crate::database::DatabaseError;

/// The keys of a journal, by how they begin.
#[derive(Debug)]
pub struct KnownKeys(Vec<i32>);

impl KnownKeys {
    /// Whether there may be an answer to a request. Where this says no, there was none when the keys were read.
    pub fn may_have(&self, key: &EffectKey) -> bool {
        self.0.binary_search(&beginning(key.prefix())).is_ok()
    }
}

/// The first four of eight bytes. The order of what is longer is its order, too.
fn beginning(prefix: i64) -> i32 {
    (prefix >> 32) as i32
}

impl Journal {
    /// How many answers there are, or a few more: those that were removed count where later ones were not.
    pub fn n_answers(&self) -> Result<u64, DatabaseError> {
        let mut reader = self.reader();
        let newest = reader.end().and_then(|()| {
            reader.connection.query_row("SELECT coalesce(max(id), 0) FROM answer", [], |row| row.get(0))
        });
        newest.map_err(|it| DatabaseError::of(&self.path, it))
    }

    /// The keys of all answers.
    pub fn known_keys(&self) -> Result<KnownKeys, DatabaseError> {
        let mut reader = self.reader();
        let keys = reader.keys().map_err(|it| DatabaseError::of(&self.path, it))?;
        Ok(KnownKeys(keys))
    }
}

impl super::Reader {
    fn keys(&mut self) -> rusqlite::Result<Vec<i32>> {
        self.end()?;
        let mut select = self.connection.prepare("SELECT key8 FROM place ORDER BY key8")?;
        let placed = select.query_map([], |row| row.get(0).map(beginning))?;
        let mut keys: Vec<i32> = placed.collect::<Result<_, _>>()?;
        let mut unsorted = self.connection.prepare("SELECT keys FROM unsorted")?;
        let mut rows = unsorted.query([])?;
        while let Some(row) = rows.next()? {
            keys.extend(super::places::read_keys(row.get_ref(0)?.as_blob()?).map(beginning));
        }
        // Almost all are in order, which the sort notices.
        keys.sort();
        keys.dedup();
        keys.shrink_to_fit();
        Ok(keys)
    }
}
