//! The files of a definition, from disk.

use std::io;
use std::path::Path;

use jurat_format::source::{Files, ReadError};

use crate::bounded::{Bytes, open, read_at_most};

/// Reads the files of a definition from disk. Paths are taken as they are: relative ones start at the current directory.
///
/// ```
/// use std::path::Path;
///
/// use jurat_format::source::{Files, ReadError};
/// use jurat_store::Disk;
///
/// assert_eq!(Disk.read(Path::new("no/such/suite.yaml"), 1 << 20), Err(ReadError::NotFound));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let (file, size) = open(path).map_err(|it| read_error(&it))?;
        if size > limit {
            return Err(ReadError::TooLarge { size, limit });
        }
        match read_at_most(file, size, limit).map_err(|it| read_error(&it))? {
            Bytes::Whole(bytes) => Ok(bytes),
            Bytes::Start(_) => Err(ReadError::TooLarge { size: limit.saturating_add(1), limit }),
        }
    }
}

// Not a `From`: both types belong to others. The core's error is compared in tests and cloned into problems, so it keeps
// the system's words and not the error itself.
fn read_error(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
        _ => ReadError::Other(error.to_string()),
    }
}
