//! A block as it is read back.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use jurat_core::plan::{CaseIx, VariantCount};
use rusqlite::{Connection, OptionalExtension, params};

use super::code::PackedCodes;
use super::identity::{self, Ids, shown_id};
use super::schema::has_column;
use super::values::{read_labels, read_scores};
use super::{Code, Column, Detail, Digests, RowPlace, detail, place};
use crate::database::DatabaseError;
use crate::packed::{Bytes, Unreadable, unpack};
use crate::records::RowId;

/// A case as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCase {
    /// Its place in the order of input.
    pub case_ix: CaseIx,
    /// Which of the run's variants it is.
    pub variant: usize,
    /// The id of its row; rows of equal content are numbered once the run is finished.
    pub id: String,
    /// Whether the row has an id of its own; else it is known by the hash of its content.
    pub has_own_id: bool,
    /// How the case ended and each of its tasks, by [`Column`].
    pub codes: Vec<Code>,
    /// What there is to say about verdicts.
    pub details: Vec<(Column, Detail<'static>)>,
    pub scores: Vec<(Column, f64)>,
    pub labels: Vec<(Column, String)>,
    /// How long it took, when that was measured.
    pub took: Option<Duration>,
    pub row: StoredRow,
}

impl StoredCase {
    /// How the case or one of its tasks ended.
    pub fn code(&self, column: Column) -> Code {
        self.codes.get(column.index()).copied().unwrap_or(Code::Absent)
    }

    /// What there is to say about a verdict.
    pub fn detail(&self, column: Column) -> Option<&Detail<'static>> {
        self.details.iter().find(|it| it.0 == column).map(|it| &it.1)
    }
}

/// The row of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    pub place: RowPlace,
    /// Its JSON, when it is in the run file.
    pub retained: Option<String>,
    pub(super) block: i64,
}

/// Which case it is, without anything else about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseIdentity {
    /// Its place in the order of input.
    pub case_ix: CaseIx,
    /// The id of its row.
    pub id: String,
    /// Whether the row has an id of its own; else it is known by the hash of its content.
    pub has_own_id: bool,
    /// Where its row came from.
    pub place: RowPlace,
    pub code: Code,
}

/// Where the row of a case is.
#[derive(Debug)]
pub(super) struct LocatedRow {
    pub(super) case_ix: CaseIx,
    pub(super) place: RowPlace,
    pub(super) block: i64,
    /// Its bytes, when they are in the run file.
    pub(super) retained: Option<Vec<u8>>,
}

/// Why a case could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseErrors {
    pub case: CaseIdentity,
    /// The tasks that could not be judged, each with the reason; empty for a case that ended otherwise.
    pub reasons: Vec<(Column, String)>,
}

/// A block, with whatever of it has been looked at.
#[derive(Debug)]
pub(super) struct StoredBlock {
    pub(super) id: i64,
    pub(super) first: u64,
    pub(super) n: usize,
    cases: Option<Vec<u64>>,
    pub(super) places: Vec<RowPlace>,
    ids: Ids,
    took: Option<Vec<u64>>,
    pub(super) row_hash: Option<Vec<u8>>,
    codes: Vec<Option<PackedCodes>>,
    scores: Vec<(Column, Vec<Option<f64>>)>,
    labels: Vec<(Column, Vec<Option<String>>)>,
    details: Chunks,
    evidence: Chunks,
    /// Numbers of rows with equal content.
    numbers: Vec<(u64, u64)>,
}

/// The chunks of a block, of which one is unpacked at a time.
#[derive(Debug)]
struct Chunks {
    table: &'static str,
    block: i64,
    first_slots: Vec<usize>,
    open: Option<OpenChunk>,
}

#[derive(Debug)]
struct OpenChunk {
    first_slot: usize,
    bytes: Vec<u8>,
    /// In the order of slots.
    pieces: Vec<Piece>,
}

/// The table of details.
const DETAIL: &str = "detail";
/// The table of rows that are retained.
const EVIDENCE: &str = "evidence";

/// A piece of a chunk.
#[derive(Debug)]
struct Piece {
    slot: usize,
    column: Column,
    range: std::ops::Range<usize>,
}

