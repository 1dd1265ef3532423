//! `--watch`: runs again when a file of the suite changes.
//!
//! Files are polled: there are few of them, and polling works on every file system. What is compared is when they were changed and how long they
//! are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

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
    pub(crate) fn these(paths: impl IntoIterator<Item: AsRef<Path>>) -> Watched {
        let look_at = |it: &Path| (it.to_owned(), look(it));
        Watched { files: paths.into_iter().map(|it| look_at(it.as_ref())).collect(), is_in_vain: false }
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
