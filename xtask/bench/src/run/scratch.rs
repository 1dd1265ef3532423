//! A directory for data and run files, on the disk that builds are on, gone when the chore ends.

use std::fs;
use std::path::{Path, PathBuf};

use chores::chore::Failure;
use chores::program;

/// The directory. Dropping it removes it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Empties what an earlier chore may have left when it was killed.
    pub(super) fn new() -> Result<Scratch, Failure> {
        let scratch = Scratch(program::target_directory().join("bench-run"));
        scratch.empty()?;
        Ok(scratch)
    }

    /// Removes everything in it.
    pub(super) fn empty(&self) -> Result<(), Failure> {
        emptied(&self.0)
    }

    /// An empty directory of this name.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        emptied(&path)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("note: cannot remove {}: {error}", self.0.display());
        }
    }
}

/// Makes a directory, or makes it empty.
pub(super) fn emptied(path: &Path) -> Result<(), Failure> {
    let removed = if path.exists() { fs::remove_dir_all(path) } else { Ok(()) };
    removed
        .and_then(|()| fs::create_dir_all(path))
        .map_err(|error| Failure::new(format!("cannot make {} a new directory: {error}", path.display())))
}

/// Writes a file, and the directories above it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, content));
    made.map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}
