//! One run made from its shards.
//!
//! Blocks are copied in the order of the shards. What changes is what counts from the beginning of the run: the numbers of cases and rows, and those of
//! effects. Ids are put in order anew, so that a given id in two shards is found, and rows of equal content are numbered as in one process. Memory holds a
//! block, and the numbers of the effects of one shard.

use std::collections::HashMap;
use std::path::Path;

use jurat_core::plan::{CaseIx, VariantCount};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};
use xxhash_rust::xxh3::Xxh3;

use super::block::{Block, Chunk, IdHash};
use super::claim::Claim;
use super::error::FinishError;
use super::file::RunFile;
use super::identity::{self, Ids, id_hash, numbered_content_id};
use super::reader::read_summary;
use super::stored::{n_slots, read_cases};
use super::writer::Message;
use super::{
    Column, FinishState, RunFileError, RunHead, RunReader, SummaryRow, WriteError, WriterOptions, place, stats,
};
use crate::database::{DatabaseError, Fault};
use crate::packed::{Unreadable, opened, sealed};
use crate::records::RowId;

/// A run that is made from shards.
#[derive(Debug)]
pub struct RunMerge {
    file: RunFile,
    _claim: Claim,
    n_variants: VariantCount,
    shared: SharedEffects,
}

/// How far the numbers of a shard are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shift {
    /// How many rows all shards before it have.
    pub rows: u64,
    /// How many of them are of the same source.
    pub rows_of_source: u64,
}

impl RunMerge {
    /// Begins a run in a new file.
    pub fn create(path: &Path, head: &RunHead) -> Result<RunMerge, RunFileError> {
        let claim = Claim::new(path)?;
        let file = RunFile::create(path, head, WriterOptions::default())?;
        Ok(RunMerge { file, _claim: claim, n_variants: head.n_variants(), shared: SharedEffects::new() })
    }

    /// Appends a shard.
    pub fn add(&mut self, shard: &RunReader, shift: Shift) -> Result<(), RunFileError> {
        let (connection, path) = (shard.reading().connection, shard.path().to_owned());
        let RunMerge { file, n_variants, shared, .. } = self;
        let copy = |file: &mut RunFile| -> Result<(), Fault> {
            let mut blocks = connection.prepare("SELECT id FROM block ORDER BY first, id")?;
            let blocks: Vec<i64> = blocks.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            for id in blocks {
                let block = moved_block(connection, id, *n_variants, shift)?;
                file.insert(&Message::Block(Box::new(block)))?;
            }
            for summary in read_summary(connection)? {
                file.add_counts(summary.column, &summary.slice, &summary.counts)?;
            }
            let cases = n_variants.first(shift.rows).number();
            copy_effects(connection, file, shared, cases)?;
            copy_events(connection, file)
        };
        // What cannot be read is a mistake of the shard; what cannot be written says so itself.
        file.transaction_with(copy).map_err(|it| it.at(&path, "the shard"))?;
        let counted = shard.sqlite(super::reader::meta(connection, stats::META))?;
        file.add_effect_counts(counted.as_deref());
        Ok(())
    }

    /// Writes rows of the summary that are not counted from verdicts, and ends the run.
    pub fn finish(mut self, state: FinishState, summary: &[SummaryRow], merged_from: &str) -> Result<(), FinishError> {
        let write = |file: &mut RunFile| -> Result<(), Fault> {
            summary.iter().try_for_each(|it| file.put_summary(it))?;
            Ok(file.put_meta(MERGED_FROM, merged_from)?)
        };
        self.file.transaction(write).map_err(WriteError::from)?;
        match self.file.finish(state).map_err(WriteError::from)? {
            None => Ok(()),
            Some(duplicates) => Err(duplicates.into()),
        }
    }
}

/// Where a merged run says what it was made from, in `meta`.
pub(super) const MERGED_FROM: &str = "merged_from";

impl RunReader {
    /// What a merged run was made from, as JSON; `None` for any other run.
    pub fn merged_from(&self) -> Result<Option<String>, RunFileError> {
        self.sqlite(super::reader::meta(self.reading().connection, MERGED_FROM))
    }
}

