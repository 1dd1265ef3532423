//! Reading a run, also while it is being written.
//!
//! Every question is a short transaction of its own, so a reader never holds up the writer.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::effect::StepSite;
use jurat_core::plan::CaseIx;
use rusqlite::{Connection, OptionalExtension, Params, params};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::cases::{Cases, Found, Headers};
use super::code::unpack_codes;
use super::id_index;
use super::identity::shown_id;
use super::log;
use super::rows::{RowFiles, Trust};
use super::schema::RUN;
use super::stats::{self, EffectStats};
use super::stored::{CaseErrors, CaseIdentity, Reading, StoredBlock, StoredCase, n_slots, read_cases, row_digests};
use super::values::read_scores;
use super::{
    CaseRanges, Code, Column, Document, Ended, FinishState, RowPlace, RunFileError, RunHead, RunState, SourceFile,
    SourceHead, TaskHead, Variant, claim,
};
use crate::database::{DatabaseError, Fault};
use crate::effects::{StoredEffect, asker_number};
use crate::packed::{Unreadable, unpack};

/// A run that is being read. It belongs to one thread; several may be open at a time.
#[derive(Debug)]
pub struct RunReader {
    path: PathBuf,
    connection: Connection,
    head: RunHead,
    /// The block that was looked at last.
    block: RefCell<Option<StoredBlock>>,
    rows: RefCell<RowFiles>,
}

/// The verdicts of the cases of a block, in some columns.
#[derive(Debug)]
pub struct BlockVerdicts {
    first: u64,
    n: usize,
    cases: Option<Vec<u64>>,
    codes: Vec<Vec<Code>>,
}

impl BlockVerdicts {
    /// Each case with its verdicts, in the order of the columns that were asked for.
    pub fn cases(&self) -> impl Iterator<Item = (CaseIx, impl Iterator<Item = Code>)> {
        (0..self.n).map(|slot| {
            let case = self.cases.as_ref().map_or(self.first + slot as u64, |it| it[slot]);
            (CaseIx::numbered(case), self.codes.iter().map(move |it| it[slot]))
        })
    }

    /// In how many of the columns each case has this verdict, in the order of [`BlockVerdicts::cases`].
    pub fn counts(&self, code: Code) -> Vec<u32> {
        let mut counts = vec![0; self.n];
        // Column by column, which the processor does for many cases at once.
        for codes in &self.codes {
            counts.iter_mut().zip(codes).for_each(|(n, it)| *n += u32::from(*it == code));
        }
        counts
    }
}

/// How many cases of a slice ended how, for the case as a whole or for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSummary {
    pub column: Column,
    /// The slice; empty for the whole.
    pub slice: String,
    /// How many ended how, by the number of the [`Code`].
    pub counts: [u64; Code::COUNT],
    /// What else is known, as JSON.
    pub body: Option<String>,
}

impl StoredSummary {
    pub fn count(&self, code: Code) -> u64 {
        self.counts[usize::from(code as u8)]
    }
}

/// Something that happened during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    pub body: String,
}

impl RunReader {
    pub fn open(path: &Path) -> Result<RunReader, RunFileError> {
        RunReader::on(RUN.open_to_read(path)?, path)
    }

