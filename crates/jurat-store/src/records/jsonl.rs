//! One JSON value per line: rows are slices of the file, and finding them is finding line feeds.

use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};

use super::chunk::{Delivery, range};
use super::window::Window;
use super::{RowAt, RowsFault, SampleError};

pub(super) fn read(mut window: Window<'_>, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let mut lines = Lines { source: delivery.source, longest: delivery.limits.row, n_rows: 0, n_lines: 0 };
    let mut n_expected = 0;
    loop {
        let offset = window.offset();
        let (spare, mut rows) = delivery.spares.take();
        let bytes = lines.next(&mut window, delivery.limits.chunk, spare)?;
        if bytes.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let (text, not_text) = text_lines(bytes);
        rows.reserve(n_expected);
        let fault = lines.rows(&text, offset, &mut rows).or_else(|| Some(lines.not_text(&not_text?)));
        n_expected = rows.len() + rows.len() / 8 + 1;
        if delivery.hand_over(text, rows).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
    }
}

/// The lines of a file that were seen so far.
struct Lines {
    source: u32,
    longest: usize,
    n_rows: u64,
    n_lines: u64,
}

impl Lines {
    /// The next lines: as many as a chunk holds, or a longer one alone.
    fn next(&self, window: &mut Window<'_>, chunk: usize, spare: Vec<u8>) -> Result<Vec<u8>, RowsFault> {
        window.fill(chunk)?;
        let mut searched = window.bytes().len();
        if window.has_ended() && searched <= chunk {
            return Ok(window.give_for(searched, spare));
        }
        let mut end = memrchr(b'\n', window.bytes());
        while end.is_none() && !window.has_ended() {
            if searched > self.longest || window.is_cut() {
                return Err(self.too_long());
            }
            window.fill(searched + chunk)?;
            end = memchr(b'\n', &window.bytes()[searched..]).map(|it| searched + it);
            searched = window.bytes().len();
        }
        Ok(window.give_for(end.map_or(searched, |it| it + 1), spare))
    }

    /// What is wrong with the line that comes next, which is not text.
    fn not_text(&self, line: &[u8]) -> RowsFault {
        match memchr(b'\n', line).unwrap_or(line.len()) {
            length if length > self.longest => self.too_long(),
            _ => SampleError::NotUtf8 { line: self.n_lines + 1 }.into(),
        }
    }

    /// Finds the rows of some lines, the first of which begins at `offset` of the file, when they are of one.
    fn rows(&mut self, text: &str, offset: Option<u64>, rows: &mut Vec<RowAt>) -> Option<RowsFault> {
        let mut start = 0;
        let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
        for end in memchr_iter(b'\n', text.as_bytes()).chain(last) {
            let line = &text[start..end];
            if line.len() > self.longest {
                return Some(self.too_long());
            }
            self.n_lines += 1;
            let row = line.trim_ascii_start();
            let row_start = end - row.len();
            let row = row.trim_ascii_end();
            if !row.is_empty() {
                self.n_rows += 1;
                rows.push(RowAt {
                    range: range(row_start..row_start + row.len()),
                    source: self.source,
                    number: self.n_rows,
                    line: self.n_lines,
                    offset: offset.map(|it| it + row_start as u64),
                });
            }
            start = end + 1;
        }
        None
    }

    /// The line that comes next is too long.
    fn too_long(&self) -> RowsFault {
        RowsFault::RowTooLong { row: self.n_rows + 1, line: Some(self.n_lines + 1), limit: self.longest }
    }
}

/// The lines up to the first that is not text, and what follows them when there is one.
fn text_lines(bytes: Vec<u8>) -> (String, Option<Vec<u8>>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            let rest = bytes.split_off(memrchr(b'\n', &bytes[..valid]).map_or(0, |it| it + 1));
            (String::from_utf8(bytes).expect("the bytes are valid up to there"), Some(rest))
        }
    }
}