/// A block with its cases and rows counted from the beginning of the whole.
fn moved_block(connection: &Connection, id: i64, n_variants: VariantCount, shift: Shift) -> Result<Block, Fault> {
    let select = "SELECT first, last, n, row_hash, cases, took, places, ids, rows, questions FROM block WHERE id = ?1";
    let mut select = connection.prepare_cached(select)?;
    let mut rows = select.query([id])?;
    let row = rows.next()?.ok_or(Unreadable::Damaged)?;
    let by = n_variants.first(shift.rows).number();
    let (first, last): (u64, u64) = (row.get(0)?, row.get(1)?);
    let n = n_slots(row.get(2)?)?;
    let cases = whole(row, 4)?;
    let ids = whole(row, 7)?.ok_or(Unreadable::Damaged)?;
    let places = whole(row, 6)?.ok_or(Unreadable::Damaged)?;
    let numbers = match &cases {
        Some(cases) => read_cases(cases, first, n)?,
        None => (first..first.saturating_add(n as u64)).collect(),
    };
    let moved = |case: u64| case.checked_add(by).ok_or(Unreadable::Damaged);
    let read = identity::read(&ids, n)?;
    let (id_entries, numbered_ids) = entries(&read, &numbers, by, n_variants);
    Ok(Block {
        first: moved(first)?,
        last: moved(last)?,
        n,
        cases,
        places: moved_places(&places, n, shift.rows_of_source)?,
        row_hash: row.get(3)?,
        rows: whole(row, 8)?.unwrap_or_default(),
        questions: whole(row, 9)?,
        ids,
        took: whole(row, 5)?,
        codes: columns(connection, "SELECT task, codes FROM verdicts WHERE block = ?1 ORDER BY task", id)?,
        scores: columns(connection, "SELECT task, body FROM scores WHERE block = ?1 ORDER BY task", id)?,
        labels: columns(connection, "SELECT task, body FROM labels WHERE block = ?1 ORDER BY task", id)?,
        groups: pairs(connection, "SELECT path, body FROM grouping WHERE block = ?1 ORDER BY path", id)?,
        taken: pairs::<i64>(connection, "SELECT block, body FROM taken WHERE block = ?1", id)?.pop().map(|it| it.1),
        details: chunks(connection, "SELECT first_slot, body FROM detail WHERE block = ?1 ORDER BY first_slot", id)?,
        evidence: chunks(connection, "SELECT first_slot, body FROM evidence WHERE block = ?1 ORDER BY first_slot", id)?,
        // They are in the summary of the shard.
        counts: Vec::new(),
        id_entries,
        numbered_ids,
    })
}

/// The bytes of a column, when they are those that were written.
fn whole(row: &Row<'_>, ix: usize) -> Result<Option<Vec<u8>>, Fault> {
    let bytes: Option<Vec<u8>> = row.get(ix)?;
    if let Some(bytes) = &bytes {
        opened(bytes)?;
    }
    Ok(bytes)
}

/// Values by their names, as they are stored.
fn pairs<K: rusqlite::types::FromSql>(
    connection: &Connection,
    select: &str,
    block: i64,
) -> Result<Vec<(K, Vec<u8>)>, Fault> {
    let mut select = connection.prepare_cached(select)?;
    let mut rows = select.query([block])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, whole(row, 1)?.ok_or(Unreadable::Damaged)?));
    }
    Ok(found)
}

fn columns(connection: &Connection, select: &str, block: i64) -> Result<Vec<(Column, Vec<u8>)>, Fault> {
    Ok(pairs::<u32>(connection, select, block)?.into_iter().map(|(task, body)| (Column(task), body)).collect())
}

fn chunks(connection: &Connection, select: &str, block: i64) -> Result<Vec<Chunk>, Fault> {
    let chunks = pairs::<u64>(connection, select, block)?.into_iter();
    chunks.map(|(slot, body)| Ok(Chunk { first_slot: n_slots(slot)?, body })).collect()
}

/// The places of rows, counted from the beginning of their source.
fn moved_places(stored: &[u8], n: usize, by: u64) -> Result<Vec<u8>, Fault> {
    if by == 0 {
        return Ok(stored.to_vec());
    }
    let mut places = place::read(stored, n)?;
    for place in &mut places {
        place.number = place.number.checked_add(by).ok_or(Unreadable::Damaged)?;
    }
    Ok(sealed(&place::write(places.into_iter())))
}

/// The hashes of ids with their rows, ascending, and the ids that look like those that jurat numbers.
fn entries(ids: &Ids, cases: &[u64], by: u64, n_variants: VariantCount) -> (Vec<IdHash>, Vec<String>) {
    let (mut entries, mut numbered) = (Vec::with_capacity(cases.len()), Vec::new());
    for (slot, case) in cases.iter().enumerate() {
        let id = ids.get(slot);
        let row = n_variants.place(CaseIx::numbered(case.saturating_add(by)));
        let given = match &id {
            RowId::Given(text) => {
                numbered.extend(numbered_content_id(text).map(|_| text.to_string()));
                true
            }
            RowId::Content(_) => false,
        };
        entries.push(IdHash { hash: id_hash(&id), row, given });
    }
    entries.sort_unstable();
    entries.dedup();
    (entries, numbered)
}

