//! The batches that were submitted and whose results are not all stored yet: a file each, so that a run that is killed finds them again.
//!
//! A file is written before its batch is submitted, and once more with the id that the provider gave it. It is removed when the results are committed.
//! Files hold the keys of requests and nothing of what they say.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A batch, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Its name in the project, and that of its file.
    pub(super) token: String,
    /// The provider's id for it; `None` while it is being submitted.
    pub(super) id: Option<String>,
    pub(super) created_at_ms: u64,
    pub(super) model: String,
    /// Where its requests would be sent by themselves.
    pub(super) path: String,
    pub(super) keys: Vec<String>,
}

/// Results are with their provider for about a month; what is older cannot be collected.
const RETAINED_MS: u64 = 31 * 24 * 3600 * 1000;

/// The directory of the files.
#[derive(Debug)]
pub(super) struct Ledger(PathBuf);

impl Ledger {
    /// Reads the batches of earlier runs, the oldest first. What cannot be read is left alone: it was cut off while it was written, before its batch was
    /// submitted, or it is from another version.
    pub(super) fn open(directory: &Path, now_ms: u64) -> io::Result<(Ledger, Vec<Record>)> {
        fs::create_dir_all(directory)?;
        let mut records: Vec<Record> = Vec::new();
        for file in fs::read_dir(directory)? {
            let path = file?.path();
            let text = if path.extension().is_some_and(|it| it == EXTENSION) { fs::read(&path)? } else { continue };
            let Ok(record) = serde_json::from_slice::<Record>(&text) else { continue };
            if record.created_at_ms.saturating_add(RETAINED_MS) < now_ms {
                fs::remove_file(&path)?;
            } else {
                records.push(record);
            }
        }
        records.sort_by(|one, other| (one.created_at_ms, &one.token).cmp(&(other.created_at_ms, &other.token)));
        Ok((Ledger(directory.to_owned()), records))
    }

    /// Writes a record, and returns when it is on disk.
    pub(super) fn write(&self, record: &Record) -> io::Result<()> {
        let path = self.path(&record.token);
        let beside = path.with_extension("new");
        let mut file = File::create(&beside)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        // The name is on disk when its directory is. Elsewhere than on Unix a directory cannot be opened.
        if cfg!(unix) { File::open(&self.0)?.sync_all() } else { Ok(()) }
    }

    /// Removes a record. One that stays is read again, which costs time and nothing else.
    pub(super) fn remove(&self, token: &str) {
        let _ = fs::remove_file(self.path(token));
    }

    fn path(&self, token: &str) -> PathBuf {
        self.0.join(token).with_extension(EXTENSION)
    }
}

const EXTENSION: &str = "json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_until_it_is_removed_or_too_old() {
        let folder = tempfile::tempdir().expect("there is room for files");
        let record = |token: &str, created_at_ms| Record {
            token: token.to_owned(),
            id: None,
            created_at_ms,
            model: "m".to_owned(),
            path: "/x".to_owned(),
            keys: vec!["k".to_owned()],
        };
        let (ledger, before) = Ledger::open(folder.path(), 0).expect("the directory can be made");
        assert_eq!(before, []);
        let named = Record { id: Some("b".to_owned()), ..record("one", 7) };
        for it in [&record("one", 7), &named, &record("two", 5), &record("old", 1)] {
            ledger.write(it).expect("records can be written");
        }
        fs::write(folder.path().join("cut.json"), "{\"token\": \"cu").expect("files can be written");
        let (_, read) = Ledger::open(folder.path(), RETAINED_MS + 5).expect("the directory can be read");
        assert_eq!(read, [record("two", 5), named]);
        ledger.remove("one");
        assert_eq!(Ledger::open(folder.path(), 0).expect("the directory can be read").1, [record("two", 5)]);
    }
}
