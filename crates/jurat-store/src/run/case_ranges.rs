//! Which cases a run reached, in little memory: most of them follow each other.

use std::ops::Range;

use jurat_core::plan::CaseIx;
use rusqlite::params;

use super::cases::{Header, Headers};
use super::stored::{Reading, n_slots, read_cases};
use crate::database::DatabaseError;
use crate::packed::Unreadable;

/// Some cases, by their places in the order of input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseRanges(Vec<Range<u64>>);

impl CaseRanges {
    /// The cases of a run.
    pub(super) fn of(reading: Reading<'_>) -> Result<CaseRanges, DatabaseError> {
        let (mut headers, mut ranges) = (Headers::default(), Vec::new());
        while let Some(header) = headers.next(reading)? {
            block_ranges(reading, header, &mut ranges)?;
        }
        Ok(CaseRanges(joined(ranges)))
    }

    /// From the first to behind the last of the cases that have these places among them, counted from 0: a run of some rows has gaps in between.
    pub fn at(&self, places: Range<u64>) -> Range<CaseIx> {
        let end = self.nth(places.end.saturating_sub(1)).map_or(u64::MAX, |it| it + 1);
        match self.nth(places.start) {
            Some(first) if places.start < places.end => CaseIx::numbered(first)..CaseIx::numbered(end),
            _ => CaseIx::numbered(0)..CaseIx::numbered(0),
        }
    }

    fn nth(&self, place: u64) -> Option<u64> {
        let mut rest = place;
        for it in &self.0 {
            let n = it.end - it.start;
            if rest < n {
                return Some(it.start + rest);
            }
            rest -= n;
        }
        None
    }

    /// Whether a case is among them.
    pub fn contains(&self, case: CaseIx) -> bool {
        let before = self.0.partition_point(|it| it.end <= case.number());
        self.0.get(before).is_some_and(|it| it.contains(&case.number()))
    }
}

fn block_ranges(reading: Reading<'_>, header: Header, ranges: &mut Vec<Range<u64>>) -> Result<(), DatabaseError> {
    let mut select = reading.sqlite(reading.connection.prepare_cached("SELECT n, cases FROM block WHERE id = ?1"))?;
    let row = select.query_row(params![header.id], |row| Ok((row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?)));
    let (n, cases) = reading.sqlite(row)?;
    let read = || -> Result<Vec<Range<u64>>, Unreadable> {
        let n = n_slots(n)?;
        Ok(match cases {
            None => std::iter::once(header.first..header.first.saturating_add(n as u64)).collect(),
            Some(cases) => {
                let cases = read_cases(&cases, header.first, n)?;
                joined(cases.into_iter().map(|it| it..it.saturating_add(1)).collect())
            }
        })
    };
    ranges.extend(read().map_err(|it| DatabaseError::of_part(reading.path, "block.cases", it))?);
    Ok(())
}

/// The same cases in order, in as few ranges as can be.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|it| it.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_hold_what_was_put_in(cases in proptest::collection::btree_set(0_u64..60, 0..40)) {
            let ranges = CaseRanges(joined(cases.iter().rev().map(|it| *it..*it + 1).collect()));
            let held: BTreeSet<u64> = (0..70).filter(|it| ranges.contains(CaseIx::numbered(*it))).collect();
            prop_assert!(ranges.0.windows(2).all(|it| it[0].end < it[1].start), "{:?}", ranges);
            prop_assert_eq!(held, cases);
        }

        #[test]
        fn places_leave_no_case_out(cases in proptest::collection::btree_set(0_u64..60, 0..40), from in 0_u64..45, n in 0_u64..20) {
            let ranges = CaseRanges(joined(cases.iter().map(|it| *it..*it + 1).collect()));
            let at = ranges.at(from..from + n);
            let found: Vec<u64> = cases.iter().copied().filter(|it| (at.start.number()..at.end.number()).contains(it)).collect();
            let expected: Vec<u64> = cases.iter().copied().skip(from as usize).take(n as usize).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(ranges.at(0..u64::MAX).start.number(), cases.first().copied().unwrap_or(0));
        }
    }
}
