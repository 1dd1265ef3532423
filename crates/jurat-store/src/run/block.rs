//! Some thousand cases before they are written to the file, column by column.
//!
//! A [`BlockBuilder`] belongs to one thread, which also pays for ordering, hashing and compressing; what it makes is a [`Block`] of bytes
//! that the writer only inserts. Nothing is done for a verdict that passed, and for a case that passed only what it takes to find it
//! again.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

use jurat_core::plan::{CaseIx, VariantCount};
use xxhash_rust::xxh3::xxh3_128;

use super::code::pack_codes;
use super::detail::put_line;
use super::identity::{self, id_hash, numbered_content_id};
use super::place;
use super::values::{write_labels, write_scores};
use super::{CaseTaken, Code, Column, Detail, RowPlace, taken};
use crate::packed::{PLAIN, Packer, put_number, sealed};
use crate::records::RowId;

/// The row of a case, as it is handed to a block.
#[derive(Debug, Clone, Copy)]
pub struct CaseRow<'r> {
    pub place: RowPlace,
    pub text: &'r str,
    /// Whether it is copied into the run. Rows that are not there as they are in a file always are.
    pub keep: bool,
}

/// Gathers cases for a block.
///
/// [`BlockBuilder::case`] begins a case; what follows until the next is about it.
#[derive(Debug)]
pub struct BlockBuilder {
    n_variants: VariantCount,
    cases: Vec<u64>,
    places: Vec<RowPlace>,
    /// For rows that stay where they are; `None` for those that are retained.
    row_hashes: Vec<Option<u128>>,
    /// The digest of each row, whether it is retained or not.
    row_digests: Vec<u128>,
    /// The digest of each row's question; empty where the suite does not say what that is.
    questions: Vec<u128>,
    ids: Vec<IdEntry>,
    id_texts: String,
    took: Vec<u64>,
    /// For each column the codes up to the last that did not pass.
    codes: Vec<Vec<u8>>,
    details: Vec<DetailEntry>,
    detail_bytes: Vec<u8>,
    retained: Vec<(usize, Range<usize>)>,
    retained_bytes: Vec<u8>,
    scores: HashMap<Column, Vec<(usize, f64)>>,
    labels: HashMap<Column, Labels>,
    slices: HashMap<String, Vec<usize>>,
    /// What cases have at paths that group them.
    groups: BTreeMap<String, Labels>,
    /// What the answers of each case took, up to the last that asked.
    taken: Vec<CaseTaken>,
    packer: Packer,
}

/// A block that is ready to be written.
#[derive(Debug)]
pub struct Block {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) n: usize,
    pub(super) cases: Option<Vec<u8>>,
    pub(super) places: Vec<u8>,
    pub(super) row_hash: Option<[u8; 32]>,
    pub(super) rows: Vec<u8>,
    pub(super) questions: Option<Vec<u8>>,
    pub(super) ids: Vec<u8>,
    pub(super) took: Option<Vec<u8>>,
    pub(super) codes: Vec<(Column, Vec<u8>)>,
    pub(super) scores: Vec<(Column, Vec<u8>)>,
    pub(super) labels: Vec<(Column, Vec<u8>)>,
    /// What cases have at each path that groups them.
    pub(super) groups: Vec<(String, Vec<u8>)>,
    /// What answers took; `None` when no case asked.
    pub(super) taken: Option<Vec<u8>>,
    pub(super) details: Vec<Chunk>,
    pub(super) evidence: Vec<Chunk>,
    pub(super) counts: Vec<SliceCounts>,
    /// The hashes of ids with their rows, ascending.
    pub(super) id_entries: Vec<IdHash>,
    /// Ids that rows hold and that look like those that jurat numbers.
    pub(super) numbered_ids: Vec<String>,
}

impl Block {
    /// How many cases it has; never none.
    pub fn n_cases(&self) -> usize {
        self.n
    }
}

/// A piece of a block's details or rows, compressed by itself so that one case can be read without the others.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) first_slot: usize,
    pub(super) body: Vec<u8>,
}

