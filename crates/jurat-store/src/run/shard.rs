//! A run that is one shard of a larger one: what says so, and whether two runs of the same shard are equal.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::reader::meta;
use super::{Column, RunFileError, RunReader, StoredCase};
use crate::database::{beside, refuse_network};

/// Where a run says that it is a shard, in `meta`.
pub(super) const SHARD: &str = "shard";

/// Says which part of a larger run a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardMark {
    /// Which shard of the plan, counted from 0.
    pub ix: u32,
    /// The hash of the plan.
    pub plan: String,
    /// How many rows it read, selected or not: those of the next shard are counted from there.
    pub rows: u64,
}

/// The first difference between two runs of the same shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The id of the case.
    pub case: String,
    /// The id of the task; `None` for the case as a whole.
    pub task: Option<String>,
}

impl RunReader {
    /// Which shard it is; `None` for a run of its own, and for a shard that was stopped before its last row.
    pub fn shard(&self) -> Result<Option<ShardMark>, RunFileError> {
        let mark = self.sqlite(meta(self.reading().connection, SHARD))?;
        Ok(mark.and_then(|it| serde_json::from_str(&it).ok()))
    }

    /// The first case that another run of the same shard has otherwise: another row, verdict, score, label or reason.
    pub fn difference(&self, other: &RunReader) -> Result<Option<Difference>, RunFileError> {
        let all = jurat_core::plan::CaseIx::ALL;
        let (mut own, mut others) = (self.cases(all.clone()), other.cases(all));
        loop {
            let (own, other) = (own.next().transpose()?, others.next().transpose()?);
            match (own, other) {
                (None, None) => return Ok(None),
                (Some(one), Some(other)) => {
                    if let Some(column) = differing(&one, &other) {
                        return Ok(Some(self.named(&one, column)));
                    }
                }
                (Some(one), None) | (None, Some(one)) => return Ok(Some(self.named(&one, Column::CASE))),
            }
        }
    }

    fn named(&self, case: &StoredCase, column: Column) -> Difference {
        let task = column.index().checked_sub(1).and_then(|it| self.head().tasks.get(it));
        Difference { case: case.id.clone(), task: task.map(|it| it.id.clone()) }
    }
}

/// The column in which two cases differ.
fn differing(one: &StoredCase, other: &StoredCase) -> Option<Column> {
    let is_same_row = one.case_ix == other.case_ix && one.id == other.id && one.row.place == other.row.place;
    if !is_same_row {
        return Some(Column::CASE);
    }
    // A task says more than the case that failed because of it.
    let n_columns = one.codes.len().max(other.codes.len()) as u32;
    let mut columns = (1..n_columns).map(Column).chain([Column::CASE]);
    let differing = columns.find(|column| !is_same(one, other, *column));
    differing.or((one.row.retained != other.row.retained).then_some(Column::CASE))
}

fn is_same(one: &StoredCase, other: &StoredCase, column: Column) -> bool {
    let score = |case: &StoredCase| case.scores.iter().find(|it| it.0 == column).map(|it| it.1.to_bits());
    let label = |case: &StoredCase| case.labels.iter().find(|it| it.0 == column).map(|it| it.1.clone());
    one.code(column) == other.code(column)
        && one.detail(column) == other.detail(column)
        && score(one) == score(other)
        && label(one) == label(other)
}

/// Whether a directory is on this machine. Run files are written there only; a finished one can be copied anywhere.
pub fn is_local(directory: &Path) -> bool {
    refuse_network(directory).is_ok()
}

/// Removes a run that is not wanted, with the files beside it. What cannot be removed is left.
pub fn discard(run: &Path) {
    for ending in ["", "-wal", "-shm", "-journal", "-lock"] {
        let _ = std::fs::remove_file(beside(run, ending));
    }
}
