//! Why sides cannot be compared.

use jurat_store::ProjectError;

use super::selection::{BadSelection, Unpairable};
use crate::view::ViewError;

/// Why sides cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Selection(#[from] BadSelection),
    #[error(transparent)]
    Unpairable(#[from] Unpairable),
    #[error("`{side}` has no such variant: the {dimension}s of the run are {has}")]
    NoVariant { side: String, dimension: &'static str, has: String },
    #[error("the run `{run}` has one {dimension}, {has}: there is nothing to compare by `--by {dimension}`")]
    OneVariant { run: String, dimension: &'static str, has: String },
    #[error("the sides are runs of different suites, `{base}` and `{new}`; `--allow suite` compares them all the same")]
    SuiteDiffers { base: String, new: String },
    /// Exit code 5.
    #[error(
        "{base} and {new} share no case: no id of one is in the other; `--unpaired` compares them as independent samples"
    )]
    NothingShared { base: String, new: String },
    #[error("rows {} and {} of `{side}` have the same id; rows are paired by id, so each may have it once", rows.0, rows.1)]
    Duplicate { side: String, rows: (u64, u64) },
    #[error(
        "the clusters of `{side}` are not known: some of its rows cannot be read, because their file was changed or moved since the run; run it again with `cluster_by: {path}` in the suite"
    )]
    ClustersUnknown { side: String, path: String },
    #[error("a side has more rows than can be compared (4,294,967,295)")]
    TooManyRows,
    #[error("`--unpaired` compares cases that were run once; `{side}` has repetitions")]
    UnpairedRepetitions { side: String },
    #[error("`{file}` cannot be read: {source}")]
    File { file: String, source: std::io::Error },
    #[error("`{file}` is no baseline: line {line}: {reason}; `jurat export --to baseline` writes one")]
    Baseline { file: String, line: usize, reason: String },
}
