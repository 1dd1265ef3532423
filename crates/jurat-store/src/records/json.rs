//! One JSON document: a list of rows, or one object that is the only row.
//!
//! A list is walked row by row, so that the end of a huge one is never looked at.

use jurat_core::value::{JsonError, parse_json};
use serde_json::value::RawValue;

use super::head::Head;
use super::{Sample, SampleError};

pub(super) fn sample(head: &Head, most: usize) -> Result<Sample, SampleError> {
    let mut cursor = Cursor { head, at: 0 };
    match cursor.peek() {
        Some(b'[') => list(cursor, most),
        Some(b'{') => one_object(head, most),
        Some(_) => Err(cursor.malformed(NOT_ROWS)),
        None => cursor.cut(Sample::default(), NOT_ROWS),
    }
}

fn one_object(head: &Head, most: usize) -> Result<Sample, SampleError> {
    if let Some(cut) = head.cut_row(0) {
        cut?;
    }
    let record = parse_json(&head.text).map_err(|it| {
        let hint = if it.message == TRAILING { "; a file with one value per line is named `.jsonl`" } else { "" };
        head.malformed(it.line, it.column, format!("{}{hint}", it.message))
    })?;
    Ok(match most {
        0 => Sample { more: true, ..Sample::default() },
        _ => Sample { rows: vec![record.value.into_owned()], more: false, repeated_key: record.repeated_key },
    })
}

const NOT_ROWS: &str = "expected a list of rows or one object";

/// What the parser says about a second value.
const TRAILING: &str = "trailing characters";

fn list(mut cursor: Cursor<'_>, most: usize) -> Result<Sample, SampleError> {
    let mut sample = Sample::default();
    cursor.at += 1;
    let mut is_first = true;
    loop {
        let after_value = !std::mem::take(&mut is_first);
        match (cursor.peek(), after_value) {
            (Some(b']'), _) => {
                cursor.at += 1;
                return cursor.ended(sample);
            }
            (Some(b','), true) => cursor.at += 1,
            (Some(_), false) => {}
            (Some(_), true) => return Err(cursor.malformed("expected `,` or `]`")),
            (None, _) => return cursor.cut(sample, "the list is not closed"),
        }
        if sample.rows.len() == most {
            sample.more = true;
            return Ok(sample);
        }
        match cursor.row()? {
            Some(row) => {
                let record = parse_json(row.text)
                    .map_err(|it| cursor.malformed_in(row.start, it.line, it.column, &it.message))?;
                sample.repeated_key |= record.repeated_key;
                sample.rows.push(record.value.into_owned());
            }
            None => return cursor.cut(sample, "the row that begins here does not end"),
        }
    }
}

/// A place in the text of a file.
struct Cursor<'h> {
    head: &'h Head,
    at: usize,
}

/// One row of a list.
struct Row<'h> {
    text: &'h str,
    start: usize,
}

impl<'h> Cursor<'h> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.head.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
        self.head.text.as_bytes().get(self.at).copied()
    }

    /// The value that begins here; `None`, without a step, when the text ends before it does. A value that reaches the end
    /// of the text may be the start of a longer one: `12` of `123`.
    fn row(&mut self) -> Result<Option<Row<'h>>, SampleError> {
        self.peek();
        let start = self.at;
        let rest = &self.head.text[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) if values.byte_offset() < rest.len() => {
                self.at += values.byte_offset();
                Ok(Some(Row { text: value.get(), start }))
            }
            Some(Err(error)) if !error.is_eof() => {
                let error = JsonError::from(error);
                Err(self.malformed_in(start, error.line, error.column, &error.message))
            }
            _ => Ok(None),
        }
    }

    /// What to answer where the text ends before the list does.
    fn cut(self, sample: Sample, message: &str) -> Result<Sample, SampleError> {
        match self.head.cut_row(sample.rows.len()) {
            Some(Ok(())) => Ok(Sample { more: true, ..sample }),
            Some(Err(error)) => Err(error),
            None => Err(self.malformed(message)),
        }
    }

    /// What to answer after the list: nothing may follow it.
    fn ended(mut self, sample: Sample) -> Result<Sample, SampleError> {
        match self.peek() {
            Some(_) => Err(self.malformed(TRAILING)),
            None => Ok(sample),
        }
    }

    fn malformed(&self, message: &str) -> SampleError {
        self.malformed_in(self.at, 1, 1, message)
    }

    /// Says what is wrong at a line and byte column, from 1, counted from `start`.
    fn malformed_in(&self, start: usize, line: usize, column: usize, message: &str) -> SampleError {
        let before = &self.head.text[..start];
        let indent = if line == 1 { before.len() - before.rfind('\n').map_or(0, |it| it + 1) } else { 0 };
        self.head.malformed(before.matches('\n').count() + line, indent + column, message)
    }
}
