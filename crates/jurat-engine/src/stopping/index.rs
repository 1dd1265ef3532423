//! The rows of a run that may stop early, known before the first of them runs.
//!
//! A random order needs all rows at once. Of rows that are JSON in a file only their places are held, and each is read again when its turn comes; rows of other
//! files are held as JSON.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::PathBuf;

use jurat_core::plan::{CaseLayout, CaseSource, Plan};
use jurat_core::stopping::Order;
use jurat_core::suite::{Records, RowSource};
use jurat_format::value::{FieldPath, Val};
use jurat_store::records::{Chunk, RowAt};
use jurat_store::run::{digest, key_of};

use super::StopError;
use crate::case_source::{DefinedCases, OpenCase};
use crate::row_columns::{group, question_digest};
use crate::rows::{Batch, BatchRow, Rows, Selection, id_text, is_listed};
use crate::{RunError, Stop};

/// The rows of a run in the order in which they run. What the author wrote once is a row: a row of the data, a scenario, a case for an agent.
pub(crate) struct RowIndex {
    rows: Vec<IndexedRow>,
    order: Order,
    /// The turn of each row, by the place of its source.
    turns: HashMap<u64, u32>,
    files: Vec<Option<PathBuf>>,
    is_clustered: bool,
}

/// A row that will run.
pub(crate) struct IndexedRow {
    /// The place of its source among all sources.
    place: u64,
    pub(crate) source: CaseSource,
    /// Where it is; `None` for what stands in the definition.
    at: Option<RowAt>,
    /// Its JSON, where the file does not have it.
    text: Option<Box<str>>,
    /// The hash that its id is found by.
    pub(crate) key: u128,
    /// The digest of what it asks; 0 where that is not known.
    pub(crate) question: u128,
    pub(crate) tags: Vec<String>,
    /// What it has at the paths that conditions select by.
    pub(crate) values: Vec<Option<String>>,
}

/// What is looked at of each row.
pub(crate) struct Look<'l> {
    pub(crate) plan: &'l Plan,
    pub(crate) layout: CaseLayout,
    pub(crate) records: &'l [Records],
    pub(crate) selection: &'l Selection,
    pub(crate) seed: u64,
    /// The paths of slices that conditions name.
    pub(crate) paths: &'l [FieldPath],
}

/// How many rows are handed on at a time.
const BATCH: usize = 64;

