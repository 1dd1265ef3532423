//! The command `jurat` as it is measured: what is typed, and whether it did what it was asked to do.
//!
//! A fast run that leaves something out would be a fine figure, so every run is checked: by its exit code, by what its
//! summary says, and for a small number of rows by its counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::scratch::emptied;
use super::yardstick::{Cost, Data, Yardstick};
use chores::chore::Failure;
use chores::program;

/// How many assertions the suites over records have.
pub(super) const N_TASKS: u64 = 10;

/// The program.
pub(super) struct Jurat {
    program: PathBuf,
    /// What it says of itself.
    pub(super) version: String,
}

/// Exit codes of a run in which everything passed, and of one in which something failed.
const PASSED: i32 = 0;
const FAILED: i32 = 1;
/// That of a gate without enough data.
const UNDECIDED: i32 = 6;

/// A run that did its work.
pub(super) struct Run {
    pub(super) cost: Cost,
    /// Whether there is a run file.
    pub(super) is_stored: bool,
}

impl Run {
    /// The run, if its output has this number.
    fn names(self, n: u64, things: &str) -> Result<Run, Failure> {
        match names(&self.cost.said()?, n) {
            true => Ok(self),
            false => Err(Failure::new(format!("`jurat run` does not report {n} {things}"))),
        }
    }
}

impl Jurat {
    pub(super) fn at(program: PathBuf) -> Result<Jurat, Failure> {
        let version = program::output(Command::new(&program).arg("--version"))?.trim().to_owned();
        Ok(Jurat { program, version })
    }

    pub(super) fn path(&self) -> &Path {
        &self.program
    }

    /// Runs a suite over records as if nothing had been run before, and checks that every row was judged.
    pub(super) fn judge(&self, yardstick: &Yardstick, data: &Data) -> Result<Run, Failure> {
        forget(&data.directory)?;
        let run = self.run(yardstick, &data.directory, &["run", "suite.yaml"], &[exit(data)])?;
        run.names(data.rows, "rows")
    }

    /// The same on one processor alone.
    pub(super) fn judge_on_one(&self, yardstick: &Yardstick, data: &Data) -> Result<Cost, Failure> {
        forget(&data.directory)?;
        let program = self.program.to_string_lossy();
        let words = ["-c", "0", &*program, "run", "suite.yaml"];
        let cost = yardstick.meter(Path::new("taskset"), &words, &data.directory)?;
        match cost.code == Some(exit(data)) && says(&cost, data.rows)? {
            true => Ok(cost),
            false => Err(Failure::new(format!("`taskset -c 0 jurat run` ended with {}", cost.ended))),
        }
    }

    /// Runs a suite over records and compares its counts with what was written.
    pub(super) fn check(&self, yardstick: &Yardstick, data: &Data) -> Result<(), Failure> {
        forget(&data.directory)?;
        let run = self.run(yardstick, &data.directory, &["run", "suite.yaml", "--json"], &[exit(data)])?;
        let expected = [(data.rows - data.failing) * N_TASKS, data.failing * N_TASKS];
        match counts(&run.cost.said()?) {
            Some(counted) if counted == expected => Ok(()),
            counted => Err(Failure::new(format!(
                "`jurat run --json` should count {expected:?} passed and failed assertions, and counts {counted:?}"
            ))),
        }
    }

    /// Runs a suite whose judge is an endpoint. What earlier runs kept is there, unless it was forgotten.
    pub(super) fn ask(&self, yardstick: &Yardstick, directory: &Path, at_once: u64) -> Result<Run, Failure> {
        self.run(yardstick, directory, &["run", "suite.yaml", "-j", &at_once.to_string()], &[PASSED])
    }

