//! What is in run files and journals, read without the command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// A database as it was at one moment. Looking at a copy leaves the log of the original for the command to recover.
pub(crate) struct Snapshot {
    _folder: TempDir,
    connection: Connection,
}

impl Snapshot {
    /// Copies a database with its log; `None` when there is none.
    pub(crate) fn of(database: &Path) -> Option<Snapshot> {
        let folder = TempDir::new().expect("the system has a place for temporary files");
        let copy = folder.path().join("copy");
        fs::copy(database, &copy).ok()?;
        // The shared memory beside a log says nothing that the log does not.
        let _ = fs::copy(beside(database, "-wal"), beside(&copy, "-wal"));
        let connection = Connection::open(&copy).expect("a copy can be opened");
        Some(Snapshot { _folder: folder, connection })
    }

    /// Asserts that nothing in it is broken.
    #[track_caller]
    pub(crate) fn assert_whole(&self) {
        let shown: String = self
            .connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("the database can be checked");
        assert_eq!(shown, "ok");
    }

    /// The prompts that a journal has answers to.
    pub(crate) fn answered(&self) -> BTreeSet<String> {
        self.prompts("SELECT request FROM answer")
    }

    /// The prompts that a run has answers to.
    pub(crate) fn logged(&self) -> BTreeSet<String> {
        self.prompts("SELECT request FROM effect WHERE outcome LIKE '{\"answer\"%'")
    }

    /// How a run ended; `None` when it did not, or was never begun.
    pub(crate) fn ended(&self) -> Option<String> {
        self.connection.query_row("SELECT value FROM meta WHERE key = 'ended'", [], |row| row.get(0)).ok()
    }

    /// Whether a run was begun, so that it can be resumed.
    pub(crate) fn has_head(&self) -> bool {
        self.connection.query_row("SELECT value FROM meta WHERE key = 'resume_key'", [], |_| Ok(())).is_ok()
    }

    /// A number that a query gives.
    pub(crate) fn number(&self, query: &str) -> u64 {
        self.connection.query_row(query, [], |row| row.get(0)).expect("a query with a number")
    }

    fn prompts(&self, select: &str) -> BTreeSet<String> {
        // A database whose making was interrupted has no tables yet.
        let Ok(mut select) = self.connection.prepare(select) else { return BTreeSet::new() };
        let requests = select.query_map([], |row| row.get::<_, String>(0)).expect("requests can be read");
        requests.map(|it| prompt(&it.expect("short requests are text"))).collect()
    }
}

/// The last thing that a stored request says.
fn prompt(request: &str) -> String {
    let request: serde_json::Value = serde_json::from_str(request).expect("requests are JSON");
    let messages = request["messages"].as_array().expect("requests have messages");
    let last = messages.last().expect("a request says something");
    last["text"].as_str().expect("a message is text").to_owned()
}

/// A file beside another, named after it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
