//! Runs: one SQLite file each, with everything that was asked, answered and concluded.
//!
//! Verdicts are kept in columns of some thousand cases ([`BlockBuilder`]), because a row for each would cost more than judging it. Effects
//! are rows: each is written before anybody looks at it. `docs/reference/run-files.md` describes the format for other readers.
//!
//! * [`RunWriter`]: a run on its way to disk, [`RunWriter::resume`] one that goes on;
//! * [`RunReader`]: a run that is read, finished or not; [`RunLog`]: its effects by site, for going on and for replay;
//! * [`unfinished`], [`pack`]: what else is done with run files.

mod block;
mod case_ranges;
mod cases;
mod claim;
mod code;
mod detail;
mod error;
mod file;
mod head;
mod id_index;
mod id_runs;
mod identity;
mod log;
mod pack;
mod place;
mod reader;
mod rows;
mod schema;
mod stored;
mod unfinished;
mod values;
mod writer;

pub use crate::effects::{RecordedEffect, StoredEffect};
pub use block::{Block, BlockBuilder, CaseRow};
pub use case_ranges::CaseRanges;
pub use cases::{Cases, Found};
pub use code::{Code, Column};
pub use detail::Detail;
pub use error::{DuplicateIds, FinishError, RunFileError, WriteError};
pub use head::{Document, Ended, FinishState, RunHead, RunState, SourceFile, SourceHead, TaskHead, Variant};
pub use log::{Logged, RunLog};
pub use pack::{Packed, pack};
pub use place::{ByteRange, RowPlace};
pub use reader::{EffectStats, Effects, RunReader, StoredEvent, StoredSummary};
pub use stored::{StoredCase, StoredRow};
pub use unfinished::unfinished;
pub use writer::{Done, RunWriter, SummaryRow, WriterOptions};
