//! What the README shows is what the command does.

use std::fs;
use std::path::Path;

use crate::command::{Folder, ended};

/// The fenced blocks of a page with this info string.
fn blocks<'t>(page: &'t str, info: &str) -> Vec<&'t str> {
    let opening = format!("```{info}\n");
    let after = page.match_indices(&opening).map(|(at, _)| &page[at + opening.len()..]);
    after.map(|it| &it[..it.find("```").expect("a block ends")]).collect()
}

#[test]
fn the_readme_shows_what_the_command_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = blocks(&readme, "text");

    let command = blocks(&readme, "sh")[0].trim();
    let args: Vec<&str> = command.strip_prefix("cargo run -- ").expect("the first command").split(' ').collect();
    assert_eq!(ended(Folder::empty().command().args(&args).current_dir(&root)).stdout, shown[0]);

    let rows = fs::read(root.join("examples/appliances/records.jsonl")).unwrap();
    let folder = Folder::with("suite.yaml", blocks(&readme, "yaml")[0]).and("records.jsonl", rows);
    let problems = folder.jurat(&["check", "suite.yaml"]).stderr;
    assert!(problems.starts_with(shown[1]), "{problems}");
}
