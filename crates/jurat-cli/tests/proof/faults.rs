//! Faults of judging: one that stays is an `error` and never a failure of the subject, one that passes leaves no trace in the verdict.

use std::time::Duration;

use jurat_testkit::{Endpoint, Fault, Reply, Request, RetryAfter, Script, When};
use serde_json::{Value, json};

use crate::project::Project;
use crate::suites::rows;

const SUITE: &str = "
suite: faults
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - id: tone
    judge: { prompt: 'tone of ${answer}', output: { label: { enum: [polite, rude] }, why: string }, max_retries: 1 }
    field_path: label
    operator: equals
    expected_value: polite
  - { id: after, depends_on: [tone], field_path: tone.why, operator: contains, expected_value: because }
  - { id: beside, field_path: n, operator: greater_than, expected_value: 2 }
";

const ROWS: usize = 6;

/// Whether replies are asked for in pieces.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Whole,
    Streamed,
}

/// Everything that can go wrong, on which way, and how many of two requests it takes to know.
const FAULTS: &[(Fault, Way, u64)] = &[
    (Fault::CutBody, Way::Whole, 2),
    (Fault::CutBody, Way::Streamed, 2),
    (Fault::NoFinish, Way::Streamed, 2),
    (Fault::StreamError, Way::Streamed, 2),
    (Fault::TruncatedBody, Way::Whole, 2),
    (Fault::TruncatedBody, Way::Streamed, 2),
    (Fault::TruncatedText, Way::Whole, 2),
    (Fault::WrongLabel, Way::Whole, 2),
    // A model that refuses is not asked again.
    (Fault::Refusal, Way::Whole, 1),
    (Fault::Refusal, Way::Streamed, 1),
    (Fault::Blocked, Way::Whole, 1),
    (Fault::Status { status: 429, retry_after: None }, Way::Whole, 2),
    (Fault::Status { status: 429, retry_after: Some(RetryAfter::Seconds(0)) }, Way::Whole, 2),
    (Fault::Status { status: 429, retry_after: Some(RetryAfter::Millis(30)) }, Way::Streamed, 2),
    (Fault::Status { status: 500, retry_after: None }, Way::Whole, 2),
    (Fault::Status { status: 503, retry_after: Some(RetryAfter::Millis(1)) }, Way::Whole, 2),
    // Asking again would be refused again.
    (Fault::Status { status: 401, retry_after: None }, Way::Whole, 1),
    (Fault::Silence, Way::Whole, 2),
    (Fault::Reset, Way::Whole, 2),
    (Fault::Close, Way::Whole, 2),
];

/// Answers by the row alone: what is said when a judge is asked again does not change its mind.
fn script() -> Script {
    Script::answering(|request| {
        let first = request.conversation.first().map_or("", |(_, text)| text);
        let label = if first.ends_with(['1', '4']) { "rude" } else { "polite" };
        Reply::json(json!({ "label": label, "why": "because" }))
    })
}

/// Runs the suite; returns its exit code and each verdict with its message.
fn judged(endpoint: &Endpoint, way: Way) -> (Option<i32>, Vec<String>) {
    judged_within("60s", endpoint, way)
}

/// The same with the time that a request may take: a silent endpoint is waited for that long.
fn judged_within(timeout: &str, endpoint: &Endpoint, way: Way) -> (Option<i32>, Vec<String>) {
    let project = Project::new(SUITE, &rows(ROWS), &endpoint.url());
    let streamed: &[&str] = if way == Way::Streamed { &["--stream"] } else { &[] };
    let ended = project.results(&[&["--request-timeout", timeout], streamed].concat());
    let results: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
    let mut verdicts = Vec::new();
    for case in results["results"]["cases"].as_array().expect("results have cases") {
        for task in case["tasks"].as_array().expect("a case has tasks") {
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            verdicts.push(format!(
                "{} {} {} {} {}",
                text(&case["id"]),
                text(&task["task"]),
                text(&task["verdict"]),
                text(&task["label"]),
                text(&task["message"])
            ));
        }
    }
    (ended.code, verdicts)
}

fn timeout(fault: &Fault) -> &'static str {
    if *fault == Fault::Silence { "3s" } else { "60s" }
}

fn undisturbed() -> (Option<i32>, Vec<String>) {
    let judged = judged(&Endpoint::start(script()), Way::Whole);
    assert_eq!(
        judged.1[..3],
        [
            "r1 tone failed rude expected `polite`, found `rude`",
            "r1 after passed  ",
            "r1 beside failed  expected a number greater than 2, found 1",
        ]
    );
    judged
}

