//! The files of labels that people name.

use std::path::Path;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::source::{Files, ReadError, Sources};
use jurat_format::value::Spanned;

use super::line::Label;
use super::read::read_labels;

/// The largest file of labels: a hundred thousand lines of a log have fifty megabytes.
const MAX_BYTES: u64 = 64 << 20;

/// The lines of some files, with the texts that they are in.
#[derive(Debug, Default)]
pub struct LabelFiles {
    pub labels: Vec<Spanned<Label>>,
    pub sources: Sources,
}

/// Reads files of labels, all of them whatever is wrong with one.
pub fn load_labels<'p>(
    paths: impl IntoIterator<Item = &'p Path>,
    files: &dyn Files,
    problems: &mut Problems,
) -> LabelFiles {
    let mut found = LabelFiles::default();
    for path in paths {
        match text_of(path, files) {
            Ok(text) => {
                let source = found.sources.add(path, text.as_str());
                found.labels.extend(read_labels(&text, source, problems));
            }
            Err(problem) => problems.push(problem),
        }
    }
    found
}

fn text_of(path: &Path, files: &dyn Files) -> Result<String, Problem> {
    let shown = path.display();
    let bytes = files.read(path, MAX_BYTES).map_err(|error| match error {
        ReadError::NotFound => Problem::new(&codes::NOT_FOUND, format!("there is no file `{shown}`"))
            .help("paths are relative to the current directory; `jurat calibrate RUN --sample 100 -o labels.csv` writes a sheet to fill in"),
        error => Problem::new(&codes::NOT_FOUND, format!("`{shown}` cannot be read: {error}")),
    })?;
    String::from_utf8(bytes)
        .map_err(|_| Problem::new(&codes::NOT_TEXT, format!("`{shown}` is not UTF-8 text")).help("save it as UTF-8"))
}