/// The digests of the rows of a block that are in files, by source and offset; `None` in a run of an earlier version.
pub(super) type RowDigests = Option<HashMap<(u32, u64), u128>>;

/// A file and its connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) connection: &'r Connection,
    pub(super) path: &'r Path,
    pub(super) n_columns: usize,
    pub(super) n_variants: VariantCount,
}

impl Reading<'_> {
    pub(super) fn sqlite<T>(self, result: rusqlite::Result<T>) -> Result<T, DatabaseError> {
        result.map_err(|it| DatabaseError::of(self.path, it))
    }

    fn part<T>(self, part: &'static str, result: Result<T, Unreadable>) -> Result<T, DatabaseError> {
        result.map_err(|it| DatabaseError::of_part(self.path, part, it))
    }

    fn columns<T>(
        self,
        table: &'static str,
        block: i64,
        read: impl Fn(&[u8]) -> Result<T, Unreadable>,
    ) -> Result<Vec<(Column, T)>, DatabaseError> {
        let select = format!("SELECT body FROM {table} WHERE task = ?1 AND block = ?2");
        let mut select = self.sqlite(self.connection.prepare_cached(&select))?;
        let mut columns = Vec::new();
        for column in 0..self.n_columns as u32 {
            let body: Option<Vec<u8>> =
                self.sqlite(select.query_row(params![column, block], |row| row.get(0)).optional())?;
            if let Some(body) = body {
                columns.push((Column(column), self.part(table, read(&body))?));
            }
        }
        Ok(columns)
    }
}

impl StoredBlock {
    pub(super) fn load(reading: Reading<'_>, id: i64) -> Result<StoredBlock, DatabaseError> {
        let mut select = reading.sqlite(
            reading
                .connection
                .prepare_cached("SELECT first, n, cases, took, places, ids, row_hash FROM block WHERE id = ?1"),
        )?;
        let mut rows = reading.sqlite(select.query([id]))?;
        let row = reading.sqlite(rows.next())?;
        let row = reading.part("block", row.ok_or(Unreadable::Damaged))?;
        let blob = |ix: usize| reading.sqlite(row.get_ref(ix)).map(|it| it.as_blob_or_null().ok().flatten());
        let present = |ix| reading.part("block", blob(ix)?.ok_or(Unreadable::Damaged));
        let first: u64 = reading.sqlite(row.get(0))?;
        let n = reading.part("block.n", n_slots(reading.sqlite(row.get(1))?))?;
        let cases = blob(2)?.map(|it| read_cases(it, first, n)).transpose();
        let took = blob(3)?.map(|it| read_numbers(it, n)).transpose();
        let ids = identity::read(present(5)?, n);
        let mut block = StoredBlock {
            id,
            first,
            n,
            cases: reading.part("block.cases", cases)?,
            places: reading.part("block.places", place::read(present(4)?, n))?,
            ids: reading.part("block.ids", ids)?,
            took: reading.part("block.took", took)?,
            row_hash: blob(6)?.map(<[u8]>::to_vec),
            codes: Vec::new(),
            scores: Vec::new(),
            labels: Vec::new(),
            details: Chunks::list(reading, DETAIL, id)?,
            evidence: Chunks::list(reading, EVIDENCE, id)?,
            numbers: Vec::new(),
        };
        let mut select = reading
            .sqlite(reading.connection.prepare_cached("SELECT codes FROM verdicts WHERE task = ?1 AND block = ?2"))?;
        for column in 0..reading.n_columns {
            let codes: Option<Vec<u8>> =
                reading.sqlite(select.query_row(params![column, id], |row| row.get(0)).optional())?;
            let codes = codes.map(|it| PackedCodes::read(&it, n)).transpose();
            block.codes.push(reading.part("verdicts", codes)?);
        }
        block.scores = reading.columns("scores", id, |it| read_scores(it, n))?;
        block.labels = reading.columns("labels", id, |it| read_labels(it, n))?;
        block.numbers = block.row_numbers(reading)?;
        Ok(block)
    }

