//! A run as a table: one column at a time, for all its cases.
//!
//! Comparing two runs looks at every verdict and at hardly any text. A column of a million verdicts is a megabyte, so columns are read whole, one
//! after the other, and ids are read as the hashes by which the run has them in order.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::params;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::cases::Headers;
use super::code::unpack_codes;
use super::id_index::read_page;
use super::identity::{shown_id, text_hash};
use super::schema::has_column;
use super::stored::{StoredBlock, n_slots, read_cases, read_digests, read_numbers};
use super::values::{read_labels, read_scores, read_words};
use super::{CaseTaken, Code, Column, RunFileError, RunReader, taken};
use crate::database::DatabaseError;
use crate::packed::Unreadable;
use crate::records::RowId;

/// How many pages of ids are read at a time.
const AHEAD: i64 = 64;

/// A column of digests of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digests {
    /// Of whole rows.
    Rows,
    /// Of the part of each row that is the question.
    Questions,
}

impl Digests {
    pub(super) fn column(self) -> &'static str {
        match self {
            Digests::Rows => "rows",
            Digests::Questions => "questions",
        }
    }
}

/// The key of a row: the hash of its id, with the place of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    pub hash: u128,
    pub row: u64,
}

/// Texts that repeat from case to case, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseTexts {
    /// In their order.
    pub texts: Vec<String>,
    /// The place of each case's text; [`CaseTexts::NONE`] where it has none.
    pub numbers: Vec<u32>,
}

impl CaseTexts {
    pub const NONE: u32 = u32::MAX;

    /// The text of a case.
    pub fn get(&self, case: u32) -> Option<&str> {
        self.texts.get(*self.numbers.get(case as usize)? as usize).map(String::as_str)
    }
}

impl RunReader {
    /// How far the numbers of cases go: one more than the last.
    pub fn n_case_numbers(&self) -> Result<usize, RunFileError> {
        let select = "SELECT coalesce(max(last) + 1, 0) FROM block";
        let n: u64 = self.sqlite(self.reading().connection.query_row(select, [], |row| row.get(0)))?;
        let n = usize::try_from(n).ok().filter(|it| *it <= u32::MAX as usize).ok_or(Unreadable::Damaged);
        Ok(n.map_err(|it| self.of_part("block.last", it))?)
    }

    /// How each case ended, or one of its tasks, by the number of the case; `None` where there is no such case.
    pub fn codes(&self, column: Column) -> Result<Vec<Option<Code>>, RunFileError> {
        let select = "SELECT block.first, block.n, block.cases, verdicts.codes FROM block
             LEFT JOIN verdicts ON verdicts.task = ?1 AND verdicts.block = block.id";
        let read =
            |stored: Option<&[u8]>, n: usize| unpack_codes(stored, n).map(|it| it.into_iter().map(Some).collect());
        self.column(select, column.0, "verdicts", None, read)
    }

    /// The score of each case for a task, by the number of the case; nothing at all for a task without scores.
    pub fn scores(&self, column: Column) -> Result<Vec<Option<f64>>, RunFileError> {
        let select = "SELECT block.first, block.n, block.cases, scores.body FROM scores
             JOIN block ON block.id = scores.block WHERE scores.task = ?1";
        let read = |stored: Option<&[u8]>, n: usize| read_scores(stored.ok_or(Unreadable::Damaged)?, n);
        self.column(select, column.0, "scores", None, read)
    }

    /// The label of each case for a task, by the number of the case; nothing at all for a task without labels.
    pub fn labels(&self, column: Column) -> Result<Vec<Option<String>>, RunFileError> {
        let select = "SELECT block.first, block.n, block.cases, labels.body FROM labels
             JOIN block ON block.id = labels.block WHERE labels.task = ?1";
        let read = |stored: Option<&[u8]>, n: usize| read_labels(stored.ok_or(Unreadable::Damaged)?, n);
        self.column(select, column.0, "labels", None, read)
    }

