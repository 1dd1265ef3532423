//! Rows as the columns that they come in.
//!
//! The JSON of a row names it and is stored with its verdicts, but need not be read again to judge it. For every row the answer is the one that
//! reading its JSON would give.

use std::borrow::Cow;
use std::sync::Arc;

use jurat_format::value::{Map, Projection, Record, Val};

use super::cells::Column;

/// Rows of a table that follow each other.
#[derive(Debug)]
pub(super) struct TableRows {
    /// The number of the first of them.
    pub(super) first: u64,
    pub(super) n: usize,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Column>,
}

/// The parts of some rows that some paths read.
#[derive(Debug)]
pub struct ColumnParts<'c> {
    wanted: &'c Projection,
    tables: Vec<(&'c TableRows, Vec<usize>)>,
}

impl<'c> ColumnParts<'c> {
    /// `None` when there are no tables, or when one has a column twice that is read: a row of it cannot be judged.
    pub(super) fn of(tables: &'c [Arc<TableRows>], wanted: &'c Projection) -> Option<ColumnParts<'c>> {
        let read = |table: &'c Arc<TableRows>| {
            let read = |ix: &usize| wanted.reads_member(&table.names[*ix]);
            let columns: Vec<usize> = (0..table.names.len()).filter(read).collect();
            let is_repeated = |(nth, ix): (usize, &usize)| {
                columns[..nth].iter().any(|before| table.names[*before] == table.names[*ix])
            };
            let has_repeated = columns.iter().enumerate().any(is_repeated);
            (!has_repeated).then_some((&**table, columns))
        };
        let tables: Vec<_> = tables.iter().map(read).collect::<Option<_>>()?;
        (!tables.is_empty()).then_some(ColumnParts { wanted, tables })
    }

    /// The part of the row with this number; `None` when it cannot be had without the row's JSON.
    pub fn part(&self, number: u64) -> Option<Val<'c>> {
        let at = |table: &TableRows| usize::try_from(number.checked_sub(table.first)?).ok().filter(|it| *it < table.n);
        let (table, columns, row) = self.tables.iter().find_map(|(it, columns)| Some((*it, columns, at(it)?)))?;
        let member = |ix: &usize| {
            let (name, column) = (&*table.names[*ix], &table.columns[*ix]);
            let value = column.value(row).or_else(|| self.read(name, column, row))?;
            Some((Cow::Borrowed(name), value))
        };
        Some(Val::Map(Map::from_pairs(columns.iter().map(member).collect::<Option<_>>()?).0))
    }

    /// Reads a cell from its JSON, as a member of a row.
    fn read(&self, name: &str, column: &Column, row: usize) -> Option<Val<'static>> {
        let mut json = format!("{{{}:", Val::from(name)).into_bytes();
        column.write(row, &mut json).ok()?;
        json.push(b'}');
        let json = String::from_utf8(json).ok()?;
        let Record { value, repeated_key } = self.wanted.read(&json).ok()?;
        let value = value.get(name).cloned().filter(|_| !repeated_key)?;
        Some(value.into_owned())
    }
}
