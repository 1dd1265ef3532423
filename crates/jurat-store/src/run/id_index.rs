//! All ids of a run in order of their hashes, in pages: for finding a case by its id, and for comparing two runs.

use std::collections::{BinaryHeap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::block::IdHash;
use super::identity::{numbered_content_id, shown_id, text_hash};
use crate::database::Fault;
use crate::packed::{Bytes, PLAIN, Unreadable, sealed};
use crate::records::RowId;

/// How many ids a page has: as many as fit into a page of the database whatever the width of a row number.
const PAGE: usize = 320;
/// How many duplicates are named.
const EXAMPLES: usize = 10;

/// Writes the index from ids that come in order.
pub(super) struct IndexWriter<'c> {
    connection: &'c Connection,
    /// Ids that are taken although no hash says so.
    numbered: HashSet<String>,
    page: Vec<(u128, u64)>,
    group: Option<Group>,
    duplicates: Duplicates,
}

/// Rows whose id a row before them holds.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    pub(super) n: u64,
    /// The first of them, each with the first row that has the id.
    pub(super) examples: BinaryHeap<(u64, u64)>,
}

/// The rows with one hash.
struct Group {
    hash: u128,
    first_row: u64,
    last_row: u64,
    /// The last number that was given.
    number: u64,
}

impl<'c> IndexWriter<'c> {
    pub(super) fn new(connection: &'c Connection, numbered: HashSet<String>) -> IndexWriter<'c> {
        IndexWriter { connection, numbered, page: Vec::new(), group: None, duplicates: Duplicates::default() }
    }

    /// Takes in the next id.
    pub(super) fn push(&mut self, id: IdHash) -> rusqlite::Result<()> {
        let Some(group) = self.group.as_mut().filter(|it| it.hash == id.hash) else {
            self.group = Some(Group { hash: id.hash, first_row: id.row, last_row: id.row, number: 1 });
            return self.put(id);
        };
        // The cases of a row may lie in several blocks.
        if group.last_row == id.row {
            return Ok(());
        }
        group.last_row = id.row;
        if id.given {
            self.duplicates.push(id.row, group.first_row);
            return Ok(());
        }
        // A row may hold an id that looks like a numbered one; then the next number is taken.
        loop {
            group.number += 1;
            let is_taken = !self.numbered.is_empty()
                && self.numbered.contains(&shown_id(&RowId::Content(id.hash), Some(group.number)));
            if !is_taken {
                break;
            }
        }
        let mut insert =
            self.connection.prepare_cached("INSERT INTO repeated (row, hash, number) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![id.row, id.hash.to_be_bytes(), group.number])?;
        Ok(())
    }

    /// Writes what is left, and says which rows share an id.
    pub(super) fn finish(mut self) -> rusqlite::Result<Duplicates> {
        self.write_page()?;
        Ok(self.duplicates)
    }

    fn put(&mut self, id: IdHash) -> rusqlite::Result<()> {
        self.page.push((id.hash, id.row));
        if self.page.len() == PAGE { self.write_page() } else { Ok(()) }
    }

    fn write_page(&mut self) -> rusqlite::Result<()> {
        let Some((first, _)) = self.page.first() else { return Ok(()) };
        let mut insert = self.connection.prepare_cached("INSERT INTO id_page (first_hash, body) VALUES (?1, ?2)")?;
        insert.execute(params![order(*first), sealed(&page(&self.page))])?;
        self.page.clear();
        Ok(())
    }
}

impl Duplicates {
    fn push(&mut self, row: u64, first_row: u64) {
        self.n += 1;
        self.examples.push((row, first_row));
        if self.examples.len() > EXAMPLES {
            self.examples.pop();
        }
    }
}

/// The row with this id.
pub(super) fn find(connection: &Connection, id: &str) -> Result<Option<u64>, Fault> {
    if let Some(row) = find_hash(connection, text_hash(id))? {
        return Ok(Some(row));
    }
    let Some((hash, number)) = numbered_content_id(id) else { return Ok(None) };
    let mut select = connection.prepare_cached("SELECT row FROM repeated WHERE hash = ?1 AND number = ?2")?;
    Ok(select.query_row(params![hash.to_be_bytes(), number], |row| row.get(0)).optional()?)
}

fn find_hash(connection: &Connection, hash: u128) -> Result<Option<u64>, Fault> {
    // Pages that begin with equal orders are possible, so the search starts at the last page that begins before.
    let mut before =
        connection.prepare_cached("SELECT id FROM id_page WHERE first_hash < ?1 ORDER BY first_hash DESC LIMIT 1")?;
    let start: i64 = before.query_row([order(hash)], |row| row.get(0)).optional()?.unwrap_or(0);
    let mut pages =
        connection.prepare_cached("SELECT body FROM id_page WHERE id >= ?1 AND first_hash <= ?2 ORDER BY id")?;
    let mut pages = pages.query(params![start, order(hash)])?;
    while let Some(row) = pages.next()? {
        let body = row.get_ref(0)?.as_blob().map_err(|_| Unreadable::Damaged)?;
        if let Some(row) = find_in_page(body, hash)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// A hash as SQLite orders it: its highest 63 bits.
fn order(hash: u128) -> i64 {
    (hash >> 65) as i64
}

/// A page: how many bytes a row number has; the hashes, the highest byte first; the rows, the lowest byte first.
fn page(entries: &[(u128, u64)]) -> Vec<u8> {
    let largest = entries.iter().map(|it| it.1).max().unwrap_or_default();
    let width = (8 - largest.leading_zeros() as usize / 8).max(1);
    let mut bytes = Vec::with_capacity(2 + entries.len() * (16 + width));
    bytes.extend([PLAIN, width as u8]);
    entries.iter().for_each(|it| bytes.extend_from_slice(&it.0.to_be_bytes()));
    entries.iter().for_each(|it| bytes.extend_from_slice(&it.1.to_le_bytes()[..width]));
    bytes
}

/// The ids of a page: hashes with rows.
pub(super) fn read_page(body: &[u8]) -> Result<Vec<(u128, u64)>, Unreadable> {
    let mut bytes = Bytes::of_plain(body)?;
    let [width] = bytes.array()?;
    let width = usize::from(width);
    if !(1..=8).contains(&width) || bytes.0.len() % (16 + width) != 0 {
        return Err(Unreadable::Damaged);
    }
    let n = bytes.0.len() / (16 + width);
    let (hashes, rows) = bytes.0.split_at(n * 16);
    let hash = |it: &[u8]| u128::from_be_bytes(it.try_into().expect("a hash has 16 bytes"));
    let row = |it: &[u8]| it.iter().rev().fold(0, |row, byte| row << 8 | u64::from(*byte));
    Ok(hashes.chunks_exact(16).map(hash).zip(rows.chunks_exact(width).map(row)).collect())
}

fn find_in_page(body: &[u8], hash: u128) -> Result<Option<u64>, Unreadable> {
    let entries = read_page(body)?;
    Ok(entries.binary_search_by_key(&hash, |it| it.0).ok().map(|ix| entries[ix].1))
}