/// How many cases of a slice ended how, for each column.
#[derive(Debug)]
pub(super) struct SliceCounts {
    pub(super) slice: String,
    pub(super) columns: Vec<[u64; Code::COUNT]>,
}

/// The hash of an id and the row that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IdHash {
    pub(super) hash: u128,
    pub(super) row: u64,
    /// Whether the row holds the id, rather than being known by its content.
    pub(super) given: bool,
}

#[derive(Debug)]
struct IdEntry {
    hash: u128,
    /// The text, when the row holds it.
    text: Option<Range<usize>>,
}

#[derive(Debug)]
struct DetailEntry {
    slot: usize,
    column: Column,
    json: Range<usize>,
}

#[derive(Debug, Default)]
struct Labels {
    words: Vec<String>,
    numbers: HashMap<String, usize>,
    slots: Vec<(usize, usize)>,
}

impl Labels {
    fn push(&mut self, slot: usize, label: &str) {
        let number = match self.numbers.get(label) {
            Some(number) => *number,
            None => {
                self.numbers.insert(label.to_owned(), self.words.len());
                self.words.push(label.to_owned());
                self.words.len() - 1
            }
        };
        self.slots.push((slot, number));
    }
}

impl BlockBuilder {
    /// The most cases of a block.
    pub const MOST_CASES: usize = 4096;
    /// The bytes of ids, details and rows from which a block is full.
    pub const MOST_BYTES: usize = 1 << 20;
    /// The bytes from which a chunk is closed: little enough to be unpacked for one case, enough to be worth compressing.
    pub(super) const CHUNK: usize = 64 << 10;

    pub fn new(n_tasks: usize, n_variants: VariantCount) -> BlockBuilder {
        BlockBuilder {
            n_variants,
            cases: Vec::new(),
            places: Vec::new(),
            row_hashes: Vec::new(),
            row_digests: Vec::new(),
            questions: Vec::new(),
            ids: Vec::new(),
            id_texts: String::new(),
            took: Vec::new(),
            codes: vec![Vec::new(); n_tasks + 1],
            details: Vec::new(),
            detail_bytes: Vec::new(),
            retained: Vec::new(),
            retained_bytes: Vec::new(),
            scores: HashMap::new(),
            labels: HashMap::new(),
            slices: HashMap::new(),
            groups: BTreeMap::new(),
            taken: Vec::new(),
            packer: Packer::new(),
        }
    }