    /// Has every conversation of a suite so often, as if nothing had been run before, and checks that none is missing.
    pub(super) fn converse(
        &self,
        yardstick: &Yardstick,
        directory: &Path,
        conversations: u64,
        at_once: u64,
    ) -> Result<Run, Failure> {
        forget(directory)?;
        let (repeat, at_once) = (conversations.to_string(), at_once.to_string());
        let run =
            self.run(yardstick, directory, &["run", "suite.yaml", "--repeat", &repeat, "-j", &at_once], &[PASSED])?;
        run.names(conversations, "conversations")
    }

    /// Runs a suite whose evaluator is code, and checks that every row was looked at.
    pub(super) fn evaluate(&self, yardstick: &Yardstick, directory: &Path, rows: u64) -> Result<Cost, Failure> {
        let run = self.run(yardstick, directory, &["run", "suite.yaml"], &[PASSED])?;
        run.names(rows, "rows").map(|it| it.cost)
    }

    /// Judges runs that were kept, as if nothing had been run before, and checks that all of them passed.
    pub(super) fn rescore(&self, yardstick: &Yardstick, directory: &Path, runs: u64) -> Result<Cost, Failure> {
        forget(directory)?;
        let run = self.run(yardstick, directory, &["run", "suite.yaml"], &[PASSED])?;
        run.names(runs, "runs").map(|it| it.cost)
    }

    /// Cuts a suite over records, and runs every shard.
    pub(super) fn cut(&self, yardstick: &Yardstick, data: &Data, rows: u64) -> Result<(), Failure> {
        emptied(&data.directory.join("parts"))?;
        let words = ["shards", "suite.yaml", "--rows", &rows.to_string(), "-o", "parts", "--json"];
        let run = self.run(yardstick, &data.directory, &words, &[PASSED])?;
        let said: Value = serde_json::from_str(&run.cost.said()?).unwrap_or_default();
        let n = said["shards"].as_u64().ok_or_else(|| Failure::new("`jurat shards --json` names no shards"))?;
        for ix in 0..n {
            self.run(yardstick, &data.directory, &["run", "--shard", &format!("parts:{ix}"), "--quiet"], &[PASSED])?;
        }
        Ok(())
    }

    /// Merges shards as if that had not been done before, and checks that no row is missing.
    pub(super) fn merge(&self, yardstick: &Yardstick, data: &Data) -> Result<Cost, Failure> {
        let _ = fs::remove_file(data.directory.join("parts/run.jurat"));
        let words = ["merge", "parts", "--expect-rows", &data.rows.to_string()];
        self.run(yardstick, &data.directory, &words, &[PASSED]).map(|it| it.cost)
    }

    /// Runs a suite over records on several processes, and checks that every row was judged.
    pub(super) fn on_processes(&self, yardstick: &Yardstick, data: &Data, n: u64) -> Result<Cost, Failure> {
        forget(&data.directory)?;
        let words = ["run", "suite.yaml", "--engine", &format!("local:{n}"), "--quiet"];
        self.run(yardstick, &data.directory, &words, &[exit(data)])?.names(data.rows, "rows").map(|it| it.cost)
    }

    /// Reads the latest run of a directory.
    pub(super) fn show(&self, yardstick: &Yardstick, directory: &Path, words: &[&str]) -> Result<Cost, Failure> {
        let words: Vec<&str> = ["show", "latest"].iter().chain(words).copied().collect();
        // Whether showing failures is a failure is not for a benchmark to say.
        self.run(yardstick, directory, &words, &[PASSED, FAILED]).map(|it| it.cost)
    }

    /// Compares two runs.
    pub(super) fn compare(&self, yardstick: &Yardstick, directory: &Path, words: &[&str]) -> Result<Cost, Failure> {
        let words: Vec<&str> = ["compare"].iter().chain(words).copied().collect();
        self.run(yardstick, directory, &words, &[PASSED]).map(|it| it.cost)
    }

