//! What `jurat compare` notes about two runs before any metric, and a run that stopped early among them.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, ended};

const ROWS: &str =
    "{\"id\":\"a\",\"q\":\"one\",\"reference\":\"yes\"}\n{\"id\":\"b\",\"q\":\"two\",\"reference\":\"yes\"}\n";
const YES: &str = "{\"reply\":\"yes\",\"times\":\"*\"}\n";

const ASKED: &str = "suite: s
records: rows.jsonl
models: { subject: { model: script/yes.jsonl, temperature: 0 }, judge: script/yes.jsonl }
ask: { prompt: 'Is it ${q}?' }
evaluators: { same: { builtin: { exact_match: { ignore_case: true } } } }
tasks:
  - { id: said, field_path: output, operator: equals, expected_value: yes }
  - { id: judged, judge: { prompt: 'Was ${output} right?' }, operator: contains, expected_value: yes }
  - { id: equal, evaluate: same, field_path: label, operator: equals, expected_value: match }
";

/// Baselines of two suites, as `base.jsonl` and `new.jsonl`.
fn baselines(base: &str, new: &str, arguments: &[&str]) -> Folder {
    let folder = Folder::with("rows.jsonl", ROWS).and("yes.jsonl", YES);
    for (name, suite, given) in [("base", base, [].as_slice()), ("new", new, arguments)] {
        fs::write(folder.path().join("suite.yaml"), suite).expect("files can be written");
        let ended = ended(folder.command().args(["run", "suite.yaml"]).args(given));
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        let file = format!("{name}.jsonl");
        assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", &file]).code, Some(0));
    }
    folder
}

/// The notes about two baselines: their codes, and what they are about.
fn notes(folder: &Folder) -> Vec<(String, String)> {
    let ended = folder.jurat(&["compare", "base.jsonl", "new.jsonl", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    document["notes"].as_array().expect("a list").iter().map(|it| (text(it, "code"), text(it, "task"))).collect()
}

#[track_caller]
fn noted(new: &str, arguments: &[&str], expected: &[(&str, &str)]) {
    let found = notes(&baselines(ASKED, new, arguments));
    let found: Vec<(&str, &str)> = found.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let own: Vec<(&str, &str)> = found.into_iter().filter(|it| it.0 != "same_answers").collect();
    assert_eq!(own, expected);
}

#[test]
fn what_differs_in_a_definition_is_noted() {
    noted(ASKED, &[], &[]);
    noted(&ASKED.replace("Is it ${q}?", "Is it really ${q}?"), &[], &[("prompt_differs", "prompt")]);
    noted(&ASKED.replace("temperature: 0", "temperature: 1"), &[], &[("subject_settings_differ", "script/yes.jsonl")]);
    noted(&ASKED.replace("ignore_case: true", "ignore_case: false"), &[], &[("evaluator_differs", "equal")]);
}

const COMPUTED: &str = "suite: s
records: rows.jsonl
tasks:
  - { id: long, cel: 'size(q) > 2' }
  - { id: shown, field_path: q, transform: { cel: 'output' }, operator: contains, expected_value: e }
  - { id: both, group: { all: [long, shown] } }
";

#[test]
fn what_differs_in_a_task_without_an_operator_is_noted() {
    let noted = |from: &str, to: &str, expected: &[(&str, &str)]| {
        let new = COMPUTED.replace(from, to);
        assert!(from.is_empty() || new != COMPUTED);
        let found = notes(&baselines(COMPUTED, &new, &[]));
        let found: Vec<(&str, &str)> = found.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        let own: Vec<(&str, &str)> = found.into_iter().filter(|it| it.0.ends_with("_differs")).collect();
        assert_eq!(own, expected, "{to}");
    };
    noted("", "", &[]);
    // Another layout is the same definition.
    noted("{ all: [long, shown] }", "{all:   [long,shown]}", &[]);
    noted("> 2", "> 1", &[("task_differs", "long")]);
    noted("'output'", "'output + output'", &[("task_differs", "shown")]);
    noted("all:", "any:", &[("task_differs", "both")]);
}

const TALK: &str = "suite: s
models: { subject: script/yes.jsonl }
scenarios:
  talk:
    entry: ask
    nodes: { ask: { question: 'Is it?' } }
    outcomes: { ended: { turn_count_eq: 1 } }
";

#[test]
fn an_outcome_that_differs_is_noted() {
    let new = TALK.replace("turn_count_eq: 1", "turn_count_eq: 2");
    assert!(notes(&baselines(TALK, &new, &[])).contains(&("task_differs".to_owned(), "talk.ended".to_owned())));
}

/// `base.jsonl` was written when digests were made of the names of fields, by the program of commit `bc87fadf`. What has a digest of another form since
/// is not checked, and nothing is said to differ.
#[test]
fn a_baseline_of_an_earlier_version_compares_without_a_difference() {
    let folder = Folder::empty();
    let stored = crate::command::root().join("tests/baselines/debug-digests");
    for file in fs::read_dir(stored).expect("the folder is there") {
        let file = file.expect("it can be read").path();
        fs::copy(&file, folder.path().join(file.file_name().expect("a name"))).expect("files can be copied");
    }
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "new.jsonl"]).code, Some(0));
    let found = notes(&folder);
    let codes: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(codes, ["rows_not_checked", "same_answers"]);
    // The digests of its definition are those of today, to the letter.
    let parts = |name: &str| {
        let text = fs::read_to_string(folder.path().join(name)).expect("it is written");
        let head: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("it is JSON");
        (head["tasks"].clone(), head["prompts"].clone())
    };
    assert_eq!(parts("new.jsonl"), parts("base.jsonl"));
    // A scenario that asks something else is found again once both digests are of one form.
    fs::rename(folder.path().join("new.jsonl"), folder.path().join("base.jsonl")).expect("files can be renamed");
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("it is there");
    fs::write(folder.path().join("suite.yaml"), suite.replace("Sure?", "Really?")).expect("files can be written");
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "new.jsonl"]).code, Some(0));
    assert!(notes(&folder).iter().any(|it| it.0 == "row_differs"), "{:?}", notes(&folder));
}

