//! The definition of a plan, read from the copies beside it.
//!
//! The suite may change while its shards run, on machines that start at different times. Copies stand for the files that they were made from, so that
//! paths in them lead where they led when the plan was made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jurat_format::source::{Files, ReadError};
use jurat_store::Disk;

/// The files of a definition as they were when it was planned; whatever else is read from disk.
#[derive(Debug)]
pub struct CopiedDefinition {
    /// The file of the suite.
    pub main: PathBuf,
    pub(super) texts: HashMap<PathBuf, Vec<u8>>,
}

impl Files for CopiedDefinition {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.texts.get(path) {
            Some(text) => Ok(text.clone()),
            None => Disk.read(path, limit),
        }
    }

    fn recorded(&self, path: &Path) -> Option<Vec<u8>> {
        self.texts.get(path).cloned()
    }
}
