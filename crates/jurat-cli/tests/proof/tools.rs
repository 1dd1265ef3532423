//! Tools: what a conversation has called decides whether it can resume in the middle.

use std::fs;
use std::path::Path;

use jurat_testkit::tools::program;
use jurat_testkit::{Endpoint, Reply, Request, Script};
use serde_json::json;

use crate::project::{Project, RESULTS, timeless};
use crate::replays::assert_replays;

/// Two turns, each of which calls a tool.
fn suite(server: &str, log: &Path) -> String {
    let (program, log) = (program().display(), log.display());
    format!(
        "
suite: calling
tools: {{ kit: {{ command: ['{program}', --log, '{log}'], {server} }} }}
models: {{ subject: openai/subject }}
scenarios:
  count:
    tools: [kit]
    entry: one
    nodes: {{ one: {{ question: Remember one. }}, two: {{ question: Remember two. }}, none: {{ question: Remember three., tool_filter: {{ remove: [{{ server: kit, tool: remember }}] }} }} }}
    edges: [{{ from: one, to: two }}, {{ from: two, to: none }}]
    outcomes:
      counted: {{ cel: 'result.history[1].tool_calls[0].output == \"2\"' }}
      refused: {{ cel: 'result.history[2].tool_calls[0].is_error' }}
      said: {{ last_turn: {{ raw_response: said }} }}
"
    )
}

/// Calls a tool once in each turn, then says something.
fn subject() -> Script {
    Script::answering(|request: &Request| {
        let last = request.conversation.last().map(|(role, _)| role.as_str());
        match last {
            Some("user") => Reply::calls([("remember", json!({ "text": request.prompt.clone() }))]),
            _ => Reply::text("said"),
        }
    })
}

/// How often the servers were started, and their tools called.
fn used(log: &Path) -> (usize, usize) {
    let log = fs::read_to_string(log).unwrap_or_default();
    let n = |what: &str| log.lines().filter(|it| it.starts_with(what)).count();
    (n("start"), n("tools/call"))
}

#[test]
fn tools_are_called_recorded_and_replayed_without_their_server() {
    let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
    let log = folder.path().join("kit.log");
    let endpoint = Endpoint::start(subject().keep_requests());
    let project = Project::new(&suite("per_case: true", &log), "", &endpoint.url());
    let ended = project.results(&["--keep", "all"]);
    assert_eq!(ended.code, Some(0), "{} {}", ended.stdout, ended.stderr);
    assert_eq!(used(&log), (1, 2), "what is removed is not called");
    let offered: Vec<bool> =
        endpoint.requests().iter().map(|it| it.tools.iter().any(|tool| tool.name == "remember")).collect();
    assert_eq!(offered, [true, true, true, true, false, false], "nor offered");
    drop(endpoint);
    assert_replays(&project, &project.only_run(), &ended, &["--keep", "all"]);
    assert_eq!(used(&log), (1, 2), "a replay starts no server");
    let shown = project.jurat(&["show"]);
    assert!(shown.stdout.contains(" for 6 requests with "), "{}", shown.stdout);
    let shown = project.run(&["--replay", "latest"]);
    let reused = ["6 of 6 responses reused", "; 2 tool calls, 2 reused"];
    assert!(reused.iter().all(|it| shown.stdout.contains(it)), "{}", shown.stdout);
}

/// Kills a run in its second turn and resumes it. What the server had remembered is gone with it.
#[test]
fn whether_an_interrupted_conversation_begins_again_is_for_its_tools_to_say() {
    for (server, n_calls) in [("per_case: true", 3), ("per_case: true, reuse: true", 2)] {
        let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
        let log = folder.path().join("kit.log");
        let endpoint = Endpoint::start(subject().held());
        let project = Project::new(&suite(server, &log), "", &endpoint.url());
        let mut child = project.start(&[&["--quiet"], RESULTS].concat());
        // The first turn is over; the second asks, and waits.
        endpoint.release(2);
        endpoint.wait_until(|it| it.requests == 3);
        child.kill().expect("our own child can be killed");
        child.wait().expect("a child that was killed ends");
        assert_eq!(used(&log), (1, 1));
        endpoint.release_all();
        let ended = project.results(&[]);
        // A tool whose results may be taken over is not called again for the first turn; one whose results may not starts from the beginning.
        assert_eq!(used(&log), (2, n_calls), "{server}");
        assert_eq!(endpoint.stats().requests, 7, "{server}: only what was in flight is asked again");
        if n_calls == 3 {
            assert_eq!(ended.code, Some(0), "{} {}", ended.stdout, ended.stderr);
            let undisturbed = Endpoint::start(subject());
            let other = Project::new(&suite(server, &folder.path().join("other.log")), "", &undisturbed.url());
            let expected = other.results(&[]);
            // The suites differ in where their servers write.
            let cases = |results: &str| timeless(&results[results.find("\"cases\":[\n").expect("there are cases")..]);
            assert_eq!(cases(&ended.stdout), cases(&expected.stdout));
        }
        assert_replays(&project, &project.only_run(), &ended, &[]);
    }
}

