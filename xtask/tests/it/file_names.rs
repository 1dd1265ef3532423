//! A file is named for the one idea it holds.

use std::path::Path;

use crate::repository;

/// Ideas still waiting for a name.
const NAMELESS: &[&str] = &["common", "helper", "helpers", "imp", "manager", "util", "utils"];

#[test]
fn every_file_is_named_for_its_idea() {
    let files = repository::rust_files(repository::RUST);
    let complaints: Vec<String> = files.iter().filter_map(|it| complaint(it)).collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn complaint(file: &Path) -> Option<String> {
    let stem = file.with_extension("");
    let name = stem.iter().filter_map(|it| it.to_str()).find(|it| NAMELESS.contains(it))?;
    Some(format!("{}: `{name}` says nothing about what is inside; name it for its idea", file.display()))
}

#[test]
fn files_and_directories_need_a_name() {
    let complains = |file: &str| complaint(Path::new(file)).is_some();
    assert!(complains("crates/jurat-core/src/utils.rs"));
    assert!(complains("crates/jurat-core/src/common/mod.rs"));
    assert!(complains("crates/jurat-core/tests/it/helpers.rs"));
    assert!(!complains("crates/jurat-core/src/suite/import.rs"));
}
