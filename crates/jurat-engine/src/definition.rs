//! The definition of a run, kept with it: every text that was read, so that what was run can be read again wherever the run is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::source::{Files, ReadError, Sources};
use jurat_core::suite::{Suite, load};
use jurat_store::run::{Document, RunHead};

/// Names of documents that are texts of the definition begin so; the first is the suite itself.
const FILE: &str = "file:";

/// The texts of a definition, named relative to the folder of the suite.
pub fn documents(sources: &Sources) -> Vec<Document> {
    let texts: Vec<_> = sources.iter().map(|(_, it)| it).collect();
    let folder = texts.first().and_then(|it| it.path.parent()).unwrap_or(Path::new(""));
    let document = |path: &Path, text: &str| {
        let name = path.strip_prefix(folder).unwrap_or(path);
        Document { name: format!("{FILE}{}", name.display()), body: text.as_bytes().to_vec() }
    };
    texts.iter().map(|it| document(&it.path, &it.text)).collect()
}

/// The hash of a definition: of every text and its name, and nothing else, so that it is the same in every folder.
pub fn suite_hash(documents: &[Document]) -> String {
    let mut hasher = blake3::Hasher::new();
    for Document { name, body } in documents.iter().filter(|it| it.name.starts_with(FILE)) {
        for part in [name.as_bytes(), body] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// The suite of a run and its plan, read again from what was kept. `None` when another version wrote what this one cannot read.
pub(crate) fn restored(head: &RunHead) -> Option<(Suite, Plan)> {
    let mut texts = HashMap::new();
    let mut main = None;
    for Document { name, body } in &head.documents {
        let Some(name) = name.strip_prefix(FILE) else { continue };
        main.get_or_insert_with(|| PathBuf::from(name));
        texts.insert(PathBuf::from(name), body.clone());
    }
    let loaded = load(&main?, &Kept(texts));
    let samples = Samples { rows: Vec::new(), is_partial: true };
    let (plan, _) = Plan::build(&loaded.suite, &samples).ok()?;
    Some((loaded.suite, plan))
}

struct Kept(HashMap<PathBuf, Vec<u8>>);

impl Files for Kept {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        self.0.get(path).cloned().ok_or(ReadError::NotFound)
    }
}
