//! Finding the run that a command should go on with.

use std::path::{Path, PathBuf};

use super::RunFileError;
use super::claim::is_claimed;
use super::reader::meta;
use super::schema::RUN;
use crate::database::DatabaseError;

/// How many runs are looked at, the newest first. Looking into each costs time before the first case, and answers that were paid for in
/// older runs are in the journal.
const NEWEST: usize = 64;

/// The newest run in a directory with this key that was killed or stopped and that nobody is writing; `None` when the newest with this key
/// is complete. Files that are not runs, or cannot be read, are passed over.
pub fn unfinished(directory: &Path, resume_key: &str) -> Result<Option<PathBuf>, RunFileError> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|it| DatabaseError::of_io(directory, it))?,
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|it| Some(it.ok()?.path()))
        .filter(|it| it.extension().is_some_and(|it| it == "jurat"))
        .collect();
    // Names begin with a time.
    paths.sort();
    let newest = paths.into_iter().rev().take(NEWEST);
    let found = newest.filter_map(|path| Some((is_resumable(&path, resume_key)?, path))).next();
    Ok(found.and_then(|(is_resumable, path)| is_resumable.then_some(path)))
}

/// Whether a run with this key can be gone on with; `None` when it has another key, cannot be read, or is being written.
fn is_resumable(path: &Path, resume_key: &str) -> Option<bool> {
    let connection = RUN.open_to_read(path).ok()?;
    let meta = |key| meta(&connection, key).ok().flatten();
    if meta("resume_key").as_deref() != Some(resume_key) || is_claimed(path) {
        return None;
    }
    Some(meta("ended").is_none() || meta("resumable").as_deref() == Some("1"))
}
