//! Directories of suites, each beside what the command writes about it. A new directory is a new test.
//!
//! `tests/problems/`: suites that are wrong, and `problems.txt`, what `jurat check` writes. A directory holds `suite.yaml` or `suite.json`, whatever files it names, and `problems.txt`. A file `NAME.size` stands
//! for a file `NAME` of as many bytes as its text says.
//!
//! `tests/cases/`: suites that run, those about scenarios in a directory of their own, and `report.txt`, what `jurat run --tasks --results-only` writes and how it ends. Judges are answered from
//! `replies.jsonl` when there is one; `arguments.txt` holds further arguments, `stdin.txt` what comes on standard input.
//! Columns are one space apart.
//!
//! `JURAT_BLESS=1` writes the expected texts anew.

use std::fs;
use std::path::{Path, PathBuf};

use jurat_format::codes;
use jurat_format::problem::Severity;

use crate::command::{Folder, ended, root};

const PROBLEMS: &str = "problems.txt";
const REPORT: &str = "report.txt";

#[test]
fn every_directory_shows_its_problems() {
    let texts = compared("tests/problems", PROBLEMS, rendered);
    let is_shown = |code: &str| texts.contains(&format!("[{code}]: "));
    let shown_here = codes::ALL.iter().filter(|it| it.severity != Severity::Note);
    let hidden: Vec<&str> = shown_here.map(|it| it.name).filter(|it| !is_shown(it)).collect();
    assert!(hidden.is_empty(), "no directory of `tests/problems/` shows {}", hidden.join(", "));
}

#[test]
fn every_case_runs_as_it_should() {
    let texts = compared("tests/cases", REPORT, reported);
    for note in codes::ALL.iter().filter(|it| it.severity == Severity::Note) {
        assert!(
            texts.contains(&format!("error[{}]: ", note.name)),
            "no directory of `tests/cases/` shows {}",
            note.name
        );
    }
    for code in [0, 1, 2, 3, 5] {
        assert!(texts.contains(&format!("exit {code}\n")), "no directory of `tests/cases/` ends with {code}");
    }
}

/// Compares what is written about each directory with what should be, and returns it all.
fn compared(place: &str, expected: &str, write: fn(&Path) -> String) -> String {
    let bless = std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1");
    let (mut wrong, mut texts) = (Vec::new(), String::new());
    for directory in directories(place) {
        let text = write(&directory);
        texts += &text;
        let file = directory.join(expected);
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if text != expected && bless {
            fs::write(file, text).expect("snapshots can be written");
        } else if text != expected {
            wrong.push(format!("{}\n{}", directory.display(), difference(&expected, &text)));
        }
    }
    assert!(wrong.is_empty(), "{}\nif this is meant: JURAT_BLESS=1 cargo test, then read the diff", wrong.join("\n"));
    texts
}

fn directories(place: &str) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let mut open = vec![root().join(place)];
    while let Some(directory) = open.pop() {
        let entries = fs::read_dir(&directory).expect("the directory can be listed");
        for path in entries.map(|it| it.expect("it can be listed").path()) {
            let has_suite = ["suite.yaml", "suite.json"].iter().any(|it| path.join(it).exists());
            if has_suite { directories.push(path) } else { open.push(path) }
        }
    }
    directories.sort();
    directories
}

/// What `jurat run` writes about the suite of a directory, and how it ends.
fn reported(directory: &Path) -> String {
    let folder = copied(directory);
    let given = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let mut command = folder.command();
    command.args(["run", "suite.yaml", "--tasks", "--results-only"]).args(given("arguments.txt").split_whitespace());
    if folder.path().join("replies.jsonl").exists() {
        command.args(["--model", "judge=script/replies.jsonl"]);
    }
    if folder.path().join("stdin.txt").exists() {
        let stdin = fs::File::open(folder.path().join("stdin.txt")).expect("files can be read");
        command.stdin(stdin);
    }
    let ended = ended(&mut command);
    let errors = if ended.stderr.is_empty() { String::new() } else { format!("{}\n", ended.stderr.trim_end()) };
    format!("{errors}{}exit {}\n", settled(&ended.stdout), ended.code.expect("an exit code"))
}

/// The text without what differs from run to run.
pub(crate) fn settled(text: &str) -> String {
    let mut settled = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if let [.., number, "µs" | "ms" | "s"] = words.as_slice()
            && number.parse::<f64>().is_ok()
        {
            words.truncate(words.len() - 2);
            words.push("T");
        }
        settled += words.join(" ").as_str();
        settled.push('\n');
    }
    settled
}

/// What `jurat check` writes about the suite of a directory.
fn rendered(directory: &Path) -> String {
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
    for path in files_below(directory) {
        let name = path.strip_prefix(directory).ok().and_then(Path::to_str).expect("names are text");
        if name == PROBLEMS || name == REPORT {
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

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory can be listed");
    let paths = entries.map(|it| it.expect("it can be listed").path());
    paths.flat_map(|it| if it.is_dir() { files_below(&it) } else { vec![it] }).collect()
}

/// The lines around the first difference.
fn difference(expected: &str, found: &str) -> String {
    let same = expected.lines().zip(found.lines()).take_while(|(left, right)| left == right).count();
    let part = |text: &str| text.lines().skip(same.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n");
    format!("--- expected, near line {}:\n{}\n--- found:\n{}\n", same + 1, part(expected), part(found))
}