    /// The most frequent labels of a task with their counts, ties by name, and how many cases have another one.
    pub fn label_counts(&self, column: Column, most: usize) -> Result<(BTreeMap<String, u64>, u64), RunFileError> {
        // A task that writes free text has as many labels as cases: their hashes are counted, not their texts.
        let mut counts: HashMap<u64, u64> = HashMap::new();
        self.each_label(column, &mut |label| *counts.entry(xxh3_64(label.as_bytes())).or_default() += 1)?;
        let mut ranked: Vec<u64> = counts.values().copied().collect();
        ranked.sort_unstable_by(|one, other| other.cmp(one));
        let Some(least) = ranked.get(most.min(ranked.len()).saturating_sub(1)).copied() else {
            return Ok((BTreeMap::new(), 0));
        };
        let n_above = ranked.iter().take_while(|it| **it > least).count();
        let (mut labels, mut tied) = (BTreeMap::new(), BTreeSet::new());
        self.each_label(column, &mut |label| {
            let count = counts.get(&xxh3_64(label.as_bytes())).copied().unwrap_or_default();
            if count > least && !labels.contains_key(label) {
                labels.insert(label.to_owned(), count);
            } else if count == least && !tied.contains(label) {
                tied.insert(label.to_owned());
                if tied.len() > most - n_above {
                    tied.pop_last();
                }
            }
        })?;
        labels.extend(tied.into_iter().map(|it| (it, least)));
        let n_others = counts.values().sum::<u64>() - labels.values().sum::<u64>();
        Ok((labels, n_others))
    }

    /// Hands on every label of a task, in no order that means anything.
    fn each_label(&self, column: Column, take: &mut dyn FnMut(&str)) -> Result<(), RunFileError> {
        let select = "SELECT block.n, labels.body FROM labels JOIN block ON block.id = labels.block WHERE task = ?1";
        let mut select = self.sqlite(self.reading().connection.prepare_cached(select))?;
        let mut rows = self.sqlite(select.query([column.0]))?;
        while let Some(row) = self.sqlite(rows.next())? {
            let (n, body): (u64, Vec<u8>) = (self.sqlite(row.get(0))?, self.sqlite(row.get(1))?);
            let labels = n_slots(n).and_then(|n| read_labels(&body, n));
            let labels = labels.map_err(|it| self.of_part("labels.body", it))?;
            labels.iter().flatten().for_each(|it| take(it));
        }
        Ok(())
    }

    /// The labels of a task as a list of texts, and for each case the place of its text in that list; nothing at all for a task without labels.
    pub fn label_texts(&self, column: Column) -> Result<CaseTexts, RunFileError> {
        let select = "SELECT block.first, block.n, block.cases, labels.body FROM labels
             JOIN block ON block.id = labels.block WHERE labels.task = ?1";
        self.texts(select, column.0, "labels.body")
    }

    /// The same for what cases have at a path by which they are grouped. `None` when the run does not say.
    pub fn group_texts(&self, path: &str) -> Result<Option<CaseTexts>, RunFileError> {
        if !self.sqlite(has_column(self.reading().connection, "grouping", "path"))? {
            return Ok(None);
        }
        let select = "SELECT block.first, block.n, block.cases, grouping.body FROM grouping
             JOIN block ON block.id = grouping.block WHERE grouping.path = ?1";
        Ok(Some(self.texts(select, path, "grouping.body")?).filter(|it| !it.numbers.is_empty()))
    }

    fn texts(
        &self,
        select: &str,
        parameter: impl rusqlite::ToSql,
        part: &'static str,
    ) -> Result<CaseTexts, RunFileError> {
        let known: RefCell<BTreeMap<String, u32>> = RefCell::default();
        let read = |stored: Option<&[u8]>, n: usize| {
            let (words, numbers) = read_words(stored.ok_or(Unreadable::Damaged)?, n)?;
            let mut known = known.borrow_mut();
            let mut number = |word: String| {
                let next = known.len() as u32;
                *known.entry(word).or_insert(next)
            };
            let words: Vec<u32> = words.into_iter().map(&mut number).collect();
            Ok(numbers.into_iter().map(|it| it.map_or(CaseTexts::NONE, |it| words[it])).collect())
        };
        let mut numbers = self.column(select, parameter, part, CaseTexts::NONE, read)?;
        // In the order of the texts, whichever block came first.
        let known = known.into_inner();
        let mut ranks = vec![CaseTexts::NONE; known.len()];
        known.values().zip(0..).for_each(|(number, rank)| ranks[*number as usize] = rank);
        numbers.iter_mut().for_each(|it| *it = ranks.get(*it as usize).copied().unwrap_or(CaseTexts::NONE));
        Ok(CaseTexts { texts: known.into_keys().collect(), numbers })
    }

