//! A campaign of another program, run as it is.

use std::fs;
use std::path::Path;

use crate::command::{Folder, ended, root};

/// The example, in a folder of its own.
fn example() -> Folder {
    fn add(folder: Folder, from: &Path, below: &Path) -> Folder {
        let mut folder = folder;
        for entry in fs::read_dir(from).expect("the example can be listed") {
            let path = entry.expect("it can be listed").path();
            folder = if path.is_dir() {
                add(folder, &path, below)
            } else {
                let name = path.strip_prefix(below).expect("it is below").to_str().expect("names are text").to_owned();
                folder.and(&name, fs::read(&path).expect("files can be read"))
            };
        }
        folder
    }
    let from = root().join("examples/agents-peer");
    add(Folder::empty(), &from, &from)
}

#[test]
fn a_campaign_is_run_and_read_back() {
    let folder = example();
    let suite = "configs/suites/geography.yaml";
    let profiles = ["--run-profile", "twice", "--evaluation-profile", "configs/evaluation_profiles/strict.yaml"];
    let ended = folder.jurat(&[&["run", suite, "--results-only"][..], &profiles[..]].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{}", ended.stdout);
    assert!(ended.stdout.contains("4 cases: 2 passed, 2 failed"), "{}", ended.stdout);
    // What was run is read again from the run alone.
    let shown = folder.jurat(&["show", "--tasks"]);
    assert!(shown.stdout.contains("evaluation.closeness"), "{}{}", shown.stdout, shown.stderr);
    let explained = folder.jurat(&["explain", "capital", "evaluation"]);
    for part in
        ["Judge what was achieved.", "- The answer names Canberra", "\"outcome\":\"passed\"", "what each judge said"]
    {
        assert!(explained.stdout.contains(part), "{part} in\n{}", explained.stdout);
    }
    let ended = folder.jurat(&["check", suite, "--evaluation-profile", "lax"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("there is no evaluation profile `lax`"), "{}", ended.stderr);
}

#[test]
fn a_campaign_is_found_from_any_folder_of_it() {
    let folder = example();
    for (below, file) in [
        ("", "configs/suites/geography.yaml"),
        ("configs", "suites/geography.yaml"),
        ("configs/suites", "geography.yaml"),
        ("configs/suites", "./geography.yaml"),
        ("configs/cases", "../suites/geography.yaml"),
    ] {
        let mut command = folder.command();
        let ended = ended(command.current_dir(folder.path().join(below)).args(["check", file]));
        assert_eq!(ended.code, Some(0), "{file} in `{below}`: {}", ended.stderr);
        assert!(ended.stdout.contains("1 case, 3 tasks"), "{file} in `{below}`: {}", ended.stdout);
    }
}
