//! One JSON document: rows are slices of the file, and a list is walked piece by piece.

use std::ops::{ControlFlow, Range};

use super::chunk::{Delivery, range};
use super::mark::Mark;
use super::walk::{Ahead, Flaw, Walk};
use super::window::Window;
use super::{RowAt, RowLimits, RowsFault, SampleError};

pub(super) fn read(mut window: Window<'_>, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let RowLimits { chunk, row: longest } = delivery.limits;
    let source = delivery.source;
    let mut document = Document { walk: Walk::default(), mark: Mark::START, n_rows: 0, source, chunk, longest };
    let mut size = chunk;
    loop {
        window.fill(size)?;
        let piece = Piece::of(&window, size);
        let mut rows = Vec::new();
        let (walked, end) = document.walk(&piece, window.offset(), &mut rows);
        let text = String::from_utf8(window.give(walked)).expect("what was walked is text");
        if delivery.hand_over(text, rows).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match end {
            Err(fault) => return Err(fault),
            Ok(End::Document) => return Ok(ControlFlow::Continue(())),
            Ok(End::Piece) if walked > 0 => size = chunk,
            // The row does not fit. Doubling, because it is walked again from its start.
            Ok(End::Piece) => {
                if size > longest {
                    return Err(document.too_long());
                }
                size = (size * 2).min(longest + 1);
            }
        }
    }
}

/// A piece of the document.
struct Piece<'w> {
    text: &'w str,
    then: Then,
}

/// What is behind a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    More,
    NotText,
}

impl<'w> Piece<'w> {
    /// The first bytes of a window, `size` at most. It holds more than a chunk after a row that was longer.
    fn of(window: &'w Window<'_>, size: usize) -> Piece<'w> {
        let bytes = &window.bytes()[..size.min(window.bytes().len())];
        let is_last = window.has_ended() && bytes.len() == window.bytes().len();
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Piece { text, then: if is_last { Then::Nothing } else { Then::More } },
            Err(error) => error,
        };
        let valid = &bytes[..error.valid_up_to()];
        let text = std::str::from_utf8(valid).expect("the bytes are valid up to there");
        // A character that the end of the piece cuts in two is no fault of the file.
        let is_cut = error.error_len().is_none() && !is_last;
        let then = if is_cut { Then::More } else { Then::NotText };
        Piece { text, then }
    }
}

/// Why a walk ended without a fault.
enum End {
    Piece,
    Document,
}

/// The document as far as it was walked.
struct Document {
    walk: Walk,
    mark: Mark,
    n_rows: u64,
    source: u32,
    chunk: usize,
    longest: usize,
}

impl Document {
    /// Finds the rows of a piece. Answers how much of it was walked and why no more.
    fn walk(
        &mut self,
        piece: &Piece<'_>,
        offset: Option<u64>,
        rows: &mut Vec<RowAt>,
    ) -> (usize, Result<End, RowsFault>) {
        let (mut at, mut marked) = (0, 0);
        loop {
            let row = match self.walk.ahead(piece.text, &mut at) {
                Ok(Ahead::Row) => self.walk.row(piece.text, &mut at, piece.then != Then::Nothing),
                Ok(Ahead::Cut) => Ok(None),
                Ok(Ahead::End) if piece.then == Then::Nothing => return (at, Ok(End::Document)),
                Ok(Ahead::End) => Ok(None),
                Err(flaw) => Err(flaw),
            };
            match row {
                Ok(Some(row)) => {
                    self.mark = self.mark.after(&piece.text[marked..row.start]);
                    marked = row.start;
                    if row.len() > self.longest {
                        return (row.start, Err(self.too_long()));
                    }
                    self.n_rows += 1;
                    let is_long = row.end >= self.chunk;
                    rows.push(self.row_at(row, offset));
                    if is_long {
                        self.mark = self.mark.after(&piece.text[marked..at]);
                        return (at, Ok(End::Piece));
                    }
                }
                Ok(None) => {
                    self.mark = self.mark.after(&piece.text[marked..at]);
                    let fault = match piece.then {
                        Then::More => return (at, Ok(End::Piece)),
                        Then::Nothing => self.malformed(self.mark, self.walk.unfinished().to_owned()),
                        Then::NotText => SampleError::NotUtf8 { line: self.mark.after(&piece.text[at..]).line }.into(),
                    };
                    return (at, Err(fault));
                }
                Err(Flaw { at: flaw, message }) => {
                    let mark = self.mark.after(&piece.text[marked..piece.text.floor_char_boundary(flaw).max(marked)]);
                    return (at, Err(self.malformed(mark, message)));
                }
            }
        }
    }

    fn row_at(&self, row: Range<usize>, offset: Option<u64>) -> RowAt {
        RowAt {
            source: self.source,
            number: self.n_rows,
            line: self.mark.line,
            offset: offset.map(|it| it + row.start as u64),
            range: range(row),
        }
    }

    fn malformed(&self, mark: Mark, message: String) -> RowsFault {
        SampleError::Malformed { line: mark.line, column: mark.column, message }.into()
    }

    /// The row that comes next is too long.
    fn too_long(&self) -> RowsFault {
        RowsFault::RowTooLong { row: self.n_rows + 1, line: Some(self.mark.line), limit: self.longest }
    }
}
