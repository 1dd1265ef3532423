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
    verdict(&folder, "{ id: a, not_worse: 3 }", &[], 2, "3 percentage points are `not_worse: 0.03`");
    verdict(&folder, "{ id: a, not_worse: 1 }", &[], 2, "1 percentage point is `not_worse: 0.01`");
    verdict(&folder, "{ id: a, better: 1 }", &[], 2, "1 percentage point is `better: 0.01`");
    verdict(&folder, "{ id: a, task: none, at_least: 0.8 }", &[], 6, "NEW has no task `none`");
    let ended = folder.jurat(&["gate", "latest"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("has no `gates`"), "{}", ended.stderr);
}

/// A folder with the baseline `main.jsonl` of 100 rows that passed, and a latest run over rows as they are afterwards, by this task.
fn changed(before: impl Fn(usize) -> String, after: impl Fn(usize) -> Option<String>, task: &str) -> Folder {
    changed_tasks(before, after, (GOOD, task))
}

fn changed_tasks(
    before: impl Fn(usize) -> String,
    after: impl Fn(usize) -> Option<String>,
    tasks: (&str, &str),
) -> Folder {
    let suite = |tasks: &str| format!("suite: answers\nrecords: rows.jsonl\nquestion: [q]\ntasks: [{tasks}]\n");
    let lines =
        |row: &dyn Fn(usize) -> Option<String>| (0..100).filter_map(row).map(|it| it + "\n").collect::<String>();
    let folder = Folder::with("suite.yaml", suite(tasks.0)).and("rows.jsonl", lines(&|it| Some(before(it))));
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "main.jsonl"]).code, Some(0));
    let folder = folder.and("suite.yaml", suite(tasks.1)).and("rows.jsonl", lines(&after));
    assert!(matches!(folder.jurat(&["run", "suite.yaml"]).code, Some(0 | 1 | 3)));
    folder
}

const GOOD: &str = "{ id: good, field_path: a, operator: equals, expected_value: good }";

fn good(it: usize) -> String {
    row(it, "good")
}

fn row(it: usize, answer: &str) -> String {
    format!("{{\"id\":\"r{it}\",\"q\":\"q{it}\",\"a\":\"{answer}\"}}")
}

fn nameless_row(it: usize, answer: &str) -> String {
    format!("{{\"q\":\"q{it}\",\"a\":\"{answer}\"}}")
}

/// The answer of every fourth row got worse.
fn answer(it: usize) -> &'static str {
    if it.is_multiple_of(4) { "bad" } else { "good" }
}

const MARGIN: &str = "{ id: same, not_worse: 0.03 }";
const NO_NEW: &str = "{ id: none, no_new_failures: true }";
const BASE: [&str; 2] = ["--base", "main.jsonl"];

#[test]
fn rows_that_are_not_compared_leave_a_gate_undecided() {
    let nameless = changed(|it| nameless_row(it, "good"), |it| Some(nameless_row(it, answer(it))), GOOD);
    for condition in [MARGIN, NO_NEW] {
        verdict(&nameless, condition, &BASE, 6, "NEW does not have 25 of 100 rows of BASE: rows without an `id`");
    }
    let some = changed(good, |it| (answer(it) == "good").then(|| good(it)), GOOD);
    verdict(&some, MARGIN, &BASE, 6, "NEW does not have 25 of 100 rows of BASE: run the same rows");
    verdict(&some, "{ id: same, not_worse: 0.1, allow: [rows] }", &BASE, 0, "pass: 1 condition is met");
    let few = changed(good, |it| (it != 7).then(|| good(it)), GOOD);
    verdict(&few, "{ id: same, not_worse: 0.1 }", &BASE, 0, "and 1 of 100 rows of BASE is not compared");
    // Each row counts there, and the one that is missing may be the one that fails now.
    verdict(&few, NO_NEW, &BASE, 6, "NEW does not have 1 of 100 rows of BASE: run the same rows");
    // The first row has an id, and those that changed have none.
    let mixed = |it: usize, answer: &str| if it == 0 { row(it, "good") } else { nameless_row(it, answer) };
    let mixed = changed(|it| mixed(it, "good"), |it| Some(mixed(it, if it < 4 { "bad" } else { "good" })), GOOD);
    verdict(&mixed, MARGIN, &BASE, 6, "NEW does not have 3 of 100 rows of BASE: rows without an `id`");
}

