//! What can go wrong with a run file.

use std::sync::Arc;

use crate::database::DatabaseError;
use crate::records::DuplicateId;

/// What can go wrong with a run file.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// The file itself.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The rows are not where the run left them.
    #[error("{name} changed since this run; put back the file as it was, or run again")]
    SourceChanged {
        /// The file, as messages name it.
        name: String,
    },
    /// The rows cannot be read any more.
    #[error("{name}, which holds rows of this run, cannot be read: {source}")]
    SourceUnreadable {
        /// The file, as messages name it.
        name: String,
        source: std::io::Error,
    },
    /// The run is complete.
    #[error("`{}` is finished; there is nothing to resume", path.display())]
    Finished { path: std::path::PathBuf },
    /// The run is in progress, or was killed.
    #[error("`{}` is not finished; wait until it is, or run the command again to resume it", path.display())]
    Unfinished { path: std::path::PathBuf },
}

/// Why a run can no longer be written. Every later write fails with the same reason.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError {
    /// Writing failed.
    #[error(transparent)]
    File(Arc<RunFileError>),
    /// The thread that writes ended before its time.
    #[error("the run can no longer be written, because an earlier problem ended its writer")]
    Gone,
}

impl From<RunFileError> for WriteError {
    fn from(error: RunFileError) -> WriteError {
        WriteError::File(Arc::new(error))
    }
}

impl From<DatabaseError> for WriteError {
    fn from(error: DatabaseError) -> WriteError {
        RunFileError::from(error).into()
    }
}

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It is written, and marked: two rows hold the same id.
    #[error(transparent)]
    DuplicateIds(#[from] DuplicateIds),
}

/// Rows that hold the same id as another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", examples.first().map_or_else(String::new, ToString::to_string), more(*n))]
pub struct DuplicateIds {
    /// The first of them, at most ten.
    pub examples: Vec<DuplicateId>,
    /// How many rows there are whose id a row before them has.
    pub n: u64,
}

fn more(n: u64) -> String {
    match n {
        0 | 1 => String::new(),
        2 => " (one more row has the id of another)".to_owned(),
        n => format!(" ({} more rows have the id of another)", n - 1),
    }
}