#[test]
fn rows_that_were_left_out_are_noted() {
    noted(ASKED, &["--limit", "1"], &[("partial", "")]);
}

/// Changes the first line of `new.jsonl`.
fn with_head(folder: &Folder, change: impl Fn(&mut Value)) {
    let path = folder.path().join("new.jsonl");
    let text = fs::read_to_string(&path).expect("it was written");
    let (head, rest) = text.split_once('\n').expect("it has lines");
    let mut head: Value = serde_json::from_str(head).expect("it is JSON");
    change(&mut head);
    fs::write(path, format!("{head}\n{rest}")).expect("files can be written");
}

#[test]
fn another_version_and_another_server_are_noted() {
    let folder = baselines(ASKED, ASKED, &[]);
    with_head(&folder, |head| head["version"] = "0.0.1".into());
    let codes = |folder: &Folder| notes(folder).into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert!(codes(&folder).contains(&"version_differs".to_owned()), "{:?}", notes(&folder));

    let folder = baselines(ASKED, ASKED, &[]);
    with_head(&folder, |head| head["served"] = serde_json::json!({ "judged": ["model-b"] }));
    fs::rename(folder.path().join("new.jsonl"), folder.path().join("other.jsonl")).expect("files can be renamed");
    fs::rename(folder.path().join("base.jsonl"), folder.path().join("new.jsonl")).expect("files can be renamed");
    with_head(&folder, |head| head["served"] = serde_json::json!({ "judged": ["model-a"] }));
    fs::rename(folder.path().join("other.jsonl"), folder.path().join("base.jsonl")).expect("files can be renamed");
    assert!(notes(&folder).contains(&("judge_served_differs".to_owned(), "judged".to_owned())), "{:?}", notes(&folder));
}

/// Two hundred rows of which every tenth is open, and a condition that a part of them decides.
fn stopping() -> Folder {
    let row = |it: usize| {
        format!("{{\"id\":\"r{it}\",\"status\":\"{}\"}}\n", if it.is_multiple_of(10) { "open" } else { "paid" })
    };
    Folder::with("rows.jsonl", (0..200).map(row).collect::<String>()).and(
        "suite.yaml",
        "suite: invoices
records: rows.jsonl
tasks: [{ id: paid, field_path: status, operator: equals, expected_value: paid }]
gates: { conditions: [{ id: rate, at_least: 0.7, expect: 0.9 }] }
",
    )
}

#[test]
fn a_run_that_stopped_early_has_no_interval_of_a_fixed_number_of_rows() {
    let folder = stopping();
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "base.jsonl"]).code, Some(0));
    let ended =
        folder.jurat(&["run", "suite.yaml", "--stop-when", "decided", "--seed", "3", "--json", "--results-only"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let results = &document["results"];
    assert_eq!((&results["complete"], &results["stopped"]), (&Value::Bool(false), &Value::from("decided")));
    assert_eq!(results["counts"]["interval"], Value::Null);
    let stopped = &results["stopped_early"];
    assert_eq!((&stopped["rule"], &stopped["of"]), (&Value::from("pass"), &Value::from(200)));
    assert!(stopped["rows"].as_u64().is_some_and(|it| (10..150).contains(&it)), "{stopped}");
    assert!(stopped["ln_e"].as_f64() >= Some(20_f64.ln()) || stopped["alpha"].as_f64() < Some(0.05), "{stopped}");
    assert!(stopped["sequence"]["low"].as_f64() < Some(0.9), "{stopped}");

    let ended = folder.jurat(&["compare", "base.jsonl", "latest", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let codes: Vec<&Value> = document["notes"].as_array().expect("a list").iter().map(|it| &it["code"]).collect();
    assert!(codes.contains(&&Value::from("stopped_early")), "{codes:?}");
    let line = &document["comparisons"][0]["lines"][0];
    assert_eq!((&line["interval"], &line["p"]), (&Value::Null, &Value::Null), "{line}");
    let said = folder.jurat(&["compare", "base.jsonl", "latest"]).stdout;
    assert!(said.contains("nothing is shown about the difference"), "{said}");
}
