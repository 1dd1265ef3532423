//! Who writes a run: one process at a time.
//!
//! The lock is on a file of its own beside the run, because SQLite's locks on the run itself are lost when any code in the process
//! closes it. The system drops the lock when the process dies, so a run that was killed can be resumed at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::database::{DatabaseError, beside};

/// The right to write a run, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    file: File,
}

impl Claim {
    /// Claims a run that no other process writes.
    pub(super) fn new(run: &Path) -> Result<Claim, DatabaseError> {
        let path = lock_path(run);
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(|it| DatabaseError::of_new(run, it))?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Claim { path, file }),
                // Its owner removed the file between our opening and our locking it.
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => return Err(DatabaseError::Busy { path: run.to_owned() }),
                Err(TryLockError::Error(error)) => return Err(DatabaseError::of_io(&path, error)),
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while it is still locked: after that another process may have it. A file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Whether a process is writing a run.
pub(super) fn is_claimed(run: &Path) -> bool {
    let Ok(file) = File::open(lock_path(run)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_path(run: &Path) -> PathBuf {
    beside(run, "-lock")
}

/// Whether the file that is open is the one that has the name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |it: std::fs::Metadata| (it.dev(), it.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