    /// The case in a slot.
    pub(super) fn case_ix(&self, slot: usize) -> CaseIx {
        CaseIx::numbered(self.cases.as_ref().map_or(self.first + slot as u64, |it| it[slot]))
    }

    /// The first slot whose case is this or a later one.
    pub(super) fn slot_from(&self, case: CaseIx) -> usize {
        match &self.cases {
            None => usize::try_from(case.number().saturating_sub(self.first)).unwrap_or(usize::MAX).min(self.n),
            Some(cases) => cases.partition_point(|it| *it < case.number()),
        }
    }

    /// The slot of a case.
    pub(super) fn slot_of(&self, case_ix: CaseIx) -> Option<usize> {
        let slot = self.slot_from(case_ix);
        (slot < self.n && self.case_ix(slot) == case_ix).then_some(slot)
    }

    /// The id of a slot's row, as its row has it.
    pub(super) fn id(&self, slot: usize) -> RowId<'_> {
        self.ids.get(slot)
    }

    /// Everything about the case in a slot.
    pub(super) fn case(&mut self, reading: Reading<'_>, slot: usize) -> Result<StoredCase, DatabaseError> {
        let case_ix = self.case_ix(slot);
        let row = reading.n_variants.place(case_ix);
        let number = self.numbers.binary_search_by_key(&row, |it| it.0).ok().map(|ix| self.numbers[ix].1);
        let mut details = Vec::new();
        for (column, json) in self.details.pieces(reading, slot)? {
            details.push((column, reading.part(DETAIL, detail::read(json))?));
        }
        let retained = self.retained(reading, slot)?.map(|it| String::from_utf8(it).map_err(|_| Unreadable::Damaged));
        let has = |codes: &Option<PackedCodes>| codes.as_ref().map_or(Code::Passed, |it| it.get(slot));
        Ok(StoredCase {
            case_ix,
            variant: reading.n_variants.variant(case_ix),
            id: shown_id(&self.id(slot), number),
            has_own_id: matches!(self.id(slot), RowId::Given(_)),
            codes: self.codes.iter().map(has).collect(),
            details,
            scores: self.scores.iter().filter_map(|(column, it)| Some((*column, it[slot]?))).collect(),
            labels: self.labels.iter().filter_map(|(column, it)| Some((*column, it[slot].clone()?))).collect(),
            took: self.took.as_ref().map(|it| Duration::from_micros(it[slot])),
            row: StoredRow {
                place: self.places[slot],
                retained: reading.part(EVIDENCE, retained.transpose())?,
                block: self.id,
            },
        })
    }

    /// Which case is in a slot.
    pub(super) fn identity(&mut self, reading: Reading<'_>, slot: usize) -> Result<CaseIdentity, DatabaseError> {
        let case_ix = self.case_ix(slot);
        let row = reading.n_variants.place(case_ix);
        let number = self.numbers.binary_search_by_key(&row, |it| it.0).ok().map(|ix| self.numbers[ix].1);
        Ok(CaseIdentity {
            case_ix,
            id: shown_id(&self.id(slot), number),
            has_own_id: matches!(self.id(slot), RowId::Given(_)),
            place: self.places[slot],
            code: self.code(Column::CASE, slot),
        })
    }

    /// Where the row of the case in a slot is, and its bytes where they are in the file.
    pub(super) fn located(&mut self, reading: Reading<'_>, slot: usize) -> Result<LocatedRow, DatabaseError> {
        let retained = self.retained(reading, slot)?;
        Ok(LocatedRow { case_ix: self.case_ix(slot), place: self.places[slot], block: self.id, retained })
    }

    /// Which case is in a slot and how it ended, and nothing else.
    pub(super) fn ending(&mut self, _: Reading<'_>, slot: usize) -> Result<(CaseIx, Code), DatabaseError> {
        Ok((self.case_ix(slot), self.code(Column::CASE, slot)))
    }

    /// Why the case in a slot could not be judged, without reading its row.
    pub(super) fn errors(&mut self, reading: Reading<'_>, slot: usize) -> Result<CaseErrors, DatabaseError> {
        let case = self.identity(reading, slot)?;
        let mut reasons = Vec::new();
        if case.code == Code::Error {
            let codes: Vec<bool> =
                (0..self.codes.len()).map(|column| self.code(Column(column as u32), slot) == Code::Error).collect();
            for (column, json) in self.details.pieces(reading, slot)? {
                if codes.get(column.index()) == Some(&true) {
                    let detail = reading.part(DETAIL, detail::read(json))?;
                    reasons.extend(detail.message.map(|it| (column, it.into_owned())));
                }
            }
        }
        Ok(CaseErrors { case, reasons })
    }

    fn code(&self, column: Column, slot: usize) -> Code {
        let codes = self.codes.get(column.index()).and_then(Option::as_ref);
        codes.map_or(Code::Passed, |it| it.get(slot))
    }

    /// The row of a slot, when it is in the file: its own copy, or that of the case before it with the same row.
    pub(super) fn retained(&mut self, reading: Reading<'_>, slot: usize) -> Result<Option<Vec<u8>>, DatabaseError> {
        if self.evidence.first_slots.is_empty() {
            return Ok(None);
        }
        let mut at = slot;
        loop {
            if let Some(row) = self.own_row(reading, at)? {
                return Ok(Some(row));
            }
            if at == 0 || self.places[at - 1] != self.places[at] {
                return Ok(None);
            }
            at -= 1;
        }
    }

    /// The copy of its row that a slot has itself.
    pub(super) fn own_row(&mut self, reading: Reading<'_>, slot: usize) -> Result<Option<Vec<u8>>, DatabaseError> {
        Ok(self.evidence.pieces(reading, slot)?.next().map(|it| it.1.to_vec()))
    }

    /// The slots whose rows are not in the file, each row once.
    pub(super) fn referenced(&mut self, reading: Reading<'_>) -> Result<Vec<usize>, DatabaseError> {
        let mut slots = Vec::new();
        for slot in 0..self.n {
            let is_first = slot == 0 || self.places[slot - 1] != self.places[slot];
            if is_first && self.retained(reading, slot)?.is_none() {
                slots.push(slot);
            }
        }
        Ok(slots)
    }

    /// The numbers of the block's rows that share their content with rows before them.
    fn row_numbers(&self, reading: Reading<'_>) -> Result<Vec<(u64, u64)>, DatabaseError> {
        let ends = [CaseIx::numbered(self.first), self.case_ix(self.n.saturating_sub(1))];
        let rows = ends.map(|it| reading.n_variants.place(it));
        let select = "SELECT row, number FROM repeated WHERE row BETWEEN ?1 AND ?2 ORDER BY row";
        let mut select = reading.sqlite(reading.connection.prepare_cached(select))?;
        let numbers = select.query_map(rows, |row| Ok((row.get(0)?, row.get(1)?)));
        reading.sqlite(numbers.and_then(Iterator::collect))
    }
}

