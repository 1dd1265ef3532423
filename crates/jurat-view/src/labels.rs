//! Labels of people: which file they are in, what it says, and one more line for it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jurat_core::label::{Label, Standing, load_labels, standing};
use jurat_engine::view::RunView;
use jurat_format::problem::Problems;
use jurat_store::{Disk, append_labels};

/// The name of the file where none is given.
const NAME: &str = "labels.jsonl";

/// The files of labels that are shown and written.
#[derive(Debug)]
pub(crate) struct Labels {
    /// The one that was named when the viewer was started.
    file: Option<PathBuf>,
    /// The directory of the project, or the current one.
    home: PathBuf,
    /// Who gives labels here.
    pub(crate) annotator: String,
    /// Whether nothing is written.
    pub(crate) read_only: bool,
    read: Mutex<HashMap<PathBuf, Known>>,
}

/// What a file says, and what it was when it was read.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    stamp: Option<(u64, SystemTime)>,
    pub(crate) standing: Arc<Standing>,
    /// Lines that cannot be read.
    pub(crate) n_problems: usize,
}

impl Known {
    /// A number that is another when the file is.
    pub(crate) fn generation(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.stamp.hash(&mut hasher);
        hasher.finish()
    }
}

impl Labels {
    pub(crate) fn new(file: Option<PathBuf>, home: PathBuf, annotator: String, read_only: bool) -> Labels {
        Labels { file, home, annotator, read_only, read: Mutex::default() }
    }

    /// The file for a run: the one that was named, else `labels.jsonl` beside its suite where that is known and can be written, else in the directory of the
    /// project.
    pub(crate) fn file_of(&self, view: &RunView) -> PathBuf {
        if let Some(file) = &self.file {
            return file.clone();
        }
        let suite = view.suite_file().map(|it| self.home.join(it)).filter(|it| it.is_file());
        let beside = suite.as_deref().and_then(Path::parent).filter(|it| is_writable(it)).map(Path::to_owned);
        beside.unwrap_or_else(|| self.home.clone()).join(NAME)
    }

    /// What people said, read again when the file has changed.
    pub(crate) fn of(&self, view: &RunView) -> Known {
        let path = self.file_of(view);
        let stamp = std::fs::metadata(&path).and_then(|it| Ok((it.len(), it.modified()?))).ok();
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(&path).cloned();
        if let Some(known) = known.filter(|it| it.stamp == stamp) {
            return known;
        }
        let known = match stamp {
            Some(_) => read(&path, stamp),
            None => Known { stamp, standing: Arc::default(), n_problems: 0 },
        };
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(path, known.clone());
        known
    }

    /// Adds a line to the file of a run.
    pub(crate) fn add(&self, view: &RunView, label: &Label) -> std::io::Result<()> {
        append_labels(&self.file_of(view), std::slice::from_ref(label))
    }
}

fn read(path: &Path, stamp: Option<(u64, SystemTime)>) -> Known {
    let mut problems = Problems::default();
    let files = load_labels([path], &Disk, &mut problems);
    let standing = standing(files.labels, &mut problems);
    Known { stamp, standing: Arc::new(standing), n_problems: problems.n_errors() }
}

fn is_writable(directory: &Path) -> bool {
    std::fs::metadata(directory).is_ok_and(|it| it.is_dir() && !it.permissions().readonly())
}
