//! `cargo xtask test`: everything that must hold before a change is merged, in one command.
//!
//! The steps are two lists ([`lanes`]), and the first step that fails ends the run. In front is what keeps the processors busy,
//! cheapest first; behind it what installs, waits or uses one processor. Continuous integration runs this very command, so
//! what passes here passes there.
//!
//! A step that says which files it depends on is skipped when it has passed with exactly these ([`unchanged`]).
//!
//! All builds of the workspace select the same packages with the same features, so that nothing is compiled twice.

mod lanes;
pub(crate) mod programs;
mod times;
mod unchanged;

use std::process::Command;
use std::time::{Duration, Instant};

use chores::chore::{Arguments, Chore, Failure};
use chores::program;

use self::lanes::Task;
use self::unchanged::Inputs;

pub(crate) const CHORE: Chore = Chore {
    name: "test",
    arguments: "[--quick] [--all]",
    about: "runs every check of the project and stops at the first that fails\n\
            --quick   formatting, lints and tests only\n\
            --all     also the steps whose files are the same as when they last passed",
    run,
};

const FRONT: &[Step] = &[
    Step::always("format", Work::Cargo(&["fmt", "--all", "--check"])),
    // The fuzz targets are a workspace of their own.
    Step::always("format of fuzz targets", Work::Cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])),
    Step::always("lints", Work::Cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    Step::full("documentation", Work::Documentation),
    Step::always(TEST_PROGRAMS, Work::Cargo(programs::BUILD)),
    Step::always("tests", Work::Chore(&["tests"])),
    Step::always("tests in documentation", Work::Cargo(&["test", "--locked", "--workspace", "--doc"])),
    Step::full("python package", Work::Chore(&["wheel", "test"])),
];

const BEHIND: &[Step] = &[
    Step::full("installation", Work::Chore(&["install"])),
    Step::full("fuzz targets", Work::Chore(&["fuzz", "--seconds", "5", "--quiet"])).of(&["fuzz"]),
    Step::full("instructions", Work::Chore(&["bench", "gate"])).of(&[]),
    Step::full("viewer in a browser", Work::Chore(&["browser"])).after(&[TEST_PROGRAMS]).of(&[]),
    // The short ones are last: the lane that is done first takes them.
    Step::full("real models", Work::Chore(&["servers", "test"])).after(&[TEST_PROGRAMS]).of(&[]),
    Step::full("shared journal", Work::Chore(&["postgres"])).after(&[TEST_PROGRAMS]).of(&[]),
    Step::full("importers", Work::Chore(&["importers"])).after(&[TEST_PROGRAMS]).of(&[]),
    Step::full("real agents", Work::Chore(&["agents", "some"])).after(&[TEST_PROGRAMS]).of(&[]),
];

/// What every step that names its files depends on as well: the program, the chores, how both are built, and what they are given.
const SOURCE: &[&str] = &[".cargo", "Cargo.lock", "Cargo.toml", "crates", "examples", "tests", "xtask"];

const TEST_PROGRAMS: &str = "test programs";

/// One thing to check.
struct Step {
    name: &'static str,
    /// Whether `--quick` leaves it out.
    is_full: bool,
    after: &'static [&'static str],
    /// The files that it depends on beside [`SOURCE`]; `None` if it always runs.
    files: Option<&'static [&'static str]>,
    work: Work,
}

#[derive(Clone, Copy)]
enum Work {
    Cargo(&'static [&'static str]),
    /// A chore, as it would be typed.
    Chore(&'static [&'static str]),
    Documentation,
}

impl Step {
    const fn always(name: &'static str, work: Work) -> Step {
        Step { name, is_full: false, after: &[], files: None, work }
    }

    const fn full(name: &'static str, work: Work) -> Step {
        Step { name, is_full: true, after: &[], files: None, work }
    }

    const fn after(self, after: &'static [&'static str]) -> Step {
        Step { after, ..self }
    }

    /// Names all files that it depends on, so that it can be skipped while they stay as they are.
    const fn of(self, files: &'static [&'static str]) -> Step {
        Step { files: Some(files), ..self }
    }

    fn task(&self) -> Result<Task, Failure> {
        // A tree without git has no hashes: then every step runs.
        let inputs = self.files.and_then(|it| Inputs::now(self.name, &[SOURCE, it].concat()).ok());
        Ok(Task { name: self.name, after: self.after, inputs, command: self.work.command()? })
    }
}

impl Work {
    fn command(self) -> Result<Command, Failure> {
        let mut cargo = program::cargo();
        match self {
            Work::Cargo(words) => _ = cargo.args(words),
            Work::Chore(words) => return chore(words),
            Work::Documentation => _ = cargo.args(DOCUMENTATION).env("RUSTDOCFLAGS", "-D warnings"),
        }
        Ok(cargo)
    }
}

/// There are no examples. Asking for them lets the features count that tests turn on in dependencies, as in the lints.
const DOCUMENTATION: &[&str] =
    &["doc", "--locked", "--workspace", "--no-deps", "--lib", "--bin", "xtask*", "--examples"];

fn chore(words: &[&str]) -> Result<Command, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    let mut command = Command::new(own);
    command.args(words);
    Ok(command)
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let is_quick = arguments.flag("--quick");
    let is_all = arguments.flag("--all");
    arguments.finish()?;
    let tasks = |steps: &[Step]| steps.iter().filter(|it| !is_quick || !it.is_full).map(Step::task).collect();
    let lanes: Result<Vec<Vec<Task>>, Failure> = [FRONT, BEHIND].into_iter().map(tasks).collect();
    let mut lanes = lanes?;
    if !is_all {
        lanes.iter_mut().for_each(skip_unchanged);
    }
    let start = Instant::now();
    let passed = lanes::run(lanes)?;
    eprint!("{}{}", slowest(passed, start.elapsed()), times::slowest());
    Ok(())
}

fn skip_unchanged(lane: &mut Vec<Task>) {
    lane.retain(|task| {
        let is_unchanged = task.inputs.as_ref().is_some_and(Inputs::passed_before);
        if is_unchanged {
            eprintln!("--- {}: skipped, it has passed with these files; --all runs it again", task.name);
        }
        !is_unchanged
    });
}

fn slowest(mut passed: Vec<(&str, Duration)>, total: Duration) -> String {
    let mut text = format!("all {} steps passed in {:.1} s:\n", passed.len(), total.as_secs_f64());
    passed.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (name, time) in passed {
        text += &format!("{:>8.1} s  {name}\n", time.as_secs_f64());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_steps_come_first() {
        let passed = vec![("format", Duration::from_millis(400)), ("tests", Duration::from_secs(61))];
        let text = "all 2 steps passed in 61.2 s:\n    61.0 s  tests\n     0.4 s  format\n";
        assert_eq!(slowest(passed, Duration::from_millis(61_200)), text);
    }

    #[test]
    fn steps_wait_for_steps_in_front() {
        for it in BEHIND.iter().flat_map(|it| it.after) {
            let waited_for = FRONT.iter().find(|step| step.name == *it).expect("there is such a step");
            assert!(waited_for.files.is_none(), "`{it}` may be skipped");
        }
    }
}
