//! Files in, values out.

mod definitions;
mod ids;
mod parquet;
mod records;
mod rows;
