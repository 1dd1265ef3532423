//! A journal that several projects share, and what it does not have yet of the local one.
//!
//! The local journal is the one that runs write to, and stays whole without the other: answers are sent afterwards, in the order in which they were written, and the number of the last
//! one that the shared journal has acknowledged is noted (`meta`, under the name of that journal). What was written after it is sent again, by whichever process looks next. Sending an
//! answer twice changes nothing.

use std::path::PathBuf;
use std::time::Duration;

use jurat_core::effect::EffectKey;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::team::is_response_for_team;
use super::{JOURNAL, Journal, JournalAnswer, PaidAnswer};
use crate::database::DatabaseError;
use crate::effects::StoredText;

/// A journal that several projects share. It belongs to one thread.
pub trait SharedJournal: Send {
    /// What names it: a journal that is made anew has another name, also at the same address.
    fn id(&self) -> &str;

    /// The newest answers to requests. Requests that have none are left out.
    fn find(&mut self, keys: &[EffectKey]) -> Result<Vec<(EffectKey, JournalAnswer)>, SharedError>;

    /// Adds the answers that are not there yet, and returns how many they were. When it returns, the journal has all of them. It takes no longer than the limit.
    fn add(&mut self, answers: &[PaidAnswer], limit: Duration) -> Result<u64, SharedError>;
}

/// Why a shared journal did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedError {
    /// It cannot be reached, or did not answer in time. A later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// It answered that it does not do this.
    #[error("{0}")]
    Refused(String),
}

/// The answers of a local journal that a shared one has not acknowledged.
#[derive(Debug)]
pub struct Unsent {
    path: PathBuf,
    connection: Connection,
    /// Where the number of the last acknowledged answer is noted.
    noted: String,
}

/// Answers that are sent together.
#[derive(Debug)]
pub struct UnsentBatch {
    pub answers: Vec<PaidAnswer>,
    /// The number and the key of the last answer that was looked at.
    last: (i64, [u8; 32]),
}

/// The most answers, and the most bytes of them, that are sent together: a lookup waits for as long as that takes.
const MOST_ANSWERS: usize = 128;
const MOST_BYTES: usize = 1 << 20;
/// The most that are looked at for them.
const MOST_ROWS: usize = 4096;
/// The most that are counted one by one: the requests of all are read for it.
const MOST_COUNTED: u64 = 10_000;

/// What is shared: what code, tools and agents return belongs to a machine and its files. Of models, those that are [the same for a team](super::is_for_team).
const SHARED: &str = "model";

/// What the names of noted numbers begin with.
const NOTED: &str = "sent:";

impl Unsent {
    /// What a journal has for the shared journal of this name.
    pub fn of(journal: &Journal, shared: &str) -> Result<Unsent, DatabaseError> {
        let path = journal.path().to_owned();
        let connection = JOURNAL.open(&path)?;
        Ok(Unsent { path, connection, noted: format!("{NOTED}{shared}") })
    }

    /// The next answers; `None` when all are acknowledged.
    pub fn next(&self) -> Result<Option<UnsentBatch>, DatabaseError> {
        self.read().map_err(|it| DatabaseError::of(&self.path, it))
    }

    fn read(&self) -> rusqlite::Result<Option<UnsentBatch>> {
        let select =
            "SELECT id, key, at_ms, kind, model, served, request, outcome FROM answer WHERE id > ?1 ORDER BY id";
        let mut select = self.connection.prepare_cached(select)?;
        let mut rows = select.query([self.acknowledged()?])?;
        let (mut answers, mut last, mut n_bytes, mut n_rows) = (Vec::new(), None, 0, 0);
        while answers.len() < MOST_ANSWERS
            && n_bytes < MOST_BYTES
            && n_rows < MOST_ROWS
            && let Some(row) = rows.next()?
        {
            n_rows += 1;
            let key: [u8; 32] = row.get(1)?;
            last = Some((row.get(0)?, key));
            if row.get_ref(3)?.as_str()? != SHARED {
                continue;
            }
            // An answer that was overwritten is no answer: there is nothing to send.
            let texts = (StoredText::read(row.get_ref(6)?), StoredText::read(row.get_ref(7)?));
            let (Ok(request), Ok(outcome)) = texts else { continue };
            if !is_response_for_team(&request) {
                continue;
            }
            n_bytes += request.len() + outcome.len();
            let (at_ms, kind, model) = (row.get(2)?, row.get(3)?, row.get(4)?);
            answers.push(PaidAnswer { key: EffectKey(key), at_ms, kind, model, served: row.get(5)?, request, outcome });
        }
        Ok(last.map(|last| UnsentBatch { answers, last }))
    }

    /// Notes that the shared journal has these answers. When the local journal was cleaned meanwhile, numbers have other meanings, and nothing is noted.
    pub fn acknowledge(&self, batch: &UnsentBatch) -> Result<(), DatabaseError> {
        let note =
            "INSERT INTO meta (key, value) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM answer WHERE id = ?2 AND key = ?3)
                    ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE CAST(value AS INTEGER) < ?2";
        let (id, key) = batch.last;
        let noted = self.connection.prepare_cached(note).and_then(|mut it| it.execute(params![self.noted, id, key]));
        noted.map(drop).map_err(|it| DatabaseError::of(&self.path, it))
    }

    /// How many answers are not acknowledged; `None` when they are too many to be counted.
    pub fn n(&self) -> Result<Option<u64>, DatabaseError> {
        self.count().map_err(|it| DatabaseError::of(&self.path, it))
    }

    fn count(&self) -> rusqlite::Result<Option<u64>> {
        let select = "SELECT request FROM answer WHERE id > ?1 AND kind = ?2 LIMIT ?3";
        let mut select = self.connection.prepare_cached(select)?;
        let mut rows = select.query(params![self.acknowledged()?, SHARED, MOST_COUNTED + 1])?;
        let (mut n, mut n_rows) = (0, 0);
        while let Some(row) = rows.next()? {
            n_rows += 1;
            n += u64::from(StoredText::read(row.get_ref(0)?).is_ok_and(|it| is_response_for_team(&it)));
        }
        Ok((n_rows <= MOST_COUNTED).then_some(n))
    }

    fn acknowledged(&self) -> rusqlite::Result<i64> {
        let mut select = self.connection.prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?;
        Ok(select.query_row([&self.noted], |row| row.get(0)).optional()?.unwrap_or(0))
    }
}

/// After answers were removed, numbers are given again from the last one that is left.
pub(super) fn forget_removed(connection: &Connection) -> rusqlite::Result<()> {
    let last = "UPDATE meta SET value = min(CAST(value AS INTEGER), (SELECT coalesce(max(id), 0) FROM answer)) WHERE key GLOB ?1";
    connection.execute(last, [format!("{NOTED}*")]).map(drop)
}
