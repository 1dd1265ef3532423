//! The tables of a run file. `docs/reference/run-files.md` says what is in them.

use rusqlite::{Connection, OptionalExtension};

use crate::database::Kind;

/// Format 1. Tables and columns may be added without a new number, because readers ignore what they do not know; what changes the
/// meaning of something that is there takes a new number and raises `min_reader`.
pub(super) const RUN: Kind = Kind { what: "run", application_id: 0x6a75_7261, format: 1, tables: TABLES };

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE document (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT, size INTEGER, mtime_ns INTEGER) STRICT;
CREATE TABLE task (
  ix INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, gate TEXT NOT NULL, stage INTEGER NOT NULL,
  path TEXT, operator TEXT, expected TEXT
) STRICT;
CREATE TABLE variant (ix INTEGER PRIMARY KEY, prompt TEXT NOT NULL, subject TEXT NOT NULL, replicate INTEGER NOT NULL) STRICT;
CREATE TABLE block (
  id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, n INTEGER NOT NULL,
  row_hash BLOB, cases BLOB, took BLOB, places BLOB NOT NULL, ids BLOB NOT NULL, rows BLOB, questions BLOB
) STRICT;
CREATE INDEX block_range ON block (first, last, n);
CREATE TABLE verdicts (task INTEGER NOT NULL, block INTEGER NOT NULL, codes BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX verdicts_place ON verdicts (task, block);
CREATE TABLE scores (task INTEGER NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX scores_place ON scores (task, block);
CREATE TABLE labels (task INTEGER NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX labels_place ON labels (task, block);
CREATE TABLE grouping (path TEXT NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX grouping_place ON grouping (path, block);
CREATE TABLE taken (block INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE detail (block INTEGER NOT NULL, first_slot INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX detail_place ON detail (block, first_slot);
CREATE TABLE evidence (block INTEGER NOT NULL, first_slot INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX evidence_place ON evidence (block, first_slot);
CREATE TABLE effect (
  id INTEGER PRIMARY KEY, key8 INTEGER NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL,
  served TEXT, at_ms INTEGER NOT NULL, request ANY NOT NULL, outcome ANY NOT NULL
) STRICT;
CREATE TABLE site (
  case_ix INTEGER NOT NULL, task INTEGER NOT NULL, seat INTEGER NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL,
  effect INTEGER NOT NULL, reused INTEGER NOT NULL,
  PRIMARY KEY (case_ix, task, seat, turn, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE media (digest BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE id_page (id INTEGER PRIMARY KEY, first_hash INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX id_page_hash ON id_page (first_hash);
CREATE TABLE repeated (row INTEGER PRIMARY KEY, hash BLOB NOT NULL, number INTEGER NOT NULL) STRICT;
CREATE INDEX repeated_hash ON repeated (hash, number);
CREATE TABLE summary (
  task INTEGER NOT NULL, slice TEXT NOT NULL,
  passed INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, measured INTEGER NOT NULL DEFAULT 0,
  skipped_by_gate INTEGER NOT NULL DEFAULT 0, skipped_by_error INTEGER NOT NULL DEFAULT 0, error INTEGER NOT NULL DEFAULT 0,
  not_run INTEGER NOT NULL DEFAULT 0, absent INTEGER NOT NULL DEFAULT 0, not_judged INTEGER NOT NULL DEFAULT 0,
  body TEXT,
  PRIMARY KEY (task, slice)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
";

/// Columns that format 1 got later, in the order in which it got them. A run that an earlier version began and this one resumes lacks them.
pub(super) const LATER_BLOCK_COLUMNS: [&str; 2] = ["rows", "questions"];

/// Tables and indexes that format 1 got later, where they are missing.
pub(super) const LATER_TABLES: &str = "
CREATE TABLE IF NOT EXISTS grouping (path TEXT NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS grouping_place ON grouping (path, block);
CREATE TABLE IF NOT EXISTS taken (block INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
DROP INDEX IF EXISTS block_range;
CREATE INDEX block_range ON block (first, last, n);
CREATE TABLE IF NOT EXISTS media (digest BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT;
";

/// What a run computes from its rows and effects, and computes again when it is resumed.
pub(super) const FORGET_RESULTS: &str = "
DELETE FROM block; DELETE FROM verdicts; DELETE FROM scores; DELETE FROM labels; DELETE FROM grouping; DELETE FROM taken; DELETE FROM detail; DELETE FROM evidence;
DELETE FROM id_page; DELETE FROM repeated; DELETE FROM summary;
DELETE FROM meta WHERE key IN ('ended', 'resumable', 'ended_at_ms', 'wall_us', 'self_contained', 'effects', 'summary_checksum', 'expected_cases',
  'progress', 'shard');
";

/// Whether there is a table.
pub(super) fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let select = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    let found: Option<i64> = connection.query_row(select, [table], |row| row.get(0)).optional()?;
    Ok(found.is_some())
}

/// Whether a table has a column.
pub(super) fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let select = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
    let found: Option<i64> = connection.query_row(select, [table, column], |row| row.get(0)).optional()?;
    Ok(found.is_some())
}
