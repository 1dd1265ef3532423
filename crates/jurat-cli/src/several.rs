//! Several suites in one command: a line for each at the end.

use std::collections::BTreeSet;
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

/// The file that a suite among several writes: the suite's name takes the place of `{suite}`.
pub(crate) fn own_file(path: &Path, suite: &str) -> PathBuf {
    // What separates folders would lead elsewhere.
    let name = suite.replace(['/', '\\', '\0'], "-");
    PathBuf::from(path.to_string_lossy().replace(SUITE, &name))
}

/// The name of a suite; that of its file, for one that has none.
pub(crate) fn suite_name(name: Option<&str>, file: &Path) -> String {
    let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.map_or_else(stem, str::to_owned)
}

/// The first file that is among these a second time.
pub(crate) fn twice(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let mut seen = BTreeSet::new();
    paths.into_iter().find(|it| !seen.insert(std::path::absolute(it).unwrap_or_else(|_| it.clone())))
}

/// Whether several suites can write this file.
pub(crate) fn is_for_each(path: &Path) -> bool {
    path.to_string_lossy().contains(SUITE)
}

const SUITE: &str = "{suite}";
