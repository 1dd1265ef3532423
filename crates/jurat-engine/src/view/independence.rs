//! How much the judgements of a line are worth, where several of them are about one row, or about rows that share something.

use std::collections::BTreeMap;

use jurat_core::plan::CaseIx;
use jurat_core::report::Independence;
use jurat_core::statistics::{Confidence, Side, Tally, effective_rate_counted};
use jurat_store::run::{BlockVerdicts, CaseTexts, Code, Column, RunFileError, RunReader};

use super::{RunView, ViewError};

/// How much the judgements of some tasks are worth, over the cases of some variants: their rows are clusters, or what `cluster_by` says.
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
    let Some(path) = &view.plan.cluster_by else {
        let is_single = tasks.len() * n_meant <= 1;
        return if is_single { Ok(Independence::Full) } else { Ok(of_rows(&view.reader, tasks, is_meant)?) };
    };
    match view.reader.group_texts(&path.to_string())? {
        Some(clusters) => Ok(of_clusters(&view.reader, tasks, &clusters, is_meant)?),
        // A file of an earlier version does not say which rows share something.
        None => Ok(Independence::Unknown),
    }
}

/// How much the judgements of some tasks are worth, with rows as clusters.
fn of_rows(
    reader: &RunReader,
    tasks: &[Column],
    is_meant: impl Fn(usize) -> bool,
) -> Result<Independence, RunFileError> {
    let n_variants = reader.head().n_variants();
    // A row with one variant is one case: it is complete with its block, and need not be held.
    let is_one_case = reader.head().variants.len() <= 1;
    let mut rows = Rows::default();
    reader.each_block(tasks, &mut |block| {
        for (case, tally) in tallies(block).filter(|it| is_meant(n_variants.variant(it.0))) {
            if is_one_case { rows.count(tally) } else { rows.add(n_variants.place(case), tally) }
        }
    })?;
    Ok(rows.independence())
}

/// The same with what rows share as clusters. Rows that share nothing are clusters of one.
fn of_clusters(
    reader: &RunReader,
    tasks: &[Column],
    clusters: &CaseTexts,
    is_meant: impl Fn(usize) -> bool,
) -> Result<Independence, RunFileError> {
    let n_variants = reader.head().n_variants();
    let n_shared = clusters.texts.len() as u64;
    let mut rows = Rows::default();
    reader.each_block(tasks, &mut |block| {
        for (case, tally) in tallies(block).filter(|it| is_meant(n_variants.variant(it.0))) {
            let shared = clusters.numbers.get(case.index()).filter(|it| **it != CaseTexts::NONE);
            let place = shared.map_or_else(|| n_shared + n_variants.place(case), |it| u64::from(*it));
            rows.add(place, tally);
        }
    })?;
    Ok(rows.independence())
}

/// What each case of a block passed of what was judged.
fn tallies(block: &BlockVerdicts) -> impl Iterator<Item = (CaseIx, Tally)> {
    let (passed, failed) = (block.counts(Code::Passed), block.counts(Code::Failed));
    let tallies = passed.into_iter().zip(failed).map(|(passed, failed)| (u64::from(passed), u64::from(failed)));
    let tallies = tallies.map(|(passed, failed)| Tally { passed, judged: passed + failed });
    block.cases().map(|it| it.0).zip(tallies)
}

/// Passed and failed judgements of rows: how many rows have which, and by their place those that may get more.
#[derive(Default)]
struct Rows {
    complete: BTreeMap<Tally, u64>,
    /// The last that was counted, and how often; most rows are like the one before.
    last: (Tally, u64),
    open: Vec<(u32, u32)>,
}

impl Rows {
    fn count(&mut self, tally: Tally) {
        if tally == self.last.0 {
            self.last.1 += 1;
            return;
        }
        self.keep_last();
        self.last = (tally, 1);
    }

    fn keep_last(&mut self) {
        let (tally, n) = std::mem::take(&mut self.last);
        if tally.judged > 0 {
            *self.complete.entry(tally).or_default() += n;
        }
    }

    fn add(&mut self, place: u64, tally: Tally) {
        let place = place as usize;
        if place >= self.open.len() {
            self.open.resize(place + 1, (0, 0));
        }
        let (passed, judged) = &mut self.open[place];
        *passed += tally.passed as u32;
        *judged += tally.judged as u32;
    }

    fn independence(mut self) -> Independence {
        for (passed, judged) in std::mem::take(&mut self.open) {
            self.count(Tally { passed: u64::from(passed), judged: u64::from(judged) });
        }
        self.keep_last();
        if self.complete.keys().all(|it| it.judged == 1) {
            return Independence::Full;
        }
        let found = effective_rate_counted(&self.complete, Confidence::USUAL, Side::Both);
        found.and_then(|it| it.effective).map_or(Independence::Unknown, Independence::Worth)
    }
}