/// A question about each row, for which a tool is called twice before it is answered.
fn asking(server: &str, log: &Path) -> String {
    let (program, log) = (program().display(), log.display());
    format!(
        "
suite: asking
tools: {{ kit: {{ command: ['{program}', --log, '{log}'], {server} }} }}
models: {{ subject: {{ model: openai/subject, price: {{ input: 1, output: 2 }}, max_tokens: 100 }} }}
records: rows.jsonl
ask: {{ prompt: 'Remember ${{word}}.', tools: [kit] }}
tasks:
  - {{ id: called, field_path: 'tool_calls[*].name', operator: has_length_equal, expected_value: 2 }}
  - {{ id: said, field_path: output, operator: equals, expected_value: said }}
"
    )
}

/// Calls a tool twice, then says something.
fn asked() -> Script {
    Script::answering(|request: &Request| {
        let n_returned = request.conversation.iter().filter(|(role, _)| role == "tool").count();
        match n_returned {
            0 | 1 => Reply::calls([("remember", json!({ "text": n_returned }))]),
            _ => Reply::text("said"),
        }
    })
}

fn words(n: usize) -> String {
    (0..n).map(|ix| format!("{{\"id\": \"r{ix}\", \"word\": \"{ix}\"}}\n")).collect()
}

#[test]
fn rows_are_asked_about_with_tools_recorded_and_replayed_without_their_server() {
    let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
    let log = folder.path().join("kit.log");
    let endpoint = Endpoint::start(asked().keep_requests());
    let project = Project::new(&asking("per_case: true", &log), &words(5), &endpoint.url());
    let ended = project.results(&[]);
    assert_eq!(ended.code, Some(0), "{} {}", ended.stdout, ended.stderr);
    assert_eq!(used(&log), (5, 10), "each row has a server of its own");
    assert!(endpoint.requests().iter().all(|it| it.tools.iter().any(|tool| tool.name == "remember")));
    assert_eq!(endpoint.stats().requests, 15);
    // Another run pays for nothing: what tools return is the same, so the questions are.
    let shown = project.run(&[]);
    assert!(shown.stdout.contains("15 of 15 responses reused"), "{}", shown.stdout);
    assert_eq!((endpoint.stats().requests, used(&log)), (15, (10, 20)), "tools are called anew");
    drop(endpoint);
    assert_replays(&project, &project.runs()[0], &ended, &[]);
    assert_eq!(used(&log), (10, 20), "a replay starts no server");
}

/// Kills a run before the answer to what a tool returned, and resumes it.
#[test]
fn whether_an_interrupted_row_begins_again_is_for_its_tools_to_say() {
    for (server, n_calls) in [("per_case: true", 3), ("per_case: true, reuse: true", 2)] {
        let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
        let log = folder.path().join("kit.log");
        let endpoint = Endpoint::start(asked().held());
        let project = Project::new(&asking(server, &log), &words(1), &endpoint.url());
        let mut child = project.start(&[&["--quiet"], RESULTS].concat());
        endpoint.release(1);
        endpoint.wait_until(|it| it.requests == 2);
        child.kill().expect("our own child can be killed");
        child.wait().expect("a child that was killed ends");
        assert_eq!(used(&log), (1, 1));
        endpoint.release_all();
        let ended = project.results(&[]);
        assert_eq!(ended.code, Some(0), "{} {}", ended.stdout, ended.stderr);
        assert_eq!(used(&log), (2, n_calls), "{server}");
        assert_eq!(endpoint.stats().requests, 4, "{server}: only what was in flight is asked again");
        assert_replays(&project, &project.only_run(), &ended, &[]);
        // Once all of it is written down, no model is asked and no tool is called.
        let again = project.jurat(&["show", "--json", "--results-only"]);
        assert_eq!(again.stdout, ended.stdout, "{server}");
    }
}

#[test]
fn a_budget_holds_in_the_middle_of_an_answer() {
    let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
    let log = folder.path().join("kit.log");
    for budget in [["--budget-calls", "2"], ["--budget-usd", "0.0009"]] {
        let endpoint = Endpoint::start(asked());
        let project = Project::new(&asking("per_case: true", &log), &words(1), &endpoint.url());
        let ended = project.results(&budget);
        assert_eq!(ended.code, Some(4), "{budget:?} {} {}", ended.stdout, ended.stderr);
        assert!(endpoint.stats().requests <= 2, "{budget:?}");
        let shown = project.jurat(&["explain", "r0", "said"]);
        assert!(
            shown.stdout.starts_with("said of r0: not run\nthe rest of the budget does not cover it\n"),
            "{budget:?} {}",
            shown.stdout
        );
        assert_replays(&project, &project.only_run(), &ended, &[]);
    }
}