/// Copies effects with their sites and what was sent with them. Equal effects are stored once where they are near each other.
fn copy_effects(connection: &Connection, file: &mut RunFile, shared: &mut SharedEffects, by: u64) -> Result<(), Fault> {
    let mut numbers: HashMap<i64, i64> = HashMap::new();
    let mut select = connection
        .prepare("SELECT id, key8, key, kind, model, served, at_ms, request, outcome FROM effect ORDER BY id")?;
    let mut rows = select.query([])?;
    let into = file.connection();
    let mut insert = into.prepare_cached(
        "INSERT INTO effect (key8, key, kind, model, served, at_ms, request, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    while let Some(row) = rows.next()? {
        let (key, outcome): ([u8; 32], Value) = (row.get(2)?, row.get(8)?);
        let hash = SharedEffects::hash(&key, &outcome);
        let id = match shared.get(hash) {
            Some(id) => id,
            None => {
                let (kind, model, served): (String, String, Option<String>) = (row.get(3)?, row.get(4)?, row.get(5)?);
                let (key8, at_ms, request): (i64, i64, Value) = (row.get(1)?, row.get(6)?, row.get(7)?);
                let id = insert.insert(params![key8, key, kind, model, served, at_ms, request, outcome])?;
                shared.put(hash, id);
                id
            }
        };
        numbers.insert(row.get(0)?, id);
    }
    let mut select = connection
        .prepare("SELECT case_ix, task, seat, turn, attempt, effect, reused FROM site ORDER BY case_ix, task, seat, turn, attempt")?;
    let mut rows = select.query([])?;
    let mut insert = into.prepare_cached(
        "INSERT INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    while let Some(row) = rows.next()? {
        let (case, effect): (u64, i64) = (row.get(0)?, row.get(5)?);
        let case = case.checked_add(by).ok_or(Unreadable::Damaged)?;
        let effect = numbers.get(&effect).ok_or(Unreadable::Damaged)?;
        let site: [i64; 4] = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
        let reused: i64 = row.get(6)?;
        insert.execute(params![case, site[0], site[1], site[2], site[3], effect, reused])?;
    }
    let mut select = connection.prepare("SELECT digest, body FROM media ORDER BY digest")?;
    let mut rows = select.query([])?;
    let mut insert = into.prepare_cached("INSERT OR IGNORE INTO media (digest, body) VALUES (?1, ?2)")?;
    while let Some(row) = rows.next()? {
        let (digest, body): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
        insert.execute(params![digest, body])?;
    }
    Ok(())
}

fn copy_events(connection: &Connection, file: &RunFile) -> Result<(), Fault> {
    let mut select = connection.prepare("SELECT at_ms, body FROM event ORDER BY id")?;
    let mut rows = select.query([])?;
    let mut insert = file.connection().prepare_cached("INSERT INTO event (at_ms, body) VALUES (?1, ?2)")?;
    while let Some(row) = rows.next()? {
        let (at_ms, body): (i64, String) = (row.get(0)?, row.get(1)?);
        insert.execute(params![at_ms, body])?;
    }
    Ok(())
}

/// Effects that were copied, found by their content. It forgets: each has one place, which the next that falls there takes.
#[derive(Debug)]
struct SharedEffects(Box<[Option<(u128, i64)>]>);

impl SharedEffects {
    const PLACES: usize = 1 << 16;

    fn new() -> SharedEffects {
        SharedEffects(vec![None; SharedEffects::PLACES].into())
    }

    fn hash(key: &[u8], outcome: &Value) -> u128 {
        let mut hasher = Xxh3::new();
        hasher.update(key);
        match outcome {
            Value::Text(text) => hasher.update(text.as_bytes()),
            Value::Blob(bytes) => hasher.update(bytes),
            Value::Null | Value::Integer(_) | Value::Real(_) => {}
        }
        hasher.digest128()
    }

    fn get(&self, hash: u128) -> Option<i64> {
        self.0[SharedEffects::place(hash)].filter(|it| it.0 == hash).map(|it| it.1)
    }

    fn put(&mut self, hash: u128, id: i64) {
        self.0[SharedEffects::place(hash)] = Some((hash, id));
    }

    fn place(hash: u128) -> usize {
        hash as usize % SharedEffects::PLACES
    }
}

impl From<DatabaseError> for FinishError {
    fn from(error: DatabaseError) -> FinishError {
        FinishError::Write(error.into())
    }
}
