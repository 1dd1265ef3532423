//! The definition of a run, stored with it: every text that was read, so that what was run can be read again wherever the run is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::{Records, RowSource, Suite, load_with};
use jurat_format::source::{Files, ReadError, Sources};
use jurat_store::Project;
use jurat_store::records::RowNames;
use jurat_store::run::{Document, RunHead, SourceFile, SourceHead};

use crate::scripts;

/// The document that is the suite itself, and those that it names.
const SUITE: &str = "suite:";
const FILE: &str = "file:";

/// The document that says that a run was resumed, and when.
pub(crate) const RESUMED: &str = "resumed";

/// A definition that is ready to run.
#[derive(Debug, Clone, Copy)]
pub struct Definition<'d> {
    pub suite: &'d Suite,
    /// The texts it was read from.
    pub sources: &'d Sources,
    pub plan: &'d Plan,
}

/// The texts of a definition, named relative to the folder of the suite.
pub fn documents(sources: &Sources) -> Vec<Document> {
    let texts: Vec<_> = sources.iter().map(|(_, it)| it).collect();
    let folder = texts.first().and_then(|it| it.path.parent()).unwrap_or(Path::new(""));
    let document = |(ix, path, text): (usize, &Path, &str)| {
        let name = path.strip_prefix(folder).unwrap_or(path);
        let kind = if ix == 0 { SUITE } else { FILE };
        Document { name: format!("{kind}{}", name.display()), body: text.as_bytes().to_vec() }
    };
    texts.iter().enumerate().map(|(ix, it)| document((ix, &it.path, &it.text))).collect()
}

/// The hash of a definition: of every text and its name, and nothing else, so that it is the same in every folder.
pub fn suite_hash(documents: &[Document]) -> String {
    let mut hasher = blake3::Hasher::new();
    for Document { name, body } in documents.iter().filter(|it| file_name(&it.name).is_some()) {
        for part in [name.as_bytes(), body] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Where rows come from. Files below a project are named relative to the run, so that the whole can be moved.
pub(crate) fn source_heads(records: &[Records], project: Option<&Project>) -> Vec<SourceHead> {
    let names = RowNames::of_all(records);
    let files = records.iter().flat_map(|it| match &it.from {
        RowSource::Files(files) => files.iter().map(|it| Some(it.path.as_path())).collect(),
        RowSource::StandardInput | RowSource::Program | RowSource::Inline(_) => vec![None],
    });
    (0..)
        .zip(files)
        .map(|(number, file)| SourceHead {
            name: names.source(number).to_owned(),
            file: file.and_then(|it| source_file(it, project)),
        })
        .collect()
}

fn source_file(path: &Path, project: Option<&Project>) -> Option<SourceFile> {
    let absolute = std::fs::canonicalize(path).ok()?;
    let looked = SourceFile::look(&absolute).ok()?;
    let root = project.and_then(|it| it.root().parent()).and_then(|it| std::fs::canonicalize(it).ok());
    let below = root.and_then(|root| absolute.strip_prefix(root).ok().map(Path::to_owned));
    // A run lies two folders below the project.
    let path = below.map_or(absolute, |it| PathBuf::from("../..").join(it));
    Some(SourceFile { path: path.display().to_string(), ..looked })
}

/// The suite of a run and its plan, read again from what was stored. `None` when another version wrote what this one cannot read.
pub(crate) fn restored(head: &RunHead) -> Option<(Suite, Plan)> {
    let mut texts = HashMap::new();
    let mut main = None;
    for Document { name, body } in &head.documents {
        let Some(file) = file_name(name) else { continue };
        if name.starts_with(SUITE) {
            main = Some(PathBuf::from(file));
        }
        texts.insert(PathBuf::from(file), body.clone());
    }
    let loaded = load_with(&main?, &StoredTexts(texts), &scripts::Read);
    let samples = Samples { is_partial: true, ..Samples::default() };
    let (plan, _) = Plan::build(&loaded.suite, &samples).ok()?;
    Some((loaded.suite, plan))
}

/// The file of the suite of a run, as it was named when the run began.
pub(crate) fn suite_file(head: &RunHead) -> Option<&Path> {
    head.documents.iter().find_map(|it| it.name.strip_prefix(SUITE)).map(Path::new)
}

/// The file that a document is.
fn file_name(document: &str) -> Option<&str> {
    document.strip_prefix(SUITE).or_else(|| document.strip_prefix(FILE))
}

struct StoredTexts(HashMap<PathBuf, Vec<u8>>);

impl Files for StoredTexts {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        self.0.get(path).cloned().ok_or(ReadError::NotFound)
    }

    fn recorded(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }
}