#[test]
fn a_fault_that_stays_is_an_error() {
    for (fault, way, n_requests) in FAULTS {
        let endpoint = Endpoint::start(script().fault(When::Always, fault.clone()));
        let (code, verdicts) = judged_within(timeout(fault), &endpoint, *way);
        let what = format!("{fault:?} {way:?}: {verdicts:#?}");
        assert_eq!(code, Some(3), "{what}");
        assert_eq!(endpoint.stats().requests, n_requests * ROWS as u64, "{what}");
        for verdict in &verdicts {
            let words: Vec<&str> = verdict.splitn(4, ' ').collect();
            match words[1] {
                "tone" => assert!(words[2] == "error" && words[3].len() > 10, "{what}"),
                "after" => assert_eq!(words[2..], ["skipped", " `tone` could not be judged"], "{what}"),
                _ => assert!(["passed", "failed"].contains(&words[2]), "{what}"),
            }
        }
    }
}

#[test]
fn a_fault_that_passes_leaves_no_trace_in_the_verdict() {
    let undisturbed = undisturbed();
    for (fault, way, _) in FAULTS.iter().filter(|(_, _, n_requests)| *n_requests == 2) {
        let endpoint = Endpoint::start(script().fault_if(When::FirstOfEach(1), is_first_turn, fault.clone()));
        assert_eq!(judged_within(timeout(fault), &endpoint, *way), undisturbed, "{fault:?} {way:?}");
        assert_eq!(endpoint.stats().requests, 2 * ROWS as u64, "{fault:?} {way:?}");
    }
}

/// The first time a judge is asked, before anything is said about its reply.
fn is_first_turn(request: &Request) -> bool {
    request.conversation.len() == 1
}

#[test]
fn an_endpoint_that_is_not_there_is_an_error() {
    let endpoint = Endpoint::start(script());
    let url = endpoint.url();
    drop(endpoint);
    let project = Project::new(SUITE, &rows(2), &url);
    let ended = project.results(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains(&format!("no connection to {url}")), "{}", ended.stdout);
}

/// A fault is not stored for other runs: once the endpoint is well, the same command reaches its end. Nor is a reply that cannot be used, such as
/// a judge's refusal.
#[test]
fn faults_are_asked_again_by_the_next_run() {
    for (fault, n_faults) in [(Fault::status(500), 12), (Fault::Refusal, 6)] {
        let endpoint = Endpoint::start(script().fault(When::First(n_faults), fault.clone()));
        let project = Project::new(SUITE, &rows(ROWS), &endpoint.url());
        assert_eq!(project.results(&[]).code, Some(3), "{fault:?}");
        endpoint.reset();
        assert_eq!(project.results(&[]).code, Some(1), "{fault:?}");
        assert_eq!(endpoint.stats().requests, 6, "{fault:?}");
    }
}

/// Retries have a place in a run: it waits for what the endpoint asked for, and no longer.
#[test]
fn a_wait_that_is_asked_for_is_waited() {
    let fault = Fault::rate_limited(RetryAfter::Seconds(1));
    let endpoint = Endpoint::start(script().fault(When::First(1), fault));
    let started = std::time::Instant::now();
    let (code, _) = judged(&endpoint, Way::Whole);
    assert_eq!(code, Some(1));
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

const WORDS: &str = "
suite: words
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - { id: is, judge: { prompt: 'polite? ${answer}', max_retries: 1 }, operator: equals, expected_value: 'yes' }
  - { id: is_not, judge: { prompt: 'rude? ${answer}', max_retries: 1 }, operator: not_equal, expected_value: 'yes' }
  - { id: measured, judge: { prompt: 'what is it? ${answer}', max_retries: 1 } }
  - { id: number, judge: { prompt: 'how good? ${answer}', max_retries: 1 }, operator: greater_than, expected_value: 3 }
";

/// A judge without `output` that says nothing, is cut off or calls a tool has not judged.
#[test]
fn what_is_no_reply_of_a_judge_of_words_is_an_error() {
    for (what, reply) in [
        ("empty", Reply::text("")),
        ("blank", Reply::text(" \n\t")),
        ("cut off", Reply::text("4").cut_off()),
        ("cut off before its first word", Reply::text("").cut_off()),
        ("a call", Reply::calls([("search", json!({}))])),
    ] {
        let endpoint = Endpoint::start(Script::answering(move |_| reply.clone()));
        let project = Project::new(WORDS, &rows(2), &endpoint.url());
        let ended = project.results(&[]);
        assert_eq!(ended.code, Some(3), "{what}: {} {}", ended.stdout, ended.stderr);
        let results: Value = serde_json::from_str(&ended.stdout).expect("results");
        for case in results["results"]["cases"].as_array().expect("results have cases") {
            let verdicts: Vec<&str> =
                case["tasks"].as_array().expect("tasks").iter().filter_map(|it| it["verdict"].as_str()).collect();
            assert_eq!(verdicts, ["error"; 4], "{what}: {}", ended.stdout);
        }
    }
}
