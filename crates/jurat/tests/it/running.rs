//! Running: rows from elsewhere, limits, stopping and resuming, and asynchronous callers.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

use jurat::compare::{equals, less_than};
use jurat::{Assertion, Conclusion, Judge, Model, Question, RerunOf, Run, RunOptions, StopReason, Suite, Watch};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::directory;

/// Takes rows when it is run: numbers below five are good.
fn small() -> Suite {
    let suite = Suite::builder("small").records_at_run().task(Assertion::new("small", "n", less_than(5)));
    suite.build().expect("it is a suite")
}

/// One judge for each of these many rows, asked one after the other.
fn judged(n_rows: usize, function: impl Fn(&Question) -> String + Send + Sync + 'static) -> Suite {
    let rows = (0..n_rows).map(|it| json!({ "id": format!("r{it}"), "answer": it }));
    let suite = Suite::builder("judged").records(rows).model("judge", Model::function_in_order("judge", function));
    let task = Judge::new("says", "Say ${answer}").passes_when_reply(equals("ok"));
    suite.task(task).build().expect("it is a suite")
}

#[test]
fn rows_are_read_while_the_run_continues() {
    let directory = directory();
    let options = || RunOptions::in_directory(directory.path());
    let rows = |numbers: std::ops::Range<u32>| numbers.map(|n| json!({ "id": n.to_string(), "n": n }));
    let run = small().run(options().rows(rows(0..2_000))).unwrap();
    assert_eq!((run.case_counts().total(), run.counts().passed), (2_000, 5));
    // Rows that are in no file are stored, so that they can be shown.
    let last = run.cases().last().unwrap().unwrap();
    assert_eq!(last.task("small").unwrap().message(), "expected a number less than 5, found 1999");

    let limited = small().run(options().rows(rows(0..2_000)).limit(3)).unwrap();
    assert_eq!(limited.case_counts().total(), 3);
    let filtered = small().run(options().rows(rows(0..100)).filter("n % 10 == 0")).unwrap();
    assert_eq!(filtered.case_counts().total(), 10);
    let read = small().run(options().input(&b"{\"n\": 1}\n{\"n\": 2}\n"[..])).unwrap();
    assert_eq!(read.counts().passed, 2);
}

#[test]
fn rows_that_were_read_ahead_are_not_judged_after_an_interrupt() {
    /// Rows that are there once the run is interrupted.
    struct Late {
        watch: mpsc::Receiver<Watch>,
        rows: &'static [u8],
    }
    impl Read for Late {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if let Ok(watch) = self.watch.recv() {
                watch.stop();
            }
            self.rows.read(buffer)
        }
    }
    let directory = directory();
    let (send, watch) = mpsc::channel();
    let late = Late { watch, rows: b"{\"n\": 1}\n{\"n\": 2}\n" };
    let running = small().start(RunOptions::in_directory(directory.path()).input(late)).unwrap();
    send.send(running.watch()).unwrap();
    drop(send);
    let run = running.wait().unwrap();
    assert_eq!((run.conclusion(), run.case_counts().total()), (Conclusion::Interrupted, 0));
}

#[test]
fn cases_are_found_by_their_names() {
    let directory = directory();
    let options = || RunOptions::in_directory(directory.path());
    let found = |run: &Run, id: &str| run.cases_of(id).unwrap().iter().map(|it| it.id().to_owned()).collect::<Vec<_>>();
    let named = small().run(options().rows((0..9).map(|n| json!({ "id": format!("r{n}"), "n": n })))).unwrap();
    assert_eq!((found(&named, "r7"), found(&named, "r")), (vec!["r7".to_owned()], vec![]));
    let unnamed = small().run(options().rows((0..9).map(|n| json!({ "n": n })))).unwrap();
    assert_eq!((found(&unnamed, "rows:8"), found(&unnamed, "rows:10")), (vec!["rows:8".to_owned()], vec![]));
    assert_eq!(
        unnamed.cases_of("rows:8").unwrap()[0].task("small").unwrap().message(),
        "expected a number less than 5, found 7"
    );
}

#[test]
fn only_the_cases_that_failed_are_run_again() {
    let directory = directory();
    let options = || RunOptions::in_directory(directory.path());
    let suite = Suite::builder("s")
        .records([json!({ "id": 1, "answer": "yes" }), json!({ "id": 2, "answer": "no" })])
        .task(Assertion::new("says_yes", "answer", equals("yes")));
    let suite = suite.build().unwrap();
    let first = suite.run(options()).unwrap();
    assert_eq!((first.case_counts().total(), first.rerun()), (2, None));
    let again = suite.run(options().rerun([RerunOf::Failed])).unwrap();
    assert_eq!((again.case_counts().total(), again.rerun()), (1, Some(format!("failed of {}", first.id()))));
    let none = suite.run(options().rerun([RerunOf::Error]).rerun_from(first.id())).unwrap();
    assert_eq!(none.conclusion(), Conclusion::Nothing);
}

