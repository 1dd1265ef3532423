//! Runs that are about more than their report: order, limits, and what is done without.

use std::fmt::Write;

use jurat_format::value::{Val, parse_json};

use crate::command::Folder;

const SUITE: &str = "suite: many\nrecords: rows.jsonl\ntasks:\n  - { id: even, field_path: n, operator: matches, expected_value: '[02468]$' }\n";

fn rows(n: usize) -> String {
    let mut rows = String::new();
    for ix in 0..n {
        // Rows of very different lengths, so that some chunks take longer than others.
        let _ = writeln!(rows, "{{\"id\": \"r{ix}\", \"n\": \"{ix}\", \"text\": \"{}\"}}", "x".repeat(ix % 97));
    }
    rows
}

#[test]
fn results_come_in_the_order_of_input() {
    let n = 40_000;
    let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows(n));
    let ended = folder.jurat(&["run", "suite.yaml", "--json", "-j", "4"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let report = parse_json(&ended.stdout).unwrap_or_else(|error| panic!("{error}")).value;
    let results = report.get("results").expect("results");
    let cases = results.get("cases").and_then(Val::as_list).expect("a list of cases");
    assert_eq!(cases.len(), n);
    for (ix, case) in cases.iter().enumerate() {
        assert_eq!(case.get("id").and_then(Val::as_str), Some(format!("r{ix}").as_str()));
        let verdict = if ix % 2 == 0 { "passed" } else { "failed" };
        assert_eq!(case.get("verdict").and_then(Val::as_str), Some(verdict), "r{ix}");
    }
    assert_eq!(results.get("counts").and_then(|it| it.get("pass_rate")), Some(&Val::F(0.5)));
}

#[test]
fn a_limit_ends_a_run_early() {
    let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows(40_000));
    let ended = folder.jurat(&["run", "suite.yaml", "--limit", "3", "-j", "2", "--results-only"]);
    let last = "failed: 1 of 3 counted task results failed, in 1 of 3 cases";
    assert!(ended.stdout.lines().any(|it| it == last), "{ended:?}");
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows(5_000));
    let json = |threads: &str| folder.jurat(&["run", "suite.yaml", "--json", "--results-only", "-j", threads]).stdout;
    assert!(json("1") == json("8"), "one thread and eight differ");
}

#[test]
fn what_cannot_be_asked_is_said_before_anything_runs() {
    let suite = "records: [{ id: a, answer: Paid. }]\nmodels: { judge: openai/gpt-5-mini }\ntasks:\n  - { id: tone, judge: { prompt: 'Rate ${answer}' } , operator: contains, expected_value: polite }\n";
    let folder = Folder::with("suite.yaml", suite).and("bad.jsonl", "{\"reply\": 1, \"times\": -1}");
    for (arguments, message) in [
        (
            vec!["run", "suite.yaml"],
            "`openai/gpt-5-mini` needs a key: set `OPENAI_API_KEY` in the environment, or in `.env`",
        ),
        (
            vec!["run", "suite.yaml", "--model", "judge=script/none.jsonl"],
            "the script `none.jsonl` cannot be opened: there is no such file",
        ),
        (
            vec!["run", "suite.yaml", "--model", "judge=script/bad.jsonl"],
            "the script `bad.jsonl` cannot be read: line 1: `times` is a number of at least 1, or \"*\"",
        ),
    ] {
        let ended = folder.jurat(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let (code, said) = ended.stderr.lines().next().and_then(|it| it.split_once("]: ")).expect("it has a code");
        assert!(code.starts_with("error[run::") && said == message, "{}", ended.stderr);
    }
}

#[test]
fn a_first_row_that_is_too_long_to_sample_is_run() {
    let row = format!("{{\"id\": \"a\", \"ok\": true, \"text\": \"{}\"}}\n", "x".repeat(9 << 20));
    let suite = "suite: long\nrecords: rows.jsonl\ntasks: [{ id: fine, field_path: ok, operator: equals, expected_value: true }]\n";
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", row);
    assert_eq!(folder.jurat(&["check", "suite.yaml"]).code, Some(0));
    assert_eq!(folder.jurat(&["run", "suite.yaml", "-q"]).code, Some(0));
}
