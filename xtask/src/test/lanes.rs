//! Steps side by side: each lane is a list of steps, and lanes run at the same time.
//!
//! The first lane prints as it works. What the steps of the others print is saved, and shown when they end. A lane that has
//! no more steps takes those at the end of another, so that none waits while there is work. The first step that fails ends
//! all of them.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chores::chore::Failure;
use chores::program;

use super::unchanged::Inputs;

/// How often a running step is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// How many lines of a saved output are shown when all is well.
const LAST_LINES: usize = 12;

/// One thing to do.
pub(super) struct Task {
    pub(super) name: &'static str,
    /// The steps that must have passed before, in whichever lane.
    pub(super) after: &'static [&'static str],
    /// The files that it is about, if it says so.
    pub(super) inputs: Option<Inputs>,
    pub(super) command: Command,
}

/// What passed so far, and the first failure.
#[derive(Default)]
struct State {
    passed: Vec<(&'static str, Duration)>,
    failure: Option<Failure>,
}

impl State {
    fn has_passed(&self, steps: &[&str]) -> bool {
        steps.iter().all(|it| self.passed.iter().any(|(name, _)| name == it))
    }
}

#[derive(Default)]
struct Board {
    /// The steps that have not started, by their lanes.
    lanes: Mutex<Vec<VecDeque<Task>>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// Where the output of a lane goes.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    Shown,
    Saved,
}

/// Runs all lanes to their end, or to the first failure. Returns the steps with their times, in the order in which they
/// ended.
pub(super) fn run(lanes: Vec<Vec<Task>>) -> Result<Vec<(&'static str, Duration)>, Failure> {
    let n_lanes = lanes.len();
    let lanes = lanes.into_iter().map(VecDeque::from).collect();
    let board = Board { lanes: Mutex::new(lanes), ..Board::default() };
    thread::scope(|scope| {
        for lane in 0..n_lanes {
            let board = &board;
            scope.spawn(move || while board.next(lane).is_some_and(|(task, output)| board.perform(task, output)) {});
        }
    });
    let State { passed, failure } = board.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(passed), Err)
}

