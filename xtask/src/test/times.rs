//! How long each test takes, which libtest prints only with a nightly compiler.
//!
//! A test program starts its tests in the order in which it lists them, as many at once as it has threads, and prints a line
//! when a test ends. So a test starts when the line of another makes room for it.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use chores::program;

/// How many of the slowest tests are printed.
const SLOWEST: usize = 10;

/// Where the times of one run of all tests are saved.
fn file() -> PathBuf {
    program::target_directory().join("test-times")
}

/// Forgets the times of an earlier run.
pub(super) fn forget() {
    let _ = fs::remove_file(file());
}

/// Adds times to the file. They are for information, so a full disk is no failure.
pub(super) fn save(lines: &str) {
    let file = OpenOptions::new().create(true).append(true).open(file());
    if let Err(error) = file.and_then(|mut it| it.write_all(lines.as_bytes())) {
        eprintln!("note: cannot save how long tests took: {error}");
    }
}

/// The slowest tests of the file, one a line.
pub(super) fn slowest() -> String {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let mut tests: Vec<(f64, &str)> = text.lines().filter_map(read).collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lines = tests.iter().take(SLOWEST).map(|(seconds, name)| format!("{seconds:>8.1} s  {name}\n"));
    format!("the slowest of {} tests:\n{}", tests.len(), lines.collect::<String>())
}

/// `SECONDS NAME`
fn read(line: &str) -> Option<(f64, &str)> {
    let (seconds, name) = line.split_once(' ')?;
    Some((seconds.parse().ok()?, name))
}

/// How many tests a program runs at once.
pub(super) fn threads() -> usize {
    let given = std::env::var("RUST_TEST_THREADS").ok().and_then(|it| it.parse().ok());
    given.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Which tests of a program run since when, and how long those took that ended.
pub(super) struct Clock {
    waiting: VecDeque<String>,
    running: BTreeMap<String, Instant>,
    took: Vec<(String, Duration)>,
}

impl Clock {
    /// The program starts now.
    pub(super) fn start<'a>(tests: impl Iterator<Item = &'a str>, n_threads: usize) -> Clock {
        let waiting = tests.map(str::to_owned).collect();
        let mut clock = Clock { waiting, running: BTreeMap::new(), took: Vec::new() };
        let now = Instant::now();
        (0..n_threads).for_each(|_| clock.next(now));
        clock
    }

    /// Takes in a line that the program has printed now.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(name) = ended(line) {
            self.ended(name, Instant::now());
        }
    }

    pub(super) fn n_ended(&self) -> usize {
        self.took.len()
    }

    /// A line for each test that ended.
    pub(super) fn lines(&self, title: &str) -> String {
        let line = |(name, took): &(String, Duration)| format!("{:.3} {title} {name}\n", took.as_secs_f64());
        self.took.iter().map(line).collect()
    }

    fn next(&mut self, now: Instant) {
        self.running.extend(self.waiting.pop_front().map(|it| (it, now)));
    }

    fn ended(&mut self, name: &str, now: Instant) {
        if let Some(start) = self.running.remove(name) {
            self.took.push((name.to_owned(), now - start));
            self.next(now);
        }
    }
}

/// The test that a line is about: `test NAME ... ok`.
fn ended(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_starts_when_another_ends() {
        let mut clock = Clock::start(["a", "b", "c"].into_iter(), 2);
        let start = clock.running["a"];
        let after = |seconds| start + Duration::from_secs(seconds);
        clock.ended("b", after(1));
        clock.ended("not listed", after(2));
        clock.ended("c", after(5));
        clock.ended("a", after(6));
        assert_eq!(clock.lines("jurat it"), "1.000 jurat it b\n4.000 jurat it c\n6.000 jurat it a\n");
    }

    #[test]
    fn lines_about_tests_are_read() {
        assert_eq!(ended("test kills::a_run ... ok"), Some("kills::a_run"));
        assert_eq!(ended("test numbers::zero - should panic ... FAILED"), Some("numbers::zero"));
        assert_eq!(ended("test kills::a_run has been running for over 60 seconds"), None);
        assert_eq!(ended("test result: ok. 3 passed; 0 failed"), None);
        assert_eq!(read("1.250 jurat it kills::a_run"), Some((1.25, "jurat it kills::a_run")));
    }
}
