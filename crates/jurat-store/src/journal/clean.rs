//! Removing answers from the journal, on command.

use rusqlite::{Connection, params};

use super::{Journal, places, shared};
use crate::database::DatabaseError;

/// Which answers are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cleaning {
    /// Those from before this time, in milliseconds since 1970.
    Before(u64),
    /// Those of this model.
    Model(String),
    /// All of them.
    All,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// How many responses.
    pub responses: u64,
    /// Whether the file gave the space back. While another process uses the journal it keeps it, and uses it for new answers.
    pub is_smaller: bool,
}

impl Journal {
    pub fn clean(&self, cleaning: &Cleaning) -> Result<Removed, DatabaseError> {
        let mut reader = self.reader();
        let of = |it| DatabaseError::of(&self.path, it);
        reader.end().map_err(of)?;
        let connection = &reader.connection;
        let responses = delete(connection, cleaning).map_err(of)?;
        let shrunk = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        match shrunk.map_err(of) {
            Ok(()) => Ok(Removed { responses, is_smaller: true }),
            Err(DatabaseError::Busy { .. }) => Ok(Removed { responses, is_smaller: false }),
            Err(error) => Err(error),
        }
    }
}

fn delete(connection: &Connection, cleaning: &Cleaning) -> rusqlite::Result<u64> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let deleted = delete_answers(connection, cleaning).and_then(|deleted| {
        places::sort_anew(connection)?;
        shared::forget_removed(connection)?;
        connection.execute_batch("COMMIT")?;
        Ok(deleted)
    });
    deleted.inspect_err(|_| drop(connection.execute_batch("ROLLBACK")))
}

fn delete_answers(connection: &Connection, cleaning: &Cleaning) -> rusqlite::Result<u64> {
    let deleted = match cleaning {
        Cleaning::Before(at_ms) => connection.execute("DELETE FROM answer WHERE at_ms < ?1", params![at_ms]),
        Cleaning::Model(model) => connection.execute("DELETE FROM answer WHERE model = ?1", params![model]),
        // Without a condition SQLite forgets the pages without looking at them, and still counts the rows.
        Cleaning::All => connection.execute("DELETE FROM answer", []),
    };
    deleted.map(|it| it as u64)
}
