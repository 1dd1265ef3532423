//! The ids of a run in progress: sorted block by block, and merged at the end, with memory that does not grow.
//!
//! What is not in memory is in a file without a name. It is not part of the run: when a run is resumed after it was killed, its blocks are
//! made again, and their ids with them.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::block::IdHash;

/// The ids of all blocks so far.
#[derive(Debug)]
pub(super) struct IdRuns {
    path: PathBuf,
    file: Option<File>,
    in_file: u64,
    memory: Vec<u8>,
    runs: Vec<Sorted>,
    /// Ids that rows hold and that look like those that jurat numbers.
    pub(super) numbered: HashSet<String>,
}

/// The ids of one block, ascending.
#[derive(Debug)]
struct Sorted {
    /// Where they begin, in entries.
    start: u64,
    n: u64,
    taken: u64,
    /// The first that is not taken, when it is known.
    head: Option<Key>,
}

type Key = (u128, u64);

/// An entry with where it is from. The order of its members is the order of merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u128,
    /// The row, and in the lowest bit whether it holds the id.
    tail: u64,
    run: u32,
}

/// The bytes of an entry: hash and tail.
const ENTRY: usize = 24;
/// The most bytes that are held before they go to the file.
const MEMORY: usize = 128 << 10;
/// How many entries are put in order at a time.
const BATCH: usize = 1 << 14;

impl IdRuns {
    /// Nothing yet. The file, if there will be one, is beside this one.
    pub(super) fn new(path: &Path) -> IdRuns {
        IdRuns {
            path: crate::database::beside(path, "-ids"),
            file: None,
            in_file: 0,
            memory: Vec::new(),
            runs: Vec::new(),
            numbered: HashSet::new(),
        }
    }

    /// How many ids there are.
    pub(super) fn n_entries(&self) -> u64 {
        self.runs.iter().map(|it| it.n).sum()
    }

    /// Takes in the ids of a block, ascending and each once.
    pub(super) fn push(&mut self, entries: &[IdHash]) -> io::Result<()> {
        if self.memory.len() >= MEMORY {
            self.spill()?;
        }
        let start = (self.in_file + self.memory.len() as u64) / ENTRY as u64;
        self.memory.reserve_exact(entries.len() * ENTRY);
        for entry in entries {
            self.memory.extend_from_slice(&entry.hash.to_le_bytes());
            self.memory.extend_from_slice(&(entry.row << 1 | u64::from(entry.given)).to_le_bytes());
        }
        self.runs.push(Sorted { start, n: entries.len() as u64, taken: 0, head: None });
        Ok(())
    }

    /// Hands over all ids, ascending by hash, then by row. Where they are many, a second thread puts the next in order meanwhile.
    pub(super) fn merge<E: From<io::Error>>(self, each: &mut dyn FnMut(IdHash) -> Result<(), E>) -> Result<(), E> {
        let mut hand_over = |batch: Vec<Entry>| {
            batch.iter().try_for_each(|it| each(IdHash { hash: it.hash, row: it.tail >> 1, given: it.tail & 1 == 1 }))
        };
        if self.n_entries() <= BATCH as u64 {
            let mut failed = Ok(());
            self.in_order(&mut |batch| {
                failed = hand_over(batch);
                failed.is_ok()
            })?;
            return failed;
        }
        thread::scope(|scope| {
            let (batches, ready) = sync_channel(1);
            let sorting = scope.spawn(move || self.in_order(&mut |batch| batches.send(batch).is_ok()));
            // After an error there is no receiver, which ends the thread.
            ready.into_iter().try_for_each(hand_over)?;
            sorting.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(E::from)
        })
    }

    /// Puts all entries in order, some thousand at a time, until `each` refuses.
    fn in_order(mut self, each: &mut dyn FnMut(Vec<Entry>) -> bool) -> io::Result<()> {
        let total = self.n_entries();
        // Hashes are spread evenly, so equal parts of their range hold about equally many; a part that holds more is cut.
        let n_parts = u128::from(total / (BATCH as u64 / 2) + 1);
        let part = u128::MAX / n_parts;
        let piece = (BATCH / self.runs.len().max(1)).max(16);
        let mut done = 0;
        let mut low = 0_u128;
        while done < total {
            let high = low.checked_add(part).filter(|it| *it < u128::MAX).map(|it| (it, 0));
            let mut batch = Vec::with_capacity(BATCH);
            let bound = self.gather(high, piece, &mut batch)?;
            batch.sort_unstable();
            batch.iter().for_each(|it| self.runs[it.run as usize].taken += 1);
            done += batch.len() as u64;
            low = bound.map_or(u128::MAX, |it| it.0);
            if !each(batch) {
                break;
            }
        }
        Ok(())
    }