    /// Whether it holds as much as a block should.
    pub fn is_full(&self) -> bool {
        self.cases.len() >= Self::MOST_CASES
            || self.id_texts.len() + self.detail_bytes.len() + self.retained_bytes.len() >= Self::MOST_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// How many cases it holds.
    pub fn n_cases(&self) -> usize {
        self.cases.len()
    }

    /// Begins a case. All its tasks have passed until something else is said. Cases come in any order, each once in a run.
    pub fn case(&mut self, case: CaseIx, id: &RowId<'_>, row: CaseRow<'_>) {
        let slot = self.cases.len();
        self.cases.push(case.number());
        self.places.push(row.place);
        let content = match id {
            RowId::Content(hash) => Some(*hash),
            RowId::Given(_) => None,
        };
        let digest = content.unwrap_or_else(|| xxh3_128(row.text.as_bytes()));
        self.row_digests.push(digest);
        if row.keep || row.place.bytes.is_none() {
            let start = self.retained_bytes.len();
            self.retained_bytes.extend_from_slice(row.text.as_bytes());
            self.retained.push((slot, start..self.retained_bytes.len()));
            self.row_hashes.push(None);
        } else {
            self.row_hashes.push(Some(digest));
        }
        let text = match id {
            RowId::Content(_) => None,
            RowId::Given(text) => {
                let start = self.id_texts.len();
                self.id_texts.push_str(text);
                Some(start..self.id_texts.len())
            }
        };
        self.ids.push(IdEntry { hash: id_hash(id), text });
    }

    /// Says how long the case took.
    pub fn took(&mut self, took: Duration) {
        let slot = self.slot();
        self.took.resize(slot, 0);
        self.took.push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Says what the digest of the question is, where the suite says which part of a row that is.
    pub fn question(&mut self, digest: u128) {
        let slot = self.slot();
        self.questions.resize(slot, 0);
        self.questions.push(digest);
    }

    /// Says how the case, or one of its tasks, ended. Nothing needs to be said about what passed.
    pub fn verdict(&mut self, column: Column, code: Code) {
        let slot = self.slot();
        let codes = &mut self.codes[column.index()];
        if code == Code::Passed {
            return codes.truncate(slot);
        }
        codes.resize(slot, Code::Passed as u8);
        codes.push(code as u8);
    }

    /// Says more about a verdict.
    pub fn detail(&mut self, column: Column, detail: &Detail<'_>) {
        let (slot, start) = (self.slot(), self.detail_bytes.len());
        detail.write(&mut self.detail_bytes);
        self.details.push(DetailEntry { slot, column, json: start..self.detail_bytes.len() });
    }

    /// Says which score the case has for a task.
    pub fn score(&mut self, column: Column, score: f64) {
        let slot = self.slot();
        self.scores.entry(column).or_default().push((slot, score));
    }

    /// Says which label the case has for a task.
    pub fn label(&mut self, column: Column, label: &str) {
        let slot = self.slot();
        self.labels.entry(column).or_default().push(slot, label);
    }

    /// Says what the case has at a path that groups cases. Nothing needs to be said where it has nothing, but that there is such a path.
    pub fn group(&mut self, path: &str, value: Option<&str>) {
        let slot = self.slot();
        if !self.groups.contains_key(path) {
            self.groups.insert(path.to_owned(), Labels::default());
        }
        if let (Some(groups), Some(value)) = (self.groups.get_mut(path), value) {
            groups.push(slot, value);
        }
    }

    /// Says what the answers of the case took. Nothing needs to be said about a case that asked nothing.
    pub fn taken(&mut self, taken: CaseTaken) {
        let slot = self.slot();
        self.taken.resize(slot, CaseTaken::default());
        self.taken.push(taken);
    }

    /// Says that the case belongs to a slice of the summary, beside the whole.
    pub fn slice(&mut self, slice: &str) {
        let slot = self.slot();
        match self.slices.get_mut(slice) {
            Some(slots) => slots.push(slot),
            None => drop(self.slices.insert(slice.to_owned(), vec![slot])),
        }
    }

    /// Closes the block and starts over; `None` when nothing was said.
    pub fn close(&mut self) -> Option<Block> {
        let n = self.cases.len();
        let order = Order::of(&self.cases);
        let (first, last) = (self.cases[*order.slots().next().as_ref()?], self.cases[order.slots().last()?]);
        let counts = self.counts();
        let rows = self.rows(&order);
        let block = Block {
            first,
            last,
            n,
            cases: (last - first != n as u64 - 1).then(|| sealed(&self.case_column(first, &order))),
            places: sealed(&place::write(order.slots().map(|slot| self.places[slot]))),
            row_hash: rows.hash,
            rows: sealed(&digest_column(&self.row_digests, &order)),
            questions: self.question_column(&order).as_deref().map(sealed),
            ids: sealed(&identity::write(order.slots().map(|slot| self.id(slot)))),
            took: self.took_column(&order).as_deref().map(sealed),
            codes: all_sealed(self.code_columns(&order)),
            scores: all_sealed(self.score_columns(&order)),
            labels: all_sealed(self.label_columns(&order)),
            groups: self.group_columns(&order),
            taken: self.taken_column(&order),
            details: self.detail_chunks(&order),
            evidence: rows.evidence,
            counts,
            id_entries: self.id_entries(),
            numbered_ids: self.numbered_ids(),
        };
        self.clear();
        Some(block)
    }

    /// The slot of the case that was begun last.
    #[track_caller]
    fn slot(&self) -> usize {
        self.cases.len().checked_sub(1).expect("a case was begun")
    }

    fn id(&self, slot: usize) -> RowId<'_> {
        match &self.ids[slot] {
            IdEntry { text: Some(range), .. } => RowId::Given((&self.id_texts[range.clone()]).into()),
            IdEntry { hash, .. } => RowId::Content(*hash),
        }
    }

    /// How far each case is from the one before.
    fn case_column(&self, first: u64, order: &Order) -> Vec<u8> {
        let mut bytes = vec![PLAIN];
        let mut last = first;
        for slot in order.slots() {
            put_number(&mut bytes, self.cases[slot] - last);
            last = self.cases[slot];
        }
        bytes
    }

    fn took_column(&mut self, order: &Order) -> Option<Vec<u8>> {
        if self.took.is_empty() {
            return None;
        }
        self.took.resize(self.cases.len(), 0);
        let mut bytes = vec![PLAIN];
        order.slots().for_each(|slot| put_number(&mut bytes, self.took[slot]));
        Some(bytes)
    }

    fn question_column(&mut self, order: &Order) -> Option<Vec<u8>> {
        if self.questions.is_empty() {
            return None;
        }
        self.questions.resize(self.cases.len(), 0);
        Some(digest_column(&self.questions, order))
    }

    fn code_columns(&mut self, order: &Order) -> Vec<(Column, Vec<u8>)> {
        let n = self.cases.len();
        let mut columns = Vec::new();
        for (column, codes) in (0..).map(Column).zip(&mut self.codes) {
            if codes.is_empty() {
                continue;
            }
            codes.resize(n, Code::Passed as u8);
            let packed = match &order.0 {
                None => pack_codes(codes),
                Some(slots) => pack_codes(&slots.iter().map(|slot| codes[*slot]).collect::<Vec<_>>()),
            };
            columns.extend(packed.map(|it| (column, it)));
        }
        columns
    }

    fn score_columns(&mut self, order: &Order) -> Vec<(Column, Vec<u8>)> {
        let n = self.cases.len();
        let ranks = order.ranks();
        let write = |(column, mut scores): (Column, Vec<(usize, f64)>)| {
            in_order(&mut scores, &ranks);
            (column, write_scores(&scores, n))
        };
        sorted(self.scores.drain().map(write))
    }

    fn label_columns(&mut self, order: &Order) -> Vec<(Column, Vec<u8>)> {
        let n = self.cases.len();
        let ranks = order.ranks();
        let packer = &mut self.packer;
        let write = |(column, mut labels): (Column, Labels)| {
            in_order(&mut labels.slots, &ranks);
            (column, write_labels(&labels.slots, &labels.words, n, packer))
        };
        sorted(self.labels.drain().map(write))
    }

    fn group_columns(&mut self, order: &Order) -> Vec<(String, Vec<u8>)> {
        let n = self.cases.len();
        let ranks = order.ranks();
        let packer = &mut self.packer;
        let write = |(path, mut labels): (String, Labels)| {
            in_order(&mut labels.slots, &ranks);
            (path, sealed(&write_labels(&labels.slots, &labels.words, n, packer)))
        };
        std::mem::take(&mut self.groups).into_iter().map(write).collect()
    }

    fn taken_column(&mut self, order: &Order) -> Option<Vec<u8>> {
        if self.taken.is_empty() {
            return None;
        }
        self.taken.resize(self.cases.len(), CaseTaken::default());
        Some(sealed(&taken::write(order.slots().map(|slot| &self.taken[slot]), &mut self.packer)))
    }

    fn detail_chunks(&mut self, order: &Order) -> Vec<Chunk> {
        if let Some(ranks) = order.ranks() {
            self.details.iter_mut().for_each(|it| it.slot = ranks[it.slot]);
            self.details.sort_by_key(|it| it.slot);
        }
        let mut chunks = Chunks::default();
        for detail in &self.details {
            chunks.begin(detail.slot, Self::CHUNK, &mut self.packer);
            put_line(&mut chunks.open, detail.slot, detail.column, &self.detail_bytes[detail.json.clone()]);
        }
        chunks.close(&mut self.packer)
    }

    /// The rows that are retained, and the hash of those that are not. Of cases that follow each other and share a row, the first that retains it
    /// keeps it for all after it, as long as they have the same text: what came of a conversation differs from case to case.
    fn rows(&mut self, order: &Order) -> Rows {
        let mut retained: Vec<Option<Range<usize>>> =
            vec![None; if self.retained.is_empty() { 0 } else { self.cases.len() }];
        self.retained.drain(..).for_each(|(slot, range)| retained[slot] = Some(range));
        let mut chunks = Chunks::default();
        let mut hashes = Vec::with_capacity(self.cases.len() * 16);
        let mut last: Option<(RowPlace, Option<Range<usize>>)> = None;
        for (rank, slot) in order.slots().enumerate() {
            let place = self.places[slot];
            let before = last.take().filter(|it| it.0 == place).map(|it| it.1);
            let range = retained.get_mut(slot).and_then(Option::take);
            let text = |range: &Range<usize>| &self.retained_bytes[range.clone()];
            let retained = match (before, range, self.row_hashes[slot]) {
                (Some(Some(before)), range, _) if range.as_ref().is_none_or(|it| text(it) == text(&before)) => {
                    Some(before)
                }
                (_, Some(range), _) => {
                    chunks.begin(rank, Self::CHUNK, &mut self.packer);
                    put_row(&mut chunks.open, rank, text(&range));
                    Some(range)
                }
                (None, None, Some(hash)) => {
                    hashes.extend_from_slice(&hash.to_be_bytes());
                    None
                }
                _ => None,
            };
            last = Some((place, retained));
        }
        let hash = (!hashes.is_empty()).then(|| *blake3::hash(&hashes).as_bytes());
        Rows { evidence: chunks.close(&mut self.packer), hash }
    }

    fn counts(&self) -> Vec<SliceCounts> {
        let slots: Vec<usize> = (0..self.cases.len()).collect();
        let whole = std::iter::once(("", slots.as_slice()));
        let slices = self.slices.iter().map(|(slice, slots)| (slice.as_str(), slots.as_slice()));
        let count = |(slice, slots): (&str, &[usize])| {
            let column = |codes: &Vec<u8>| {
                let mut counts = [0; Code::COUNT];
                for code in slots.iter().filter_map(|slot| codes.get(*slot)) {
                    counts[usize::from(*code)] += 1;
                }
                counts[usize::from(Code::Passed as u8)] += slots.len() as u64 - counts.iter().sum::<u64>();
                counts
            };
            SliceCounts { slice: slice.to_owned(), columns: self.codes.iter().map(column).collect() }
        };
        let mut counts: Vec<SliceCounts> = whole.chain(slices).map(count).collect();
        counts.sort_by(|a, b| a.slice.cmp(&b.slice));
        counts
    }

    fn id_entries(&self) -> Vec<IdHash> {
        let entry = |slot: u32| {
            let id = &self.ids[slot as usize];
            let row = self.n_variants.place(CaseIx::numbered(self.cases[slot as usize]));
            IdHash { hash: id.hash, row, given: id.text.is_some() }
        };
        // Half of a hash nearly always decides, and little is moved about.
        let halves = self.ids.iter().map(|it| (it.hash >> 64) as u64);
        let mut halves: Vec<(u64, u32)> = halves.zip(0..).collect();
        halves.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| entry(a.1).cmp(&entry(b.1))));
        let mut entries: Vec<IdHash> = halves.into_iter().map(|it| entry(it.1)).collect();
        entries.dedup();
        entries
    }

    fn numbered_ids(&self) -> Vec<String> {
        let texts = self.ids.iter().filter_map(|it| Some(&self.id_texts[it.text.clone()?]));
        texts.filter(|it| numbered_content_id(it).is_some()).map(str::to_owned).collect()
    }

    fn clear(&mut self) {
        self.cases.clear();
        self.places.clear();
        self.row_hashes.clear();
        self.row_digests.clear();
        self.questions.clear();
        self.ids.clear();
        self.id_texts.clear();
        self.took.clear();
        self.codes.iter_mut().for_each(Vec::clear);
        self.details.clear();
        self.detail_bytes.clear();
        self.retained.clear();
        self.retained_bytes.clear();
        self.slices.clear();
        self.taken.clear();
    }
}

