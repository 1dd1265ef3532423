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

pub use crate::shard::{Answers, ShardJob, ShardPart, missing_words};
pub use copied::CopiedDefinition;
pub use error::ShardError;
pub use merge::{MergeOptions, Merged, merge};
pub use plan::{MARK_OF_WORK, ShardPlan, ShardState, not_for_shards};