    /// Reads a run on this connection.
    pub(super) fn on(connection: Connection, path: &Path) -> Result<RunReader, RunFileError> {
        let head = read_head(&connection, path)?;
        let path = path.to_owned();
        Ok(RunReader { path, connection, head, block: RefCell::default(), rows: RefCell::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known before its first case, and its documents.
    pub fn head(&self) -> &RunHead {
        &self.head
    }

    /// A document by its name, as it is now.
    pub fn document(&self, name: &str) -> Result<Option<Vec<u8>>, RunFileError> {
        let select = "SELECT body FROM document WHERE name = ?1";
        let body: Option<Vec<u8>> =
            self.sqlite(self.connection.query_row(select, [name], |row| row.get(0)).optional())?;
        let body = body.map(|it| unpack(&it).map(std::borrow::Cow::into_owned)).transpose();
        Ok(body.map_err(|it| DatabaseError::of_part(&self.path, "document.body", it))?)
    }

    /// How far it has come.
    pub fn state(&self) -> Result<RunState, RunFileError> {
        let meta = |key| self.sqlite(meta(&self.connection, key));
        let number = |key| meta(key).map(|it| it.and_then(|it| it.parse::<u64>().ok()).unwrap_or_default());
        let finish = match meta("ended")?.as_deref().map(Ended::named) {
            None => None,
            Some(ended) => Some(FinishState {
                // A word of a later version: it ended, in a way that this one has no word for.
                ended: ended.unwrap_or(Ended::Failed),
                resumable: meta("resumable")?.as_deref() == Some("1"),
                at_ms: number("ended_at_ms")?,
                wall: Duration::from_micros(number("wall_us")?),
            }),
        };
        let n_cases = self.connection.query_row("SELECT coalesce(sum(n), 0) FROM block", [], |row| row.get(0));
        let self_contained = meta("self_contained")?.as_deref() == Some("1");
        Ok(RunState { finish, n_cases: self.sqlite(n_cases)?, self_contained })
    }

    /// How many cases it will have, once that was known; of a run that has ended, how many it was to have.
    pub fn expected_cases(&self) -> Result<Option<u64>, RunFileError> {
        Ok(self.sqlite(meta(&self.connection, EXPECTED_CASES))?.and_then(|it| it.parse().ok()))
    }

    /// How far it has come, as JSON, while it is in progress.
    pub fn progress(&self) -> Result<Option<String>, RunFileError> {
        self.sqlite(meta(&self.connection, PROGRESS))
    }

    /// A number that is another whenever another process has changed the file since this reader opened it.
    pub fn data_version(&self) -> Result<u64, RunFileError> {
        self.sqlite(self.connection.query_row("PRAGMA data_version", [], |row| row.get(0)))
    }

    /// Whether a process is writing it.
    pub fn is_being_written(&self) -> bool {
        claim::is_claimed(&self.path)
    }

    /// How many cases ended how, by task and slice.
    pub fn summary(&self) -> Result<Vec<StoredSummary>, RunFileError> {
        // One transaction, because a run that is resumed meanwhile has neither.
        let _transaction = self.sqlite(self.connection.unchecked_transaction())?;
        let summary = self.sqlite(read_summary(&self.connection))?;
        // A run that has not ended has no checksum yet, and those of earlier versions never have one.
        match self.sqlite(meta(&self.connection, SUMMARY_CHECKSUM))? {
            Some(sum) if sum != checksum(&summary) => {
                Err(DatabaseError::of_part(&self.path, "summary", Unreadable::Checksum).into())
            }
            _ => Ok(summary),
        }
    }

    pub fn events(&self) -> Result<Vec<StoredEvent>, RunFileError> {
        self.all("SELECT at_ms, body FROM event ORDER BY id", |row| {
            Ok(StoredEvent { at_ms: row.get(0)?, body: row.get(1)? })
        })
    }

    /// Cases in the order of input.
    pub fn cases(&self, range: Range<CaseIx>) -> Cases<'_> {
        Cases::new(self.reading(), range, StoredBlock::case)
    }

    /// Which cases there are, in the order of input; their rows and verdicts are not read.
    pub fn identities(&self) -> Cases<'_, CaseIdentity> {
        Cases::new(self.reading(), CaseIx::ALL, StoredBlock::identity)
    }

    /// How cases ended, in the order of input, each with its place.
    pub fn endings(&self) -> Cases<'_, (CaseIx, Code)> {
        Cases::new(self.reading(), CaseIx::ALL, StoredBlock::ending)
    }

