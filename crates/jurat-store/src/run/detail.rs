//! What there is to say about a verdict beyond its code.
//!
//! Details are stored as lines `slot column JSON`, because people will ask for more members than we think of today. Members may be
//! added; none changes its meaning.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use jurat_core::verdict::{SkipReason, Verdict};
use memchr::memchr_iter;
use serde::{Deserialize, Serialize};

use super::Column;
use crate::packed::Unreadable;

/// What there is to say about a verdict beyond its code; all of it may be missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Detail<'d> {
    /// What was expected, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Cow<'d, str>>,
    /// What was found, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Cow<'d, str>>,
    /// Why it could not be judged or did not run, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'d, str>>,
    /// Why it was judged so, in the words of a judge or an evaluator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Cow<'d, str>>,
    /// The value that was obtained, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Cow<'d, str>>,
    /// What each judge said, as the JSON text of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Cow<'d, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Column>,
}

impl<'d> Detail<'d> {
    /// What a verdict itself has to say.
    pub fn of(verdict: &'d Verdict) -> Detail<'d> {
        let text = |it: &'d str| Some(Cow::Borrowed(it));
        match verdict {
            Verdict::Passed | Verdict::Measured => Detail::default(),
            Verdict::Failed(mismatch) => {
                Detail { expected: text(&mismatch.expected), found: text(&mismatch.found), ..Detail::default() }
            }
            Verdict::Skipped(SkipReason::GateFailed(task) | SkipReason::Errored(task)) => {
                Detail { because: Some(Column::from(*task)), ..Detail::default() }
            }
            Verdict::Error(reason) => Detail { message: text(&reason.0), ..Detail::default() },
            Verdict::NotRun(reason) => Detail { message: text(reason.name()), ..Detail::default() },
        }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Detail::default()
    }

    /// Appends the JSON of a detail.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        serde_json::to_writer(bytes, self).expect("texts and numbers are JSON");
    }
}

/// Appends a line of a chunk.
pub(super) fn put_line(chunk: &mut Vec<u8>, slot: usize, column: Column, json: &[u8]) {
    write!(chunk, "{slot} {} ", column.0).expect("memory takes all bytes");
    chunk.extend_from_slice(json);
    chunk.push(b'\n');
}

/// The lines of a chunk: slot, column and where the JSON is.
pub(super) fn lines(chunk: &[u8]) -> impl Iterator<Item = Result<(usize, Column, Range<usize>), Unreadable>> {
    let mut start = 0;
    memchr_iter(b'\n', chunk).map(move |end| {
        let line = std::mem::replace(&mut start, end + 1)..end;
        let mut spaces = memchr_iter(b' ', &chunk[line.clone()]).map(|it| line.start + it);
        let (first, second) = spaces.next().zip(spaces.next()).ok_or(Unreadable::Damaged)?;
        let number = |range: Range<usize>| {
            let digits = std::str::from_utf8(&chunk[range]).ok();
            digits.and_then(|it| it.parse::<u32>().ok()).ok_or(Unreadable::Damaged)
        };
        let (slot, column) = (number(line.start..first)?, number(first + 1..second)?);
        Ok((slot as usize, Column(column), second + 1..line.end))
    })
}

/// Reads the JSON of a detail.
pub(super) fn read(json: &[u8]) -> Result<Detail<'static>, Unreadable> {
    serde_json::from_slice(json).map_err(|_| Unreadable::Damaged)
}
