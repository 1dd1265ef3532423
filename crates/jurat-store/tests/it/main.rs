//! Files in, values out.

mod definitions;
mod effects;
mod ids;
mod journals;
mod projects;
mod records;
mod rows;
mod run_files;
mod run_laws;
mod runs;
