//! A replay gives the same bytes as the run that it replays: elsewhere, without an endpoint, without an environment, at any concurrency,
//! and also when the run had faults, was stopped or was killed.

use std::path::Path;
use std::time::Duration;

use jurat_testkit::{Endpoint, Fault, Reply, Request, Script, Usage, When};
use rustix::process::Signal;
use serde_json::json;

use crate::interrupts::Running;
use crate::project::{Ended, Project, RESULTS};
use crate::suites::rows;

/// Whatever can come before a verdict: subjects, gates that lead past judges, panels, replies that are asked for again, faults.
const MIXED: &str = "
suite: mixed
records: rows.jsonl
group_by: ['tags[0]']
thresholds: { pass_rate: 0.1, tasks: { tone: 0.9 } }
models:
  judge: { model: openai/judge, price: { input: 0.15, output: 0.6 }, max_tokens: 100 }
  second: { model: openai/second }
  subject: [openai/one, openai/two]
ask:
  prompts: { short: 'short: ${answer}', long: 'long: ${answer}' }
  model: subject
  max_retries: 0
tasks:
  - { id: told, field_path: output, operator: contains, expected_value: told, condition: true }
  - id: tone
    depends_on: [told]
    judge: { prompt: 'tone of ${output}', output: { label: { enum: [polite, rude] } }, max_retries: 1, repeat: 2 }
    field_path: label
    operator: equals
    expected_value: polite
  - id: worth
    judge: { prompt: 'worth of ${output}', output: { score: { type: number, minimum: 0, maximum: 1 } }, panel: [judge, second], aggregate: mean, max_retries: 0 }
    field_path: score
    operator: greater_than
    expected_value: 0.4
  - { id: after, depends_on: [worth], field_path: worth.score, operator: less_than, expected_value: 0.9 }
";

const ROWS: usize = 15;

fn script() -> Script {
    let asks = |text: &'static str| move |request: &Request| request.prompt.contains(text);
    Script::answering(|request| {
        let usage = Usage { input: 7 + request.seed() % 13, output: 1 + request.seed() % 7, cached: 1, reasoning: 0 };
        match request.model.as_str() {
            "one" | "two" if request.seed().is_multiple_of(3) => Reply::text(format!("silence on {}", request.prompt)),
            "one" | "two" => Reply::text(format!("told by {}: {}", request.model, request.prompt)),
            _ => Reply::fitting(),
        }
        .usage(usage)
    })
    .fault_if(When::Always, asks("short: answer 5"), Fault::status(500))
    .fault_if(When::Always, asks("worth of told by two: long: answer 7"), Fault::Refusal)
    .fault_if(When::FirstOfEach(1), asks("tone of told by one"), Fault::WrongLabel)
    .reply_if(asks("worth of told by one: long: answer 8"), Reply::json(json!({ "score": "high" })))
    .latency_between(Duration::ZERO, Duration::from_millis(3), 1)
}

fn project(endpoint: &Endpoint) -> Project {
    Project::new(MIXED, &rows(ROWS), &endpoint.url())
}

/// Replays a run where there is nothing but the suite, the rows and the run.
#[track_caller]
pub(crate) fn assert_replays(project: &Project, run: &Path, recorded: &Ended, options: &[&str]) {
    let elsewhere = project.elsewhere(run);
    for concurrency in ["1", "64"] {
        let replayed = elsewhere.results(&[options, &["--replay", "recorded.jurat", "-j", concurrency]].concat());
        assert_eq!(replayed.stderr, "", "-j {concurrency}");
        assert_eq!(replayed.code, recorded.code, "-j {concurrency}");
        assert!(
            replayed.stdout == recorded.stdout,
            "-j {concurrency}: {}",
            differing(&recorded.stdout, &replayed.stdout)
        );
    }
}

/// The first lines that differ.
pub(crate) fn differing(left: &str, right: &str) -> String {
    let lines = left.lines().zip(right.lines()).find(|(left, right)| left != right);
    let (left_n, right_n) = (left.lines().count(), right.lines().count());
    lines.map_or_else(|| format!("{left_n} and {right_n} lines"), |(left, right)| format!("\n{left}\n{right}"))
}

