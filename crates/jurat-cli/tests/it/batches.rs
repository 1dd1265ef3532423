//! `jurat run --batch`, as a user meets it.

use std::process::Stdio;

use jurat_testkit::{BatchFault, BatchScript, Endpoint, Fault, Reply, Request, Script, When};

use crate::command::{Ended, Folder, ended};

/// Rows that a subject is asked about and a judge rates: what the judge is asked depends on the answer.
const SUITE: &str = "suite: greetings
records: rows.jsonl
models:
  subject: { model: openai/gpt-x, max_tokens: 50, price: { input: 1, output: 4 } }
  judge: { model: anthropic/claude-x, max_tokens: 50, price: { input: 2, output: 8 } }
ask: { prompt: 'Greet ${name}' }
tasks:
  - { id: tone, judge: { prompt: 'Rate ${output}', max_retries: 1 }, operator: contains, expected_value: polite }
";

fn answer(request: &Request) -> Reply {
    match request.prompt.strip_prefix("Greet ") {
        Some(name) => Reply::text(format!("Hello, {name}!")),
        None => Reply::text("polite"),
    }
}

fn endpoint(batches: BatchScript) -> Endpoint {
    Endpoint::start(Script::answering(answer).batches(batches).keep_requests())
}

fn folder(endpoint: &Endpoint, n_rows: usize) -> Folder {
    let rows: String = (0..n_rows).map(|it| format!("{{\"id\": \"r{it}\", \"name\": \"n{it}\"}}\n")).collect();
    let url = endpoint.url();
    let keys = format!(
        "OPENAI_BASE_URL={url}\nANTHROPIC_BASE_URL={url}\nOPENAI_API_KEY=sk-openai-0\nANTHROPIC_API_KEY=sk-anthropic-0\n"
    );
    Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows).and(".env", keys)
}

fn run(folder: &Folder, arguments: &[&str]) -> Ended {
    ended(folder.command().args(["run", "suite.yaml"]).args(arguments))
}

const BATCH: [&str; 3] = ["--batch", "--batch-poll", "0s"];

/// The line of a report that says what the run cost.
fn spent(ended: &Ended) -> String {
    let line = ended.stdout.lines().find(|it| it.contains('$'));
    line.unwrap_or_else(|| panic!("no cost in {}{}", ended.stdout, ended.stderr)).to_owned()
}

#[test]
fn what_depends_on_a_response_is_in_the_next_batch() {
    let endpoint = endpoint(BatchScript::new().polls(2));
    let ran = run(&folder(&endpoint, 300), &BATCH);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let stats = endpoint.stats();
    // One batch of questions, and one of their answers.
    assert_eq!((stats.batches, stats.requests, stats.most_repeats()), (2, 600, 1));
    assert!(ran.stdout.contains("at half the price"), "{}", ran.stdout);
}

#[test]
fn a_response_is_reused_however_it_came() {
    let endpoint = endpoint(BatchScript::new());
    let folder = folder(&endpoint, 5);
    let batched = run(&folder, &BATCH);
    assert_eq!((batched.code, endpoint.stats().requests), (Some(0), 10), "{}", batched.stderr);
    let single = run(&folder, &[]);
    assert_eq!((single.code, endpoint.stats().requests), (Some(0), 10), "{}", single.stderr);
    let again = run(&folder, &["--fresh"]);
    assert_eq!((again.code, endpoint.stats().requests), (Some(0), 20));
    let batched_again = run(&folder, &BATCH);
    let stats = endpoint.stats();
    assert_eq!((batched_again.code, stats.requests, stats.batches), (Some(0), 20, 2), "{}", batched_again.stderr);
    // What was asked for one by one costs twice as much.
    assert_ne!(spent(&batched), spent(&again));
}

