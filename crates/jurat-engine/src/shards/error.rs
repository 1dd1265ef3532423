//! Why a suite cannot be cut, a shard not be run, or shards not be merged.

use std::io;
use std::path::{Path, PathBuf};

use jurat_store::records::RowsError;
use jurat_store::run::{Difference, DuplicateIds, FinishError, RunFileError};

use crate::shard::missing;

/// Why a suite cannot be cut, a shard not be run, or shards not be merged.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    #[error("rows of standard input, and those that a program gives, cannot be cut into shards; write them to a file")]
    Stream,
    #[error("{} cannot be used with shards: {}", listed(names), "each shard knows its own cases only")]
    Options { names: Vec<&'static str> },
    #[error(transparent)]
    Rows(#[from] RowsError),
    #[error("`{}` has no plan of shards; make one with `jurat shards SUITE -o {}`", out.display(), out.display())]
    NoPlan { out: PathBuf },
    #[error("`{}` is not a plan of shards: {why}", path.display())]
    BadPlan { path: PathBuf, why: String },
    #[error("`{}` has another plan already; choose another directory, or remove that one", out.display())]
    OtherPlan { out: PathBuf },
    #[error("the shards were planned by jurat {planned}, and this is {own}; use the same version for all shards")]
    Version { planned: String, own: &'static str },
    #[error("there is no shard {ix}; the plan has {n}, counted from 0")]
    NoShard { ix: u32, n: usize },
    #[error("{name} changed since the shards were planned; put the file back as it was, or plan again")]
    DataChanged { name: String },
    #[error("the files of the suite in `{}` are not those of the plan; plan again", out.display())]
    SuiteChanged { out: PathBuf },
    #[error("`{}` is of another plan; remove it and run the shard again", path.display())]
    Foreign { path: PathBuf },
    #[error(
        "two runs of shard {ix} differ: {}; remove the wrong one of `{}` and `{}`",
        difference_words(difference), first.display(), second.display()
    )]
    Unequal { ix: u32, difference: Difference, first: PathBuf, second: PathBuf },
    #[error("{}; run them, or merge with `--partial`", missing(missing_shards, *n))]
    Missing { missing_shards: Vec<u32>, n: usize },
    #[error("the shards have {found} rows, and {expected} were expected")]
    RowCount { found: u64, expected: u64 },
    #[error("no shard was run yet")]
    Nothing,
    #[error(transparent)]
    DuplicateIds(#[from] DuplicateIds),
    #[error(transparent)]
    File(#[from] RunFileError),
    #[error("`{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl ShardError {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> ShardError {
        move |source| ShardError::Io { path: path.to_owned(), source }
    }
}

impl From<FinishError> for ShardError {
    fn from(error: FinishError) -> ShardError {
        match error {
            FinishError::DuplicateIds(duplicates) => duplicates.into(),
            FinishError::Write(error) => {
                ShardError::Io { path: PathBuf::from("the merged run"), source: io::Error::other(error) }
            }
        }
    }
}

fn listed(names: &[&'static str]) -> String {
    jurat_format::problem::listed(names.iter().copied())
}

fn difference_words(Difference { case, task }: &Difference) -> String {
    match task {
        Some(task) => format!("task `{task}` of case `{case}`"),
        None => format!("case `{case}`"),
    }
}
