//! The transcript of an agent that stores it in a database of its own.

use std::io::Read as _;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// The longest event that is read.
const MOST_BYTES: u64 = 4 << 20;

/// How many events are read.
const MOST_EVENTS: usize = 100_000;

/// The events that a query gives, in their order, as the lines of JSON that they are: of each row the first column that is not null, a text or a blob that zstd
/// packed. The database is one that its program has closed, or a copy of one; it was written by a program that is not trusted, so nothing in it is run.
pub fn transcript_lines(database: &Path, query: &str) -> Result<Vec<String>, String> {
    let unreadable = |error: rusqlite::Error| format!("the transcript cannot be read: {error}");
    // A log that was not merged has to be, which writes; the caller hands over a copy.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(database, flags).map_err(unreadable)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;").map_err(unreadable)?;
    let mut statement = connection.prepare(query).map_err(unreadable)?;
    let n_columns = statement.column_count();
    let mut rows = statement.query([]).map_err(unreadable)?;
    let mut events = Vec::new();
    while events.len() < MOST_EVENTS
        && let Some(row) = rows.next().map_err(unreadable)?
    {
        let columns = (0..n_columns).map(|ix| row.get_ref(ix).map_err(unreadable)).collect::<Result<Vec<_>, _>>()?;
        let text = match columns.into_iter().find(|it| *it != ValueRef::Null) {
            Some(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(ValueRef::Blob(bytes)) => unpacked(bytes)?,
            _ => continue,
        };
        events.push(text.replace(['\n', '\r'], " "));
    }
    Ok(events)
}

fn unpacked(bytes: &[u8]) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("an event of the transcript cannot be unpacked: {error}");
    let mut text = String::new();
    let reader = zstd::stream::read::Decoder::new(bytes).map_err(unreadable)?;
    reader.take(MOST_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_in_their_order_packed_or_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("agent.sqlite");
        let connection = Connection::open(&file).expect("a database");
        connection
            .execute_batch(
                "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)",
            )
            .expect("a table");
        let packed = zstd::encode_all(&br#"{"type":"second"}"#[..], 1).expect("packed");
        let insert = "INSERT INTO transcript_events VALUES ('s', ?1, ?2, ?3)";
        connection.execute(insert, (1, None::<String>, Some(packed))).expect("a row");
        connection.execute(insert, (0, Some("{\"type\":\n\"first\"}"), None::<Vec<u8>>)).expect("a row");
        drop(connection);
        let query = "SELECT event_json, event_zstd FROM transcript_events ORDER BY session_id, seq";
        let events = transcript_lines(&file, query).expect("a transcript");
        assert_eq!(events, [r#"{"type": "first"}"#, r#"{"type":"second"}"#]);
        std::fs::write(&file, b"no database").expect("written");
        assert!(transcript_lines(&file, query).is_err());
    }
}
