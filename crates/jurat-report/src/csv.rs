//! A run as CSV: one row for each task of each case, quoted as RFC 4180 has it, lines ended by a line feed.
//!
//! Spreadsheets run what looks like a formula, and models can write one. A cell that begins as a formula does is given an apostrophe in
//! front, unless it is a plain number. Characters that a terminal obeys are made visible; line feeds and tabs inside of a text stay.
//! Text stands as it is, any other value as JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport};
use jurat_format::value::Val;

use crate::case_writer::CaseWriter;
use crate::columns::{Column, Datum, rows};
use crate::json_text;
use crate::visible::visible;

/// Writes a run as CSV.
pub struct CsvWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    columns: Vec<&'static Column>,
}

impl<'r> CsvWriter<'r> {
    /// Begins a run: writes the names of the columns.
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, columns: Vec<&'static Column>) -> io::Result<CsvWriter<'r>> {
        let names: Vec<&str> = columns.iter().map(|it| it.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(CsvWriter { out, run, columns })
    }
}

impl CaseWriter for CsvWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let mut lines = String::new();
        for row in rows(self.run, case) {
            let row = row?;
            for (ix, column) in self.columns.iter().enumerate() {
                if ix > 0 {
                    lines.push(',');
                }
                match column.read(&row) {
                    Datum::Nothing => {}
                    Datum::Text(text) => push_text(&mut lines, text),
                    Datum::Value(Val::Str(text)) => push_text(&mut lines, text),
                    Datum::Value(value) => {
                        let mut json = String::new();
                        json_text::value(&mut json, value);
                        push_text(&mut lines, &json);
                    }
                    Datum::Number(number) => lines.push_str(&number.to_string()),
                    Datum::Float(number) => lines.push_str(&number.to_string()),
                    Datum::Flag(flag) => lines.push_str(if flag { "true" } else { "false" }),
                }
            }
            lines.push('\n');
        }
        self.out.write_all(lines.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes the cell of a text.
fn push_text(line: &mut String, text: &str) {
    let text = harmless(text);
    if text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(&text);
    }
}

/// The text as a spreadsheet and a terminal may see it.
fn harmless(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    // The characters after the ASCII ones are their wide forms, which some spreadsheets take for them.
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if begins_formula && !is_plain_number(text) { Cow::Owned(format!("'{shown}")) } else { shown }
}

/// Whether a text is a number and nothing else: `-1.5e3`.
fn is_plain_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(fraction) && is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn cell(text: &str, expected: &str) {
        let mut line = String::new();
        push_text(&mut line, text);
        assert_eq!(line, expected);
    }

    #[test]
    fn a_cell_is_never_a_formula() {
        cell("=1+1", "'=1+1");
        cell("+1+1", "'+1+1");
        cell("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0");
        cell("@SUM(A1)", "'@SUM(A1)");
        cell("\t=1", "'\t=1");
        cell("\r=1", "'␍=1");
        cell("\n=1", "\"'\n=1\"");
        cell("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        cell("＝1", "'＝1");
    }

    #[test]
    fn numbers_stay_numbers() {
        for number in ["-5", "+5", "-1.5", "-1e5", "-1.25E-10"] {
            cell(number, number);
        }
        for text in ["-", "-.5", "-1.", "-1e", "-1-1", "+1 ", "-٣"] {
            cell(text, &format!("'{text}"));
        }
    }

    #[test]
    fn quotes_commas_and_lines_are_quoted_and_the_rest_is_shown() {
        cell("plain", "plain");
        cell("a,b", "\"a,b\"");
        cell("say \"hi\"", "\"say \"\"hi\"\"\"");
        cell("two\nlines", "\"two\nlines\"");
        cell("\x1b[2J\u{202e}\0", "␛[2J\u{fffd}␀");
    }
}
