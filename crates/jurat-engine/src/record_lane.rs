//! Cases without requests, judged on threads, a chunk of rows at a time. Cases that have something to ask are handed on.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use jurat_compare::expression::Interrupt;
use jurat_core::case::{CaseState, Room};
use jurat_core::plan::CaseSource;
use jurat_core::verdict::{CaseVerdict, StopReason};
use jurat_format::value::{Record, Val};
use jurat_store::records::{RowAt, RowId};
use jurat_store::run::{Block, BlockBuilder, CaseRanges};
use tokio::sync::mpsc::Sender;
use xxhash_rust::xxh3::xxh3_64;

use crate::case_source::OpenCase;
use crate::case_store::{CaseStore, Done, place};
use crate::row_order::RowOrder;
use crate::rows::{Batch, BatchRow, Rows, id_text, may_be_refused};
use crate::unseen::Unseen;
use crate::{Rerun, RunError};

/// How many ids are held for finding a second row with the same one at once. Files that repeat ids mostly do so from the beginning.
const MOST_IDS: usize = 7_000;

/// What a thread that judges needs.
pub(crate) struct RecordLane<'r> {
    pub(crate) rows: &'r Rows<'r>,
    pub(crate) store: CaseStore<'r>,
    /// Where open cases go. `None` when the plan makes no requests.
    pub(crate) open: Option<Sender<Vec<OpenCase>>>,
    /// How many of them go at once.
    pub(crate) hand: usize,
    /// The first ids, when a case may cost money: a second row with one of them is found before it is paid for. All others are found when the
    /// run ends, which costs no memory.
    pub(crate) ids: Option<Mutex<HashMap<u64, (u32, u64)>>>,
    /// The cases that there are; `None` for all. A run that was stopped is replayed as far as it came.
    pub(crate) only: Option<&'r CaseRanges>,
    /// The cases of an earlier run that alone are run.
    pub(crate) rerun: Option<&'r Rerun>,
    /// The cases of the definition that run among the rows, in order; none where they come before all rows.
    pub(crate) defined: Mutex<VecDeque<OpenCase>>,
    /// What opens cases ahead of their turns; `None` when all are opened in order.
    pub(crate) unseen: Option<&'r Unseen<'r>>,
}

