//! Finding the run that a command should resume.

use std::path::{Path, PathBuf};

use jurat_core::verdict::StopReason;

use super::RunFileError;
use super::claim::is_claimed;
use super::reader::meta;
use super::schema::RUN;
use crate::database::DatabaseError;

/// How many runs are looked at, the newest first. Looking into each costs time before the first case, and answers that were paid for in
/// older runs are in the journal.
const NEWEST: usize = 64;

/// Which runs a command resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumes {
    /// Those that were killed or stopped before their end.
    Unfinished,
    /// Also those that stopped because enough was known.
    Decided,
}

/// The newest run in a directory with this key that is to be resumed and that no process is writing; `None` when the newest with this key
/// is complete. Files that are not runs, or cannot be read, are passed over.
pub fn unfinished(directory: &Path, resume_key: &str, resumes: Resumes) -> Result<Option<PathBuf>, RunFileError> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|it| DatabaseError::of_io(directory, it))?,
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|it| Some(it.ok()?.path()))
        .filter(|it| it.extension().is_some_and(|it| it == "jurat"))
        .collect();
    // Names begin with a time in seconds; which of the same second is the newest stands in the runs themselves.
    paths.sort();
    let mut second = None;
    let newest = paths.into_iter().rev().take(NEWEST).map_while(|path| {
        if second.as_ref().is_some_and(|it| *it != second_of(&path)) {
            return None;
        }
        let found = Found::look(&path, resume_key, resumes);
        if found.is_some() {
            second = Some(second_of(&path));
        }
        Some(found.map(|it| (it, path)))
    });
    let newest = newest.flatten().max_by_key(|(found, _)| *found);
    Ok(newest.and_then(|(found, path)| found.is_resumable.then_some(path)))
}

/// Whether a process was killed between making the file of a run and writing its beginning. A run that is just being begun is none of these.
pub(crate) fn never_began(path: &Path) -> bool {
    let is_without_head = match RUN.open_to_read(path) {
        Ok(connection) => matches!(meta(&connection, "created_at_ms"), Ok(None)),
        Err(DatabaseError::Foreign { .. }) => is_blank(path),
        Err(_) => false,
    };
    is_without_head && !is_claimed(path)
}

/// Whether a file has nothing in it, or is a database that nothing was committed to.
fn is_blank(path: &Path) -> bool {
    const PAGE: u64 = 8192;
    let is_small = std::fs::metadata(path).is_ok_and(|it| it.len() <= PAGE);
    is_small && std::fs::read(path).is_ok_and(|it| it.is_empty() || it.starts_with(b"SQLite format 3\0"))
}

/// A run with the key that is looked for; the newest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    created_at_ms: u64,
    is_resumable: bool,
}

impl Found {
    /// `None` when it has another key, cannot be read, or is being written.
    fn look(path: &Path, resume_key: &str, resumes: Resumes) -> Option<Found> {
        let connection = RUN.open_to_read(path).ok()?;
        let meta = |key| meta(&connection, key).ok().flatten();
        if meta("resume_key").as_deref() != Some(resume_key) || is_claimed(path) {
            return None;
        }
        let ended = meta("ended");
        let is_decided = resumes == Resumes::Decided && ended.as_deref() == Some(StopReason::Decided.name());
        Some(Found {
            created_at_ms: meta("created_at_ms").and_then(|it| it.parse().ok()).unwrap_or(0),
            is_resumable: ended.is_none() || is_decided || meta("resumable").as_deref() == Some("1"),
        })
    }
}

/// The time that the name of a run begins with.
fn second_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    name.split('_').next().map(str::to_owned)
}
