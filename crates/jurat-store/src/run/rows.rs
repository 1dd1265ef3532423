//! Rows that a run left in their files.
//!
//! A file whose size and time of change are those that the run saw is taken at its word. Otherwise a block's rows are read and
//! hashed: a file that has only grown still holds them.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::head::mtime_ns;
use super::stored::StoredBlock;
use super::{ByteRange, RowPlace, RunFileError, SourceHead};

/// The files that rows are in.
#[derive(Debug, Default)]
pub(super) struct RowFiles {
    open: HashMap<u32, RowFile>,
    /// Blocks whose rows were found to be as they were.
    proved: HashSet<i64>,
}

#[derive(Debug)]
struct RowFile {
    file: File,
    size: u64,
    is_unchanged: bool,
}

impl RowFile {
    /// Whether all bytes of a range are there. A run file may name any length: nothing is allocated for one that the file
    /// does not have.
    fn read(&self, offset: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let length = usize::try_from(length).ok().filter(|_| offset.saturating_add(length) <= self.size);
        let Some(length) = length else { return Ok(false) };
        bytes.resize(length, 0);
        match self.file.read_exact_at(bytes, offset) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl RowFiles {
    /// Whether a block's rows must be hashed before one of them is believed.
    pub(super) fn doubts(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        block: i64,
        place: RowPlace,
    ) -> Result<bool, RunFileError> {
        Ok(!self.file(sources, directory, place.source)?.is_unchanged && !self.proved.contains(&block))
    }

    /// Hashes the rows of these slots, hands each to `each`, and compares with what the run saw.
    pub(super) fn prove(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        block: &StoredBlock,
        slots: &[usize],
        each: &mut dyn FnMut(usize, Vec<u8>),
    ) -> Result<(), RunFileError> {
        let mut hasher = blake3::Hasher::new();
        for slot in slots {
            let place = block.places[*slot];
            let row = self.read(sources, directory, place)?;
            hasher.update(&xxh3_128(&row).to_be_bytes());
            each(*slot, row);
        }
        let is_same = slots.is_empty() || block.row_hash.as_deref() == Some(hasher.finalize().as_bytes());
        if !is_same {
            let first = slots.first().map_or(0, |slot| block.places[*slot].source);
            // Several files may have rows in a block; one that is known to have changed is named.
            let changed = slots.iter().map(|slot| block.places[*slot].source);
            let changed = changed.into_iter().find(|it| self.open.get(it).is_some_and(|it| !it.is_unchanged));
            return Err(RunFileError::SourceChanged { name: name(sources, changed.unwrap_or(first)) });
        }
        self.proved.insert(block.id);
        Ok(())
    }

    /// The bytes of a row.
    pub(super) fn read(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        place: RowPlace,
    ) -> Result<Vec<u8>, RunFileError> {
        let changed = || RunFileError::SourceChanged { name: name(sources, place.source) };
        let Some(ByteRange { offset, length }) = place.bytes else { return Err(changed()) };
        let mut bytes = Vec::new();
        match self.file(sources, directory, place.source)?.read(offset, u64::from(length), &mut bytes) {
            Ok(true) => Ok(bytes),
            // A file that has become shorter has changed.
            Ok(false) => Err(changed()),
            Err(source) => Err(RunFileError::SourceUnreadable { name: name(sources, place.source), source }),
        }
    }

    /// Reads a part of a source; whether all of it is there.
    pub(super) fn read_span(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        source: u32,
        span: &Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, RunFileError> {
        let file = self.file(sources, directory, source)?;
        Ok(file.read(span.start, span.end.saturating_sub(span.start), bytes).unwrap_or_default())
    }

    fn file(&mut self, sources: &[SourceHead], directory: &Path, source: u32) -> Result<&RowFile, RunFileError> {
        use std::collections::hash_map::Entry;
        match self.open.entry(source) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => {
                let unreadable = |error| RunFileError::SourceUnreadable { name: name(sources, source), source: error };
                let head = sources.get(source as usize).and_then(|it| it.file.as_ref());
                let head = head.ok_or_else(|| unreadable(io::Error::from(io::ErrorKind::NotFound)))?;
                let file = File::open(directory.join(&head.path)).map_err(unreadable)?;
                let metadata = file.metadata().map_err(unreadable)?;
                let is_unchanged = metadata.len() == head.size && mtime_ns(&metadata) == head.mtime_ns;
                Ok(vacant.insert(RowFile { file, size: metadata.len(), is_unchanged }))
            }
        }
    }
}

fn name(sources: &[SourceHead], source: u32) -> String {
    sources.get(source as usize).map_or_else(|| format!("source {source}"), |it| it.name.clone())
}