/// Two rows of a hundred are critical.
fn tagged(it: usize, answer: &str) -> String {
    let tags = if it < 2 { ",\"tags\":[\"critical\"]" } else { "" };
    format!("{{\"id\":\"r{it}\",\"q\":\"q{it}\",\"a\":\"{answer}\"{tags}}}")
}

#[test]
fn rows_that_a_condition_selects_in_base_are_not_lost_in_silence() {
    const CRITICAL: &str = "{ id: critical, tag: critical, no_new_failures: true }";
    const RATE: &str = "{ id: critical, tag: critical, not_worse: 0.9 }";
    let good = |it: usize| tagged(it, "good");
    let same = changed(good, |it| Some(good(it)), GOOD);
    verdict(&same, CRITICAL, &BASE, 0, "pass: 1 condition is met");
    let removed = changed(good, |it| (it != 0).then(|| good(it)), GOOD);
    let untagged = changed(good, |it| Some(if it == 0 { row(it, "bad") } else { good(it) }), GOOD);
    let other = "{\"id\":\"r0\",\"q\":\"another\",\"a\":\"bad\",\"tags\":[\"critical\"]}";
    let edited = changed(good, |it| Some(if it == 0 { other.to_owned() } else { good(it) }), GOOD);
    for condition in [CRITICAL, RATE] {
        verdict(&removed, condition, &BASE, 6, "NEW does not have 1 of 2 rows of BASE that it selects");
        verdict(&untagged, condition, &BASE, 6, "1 of 2 rows of BASE that it selects do not have its tag or value");
        verdict(&edited, condition, &BASE, 6, "1 of 2 rows of BASE that it selects have another content in NEW");
    }
    verdict(&removed, "{ id: critical, tag: critical, no_new_failures: true, allow: [rows] }", &BASE, 0, "none of 1");
}

#[test]
fn a_run_that_stopped_early_lost_the_rows_that_its_data_does_not_have() {
    let gates = "gates: { conditions: [{ id: same, not_worse: 0.3 }] }\n";
    let suite = format!("suite: answers\nrecords: rows.jsonl\nquestion: [q]\ntasks: [{GOOD}]\n{gates}");
    let rows = |row: &dyn Fn(usize) -> Option<String>| (0..400).filter_map(row).map(|it| it + "\n").collect::<String>();
    let stopped = |row: &dyn Fn(usize) -> Option<String>| {
        let folder = Folder::with("suite.yaml", suite.as_str()).and("rows.jsonl", rows(&|it| Some(good(it))));
        assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
        assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "main.jsonl"]).code, Some(0));
        let folder = folder.and("rows.jsonl", rows(row));
        folder.jurat(&["run", "suite.yaml", "--seed", "5", "--gate", "--stop-when", "decided", "--base", "main.jsonl"])
    };
    let whole = stopped(&|it| Some(good(it)));
    assert_eq!(whole.code, Some(0), "{}{}", whole.stdout, whole.stderr);
    assert!(whole.stdout.contains("of 400 rows"), "{}", whole.stdout);
    let without = stopped(&|it| (answer(it) == "good").then(|| good(it)));
    assert_eq!(without.code, Some(6), "{}{}", without.stdout, without.stderr);
    assert!(without.stdout.contains("did not have 100 of 400 rows of BASE"), "{}", without.stdout);
}