    /// Why cases could not be judged, in the order of input; their rows are not read.
    pub fn errors(&self) -> Cases<'_, CaseErrors> {
        Cases::new(self.reading(), CaseIx::ALL, StoredBlock::errors).only(Code::Error)
    }

    /// The cases that the run has reached.
    pub fn case_ranges(&self) -> Result<CaseRanges, RunFileError> {
        Ok(CaseRanges::of(self.reading())?)
    }

    /// The cases that ended, or whose task ended, in a certain way; in the order of input. Only verdicts are read.
    pub fn find(&self, column: Column, code: Code) -> Found<'_> {
        self.find_any(column, &[code])
    }

    /// The same for several ways, in one pass.
    pub fn find_any(&self, column: Column, codes: &[Code]) -> Found<'_> {
        Found::new(self.reading(), column, codes)
    }

    /// Hands on every verdict of a column with its case, in no order that means anything. Only verdicts are read.
    pub fn each_verdict(&self, column: Column, take: &mut dyn FnMut(CaseIx, Code)) -> Result<(), RunFileError> {
        let select = "SELECT block.first, block.n, block.cases, verdicts.codes FROM block
             LEFT JOIN verdicts ON verdicts.task = ?1 AND verdicts.block = block.id";
        let mut select = self.sqlite(self.connection.prepare_cached(select))?;
        let mut rows = self.sqlite(select.query([column.0]))?;
        let part = |name, it| DatabaseError::of_part(&self.path, name, it);
        while let Some(row) = self.sqlite(rows.next())? {
            let (first, n): (u64, u64) = (self.sqlite(row.get(0))?, self.sqlite(row.get(1))?);
            let (cases, codes): (Option<Vec<u8>>, Option<Vec<u8>>) =
                (self.sqlite(row.get(2))?, self.sqlite(row.get(3))?);
            let n = n_slots(n).map_err(|it| part("block.n", it))?;
            let codes = unpack_codes(codes.as_deref(), n).map_err(|it| part("verdicts", it))?;
            let cases = cases.map(|it| read_cases(&it, first, n)).transpose();
            let cases = cases.map_err(|it| part("block.cases", it))?;
            for (slot, code) in codes.into_iter().enumerate() {
                take(CaseIx::numbered(cases.as_ref().map_or(first + slot as u64, |it| it[slot])), code);
            }
        }
        Ok(())
    }

    /// Calls `take` with the verdicts of some columns, block by block: adding them up by case needs one block in memory at a time.
    pub fn each_block(&self, columns: &[Column], take: &mut dyn FnMut(&BlockVerdicts)) -> Result<(), RunFileError> {
        let mut select = self.sqlite(self.connection.prepare_cached("SELECT id, first, n, cases FROM block"))?;
        let mut rows = self.sqlite(select.query([]))?;
        let part = |name, it| DatabaseError::of_part(&self.path, name, it);
        while let Some(row) = self.sqlite(rows.next())? {
            let (block, first): (i64, u64) = (self.sqlite(row.get(0))?, self.sqlite(row.get(1))?);
            let (n, cases): (u64, Option<Vec<u8>>) = (self.sqlite(row.get(2))?, self.sqlite(row.get(3))?);
            let n = n_slots(n).map_err(|it| part("block.n", it))?;
            let cases = cases.map(|it| read_cases(&it, first, n)).transpose();
            let cases = cases.map_err(|it| part("block.cases", it))?;
            let codes = columns.iter().map(|it| self.codes_of_block(*it, block, n)).collect::<Result<_, _>>()?;
            take(&BlockVerdicts { first, n, cases, codes });
        }
        Ok(())
    }

    fn codes_of_block(&self, column: Column, block: i64, n: usize) -> Result<Vec<Code>, RunFileError> {
        let select = "SELECT codes FROM verdicts WHERE task = ?1 AND block = ?2";
        let mut select = self.sqlite(self.connection.prepare_cached(select))?;
        let found = self.sqlite(select.query_row(params![column.0, block], |it| it.get(0)).optional())?;
        let codes: Option<Vec<u8>> = found.flatten();
        Ok(unpack_codes(codes.as_deref(), n).map_err(|it| DatabaseError::of_part(&self.path, "verdicts", it))?)
    }

    /// Hands on every score of a task, in no order that means anything.
    pub fn each_score(&self, column: Column, take: &mut dyn FnMut(f64)) -> Result<(), RunFileError> {
        let select = "SELECT block.n, scores.body FROM scores JOIN block ON block.id = scores.block WHERE task = ?1";
        let mut select = self.sqlite(self.connection.prepare_cached(select))?;
        let mut rows = self.sqlite(select.query([column.0]))?;
        while let Some(row) = self.sqlite(rows.next())? {
            let (n, body): (u64, Vec<u8>) = (self.sqlite(row.get(0))?, self.sqlite(row.get(1))?);
            let scores = n_slots(n).and_then(|n| read_scores(&body, n));
            let scores = scores.map_err(|it| DatabaseError::of_part(&self.path, "scores.body", it))?;
            scores.into_iter().flatten().for_each(&mut *take);
        }
        Ok(())
    }

    /// The case with this id and variant.
    pub fn case_ix(&self, id: &str, variant: usize) -> Result<Option<CaseIx>, RunFileError> {
        let Some(row) = self.row(id)? else { return Ok(None) };
        let n_variants = self.head.n_variants();
        let case_ix = Some(n_variants.case(row, variant)).filter(|it| n_variants.cases(row).contains(it));
        let Some(case_ix) = case_ix else { return Ok(None) };
        Ok(self.with_case(case_ix, |_, _| Ok(()))?.map(|()| case_ix))
    }

    /// The place of the row with this id.
    fn row(&self, id: &str) -> Result<Option<u64>, RunFileError> {
        match self.is_indexed()? {
            true => Ok(id_index::find(&self.connection, id).map_err(|it| it.at(&self.path, "id_page.body"))?),
            false => self.search(id),
        }
    }

    /// The cases of the row with this id.
    pub fn cases_of(&self, id: &str) -> Result<Vec<StoredCase>, RunFileError> {
        let Some(row) = self.row(id)? else { return Ok(Vec::new()) };
        // The block that was read last stays at hand, so that neighbours are found without reading it again.
        let Range { start, end } = self.head.n_variants().cases(row);
        (start.number()..end.number()).filter_map(|it| self.case(CaseIx::numbered(it)).transpose()).collect()
    }

    /// A case by its place in the order of input.
    pub fn case(&self, case_ix: CaseIx) -> Result<Option<StoredCase>, RunFileError> {
        self.with_case(case_ix, |block, slot| block.case(self.reading(), slot))
    }

    /// Which case has this place, without anything else about it.
    pub fn identity(&self, case_ix: CaseIx) -> Result<Option<CaseIdentity>, RunFileError> {
        self.with_case(case_ix, |block, slot| block.identity(self.reading(), slot))
    }

    /// The bytes of the row of the case with this place, without anything else about it.
    pub fn row_of(&self, case_ix: CaseIx) -> Result<Option<Vec<u8>>, RunFileError> {
        let located = self.with_case(case_ix, |block, slot| block.located(self.reading(), slot))?;
        located.map(|it| it.retained.map_or_else(|| self.row_bytes(it.place, it.block), Ok)).transpose()
    }

    /// The JSON of a case's row, from the run or from where it was.
    pub fn row_text(&self, case: &StoredCase) -> Result<String, RunFileError> {
        if let Some(text) = &case.row.retained {
            return Ok(text.clone());
        }
        let source = case.row.place.source as usize;
        let text = String::from_utf8(self.row_bytes(case.row.place, case.row.block)?);
        let name = |_| self.head.sources.get(source).map_or_else(String::new, |it| it.name.clone());
        text.map_err(|it| RunFileError::SourceChanged { name: name(it) })
    }

    /// The bytes of a row that is in its file. Where the file has changed since the run, the row is compared with what the run saw.
    pub(super) fn row_bytes(&self, place: RowPlace, block: i64) -> Result<Vec<u8>, RunFileError> {
        let trust = self.trust(place, block)?;
        if trust == Trust::Block {
            self.prove(place, block)?;
        }
        let bytes = self.rows.borrow_mut().read(&self.head.sources, self.directory(), place)?;
        match trust {
            Trust::Digest(digest) if xxh3_128(&bytes) != digest => Err(RowFiles::changed(&self.head.sources, place)),
            _ => Ok(bytes),
        }
    }

    /// How a row of a file is found to be the one that the run saw.
    pub(super) fn trust(&self, place: RowPlace, block: i64) -> Result<Trust, RunFileError> {
        let digests = || Ok(row_digests(self.reading(), block)?);
        self.rows.borrow_mut().trust(&self.head.sources, self.directory(), block, place, digests)
    }

    /// Compares all rows of a block with what the run saw, once.
    fn prove(&self, place: RowPlace, block: i64) -> Result<(), RunFileError> {
        let (sources, mut rows) = (&self.head.sources, self.rows.borrow_mut());
        match rows.is_proved(block) {
            Some(true) => Ok(()),
            Some(false) => Err(RowFiles::changed(sources, place)),
            None => {
                let mut block = StoredBlock::load(self.reading(), block)?;
                let slots = block.referenced(self.reading())?;
                rows.prove(sources, self.directory(), &block, &slots, &mut |_, _| ())
            }
        }
    }

    /// Reads a part of a source; false when it cannot be read.
    pub(super) fn read_span(&self, source: u32, span: &Range<u64>, bytes: &mut Vec<u8>) -> bool {
        let read = self.rows.borrow_mut().read_span(&self.head.sources, self.directory(), source, span, bytes);
        read.is_ok_and(|it| it)
    }

    /// The effects of a case, in the order of their sites.
    pub fn effects_of(&self, case_ix: CaseIx) -> Result<Vec<StoredEffect>, RunFileError> {
        let all = format!("SELECT {} WHERE case_ix = ?1 ORDER BY task, seat, turn, attempt", log::COLUMNS);
        self.read_effects(&all, params![case_ix.number()])
    }

    /// The last outcome at a site.
    pub fn effect_at(&self, case_ix: CaseIx, site: StepSite) -> Result<Option<StoredEffect>, RunFileError> {
        Ok(log::effect_at(&self.connection, case_ix, site).map_err(|it| it.at(&self.path, "effect"))?)
    }

    /// All effects, in the order of cases and sites.
    pub fn effects(&self) -> Effects<'_> {
        Effects { reader: self, last: None, waiting: Vec::new().into_iter() }
    }

    /// The effects in numbers. What checks had looked at or called are no answers.
    pub fn effect_stats(&self) -> Result<EffectStats, RunFileError> {
        let stored: Option<String> = self.sqlite(meta(&self.connection, stats::META))?;
        match stored.and_then(|it| EffectStats::read(&it)) {
            Some(stored) => Ok(stored),
            None => self.sqlite(EffectStats::counted(&self.connection)),
        }
    }

    pub(super) fn reading(&self) -> Reading<'_> {
        Reading {
            connection: &self.connection,
            path: &self.path,
            n_columns: self.head.tasks.len() + 1,
            n_variants: self.head.n_variants(),
        }
    }

    /// Paths of sources are relative to where the run is.
    pub(super) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    pub(super) fn sqlite<T>(&self, result: rusqlite::Result<T>) -> Result<T, RunFileError> {
        Ok(self.reading().sqlite(result)?)
    }

    pub(super) fn all<T>(
        &self,
        select: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, RunFileError> {
        let mut select = self.sqlite(self.connection.prepare_cached(select))?;
        self.sqlite(select.query_map([], read).and_then(Iterator::collect))
    }

    /// Does something with the block and slot of a case; the block stays at hand, because cases are mostly looked at in order.
    fn with_case<T>(
        &self,
        case_ix: CaseIx,
        work: impl FnOnce(&mut StoredBlock, usize) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, RunFileError> {
        let mut at_hand = self.block.borrow_mut();
        let is_at_hand = at_hand.as_ref().is_some_and(|it| it.slot_of(case_ix).is_some());
        if !is_at_hand {
            let select = "SELECT id FROM block WHERE first <= ?1 AND last >= ?1 ORDER BY first DESC";
            let mut select = self.sqlite(self.connection.prepare_cached(select))?;
            let blocks = select.query_map([case_ix.number()], |row| row.get(0)).and_then(Iterator::collect);
            let blocks: Vec<i64> = self.sqlite(blocks)?;
            for id in blocks {
                let block = StoredBlock::load(self.reading(), id)?;
                if block.slot_of(case_ix).is_some() {
                    *at_hand = Some(block);
                    break;
                }
            }
        }
        let found = at_hand.as_mut().and_then(|block| Some((block.slot_of(case_ix)?, block)));
        Ok(found.map(|(slot, block)| work(block, slot)).transpose()?)
    }

    /// Whether ids are in order, which they are at the end.
    fn is_indexed(&self) -> Result<bool, RunFileError> {
        Ok(self.sqlite(meta(&self.connection, "ended"))?.is_some())
    }

    /// Looks for an id in every block.
    fn search(&self, id: &str) -> Result<Option<u64>, RunFileError> {
        let mut headers = Headers::default();
        while let Some(header) = headers.next(self.reading())? {
            let block = StoredBlock::load(self.reading(), header.id)?;
            if let Some(slot) = (0..block.n).find(|slot| shown_id(&block.id(*slot), None) == id) {
                return Ok(Some(self.head.n_variants().place(block.case_ix(slot))));
            }
        }
        Ok(None)
    }

    fn read_effects(&self, select: &str, arguments: impl Params) -> Result<Vec<StoredEffect>, RunFileError> {
        let read = || -> Result<Vec<StoredEffect>, Fault> {
            let mut select = self.connection.prepare_cached(select)?;
            let mut rows = select.query(arguments)?;
            let mut effects = Vec::new();
            while let Some(row) = rows.next()? {
                effects.push(log::read(row)?);
            }
            Ok(effects)
        };
        Ok(read().map_err(|it| it.at(&self.path, "effect"))?)
    }
}

/// All effects of a run, looked up some at a time, so that no transaction stays open.
#[derive(Debug)]
pub struct Effects<'r> {
    reader: &'r RunReader,
    /// The place of the last that was looked up.
    last: Option<[u64; 5]>,
    waiting: std::vec::IntoIter<StoredEffect>,
}