impl RecordLane<'_> {
    /// Hands on the cases that stand in the definition, which come before all rows.
    pub(crate) fn begin(&self, defined: &[OpenCase]) -> Result<(), RunError> {
        let mut opened = Vec::new();
        for first in defined {
            self.open_variants(&mut opened, first);
            if opened.len() >= self.hand {
                self.open(&mut opened)?;
            }
        }
        self.open(&mut opened)
    }

    /// Judges batches until there are no more. `fail` learns which of them could not be judged, and why; no more are then judged here.
    pub(crate) fn work(&self, order: &RowOrder, fail: &dyn Fn(u64, RunError)) {
        let mut block = BlockBuilder::new(self.store.plan.tasks.len(), self.store.layout.n_variants());
        let mut opened = Vec::new();
        let _entered = self.store.stop.evaluations().enter();
        while let Some((batch, turn)) = order.next() {
            let number = turn.number;
            let judged = self.judge(&mut block, &mut opened, &batch);
            let ended = judged.and_then(|blocks| turn.end(blocks, &mut |it| self.write(it)));
            if let Err(error) = ended {
                return fail(number, error);
            }
        }
        self.begin_before(Some(u64::MAX), &mut opened);
        self.open(&mut opened).unwrap_or_else(|error| fail(u64::MAX, error));
    }

    /// Judges the rows of a batch, and returns what is to be stored of them.
    fn judge(
        &self,
        block: &mut BlockBuilder,
        opened: &mut Vec<OpenCase>,
        batch: &Batch,
    ) -> Result<Vec<Block>, RunError> {
        // Rows are read ahead by the hundred thousand. After Ctrl-C they are judged when the run is resumed; those that ask are listed as not run.
        let is_ended = |it| matches!(it, StopReason::Interrupted | StopReason::Decided);
        let mut blocks = Vec::new();
        if self.open.is_none() && self.store.stop.reason().is_some_and(is_ended) {
            return Ok(blocks);
        }
        let columns = batch.chunk.parts(&self.store.plan.footprint);
        for row in batch.iter(columns.as_ref()) {
            self.begin_before(row.turn, opened);
            match self.unseen.filter(|_| batch.is_ahead) {
                Some(unseen) => self.row_ahead(unseen, opened, row)?,
                None => self.row(block, opened, row)?,
            }
            if opened.len() >= self.hand {
                self.open(opened)?;
            }
            if block.is_full() {
                blocks.extend(block.close());
            }
        }
        self.open(opened)?;
        blocks.extend(block.close());
        Ok(blocks)
    }

    /// Opens the cases of the definition whose turn is before that of a row.
    fn begin_before(&self, turn: Option<u64>, opened: &mut Vec<OpenCase>) {
        let Some(turn) = turn else { return };
        let mut defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(next) = defined.pop_front_if(|it| it.turn < self.first_turn(turn)) {
            self.open_variants(opened, &next);
        }
    }

    /// The turn of the first case of a source, by that of the source.
    fn first_turn(&self, turn: u64) -> u64 {
        self.store.layout.n_variants().first(turn).number()
    }

    fn write(&self, block: Block) -> Result<(), RunError> {
        let n_cases = self.store.write(block)?;
        self.store.progress.done.fetch_add(n_cases, Ordering::Relaxed);
        Ok(())
    }

    /// Opens the cases of a row that ask something new. A row that ends the run ends it here, before more is paid for.
    fn row_ahead(&self, unseen: &Unseen<'_>, opened: &mut Vec<OpenCase>, row: BatchRow<'_>) -> Result<(), RunError> {
        let (BatchRow { at, text, .. }, CaseStore { plan, layout, .. }) = (row, self.store);
        let record = self.rows.parsed(at, text)?;
        let value = record.value.borrowed();
        let base = self.rows.base(at.source, Record { value: value.borrowed(), ..record });
        let id = self.rows.id(at, &value, text)?;
        self.admit(&id, at)?;
        let (id_text, source) = (id_text(&id), layout.of_row(row.place));
        for (variant, case_ix) in layout.cases(source) {
            let room = Room::default();
            let asked = unseen.asked(variant).filter(|_| plan.ask.is_some());
            let case = self.rows.begin(plan, (&id_text, at.source), (&value, &base), asked, &room);
            if self.runs(source, &id, variant) && unseen.is_new(&case) {
                unseen.note(case_ix);
                opened.push(OpenCase {
                    case_ix,
                    turn: case_ix.number(),
                    id: owned(id.clone()),
                    place: place(at),
                    text: text.into(),
                    source,
                });
            }
        }
        Ok(())
    }

    /// Judges a row by the part of it that the plan reads. Whatever that part does not settle is judged again with the whole row
    /// there: messages should know what else the row has, and paths of a row that is not an object start with `value`, which is no
    /// part of it. Asking costs so much more than reading that plans which ask get the whole row at once.
    fn row(&self, block: &mut BlockBuilder, opened: &mut Vec<OpenCase>, row: BatchRow<'_>) -> Result<(), RunError> {
        let CaseStore { plan, layout, .. } = self.store;
        if plan.ask.is_none() && self.only.is_some_and(|it| !it.contains(layout.case(CaseSource::Row(row.place), 0))) {
            return Ok(());
        }
        if self.part_of_row(block, row)? { Ok(()) } else { self.whole_row(block, opened, row) }
    }

    /// Judges a row by the part of it that the plan reads; returns whether that settles it. What the text has beside that part does not matter, except
    /// that a row without an id is named by its text.
    pub(crate) fn part_of_row(&self, block: &mut BlockBuilder, row: BatchRow<'_>) -> Result<bool, RunError> {
        let (BatchRow { place: row_ix, at, text, columns, .. }, plan) = (row, self.store.plan);
        if self.open.is_none()
            && !plan.footprint.is_all()
            && !plan.narrows()
            && !self.rows.has_runs()
            && !self.rows.has_defaults()
            && !may_be_refused(text)
        {
            let started = Instant::now();
            let Record { value: part, repeated_key } = match columns.and_then(|it| it.part(at.number)) {
                Some(value) => Record { value, repeated_key: false },
                None => plan.footprint.read(text).map_err(|error| self.rows.not_json(at, error))?,
            };
            if let Val::Map(_) = part
                && !repeated_key
                && let Ok(id) = self.rows.id(at, &part, text)
            {
                let state = CaseState::start(plan, &part);
                if state.verdict().is_some_and(|it| it != CaseVerdict::Error) {
                    self.put(block, row_ix, at, text, (&id, &part, &state), started);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    pub(crate) fn whole_row(
        &self,
        block: &mut BlockBuilder,
        opened: &mut Vec<OpenCase>,
        BatchRow { place: row_ix, turn, at, text, .. }: BatchRow<'_>,
    ) -> Result<(), RunError> {
        let started = Instant::now();
        let row = self.rows.parsed(at, text)?;
        let id = owned(self.rows.id(at, &row.value, text)?);
        self.admit(&id, at)?;
        let plan = self.store.plan;
        if plan.ask.is_none() {
            let base = match self.rows.base(at.source, row) {
                Ok(base) => base,
                Err(verdict) => {
                    let row = self.rows.parsed(at, text)?.value;
                    let id_text = id_text(&id);
                    let name = self.rows.case_name(plan, &id_text, (at.source, &row));
                    let state = CaseState::without_evidence(plan, &name, &verdict);
                    self.put(block, row_ix, at, text, (&id, &row, &state), started);
                    return Ok(());
                }
            };
            let id_text = id_text(&id);
            let state = CaseState::over(plan, &base, &self.rows.case_name(plan, &id_text, (at.source, &base)));
            if state.is_done() {
                self.put(block, row_ix, at, text, (&id, &base, &state), started);
                return Ok(());
            }
        }
        let layout = self.store.layout;
        let source = layout.of_row(row_ix);
        let case_ix = layout.case(source, 0);
        let turn = turn.map_or(case_ix.number(), |it| self.first_turn(it));
        let first = OpenCase { case_ix, turn, id, place: place(at), text: text.into(), source };
        self.open_variants(opened, &first);
        Ok(())
    }

    /// Opens the cases of a source that are run.
    fn open_variants(&self, opened: &mut Vec<OpenCase>, first: &OpenCase) {
        for (variant, case_ix) in self.store.layout.cases(first.source) {
            let is_opened = self.unseen.is_some_and(|it| it.is_opened(case_ix));
            if !is_opened && self.runs(first.source, &first.id, variant) {
                let turn = first.turn + variant as u64;
                opened.push(OpenCase { case_ix, turn, ..first.clone() });
            }
        }
    }

    /// Whether a variant is run.
    fn runs(&self, source: CaseSource, id: &RowId<'_>, variant: usize) -> bool {
        let is_wanted = |it: &Rerun| it.has(&id_text(id), self.store.variants.get(variant));
        matches!(source, CaseSource::Row(_)) || self.rerun.is_none_or(is_wanted)
    }

    /// Hands on the cases that ask.
    fn open(&self, opened: &mut Vec<OpenCase>) -> Result<(), RunError> {
        let Some(open) = self.open.as_ref().filter(|_| !opened.is_empty()) else { return Ok(()) };
        // No lane takes them any more when the run has failed; its error is reported there.
        open.blocking_send(std::mem::take(opened)).map_err(|_| RunError::WriterGone)
    }

    fn put(
        &self,
        block: &mut BlockBuilder,
        row_ix: u64,
        at: &RowAt,
        text: &str,
        (id, base, state): (&RowId<'_>, &Val<'_>, &CaseState<'_>),
        started: Instant,
    ) {
        // The row is judged when the run is resumed.
        if Interrupt::was_noticed() {
            return;
        }
        let case_ix = self.store.layout.case(CaseSource::Row(row_ix), 0);
        let done = Done { case_ix, id, place: place(at), text, base, state, took: started.elapsed() };
        self.store.put(block, &done);
    }

    /// Finds a second row with the id of another, before anything is asked about it.
    fn admit(&self, id: &RowId<'_>, at: &RowAt) -> Result<(), RunError> {
        let (Some(ids), RowId::Given(text)) = (&self.ids, id) else { return Ok(()) };
        let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = xxh3_64(text.as_bytes());
        match ids.get(&hash).copied() {
            None => {
                if ids.len() < MOST_IDS {
                    ids.insert(hash, (at.source, at.number));
                }
                Ok(())
            }
            // The row itself, when it is read again.
            Some(known) if known == (at.source, at.number) => Ok(()),
            Some((source, number)) => {
                let (first, second) =
                    ((source, number).min((at.source, at.number)), (source, number).max((at.source, at.number)));
                Err(RunError::Duplicate(jurat_store::records::DuplicateId {
                    id: text.to_string(),
                    first: self.rows.names.row(first.0, first.1),
                    second: self.rows.names.row(second.0, second.1),
                }))
            }
        }
    }
}

/// The id for longer than its row.
pub(crate) fn owned(id: RowId<'_>) -> RowId<'static> {
    match id {
        RowId::Given(id) => RowId::Given(id.into_owned().into()),
        RowId::Content(hash) => RowId::Content(hash),
    }
}