struct Rows {
    evidence: Vec<Chunk>,
    hash: Option<[u8; 32]>,
}

/// The slots in the order of their cases; `None` when they are.
struct Order(Option<Vec<usize>>, usize);

impl Order {
    fn of(cases: &[u64]) -> Order {
        if cases.is_sorted() {
            return Order(None, cases.len());
        }
        let mut slots: Vec<usize> = (0..cases.len()).collect();
        slots.sort_unstable_by_key(|slot| cases[*slot]);
        Order(Some(slots), cases.len())
    }

    fn slots(&self) -> impl Iterator<Item = usize> {
        let ordered = self.0.as_deref();
        (0..self.1).map(move |ix| ordered.map_or(ix, |slots| slots[ix]))
    }

    /// The new place of each slot.
    fn ranks(&self) -> Option<Vec<usize>> {
        let slots = self.0.as_ref()?;
        let mut ranks = vec![0; slots.len()];
        slots.iter().enumerate().for_each(|(rank, slot)| ranks[*slot] = rank);
        Some(ranks)
    }
}

/// Digests one after the other, the highest byte first.
fn digest_column(digests: &[u128], order: &Order) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + digests.len() * 16);
    bytes.push(PLAIN);
    order.slots().for_each(|slot| bytes.extend_from_slice(&digests[slot].to_be_bytes()));
    bytes
}

