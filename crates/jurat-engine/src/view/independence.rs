//! How much the judgements of a line are worth, where several of them are about one row.

use std::collections::BTreeMap;

use jurat_core::report::Independence;
use jurat_core::statistics::{Confidence, Side, Tally, effective_rate_counted};
use jurat_store::run::{Code, Column, RunFileError, RunReader};

use super::{RunView, ViewError};

/// How much the judgements of some tasks are worth, over the cases of some variants: their rows are clusters.
pub(super) fn independence(
    view: &RunView,
    tasks: &[Column],
    is_meant: impl Fn(usize) -> bool,
) -> Result<Independence, ViewError> {
    let n_meant = (0..view.reader.head().variants.len().max(1)).filter(|it| is_meant(*it)).count();
    // An interval of a fixed number of rows would be too narrow: the run stopped because of what it saw.
    if view.stopped_early()?.is_some() {
        return Ok(Independence::Unknown);
    }
    if tasks.len() * n_meant <= 1 {
        return Ok(Independence::Full);
    }
    Ok(of_rows(&view.reader, tasks, is_meant)?)
}

/// How much the judgements of some tasks are worth, with rows as clusters.
pub(super) fn of_rows(
    reader: &RunReader,
    tasks: &[Column],
    is_meant: impl Fn(usize) -> bool,
) -> Result<Independence, RunFileError> {
    let n_variants = reader.head().n_variants();
    let mut rows = Rows::default();
    for task in tasks {
        reader.each_verdict(*task, &mut |case, code| {
            if is_meant(n_variants.variant(case)) {
                rows.add(n_variants.place(case), code);
            }
        })?;
    }
    Ok(rows.independence())
}

/// Passed and failed judgements of each row, by its place.
#[derive(Default)]
struct Rows(Vec<(u32, u32)>);

impl Rows {
    fn add(&mut self, place: u64, code: Code) {
        let is_passed = match code {
            Code::Passed => true,
            Code::Failed => false,
            _ => return,
        };
        let place = place as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, (0, 0));
        }
        let (passed, judged) = &mut self.0[place];
        *passed += u32::from(is_passed);
        *judged += 1;
    }

    fn independence(&self) -> Independence {
        let mut clusters: BTreeMap<Tally, u64> = BTreeMap::new();
        for (passed, judged) in self.0.iter().filter(|it| it.1 > 0) {
            let tally = Tally { passed: u64::from(*passed), judged: u64::from(*judged) };
            *clusters.entry(tally).or_default() += 1;
        }
        if clusters.keys().all(|it| it.judged == 1) {
            return Independence::Full;
        }
        let found = effective_rate_counted(&clusters, Confidence::USUAL, Side::Both);
        found.and_then(|it| it.effective).map_or(Independence::Unknown, Independence::Worth)
    }
}
