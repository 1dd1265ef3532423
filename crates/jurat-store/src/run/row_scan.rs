//! Rows one after the other, for searches: many are read from their file at once.
//!
//! To look a text up in a million rows, seeking each row costs more than looking into it.

use std::ops::{ControlFlow, Range};

use jurat_core::plan::CaseIx;
use xxhash_rust::xxh3::xxh3_128;

use super::cases::Cases;
use super::rows::Trust;
use super::stored::{LocatedRow, StoredBlock};
use super::{ByteRange, RunFileError, RunReader};

/// How many bytes of a file are read at once, and how many between two rows are read along with them.
const MOST_BYTES: u64 = 4 << 20;
const MOST_BETWEEN: u64 = 64 << 10;
/// How many rows are gathered at once.
const MOST_ROWS: usize = 4096;

/// Takes in the row of a case, or why it cannot be read, and says whether to continue.
pub type EachRow<'e> = dyn FnMut(CaseIx, Result<&[u8], RunFileError>) -> ControlFlow<()> + 'e;

impl RunReader {
    /// Hands on the rows of the cases in a range that are wanted, in the order of input, until the caller has enough.
    pub fn scan_rows(
        &self,
        range: Range<CaseIx>,
        is_wanted: &dyn Fn(CaseIx) -> bool,
        each: &mut EachRow<'_>,
    ) -> Result<(), RunFileError> {
        let mut rows = Cases::new(self.reading(), range, StoredBlock::located);
        let (mut gathered, mut bytes) = (Vec::new(), Vec::new());
        loop {
            let next = rows.next().transpose()?;
            let is_over = next.is_none();
            gathered.extend(next.filter(|it| is_wanted(it.case_ix)));
            if gathered.len() >= MOST_ROWS || is_over {
                if self.hand_on(&gathered, &mut bytes, each).is_break() || is_over {
                    return Ok(());
                }
                gathered.clear();
            }
        }
    }

    fn hand_on(&self, rows: &[LocatedRow], bytes: &mut Vec<u8>, each: &mut EachRow<'_>) -> ControlFlow<()> {
        let mut rest = rows;
        while let Some(first) = rest.first() {
            let n = if first.retained.is_none() { together(rest) } else { 1 };
            let (now, later) = rest.split_at(n);
            self.read_together(now, bytes, each)?;
            rest = later;
        }
        ControlFlow::Continue(())
    }

    /// Reads rows that stand near each other in their file, and hands them on.
    fn read_together(&self, rows: &[LocatedRow], bytes: &mut Vec<u8>, each: &mut EachRow<'_>) -> ControlFlow<()> {
        match span_of(rows) {
            Some((source, span)) if rows.len() > 1 && self.read_span(source, &span, bytes) => {
                rows.iter().try_for_each(|row| {
                    let place = row.place.bytes.map_or(0..0, |it| at(it, span.start));
                    // What is not as it was is read once more, to say what is wrong.
                    match self.is_as_it_was(row, &bytes[place.clone()]) {
                        true => each(row.case_ix, Ok(&bytes[place])),
                        false => self.read_alone(row, each),
                    }
                })
            }
            // One by one, so that each says for itself what is wrong.
            _ => rows.iter().try_for_each(|row| self.read_alone(row, each)),
        }
    }

    /// Whether bytes of a file are surely those that the run saw.
    fn is_as_it_was(&self, row: &LocatedRow, bytes: &[u8]) -> bool {
        match self.trust(row.place, row.block) {
            Ok(Trust::File) => true,
            Ok(Trust::Digest(digest)) => xxh3_128(bytes) == digest,
            Ok(Trust::Block) | Err(_) => false,
        }
    }

    fn read_alone(&self, row: &LocatedRow, each: &mut EachRow<'_>) -> ControlFlow<()> {
        if let Some(text) = &row.retained {
            return each(row.case_ix, Ok(text));
        }
        match self.row_bytes(row.place, row.block) {
            Ok(text) => each(row.case_ix, Ok(&text)),
            Err(error) => each(row.case_ix, Err(error)),
        }
    }
}

fn at(range: ByteRange, start: u64) -> Range<usize> {
    let from = range.offset.saturating_sub(start) as usize;
    from..from + range.length as usize
}

/// The source of some rows, and the bytes of it from the first to the last.
fn span_of(rows: &[LocatedRow]) -> Option<(u32, Range<u64>)> {
    let first = rows.first()?.place;
    let end = rows.iter().filter_map(|it| it.place.bytes).map(ByteRange::end).max()?;
    Some((first.source, first.bytes?.offset..end))
}

/// How many rows from the first on stand so near each other that they are read at once.
fn together(rows: &[LocatedRow]) -> usize {
    let Some((source, start)) = rows.first().and_then(|it| Some((it.place.source, it.place.bytes?.offset))) else {
        return 1;
    };
    let mut end = start;
    let is_near = |row: &&LocatedRow| {
        let Some(ByteRange { offset, length }) = row.place.bytes else { return false };
        let last = offset.saturating_add(u64::from(length));
        let is_it = row.retained.is_none()
            && row.place.source == source
            && (start..=end.saturating_add(MOST_BETWEEN)).contains(&offset)
            && last - start <= MOST_BYTES;
        end = end.max(last);
        is_it
    };
    rows.iter().take_while(is_near).count().max(1)
}
