//! Where answers are, by the beginnings of their keys: an index of our own.
//!
//! Keys are spread evenly. An index that took in every answer at once would change a page for nearly each of them, and write more than the answers themselves.
//! So the keys of a commit are noted in one row, in the order in which they came, and put in their places many at a time. A lookup of an
//! answer looks among both.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

/// The keys that are in their places, and those that are not yet: of the answers from `first` on, eight bytes each. `meta` counts under `sorted` how often all were
/// put in their places, so that readers know what they remember from others.
macro_rules! tables {
    () => {
        "
CREATE TABLE place (key8 INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (key8, id)) STRICT, WITHOUT ROWID;
CREATE TABLE unsorted (first INTEGER PRIMARY KEY, keys BLOB NOT NULL) STRICT;
INSERT INTO meta (key, value) VALUES ('sorted', '0');
"
    };
}

pub(super) use tables;

/// The most keys that may be out of place: what readers remember, and what a new reader has to read.
const MOST_UNSORTED: usize = 4096;

/// What a reader knows of answers that are not in their places.
#[derive(Debug, Default)]
pub(super) struct Unsorted {
    /// The beginnings of their keys, and their numbers.
    ids: BTreeSet<(i64, i64)>,
    /// From here on nothing is known yet.
    next: i64,
    /// Which time it was that all were put in their places before.
    sorted: Option<String>,
    /// Whether there are none in their places.
    pub(super) is_all: bool,
}

impl Unsorted {
    /// Learns what is new, as the transaction sees it.
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut select = connection.prepare_cached("SELECT value FROM meta WHERE key = 'sorted'")?;
        let sorted: String = select.query_row([], |row| row.get(0))?;
        if self.sorted.as_ref() != Some(&sorted) {
            let is_all = "SELECT NOT EXISTS (SELECT 1 FROM place)";
            let is_all = connection.prepare_cached(is_all)?.query_row([], |row| row.get(0))?;
            *self = Unsorted { sorted: Some(sorted), is_all, ..Unsorted::default() };
        }
        let mut select = connection.prepare_cached("SELECT first, keys FROM unsorted WHERE first >= ?1")?;
        let mut rows = select.query([self.next])?;
        while let Some(row) = rows.next()? {
            let first = row.get(0)?;
            self.next = first;
            for key8 in read_keys(row.get_ref(1)?.as_blob()?) {
                self.ids.insert((key8, self.next));
                self.next += 1;
            }
        }
        Ok(())
    }

    /// The answers whose keys begin so, in the order in which they came.
    pub(super) fn beginning(&self, key8: i64) -> impl Iterator<Item = i64> {
        self.ids.range((key8, i64::MIN)..=(key8, i64::MAX)).map(|it| it.1)
    }
}

/// Notes the keys of answers that follow one another.
pub(super) fn note(connection: &Connection, first: i64, keys: impl Iterator<Item = i64>) -> rusqlite::Result<()> {
    let keys: Vec<u8> = keys.flat_map(i64::to_be_bytes).collect();
    connection
        .prepare_cached("INSERT INTO unsorted (first, keys) VALUES (?1, ?2)")?
        .execute(params![first, keys])
        .map(drop)
}

/// How many are not in their places.
pub(super) fn n_unsorted(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("SELECT coalesce(sum(length(keys)), 0) / 8 FROM unsorted", [], |row| row.get(0))
}

/// Whether enough keys are out of place to be put there.
pub(super) fn is_due(n_unsorted: usize) -> bool {
    n_unsorted >= MOST_UNSORTED
}

/// Puts all in their places, in the order of the index.
pub(super) fn sort(connection: &Connection) -> rusqlite::Result<()> {
    let mut all = Unsorted::default();
    all.refresh(connection)?;
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO place (key8, id) VALUES (?1, ?2)")?;
    all.ids.iter().try_for_each(|it| insert.execute(*it).map(drop))?;
    forget_order(connection)
}

/// Puts the answers that are left in their places, after others were removed.
pub(super) fn sort_anew(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM place; INSERT INTO place (key8, id) SELECT key8, id FROM answer ORDER BY key8, id;",
    )?;
    forget_order(connection)
}

/// Brings a journal of format 1 up to date.
pub(super) fn convert(connection: &Connection) -> rusqlite::Result<()> {
    let is_old = || connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map(|it: i64| it < 2);
    if !is_old()? {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let converted = is_old().and_then(|is_old| {
        if is_old {
            connection.execute_batch(tables!())?;
            sort_anew(connection)?;
            let format = "DROP INDEX answer_key8; UPDATE meta SET value = '2' WHERE key = 'min_reader'; PRAGMA user_version = 2;";
            connection.execute_batch(format)?;
        }
        connection.execute_batch("COMMIT")
    });
    converted.inspect_err(|_| drop(connection.execute_batch("ROLLBACK")))
}

fn forget_order(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM unsorted; UPDATE meta SET value = value + 1 WHERE key = 'sorted';")
}

pub(super) fn read_keys(bytes: &[u8]) -> impl Iterator<Item = i64> {
    bytes.as_chunks().0.iter().map(|it| i64::from_be_bytes(*it))
}