impl Effects<'_> {
    /// How many are looked up at a time.
    const AHEAD: usize = 64;

    fn advance(&mut self) -> Result<Option<StoredEffect>, RunFileError> {
        if let Some(effect) = self.waiting.next() {
            return Ok(Some(effect));
        }
        let place = "case_ix, task, seat, turn, attempt";
        let after = if self.last.is_some() { format!("WHERE ({place}) > (?1, ?2, ?3, ?4, ?5)") } else { String::new() };
        let select = format!("SELECT {} {after} ORDER BY {place} LIMIT {}", log::COLUMNS, Self::AHEAD);
        let effects = match self.last {
            Some(last) => self.reader.read_effects(&select, last)?,
            None => self.reader.read_effects(&select, [])?,
        };
        self.last = effects.last().map(place_of).or(self.last);
        self.waiting = effects.into_iter();
        Ok(self.waiting.next())
    }
}

fn place_of(effect: &StoredEffect) -> [u64; 5] {
    let StoredEffect { case_ix, site, attempt, .. } = effect;
    let numbers = [asker_number(site.asker), site.slot, site.turn, *attempt].map(u64::from);
    [case_ix.number(), numbers[0], numbers[1], numbers[2], numbers[3]]
}

impl Iterator for Effects<'_> {
    type Item = Result<StoredEffect, RunFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// When a run began, in milliseconds since 1970, from its file; `None` when that cannot be read.
