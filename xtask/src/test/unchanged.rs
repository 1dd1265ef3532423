//! Steps whose inputs are what they were when they last passed.
//!
//! When a step passes, the hash of every file that it depends on is saved, with the version of the compiler. The next run skips
//! the step if the list is the same to the letter. A file that is new, changed, renamed or gone makes another list. Git counts the
//! hashes, so a tree without git skips nothing.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use chores::chore::Failure;
use chores::program;

/// What a step depends on: its files with their hashes, and the compiler.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inputs {
    step: &'static str,
    paths: Vec<&'static str>,
    hashes: String,
}

impl Inputs {
    /// The inputs of a step as they are now: the files below `paths` that git knows, or would if they were added.
    pub(super) fn now(step: &'static str, paths: &[&'static str]) -> Result<Inputs, Failure> {
        let compiler = program::output(Command::new("rustc").arg("-Vv"))?;
        Ok(Inputs { step, paths: paths.to_vec(), hashes: compiler + &hashes(&files(paths)?)? })
    }

    /// Whether the step has passed with exactly these.
    pub(super) fn passed_before(&self) -> bool {
        fs::read_to_string(self.file()).is_ok_and(|it| it == self.hashes)
    }

    /// Saves that the step passed, unless a file was changed meanwhile. It only saves time, so a full disk is no failure.
    pub(super) fn passed(&self) {
        let is_same = Inputs::now(self.step, &self.paths).is_ok_and(|it| it == *self);
        let file = self.file();
        let saved = || file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, &self.hashes));
        if is_same && let Err(error) = saved() {
            eprintln!("note: cannot save that `{}` passed: {error}", self.step);
        }
    }

    fn file(&self) -> PathBuf {
        program::target_directory().join("test-passed").join(self.step.replace(' ', "-"))
    }
}

/// The files below some paths, in the order of their names. A path that does not exist has none.
fn files(paths: &[&str]) -> Result<Vec<String>, Failure> {
    let mut git = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]);
    let listed = program::output(git.args(paths))?;
    let mut files: Vec<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    // A file that was deleted is still in the index, and one with conflicts several times.
    files.retain(|it| program::root().join(it).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// A line for each file: its hash and its name.
fn hashes(files: &[String]) -> Result<String, Failure> {
    let mut git = git(&["hash-object", "--no-filters", "--stdin-paths"]);
    let cannot = |error: std::io::Error| Failure::new(format!("git cannot hash the files of a step: {error}"));
    let mut child = program::started(git.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
    let mut names = child.stdin.take().expect("it is a pipe");
    let text = files.iter().map(|it| format!("{it}\n")).collect::<String>();
    // Git writes while it reads: each waits for the other once a pipe is full.
    let writer = std::thread::spawn(move || names.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(cannot)?;
    writer.join().expect("writing does not panic").map_err(cannot)?;
    program::checked(&git, output.status)?;
    let hashes = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(hashes.lines().zip(files).map(|(hash, file)| format!("{hash} {file}\n")).collect())
}

fn git(words: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(words).current_dir(program::root());
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_hashes_of_files() {
        let inputs = Inputs::now("a test", &["LICENSE-MIT", "no-such-folder"]).expect("git is there");
        let (compiler, files) = inputs.hashes.split_at(inputs.hashes.rfind("\nLLVM").expect("rustc prints it") + 1);
        assert!(compiler.starts_with("rustc "), "{compiler}");
        let lines: Vec<&str> = files.lines().skip(1).collect();
        assert_eq!(lines.len(), 1, "{files}");
        let (hash, name) = lines[0].split_once(' ').expect("a hash and a name");
        assert_eq!((hash.len(), name), (40, "LICENSE-MIT"));
    }

    #[test]
    fn a_step_has_passed_before_with_the_same_hashes_only() {
        let inputs = Inputs::now("a test of inputs", &["LICENSE-MIT"]).expect("git is there");
        inputs.passed();
        assert!(inputs.passed_before());
        let changed = Inputs { hashes: inputs.hashes.replacen("LICENSE", "LICENCE", 1), ..inputs.clone() };
        assert!(!changed.passed_before());
        changed.passed();
        assert!(inputs.passed_before(), "what is not there now was not tested");
        fs::remove_file(inputs.file()).expect("it was saved");
        assert!(!inputs.passed_before());
    }
}