impl Chunks {
    fn list(reading: Reading<'_>, table: &'static str, block: i64) -> Result<Chunks, DatabaseError> {
        let select = format!("SELECT first_slot FROM {table} WHERE block = ?1 ORDER BY first_slot");
        let mut select = reading.sqlite(reading.connection.prepare_cached(&select))?;
        let first_slots = select.query_map([block], |row| row.get(0)).and_then(Iterator::collect);
        Ok(Chunks { table, block, first_slots: reading.sqlite(first_slots)?, open: None })
    }

    /// What is there for a slot.
    fn pieces(
        &mut self,
        reading: Reading<'_>,
        slot: usize,
    ) -> Result<impl Iterator<Item = (Column, &[u8])>, DatabaseError> {
        let first_slot = self.first_slots.partition_point(|it| *it <= slot).checked_sub(1);
        let first_slot = first_slot.map(|it| self.first_slots[it]);
        if let Some(first_slot) = first_slot
            && self.open.as_ref().is_none_or(|it| it.first_slot != first_slot)
        {
            self.open = Some(OpenChunk::load(reading, self.table, self.block, first_slot)?);
        }
        let open = self.open.as_ref().filter(|it| Some(it.first_slot) == first_slot);
        let (bytes, pieces) = open.map_or((&[][..], &[][..]), |it| (&it.bytes[..], &it.pieces[..]));
        let from = pieces.partition_point(|it| it.slot < slot);
        let to = pieces.partition_point(|it| it.slot <= slot);
        Ok(pieces[from..to].iter().map(move |it| (it.column, &bytes[it.range.clone()])))
    }
}