#[test]
fn a_run_that_was_killed_collects_what_it_submitted() {
    let endpoint = endpoint(BatchScript::new().held());
    let folder = folder(&endpoint, 20);
    let mut command = folder.command();
    command.args(["run", "suite.yaml"]).args(BATCH).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    endpoint.wait_until(|it| it.polls > 3);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(endpoint.stats().batches, 1);
    endpoint.release_batches();
    let resumed = run(&folder, &BATCH);
    assert_eq!(resumed.code, Some(0), "{}{}", resumed.stdout, resumed.stderr);
    let stats = endpoint.stats();
    assert_eq!((stats.batches, stats.requests, stats.most_repeats()), (2, 40, 1), "nothing was asked twice");
    let left = std::fs::read_dir(folder.path().join(".jurat/batches")).expect("the directory is there").count();
    assert_eq!(left, 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_batches_with_the_provider_and_says_how_to_collect_them() {
    let endpoint = endpoint(BatchScript::new().held());
    let folder = folder(&endpoint, 4);
    let mut command = folder.command();
    command.args(["run", "suite.yaml"]).args(BATCH).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    endpoint.wait_until(|it| it.polls > 3);
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|it| it.success()));
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let said = "1 batch stays with the provider. To collect the results: jurat run suite.yaml --batch --batch-poll 0s";
    assert!(stderr.contains(said), "{stderr}");
    endpoint.release_batches();
    let resumed = run(&folder, &BATCH);
    assert_eq!((resumed.code, endpoint.stats().batches), (Some(0), 2), "{}{}", resumed.stdout, resumed.stderr);
}

#[test]
fn a_failure_in_a_batch_is_an_error_and_never_a_verdict() {
    let refusing = Script::answering(answer).fault_if(
        When::Always,
        |it| it.prompt.ends_with("n1"),
        Fault::Status { status: 400, retry_after: None },
    );
    let cases = [
        (Script::answering(answer).batches(BatchScript::new().fault(9, BatchFault::Invalid)), 3),
        (Script::answering(answer).batches(BatchScript::new().fault(9, BatchFault::Cancelled)), 2),
        // What expired is processed in the next batch.
        (Script::answering(answer).batches(BatchScript::new().fault(99, BatchFault::Expired)), 0),
        (refusing, 1),
    ];
    for (ix, (script, n_errors)) in cases.into_iter().enumerate() {
        let endpoint = Endpoint::start(script);
        let ran = run(&folder(&endpoint, 3), &[BATCH.as_slice(), &["--format", "json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let counts = &report["results"]["case_counts"];
        assert_eq!(counts["error"], n_errors, "case {ix}: {counts}");
        assert_eq!(counts["failed"], 0, "case {ix}");
    }
}

#[test]
fn a_model_without_batches_is_asked_one_by_one_and_the_run_says_so() {
    let endpoint = endpoint(BatchScript::new());
    let suite = SUITE.replace("anthropic/claude-x", "ollama/m");
    let keys = format!("OPENAI_BASE_URL={url}\nOLLAMA_HOST={url}\nOPENAI_API_KEY=sk-openai-0\n", url = endpoint.url());
    let folder = folder(&endpoint, 3).and("suite.yaml", &suite).and(".env", keys);
    let ran = run(&folder, &BATCH);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no batches for `ollama/m`: its requests are sent one by one"), "{}", ran.stderr);
    assert_eq!((endpoint.stats().batches, endpoint.stats().requests), (1, 6));
    let none = suite.replace("openai/gpt-x", "ollama/n");
    let ran = run(&folder.and("suite.yaml", none), &BATCH);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("this suite asks none of them: it asks `ollama/m` and `ollama/n`"), "{}", ran.stderr);
}

#[test]
fn the_latency_of_a_batch_is_not_known() {
    let endpoint = endpoint(BatchScript::new());
    let suite =
        format!("{SUITE}  - {{ id: quick, field_path: latency_ms, operator: less_than, expected_value: 5000 }}\n");
    let folder = folder(&endpoint, 1).and("suite.yaml", suite);
    let single = run(&folder, &["--tasks"]);
    assert_eq!(single.code, Some(0), "{}", single.stdout);
    let batched = run(&folder, &[BATCH.as_slice(), &["--fresh", "--tasks"]].concat());
    assert_ne!(batched.code, Some(0), "{}", batched.stdout);
    assert!(batched.stdout.contains("latency_ms"), "{}", batched.stdout);
}
