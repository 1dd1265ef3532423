//! Runs of one project at the same time.

use std::thread;
use std::time::Duration;

use jurat_testkit::{Endpoint, Script};

use crate::project::{Project, timeless};
use crate::store::Snapshot;
use crate::suites::{ASKED, JUDGED, rows};

const ROWS: usize = 40;
const OPTIONS: &[&str] = &["-j", "8"];

#[test]
fn two_runs_at_once_both_succeed() {
    let latency = (Duration::from_millis(1), Duration::from_millis(10));
    let endpoint = Endpoint::start(Script::new().latency_between(latency.0, latency.1, 5));
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    project.write("other.yaml", ASKED);
    let (first, second, other) = thread::scope(|scope| {
        let first = scope.spawn(|| project.results(OPTIONS));
        let second = scope.spawn(|| project.results(OPTIONS));
        let other = scope.spawn(|| project.jurat(&[&["run", "other.yaml"], OPTIONS].concat()));
        let ended = |it: thread::ScopedJoinHandle<'_, _>| it.join().expect("the run ends");
        (ended(first), ended(second), ended(other))
    });
    for ended in [&first, &second, &other] {
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    }
    assert_eq!(timeless(&first.stdout), timeless(&second.stdout));
    let runs = project.runs();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        let run = Snapshot::of(run).expect("a run is a file");
        run.assert_whole();
        assert_eq!(run.ended().as_deref(), Some("done"));
        assert_eq!(run.number("SELECT count(*) FROM site"), 2 * ROWS as u64);
    }
    let journal = Snapshot::of(&project.journal()).expect("there is a journal");
    journal.assert_whole();
    assert_eq!(journal.answered().len(), 4 * ROWS);
    assert!(endpoint.stats().most_repeats() <= 2, "each asks at most once");

    endpoint.reset();
    let again = project.results(OPTIONS);
    assert_eq!((again.code, timeless(&again.stdout)), (Some(1), timeless(&first.stdout)));
    assert_eq!(endpoint.stats().requests, 0, "the journal has all answers");
}

/// The run that is being written is not resumed by another command.
#[test]
fn a_run_in_progress_is_not_resumed() {
    let endpoint = Endpoint::start(Script::new().held());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let first = project.start(OPTIONS);
    endpoint.wait_until(|it| it.in_flight == 8);
    let second = project.start(OPTIONS);
    endpoint.wait_until(|it| it.in_flight == 16);
    endpoint.release_all();
    for child in [first, second] {
        let ended = child.wait_with_output().expect("the run ends");
        assert_eq!(ended.status.code(), Some(1), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(project.runs().len(), 2);
}
