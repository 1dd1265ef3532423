//! `jurat init`: what it writes is a suite that works.

use std::fs;
use std::path::Path;

use crate::command::{Ended, Folder};

/// The files of a folder and what is in them, in order of their names.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the folder can be listed").map(|it| it.expect("a file"));
    let file = |it: fs::DirEntry| {
        (it.file_name().into_string().expect("a name"), fs::read_to_string(it.path()).expect("a text"))
    };
    let mut files: Vec<_> = entries.map(file).collect();
    files.sort();
    files
}

#[track_caller]
fn names(folder: &Path) -> Vec<String> {
    files(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn records_are_the_first_example() {
    let folder = Folder::empty();
    let Ended { code, stdout, stderr } = folder.jurat(&["init"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("wrote jurat.yaml\nwrote records.jsonl\nwrote replies.jsonl\n"), "{stdout}");
    assert!(!stdout.contains("cd "), "{stdout}");
    assert_eq!(names(folder.path()), ["jurat.yaml", "records.jsonl", "replies.jsonl"]);

    let checked = folder.jurat(&["check", "--strict"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    let ran = folder.jurat(&["run", "--tasks", "--results-only"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n3 cases: 2 passed, 1 failed; "), "{}", ran.stdout);
}

#[test]
fn a_suite_that_asks_is_another() {
    let folder = Folder::empty();
    let Ended { code, stdout, stderr } = folder.jurat(&["init", "new/place", "--kind", "ask"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("\n  cd new/place\n"), "{stdout}");
    let place = folder.path().join("new/place");
    assert_eq!(names(&place), ["answers.jsonl", "jurat.yaml", "records.jsonl", "replies.jsonl"]);
    let checked = folder.jurat(&["check", "--strict", "new/place/jurat.yaml"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
}

#[test]
fn code_is_a_fourth() {
    let folder = Folder::empty();
    let Ended { code, stdout, stderr } = folder.jurat(&["init", "--kind", "evaluators"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.ends_with("\nthen put your own rows into records.jsonl and your own code beside it\n"), "{stdout}");
    assert_eq!(names(folder.path()), ["jurat.yaml", "length.py", "records.jsonl", "warmth.ts"]);
    let checked = folder.jurat(&["check", "--strict"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    let ran = folder.jurat(&["run", "--tasks", "--results-only"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("3 cases: 1 passed, 1 failed, 1 measured"), "{}", ran.stdout);
}

#[test]
fn conversations_are_a_third() {
    let folder = Folder::empty();
    let Ended { code, stdout, stderr } = folder.jurat(&["init", "--kind", "scenarios"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.ends_with("\nthen put your own questions and outcomes into jurat.yaml\n"), "{stdout}");
    assert_eq!(names(folder.path()), ["answers.jsonl", "jurat.yaml", "replies.jsonl"]);
    let checked = folder.jurat(&["check", "--strict"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    let ran = folder.jurat(&["run", "--tasks", "--results-only"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n2 cases: 1 passed, 1 failed; "), "{}", ran.stdout);
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::with("jurat.yaml", "mine").and("replies.jsonl", "mine too");
    let before = files(folder.path());
    let Ended { code, stdout, stderr } = folder.jurat(&["init"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        "error: `jurat.yaml` and `replies.jsonl` are here already, and nothing was written; move them away, or name another \
         directory: `jurat init DIR`\n"
    );
    assert_eq!(files(folder.path()), before);

    let folder = Folder::with("there/records.jsonl", "mine");
    let Ended { code, stderr, .. } = folder.jurat(&["init", "there"]);
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: `records.jsonl` is in `there` already"), "{stderr}");
    assert_eq!(names(&folder.path().join("there")), ["records.jsonl"]);
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = Folder::with("file", "");
    let Ended { code, stderr, .. } = folder.jurat(&["init", "file/inside"]);
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: `file/inside` cannot be written: "), "{stderr}");
}

#[test]
fn json_lists_the_files() {
    let Ended { code, stdout, .. } = Folder::empty().jurat(&["init", "x", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(stdout, "{\"version\":1,\"files\":[\"x/jurat.yaml\",\"x/records.jsonl\",\"x/replies.jsonl\"]}\n");
}
