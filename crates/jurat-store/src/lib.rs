//! What is stored in files: definitions and records read under limits, runs and the journal written and read.
//!
//! This is the only crate that opens files of data, and the only one that knows their formats. It says what it found and
//! where; what that means for an evaluation is not decided here. Reading order:
//!
//! * [`Disk`]: the files of a definition, for the core that asks for them.
//! * [`Campaign`]: the files of another program that belong together.
//! * [`records`]: the first rows of a file of records, for what can be checked before anything runs; all rows in chunks,
//!   for running; and the ids they are known by.
//! * [`run`]: runs, one file each.
//! * [`journal`]: paid answers, for all runs of a project.
//! * [`Project`]: where both are.
//! * [`Calibrations`]: how far the judges of a project can be trusted.
//! * [`append_labels`]: what people say about cases, at the end of their file.
//! * [`ParquetTable`]: tables for other programs.
//! * [`transcript_lines`]: what an agent stores in a database of its own.

mod bounded;
mod calibrations;
mod campaign;
mod database;
mod definitions;
mod effects;
pub mod journal;
mod labels;
mod packed;
mod parquet_table;
mod project;
pub mod records;
pub mod run;
mod transcript;

pub use calibrations::{CalibrationFileError, Calibrations, read_calibration};
pub use campaign::{Campaign, CampaignError, Profiles};
pub use database::DatabaseError;
pub use definitions::Disk;
pub use labels::append_labels;
pub use parquet_table::{Cell, CellType, ParquetTable};
pub use project::{Project, ProjectError, RunName, Untrusted};
pub use transcript::transcript_lines;
