//! Files in, values out.

mod definitions;
mod effects;
mod ids;
mod records;
mod rows;
mod run_laws;
mod runs;