impl Board {
    /// The next step of a lane, or the last of another one that may start.
    fn next(&self, lane: usize) -> Option<(Task, Output)> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = lanes[lane].pop_front() {
            return Some((own, if lane == 0 { Output::Shown } else { Output::Saved }));
        }
        let state = self.state();
        let may_start = |it: &&mut VecDeque<Task>| it.back().is_some_and(|it| state.has_passed(it.after));
        let taken = lanes.iter_mut().find(may_start)?.pop_back()?;
        Some((taken, Output::Saved))
    }

    /// Performs a step once it may start. Returns whether the lane continues.
    fn perform(&self, task: Task, output: Output) -> bool {
        if !self.may_start(task.after) {
            return false;
        }
        eprintln!("--- {}{}", task.name, if output == Output::Saved { " starts" } else { "" });
        let start = Instant::now();
        let done = self.run(task.name, task.command, output);
        if let (Ok(()), Some(inputs)) = (&done, &task.inputs) {
            inputs.passed();
        }
        self.ended(task.name, start.elapsed(), done)
    }

    /// Waits for other steps. Returns false if one has failed.
    fn may_start(&self, after: &[&str]) -> bool {
        let waits = |state: &mut State| state.failure.is_none() && !state.has_passed(after);
        let state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.failure.is_none()
    }

    fn run(&self, name: &str, mut command: Command, output: Output) -> Result<(), Failure> {
        if output == Output::Shown {
            return self.finished(&mut command).and_then(|it| program::checked(&command, it));
        }
        let log = log(name);
        let cannot = |error| Failure::new(format!("cannot write {}: {error}", log.display()));
        fs::create_dir_all(program::target_directory().join("test-logs")).map_err(cannot)?;
        let file = File::create(&log).map_err(cannot)?;
        command.stdin(Stdio::null()).stdout(file.try_clone().map_err(cannot)?).stderr(file);
        let status = self.finished(&mut command)?;
        let text = fs::read(&log).map(|it| String::from_utf8_lossy(&it).into_owned()).unwrap_or_default();
        eprint!("{}", if status.success() { last_lines(&text) } else { &text });
        program::checked(&command, status)
    }

    /// Runs a command to its end, or kills it when a step of another lane fails.
    fn finished(&self, command: &mut Command) -> Result<ExitStatus, Failure> {
        let mut child = program::started(command)?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if self.state().failure.is_some() => return Err(stopped(child)),
                Ok(None) => thread::sleep(PAUSE),
                Err(error) => return Err(Failure::new(format!("cannot wait for a step: {error}"))),
            }
        }
    }

    /// Notes how a step ended. Only the first failure counts: the others are its consequence.
    fn ended(&self, name: &'static str, time: Duration, done: Result<(), Failure>) -> bool {
        let seconds = time.as_secs_f64();
        let mut state = self.state();
        match done {
            Ok(()) => {
                eprintln!("--- {name}: {seconds:.1} s\n");
                state.passed.push((name, time));
            }
            Err(failure) if state.failure.is_none() => {
                let message = format!("step `{name}` failed after {seconds:.1} s: {}", failure.message());
                state.failure = Some(Failure::new(message));
            }
            Err(_) => {}
        }
        self.changed.notify_all();
        state.failure.is_none()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stopped(mut child: Child) -> Failure {
    let _ = child.kill();
    let _ = child.wait();
    Failure::new("stopped, because another step failed")
}

/// Where the output of a step is saved.
fn log(name: &str) -> PathBuf {
    program::target_directory().join("test-logs").join(format!("{}.log", name.replace(' ', "-")))
}

fn last_lines(text: &str) -> &str {
    let start = text.trim_end().rmatch_indices('\n').nth(LAST_LINES - 1).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &'static str, after: &'static [&'static str], script: &str) -> Task {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Task { name, after, inputs: None, command }
    }

    fn names(passed: &[(&'static str, Duration)]) -> Vec<&'static str> {
        passed.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn a_step_waits_for_those_that_it_needs() {
        let lanes = vec![vec![task("a", &["x"], "true")], vec![task("x", &[], "true")]];
        assert_eq!(names(&run(lanes).expect("all pass")), ["x", "a"]);
    }

    #[test]
    fn a_lane_without_steps_takes_the_last_of_another() {
        // Each end of the pipe waits for the other, so `a` and `c` must run beside each other.
        let pipe = std::env::temp_dir().join(format!("jurat-lanes-{}", std::process::id()));
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
        let pipe = pipe.display().to_string();
        let lanes = vec![
            vec![task("x", &[], "true")],
            vec![
                task("a", &[], &format!("cat '{pipe}'")),
                task("b", &[], "true"),
                task("c", &["x"], &format!("echo > '{pipe}'")),
            ],
        ];
        let passed = run(lanes);
        fs::remove_file(&pipe).expect("the pipe is there");
        let mut passed = names(&passed.expect("all pass"));
        passed.sort_unstable();
        assert_eq!(passed, ["a", "b", "c", "x"]);
    }

    #[test]
    fn the_first_failure_ends_every_lane() {
        let lanes = vec![vec![task("endless", &[], "exec sleep 1000")], vec![task("wrong", &[], "exit 3")]];
        let failure = run(lanes).expect_err("one fails");
        assert!(failure.message().starts_with("step `wrong` failed after "), "{failure:?}");
        assert!(failure.message().ends_with("`sh -c exit 3` ended with exit status: 3"), "{failure:?}");
    }

    #[test]
    fn of_a_long_output_the_end_is_shown() {
        let text: String = (1..=20).map(|it| format!("{it}\n")).collect();
        assert_eq!(last_lines(&text), "9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n");
        assert_eq!(last_lines("one\n"), "one\n");
    }
}
