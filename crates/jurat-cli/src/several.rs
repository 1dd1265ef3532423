//! Several suites in one command: a line for each at the end.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::exit::Exit;

/// What a run of one suite ended with, for the list at the end.
pub(crate) struct Ended {
    pub(crate) file: PathBuf,
    pub(crate) exit: Exit,
    /// Why, in one sentence; nothing for a suite that could not be run.
    pub(crate) sentence: Option<String>,
}

/// Writes a line for each suite to standard error: standard output has their results.
pub(crate) fn write_lines(ended: &[Ended]) -> io::Result<()> {
    let mut out = io::stderr().lock();
    writeln!(out, "\n{} suites:", ended.len())?;
    for Ended { file, exit, sentence } in ended {
        let sentence = sentence.as_deref().unwrap_or("could not be run");
        let line = format!("{}: {sentence} (exit {})", file.display(), exit.code());
        writeln!(out, "{}", jurat_report::visible_line(&line))?;
    }
    Ok(())
}

/// The file that a suite among several writes: its name takes the place of `{suite}`.
pub(crate) fn own_file(path: &Path, suite: &Path) -> PathBuf {
    let stem = suite.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(path.to_string_lossy().replace(SUITE, &stem))
}

/// Whether several suites can write this file.
pub(crate) fn is_for_each(path: &Path) -> bool {
    path.to_string_lossy().contains(SUITE)
}

const SUITE: &str = "{suite}";