    /// Gathers the entries below a bound, and lowers the bound where there are too many. Returns it.
    fn gather(&mut self, mut bound: Option<Key>, piece: usize, batch: &mut Vec<Entry>) -> io::Result<Option<Key>> {
        batch.clear();
        let mut bytes = Vec::new();
        let below = |key: Key, bound: Option<Key>| bound.is_none_or(|it| key < it);
        for run in 0..self.runs.len() {
            let Sorted { start, n, taken, head } = self.runs[run];
            if head.is_some_and(|it| !below(it, bound)) {
                continue;
            }
            let mut at = taken;
            self.runs[run].head = None;
            'run: while at < n {
                self.read(start + at, piece.min((n - at) as usize), &mut bytes)?;
                for entry in bytes.chunks_exact(ENTRY) {
                    let (hash, tail) = entry.split_at(16);
                    let hash = u128::from_le_bytes(hash.try_into().expect("an entry begins with 16 bytes"));
                    let tail = u64::from_le_bytes(tail.try_into().expect("an entry ends with 8 bytes"));
                    if !below((hash, tail), bound) {
                        self.runs[run].head = Some((hash, tail));
                        break 'run;
                    }
                    batch.push(Entry { hash, tail, run: run as u32 });
                    at += 1;
                }
                if batch.len() > 2 * BATCH {
                    let (_, cut, _) = batch.select_nth_unstable(BATCH);
                    bound = Some((cut.hash, cut.tail));
                    batch.truncate(BATCH);
                    // What was found to come next may now come later than what was cut off.
                    self.runs.iter_mut().for_each(|it| it.head = None);
                    break;
                }
            }
        }
        Ok(bound)
    }

    /// Reads entries of one block.
    fn read(&mut self, start: u64, n: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        let at = start * ENTRY as u64;
        match (at.checked_sub(self.in_file), &mut self.file) {
            (None, Some(file)) => {
                bytes.resize(n * ENTRY, 0);
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(bytes)
            }
            (at, _) => {
                let at = at.unwrap_or_default() as usize;
                bytes.clear();
                bytes.extend_from_slice(&self.memory[at..at + n * ENTRY]);
                Ok(())
            }
        }
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&self.path)?;
                // Where a file can be used without a name it never stays behind.
                #[cfg(unix)]
                std::fs::remove_file(&self.path)?;
                none.insert(file)
            }
        };
        file.seek(SeekFrom::Start(self.in_file))?;
        file.write_all(&self.memory)?;
        self.in_file += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }
}

#[cfg(not(unix))]
impl Drop for IdRuns {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges blocks of the given ids; rows are numbered in the order in which they are given.
    fn merged(blocks: impl Iterator<Item = Vec<u128>>) -> (Vec<IdHash>, Vec<IdHash>) {
        let directory = tempfile::tempdir().expect("a directory");
        let mut runs = IdRuns::new(&directory.path().join("run"));
        let (mut all, mut row) = (Vec::new(), 0);
        for block in blocks {
            let mut entries = Vec::new();
            for hash in block {
                entries.push(IdHash { hash, row, given: row % 3 == 0 });
                row += 1;
            }
            entries.sort_unstable();
            runs.push(&entries).expect("room");
            all.extend(entries);
        }
        let mut merged = Vec::new();
        let mut each = |it| {
            merged.push(it);
            Ok::<(), io::Error>(())
        };
        runs.merge(&mut each).expect("a merge");
        all.sort_unstable();
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0, "nothing stays behind");
        (merged, all)
    }

    /// Numbers without a pattern, the same each time.
    fn scattered(n: u64) -> impl Iterator<Item = u128> {
        (0..n).map(|it| xxhash_rust::xxh3::xxh3_128(&it.to_le_bytes()))
    }

    #[test]
    fn ids_come_out_in_order_from_memory_and_file() {
        let hashes: Vec<u128> = scattered(200_000).collect();
        let (merged, all) = merged(hashes.chunks(4096).map(<[u128]>::to_vec));
        assert!(merged == all);
    }

    #[test]
    fn ids_that_are_all_alike_are_no_exception() {
        let (merged, all) = merged((0..50).map(|_| vec![7; 4096]));
        assert!(merged == all);
        let mixed = scattered(100).map(|it| [vec![it; 2], vec![5; 3000]].concat());
        let (merged, all) = self::merged(mixed);
        assert!(merged == all);
    }

    #[test]
    fn few_ids_are_merged_too() {
        let (merged, all) = merged([vec![u128::MAX, 0, 3], vec![], vec![u128::MAX]].into_iter());
        assert_eq!(merged, all);
        assert_eq!(self::merged(std::iter::empty()).0, []);
    }
}
