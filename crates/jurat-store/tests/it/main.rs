//! Files in, values out.

mod definitions;
mod effects;
mod foreign_tables;
mod golden;
mod ids;
mod journals;
mod parquet;
mod parts;
mod projects;
mod records;
mod reference;
mod rows;
mod run_columns;
mod run_files;
mod run_laws;
mod runs;
mod segments;
mod tables;
