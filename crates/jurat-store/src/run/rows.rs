//! Rows that a run left in their files.
//!
//! A file whose size and time of change are those that the run saw is taken at its word. Otherwise each row has to have the digest that the run recorded:
//! a file that has only grown still holds them all. Runs of earlier versions have one digest for all rows of a block, which are then compared together, once.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::head::mtime_ns;
use super::stored::{RowDigests, StoredBlock};
use super::{ByteRange, RowPlace, RunFileError, SourceHead};

/// How a row of a file is found to be the one that the run saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Its file has not changed.
    File,
    /// It has to have this digest.
    Digest(u128),
    /// The rows of its block have to have the digest of the block.
    Block,
}

/// The files that rows are in.
#[derive(Debug, Default)]
pub(super) struct RowFiles {
    open: HashMap<u32, RowFile>,
    /// The digests of the block that was looked at last: rows are mostly read in order.
    digests: Option<(i64, RowDigests)>,
    /// Whether the rows of blocks without digests were found to be as they were. What is not remembered is read again for each row.
    proved: HashMap<i64, bool>,
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
    /// How a row is found to be the one that the run saw; `digests` reads those of its block.
    pub(super) fn trust(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        block: i64,
        place: RowPlace,
        digests: impl FnOnce() -> Result<RowDigests, RunFileError>,
    ) -> Result<Trust, RunFileError> {
        if self.file(sources, directory, place.source)?.is_unchanged {
            return Ok(Trust::File);
        }
        if self.digests.as_ref().is_none_or(|it| it.0 != block) {
            self.digests = Some((block, digests()?));
        }
        let known = self.digests.as_ref().and_then(|it| it.1.as_ref());
        let digest = known.zip(place.bytes).and_then(|(known, bytes)| known.get(&(place.source, bytes.offset)));
        Ok(digest.map_or(Trust::Block, |it| Trust::Digest(*it)))
    }

    /// Whether the rows of a block were found to be as they were; `None` when they were not looked at.
    pub(super) fn is_proved(&self, block: i64) -> Option<bool> {
        self.proved.get(&block).copied()
    }

    /// What to say of a row that is another one now.
    pub(super) fn changed(sources: &[SourceHead], place: RowPlace) -> RunFileError {
        RunFileError::SourceChanged { name: name(sources, place.source) }
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
            let row = self.read(sources, directory, place).inspect_err(|_| {
                self.proved.insert(block.id, false);
            })?;
            hasher.update(&xxh3_128(&row).to_be_bytes());
            each(*slot, row);
        }
        let is_same = slots.is_empty() || block.row_hash.as_deref() == Some(hasher.finalize().as_bytes());
        self.proved.insert(block.id, is_same);
        if !is_same {
            let first = slots.first().map_or(0, |slot| block.places[*slot].source);
            // Several files may have rows in a block; one that is known to have changed is named.
            let changed = slots.iter().map(|slot| block.places[*slot].source);
            let changed = changed.into_iter().find(|it| self.open.get(it).is_some_and(|it| !it.is_unchanged));
            return Err(RunFileError::SourceChanged { name: name(sources, changed.unwrap_or(first)) });
        }
        Ok(())
    }

    /// The bytes of a row.
    pub(super) fn read(
        &mut self,
        sources: &[SourceHead],
        directory: &Path,
        place: RowPlace,
    ) -> Result<Vec<u8>, RunFileError> {
        let changed = || RowFiles::changed(sources, place);
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
