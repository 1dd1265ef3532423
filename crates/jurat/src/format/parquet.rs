//! A run as Parquet: a row for each task of each case, with the columns of JSON lines.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport};
use jurat_report::CaseWriter;
use jurat_report::columns::{self, Column, Datum, Kind, rows};
use jurat_store::{Cell, CellType, ParquetTable};

use super::{Format, Holds};
use crate::Error;

/// The rows of JSON lines with types, for data frames.
pub static PARQUET: Format = Format {
    name: "parquet",
    extensions: &["parquet"],
    title: None,
    help: "The same as a table with types (`.parquet`)",
    holds: Holds::Rows,
    write: |export, out| {
        let writer = ParquetWriter::new(out, export.report(), export.chosen_columns());
        export.write_cases(&mut writer.map_err(Error::Write)?)
    },
};

/// Writes a run as Parquet. Values stand as JSON, since each may be of another kind.
#[derive(Debug)]
struct ParquetWriter<'r> {
    run: &'r RunReport,
    columns: Vec<&'static Column>,
    table: ParquetTable<Box<dyn Write + Send + 'r>>,
}

impl<'r> ParquetWriter<'r> {
    fn new(
        out: Box<dyn Write + Send + 'r>,
        run: &'r RunReport,
        columns: Vec<&'static Column>,
    ) -> io::Result<ParquetWriter<'r>> {
        let typed: Vec<(&str, CellType)> = columns.iter().map(|it| (it.name, cell_type(it.kind))).collect();
        Ok(ParquetWriter { run, table: ParquetTable::new(out, &typed)?, columns })
    }
}

impl CaseWriter for ParquetWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        for row in rows(self.run, case) {
            let row = row?;
            let data: Vec<(Datum<'_>, String)> = self.columns.iter().map(|it| with_json(it.read(&row))).collect();
            self.table.row(data.iter().map(|(datum, json)| cell(datum, json)))?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.table.end()
    }
}

fn cell_type(kind: Kind) -> CellType {
    match kind {
        Kind::Text | Kind::Value => CellType::Text,
        Kind::Number => CellType::Whole,
        Kind::Float => CellType::Real,
        Kind::Flag => CellType::Flag,
    }
}

fn with_json(datum: Datum<'_>) -> (Datum<'_>, String) {
    let json = if let Datum::Value(value) = datum { columns::json(value) } else { String::new() };
    (datum, json)
}

fn cell<'c>(datum: &Datum<'c>, json: &'c str) -> Cell<'c> {
    match datum {
        Datum::Nothing => Cell::Nothing,
        Datum::Text(text) => Cell::Text(text),
        Datum::Value(_) => Cell::Text(json),
        Datum::Number(number) => Cell::Whole(i64::try_from(*number).unwrap_or(i64::MAX)),
        // As in JSON, what is not finite is nothing.
        Datum::Float(number) if !number.is_finite() => Cell::Nothing,
        Datum::Float(number) => Cell::Real(*number),
        Datum::Flag(flag) => Cell::Flag(*flag),
    }
}