#[test]
fn rows_that_do_not_fit_are_reported() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("this row is broken"))
        }
    }
    let directory = directory();
    let options = || RunOptions::in_directory(directory.path());
    let shown = |suite: &Suite, options| suite.run(options).expect_err("it is wrong").to_string();
    assert!(shown(&small(), options().rows([Broken])).contains("this row is broken"));
    assert!(shown(&small(), options()).contains("the suite takes its rows when it is run: give the run some"));
    let own = judged(1, |_| "ok".to_owned());
    assert!(shown(&own, options().rows([json!({})])).starts_with("the suite has rows of its own"));
    assert!(shown(&own, options().filter("1 +")).starts_with("`--filter`: "));
    assert!(shown(&own, options().replay("nothing.jsonl")).starts_with("`nothing.jsonl` cannot be read"));
    assert!(shown(&own, options().replay("nothing")).starts_with("there is no run `nothing`"));
}

#[test]
fn a_stopped_run_resumes_when_it_is_run_again() {
    let directory = directory();
    let n_asked = Arc::new(AtomicUsize::new(0));
    let (reached, leave) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let is_first = Arc::new(AtomicBool::new(true));
    let suite = judged(6, {
        let (n_asked, reached, leave, is_first) =
            (Arc::clone(&n_asked), Arc::clone(&reached), Arc::clone(&leave), Arc::clone(&is_first));
        move |question| {
            n_asked.fetch_add(1, Ordering::SeqCst);
            if question.case() == "r2" && is_first.swap(false, Ordering::SeqCst) {
                reached.wait();
                leave.wait();
            }
            "ok".to_owned()
        }
    });
    let running = suite.start(RunOptions::in_directory(directory.path())).unwrap();
    reached.wait();
    assert_eq!((running.progress().done, running.progress().in_flight), (2, 1));
    running.stop();
    leave.wait();
    let stopped = running.wait().unwrap();
    assert_eq!((stopped.conclusion(), stopped.stopped()), (Conclusion::Interrupted, Some(StopReason::Interrupted)));
    assert_eq!(n_asked.load(Ordering::SeqCst), 3);

    let run = suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!((run.conclusion(), run.counts().passed), (Conclusion::Passed, 6));
    assert_eq!((run.id(), n_asked.load(Ordering::SeqCst)), (stopped.id(), 6));
}

#[test]
fn limits_end_a_run_and_say_so() {
    let directory = directory();
    let suite = judged(5, |question| if question.case() == "r1" { "no".to_owned() } else { "ok".to_owned() });
    let options = || RunOptions::in_directory(directory.path());
    let calls = suite.run(options().budget_calls(2)).unwrap();
    assert_eq!((calls.conclusion(), calls.counts().not_run), (Conclusion::Limited, 3));
    let first = suite.run(options().fail_fast().model("judge", Model::function("other", |_| "no"))).unwrap();
    assert_eq!((first.conclusion(), first.stopped()), (Conclusion::Failed, Some(StopReason::FailFast)));
}

#[test]
fn asynchronous_callers_may_wait_either_way() {
    let directory = directory();
    let suite = judged(3, |_| "ok".to_owned());
    let options = || RunOptions::in_directory(directory.path());
    for builder in [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()] {
        let mut builder = builder;
        let runtime = builder.enable_all().build().unwrap();
        let (awaited, blocked) = runtime.block_on(async {
            let awaited: Run = tokio::spawn(suite.start(options()).unwrap()).await.unwrap().unwrap();
            (awaited, suite.run(options()).unwrap())
        });
        assert_eq!((awaited.counts().passed, blocked.counts().passed), (3, 3));
    }
}

#[test]
fn variables_are_stored_nowhere() {
    let directory = directory();
    let secret = "sk-a-secret-of-the-test";
    let suite = Suite::builder("s")
        .record(json!({ "id": "r1", "answer": "yes" }))
        .model("judge", Model::new("openai/m").base_url("http://127.0.0.1:9/v1").api_key_env("THE_KEY"))
        .task(Judge::new("tone", "Rate ${answer}").max_retries(0))
        .build()
        .unwrap();
    let options = || RunOptions::in_directory(directory.path());
    let missing = suite.run(options()).expect_err("there is no key").to_string();
    assert!(missing.contains("`THE_KEY`"), "{missing}");
    let options = options().variable("THE_KEY", secret);
    assert!(!format!("{options:?}").contains(secret));
    let run = suite.run(options).unwrap();
    assert_eq!(run.conclusion(), Conclusion::Undecided);
    let bytes = std::fs::read(run.path()).unwrap();
    assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()));
}
