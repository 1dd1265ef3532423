//! Cases in the order of input, from blocks in the order of completion.
//!
//! Blocks may overlap: a case that takes long lands in a later block than its neighbours. Only blocks that overlap are open at a time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use jurat_core::plan::CaseIx;
use rusqlite::params;

use super::code::unpack_codes;
use super::stored::{Reading, StoredBlock, StoredCase, n_slots, read_cases};
use super::{Code, Column};
use crate::database::DatabaseError;

/// How many blocks are looked up at a time.
const AHEAD: usize = 64;

/// Cases of a run in the order of input; `T` is the part of each that is read.
#[derive(Debug)]
pub struct Cases<'r, T = StoredCase> {
    reading: Reading<'r>,
    range: Range<CaseIx>,
    headers: Headers,
    /// Blocks with cases that are still to come, and the slot of the next.
    open: Vec<(StoredBlock, usize)>,
    read: ReadSlot<T>,
    /// Blocks without a case that ended so are skipped.
    only: Option<Code>,
}

/// What is read of the case in a slot.
pub(super) type ReadSlot<T> = fn(&mut StoredBlock, Reading<'_>, usize) -> Result<T, DatabaseError>;

impl<'r, T> Cases<'r, T> {
    pub(super) fn new(reading: Reading<'r>, range: Range<CaseIx>, read: ReadSlot<T>) -> Cases<'r, T> {
        Cases { reading, range, headers: Headers::default(), open: Vec::new(), read, only: None }
    }

    /// The same without the blocks in which no case ended so.
    pub(super) fn only(mut self, code: Code) -> Cases<'r, T> {
        self.headers.of = (code != Code::Passed).then_some(Column::CASE);
        Cases { only: Some(code), ..self }
    }

    fn advance(&mut self) -> Result<Option<T>, DatabaseError> {
        loop {
            let next = self.open.iter().map(|(block, slot)| block.case_ix(*slot)).enumerate().min_by_key(|it| it.1);
            let header = self.headers.peek(self.reading, &self.range)?;
            match (next, header) {
                // A block that begins before the next case may hold a case before it.
                (next, Some(header)) if next.is_none_or(|it| header.first < it.1.number()) => {
                    self.headers.waiting.pop_front();
                    if let Some(code) = self.only
                        && !has_case(self.reading, header, code)?
                    {
                        continue;
                    }
                    let block = StoredBlock::load(self.reading, header.id)?;
                    let slot = block.slot_from(self.range.start);
                    if slot < block.n {
                        self.open.push((block, slot));
                    }
                }
                (Some((_, case_ix)), _) if case_ix >= self.range.end => return Ok(None),
                (Some((ix, _)), _) => {
                    let (block, slot) = &mut self.open[ix];
                    let case = (self.read)(block, self.reading, *slot)?;
                    *slot += 1;
                    if *slot == block.n {
                        self.open.swap_remove(ix);
                    }
                    return Ok(Some(case));
                }
                (None, _) => return Ok(None),
            }
        }
    }
}

/// Whether a case of a block ended so; only verdicts are read.
fn has_case(reading: Reading<'_>, header: Header, code: Code) -> Result<bool, DatabaseError> {
    let select = "SELECT block.n, verdicts.codes FROM block
         LEFT JOIN verdicts ON verdicts.task = ?1 AND verdicts.block = block.id WHERE block.id = ?2";
    let mut select = reading.sqlite(reading.connection.prepare_cached(select))?;
    let row = select.query_row(params![Column::CASE.0, header.id], |row| Ok((row.get(0)?, row.get(1)?)));
    let (n, codes): (u64, Option<Vec<u8>>) = reading.sqlite(row)?;
    let part = |it| DatabaseError::of_part(reading.path, "verdicts", it);
    let codes = unpack_codes(codes.as_deref(), n_slots(n).map_err(part)?).map_err(part)?;
    Ok(codes.contains(&code))
}

impl<T> Iterator for Cases<'_, T> {
    type Item = Result<T, DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The cases that ended, or whose task ended, in certain ways; in the order of input.
#[derive(Debug)]
pub struct Found<'r> {
    reading: Reading<'r>,
    column: Column,
    codes: Vec<Code>,
    headers: Headers,
    waiting: BinaryHeap<Reverse<u64>>,
}

