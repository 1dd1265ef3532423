//! The rows of a JSON document, one after the other: the items of a list, or one object that is the only row.
//!
//! The text may be a piece of the document. A [`Walk`] then says that it was cut, and continues in a longer piece; so the
//! end of a huge list is never looked at where only its start is wanted, nor held in memory where all of it is.

use std::ops::Range;

use jurat_format::value::JsonError;
use serde_json::value::RawValue;

/// How far a document has been walked.
#[derive(Debug, Default)]
pub(super) struct Walk {
    expects: Expects,
}

/// What the document should continue with.
#[derive(Debug, Clone, Copy, Default)]
enum Expects {
    #[default]
    Document,
    OnlyRow,
    RowOrEnd,
    Row,
    CommaOrEnd,
    NothingAfterList,
    NothingAfterObject,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ahead {
    /// A row begins.
    Row,
    /// The text ends before that is known.
    Cut,
    /// The document is complete, and nothing but white space follows it in the text.
    End,
}

/// What is wrong with a document.
#[derive(Debug)]
pub(super) struct Flaw {
    /// The byte of the text where it is seen; it may be inside a character.
    pub(super) at: usize,
    pub(super) message: String,
}

impl Walk {
    /// Goes up to the next row.
    pub(super) fn ahead(&mut self, text: &str, at: &mut usize) -> Result<Ahead, Flaw> {
        loop {
            *at += text.len() - *at - text[*at..].trim_ascii_start().len();
            let next = text.as_bytes().get(*at);
            let (expects, length) = match (self.expects, next) {
                (Expects::OnlyRow | Expects::Row, _) => return Ok(Ahead::Row),
                (Expects::NothingAfterList | Expects::NothingAfterObject, None) => return Ok(Ahead::End),
                (_, None) => return Ok(Ahead::Cut),
                (Expects::Document, Some(b'[')) => (Expects::RowOrEnd, 1),
                (Expects::Document, Some(b'{')) => (Expects::OnlyRow, 0),
                (Expects::RowOrEnd | Expects::CommaOrEnd, Some(b']')) => (Expects::NothingAfterList, 1),
                (Expects::RowOrEnd, Some(_)) => (Expects::Row, 0),
                (Expects::CommaOrEnd, Some(b',')) => (Expects::Row, 1),
                (_, Some(_)) => return Err(Flaw { at: *at, message: self.expectation().to_owned() }),
            };
            self.expects = expects;
            *at += length;
        }
    }

    /// Goes over the row that begins here. `None`, without a step, when the text ends before the row does: `12` may be the
    /// start of `123`, so an item of a list ends only where something follows it. `more` says whether the document continues.
    pub(super) fn row(&mut self, text: &str, at: &mut usize, more: bool) -> Result<Option<Range<usize>>, Flaw> {
        let rest = &text[*at..];
        let start = *at + rest.len() - rest.trim_ascii_start().len();
        let rest = &text[start..];
        let is_only = matches!(self.expects, Expects::OnlyRow);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) if is_only || values.byte_offset() < rest.len() => {
                *at = start + value.get().len();
                self.expects = if is_only { Expects::NothingAfterObject } else { Expects::CommaOrEnd };
                Ok(Some(start..*at))
            }
            Some(Err(error)) if !error.is_eof() => {
                let flaw = flaw(text, start, error.into());
                // `1e` is an invalid number to the parser, and may be the start of `1e5`.
                if more && flaw.at + 1 >= text.len() { Ok(None) } else { Err(flaw) }
            }
            _ => Ok(None),
        }
    }

    /// What is wrong when the document ends where the text was cut.
    pub(super) fn unfinished(&self) -> &'static str {
        match self.expects {
            Expects::RowOrEnd | Expects::CommaOrEnd => "the list is not closed",
            Expects::Row | Expects::OnlyRow => "the row that begins here does not end",
            _ => self.expectation(),
        }
    }

    fn expectation(&self) -> &'static str {
        match self.expects {
            Expects::Document => "expected a list of rows or one object",
            Expects::NothingAfterList => "trailing characters",
            Expects::NothingAfterObject => "trailing characters; a file with one value per line is named `.jsonl`",
            Expects::CommaOrEnd | Expects::RowOrEnd => "expected `,` or `]`",
            Expects::Row | Expects::OnlyRow => "expected a row",
        }
    }
}

/// An error whose line and column were counted from `start`.
fn flaw(text: &str, start: usize, error: JsonError) -> Flaw {
    let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[start..]);
    let line_start = match error.line {
        0 | 1 => start,
        line => lines.into_iter().nth(line - 2).map_or(start, |it| start + it + 1),
    };
    Flaw { at: line_start + error.column - 1, message: error.message }
}
