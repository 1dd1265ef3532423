//! Ctrl-C: the first finishes what is in flight and stores it, the second drops it and ends at once. Either way the run resumes when the
//! same command is given again.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use jurat_testkit::{Endpoint, Fault, RetryAfter, Script, When};
use rustix::process::{Pid, Signal, kill_process};

use crate::project::{Ended, Project, RESULTS, timeless};
use crate::suites::{JUDGED, rows};

const ROWS: usize = 20;
const OPTIONS: &[&str] = &["-j", "4"];

/// What these tests hold back would never end by itself; a busy machine needs less than this to end a run.
pub(crate) const STUCK: Duration = Duration::from_secs(60);

/// A run that can be interrupted.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// What it said when it was interrupted.
    said: String,
}

impl Running {
    pub(crate) fn start(project: &Project) -> Running {
        Running::of(&mut project.command(&[&["run", "suite.yaml"], OPTIONS, RESULTS].concat()))
    }

    pub(crate) fn of(command: &mut Command) -> Running {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("it was asked for"));
        Running { child, stderr, said: String::new() }
    }

    /// Sends a signal and waits until the run says that it stops.
    pub(crate) fn interrupt(&mut self, signal: Signal) {
        self.send(signal);
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("messages are text");
        let is_said = line.starts_with("Stopping") && line.contains("; press Ctrl-C again to abort");
        assert!(is_said, "{line}");
        self.said = line;
    }

    pub(crate) fn send(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).expect("ids of processes are small");
        kill_process(Pid::from_raw(id).expect("a process has an id"), signal).expect("our own child takes signals");
    }

    pub(crate) fn ended(mut self) -> Ended {
        let mut ended: Ended = self.child.wait_with_output().expect("the command ends").into();
        self.stderr.read_to_string(&mut ended.stderr).expect("messages are text");
        ended
    }
}

/// The results of a run that is not interrupted.
fn undisturbed() -> String {
    let endpoint = Endpoint::start(Script::new());
    let ended = Project::new(JUDGED, &rows(ROWS), &endpoint.url()).results(OPTIONS);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    timeless(&ended.stdout)
}

