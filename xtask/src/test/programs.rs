//! `cargo xtask tests`: all test programs of the workspace, several at once.
//!
//! `cargo test` runs one program after the other, and the slowest of ours wait more than they work. Otherwise this does the
//! same: each program runs in the folder of its package. What a program prints is shown when it fails.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chores::chore::{Arguments, Chore, Failure};
use chores::program;
use serde_json::Value;

use super::times::{self, Clock};

pub(crate) const CHORE: Chore = Chore {
    name: "tests",
    arguments: "[ARGUMENTS]",
    about: "runs the tests of the workspace, without those in documentation, and saves how long each took\n\
            ARGUMENTS   given to each test program, such as a part of a test's name",
    run: |arguments| run(arguments).map(|()| eprint!("{}", times::slowest())),
};

/// Builds all test programs but those against real models and agents, which have chores of their own.
pub(super) const BUILD: &[&str] = &["test", "--locked", "--workspace", "--no-run", "--tests"];

/// How many programs run at once. Each runs as many tests at once as there are processors.
const AT_ONCE: usize = 2;

/// The packages whose tests take longest: they start first.
const SLOW: [&str; 2] = ["jurat-sandbox", "jurat-cli"];

/// How often a running program is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// A compiled test program.
#[derive(Debug, PartialEq)]
struct TestProgram {
    /// The folder of the package.
    package: PathBuf,
    /// The name of the target, such as `it`.
    target: String,
    path: PathBuf,
}

/// How a program ended.
struct Ended {
    status: ExitStatus,
    clock: Clock,
    output: String,
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let arguments = arguments.words();
    let programs = Mutex::new(VecDeque::from(programs()?));
    let failed = Mutex::new(Vec::new());
    // In a function of its own: the guard of a `while let` would be held while the program runs, and the others would wait.
    let next = || locked(&programs).pop_front();
    times::forget();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(program) = next() {
                    if let Err(failure) = program.perform(&arguments) {
                        locked(&failed).push(failure.message().to_owned());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(failed.join("\n"))) }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All test programs, compiled, those that take longest first.
fn programs() -> Result<Vec<TestProgram>, Failure> {
    let mut cargo = program::cargo();
    cargo.args(BUILD).args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let messages = program::output(&mut cargo)?;
    let mut programs: Vec<TestProgram> = messages.lines().filter_map(TestProgram::read).collect();
    if programs.is_empty() {
        return Err(Failure::new("cargo built no test program"));
    }
    programs.sort_by_key(|it| SLOW.iter().position(|slow| it.package.ends_with(slow)).unwrap_or(SLOW.len()));
    Ok(programs)
}

impl TestProgram {
    /// The test program that a message of cargo is about.
    fn read(message: &str) -> Option<TestProgram> {
        let message: Value = serde_json::from_str(message).ok()?;
        if message["profile"]["test"] != true {
            return None;
        }
        Some(TestProgram {
            package: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
            target: message["target"]["name"].as_str()?.to_owned(),
            path: message["executable"].as_str()?.into(),
        })
    }

    fn title(&self) -> String {
        format!("{} {}", self.package.file_name().unwrap_or_default().to_string_lossy(), self.target)
    }

    /// Runs the program and saves the times of its tests; prints a line, or everything when it fails.
    fn perform(&self, arguments: &[String]) -> Result<(), Failure> {
        let start = Instant::now();
        let title = self.title();
        let ended = self.run(arguments).map_err(|error| Failure::new(format!("cannot run `{title}`: {error}")))?;
        times::save(&ended.clock.lines(&title));
        let (seconds, n_tests) = (start.elapsed().as_secs_f64(), ended.clock.n_ended());
        if ended.status.success() {
            eprintln!("{title}: {n_tests} passed in {seconds:.1} s");
            return Ok(());
        }
        eprint!("{}", ended.output);
        Err(Failure::new(format!("`{title}` ended with {}; its output is above", ended.status)))
    }

    fn run(&self, arguments: &[String]) -> io::Result<Ended> {
        let listed = self.command(arguments).args(["--list", "--format", "terse"]).output()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let log = program::target_directory().join("test-logs").join(format!("{}.log", self.title().replace(' ', "-")));
        fs::create_dir_all(program::target_directory().join("test-logs"))?;
        let file = File::create(&log)?;
        let mut clock = Clock::start(listed.lines().filter_map(|it| it.strip_suffix(": test")), times::threads());
        // Not a pipe: a process that a test left behind would hold it open.
        let mut child = self.command(arguments).stdout(file.try_clone()?).stderr(file).spawn()?;
        let mut tail = Tail { file: BufReader::new(File::open(&log)?), text: String::new(), n_read: 0 };
        loop {
            let status = child.try_wait()?;
            tail.lines(|line| clock.read(line))?;
            if let Some(status) = status {
                return Ok(Ended { status, clock, output: tail.text });
            }
            thread::sleep(PAUSE);
        }
    }

    /// The program as cargo would start it.
    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(arguments).current_dir(&self.package).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", &self.package).envs(program::own_cargo().map(|it| ("CARGO", it)));
        command
    }
}

/// A file that another process is writing.
struct Tail {
    file: BufReader<File>,
    /// Everything that was read.
    text: String,
    /// How much of the text was handed out as lines.
    n_read: usize,
}

impl Tail {
    /// Hands out the lines that were completed since last time.
    fn lines(&mut self, mut take: impl FnMut(&str)) -> io::Result<()> {
        let mut bytes = Vec::new();
        while self.file.read_until(b'\n', &mut bytes)? > 0 {}
        self.text += &String::from_utf8_lossy(&bytes);
        while let Some(length) = self.text[self.n_read..].find('\n') {
            take(&self.text[self.n_read..self.n_read + length]);
            self.n_read += length + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_in_the_messages_of_cargo() {
        let message = |is_test: bool| {
            serde_json::json!({
                "manifest_path": "/w/crates/jurat-cli/Cargo.toml",
                "target": { "name": "it" },
                "profile": { "test": is_test },
                "executable": "/t/it-1",
            })
            .to_string()
        };
        let read = TestProgram::read(&message(true)).expect("it is one");
        assert_eq!((read.title().as_str(), read.path.as_path()), ("jurat-cli it", Path::new("/t/it-1")));
        assert_eq!(TestProgram::read(&message(false)), None);
    }
}
