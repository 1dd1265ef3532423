//! Reading no more of a file than was asked for, whatever it turns out to be.
//!
//! A size is a hint: a log grows while it is read. So the reading itself is bounded. A pipe without a writer would never end, and neither does
//! `/dev/zero`; only files are read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The most memory that is set aside on the word of a file's size.
const TRUSTED_SIZE: u64 = 1 << 20;

/// Opens a file for reading, and says how large it claims to be. Everything else is refused before it is opened: opening a named pipe waits
/// for a writer, and opening a device may do something to it.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    is_file(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    is_file(&metadata)?;
    Ok((file, metadata.len()))
}

fn is_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory, not a file"));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}, not a file", kind(metadata))))
}

#[cfg(unix)]
fn kind(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "something else"
}

/// What was read of a file.
pub(crate) enum Bytes {
    /// All there is.
    Whole(Vec<u8>),
    /// As much as was asked for; there is more.
    Start(Vec<u8>),
}

/// Reads `limit` bytes, or fewer when there are no more.
pub(crate) fn read_at_most(file: File, claimed_size: u64, limit: u64) -> io::Result<Bytes> {
    let expected = claimed_size.min(limit).min(TRUSTED_SIZE);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default() + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match usize::try_from(limit) {
        Ok(limit) if bytes.len() > limit => {
            bytes.truncate(limit);
            Ok(Bytes::Start(bytes))
        }
        _ => Ok(Bytes::Whole(bytes)),
    }
}
