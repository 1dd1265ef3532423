//! `jurat gate`: three verdicts, and what each ends with.

use std::fs;

use serde_json::Value;

use crate::command::Folder;

const SUITE: &str = "suite: invoices
records: rows.jsonl
tasks: [{ id: paid, field_path: status, operator: equals, expected_value: paid }]
";

/// A folder with a run of rows, the given number of them paid, and its baseline.
fn with_run(folder: Folder, n: usize, n_paid: usize) -> Folder {
    let row = |it: usize| {
        let status = if it < n_paid { "paid" } else { "open" };
        let tags = if it == 0 { ",\"tags\":[\"critical\"]" } else { "" };
        format!("{{\"id\":\"r{it}\",\"status\":\"{status}\"{tags}}}\n")
    };
    let folder = folder.and("suite.yaml", SUITE).and("rows.jsonl", (0..n).map(row).collect::<String>());
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    folder
}

#[track_caller]
fn verdict(folder: &Folder, conditions: &str, arguments: &[&str], code: i32, said: &str) {
    fs::write(folder.path().join("policy.yaml"), format!("conditions: [{conditions}]\n"))
        .expect("files can be written");
    let ended = folder.jurat(&[&["gate", "latest", "--policy", "policy.yaml"], arguments].concat());
    assert_eq!(ended.code, Some(code), "{conditions}\n{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains(said) || ended.stderr.contains(said),
        "{conditions}\n{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn a_gate_has_three_verdicts() {
    let folder = with_run(Folder::empty(), 100, 95);
    verdict(&folder, "{ id: rate, at_least: 0.8 }", &[], 0, "pass: 1 condition is met");
    verdict(&folder, "{ id: rate, at_least: 0.995 }", &[], 1, "fail: 1 of 1 condition failed");
    verdict(&folder, "{ id: rate, at_least: 0.93 }", &[], 6, "would decide it");
    verdict(&folder, "{ id: rate, at_least: 0.93 }", &["--undecided", "fail"], 1, "undecided: 1 of 1");
    verdict(&folder, "{ id: rate, at_least: 0.93 }", &["--undecided", "pass"], 0, "undecided: 1 of 1");
    verdict(&folder, "{ id: rate, at_least: 0.995, advisory: true }", &[], 6, "there is no condition");
    verdict(&folder, "", &[], 6, "undecided: there is no condition");
    verdict(&folder, "{ id: all, all_pass: true }", &[], 1, "r95, r96, r97 and 2 more failed");
    verdict(&folder, "{ id: first, tag: critical, all_pass: true }", &[], 0, "none of 1");
    verdict(&folder, "{ id: none, tag: absent, all_pass: true }", &[], 6, "it selects no case");
    verdict(&folder, "{ id: faults, errors: { at_most: 0 } }", &[], 0, "0 of 100 (0.0 %)");
    verdict(&folder, "{ id: each, task: '*', at_least: 0.8 }", &[], 0, "each.paid");
    verdict(&folder, "{ id: flips, flaky: { at_most: 0.1 } }", &[], 6, "no case was run more than once");
    verdict(&folder, "{ id: money, cost: { at_most: 0.01 } }", &[], 6, "the cost is not known of any case");
    verdict(&folder, "{ id: same, not_worse: 0.03 }", &[], 6, "it compares with BASE, and there is none");
}

#[test]
fn a_policy_that_is_wrong_is_refused_with_its_place() {
    let folder = with_run(Folder::empty(), 3, 3);
    verdict(&folder, "{ id: a, at_leats: 0.8 }", &[], 2, "did you mean `at_least`?");
    verdict(&folder, "{ id: a }", &[], 2, "a condition says what must hold");
    verdict(&folder, "{ id: a, at_least: 0.8, better: 0.1 }", &[], 2, "one thing that must hold");
    verdict(&folder, "{ id: a, at_least: 0.8, score: true }", &[], 2, "`score` is for `not_worse` and `better`");
    verdict(&folder, "{ id: a, task: none, at_least: 0.8 }", &[], 6, "NEW has no task `none`");
    let ended = folder.jurat(&["gate", "latest"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("has no `gates`"), "{}", ended.stderr);
}

#[test]
fn a_baseline_stands_for_its_run() {
    let folder = with_run(Folder::empty(), 100, 95);
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "main.jsonl"]).code, Some(0));
    let baseline = fs::read_to_string(folder.path().join("main.jsonl")).expect("it is written");
    assert!(!baseline.contains("open"), "it holds no texts of rows");
    let whole = folder.jurat(&["compare", "latest", "latest", "--json", "--results-only"]).stdout;
    let of_baseline = folder.jurat(&["compare", "main.jsonl", "latest", "--json", "--results-only"]).stdout;
    let lines = |text: &str| -> Value {
        let document: Value = serde_json::from_str(text).expect("it is JSON");
        document["comparisons"][0]["lines"].clone()
    };
    assert_eq!(lines(&whole), lines(&of_baseline));

    let worse = with_run(folder, 100, 60);
    verdict(&worse, "{ id: same, not_worse: 0.03 }", &["--base", "main.jsonl"], 1, "fail: `same`: −35.0 points");
    let critical = "{ id: critical, tag: critical, no_new_failures: true }";
    verdict(&worse, critical, &["--base", "main.jsonl"], 0, "none of 1");
    let none = with_run(worse, 100, 0);
    verdict(&none, critical, &["--base", "main.jsonl"], 1, "r0 failed, and passed in BASE");
    fs::write(none.path().join("bad.jsonl"), "{\"id\": 1}\n").expect("files can be written");
    verdict(&none, critical, &["--base", "bad.jsonl"], 2, "`bad.jsonl` is no baseline: line 1");
}

#[test]
fn a_gate_writes_for_programs() {
    let folder = with_run(Folder::empty(), 100, 95);
    fs::write(folder.path().join("policy.yaml"), "conditions: [{ id: a, at_least: 0.93 }, { id: b, at_least: 0.5 }]\n")
        .expect("files can be written");
    let written =
        |arguments: &[&str]| folder.jurat(&[&["gate", "latest", "--policy", "policy.yaml"], arguments].concat()).stdout;
    let json: Value = serde_json::from_str(&written(&["--json"])).expect("it is JSON");
    assert_eq!((&json["verdict"], &json["exit_code"]), (&"undecided".into(), &6.into()));
    assert!(json["conditions"][0]["more"]["rows"].as_u64().is_some_and(|it| it > 0), "{json}");
    let junit = written(&["--format", "junit"]);
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""), "{junit}");
    let junit = written(&["--format", "junit", "--undecided", "fail"]);
    assert!(junit.contains("errors=\"1\" skipped=\"0\""), "{junit}");
    let markdown = written(&["--format", "markdown"]);
    assert!(
        markdown.starts_with("### undecided · <code>invoices</code>\n\n<!-- jurat-gate:invoices -->\n"),
        "{markdown}"
    );
}
