//! As many requests are in flight as `-j` says: never more, and never fewer while there is enough to ask.

use std::thread;

use jurat_testkit::{Endpoint, Script};

use crate::project::Project;
use crate::suites::{JUDGED, rows};

#[test]
fn the_endpoint_sees_exactly_the_concurrency_that_was_asked_for() {
    for concurrency in [1, 7, 64] {
        let endpoint = Endpoint::start(Script::new().held());
        let project = Project::new(JUDGED, &rows(150), &endpoint.url());
        let ended = thread::scope(|scope| {
            let run = scope.spawn(|| project.results(&["-j", &concurrency.to_string()]));
            // Each time one is let go another comes: the place of an answer is not left empty.
            for n_answers in 0..=100 {
                endpoint.wait_until(|it| it.in_flight == concurrency && it.answers == n_answers);
                endpoint.release(1);
            }
            endpoint.release_all();
            run.join().expect("the run ends")
        });
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let stats = endpoint.stats();
        assert_eq!(stats.requests, 300);
        assert_eq!(stats.peak_in_flight, concurrency);
        assert!(stats.peak_connections <= concurrency, "{stats:?}");
    }
}

/// Rows with the same question share one answer, also when it was just given and is not yet written down.
#[test]
fn equal_questions_are_asked_once() {
    let mut rows = String::new();
    for ix in 0..3000 {
        rows.push_str(&format!("{{\"id\": \"r{ix}\", \"answer\": \"{}\"}}\n", ix % 50));
    }
    for options in [&["-j", "8"][..], &["-j", "8", "--fresh"]] {
        let endpoint = Endpoint::start(Script::new());
        let project = Project::new(JUDGED, &rows, &endpoint.url());
        let ended = project.results(options);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let stats = endpoint.stats();
        assert_eq!((stats.requests, stats.distinct()), (100, 100), "{options:?}");
    }
}
