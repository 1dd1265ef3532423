//! Handing chunks over, and filling one with rows that have to be written.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::spares::Spares;
use super::table_rows::TableRows;
use super::{Chunk, RowAt, RowLimits, RowsFault};

/// Where chunks go.
pub(super) struct Delivery<'e> {
    each: &'e mut dyn FnMut(Chunk) -> ControlFlow<()>,
    pub(super) limits: RowLimits,
    /// The most bytes that are read of a source. A row that ends beyond them is too long.
    pub(super) most_bytes: u64,
    /// The source that is being read.
    pub(super) source: u32,
    /// How many rows were handed over.
    pub(super) n_rows: u64,
    pub(super) spares: Arc<Spares>,
}

impl<'e> Delivery<'e> {
    pub(super) fn new(each: &'e mut dyn FnMut(Chunk) -> ControlFlow<()>, limits: RowLimits) -> Delivery<'e> {
        Delivery { each, limits, most_bytes: u64::MAX, source: 0, n_rows: 0, spares: Arc::default() }
    }

    /// Hands over a chunk, unless it is empty.
    pub(super) fn hand_over(&mut self, text: String, rows: Vec<RowAt>) -> ControlFlow<()> {
        self.hand_over_with(text, rows, Vec::new())
    }

    /// The same with the tables that the rows come from.
    fn hand_over_with(&mut self, text: String, rows: Vec<RowAt>, tables: Vec<Arc<TableRows>>) -> ControlFlow<()> {
        if rows.is_empty() {
            return ControlFlow::Continue(());
        }
        self.n_rows += rows.len() as u64;
        (self.each)(Chunk { text, rows, tables, spares: Arc::clone(&self.spares) })
    }
}

/// A place in the text of a chunk.
pub(super) fn range(range: Range<usize>) -> Range<u32> {
    let narrow = |at: usize| u32::try_from(at).expect("the limits keep a chunk below 4 GiB");
    narrow(range.start)..narrow(range.end)
}

/// A row that was written as JSON.
pub(super) struct WrittenRow {
    pub(super) number: u64,
    pub(super) line: u64,
    /// The table that begins with it, where rows come in tables.
    pub(super) table: Option<Arc<TableRows>>,
}

/// Hands over the rows that `write` writes as JSON, one at each call, until it returns none. It returns the number and the line of the row.
pub(super) fn write_rows(
    delivery: &mut Delivery<'_>,
    mut write: impl FnMut(&mut Vec<u8>) -> Result<Option<(u64, u64)>, RowsFault>,
) -> Result<ControlFlow<()>, RowsFault> {
    write_table_rows(delivery, |json| Ok(write(json)?.map(|(number, line)| WrittenRow { number, line, table: None })))
}

/// The same for rows that come in tables.
pub(super) fn write_table_rows(
    delivery: &mut Delivery<'_>,
    mut write: impl FnMut(&mut Vec<u8>) -> Result<Option<WrittenRow>, RowsFault>,
) -> Result<ControlFlow<()>, RowsFault> {
    let mut written = Written::default();
    loop {
        let flow = match write(&mut written.json) {
            Ok(Some(row)) => written.end_row(row, delivery),
            Ok(None) => return Ok(written.flush(delivery)),
            Err(fault) => match written.flush(delivery) {
                ControlFlow::Continue(()) => return Err(fault),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            },
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
}

/// A chunk that is being written.
#[derive(Default)]
struct Written {
    /// The rows so far, then the one that is being written.
    json: Vec<u8>,
    rows: Vec<RowAt>,
    /// The tables that they come from.
    tables: Vec<Arc<TableRows>>,
    /// Where the row that is being written begins.
    start: usize,
}

impl Written {
    /// Ends the row that was being written. The rows before it are handed over when it leaves them no room.
    fn end_row(&mut self, row: WrittenRow, delivery: &mut Delivery<'_>) -> ControlFlow<()> {
        let WrittenRow { number, line, table } = row;
        if self.json.len() > delivery.limits.chunk && !self.rows.is_empty() {
            let row = self.json.split_off(self.start);
            // The rows that follow may be of the last table, too.
            let last = self.tables.last().cloned();
            self.flush(delivery)?;
            (self.json, self.rows) = delivery.spares.take();
            self.json.extend_from_slice(&row);
            self.tables.extend(last);
        }
        self.tables.extend(table);
        let range = range(self.start..self.json.len());
        self.rows.push(RowAt { range, source: delivery.source, number, line, offset: None });
        self.start = self.json.len();
        ControlFlow::Continue(())
    }

    /// Hands over the rows that were ended; what was written of another is dropped.
    fn flush(&mut self, delivery: &mut Delivery<'_>) -> ControlFlow<()> {
        let Written { mut json, rows, tables, start } = std::mem::take(self);
        json.truncate(start);
        let text = String::from_utf8(json).expect("JSON is written as UTF-8");
        delivery.hand_over_with(text, rows, tables)
    }
}