#[test]
fn the_first_finishes_what_is_in_flight_and_stores_it() {
    for signal in [Signal::INT, Signal::TERM] {
        let endpoint = Endpoint::start(Script::new().held());
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        let mut running = Running::start(&project);
        endpoint.wait_until(|it| it.in_flight == 4);
        running.interrupt(signal);
        assert_eq!(running.said, "Stopping after 4 running requests; press Ctrl-C again to abort them\n");
        endpoint.release_all();
        let ended = running.ended();
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(ended.stdout.contains(r#""complete":false,"stopped":"interrupted""#), "{}", ended.stdout);
        let stats = endpoint.stats();
        assert_eq!((stats.requests, stats.answers), (4, 4), "nothing new is asked");

        let again = project.results(OPTIONS);
        assert_eq!(again.stderr, "resuming the run that was interrupted\n");
        assert_eq!((again.code, timeless(&again.stdout)), (Some(1), undisturbed()));
        let stats = endpoint.stats();
        assert_eq!((stats.requests, stats.most_repeats()), (2 * ROWS as u64, 1), "nothing is asked twice");
        project.only_run();
    }
}

#[test]
fn the_second_ends_at_once() {
    let endpoint = Endpoint::start(Script::new().held());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let mut running = Running::start(&project);
    endpoint.wait_until(|it| it.in_flight == 4);
    endpoint.release(2);
    endpoint.wait_until(|it| it.answers == 2 && it.in_flight == 4);
    running.interrupt(Signal::INT);
    let second = Instant::now();
    running.send(Signal::INT);
    let ended = running.ended();
    let took = second.elapsed();
    println!("the second Ctrl-C took {took:?}");
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(took < STUCK, "{took:?}");

    endpoint.release_all();
    let again = project.results(OPTIONS);
    assert_eq!((again.code, timeless(&again.stdout)), (Some(1), undisturbed()), "{}", again.stderr);
    let stats = endpoint.stats();
    assert_eq!(stats.requests, 2 * ROWS as u64 + 4, "what was dropped is asked again, and nothing else");
    project.only_run();
}

/// A wait that the endpoint asked for, or one before asking again, is not in flight.
#[test]
fn an_interrupted_run_does_not_wait_for_retries() {
    let waits = [Fault::rate_limited(RetryAfter::Seconds(300)), Fault::rate_limited(RetryAfter::Seconds(30))];
    for fault in waits {
        let endpoint = Endpoint::start(Script::new().fault(When::Always, fault));
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        let mut running = Running::start(&project);
        endpoint.wait_until(|it| it.errors == 4);
        let first = Instant::now();
        running.interrupt(Signal::INT);
        let ended = running.ended();
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(first.elapsed() < Duration::from_secs(25), "{:?}", first.elapsed());
        assert_eq!(endpoint.stats().requests, 4);
    }
}

/// A supervisor and a closed terminal do not ask twice, and what is in flight may never end.
#[test]
fn a_process_that_is_asked_to_end_does_so_whatever_is_in_flight() {
    for signal in [Signal::TERM, Signal::HUP] {
        let endpoint = Endpoint::start(Script::new().held());
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        let mut running = Running::start(&project);
        endpoint.wait_until(|it| it.in_flight == 4);
        let began = Instant::now();
        running.interrupt(signal);
        let ended = running.ended();
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(began.elapsed() < STUCK, "{:?}", began.elapsed());
        endpoint.release_all();
        let again = project.results(OPTIONS);
        assert_eq!((again.code, timeless(&again.stdout)), (Some(1), undisturbed()), "{}", again.stderr);
        project.only_run();
    }
}

/// `nohup` has SIGHUP ignored, and that is inherited.
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let endpoint = Endpoint::start(Script::new().held());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let inner = project.command(&["run"]);
    let mut command = Command::new("sh");
    let script = format!("trap '' HUP; exec \"$JURAT\" run suite.yaml {} {}", OPTIONS.join(" "), RESULTS.join(" "));
    command.args(["-c", &script]).current_dir(project.path()).env("JURAT", inner.get_program());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let running = Running::of(&mut command);
    endpoint.wait_until(|it| it.in_flight == 4);
    running.send(Signal::HUP);
    endpoint.release_all();
    let ended = running.ended();
    assert_eq!((ended.code, timeless(&ended.stdout)), (Some(1), undisturbed()), "{}", ended.stderr);
}

/// A condition that takes seconds, however fast the machine is: loops inside loops, up to the bound of steps.
fn costly(n_loops: usize) -> String {
    let names = &["a", "b", "c", "d", "e", "f"][..n_loops];
    let test = format!("{} >= 0", names.join(" + "));
    names.iter().rev().fold(test, |inner, name| format!("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all({name}, {inner})"))
}

/// A conversation whose second turn waits for a costly condition.
fn conversation(condition: &str) -> String {
    format!(
        "suite: costly\nmodels: {{ subject: openai/subject }}\nscenarios:\n  s:\n    entry: a\n    \
         nodes: {{ a: {{ question: A? }}, b: {{ question: B? }} }}\n    edges: [{{ from: a, to: b, when: {{ cel: '{condition}' }} }}, {{ from: a, to: __end__ }}]\n    \
         outcomes: {{ n: {{ cel: 'result.turn_count == 2' }} }}\n"
    )
}

#[test]
fn an_expression_that_takes_long_is_interrupted_and_nothing_is_concluded_from_it() {
    let endpoint = Endpoint::start(Script::new());
    let project = Project::new(&conversation(&costly(4)), "", &endpoint.url());
    let mut running = Running::start(&project);
    endpoint.wait_until(|it| it.answers == 1);
    running.interrupt(Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stdout.contains(r#""verdict":"not_run""#), "{}", ended.stdout);
    assert!(!ended.stdout.contains(r#""verdict":"error""#), "{}", ended.stdout);
    let again = project.results(OPTIONS);
    assert_eq!((again.code, endpoint.stats().requests), (Some(0), 2), "{} {}", again.stdout, again.stderr);
}

#[test]
fn a_deadline_passes_while_an_expression_takes_long() {
    let endpoint = Endpoint::start(Script::new());
    let conversation = Project::new(&conversation(&costly(5)), "", &endpoint.url());
    let filtered = "suite: rows\nrecords: rows.jsonl\ntasks: [{ id: t, field_path: output, operator: equals, expected_value: x }]\n";
    let filtered = Project::new(filtered, &"{\"output\": \"x\"}\n".repeat(50), &endpoint.url());
    for (project, filter) in [(conversation, "true".to_owned()), (filtered, costly(5))] {
        let began = Instant::now();
        let ended = project.results(&["--timeout", "100ms", "--filter", &filter]);
        assert!(ended.stdout.contains(r#""stopped":"deadline""#), "{} {}", ended.stdout, ended.stderr);
        assert!(!ended.stdout.contains(r#""verdict":"error""#), "{}", ended.stdout);
        assert!(began.elapsed() < STUCK, "{:?}", began.elapsed());
    }
}

const ENDLESS: &str = "suite: endless\nrecords: [{ id: a, output: x }]\n\
    evaluators: { loop: { source: \"def evaluate(output):\\n    while True: pass\\n\", limits: { timeout: 10m } } }\n\
    tasks: [{ id: t, evaluate: loop, field_path: label, operator: equals, expected_value: x }]\n";

/// The time that the descendants of a process have used, in ticks of the system.
fn ticks_below(parent: u32) -> i64 {
    let entries = std::fs::read_dir("/proc").expect("the system lists processes").flatten();
    let fields = entries.filter_map(|it| {
        let text = std::fs::read_to_string(it.path().join("stat")).ok()?;
        let numbers: Vec<i64> =
            text.rsplit_once(") ")?.1.split(' ').skip(1).filter_map(|it| it.trim().parse().ok()).collect();
        Some((it.file_name().to_str()?.parse::<i64>().ok()?, *numbers.first()?, *numbers.get(10)?))
    });
    let mut all: Vec<(i64, i64, i64)> = fields.collect();
    let (mut family, mut n_ticks) = (vec![i64::from(parent)], 0);
    while let Some(at) = all.iter().position(|(_, above, _)| family.contains(above)) {
        let (id, _, ticks) = all.remove(at);
        family.push(id);
        n_ticks += ticks;
    }
    n_ticks
}

#[test]
fn a_process_that_is_asked_to_end_does_so_whatever_an_evaluator_does() {
    for signal in [Signal::TERM, Signal::HUP] {
        let project = Project::new(ENDLESS, "", "http://127.0.0.1:9");
        let mut command = project.command(&["run", "suite.yaml", "--json", "--results-only"]);
        let mut running = Running::of(command.env("PATH", std::env::var_os("PATH").expect("there is a path")));
        // Starting an interpreter takes less than this; only the loop takes more.
        while ticks_below(running.child.id()) < 100 {
            assert_eq!(running.child.try_wait().expect("it can be asked"), None, "the evaluator is running");
            std::thread::yield_now();
        }
        let began = Instant::now();
        running.interrupt(signal);
        let ended = running.ended();
        assert_eq!(ended.code, Some(130), "{} {}", ended.stdout, ended.stderr);
        assert!(began.elapsed() < STUCK, "{:?}", began.elapsed());
    }
}