#[test]
fn a_gate_on_a_part_of_the_rows_says_so() {
    let folder = with_run(Folder::empty(), 100, 95);
    for arguments in [["--filter", "status == \"paid\""], ["--limit", "90"], ["--tag", "critical"]] {
        let ended = folder.jurat(&[&["run", "suite.yaml"][..], &arguments].concat());
        let selected = format!("{} {}", arguments[0], arguments[1]);
        assert!(
            ended.stdout.contains(&format!("only a part of the rows was selected: `{selected}`")),
            "{}",
            ended.stdout
        );
        verdict(&folder, "{ id: all, all_pass: true }", &[], 0, &format!("of a part of the rows (`{selected}`)"));
    }
}

#[test]
fn a_task_rests_on_the_tasks_that_it_reads() {
    let group = "{ id: any, group: { any: [good] } }";
    let before = format!("{GOOD}, {group}");
    let after = format!("{{ id: good, field_path: a, operator: is_not_empty }}, {group}");
    let folder = changed_tasks(good, |it| Some(row(it, answer(it))), (&before, &after));
    let condition = "{ id: group, task: any, no_new_failures: true }";
    verdict(&folder, condition, &BASE, 6, "the task changed");
    verdict(&folder, "{ id: group, task: any, no_new_failures: true, allow: [task] }", &BASE, 0, "none of 100");
}

#[test]
fn cases_that_other_tasks_judge_leave_a_gate_undecided() {
    let weaker = changed(good, |it| Some(row(it, answer(it))), "{ id: good, field_path: a, operator: is_not_empty }");
    for condition in [MARGIN, NO_NEW] {
        verdict(&weaker, condition, &BASE, 6, "the task changed");
    }
    verdict(&weaker, "{ id: same, not_worse: 0.1, allow: [task] }", &BASE, 0, "pass: 1 condition is met");
    let other = changed(good, |it| Some(row(it, answer(it))), "{ id: said, field_path: a, operator: is_not_empty }");
    verdict(&other, MARGIN, &BASE, 6, "only BASE has the task `good`");
    verdict(&other, "{ id: each, task: '*', not_worse: 0.03 }", &BASE, 6, "NEW has no task `good`");
    let both = format!("{GOOD}, {{ id: said, field_path: a, operator: is_not_empty }}");
    let fewer = changed_tasks(good, |it| Some(good(it)), (&both, GOOD));
    verdict(&fewer, "{ id: each, task: '*', not_worse: 0.1 }", &BASE, 6, "`allow: [task]` leaves such tasks out");
    verdict(&fewer, "{ id: each, task: '*', not_worse: 0.1, allow: [task] }", &BASE, 0, "pass: 1 condition is met");
}

#[test]
fn cases_that_could_not_be_judged_are_the_reason() {
    let without = |it: usize| format!("{{\"id\":\"r{it}\",\"q\":\"q{it}\"}}");
    let folder = changed(good, |it| Some(if answer(it) == "bad" { without(it) } else { good(it) }), GOOD);
    verdict(&folder, "{ id: same, not_worse: 0.1 }", &BASE, 6, "25 cases could not be judged, and might decide it");
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

/// A folder with the baselines `base.jsonl` and `new.jsonl` of 80 cases that a model was asked about. NEW takes 1.1 times what BASE takes, and its scores are lower by
/// a tenth, more or less.
fn with_amounts() -> Folder {
    let rows: String = (0..80).map(|it| format!("{{\"id\":\"r{it:02}\"}}\n")).collect();
    let folder = Folder::with("suite.yaml", "suite: asked\nrecords: rows.jsonl\nmodels: { subject: { model: script/answers.jsonl, price: { input: 1, output: 1 } } }\nask: { prompt: 'Say yes, ${id}' }\ntasks: [{ id: said, field_path: output, operator: equals, expected_value: 'yes' }]\n")
        .and("rows.jsonl", rows)
        .and("answers.jsonl", "{\"reply\": \"yes\", \"times\": \"*\"}\n");
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "run.jsonl"]).code, Some(0));
    let run = fs::read_to_string(folder.path().join("run.jsonl")).expect("it is written");
    for (name, factor) in [("base.jsonl", 1.0), ("new.jsonl", 1.1)] {
        let (head, cases) = run.split_once('\n').expect("it has a line for the run");
        let cases = cases.lines().enumerate().map(|(ix, line)| took(line, ix, factor));
        let text: String = cases.map(|it| format!("{it}\n")).collect();
        fs::write(folder.path().join(name), format!("{head}\n{text}")).expect("files can be written");
    }
    folder
}

