//! Runs by the names that people give them.

use std::path::PathBuf;

use jurat::Run;

use crate::failure::Failure;

/// The name of the newest run.
pub(crate) const LATEST: &str = "latest";

/// A run by its file, the beginning of its name, or `latest`.
pub(crate) fn run_named(name: &str) -> Result<Run, Failure> {
    Ok(Run::find(".", name)?)
}

/// The file of such a run.
pub(crate) fn run_file(name: &str) -> Result<PathBuf, Failure> {
    Ok(Run::find_file(".", name)?)
}
