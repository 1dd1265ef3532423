//! The rows of a table that is read batch by batch, each written as a JSON object with the names of the columns as keys.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Fields, Schema};
use jurat_format::value::Val;

use super::cells::{Column, Odd};
use super::chunk::{self, Delivery, WrittenRow};
use super::table_rows::TableRows;
use super::{RowsFault, SampleError};

/// A batch, or what is wrong with the file.
pub(super) type Batch = Result<RecordBatch, SampleError>;

/// Hands over the rows of batches.
pub(super) fn read(
    batches: impl Iterator<Item = Batch>,
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = Rows { batches, keys: Vec::new(), table: None, next: 0, number: 0 };
    let (limit, mut left) = (delivery.limits.row, delivery.most_bytes);
    chunk::write_table_rows(delivery, |json| {
        let n_before = json.len();
        let Some(table) = rows.write_next(json)? else { return Ok(None) };
        let length = json.len() - n_before;
        match left.checked_sub(length as u64) {
            Some(rest) if length <= limit => left = rest,
            _ => return Err(RowsFault::RowTooLong { row: rows.number, line: None, limit }),
        }
        Ok(Some(WrittenRow { number: rows.number, line: rows.number, table }))
    })
}

/// Refuses a table with a column that JSON has no form for, before a row of it is read.
pub(super) fn check(schema: &Schema) -> Result<(), SampleError> {
    schema.fields().iter().try_for_each(|it| Column::check(it))
}

/// Writes the rows of a batch as JSON, a line each, as rows of files are written.
///
/// # Errors
/// When JSON has no form for a column or a cell.
pub fn write_rows(batch: &RecordBatch, json: &mut Vec<u8>) -> Result<(), SampleError> {
    let (keys, columns) = (keys(batch.schema_ref().fields()), columns(batch)?);
    for ix in 0..batch.num_rows() {
        write_row(&keys, &columns, ix, ix as u64 + 1, json)?;
        json.push(b'\n');
    }
    Ok(())
}

/// The rows of a batch in memory, written as JSON one by one: all columns, or those that are read.
pub struct BatchRows {
    /// What stands before each value: `"name":`.
    keys: Vec<String>,
    columns: Vec<Column>,
}

impl BatchRows {
    /// The columns for which `is_read` holds.
    ///
    /// # Errors
    /// When JSON has no form for one of them.
    pub fn of(batch: &RecordBatch, is_read: impl Fn(&str) -> bool) -> Result<BatchRows, SampleError> {
        let (mut keys, mut columns) = (Vec::new(), Vec::new());
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if is_read(field.name()) {
                keys.push(format!("{}:", Val::from(field.name().as_str())));
                columns.push(Column::of(field, array)?);
            }
        }
        Ok(BatchRows { keys, columns })
    }

    /// The columns that JSON has a form for.
    ///
    /// # Errors
    /// When a column cannot be read after all.
    pub fn of_writable(batch: &RecordBatch) -> Result<BatchRows, SampleError> {
        let is_writable =
            |name: &str| batch.schema_ref().field_with_name(name).is_ok_and(|it| Column::check(it).is_ok());
        BatchRows::of(batch, is_writable)
    }

    /// Writes a row. Cells that JSON has no form for are left out; the first of them is returned in words.
    pub fn write(&self, ix: usize, json: &mut Vec<u8>) -> Option<String> {
        let mut odd = None;
        json.push(b'{');
        let start = json.len();
        for (key, column) in self.keys.iter().zip(&self.columns) {
            let before = json.len();
            if before > start {
                json.push(b',');
            }
            json.extend_from_slice(key.as_bytes());
            if let Err(Odd { column, found }) = column.write(ix, json) {
                json.truncate(before);
                odd.get_or_insert_with(|| format!("the column `{column}` holds {found}, which JSON cannot express"));
            }
        }
        json.push(b'}');
        odd
    }
}

/// What is done with a file. The libraries panic about some bytes that no sound file has, and the owner of a damaged file
/// is owed an error.
pub(super) fn unless_damaged<T>(
    done: impl FnOnce() -> Result<T, SampleError>,
    damaged: fn(String) -> SampleError,
) -> Result<T, SampleError> {
    let caught = |_| Err(damaged("the file is damaged".to_owned()));
    catch_unwind(AssertUnwindSafe(done)).unwrap_or_else(caught)
}

/// The rows of a table, one after the other.
struct Rows<I> {
    batches: I,
    /// What an object has before each value: `,"name":`.
    keys: Vec<String>,
    /// The batch that is being read.
    table: Option<Arc<TableRows>>,
    /// Which of its rows is next.
    next: usize,
    /// Which row of the table was written last, from 1.
    number: u64,
}

impl<I: Iterator<Item = Batch>> Rows<I> {
    /// Writes the next row, and returns the batch that begins with it, if one does; `None` when there is no row. After an error there is nothing more to
    /// be had.
    fn write_next(&mut self, json: &mut Vec<u8>) -> Result<Option<Option<Arc<TableRows>>>, SampleError> {
        let mut begun = None;
        let table = loop {
            if let Some(table) = self.table.as_ref().filter(|it| self.next < it.n) {
                break table;
            }
            let Some(batch) = self.batches.next() else { return Ok(None) };
            let batch = batch?;
            let fields = batch.schema_ref().fields();
            self.keys = keys(fields);
            let names = fields.iter().map(|it| it.name().clone()).collect();
            let table = TableRows { first: self.number + 1, n: batch.num_rows(), names, columns: columns(&batch)? };
            begun = Some(Arc::clone(self.table.insert(Arc::new(table))));
            self.next = 0;
        };
        self.number += 1;
        write_row(&self.keys, &table.columns, self.next, self.number, json)?;
        self.next += 1;
        Ok(Some(begun))
    }
}

fn columns(batch: &RecordBatch) -> Result<Vec<Column>, SampleError> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    columns.map(|(field, array)| Column::of(field, array)).collect()
}

/// What an object has before each value: `,"name":`.
fn keys(fields: &Fields) -> Vec<String> {
    let key = |(ix, field): (usize, &Arc<Field>)| {
        format!("{}{}:", if ix == 0 { "" } else { "," }, Val::from(field.name().as_str()))
    };
    fields.iter().enumerate().map(key).collect()
}

/// Writes a row of a batch; `number` is what people know it by.
fn write_row(
    keys: &[String],
    columns: &[Column],
    ix: usize,
    number: u64,
    json: &mut Vec<u8>,
) -> Result<(), SampleError> {
    json.push(b'{');
    for (key, column) in keys.iter().zip(columns) {
        json.extend_from_slice(key.as_bytes());
        column.write(ix, json).map_err(|odd| SampleError::OddCell {
            row: number,
            column: odd.column.to_string(),
            found: odd.found,
        })?;
    }
    json.push(b'}');
    Ok(())
}
