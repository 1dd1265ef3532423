//! A run cut into shards, which any number of processes run in any order, and which are then merged into one run.
//!
//! * [`ShardPlan`]: where the rows are cut, and everything that a process needs to run one shard;
//! * [`ShardJob`]: one shard, as an option of a run;
//! * [`merge`]: one run from all shards, with the results of one process.
//!
//! Rows of a shard are counted from its beginning, because the lines of a file are not counted when it is cut. Merging adds what is before them.

mod copied;
mod error;
mod merge;
mod plan;

pub use copied::CopiedDefinition;
pub use error::ShardError;
pub use merge::{MergeOptions, Merged, merge, missing_words};
pub use plan::{Answers, MARK_OF_WORK, ShardPart, ShardPlan, ShardState, not_for_shards};

use std::io;
use std::path::PathBuf;

use jurat_core::effect::Outcome;
use jurat_core::effect::wire::read_outcome;
use jurat_store::journal::{PaidAnswer, SegmentReader, segment_files};
use jurat_store::run::{RunFileError, RunReader, discard};

use crate::Budget;

/// One shard of a plan, as an option of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardJob {
    /// Which shard, counted from 0.
    pub ix: u32,
    /// The hash of its plan.
    pub plan: String,
    pub part: ShardPart,
    /// Where its run is written.
    pub file: PathBuf,
    /// When the plan was made, in milliseconds since 1970: answers since then are of this run.
    pub planned_at_ms: u64,
    pub answers: Answers,
    /// The directory of its segments.
    pub segments: PathBuf,
}

impl ShardJob {
    /// What an attempt must share to resume another, and to use its answers.
    pub(crate) fn resume_key(&self) -> String {
        format!("{}:{}", self.plan, self.ix)
    }

    /// Counts what earlier attempts spent: a part of a budget is for all attempts together.
    pub(crate) fn charge_earlier(&self, budget: &Budget) -> io::Result<()> {
        for path in segment_files(&self.segments)? {
            let reader = SegmentReader::open(&path)?.filter(|it| it.shard() == self.resume_key());
            for answer in reader.into_iter().flatten() {
                let PaidAnswer { kind, outcome, .. } = answer?;
                if let Ok(Outcome::Answer(answer)) = read_outcome(&kind, &outcome) {
                    budget.charge_answer(&answer);
                }
            }
        }
        Ok(())
    }

    /// The file, when an attempt that was killed or stopped has left it. One that cannot be resumed is removed.
    pub(crate) fn resumed(&self) -> Result<Option<PathBuf>, RunFileError> {
        if !self.file.exists() {
            return Ok(None);
        }
        let can_resume = |reader: RunReader| -> Result<bool, RunFileError> {
            let is_open = reader.state()?.finish.is_none_or(|it| it.resumable);
            Ok(is_open && reader.head().resume_key == self.resume_key())
        };
        if RunReader::open(&self.file).and_then(can_resume).unwrap_or(false) {
            return Ok(Some(self.file.clone()));
        }
        discard(&self.file);
        Ok(None)
    }
}