impl<'r> Found<'r> {
    pub(super) fn new(reading: Reading<'r>, column: Column, codes: &[Code]) -> Found<'r> {
        // Nothing is stored of a column in which all cases of a block passed.
        let of = (!codes.contains(&Code::Passed)).then_some(column);
        let headers = Headers { of, ..Headers::default() };
        Found { reading, column, codes: codes.to_vec(), headers, waiting: BinaryHeap::new() }
    }

    fn advance(&mut self) -> Result<Option<CaseIx>, DatabaseError> {
        loop {
            let header = self.headers.peek(self.reading, &CaseIx::ALL)?;
            match (self.waiting.peek(), header) {
                (next, Some(header)) if next.is_none_or(|it| header.first < it.0) => {
                    self.headers.waiting.pop_front();
                    self.look(header)?;
                }
                _ => return Ok(self.waiting.pop().map(|it| CaseIx::numbered(it.0))),
            }
        }
    }

    /// Takes in the cases of a block, from its verdicts alone.
    fn look(&mut self, header: Header) -> Result<(), DatabaseError> {
        let reading = self.reading;
        let part = |part, it| DatabaseError::of_part(reading.path, part, it);
        let select = "SELECT block.n, block.cases, verdicts.codes FROM block
             LEFT JOIN verdicts ON verdicts.task = ?1 AND verdicts.block = block.id WHERE block.id = ?2";
        let mut select = reading.sqlite(reading.connection.prepare_cached(select))?;
        let row = select.query_row(params![self.column.0, header.id], |row| {
            Ok((row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?, row.get::<_, Option<Vec<u8>>>(2)?))
        });
        let (n, cases, codes) = reading.sqlite(row)?;
        let n = n_slots(n).map_err(|it| part("block.n", it))?;
        let codes = unpack_codes(codes.as_deref(), n).map_err(|it| part("verdicts", it))?;
        let cases = cases.map(|it| read_cases(&it, header.first, n)).transpose();
        let cases = cases.map_err(|it| part("block.cases", it))?;
        for (slot, _) in codes.iter().enumerate().filter(|it| self.codes.contains(it.1)) {
            let case = cases.as_ref().map_or(header.first + slot as u64, |it| it[slot]);
            self.waiting.push(Reverse(case));
        }
        Ok(())
    }
}

impl Iterator for Found<'_> {
    type Item = Result<CaseIx, DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The blocks of a run in the order of their first cases, looked up a few at a time so that no transaction stays open.
#[derive(Debug, Default)]
pub(super) struct Headers {
    waiting: VecDeque<Header>,
    /// The first case of the last that was looked up.
    last: Option<u64>,
    is_over: bool,
    /// The column in which a case of the block did not pass; `None` for all blocks.
    of: Option<Column>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) id: i64,
    pub(super) first: u64,
}

impl Headers {
    /// The next block with cases of the range, without taking it.
    fn peek(&mut self, reading: Reading<'_>, range: &Range<CaseIx>) -> Result<Option<Header>, DatabaseError> {
        if self.waiting.is_empty() && !self.is_over {
            let select = "SELECT id, first FROM block WHERE first > ?1 AND first < ?2 AND last >= ?3
                 AND (?5 IS NULL OR EXISTS (SELECT 1 FROM verdicts WHERE verdicts.task = ?5 AND verdicts.block = block.id))
                 ORDER BY first LIMIT ?4";
            let mut select = reading.sqlite(reading.connection.prepare_cached(select))?;
            let after = self.last.map_or(-1, |it| it as i64);
            let end = i64::try_from(range.end.number()).unwrap_or(i64::MAX);
            let headers = select
                .query_map(params![after, end, range.start.number(), AHEAD, self.of.map(|it| it.0)], |row| {
                    Ok(Header { id: row.get(0)?, first: row.get(1)? })
                });
            let headers: Vec<Header> = reading.sqlite(headers.and_then(Iterator::collect))?;
            self.is_over = headers.len() < AHEAD;
            self.last = headers.last().map(|it| it.first).or(self.last);
            self.waiting.extend(headers);
        }
        Ok(self.waiting.front().copied())
    }

    pub(super) fn next(&mut self, reading: Reading<'_>) -> Result<Option<Header>, DatabaseError> {
        self.peek(reading, &CaseIx::ALL)?;
        Ok(self.waiting.pop_front())
    }
}
