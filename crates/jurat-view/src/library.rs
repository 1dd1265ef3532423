//! Which runs are shown: those of the project, and files that were named. A name in an address is looked up among them; it is never opened as a path.

use std::path::{Path, PathBuf};

use jurat_format::problem::nearest;
use jurat_store::{Project, RunName};

/// The runs that can be looked at.
#[derive(Debug, Default)]
pub struct Library {
    project: Option<Project>,
    /// Files that were named when the viewer was started, those of the project left out.
    named: Vec<RunName>,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meant {
    Run(RunName),
    /// It stands for the run with this id.
    Id(String),
    /// The beginning of several ids.
    Several(Vec<String>),
    /// There is no such run; this one has the nearest id.
    Unknown(Option<String>),
}

/// The name of the run that ended last.
const LATEST: &str = "latest";

impl Library {
    /// The runs of the project that a directory belongs to, and further files.
    pub fn new(directory: &Path, files: impl IntoIterator<Item = PathBuf>) -> Library {
        let mut library = Library { project: Project::find(directory), named: Vec::new() };
        for path in files {
            library.add(path);
        }
        library
    }

    /// Adds a file, and returns the id under which it is shown.
    pub fn add(&mut self, path: PathBuf) -> String {
        let path = std::path::absolute(&path).unwrap_or(path);
        let known = self.runs().unwrap_or_default();
        if let Some(known) = known.iter().find(|it| it.path == path) {
            return known.id.clone();
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut ids = std::iter::once(stem.clone()).chain((2..).map(|it| format!("{stem}_{it}")));
        let id = ids.find(|id| known.iter().all(|it| it.id != *id)).expect("there are more numbers than files");
        self.named.push(RunName { id: id.clone(), path });
        id
    }

    /// The directory `.jurat` of the project.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_ref().map(Project::root)
    }

    /// The directory that holds the project.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.root().and_then(Path::parent)
    }

    /// All runs, the newest first; files that were named come before those of the project.
    pub(crate) fn runs(&self) -> Result<Vec<RunName>, String> {
        let mut runs = match &self.project {
            Some(project) => project.runs().map_err(|error| error.to_string())?,
            None => Vec::new(),
        };
        // A path that was given may be written in another way than the project writes its own.
        let is_named = |it: &RunName| self.named.iter().any(|named| named.path == it.path);
        runs.retain(|it| !is_named(it));
        runs.extend(self.named.iter().cloned());
        runs.reverse();
        Ok(runs)
    }

    /// The run that a name means: its id, the beginning of one or of its last part, or `latest`.
    pub(crate) fn find(&self, name: &str) -> Result<Meant, String> {
        let runs = self.runs()?;
        if let Some(exact) = runs.iter().find(|it| it.id == name) {
            return Ok(Meant::Run(exact.clone()));
        }
        if name == LATEST {
            let latest = self.project.as_ref().and_then(|it| it.latest(&|_| true).ok().flatten());
            let of_project = latest.and_then(|path| runs.iter().find(|it| it.path == path));
            return Ok(of_project.or(runs.first()).map_or(Meant::Unknown(None), |it| Meant::Id(it.id.clone())));
        }
        let begins = |id: &str| id.starts_with(name) || id.rsplit('_').next().is_some_and(|it| it.starts_with(name));
        let mut ids: Vec<String> = runs.iter().map(|it| it.id.clone()).filter(|it| begins(it)).collect();
        Ok(match ids.len() {
            0 => Meant::Unknown(nearest(name, runs.iter().map(|it| it.id.as_str())).map(str::to_owned)),
            1 => Meant::Id(ids.remove(0)),
            _ => Meant::Several(ids),
        })
    }
}
