//! Records: the first rows of a file, all rows, and the ids they are known by.
//!
//! `jurat check` looks at a few rows to see whether the paths a suite reads lead anywhere. It should cost the same for a
//! hundred rows and for a hundred million, so [`sample`] reads the start of the file and parses no more rows than were
//! asked for; what comes after them is neither read nor judged. A run reads all of them with [`read_all`], in chunks; one of several processes that
//! share the work reads its part with [`read_part_within`].

mod arrow;
mod cells;
mod chunk;
mod csv;
mod dataset;
mod error;
mod format;
mod ids;
mod inline;
mod json;
mod jsonl;
mod mark;
mod moment;
mod parquet;
mod part;
mod rows;
mod sample;
mod spares;
mod table;
mod table_rows;
mod walk;
mod window;
mod xlsx;
mod yaml;

pub use error::{RowsError, RowsFault, SampleError};
pub use ids::{DuplicateId, ID_KEYS, IdError, Ids, RowId, RowNames, row_id};
pub use part::{Extent, PartSize, SourcePart, parts, read_part_within};
pub use rows::{Chunk, ReadSummary, RowAt, RowLimits, read_all, read_all_within, sections_by_source};
pub use sample::{Sample, SampleLimits, sample, sample_of};
pub use table::{BatchRows, write_rows};
pub use table_rows::ColumnParts;
