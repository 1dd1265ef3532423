//! Runs by the names that people give them.

use std::path::{Path, PathBuf};

use jurat_store::Project;

use crate::failure::Failure;

/// The name of the newest run.
pub(crate) const LATEST: &str = "latest";

/// The file of a run: its path, the beginning of its name, or `latest`.
pub(crate) fn run_file(name: &str) -> Result<PathBuf, Failure> {
    match Project::find(Path::new(".")) {
        Some(project) => Ok(project.run(name)?),
        None if Path::new(name).is_file() => Ok(name.into()),
        None => Err(Failure::Reason(format!(
            "there is no run `{name}`: neither this directory nor one above it has a `.jurat`; `jurat run` makes it"
        ))),
    }
}