pub(crate) fn began_at_ms(path: &Path) -> Option<u64> {
    let connection = RUN.open_to_read(path).ok()?;
    meta(&connection, "created_at_ms").ok()??.parse().ok()
}

/// When a run ended, or began if it has not ended, in milliseconds since 1970. `None` for a file that cannot be read, and for a run that ended
/// without a case.
pub(crate) fn last_at_ms(path: &Path) -> Option<u64> {
    let connection = RUN.open_to_read(path).ok()?;
    let number = |key| -> Option<u64> { meta(&connection, key).ok()??.parse().ok() };
    let began = number("created_at_ms")?;
    let has_cases =
        || connection.query_row("SELECT EXISTS (SELECT 1 FROM block)", [], |row| row.get(0)).unwrap_or(true);
    match number("ended_at_ms") {
        Some(ended) => has_cases().then_some(ended.max(began)),
        None => Some(began),
    }
}

/// The fact that says how many cases there will be.
pub(super) const EXPECTED_CASES: &str = "expected_cases";

/// The fact that says how far a run has come.
pub(super) const PROGRESS: &str = "progress";

/// The fact that holds the checksum of a summary.
pub(super) const SUMMARY_CHECKSUM: &str = "summary_checksum";

pub(super) fn read_summary(connection: &Connection) -> rusqlite::Result<Vec<StoredSummary>> {
    let select =
        "SELECT task, slice, passed, failed, measured, skipped_by_gate, skipped_by_error, error, not_run, absent,
                        not_judged, body FROM summary ORDER BY slice, task";
    let mut select = connection.prepare(select)?;
    let rows = select.query_map([], |row| {
        let mut counts = [0; Code::COUNT];
        counts.iter_mut().enumerate().try_for_each(|(ix, count)| row.get(ix + 2).map(|it| *count = it))?;
        Ok(StoredSummary { column: Column(row.get(0)?), slice: row.get(1)?, counts, body: row.get(11)? })
    });
    rows?.collect()
}

