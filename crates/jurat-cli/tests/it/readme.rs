//! What the README shows is what the command does.

use std::fs;

use crate::command::{Folder, ended, root};
use crate::snapshots::settled;

/// The fenced blocks of a page with this info string.
fn blocks<'t>(page: &'t str, info: &str) -> Vec<&'t str> {
    let opening = format!("```{info}\n");
    let after = page.match_indices(&opening).map(|(at, _)| &page[at + opening.len()..]);
    after.map(|it| &it[..it.find("```").expect("a block ends")]).collect()
}

#[test]
fn the_readme_shows_what_the_command_does() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let shown = blocks(&readme, "text");

    for (command, shown) in blocks(&readme, "sh").into_iter().zip([Some(shown[0]), None]) {
        let args: Vec<&str> = command.trim().strip_prefix("cargo run -- ").expect("a run").split(' ').collect();
        let ended = ended(Folder::empty().command().args(&args).current_dir(root()));
        assert_eq!(ended.stderr, "", "{command}");
        if let Some(shown) = shown {
            assert_eq!(settled(&ended.stdout), settled(shown));
        }
    }

    let rows = fs::read(root().join("examples/appliances/records.jsonl")).unwrap();
    let folder = Folder::with("suite.yaml", blocks(&readme, "yaml")[0]).and("records.jsonl", rows);
    let problems = folder.jurat(&["check", "suite.yaml"]).stderr;
    assert!(problems.starts_with(shown[1]), "{problems}");
}