    /// How long each case took, in microseconds, by the number of the case; nothing at all where that was not measured.
    pub fn took(&self) -> Result<Vec<Option<u64>>, RunFileError> {
        let select = "SELECT first, n, cases, took FROM block WHERE ?1 = 0 AND took IS NOT NULL";
        let read = |stored: Option<&[u8]>, n: usize| {
            let took = read_numbers(stored.ok_or(Unreadable::Damaged)?, n)?;
            Ok(took.into_iter().map(Some).collect())
        };
        self.column(select, Column::CASE.0, "block.took", None, read)
    }

    /// What each case has at a path by which cases are grouped, by the number of the case. `None` when the run does not say: it groups by no such path,
    /// or an earlier version wrote it.
    pub fn groups(&self, path: &str) -> Result<Option<Vec<Option<String>>>, RunFileError> {
        if !self.sqlite(has_column(self.reading().connection, "grouping", "path"))? {
            return Ok(None);
        }
        let select = "SELECT block.first, block.n, block.cases, grouping.body FROM grouping
             JOIN block ON block.id = grouping.block WHERE grouping.path = ?1";
        let read = |stored: Option<&[u8]>, n: usize| read_labels(stored.ok_or(Unreadable::Damaged)?, n);
        let groups = self.column(select, path, "grouping", None, read)?;
        Ok((!groups.is_empty()).then_some(groups))
    }

    /// What the answers of each case took, by the number of the case; nothing at all where no case asked. `None` when the run does not say, because an
    /// earlier version wrote it.
    pub fn taken(&self) -> Result<Option<Vec<CaseTaken>>, RunFileError> {
        if !self.has_taken()? {
            return Ok(None);
        }
        let select = "SELECT block.first, block.n, block.cases, taken.body FROM taken
             JOIN block ON block.id = taken.block WHERE ?1 = 0";
        let read = |stored: Option<&[u8]>, n: usize| taken::read(stored.ok_or(Unreadable::Damaged)?, n);
        self.column(select, Column::CASE.0, "taken.body", CaseTaken::default(), read).map(Some)
    }

    /// Whether the run says what the answers of each case took; those of earlier versions do not.
    pub fn has_taken(&self) -> Result<bool, RunFileError> {
        self.sqlite(has_column(self.reading().connection, "taken", "body"))
    }

    /// A digest for each case, by the number of the case; 0 where there is none. `None` when the run has no such digests: an earlier version wrote it,
    /// or its suite does not say what the question is.
    pub fn digests(&self, digests: Digests) -> Result<Option<Vec<u128>>, RunFileError> {
        let (name, connection) = (digests.column(), self.reading().connection);
        if !self.sqlite(has_column(connection, "block", name))? {
            return Ok(None);
        }
        let none = format!("SELECT count(*) FROM block WHERE {name} IS NOT NULL");
        let n: u64 = self.sqlite(connection.query_row(&none, [], |row| row.get(0)))?;
        if n == 0 {
            return Ok(None);
        }
        let select = format!("SELECT first, n, cases, {name} FROM block WHERE ?1 = 0");
        let read = |stored: Option<&[u8]>, n: usize| stored.map_or(Ok(vec![0; n]), |it| read_digests(it, n));
        self.column(&select, Column::CASE.0, "block.rows", 0, read).map(Some)
    }

