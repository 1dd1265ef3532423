//! A run as JSON lines: one object for each task of each case.
//!
//! Every object has every member, `null` where there is nothing to say, so that readers which look at the first lines only know the
//! columns. Values are whole.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport};

use crate::case_writer::CaseWriter;
use crate::columns::{Column, Datum, rows};
use crate::json_text;

/// Writes a run as JSON lines.
pub struct JsonLinesWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    columns: Vec<&'static Column>,
}

impl<'r> JsonLinesWriter<'r> {
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, columns: Vec<&'static Column>) -> JsonLinesWriter<'r> {
        JsonLinesWriter { out, run, columns }
    }
}

impl CaseWriter for JsonLinesWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let mut lines = String::new();
        for row in rows(self.run, case) {
            let row = row?;
            json_text::object(&mut lines, |members| {
                for column in &self.columns {
                    match column.read(&row) {
                        Datum::Nothing => members.null(column.name),
                        Datum::Text(text) => members.text(column.name, text),
                        Datum::Value(value) => members.value(column.name, value),
                        Datum::Number(number) => members.number(column.name, number),
                        Datum::Float(number) => members.float(column.name, number),
                        Datum::Flag(flag) => members.flag(column.name, flag),
                    }
                }
            });
            lines.push('\n');
        }
        self.out.write_all(lines.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
