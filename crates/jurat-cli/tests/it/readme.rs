//! What the README shows is what the command does.

use std::fs;

use crate::command::{Folder, root};
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

    // Where the examples are, and nothing else: a run keeps its file where it runs.
    let folder = with_examples();
    let commands: Vec<&str> = blocks(&readme, "sh").into_iter().filter(|it| it.starts_with("cargo run -- ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for (ix, command) in commands.into_iter().enumerate() {
        let args: Vec<&str> = command.trim().strip_prefix("cargo run -- ").expect("a run").split(' ').collect();
        let ended = folder.jurat(&args);
        assert_eq!((ended.stderr.as_str(), ended.code), ("", Some(0)), "{command}");
        if ix == 0 {
            let (shown, found) = (settled(shown[0]), settled(&ended.stdout));
            assert!(found.starts_with(&shown), "{found}");
        }
    }

    let rows = fs::read(root().join("examples/appliances/records.jsonl")).unwrap();
    let folder = Folder::with("suite.yaml", blocks(&readme, "yaml")[0]).and("records.jsonl", rows);
    let problems = folder.jurat(&["check", "suite.yaml"]).stderr;
    assert!(problems.starts_with(shown[1]), "{problems}");
}

/// A folder with the examples in it.
fn with_examples() -> Folder {
    let mut folder = Folder::empty();
    let mut open = vec![root().join("examples")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("the examples can be listed") {
            let path = entry.expect("it can be listed").path();
            match path.strip_prefix(root()) {
                Ok(_) if path.is_dir() => open.push(path),
                Ok(name) => {
                    let content = fs::read(&path).expect("examples can be read");
                    folder = folder.and(name.to_str().expect("names are text"), content);
                }
                Err(_) => unreachable!("examples lie below the root"),
            }
        }
    }
    folder
}