    /// Hands on the key of every row, in the order of their hashes.
    pub fn row_keys(&self) -> Result<RowKeys<'_>, RunFileError> {
        let state = self.state()?;
        let mut others = match state.finish {
            Some(_) => self.numbered_keys()?,
            None => self.keys_of_blocks()?,
        };
        others.sort_unstable();
        others.dedup();
        let others = others.into_iter().peekable();
        Ok(RowKeys {
            reader: self,
            last: state.finish.is_none().then_some(i64::MAX),
            page: Vec::new().into_iter().peekable(),
            others,
        })
    }

    /// The keys of rows whose content a row before them has.
    fn numbered_keys(&self) -> Result<Vec<RowKey>, RunFileError> {
        let repeated: Vec<(u64, [u8; 16], u64)> =
            self.all("SELECT row, hash, number FROM repeated", |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let key = |(row, hash, number): (u64, [u8; 16], u64)| {
            let id = shown_id(&RowId::Content(u128::from_be_bytes(hash)), Some(number));
            RowKey { hash: text_hash(&id), row }
        };
        Ok(repeated.into_iter().map(key).collect())
    }

    /// The keys of a run that has no index yet.
    fn keys_of_blocks(&self) -> Result<Vec<RowKey>, RunFileError> {
        let (mut headers, mut keys) = (Headers::default(), Vec::new());
        while let Some(header) = headers.next(self.reading())? {
            let block = StoredBlock::load(self.reading(), header.id)?;
            let n_variants = self.reading().n_variants;
            let key = |slot| {
                let hash = text_hash(&shown_id(&block.id(slot), None));
                RowKey { hash, row: n_variants.place(block.case_ix(slot)) }
            };
            keys.extend((0..block.n).map(key));
        }
        Ok(keys)
    }

    /// Reads a column, which is empty when no block has it: `select` gives the first case, how many there are, their numbers and the values of each block.
    fn column<T: Clone>(
        &self,
        select: &str,
        parameter: impl rusqlite::ToSql,
        part: &'static str,
        none: T,
        read: impl Fn(Option<&[u8]>, usize) -> Result<Vec<T>, Unreadable>,
    ) -> Result<Vec<T>, RunFileError> {
        let mut values = Vec::new();
        let mut select = self.sqlite(self.reading().connection.prepare_cached(select))?;
        let mut rows = self.sqlite(select.query(params![parameter]))?;
        while let Some(row) = self.sqlite(rows.next())? {
            if values.is_empty() {
                values.resize(self.n_case_numbers()?, none.clone());
            }
            let blob = |ix: usize| self.sqlite(row.get_ref(ix)).map(|it| it.as_blob_or_null().ok().flatten());
            let (first, n): (u64, u64) = (self.sqlite(row.get(0))?, self.sqlite(row.get(1))?);
            let of_block = |stored: Option<&[u8]>, cases: Option<&[u8]>| {
                let n = n_slots(n)?;
                let cases = cases.map(|it| read_cases(it, first, n)).transpose()?;
                Ok((read(stored, n)?, cases))
            };
            let (of_block, cases) = of_block(blob(3)?, blob(2)?).map_err(|it| self.of_part(part, it))?;
            for (slot, value) in of_block.into_iter().enumerate() {
                let case = cases.as_ref().map_or(first + slot as u64, |it| it[slot]);
                let at = values.get_mut(case as usize).ok_or(Unreadable::Damaged);
                *at.map_err(|it| self.of_part(part, it))? = value;
            }
        }
        Ok(values)
    }

    fn of_part(&self, part: &'static str, unreadable: Unreadable) -> DatabaseError {
        DatabaseError::of_part(self.path(), part, unreadable)
    }
}

/// The keys of all rows of a run, in the order of their hashes.
#[derive(Debug)]
pub struct RowKeys<'r> {
    reader: &'r RunReader,
    /// The last page that was read; `i64::MAX` when there are none.
    last: Option<i64>,
    page: std::iter::Peekable<std::vec::IntoIter<RowKey>>,
    /// Keys that no page has.
    others: std::iter::Peekable<std::vec::IntoIter<RowKey>>,
}

impl RowKeys<'_> {
    fn advance(&mut self) -> Result<Option<RowKey>, RunFileError> {
        if self.page.peek().is_none() && self.last != Some(i64::MAX) {
            self.read_pages()?;
        }
        Ok(match (self.page.peek(), self.others.peek()) {
            (Some(of_page), Some(other)) if other < of_page => self.others.next(),
            (None, _) => self.others.next(),
            _ => self.page.next(),
        })
    }

    fn read_pages(&mut self) -> Result<(), RunFileError> {
        let reader = self.reader;
        let select = "SELECT id, body FROM id_page WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut select = reader.sqlite(reader.reading().connection.prepare_cached(select))?;
        let mut rows = reader.sqlite(select.query([self.last.unwrap_or(i64::MIN), AHEAD]))?;
        let mut keys = Vec::new();
        self.last = Some(i64::MAX);
        while let Some(row) = reader.sqlite(rows.next())? {
            self.last = Some(reader.sqlite(row.get(0))?);
            let body = reader.sqlite(row.get_ref(1))?.as_blob().map_err(|_| Unreadable::Damaged);
            let page = body.and_then(read_page).map_err(|it| reader.of_part("id_page.body", it))?;
            keys.extend(page.into_iter().map(|(hash, row)| RowKey { hash, row }));
        }
        self.page = keys.into_iter().peekable();
        Ok(())
    }
}

impl Iterator for RowKeys<'_> {
    type Item = Result<RowKey, RunFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The digest of a text, as those of rows are made.
pub fn digest(text: &[u8]) -> u128 {
    xxh3_128(text)
}

/// The hash that a row with this id has as its key.
pub fn key_of(id: &str) -> u128 {
    text_hash(id)
}
