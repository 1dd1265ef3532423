//! The file of a run that is being written: what is inserted where.

use std::path::{Path, PathBuf};

use jurat_core::plan::VariantCount;
use jurat_core::verdict::StopReason;
use rusqlite::{Connection, params};

use super::block::{Block, Chunk};
use super::error::DuplicateIds;
use super::id_index::{Duplicates, IndexWriter};
use super::id_runs::IdRuns;
use super::reader::{PROGRESS, SUMMARY_CHECKSUM, checksum, meta, read_summary};
use super::schema::{FORGET_RESULTS, LATER_BLOCK_COLUMNS, LATER_TABLES, RUN, has_column};
use super::stats::Counting;
use super::stored::{Reading, StoredBlock};
use super::writer::Message;
use super::{Code, Column, Ended, FinishState, RunFileError, RunHead, SummaryRow, TaskHead, WriterOptions, log, stats};
use crate::database::{DatabaseError, Fault, beside, refuse_network};
use crate::effects::{PackedEffect, RecordedEffect};
use crate::journal::StoreWriter;
use crate::packed::{Packer, sealed};
use crate::records::DuplicateId;

/// At most this many ids are indexed in the log of the file rather than without one.
const LITTLE: u64 = 20_000;

/// The file of a run that is being written.
#[derive(Debug)]
pub(super) struct RunFile {
    path: PathBuf,
    connection: Connection,
    journal: Option<StoreWriter>,
    ids: IdRuns,
    packer: Packer,
    written: log::Written,
    counted: Counting,
    n_columns: usize,
    n_variants: VariantCount,
    is_durable: bool,
    /// Whether effects were written, now or before.
    has_effects: bool,
    /// How many ids there are; known at the end.
    n_ids: u64,
}

