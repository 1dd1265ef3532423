//! What ends a run before its end.

use std::sync::Arc;

use jurat_compare::expression::ExpressionError;
use jurat_core::effect::wire::WireError;
use jurat_format::value::JsonError;
use jurat_store::DatabaseError;
use jurat_store::records::{DuplicateId, IdError, RowsError, SampleError};
use jurat_store::run::{DuplicateIds, FinishError, RunFileError, WriteError};

use crate::allowance::LeaseError;

/// What ends a run before its end. What was asked and answered until then is stored.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The rows cannot be read.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// A batch has a column that cannot be read.
    #[error(transparent)]
    Batch(#[from] SampleError),
    /// Two rows have one id.
    #[error(transparent)]
    Duplicate(#[from] DuplicateId),
    /// The same, found at the end.
    #[error(transparent)]
    Duplicates(#[from] DuplicateIds),
    /// A row has no usable id.
    #[error("{row}: {error}")]
    Id {
        row: String,
        /// What is wrong with its id.
        error: IdError,
    },
    /// A row is not JSON.
    #[error("{row}: {error}")]
    Json {
        row: String,
        /// What is wrong with it.
        error: JsonError,
    },
    /// A row cannot be filtered.
    #[error("{row} cannot be filtered: {error}")]
    Filter {
        row: String,
        /// What is wrong with the filter.
        error: ExpressionError,
    },
    /// The run file cannot be read or made.
    #[error(transparent)]
    File(#[from] RunFileError),
    /// The journal cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The run file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The thread that writes is gone.
    #[error("the run can no longer be written")]
    WriterGone,
    /// Something stored cannot be read.
    #[error("a stored effect cannot be read: {0}")]
    Stored(#[from] WireError),
    /// The coordinator leases nothing more, or cannot be reached.
    #[error(transparent)]
    Lease(#[from] Arc<LeaseError>),
    /// The machine gives no threads or timers.
    #[error("the machine cannot run it: {0}")]
    Machine(#[from] std::io::Error),
}

impl From<FinishError> for RunError {
    fn from(error: FinishError) -> RunError {
        match error {
            FinishError::Write(error) => RunError::Write(error),
            FinishError::DuplicateIds(error) => RunError::Duplicates(error),
        }
    }
}

impl RunError {
    /// Whether it only repeats that another thread has reported what is wrong.
    pub(crate) fn is_echo(&self) -> bool {
        matches!(self, RunError::WriterGone | RunError::Write(WriteError::Gone))
    }
}
