//! The texts of a configuration: the file itself and those that it refers to, with the places of everything in them.

use jurat_format::source::{ReadError, Sources};
use jurat_format::value::{Node, Span};
use jurat_format::yaml::read_tree;

use crate::folder::{Folder, inside};

/// The most bytes of a file that a configuration refers to.
const MAX_REFERENCED: u64 = 16 << 20;

/// The texts that were read so far.
pub(super) struct Places<'f> {
    folder: &'f dyn Folder,
    sources: Sources,
}

impl<'f> Places<'f> {
    pub(super) fn new(folder: &'f dyn Folder) -> Places<'f> {
        Places { folder, sources: Sources::default() }
    }

    /// `FILE:LINE`.
    pub(super) fn at(&self, span: Span) -> String {
        let name = self.sources.get(span.source).map(|it| it.path.display().to_string()).unwrap_or_default();
        format!("{name}:{}", self.sources.position(span).0.line)
    }

    /// The tree of a text in YAML or JSON.
    pub(super) fn tree(&mut self, name: &str, text: &str) -> Result<Node<'static>, String> {
        let source = self.sources.add(name, text);
        let mut problems = Vec::new();
        let node = read_tree(text, source, name.to_ascii_lowercase().ends_with(".json"), &mut problems);
        match (node, problems.first()) {
            (Some(node), None) => Ok(node),
            (_, Some(problem)) => {
                let place = problem.labels.first().map(|it| self.sources.position(it.span).0);
                let place = place.map(|it| format!("line {}, column {}: ", it.line, it.column)).unwrap_or_default();
                Err(format!("{place}{}", problem.message))
            }
            (None, None) => Err("it is empty".to_owned()),
        }
    }

    /// The text of a file that is referred to, and its path in the folder.
    pub(super) fn text(&self, reference: &str) -> Result<(String, String), String> {
        let path = relative(reference)?;
        let bytes = self.folder.read(&path, MAX_REFERENCED).map_err(|error| match error {
            ReadError::NotFound => format!("there is no file `{path}`"),
            other => format!("`{path}` cannot be read: {other}"),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not text in UTF-8"))?;
        Ok((path, text))
    }

    /// The files that a reference with `*` or `?` means.
    pub(super) fn matching(&self, reference: &str) -> Result<Vec<String>, String> {
        let pattern = relative(reference)?;
        let files: Vec<String> =
            self.folder.list().into_iter().filter(|it| crate::folder::fits(&pattern, it)).collect();
        match files.is_empty() {
            true => Err(format!("no file fits `{pattern}`")),
            false => Ok(files),
        }
    }
}

/// The path of a reference; those that lead out of the folder of the configuration are refused.
fn relative(reference: &str) -> Result<String, String> {
    let path = reference.strip_prefix("file://").unwrap_or(reference);
    inside(path).ok_or_else(|| format!("`{path}` lies outside of the folder of the configuration"))
}

/// The ending of a path, in lower case.
pub(super) fn ending(path: &str) -> String {
    path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?'])
}