impl RunFile {
    pub(super) fn create(path: &Path, head: &RunHead, options: WriterOptions<'_>) -> Result<RunFile, RunFileError> {
        refuse_network(path)?;
        // SQLite would take a file that is there for its own.
        std::fs::File::create_new(path).map_err(|it| DatabaseError::of_new(path, it))?;
        RunFile::begin_in(path, head, options).inspect_err(|_| {
            // What has no beginning is no run, and would only be in the way when the latest is looked for.
            for left in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(beside(path, left));
            }
        })
    }

    fn begin_in(path: &Path, head: &RunHead, options: WriterOptions<'_>) -> Result<RunFile, RunFileError> {
        let connection = RUN.create(path)?;
        let mut file = RunFile::new(path, connection, options)?;
        file.n_columns = head.tasks.len() + 1;
        file.n_variants = head.n_variants();
        file.transaction(|file| Ok(file.write_head(head)?))?;
        Ok(file)
    }

    pub(super) fn resume(path: &Path, options: WriterOptions<'_>) -> Result<RunFile, RunFileError> {
        refuse_network(path)?;
        let connection = RUN.open(path)?;
        let of = |it| DatabaseError::of(path, it);
        let fact = |key| meta(&connection, key).map_err(of);
        // Another process may have resumed it since it was found open.
        let ended = fact("ended")?;
        let is_decided = ended.as_deref() == Some(StopReason::Decided.name());
        if ended.is_some() && !is_decided && fact("resumable")?.as_deref() != Some("1") {
            return Err(RunFileError::Finished { path: path.to_owned() });
        }
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL").map_err(of)?;
        let mut file = RunFile::new(path, connection, options)?;
        let count = |table: &str| {
            let count: rusqlite::Result<usize> =
                file.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
            count.map_err(of)
        };
        file.has_effects = true;
        (file.n_columns, file.n_variants) = (count("task")?, VariantCount::of(count("variant")?));
        file.transaction(|file| {
            file.connection.execute_batch(LATER_TABLES)?;
            add_later_columns(&file.connection)?;
            Ok(file.connection.execute_batch(FORGET_RESULTS)?)
        })?;
        Ok(file)
    }

    fn new(path: &Path, connection: Connection, options: WriterOptions<'_>) -> Result<RunFile, RunFileError> {
        if options.durable {
            connection.execute_batch("PRAGMA synchronous = FULL").map_err(|it| DatabaseError::of(path, it))?;
        }
        let journal = options.journal.map(|it| it.writer(options.durable)).transpose()?;
        Ok(RunFile {
            path: path.to_owned(),
            connection,
            journal,
            ids: IdRuns::new(path),
            packer: Packer::new(),
            written: log::Written::new(),
            counted: Counting::default(),
            n_columns: 0,
            n_variants: VariantCount::of(1),
            is_durable: options.durable,
            has_effects: false,
            n_ids: 0,
        })
    }

    /// Limits the pages of the file, as if the disk had no room for more.
    #[cfg(test)]
    pub(super) fn limit(&self, n_pages: u32) {
        let limit = format!("PRAGMA max_page_count = {n_pages}");
        self.connection.query_row(&limit, [], |_| Ok(())).expect("a limit");
    }

    /// Writes messages, what goes into the journal first. [`RunFile::commit`] makes them last.
    pub(super) fn write(&mut self, batch: &[Message]) -> Result<(), RunFileError> {
        let effects = batch.iter().filter_map(|it| match it {
            Message::Effects(effects, _) => Some(effects.as_slice()),
            Message::Copy(effect) => Some(std::slice::from_ref(&**effect)),
            _ => None,
        });
        let effects: Vec<PackedEffect<'_>> =
            effects.flatten().map(|it| PackedEffect::of(it, &mut self.packer)).collect();
        if let Some(journal) = &mut self.journal {
            journal.write(effects.iter().filter(|it| it.effect.journal))?;
        }
        self.has_effects |= !effects.is_empty();
        self.begin()?;
        let mut write = || -> Result<(), Fault> {
            for effect in &effects {
                log::insert(&self.connection, &mut self.written, effect)?;
                self.counted.add(effect.effect);
            }
            batch.iter().try_for_each(|it| self.insert(it))
        };
        write().map_err(|it| it.at(&self.path, "the run").into())
    }

    /// Whether an effect that was written is safe before it is committed here.
    pub(super) fn is_safe(&self, effect: &RecordedEffect) -> bool {
        effect.journal && self.journal.is_some()
    }

    /// Ends the transaction, if one is open.
    pub(super) fn commit(&mut self) -> Result<(), RunFileError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.execute_batch("COMMIT").map_err(|it| DatabaseError::of(&self.path, it).into())
    }

    fn begin(&mut self) -> Result<(), RunFileError> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|it| DatabaseError::of(&self.path, it).into())
    }

    /// Puts the ids in order, says how the run ended, and leaves one file.
    pub(super) fn finish(mut self, state: FinishState) -> Result<Option<DuplicateIds>, RunFileError> {
        // Without a log what is new is written once rather than twice; with one, a little costs less waiting for the disk.
        self.n_ids = self.ids.n_entries();
        if self.n_ids > LITTLE {
            self.leave_log()?;
        }
        let duplicates = self.transaction(|file| {
            let path = file.path.clone();
            let mut ids = std::mem::replace(&mut file.ids, IdRuns::new(&path));
            let mut index = IndexWriter::new(&file.connection, std::mem::take(&mut ids.numbered));
            ids.merge(&mut |id| index.push(id).map_err(Fault::from))?;
            let duplicates = index.finish()?;
            let ended = if duplicates.n > 0 { Ended::DuplicateIds } else { state.ended };
            file.put_meta("ended", ended.name())?;
            file.connection.execute("DELETE FROM meta WHERE key = ?1", [PROGRESS])?;
            file.put_meta("resumable", if state.resumable && duplicates.n == 0 { "1" } else { "0" })?;
            file.put_meta("ended_at_ms", &state.at_ms.to_string())?;
            if let Some(counted) = file.counted.stored(&file.connection)? {
                file.put_meta(stats::META, &counted)?;
            }
            let summary = read_summary(&file.connection)?;
            file.put_meta(SUMMARY_CHECKSUM, &checksum(&summary))?;
            file.put_meta("wall_us", &u64::try_from(state.wall.as_micros()).unwrap_or(u64::MAX).to_string())?;
            Ok(duplicates)
        })?;
        let named = if duplicates.n > 0 { Some(self.name_duplicates(duplicates)?) } else { None };
        self.leave_log()?;
        Ok(named)
    }

    /// Merges the log into the file, and continues without one. Where another process reads at this moment
    /// an empty log stays beside it, which does no harm.
    fn leave_log(&self) -> Result<(), RunFileError> {
        let leave = || -> rusqlite::Result<()> {
            let mode: String = self.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
            if mode != "wal" {
                return Ok(());
            }
            if self.is_worth_waiting() {
                self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            }
            // What is left is one sector that says whether there is a log: right either way, so it is not waited for.
            let synchronous: i64 = self.connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
            self.connection.execute_batch("PRAGMA synchronous = OFF")?;
            let left = self.connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()));
            self.connection.execute_batch(&format!("PRAGMA synchronous = {synchronous}"))?;
            left
        };
        match leave().map_err(|it| DatabaseError::of(&self.path, it)) {
            Ok(()) | Err(DatabaseError::Busy { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the disk should have it all before the run counts as finished. A small run without requests is made again sooner than
    /// a disk answers.
    fn is_worth_waiting(&self) -> bool {
        self.is_durable || self.has_effects || self.n_ids > LITTLE
    }

    /// Does something in one transaction; the caller says what an error is about.
    pub(super) fn transaction_with<T>(
        &mut self,
        work: impl FnOnce(&mut RunFile) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self)?;
        self.connection.execute_batch("COMMIT")?;
        Ok(done)
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Adds the effects of a shard, as its file counts them, to those that were written.
    pub(super) fn add_effect_counts(&mut self, stored: Option<&str>) {
        self.has_effects = true;
        self.counted.add_stored(stored);
    }

    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut RunFile) -> Result<T, Fault>,
    ) -> Result<T, RunFileError> {
        self.begin()?;
        let done = work(self).map_err(|it| it.at(&self.path, "the run"))?;
        self.commit()?;
        Ok(done)
    }

    fn write_head(&mut self, head: &RunHead) -> rusqlite::Result<()> {
        let meta = [
            ("min_reader", RUN.format.to_string()),
            ("id", head.id.clone()),
            ("suite", head.suite.clone()),
            ("suite_hash", head.suite_hash.clone()),
            ("seed", head.seed.to_string()),
            ("created_at_ms", head.created_at_ms.to_string()),
            ("version", head.version.clone()),
            ("resume_key", head.resume_key.clone()),
        ];
        meta.iter().try_for_each(|(key, value)| self.put_meta(key, value))?;
        head.documents.iter().try_for_each(|it| self.put_document(it))?;
        let mut insert = self
            .connection
            .prepare("INSERT INTO source (id, name, path, size, mtime_ns) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for (id, source) in head.sources.iter().enumerate() {
            let file = source.file.as_ref();
            let (path, size, mtime) = (file.map(|it| &it.path), file.map(|it| it.size), file.map(|it| it.mtime_ns));
            insert.execute(params![id, source.name, path, size, mtime])?;
        }
        let mut insert = self.connection.prepare(
            "INSERT INTO task (ix, id, kind, gate, stage, path, operator, expected) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        insert.execute(params![0, "", "case", "", 0, None::<String>, None::<String>, None::<String>])?;
        for (ix, task) in (1..).zip(&head.tasks) {
            let TaskHead { id, kind, gate, stage, path, operator, expected } = task;
            insert.execute(params![ix as i64, id, kind, gate, stage, path, operator, expected])?;
        }
        let mut insert =
            self.connection.prepare("INSERT INTO variant (ix, prompt, subject, replicate) VALUES (?1, ?2, ?3, ?4)")?;
        for (ix, variant) in head.variants.iter().enumerate() {
            insert.execute(params![ix, variant.prompt, variant.subject, variant.replicate])?;
        }
        Ok(())
    }

    pub(super) fn insert(&mut self, message: &Message) -> Result<(), Fault> {
        match message {
            Message::Block(block) => {
                self.ids.push(&block.id_entries)?;
                self.ids.numbered.extend(block.numbered_ids.iter().cloned());
                self.put_block(block)?;
            }
            Message::Event(at_ms, body) => {
                let mut insert = self.connection.prepare_cached("INSERT INTO event (at_ms, body) VALUES (?1, ?2)")?;
                insert.execute(params![at_ms, body])?;
            }
            Message::Summary(rows) => rows.iter().try_for_each(|it| self.put_summary(it))?,
            Message::Document(document) => self.put_document(document)?,
            Message::Fact(key, value) => self.put_meta(key, value)?,
            Message::Effects(..) | Message::Copy(_) | Message::Sync(_) | Message::Finish(..) => {}
        }
        Ok(())
    }

    pub(super) fn put_meta(&self, key: &str, value: &str) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
        insert.execute([key, value]).map(drop)
    }

    fn put_document(&mut self, document: &super::Document) -> rusqlite::Result<()> {
        let body = sealed(&self.packer.pack(&document.body));
        let mut insert =
            self.connection.prepare_cached("INSERT OR REPLACE INTO document (name, body) VALUES (?1, ?2)")?;
        insert.execute(params![document.name, body]).map(drop)
    }

    pub(super) fn put_summary(&self, row: &SummaryRow) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO summary (task, slice, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (task, slice) DO UPDATE SET body = excluded.body",
        )?;
        insert.execute(params![row.column.0, row.slice, row.body]).map(drop)
    }

    fn put_block(&self, block: &Block) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO block (first, last, n, row_hash, cases, took, places, ids, rows, questions)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        let Block { first, last, n, row_hash, cases, took, places, ids, rows, questions, .. } = block;
        let id = insert.insert(params![first, last, n, row_hash, cases, took, places, ids, rows, questions])?;
        for (table, body, columns) in
            [("verdicts", "codes", &block.codes), ("scores", "body", &block.scores), ("labels", "body", &block.labels)]
        {
            let insert = format!("INSERT INTO {table} (task, block, {body}) VALUES (?1, ?2, ?3)");
            columns.iter().try_for_each(|(column, body)| {
                self.connection.prepare_cached(&insert)?.execute(params![column.0, id, body]).map(drop)
            })?;
        }
        for (path, body) in &block.groups {
            let insert = "INSERT INTO grouping (path, block, body) VALUES (?1, ?2, ?3)";
            self.connection.prepare_cached(insert)?.execute(params![path, id, body])?;
        }
        if let Some(taken) = &block.taken {
            let insert = "INSERT INTO taken (block, body) VALUES (?1, ?2)";
            self.connection.prepare_cached(insert)?.execute(params![id, taken])?;
        }
        put_chunks(&self.connection, "detail", id, &block.details)?;
        put_chunks(&self.connection, "evidence", id, &block.evidence)?;
        for slice in &block.counts {
            for (column, counts) in (0..).map(Column).zip(&slice.columns) {
                self.add_counts(column, &slice.slice, counts)?;
            }
        }
        Ok(())
    }

    pub(super) fn add_counts(&self, column: Column, slice: &str, counts: &[u64; Code::COUNT]) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO summary (task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent,
               not_judged)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (task, slice) DO UPDATE SET passed = passed + excluded.passed, failed = failed + excluded.failed,
               measured = measured + excluded.measured, skipped_by_gate = skipped_by_gate + excluded.skipped_by_gate,
               skipped_by_error = skipped_by_error + excluded.skipped_by_error, error = error + excluded.error,
               not_run = not_run + excluded.not_run, absent = absent + excluded.absent,
               not_judged = not_judged + excluded.not_judged",
        )?;
        let [passed, failed, measured, by_gate, by_error, error, not_run, absent, not_judged] = counts;
        let counts =
            params![column.0, slice, passed, failed, measured, by_gate, by_error, error, not_run, absent, not_judged];
        insert.execute(counts).map(drop)
    }

    /// Says which rows share an id, in the order of input.
    fn name_duplicates(&self, duplicates: Duplicates) -> Result<DuplicateIds, RunFileError> {
        let reading = Reading {
            connection: &self.connection,
            path: &self.path,
            n_columns: self.n_columns,
            n_variants: self.n_variants,
        };
        let mut examples = Vec::new();
        for (row, first_row) in duplicates.examples.into_sorted_vec() {
            let (first, _) = self.row_name(reading, first_row)?;
            let (second, id) = self.row_name(reading, row)?;
            examples.push(DuplicateId { id, first, second });
        }
        Ok(DuplicateIds { examples, n: duplicates.n })
    }

    /// A row in words, and its id.
    fn row_name(&self, reading: Reading<'_>, row: u64) -> Result<(String, String), RunFileError> {
        let cases = self.n_variants.cases(row);
        let mut select =
            reading.sqlite(self.connection.prepare_cached("SELECT id FROM block WHERE first < ?2 AND last >= ?1"))?;
        let blocks: rusqlite::Result<Vec<i64>> =
            select.query_map([cases.start.number(), cases.end.number()], |row| row.get(0)).and_then(Iterator::collect);
        for block in reading.sqlite(blocks)? {
            let block = StoredBlock::load(reading, block)?;
            let slot = block.slot_from(cases.start);
            if slot < block.n && cases.contains(&block.case_ix(slot)) {
                let place = block.places[slot];
                let select = "SELECT name FROM source WHERE id = ?1";
                let name: rusqlite::Result<String> =
                    self.connection.query_row(select, [place.source], |row| row.get(0));
                let name = name.unwrap_or_else(|_| "`records`".to_owned());
                let id = super::identity::shown_id(&block.id(slot), None);
                return Ok((format!("row {} of {name}", place.number), id));
            }
        }
        Ok((format!("row {}", row + 1), String::new()))
    }
}

/// Adds the columns that a run of an earlier version lacks.
fn add_later_columns(connection: &Connection) -> rusqlite::Result<()> {
    for column in LATER_BLOCK_COLUMNS {
        if !has_column(connection, "block", column)? {
            connection.execute_batch(&format!("ALTER TABLE block ADD COLUMN {column} BLOB"))?;
        }
    }
    Ok(())
}

pub(super) fn put_chunks(
    connection: &Connection,
    table: &'static str,
    block: i64,
    chunks: &[Chunk],
) -> rusqlite::Result<()> {
    let insert = format!("INSERT INTO {table} (block, first_slot, body) VALUES (?1, ?2, ?3)");
    chunks.iter().try_for_each(|chunk| {
        connection.prepare_cached(&insert)?.execute(params![block, chunk.first_slot, chunk.body]).map(drop)
    })
}
