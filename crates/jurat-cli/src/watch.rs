//! `--watch`: runs again when a file of the suite changes.
//!
//! Files are polled: there are few of them, and polling works on every file system. What is compared is when they were changed and how long they
//! are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use jurat_core::suite::RowSource;
use jurat_engine::Examined;

/// How often files are looked at.
const POLL: Duration = Duration::from_millis(250);

/// Files and how they were when they were last looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Watched {
    files: BTreeMap<PathBuf, Option<(SystemTime, u64)>>,
    /// Whether running again would not help, whatever changes.
    is_in_vain: bool,
}

impl Watched {
    /// The files of a suite: definitions, prompts, code, data, and scripts of models.
    pub(crate) fn of(definition: &Examined, models: &[(String, String)]) -> Watched {
        let texts = definition.sources.iter().map(|(_, it)| it.path.clone());
        let rows = definition.suite.records.iter().flat_map(|it| match &it.from {
            RowSource::Files(files) => files.iter().map(|it| it.path.clone()).collect(),
            RowSource::StandardInput | RowSource::Inline(_) => Vec::new(),
        });
        let written = definition.suite.models.iter().flat_map(|it| &it.models).filter_map(|it| {
            let home = definition.sources.get(it.model.span.source)?.path.parent()?;
            Some(home.join(script(&it.model.value)?))
        });
        let given = models.iter().filter_map(|(_, model)| script(model).map(PathBuf::from));
        let all = texts.chain(rows).chain(written).chain(given);
        Watched { files: all.map(|it| (it.clone(), look(&it))).collect(), is_in_vain: false }
    }

    /// These files alone.
    pub(crate) fn these<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Watched {
        Watched { files: paths.into_iter().map(|it| (it.to_owned(), look(it))).collect(), is_in_vain: false }
    }

    /// All files of both.
    pub(crate) fn merge(&mut self, other: Watched) {
        self.files.extend(other.files);
    }

    /// Notes that running again would not help.
    pub(crate) fn give_up(&mut self) {
        self.is_in_vain = true;
    }

    /// Whether running again would not help.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.is_in_vain
    }

    /// The files that are not as they were.
    pub(crate) fn changed(&self) -> Vec<&Path> {
        self.files.iter().filter(|(path, before)| look(path) != **before).map(|(path, _)| path.as_path()).collect()
    }

    /// Waits until a file changes, and returns those that did.
    pub(crate) fn wait(&self) -> Vec<&Path> {
        loop {
            let changed = self.changed();
            if !changed.is_empty() {
                return changed;
            }
            thread::sleep(POLL);
        }
    }

    pub(crate) fn n_files(&self) -> usize {
        self.files.len()
    }
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// The file of a model that is a script.
fn script(model: &str) -> Option<&str> {
    model.strip_prefix("script/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_removed_or_made_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = ["one", "two", "three"].map(|it| folder.path().join(it));
        fs::write(&one, "1").unwrap();
        fs::write(&two, "2").unwrap();
        let watched = Watched::these([one.as_path(), &two, &three]);
        assert!(watched.changed().is_empty());
        fs::write(&one, "another").unwrap();
        assert_eq!(watched.changed(), [&one]);
        fs::remove_file(&two).unwrap();
        fs::write(&three, "3").unwrap();
        assert_eq!(watched.changed(), [&one, &three, &two]);
        assert_eq!(watched.wait(), [&one, &three, &two]);
    }
}