/// The line of a case that takes a cent, 1,000 tokens and 2 seconds, by a factor, and a little less or more.
fn took(line: &str, ix: usize, factor: f64) -> Value {
    let mut case: Value = serde_json::from_str(line).expect("it is JSON");
    let own = factor * (1.0 + (ix % 5) as f64 / 100.0) * if factor > 1.0 && ix.is_multiple_of(2) { 1.01 } else { 1.0 };
    let amount = serde_json::json!({ "answers": 1, "usd": 0.01 * own, "input": (900.0 * own) as u64, "output": 100, "seconds": 2.0 * own });
    case["subject"] = amount;
    case["scores"] =
        serde_json::json!({ "1": 5.0 + (ix % 3) as f64 - if factor > 1.0 { 0.05 * (ix % 4) as f64 } else { 0.0 } });
    case
}

#[test]
fn a_gate_limits_what_cases_take() {
    let folder = with_amounts();
    let gated = |conditions: &str, code: i32, said: &str| {
        fs::write(folder.path().join("policy.yaml"), format!("conditions: [{conditions}]\n"))
            .expect("it can be written");
        let ended = folder.jurat(&["gate", "new.jsonl", "--base", "base.jsonl", "--policy", "policy.yaml"]);
        assert_eq!(ended.code, Some(code), "{conditions}\n{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(said), "{conditions}\n{}", ended.stdout);
    };
    gated("{ id: money, cost: { at_most: 0.02 } }", 0, "$0.0113, between $0.0112 and $0.0113");
    gated("{ id: money, cost: { at_most: 0.01 } }", 1, "at most $0.0100");
    gated("{ id: money, cost: { at_most: 1.2, of: base } }", 0, "1.11 times BASE");
    gated("{ id: money, cost: { at_most: 1.05, of: base } }", 1, "wanted: at most 1.05 times BASE");
    gated("{ id: words, tokens: { at_most: 1200 } }", 0, "tokens");
    gated("{ id: words, tokens: { at_most: 1000 } }", 1, "at most 1000 tokens");
    gated("{ id: words, tokens: { at_most: 1.2, of: base } }", 0, "times BASE");
    gated("{ id: wait, latency_ms: { at_most: 2500 } }", 0, "ms");
    gated("{ id: wait, latency_ms: { at_most: 2000 } }", 1, "at most 2000 ms");
    gated("{ id: wait, latency_ms: { at_most: 1.05, of: base } }", 1, "times BASE");
    gated("{ id: tail, latency_p95_ms: { at_most: 2500 } }", 0, "at most 2500 ms");
    gated("{ id: tail, latency_p95_ms: { at_most: 2100 } }", 1, "at most 2100 ms");
    gated("{ id: depth, task: said, score: true, not_worse: 0.2 }", 0, "−0.07");
    gated("{ id: depth, task: said, score: true, not_worse: 0.01 }", 1, "−0.07");
    gated("{ id: depth, task: said, score: true, better: 0 }", 1, "−0.07");
}

#[test]
fn the_latency_of_few_cases_decides_nothing() {
    let folder = with_amounts();
    let few: String = fs::read_to_string(folder.path().join("new.jsonl"))
        .expect("it is written")
        .lines()
        .take(21)
        .map(|it| format!("{it}\n"))
        .collect();
    fs::write(folder.path().join("few.jsonl"), few).expect("files can be written");
    fs::write(folder.path().join("policy.yaml"), "conditions: [{ id: tail, latency_p95_ms: { at_most: 9000 } }]\n")
        .expect("files can be written");
    let ended = folder.jurat(&["gate", "few.jsonl", "--policy", "policy.yaml"]);
    // Of twenty cases even the largest may lie below the quantile.
    assert_eq!(ended.code, Some(6), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_gate_selects_a_slice() {
    let folder = with_run(Folder::empty(), 100, 60);
    verdict(&folder, "{ id: paid, slice: { status: paid }, at_least: 0.9 }", &[], 0, "100.0 % passed");
    verdict(&folder, "{ id: open, slice: { status: open }, at_least: 0.1 }", &[], 1, "0.0 % passed");
    verdict(&folder, "{ id: lost, slice: { status: lost }, all_pass: true }", &[], 6, "it selects no case");
    verdict(&folder, "{ id: both, slice: { status: paid }, tag: critical, all_pass: true }", &[], 0, "none of 1");
}

#[test]
fn the_report_is_appended_to_the_summary_of_a_step() {
    let folder = with_run(Folder::empty(), 100, 95).and("policy.yaml", "conditions: [{ id: rate, at_least: 0.8 }]\n");
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "before\n").expect("files can be written");
    let gate = |with_variable: bool| {
        let mut command = folder.command();
        command.args(["gate", "latest", "--policy", "policy.yaml", "--summary"]);
        command.env_remove("GITHUB_STEP_SUMMARY");
        if with_variable {
            command.env("GITHUB_STEP_SUMMARY", &summary);
        }
        crate::command::ended(&mut command)
    };
    assert_eq!(gate(true).code, Some(0));
    let text = fs::read_to_string(&summary).expect("it is there");
    assert!(text.starts_with("before\n### pass · <code>invoices</code>\n"), "{text}");
    assert!(
        text.contains("> [!TIP]\n> pass\\: 1 condition is met") && text.contains("| <code>rate</code> | pass |"),
        "{text}"
    );
    let without = gate(false);
    assert_eq!(without.code, Some(2));
    assert!(without.stderr.contains("needs the variable `GITHUB_STEP_SUMMARY`"), "{}", without.stderr);
}

#[test]
fn a_condition_is_a_test_of_junit() {
    let folder = with_run(Folder::empty(), 100, 95).and(
        "policy.yaml",
        "conditions: [{ id: high, at_least: 0.995 }, { id: near, at_least: 0.93 }, { id: low, at_least: 0.5 }]\n",
    );
    let written = |arguments: &[&str]| {
        folder.jurat(&[&["gate", "latest", "--policy", "policy.yaml", "--format", "junit"], arguments].concat()).stdout
    };
    let junit = written(&[]);
    let lines: Vec<&str> = junit.lines().map(str::trim).collect();
    assert_eq!(
        lines[..3],
        [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites>",
            "<testsuite name=\"invoices.gate\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">"
        ]
    );
    assert_eq!(lines[3], "<testcase classname=\"invoices.gate\" name=\"high\">");
    assert!(lines[4].starts_with("<failure message=\"fail: `high`: 95.0 % passed, "), "{junit}");
    assert_eq!(lines[6], "<testcase classname=\"invoices.gate\" name=\"near\">");
    assert!(lines[7].starts_with("<skipped message=\"undecided: `near`: "), "{junit}");
    assert_eq!(lines[9], "<testcase classname=\"invoices.gate\" name=\"low\"/>");
    assert!(written(&["--undecided", "fail"]).contains("<error message=\"undecided: `near`: "));
    let ended = folder.jurat(&["compare", "latest", "latest", "--format", "junit"]);
    assert_eq!(ended.code, Some(2), "a difference is not a test: {}", ended.stdout);
}
