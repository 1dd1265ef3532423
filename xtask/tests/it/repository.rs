//! The files of this repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The directories that hold Rust.
pub(crate) const RUST: &[&str] = &["crates", "fuzz", "xtask"];

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the repository")
}

/// The Rust files under these directories of the repository, relative to its root, in order.
pub(crate) fn rust_files(directories: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in directories {
        collect(&root().join(directory), &mut found);
    }
    assert!(!found.is_empty(), "no Rust file in {directories:?}: this test looks in the wrong place");
    found.sort();
    found
}

/// Applies a rule to the text of each file, and fails with everything it complains about.
#[track_caller]
pub(crate) fn check(files: &[PathBuf], rule: impl Fn(&str) -> Vec<String>) {
    let mut complaints = Vec::new();
    for file in files {
        let text = fs::read_to_string(root().join(file)).expect("source files are readable text");
        complaints.extend(rule(&text).into_iter().map(|it| format!("{}:{it}", file.display())));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directories of the repository can be listed") {
        let path = entry.expect("the directories of the repository can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path.strip_prefix(root()).expect("it was found under the root").to_owned());
        }
    }
}