    /// Decides whether a run may pass, which may take any of three ends.
    pub(super) fn gate(&self, yardstick: &Yardstick, directory: &Path, words: &[&str]) -> Result<Cost, Failure> {
        let words: Vec<&str> = ["gate"].iter().chain(words).copied().collect();
        self.run(yardstick, directory, &words, &[PASSED, FAILED, UNDECIDED]).map(|it| it.cost)
    }

    fn run(&self, yardstick: &Yardstick, directory: &Path, words: &[&str], exits: &[i32]) -> Result<Run, Failure> {
        let cost = yardstick.meter(&self.program, words, directory)?;
        if cost.code.is_some_and(|it| exits.contains(&it)) {
            return Ok(Run { cost, is_stored: has_run_file(directory) });
        }
        let errors = fs::read(&cost.errors).unwrap_or_default();
        let why = reason(&String::from_utf8_lossy(&errors));
        let why = if why.is_empty() { why } else { format!(": {why}") };
        Err(Failure::new(format!("`jurat {}` ended with {}{why}", words.join(" "), cost.ended)))
    }
}

fn exit(data: &Data) -> i32 {
    if data.failing == 0 { PASSED } else { FAILED }
}

/// Removes what runs in this directory kept. The empty directory stays, because jurat would otherwise look further up, and
/// find the runs of whoever works in this repository.
pub(super) fn forget(directory: &Path) -> Result<(), Failure> {
    emptied(&directory.join(".jurat"))
}

fn has_run_file(directory: &Path) -> bool {
    run_file(directory).is_some()
}

/// A run file of a directory.
pub(super) fn run_file(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory.join(".jurat/runs")).into_iter().flatten().flatten();
    entries.map(|it| it.path()).find(|it| it.extension().is_some_and(|it| it == "jurat"))
}

/// Whether an output has a number in it.
pub(super) fn says(cost: &Cost, number: u64) -> Result<bool, Failure> {
    cost.said().map(|it| names(&it, number))
}

/// The line of an error output that says what is wrong.
fn reason(errors: &str) -> String {
    let mut lines = errors.lines().map(str::trim).filter(|it| !it.is_empty());
    let last = lines.clone().next_back();
    lines.find(|it| it.starts_with("error")).or(last).unwrap_or_default().to_owned()
}

/// Whether a text has this number in it, with or without separators between its digits.
fn names(text: &str, number: u64) -> bool {
    let text = text.replace([',', '\'', '\u{a0}', '\u{202f}'], "");
    let number = number.to_string();
    text.split(|it: char| !it.is_ascii_digit()).any(|it| it == number)
}

/// The passed and failed assertions of a result document.
fn counts(document: &str) -> Option<[u64; 2]> {
    let document: Value = serde_json::from_str(document).ok()?;
    let counts = [&document["results"]["counts"], &document["counts"]].into_iter().find(|it| it.is_object())?;
    Some([counts["passed"].as_u64()?, counts["failed"].as_u64()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_where_versions_put_them() {
        assert_eq!(counts(r#"{"version":1,"cases":[],"counts":{"passed":90,"failed":10}}"#), Some([90, 10]));
        assert_eq!(counts(r#"{"results":{"counts":{"passed":9,"failed":0}},"observed":{}}"#), Some([9, 0]));
        assert_eq!(counts(r#"{"results":{}}"#), None);
        assert_eq!(counts("10 cases"), None);
    }

    #[test]
    fn a_number_is_found_as_a_whole() {
        assert!(names("1000000 cases: 900000 passed", 1_000_000));
        assert!(names("1,000,000 cases", 1_000_000));
        assert!(!names("10000000 cases", 1_000_000));
        assert!(!names("", 1));
    }

    #[test]
    fn the_reason_is_the_line_that_says_error() {
        assert_eq!(reason("warning: a\nerror: unexpected argument\n\nUsage: jurat\n"), "error: unexpected argument");
        assert_eq!(reason("thread panicked\nsomewhere\n"), "somewhere");
        assert_eq!(reason(""), "");
    }
}
