//! `docs/problems/`: a page for every code, whose examples are what they claim to be.
//!
//! A page shows a suite that is wrong (a block marked `yaml bad`) and the same suite fixed (`yaml good`). Blocks with
//! `file=NAME` after one of them are files that it names; `size=N` makes such a file N bytes long, `encoding=latin1` writes
//! it as something else than UTF-8.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use jurat_format::codes;
use jurat_format::problem::{Code, Severity};

use crate::command::{Ended, Folder, root};

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let pages: BTreeSet<PathBuf> = ["file", "suite", "plan", "run"]
        .iter()
        .flat_map(|area| fs::read_dir(root().join("docs/problems").join(area)).expect("there are pages for each area"))
        .map(|it| it.expect("pages can be listed").path())
        .collect();
    let expected: BTreeSet<PathBuf> = codes::ALL.iter().map(|it| page_of(it)).collect();
    let differ: Vec<_> = pages.symmetric_difference(&expected).collect();
    assert!(differ.is_empty(), "pages without a code, or codes without a page: {differ:?}");
}

#[test]
fn pages_say_what_the_code_says() {
    for code in codes::ALL {
        let text = text_of(code);
        let (title, severity) = (format!("# `{}`\n", code.name), format!("\nSeverity: {}: ", code.severity));
        assert!(text.starts_with(&title), "the page of {} does not start with its name", code.name);
        assert!(text.contains(&severity), "the page of {} does not say that it is an {}", code.name, code.severity);
    }
}

#[test]
fn bad_examples_show_the_problem_and_good_ones_none() {
    for code in codes::ALL {
        let examples = examples(&text_of(code));
        let of = |kind: Kind| examples.iter().filter(move |it| it.kind == kind);
        assert!(of(Kind::Bad).count() > 0 && of(Kind::Good).count() > 0, "{} needs two examples", code.name);
        for example in of(Kind::Bad) {
            // What depends on the machine is mentioned by `check`, and refused by `run`.
            let is_note = code.severity == Severity::Note;
            let checked = if is_note { example.run() } else { example.checked() };
            let found: BTreeSet<&str> = checked.stderr.lines().filter_map(code_of).collect();
            assert_eq!(found, BTreeSet::from([code.name]), "{}:\n{}", code.name, checked.stderr);
        }
        for example in of(Kind::Good) {
            let checked = example.checked();
            assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "the good example of {}", code.name);
        }
    }
}

fn page_of(code: &Code) -> PathBuf {
    root().join("docs/problems").join(format!("{}.md", code.name.replace("::", "/")))
}

fn text_of(code: &Code) -> String {
    fs::read_to_string(page_of(code)).unwrap_or_else(|error| panic!("the page of {}: {error}", code.name))
}

/// `error[suite::bad_id]: …` → `suite::bad_id`
fn code_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("error[").or(line.strip_prefix("warning["))?;
    rest.split_once("]: ").map(|(code, _)| code)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Bad,
    Good,
}

/// A suite with the files it names.
struct Example {
    kind: Kind,
    folder: Folder,
}

impl Example {
    fn checked(&self) -> Ended {
        self.folder.jurat(&["check", "--strict", "suite.yaml"])
    }

    fn run(&self) -> Ended {
        self.folder.jurat(&["run", "suite.yaml"])
    }
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for (info, text) in blocks(page) {
        let kind = match info {
            "yaml bad" => Kind::Bad,
            "yaml good" => Kind::Good,
            _ => {
                let Example { kind, folder } = examples.pop().expect("files come after the suite that names them");
                examples.push(Example { kind, folder: with_file(folder, info, text) });
                continue;
            }
        };
        examples.push(Example { kind, folder: Folder::with("suite.yaml", text).and("agent.py", "") });
    }
    examples
}

fn with_file(folder: Folder, info: &str, text: &str) -> Folder {
    let option = |name: &str| info.split(' ').find_map(|it| it.strip_prefix(name));
    let name = option("file=").unwrap_or_else(|| panic!("`{info}` names no file"));
    match (option("size="), option("encoding=")) {
        (Some(size), _) => folder.and_sparse(name, size.parse().expect("a size is a number")),
        (None, Some("latin1")) => {
            let byte = |it: char| u8::try_from(u32::from(it)).expect("a character of Latin-1");
            folder.and(name, text.chars().map(byte).collect::<Vec<u8>>())
        }
        (None, Some(encoding)) => panic!("there is no encoding `{encoding}`"),
        (None, None) => folder.and(name, text),
    }
}

/// The fenced blocks of a page: what stands behind the fence, and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fences = page.split("```").collect::<Vec<_>>();
    assert!(fences.len() % 2 == 1, "a block is not closed");
    let inside = fences.iter().skip(1).step_by(2);
    inside.map(|it| it.split_once('\n').expect("a block starts on a line of its own")).collect()
}
