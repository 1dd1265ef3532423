//! Runs by the names that people give them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jurat::Run;
use jurat::shards::Shards;

use crate::failure::Failure;

/// The name of the newest run.
pub(crate) const LATEST: &str = "latest";

/// A run by its file, the beginning of its name, `latest`, or the directory of its shards.
pub(crate) fn run_named(name: &str) -> Result<Run, Failure> {
    match merged_shards(name)? {
        Some(file) => Ok(Run::open(file)?),
        None => Ok(Run::find(".", name)?),
    }
}

/// The file of such a run.
pub(crate) fn run_file(name: &str) -> Result<PathBuf, Failure> {
    match merged_shards(name)? {
        Some(file) => Ok(file),
        None => Ok(Run::find_file(".", name)?),
    }
}

/// The shards of a directory that are done, as one run; `None` when the name is of something else.
pub(crate) fn merged_shards(name: &str) -> Result<Option<PathBuf>, Failure> {
    let directory = Path::new(name);
    if !Shards::is_in(directory) {
        return Ok(None);
    }
    let merged = Shards::open(directory)?.merge_so_far()?;
    if !merged.missing.is_empty() {
        let (missing, all) = (merged.missing.len(), merged.n_shards);
        let _ = writeln!(io::stderr(), "{} of {all} shards are done; run the command again to see more", all - missing);
    }
    Ok(Some(merged.path))
}
