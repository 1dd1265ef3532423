//! `tests/problems/`: suites that are wrong, each beside the text that `jurat check` writes about it.
//!
//! A directory holds `suite.yaml` or `suite.json`, whatever files it names, and `problems.txt`. A file `NAME.size` stands
//! for a file `NAME` of as many bytes as its text says. `JURAT_BLESS=1` writes `problems.txt` anew.

use std::fs;
use std::path::{Path, PathBuf};

use jurat_core::suite::codes;

use crate::command::{Folder, root};

const EXPECTED: &str = "problems.txt";

#[test]
fn every_directory_shows_its_problems() {
    let bless = std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1");
    let (mut wrong, mut texts) = (Vec::new(), String::new());
    for directory in directories() {
        let text = drawn(&directory);
        texts += &text;
        let file = directory.join(EXPECTED);
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if text != expected && bless {
            fs::write(file, text).expect("snapshots can be written");
        } else if text != expected {
            wrong.push(format!("{}\n{}", directory.display(), difference(&expected, &text)));
        }
    }
    assert!(wrong.is_empty(), "{}\nif this is meant: JURAT_BLESS=1 cargo test, then read the diff", wrong.join("\n"));

    let is_shown = |code: &str| texts.contains(&format!("[{code}]: "));
    let hidden: Vec<&str> = codes::ALL.iter().map(|it| it.name).filter(|it| !is_shown(it)).collect();
    assert!(hidden.is_empty(), "no directory of `tests/problems/` shows {}", hidden.join(", "));
}

fn directories() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/problems")).expect("the directory can be listed");
    let mut directories: Vec<PathBuf> = entries.map(|it| it.expect("it can be listed").path()).collect();
    directories.sort();
    directories
}

/// What `jurat check` writes about the suite of a directory.
fn drawn(directory: &Path) -> String {
    let folder = copied(directory);
    let suite = if folder.path().join("suite.json").exists() { "suite.json" } else { "suite.yaml" };
    let checked = folder.jurat(&["check", suite]);
    let has_errors = checked.stderr.lines().any(|it| it.starts_with("error["));
    assert_eq!(checked.code, Some(if has_errors { 2 } else { 0 }), "{}: {checked:?}", directory.display());
    assert!(!checked.stderr.is_empty(), "nothing is wrong in {}", directory.display());
    checked.stderr
}

/// The files of a directory in a folder of their own: the suite runs among them and nothing else.
fn copied(directory: &Path) -> Folder {
    let mut folder = Folder::empty();
    for entry in fs::read_dir(directory).expect("the directory can be listed") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().and_then(|it| it.to_str()).expect("names are text");
        if name == EXPECTED {
            continue;
        }
        let content = fs::read(&path).expect("files can be read");
        folder = match name.strip_suffix(".size") {
            Some(name) => {
                let size = String::from_utf8_lossy(&content).trim().parse();
                folder.and_sparse(name, size.expect("a `.size` file holds a number"))
            }
            None => folder.and(name, content),
        };
    }
    folder
}

/// The lines around the first difference.
fn difference(expected: &str, found: &str) -> String {
    let same = expected.lines().zip(found.lines()).take_while(|(left, right)| left == right).count();
    let part = |text: &str| text.lines().skip(same.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n");
    format!("--- expected, near line {}:\n{}\n--- found:\n{}\n", same + 1, part(expected), part(found))
}
