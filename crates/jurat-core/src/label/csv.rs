//! CSV with the place of every cell, quoted as RFC 4180 has it.

use std::borrow::Cow;
use std::ops::Range;

/// One cell: what it says, and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) range: Range<usize>,
}

/// A quote that nothing closes, by the place where it opens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenQuote(pub(super) usize);

/// The rows of a text, without those that are empty.
pub(super) fn rows(text: &str) -> Result<Vec<Vec<Cell<'_>>>, OpenQuote> {
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (row, next) = row(text, at)?;
        at = next;
        if row.len() > 1 || row.iter().any(|it| !it.text.trim().is_empty()) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The row that begins at a place, and where the next one begins.
fn row(text: &str, mut at: usize) -> Result<(Vec<Cell<'_>>, usize), OpenQuote> {
    let mut row = Vec::new();
    loop {
        let (cell, end) = cell(text, at)?;
        row.push(cell);
        match text.as_bytes().get(end) {
            Some(b',') => at = end + 1,
            Some(b'\r') if text.as_bytes().get(end + 1) == Some(&b'\n') => return Ok((row, end + 2)),
            Some(_) => return Ok((row, end + 1)),
            None => return Ok((row, end)),
        }
    }
}

/// The cell that begins at a place, and where it ends.
fn cell(text: &str, at: usize) -> Result<(Cell<'_>, usize), OpenQuote> {
    let rest = &text[at..];
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = at + rest.find([',', '\n', '\r']).unwrap_or(rest.len());
        return Ok((Cell { text: plain(Cow::Borrowed(&text[at..end])), range: at..end }, end));
    };
    let close = closing(quoted).ok_or(OpenQuote(at))?;
    let inner = &quoted[..close];
    let inner = if inner.contains('"') { Cow::Owned(inner.replace("\"\"", "\"")) } else { Cow::Borrowed(inner) };
    let after = at + 1 + close + 1;
    // What stands between a closing quote and the next comma is no part of the cell in any dialect that writes it.
    let end = after + text[after..].find([',', '\n', '\r']).unwrap_or(text.len() - after);
    Ok((Cell { text: plain(inner), range: at..after }, end))
}

/// Where the quote is that closes a cell: one that no other follows.
fn closing(quoted: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + quoted[from..].find('"')?;
        match quoted.as_bytes().get(at + 1) {
            Some(b'"') => from = at + 2,
            _ => return Some(at),
        }
    }
}

/// What begins a formula in some spreadsheet. The characters after the ASCII ones are their wide forms.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A cell without the apostrophe that [`push`] puts before what a spreadsheet would run.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.strip_prefix('\'').filter(|it| it.starts_with(FORMULA) || it.starts_with('\'')) {
        Some(rest) => Cow::Owned(rest.to_owned()),
        None => text,
    }
}

/// Adds a cell to a line.
pub(super) fn push(line: &mut String, text: &str) {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let is_guarded = (text.starts_with(FORMULA) && !is_number) || text.starts_with('\'');
    let guard = if is_guarded { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(guard);
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(guard);
        line.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(text: &str, expected: &[&[&str]]) {
        let rows = rows(text).expect("quotes are closed");
        let found: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(|it| &*it.text).collect()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn cells_are_read_as_they_were_written() {
        read("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]);
        read("a,b\r\n\"x, \"\"y\"\"\",\r\n\r\n", &[&["a", "b"], &["x, \"y\"", ""]]);
        read("\"two\nlines\",b", &[&["two\nlines", "b"]]);
        read("'=1+1,'x", &[&["=1+1", "'x"]]);
        assert_eq!(rows("a\n\"open"), Err(OpenQuote(2)));
        for text in ["", "plain", "=1+1", "'quoted", "''", "-3", "-x", "a,b", "\"", "\n=1", "ü\r\n"] {
            let mut line = String::new();
            push(&mut line, text);
            line.push_str(",end");
            assert_eq!(rows(&line).expect("it is closed")[0][0].text, text);
        }
    }
}
