//! Taking the answers of segments into the journal of a project.
//!
//! An answer is known by its request, its time and what it says. One that is there already is not written again, so the order in which segments are added does not
//! matter, nor how often.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, params};

use super::places::{self, Unsorted};
use super::{Journal, JournalWriter, PaidAnswer, SegmentReader, insert};
use crate::database::DatabaseError;
use crate::effects::{PackedEffect, RecordedEffect, StoredText};
use crate::packed::Packer;

/// How many answers share a transaction.
const BATCH: usize = 512;

/// What was added to a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// How many responses are new.
    pub new: u64,
    /// How many were there already.
    pub known: u64,
    /// How many segments were read.
    pub segments: u64,
    /// How many of them could not be read to their end: a process was killed while it wrote, or bytes changed.
    pub damaged: u64,
}

impl Journal {
    /// Takes the answers of segments; a segment that is damaged is read up to the damage.
    pub fn add_segments(&self, files: &[PathBuf]) -> Result<Added, DatabaseError> {
        let (mut writer, mut packer) = (self.writer(false)?, Packer::new());
        let mut added = Added { segments: files.len() as u64, ..Added::default() };
        let mut batch = BTreeSet::new();
        for path in files {
            let of_io = |it| DatabaseError::of_io(path, it);
            let Some(mut reader) = SegmentReader::open(path).map_err(of_io)? else {
                added.damaged += 1;
                continue;
            };
            for answer in reader.by_ref() {
                if !batch.insert(answer.map_err(of_io)?) {
                    added.known += 1;
                }
                if batch.len() == BATCH {
                    added.count(&mut writer, std::mem::take(&mut batch), &mut packer)?;
                }
            }
            added.damaged += u64::from(reader.is_damaged());
        }
        added.count(&mut writer, batch, &mut packer)?;
        Ok(added)
    }
}

impl Added {
    fn count(
        &mut self,
        writer: &mut JournalWriter,
        batch: BTreeSet<PaidAnswer>,
        packer: &mut Packer,
    ) -> Result<(), DatabaseError> {
        let effects: Vec<RecordedEffect> = batch.into_iter().map(PaidAnswer::into_effect).collect();
        let packed: Vec<PackedEffect<'_>> = effects.iter().map(|it| PackedEffect::of(it, packer)).collect();
        let new = writer.write_new(&packed)? as u64;
        self.new += new;
        self.known += effects.len() as u64 - new;
        Ok(())
    }
}

impl JournalWriter {
    /// Writes the answers that are not there yet, and returns how many they were. Another process that adds the same at this moment waits.
    fn write_new(&mut self, effects: &[PackedEffect<'_>]) -> Result<usize, DatabaseError> {
        if effects.is_empty() {
            return Ok(0);
        }
        let written = self.connection.execute_batch("BEGIN IMMEDIATE").and_then(|()| {
            let mut unsorted = Unsorted::default();
            unsorted.refresh(&self.connection)?;
            let mut new = Vec::new();
            for effect in effects {
                if !is_there(&self.connection, &unsorted, effect.effect)? {
                    new.push(effect);
                }
            }
            // Nothing new must note no keys: they would stand where those of the next answers begin.
            if !new.is_empty() {
                self.n_unsorted += insert(&self.connection, new.iter().copied())?;
            }
            if places::is_due(self.n_unsorted) {
                places::sort(&self.connection)?;
                self.n_unsorted = 0;
            }
            self.connection.execute_batch("COMMIT")?;
            Ok(new.len())
        });
        written.map_err(|error| {
            let _ = self.connection.execute_batch("ROLLBACK");
            DatabaseError::of(&self.path, error)
        })
    }
}

/// Whether the journal has an answer to the same request, of the same time, that says the same.
fn is_there(connection: &Connection, unsorted: &Unsorted, effect: &RecordedEffect) -> rusqlite::Result<bool> {
    let RecordedEffect { key, at_ms, outcome, .. } = effect;
    let mut select = connection.prepare_cached(
        "SELECT outcome FROM place CROSS JOIN answer ON answer.id = place.id
         WHERE place.key8 = ?1 AND answer.key = ?2 AND at_ms = ?3",
    )?;
    if says(select.query(params![key.prefix(), key.0, at_ms])?, outcome)? {
        return Ok(true);
    }
    let mut select =
        connection.prepare_cached("SELECT outcome FROM answer WHERE id = ?1 AND key = ?2 AND at_ms = ?3")?;
    for id in unsorted.beginning(key.prefix()) {
        if says(select.query(params![id, key.0, at_ms])?, outcome)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn says(mut rows: rusqlite::Rows<'_>, outcome: &str) -> rusqlite::Result<bool> {
    while let Some(row) = rows.next()? {
        if StoredText::read(row.get_ref(0)?).is_ok_and(|it| it == outcome) {
            return Ok(true);
        }
    }
    Ok(false)
}