impl RowIndex {
    /// Reads all rows once.
    pub(crate) fn read(look: &Look<'_>) -> Result<RowIndex, StopError> {
        if look.records.iter().any(|it| it.from.is_stream()) {
            return Err(StopError::Stream);
        }
        let (rows, stop) = (Rows::of(look.records), Stop::new());
        let defined = DefinedCases { plan: look.plan, layout: look.layout, n_row_sources: rows.n_sources() };
        let defined = defined.selected(look.selection, &stop)?;
        let (mut found, mut clusters, mut failure) = (Vec::new(), Clusters::default(), None);
        for case in &defined {
            found.push(IndexedRow::defined(look, case));
            clusters.add(None);
        }
        rows.read(look.selection, defined.len() as u64, &mut std::io::empty(), &stop, &mut |batch| {
            for row in batch.iter(None) {
                match IndexedRow::read(look, &rows, row) {
                    Ok((row, cluster)) => {
                        found.push(row);
                        clusters.add(cluster);
                    }
                    Err(error) => failure = Some(error),
                }
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(()), Err)?;
        let n_rows = u32::try_from(found.len()).map_err(|_| StopError::TooManyRows)?;
        let is_clustered = look.plan.cluster_by.is_some();
        let order = match is_clustered {
            true => Order::of_clusters(look.seed, &clusters.numbers),
            false => Order::of_rows(look.seed, n_rows),
        };
        let turns = (0..).zip(order.rows()).map(|(turn, row)| (found[*row as usize].place, turn)).collect();
        Ok(RowIndex { rows: found, order, turns, files: files(look.records), is_clustered })
    }

    pub(crate) fn order(&self) -> &Order {
        &self.order
    }

    pub(crate) fn is_clustered(&self) -> bool {
        self.is_clustered
    }

    /// The row that runs at a turn.
    pub(crate) fn at_turn(&self, turn: u32) -> &IndexedRow {
        &self.rows[self.order.rows()[turn as usize] as usize]
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The turn of the row whose source is at a place.
    pub(crate) fn turn(&self, place: u64) -> Option<u32> {
        self.turns.get(&place).copied()
    }

    /// Hands on the rows of the data in their order, until `each` breaks or the run is stopped.
    pub(crate) fn deliver(&self, stop: &Stop, each: &mut dyn FnMut(Batch) -> ControlFlow<()>) -> Result<(), RunError> {
        let mut files = Files::new(&self.files);
        let mut loaded = Loaded::default();
        for turn in 0..self.rows.len() as u32 {
            let row = self.at_turn(turn);
            let (Some(at), CaseSource::Row(number) | CaseSource::Probe(number)) = (&row.at, row.source) else {
                continue;
            };
            loaded.add(at, &row.text, number, turn, &mut files)?;
            if loaded.rows.len() == BATCH {
                let flow = loaded.take()?.map_or(ControlFlow::Continue(()), &mut *each);
                if flow.is_break() || stop.reason().is_some_and(|it| !is_listed(it)) {
                    return Ok(());
                }
            }
        }
        if let Some(last) = loaded.take()? {
            // Whether it would like more rows does not matter after the last.
            let _ = each(last);
        }
        Ok(())
    }
}

impl IndexedRow {
    fn defined(look: &Look<'_>, case: &OpenCase) -> IndexedRow {
        let tags = match case.source {
            CaseSource::Scenario(ix) => look.plan.scenarios[ix].scenario.tags.clone(),
            CaseSource::Agent(ix) => look.plan.cases[ix].tags.clone(),
            CaseSource::Row(_) | CaseSource::Probe(_) => Vec::new(),
        };
        IndexedRow {
            place: look.layout.n_variants().place(case.case_ix),
            source: case.source,
            at: None,
            text: None,
            key: key_of(&id_text(&case.id)),
            question: 0,
            tags,
            values: vec![None; look.paths.len()],
        }
    }

    /// A row of the data, and what it shares with others.
    fn read(
        look: &Look<'_>,
        rows: &Rows<'_>,
        BatchRow { place: number, at, text, .. }: BatchRow<'_>,
    ) -> Result<(IndexedRow, Option<String>), RunError> {
        let row = rows.parsed(at, text)?;
        let id = rows.id(at, &row.value, text)?;
        let (key, source) = (key_of(&id_text(&id)), look.layout.of_row(number));
        let tags = rows.tags(at.source, &row.value).into_iter().map(str::to_owned).collect();
        let base = rows.base(at.source, row).unwrap_or(Val::Null);
        let question = match (&look.plan.ask, look.plan.question.is_empty()) {
            (Some(_), _) => digest(text.as_bytes()),
            (None, false) => question_digest(&look.plan.question, &base),
            (None, true) => 0,
        };
        let found = IndexedRow {
            place: look.layout.n_variants().place(look.layout.case(source, 0)),
            source,
            at: Some(at.clone()),
            text: at.offset.is_none().then(|| text.into()),
            key,
            question,
            tags,
            values: look.paths.iter().map(|path| group(path, &base)).collect(),
        };
        Ok((found, look.plan.cluster_by.as_ref().and_then(|path| group(path, &base))))
    }
}

/// The clusters of rows, numbered in the order in which they first occur. Rows without a value are clusters of one.
#[derive(Default)]
struct Clusters {
    numbers: Vec<u32>,
    known: HashMap<String, u32>,
    next: u32,
}

impl Clusters {
    fn add(&mut self, value: Option<String>) {
        let next = self.next;
        let number = value.map_or(next, |it| *self.known.entry(it).or_insert(next));
        self.next += u32::from(number == next);
        self.numbers.push(number);
    }
}

/// The file of each source, where it is one.
fn files(records: &[Records]) -> Vec<Option<PathBuf>> {
    let of = |it: &Records| match &it.from {
        RowSource::Files(files) => files.iter().map(|it| Some(it.path.clone())).collect(),
        RowSource::StandardInput | RowSource::Program | RowSource::Inline(_) => vec![None],
    };
    records.iter().flat_map(of).collect()
}

/// Files that rows are read from again.
struct Files<'f> {
    paths: &'f [Option<PathBuf>],
    open: HashMap<u32, File>,
}

impl<'f> Files<'f> {
    fn new(paths: &'f [Option<PathBuf>]) -> Files<'f> {
        Files { paths, open: HashMap::new() }
    }

    /// The bytes of a row, after those of others.
    fn read(&mut self, at: &RowAt, offset: u64, text: &mut Vec<u8>) -> std::io::Result<()> {
        let path = self.paths.get(at.source as usize).and_then(Option::as_ref);
        let path = path.ok_or_else(|| std::io::Error::other("its rows are in no file"))?;
        let file = match self.open.entry(at.source) {
            std::collections::hash_map::Entry::Occupied(it) => it.into_mut(),
            std::collections::hash_map::Entry::Vacant(it) => it.insert(File::open(path)?),
        };
        file.seek(SeekFrom::Start(offset))?;
        let start = text.len();
        text.resize(start + at.range.len(), 0);
        file.read_exact(&mut text[start..])
    }
}

/// Rows that are handed on together.
#[derive(Default)]
struct Loaded {
    text: Vec<u8>,
    rows: Vec<RowAt>,
    places: Vec<u64>,
    turns: Vec<u64>,
}

impl Loaded {
    fn add(
        &mut self,
        at: &RowAt,
        text: &Option<Box<str>>,
        place: u64,
        turn: u32,
        files: &mut Files<'_>,
    ) -> Result<(), RunError> {
        let start = self.text.len() as u32;
        match (text, at.offset) {
            (Some(text), _) => self.text.extend_from_slice(text.as_bytes()),
            (None, Some(offset)) => files.read(at, offset, &mut self.text)?,
            (None, None) => {}
        }
        self.rows.push(RowAt { range: start..self.text.len() as u32, ..at.clone() });
        self.places.push(place);
        self.turns.push(u64::from(turn));
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Batch>, RunError> {
        let Loaded { text, rows, places, turns } = std::mem::take(self);
        let changed = |_| std::io::Error::other("a file of rows changed while the run read it");
        let text = String::from_utf8(text).map_err(changed)?;
        Ok((!rows.is_empty()).then(|| Batch::ordered(Chunk::of(text, rows), places, turns)))
    }
}