fn in_order<T>(entries: &mut [(usize, T)], ranks: &Option<Vec<usize>>) {
    if let Some(ranks) = ranks {
        entries.iter_mut().for_each(|it| it.0 = ranks[it.0]);
        entries.sort_by_key(|it| it.0);
    }
}

fn sorted(columns: impl Iterator<Item = (Column, Vec<u8>)>) -> Vec<(Column, Vec<u8>)> {
    let mut columns: Vec<_> = columns.collect();
    columns.sort_by_key(|it| it.0);
    columns
}

fn all_sealed(columns: Vec<(Column, Vec<u8>)>) -> Vec<(Column, Vec<u8>)> {
    columns.into_iter().map(|(column, body)| (column, sealed(&body))).collect()
}

/// Chunks of a block, cut between cases.
#[derive(Default)]
pub(super) struct Chunks {
    done: Vec<Chunk>,
    pub(super) open: Vec<u8>,
    first_slot: usize,
    last_slot: usize,
}

impl Chunks {
    /// Makes room for something about a slot; slots ascend.
    pub(super) fn begin(&mut self, slot: usize, most: usize, packer: &mut Packer) {
        if self.open.len() >= most && slot != self.last_slot {
            self.cut(packer);
        }
        if self.open.is_empty() {
            self.first_slot = slot;
        }
        self.last_slot = slot;
    }

    pub(super) fn close(mut self, packer: &mut Packer) -> Vec<Chunk> {
        if !self.open.is_empty() {
            self.cut(packer);
        }
        self.done
    }

    fn cut(&mut self, packer: &mut Packer) {
        self.done.push(Chunk { first_slot: self.first_slot, body: sealed(&packer.pack(&self.open)) });
        self.open.clear();
    }
}

/// Appends a row to a chunk of rows: its slot, its length, its bytes.
pub(super) fn put_row(chunk: &mut Vec<u8>, slot: usize, row: &[u8]) {
    put_number(chunk, slot as u64);
    put_number(chunk, row.len() as u64);
    chunk.extend_from_slice(row);
}
