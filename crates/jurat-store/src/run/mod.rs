//! Runs: one SQLite file each, with everything that was asked, answered and concluded.
//!
//! Verdicts are stored in columns of some thousand cases ([`BlockBuilder`]), because a row for each would cost more than judging it. Effects
//! are rows: each is written before the run looks at it. `docs/reference/run-files.md` describes the format for other readers.
//!
//! * [`RunWriter`]: a run that is written, [`RunWriter::resume`] one that is resumed;
//! * [`RunReader`]: a run that is read, finished or not; [`RunLog`]: its effects by site, to resume and to replay it;
//! * [`RunMerge`]: one run made from several, each of which is a [shard](ShardMark) of it;
//! * [`unfinished`], [`pack`]: what else is done with run files.
//!
//! ```
//! use std::time::Duration;
//!
//! use jurat_core::plan::CaseIx;
//! use jurat_store::records::RowId;
//! use jurat_store::run::{
//!     BlockBuilder, CaseRow, Code, Column, Detail, Ended, FinishState, RowPlace, RunHead, RunReader, RunWriter, SourceHead, TaskHead,
//!     WriterOptions,
//! };
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("first.jurat");
//! let head = RunHead {
//!     sources: vec![SourceHead { name: "standard input".to_owned(), file: None }],
//!     tasks: vec![TaskHead { id: "polite".to_owned(), ..TaskHead::default() }],
//!     ..RunHead::default()
//! };
//! let writer = RunWriter::create(&path, &head, WriterOptions::default())?;
//! let mut builder = BlockBuilder::new(head.tasks.len(), head.n_variants());
//! for (ix, text) in ["{\"id\": \"a\"}", "{\"id\": \"b\"}"].into_iter().enumerate() {
//!     let place = RowPlace { source: 0, number: ix as u64 + 1, bytes: None };
//!     builder.case(CaseIx::numbered(ix as u64), &RowId::Given(["a", "b"][ix].into()), CaseRow { place, text, keep: true });
//! }
//! // What is said now is about the second case; the first passed.
//! builder.verdict(Column::CASE, Code::Failed);
//! builder.verdict(Column(1), Code::Failed);
//! builder.detail(Column(1), &Detail { found: Some("`rude`".into()), ..Detail::default() });
//! builder.close().map(|block| writer.block(block)).transpose()?;
//! writer.finish(FinishState { ended: Ended::Done, resumable: false, at_ms: 0, wall: Duration::ZERO })?;
//!
//! let reader = RunReader::open(&path)?;
//! let failed: Vec<CaseIx> = reader.find(Column(1), Code::Failed).collect::<Result<_, _>>()?;
//! assert_eq!(failed, [CaseIx::numbered(1)]);
//! let case = reader.case(failed[0])?.expect("the second case");
//! assert_eq!((case.id.as_str(), reader.row_text(&case)?.as_str()), ("b", "{\"id\": \"b\"}"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod merge;
mod pack;
mod place;
mod reader;
mod row_scan;
mod rows;
mod schema;
mod shard;
mod stats;
mod stored;
mod table;
mod taken;
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
pub use merge::{RunMerge, Shift};
pub use pack::{Packed, pack};
pub use place::{ByteRange, RowPlace};
pub use reader::{BlockVerdicts, Effects, RunReader, StoredEvent, StoredSummary};
pub(crate) use reader::{began_at_ms, last_at_ms};
pub use row_scan::EachRow;
pub use shard::{Difference, ShardMark, discard, is_local};
pub use stats::EffectStats;
pub use stored::{CaseErrors, CaseIdentity, StoredCase, StoredRow};
pub use table::{CaseTexts, Digests, RowKey, RowKeys, digest, key_of};
pub use taken::CaseTaken;
pub(crate) use unfinished::never_began;
pub use unfinished::{Resumes, unfinished};
pub use writer::{Done, RunWriter, SummaryRow, WriterOptions};