impl OpenChunk {
    fn load(reading: Reading<'_>, table: &'static str, block: i64, first_slot: usize) -> Result<Self, DatabaseError> {
        let select = format!("SELECT body FROM {table} WHERE block = ?1 AND first_slot = ?2");
        let mut select = reading.sqlite(reading.connection.prepare_cached(&select))?;
        let body: Vec<u8> = reading.sqlite(select.query_row(params![block, first_slot], |row| row.get(0)))?;
        let bytes = reading.part(table, unpack(&body))?.into_owned();
        let pieces = if table == DETAIL { detail_pieces(&bytes) } else { row_pieces(&bytes) };
        let pieces = reading.part(table, pieces)?;
        Ok(OpenChunk { first_slot, bytes, pieces })
    }
}

pub(super) fn row_digests(reading: Reading<'_>, block: i64) -> Result<RowDigests, DatabaseError> {
    if !reading.sqlite(has_column(reading.connection, "block", Digests::Rows.column()))? {
        return Ok(None);
    }
    let mut select =
        reading.sqlite(reading.connection.prepare_cached("SELECT n, places, rows FROM block WHERE id = ?1"))?;
    let row = select.query_row([block], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (n, places, rows): (u64, Vec<u8>, Option<Vec<u8>>) = reading.sqlite(row)?;
    let Some(rows) = rows else { return Ok(None) };
    let n = reading.part("block.n", n_slots(n))?;
    let places = reading.part("block.places", place::read(&places, n))?;
    let digests = reading.part("block.rows", read_digests(&rows, n))?;
    let known = places.iter().zip(digests);
    Ok(Some(known.filter_map(|(it, digest)| Some(((it.source, it.bytes?.offset), digest))).collect()))
}

/// A digest for each of `n` slots.
pub(super) fn read_digests(stored: &[u8], n: usize) -> Result<Vec<u128>, Unreadable> {
    let mut bytes = Bytes::of_plain(stored)?;
    (0..n).map(|_| bytes.array().map(u128::from_be_bytes)).collect()
}

fn detail_pieces(bytes: &[u8]) -> Result<Vec<Piece>, Unreadable> {
    let mut pieces = Vec::new();
    for line in detail::lines(bytes) {
        let (slot, column, range) = line?;
        pieces.push(Piece { slot, column, range });
    }
    Ok(pieces)
}

fn row_pieces(bytes: &[u8]) -> Result<Vec<Piece>, Unreadable> {
    let mut rest = Bytes(bytes);
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (slot, length) = (rest.length()?, rest.length()?);
        let start = bytes.len() - rest.0.len();
        rest.take(length)?;
        pieces.push(Piece { slot, column: Column::CASE, range: start..start + length });
    }
    Ok(pieces)
}

/// How many slots a block has. No block has more than millions, so that a damaged file cannot ask for all the memory there is.
pub(super) fn n_slots(n: u64) -> Result<usize, Unreadable> {
    usize::try_from(n).ok().filter(|it| *it <= 1 << 24).ok_or(Unreadable::Damaged)
}

/// The cases of a block that do not follow each other.
pub(super) fn read_cases(packed: &[u8], first: u64, n: usize) -> Result<Vec<u64>, Unreadable> {
    let mut case_ix = first;
    let mut cases = read_numbers(packed, n)?;
    for case in &mut cases {
        case_ix = case_ix.checked_add(*case).ok_or(Unreadable::Damaged)?;
        *case = case_ix;
    }
    Ok(cases)
}

pub(super) fn read_numbers(packed: &[u8], n: usize) -> Result<Vec<u64>, Unreadable> {
    let mut bytes = Bytes::of_plain(packed)?;
    (0..n).map(|_| bytes.number()).collect()
}