/// The XXH3 hash over all members of a summary, in the order in which they are read.
pub(super) fn checksum(summary: &[StoredSummary]) -> String {
    let mut hasher = Xxh3::new();
    for StoredSummary { column, slice, counts, body } in summary {
        hasher.update(&column.0.to_le_bytes());
        for text in [slice.as_str(), body.as_deref().unwrap_or_default()] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        counts.iter().for_each(|it| hasher.update(&it.to_le_bytes()));
    }
    format!("{:016x}", hasher.digest())
}

/// A fact about a run.
pub(super) fn meta(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

fn read_head(connection: &Connection, path: &Path) -> Result<RunHead, DatabaseError> {
    let sqlite = |it| DatabaseError::of(path, it);
    let text = |key| meta(connection, key).map(Option::unwrap_or_default).map_err(sqlite);
    let number = |key| text(key).map(|it| it.parse().unwrap_or_default());
    let head = || -> rusqlite::Result<RunHead> {
        let mut sources = connection.prepare("SELECT name, path, size, mtime_ns FROM source ORDER BY id")?;
        let sources = sources.query_map([], |row| {
            let path: Option<String> = row.get(1)?;
            let file = match path {
                Some(path) => Some(SourceFile { path, size: row.get(2)?, mtime_ns: row.get(3)? }),
                None => None,
            };
            Ok(SourceHead { name: row.get(0)?, file })
        });
        let mut tasks = connection
            .prepare("SELECT id, kind, gate, stage, path, operator, expected FROM task WHERE ix > 0 ORDER BY ix")?;
        let tasks = tasks.query_map([], |row| {
            Ok(TaskHead {
                id: row.get(0)?,
                kind: row.get(1)?,
                gate: row.get(2)?,
                stage: row.get(3)?,
                path: row.get(4)?,
                operator: row.get(5)?,
                expected: row.get(6)?,
            })
        });
        let mut variants = connection.prepare("SELECT prompt, subject, replicate FROM variant ORDER BY ix")?;
        let variants = variants
            .query_map([], |row| Ok(Variant { prompt: row.get(0)?, subject: row.get(1)?, replicate: row.get(2)? }));
        Ok(RunHead {
            sources: sources?.collect::<Result<_, _>>()?,
            tasks: tasks?.collect::<Result<_, _>>()?,
            variants: variants?.collect::<Result<_, _>>()?,
            ..RunHead::default()
        })
    };
    let documents = || -> rusqlite::Result<Vec<(String, Vec<u8>)>> {
        let mut documents = connection.prepare("SELECT name, body FROM document ORDER BY name")?;
        documents.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let document = |(name, body): (String, Vec<u8>)| Ok(Document { name, body: unpack(&body)?.into_owned() });
    let documents: Result<Vec<Document>, Unreadable> = documents().map_err(sqlite)?.into_iter().map(document).collect();
    Ok(RunHead {
        id: text("id")?,
        suite: text("suite")?,
        suite_hash: text("suite_hash")?,
        seed: number("seed")?,
        created_at_ms: number("created_at_ms")?,
        version: text("version")?,
        resume_key: text("resume_key")?,
        documents: documents.map_err(|it| DatabaseError::of_part(path, "document.body", it))?,
        ..head().map_err(sqlite)?
    })
}
