//! One shard of a run that is cut into parts, and what a run that was merged from shards says about them.
//!
//! How runs are cut and merged is in [`shards`](crate::shards).

use std::io;
use std::path::PathBuf;

use jurat_core::effect::Outcome;
use jurat_core::effect::wire::read_outcome;
use jurat_store::journal::{PaidAnswer, SegmentReader, segment_files};
use jurat_store::records::SourcePart;
use jurat_store::run::{RunFileError, RunReader, discard};
use serde::{Deserialize, Serialize};

use crate::Budget;

/// Where a shard looks for answers before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// In what earlier attempts at it have written: the file of its run, where that is left, and its segments.
    Own,
    /// Also in the journal of the project, which all shards share: they are run on one machine.
    Journal,
}

/// What a shard runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShardPart {
    /// Rows that follow each other in one source.
    Rows(SourcePart),
    /// The scenarios and agent cases of the definition.
    Defined { defined: bool },
}

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

/// What a merged run says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergedFrom {
    pub(crate) plan: String,
    pub(crate) shards: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<u32>,
    pub(crate) rows: u64,
}

/// Which shards a merged run lacks, in words; `None` for any other run.
pub fn missing_words(reader: &RunReader) -> Option<String> {
    let from = reader.merged_from().ok()??;
    let from: MergedFrom = serde_json::from_str(&from).ok()?;
    (!from.missing.is_empty()).then(|| missing(&from.missing, from.shards))
}

/// Which shards are missing, in words; of many the first.
pub(crate) fn missing(missing: &[u32], n: usize) -> String {
    const NAMED: usize = 10;
    let named: Vec<String> = missing.iter().take(NAMED).map(u32::to_string).collect();
    let more = if missing.len() > NAMED { ", …" } else { "" };
    format!("{} of {n} shards are missing: {}{more}", missing.len(), named.join(", "))
}
