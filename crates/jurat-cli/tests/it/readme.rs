//! What the README shows is what the command does.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The fenced blocks of a page with this info string.
fn blocks<'t>(page: &'t str, info: &str) -> Vec<&'t str> {
    let opening = format!("```{info}\n");
    let after = page.match_indices(&opening).map(|(at, _)| &page[at + opening.len()..]);
    after.map(|it| &it[..it.find("```").expect("a block ends")]).collect()
}

fn jurat(folder: &Path, args: &[&str]) -> (String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_jurat")).args(args).current_dir(folder).output().expect("the command runs");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_readme_shows_what_the_command_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = blocks(&readme, "text");

    let command = blocks(&readme, "sh")[0].trim();
    let args: Vec<&str> = command.strip_prefix("cargo run -- ").expect("the first command").split(' ').collect();
    assert_eq!(jurat(&root, &args).0, shown[0]);

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("suite.yaml"), blocks(&readme, "yaml")[0]).unwrap();
    fs::copy(root.join("examples/appliances/records.jsonl"), folder.path().join("records.jsonl")).unwrap();
    let (_, problems) = jurat(folder.path(), &["check", "suite.yaml"]);
    assert!(problems.starts_with(shown[1]), "{problems}");
}