#[test]
fn a_complete_run_with_faults() {
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    let ended = project.results(&["-j", "8"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let verdicts = ["passed", "failed", "skipped", "error"].map(|it| format!("\"verdict\":\"{it}\""));
    assert!(verdicts.iter().all(|it| ended.stdout.contains(it)), "a run with everything in it: {}", ended.stdout);
    let run = project.only_run();
    drop(endpoint);
    assert_replays(&project, &run, &ended, &[]);
    // A run that takes its answers from the journal has the same results, and so has its replay.
    let again = Project::elsewhere(&project, &run);
    let text =
        |options: &[&str]| again.run(&[&["--replay", "recorded.jurat", "--results-only", "--tasks"], options].concat());
    assert_eq!(text(&["-j", "1"]).stdout, text(&["-j", "64"]).stdout);
    let replay_of_replay = again.runs().pop().expect("replays are runs");
    assert_replays(&project, &replay_of_replay, &ended, &[]);
}

#[test]
fn runs_that_were_stopped() {
    let undone = r#""complete":false"#;
    for (options, codes, sign) in [
        (&["--budget-calls", "40"][..], &[4][..], r#""verdict":"not_run""#),
        (&["--timeout", "60ms"], &[4], undone),
        // Whether the first case that ends failed or could not be judged depends on which answer comes first.
        (&["--fail-fast"], &[1, 3], undone),
        (&["--limit", "4"], &[1, 3], r#""complete":true"#),
        (&["--filter", "n % 2 == 0", "--tag", "third"], &[1, 3], r#""complete":true"#),
        (&["--limit", "3", "--repeat", "2"], &[1, 3], r#""replicate":2"#),
    ] {
        let endpoint = Endpoint::start(script().latency(Duration::from_millis(5)));
        let project = project(&endpoint);
        let ended = project.results(&[options, &["-j", "3"]].concat());
        assert!(ended.code.is_some_and(|it| codes.contains(&it)), "{options:?}: {:?} {}", ended.code, ended.stderr);
        assert!(ended.stdout.contains(sign), "{options:?}: {}", ended.stdout);
        drop(endpoint);
        let selection = if options[0].starts_with("--budget") || options[0] == "--timeout" { &[] } else { options };
        assert_replays(&project, &project.only_run(), &ended, selection);
    }
}

#[test]
fn runs_that_were_interrupted() {
    for n_signals in [1, 2] {
        let endpoint = Endpoint::start(script().held());
        let project = project(&endpoint);
        let mut running = Running::start(&project);
        endpoint.release(30);
        endpoint.wait_until(|it| it.requests == 34);
        running.interrupt(Signal::INT);
        if n_signals == 2 {
            running.send(Signal::INT);
        } else {
            endpoint.release_all();
        }
        let ended = running.ended();
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(ended.stdout.contains(r#""verdict":"passed""#), "{}", ended.stdout);
        endpoint.release_all();
        drop(endpoint);
        assert_replays(&project, &project.only_run(), &ended, &[]);
    }
}

#[test]
fn a_run_that_was_killed_and_resumed() {
    let endpoint = Endpoint::start(script().held());
    let project = project(&endpoint);
    let mut child = project.start(&["-j", "4"]);
    endpoint.release(30);
    endpoint.wait_until(|it| it.requests == 34);
    child.kill().expect("our own child can be killed");
    child.wait().expect("a child that was killed ends");
    endpoint.release_all();
    let ended = project.results(&["-j", "8"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    drop(endpoint);
    assert_replays(&project, &project.only_run(), &ended, &[]);
}

/// Rows without requests are judged meanwhile, and a run that was stopped did not reach all of them.
#[test]
fn runs_that_were_stopped_before_all_rows_were_read() {
    const SOME_ASK: &str = "
suite: some-ask
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - { id: is_asked, field_path: 'tags[0]', operator: equals, expected_value: third, condition: true }
  - { id: counted, field_path: n, operator: greater_than, expected_value: 0 }
  - id: tone
    depends_on: [is_asked]
    judge: { prompt: 'tone of ${answer}', output: { label: { enum: [polite, rude] } } }
    field_path: label
    operator: equals
    expected_value: polite
";
    const NONE_ASKS: &str = "
suite: none-asks
records: rows.jsonl
tasks: [{ id: counted, field_path: n, operator: greater_than, expected_value: 10 }]
";
    // One row of three asks: reading waits for those, so that it cannot reach the end before the first of them fails.
    for suite in [SOME_ASK, NONE_ASKS] {
        let endpoint = Endpoint::start(Script::new());
        // Longer than what is read at a time, several times over.
        let padding = format!("\"padding\": \"{}\", \"answer\"", "x".repeat(1000));
        let project = Project::new(suite, &rows(6_000).replace("\"answer\"", &padding), &endpoint.url());
        let ended = project.results(&["--fail-fast", "-j", "2"]);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let n_cases = ended.stdout.lines().count();
        assert!(n_cases < 5_000, "{n_cases} cases are too many to say that it was stopped");
        drop(endpoint);
        assert_replays(&project, &project.only_run(), &ended, &[]);
    }
}

/// A recording of another question is no recording: it says so instead of asking, and instead of taking what is there.
#[test]
fn what_was_not_recorded_is_an_error() {
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    project.run(RESULTS);
    let elsewhere = project.elsewhere(&project.only_run());
    elsewhere.write("suite.yaml", &MIXED.replace("tone of", "the tone of"));
    let replayed = elsewhere.results(&["--replay", "recorded.jurat"]);
    assert_eq!(replayed.code, Some(3), "{}", replayed.stderr);
    let shown = "diverged at task `tone` of `r4 / long / openai/one`: the recording has another request there";
    assert!(replayed.stdout.contains(shown), "{}", replayed.stdout);
    elsewhere.write("suite.yaml", MIXED);
    elsewhere.write("rows.jsonl", &rows(ROWS + 1));
    let replayed = elsewhere.results(&["--replay", "recorded.jurat"]);
    assert!(
        replayed.stdout.contains("of `r16 / short / openai/one`: the recording has nothing there"),
        "{}",
        replayed.stdout
    );
}
