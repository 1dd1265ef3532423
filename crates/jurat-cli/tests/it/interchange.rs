//! Runs in the formats of other tools: what is written is what they read, and `jurat import` reads it back.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, root};

/// A folder with a run of a suite of `tests/cases`.
fn ran(case: &str) -> Folder {
    let mut folder = Folder::empty();
    for file in fs::read_dir(root().join("tests/cases").join(case)).expect("the case is there") {
        let path = file.expect("it can be listed").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        folder = folder.and(&name, fs::read(&path).expect("it can be read"));
    }
    folder.jurat(&["run", "suite.yaml", "--quiet"]);
    folder
}

fn exported(folder: &Folder, format: &str) -> Value {
    let ended = folder.jurat(&["export", "--to", format, "-o", "out.json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_slice(&fs::read(folder.path().join("out.json")).expect("it is there")).expect("it is JSON")
}

/// What `jurat import` makes of it: a file with a line for each case.
fn imported(folder: &Folder, kind: &str, file: &str) -> Vec<Value> {
    let ended = folder.jurat(&["import", "out.json", "--from", kind, "-o", "back"]);
    // 1 says that something was dropped: jurat does not judge by scorers of others.
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let lines = fs::read_to_string(folder.path().join("back").join(file)).expect("it is there");
    lines.lines().map(|it| serde_json::from_str(it).expect("a line is JSON")).collect()
}

const CASE: &str = "a-ready-judge-asks-claim-by-claim";

#[test]
fn promptfoo_has_an_entry_for_each_case_with_its_tasks_as_components() {
    let folder = ran(CASE);
    let whole = exported(&folder, "promptfoo");
    let results = whole["results"]["results"].as_array().expect("a list");
    let ended: Vec<(&str, bool, i64)> = results
        .iter()
        .map(|it| (it["id"].as_str().unwrap(), it["success"].as_bool().unwrap(), it["failureReason"].as_i64().unwrap()))
        .collect();
    assert_eq!(ended, [("good", true, 0), ("bad", false, 1), ("silent", true, 0), ("lacking", false, 2)]);
    let component = &results[1]["gradingResult"]["componentResults"][0];
    assert_eq!(component["assertion"]["metric"], "grounded");
    assert_eq!((&component["pass"], &component["score"]), (&Value::Bool(false), &Value::from(0.0)));
    assert_eq!(whole["results"]["stats"]["errors"], 1);
    let rows = imported(&folder, "promptfoo-results", "rows.jsonl");
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1]["output"], "It opened in 1964 and is the longest.");
    assert_eq!(rows[1]["recorded"]["pass"], false);
    assert_eq!(rows[1]["recorded"]["assertions"][0]["metric"], "grounded");
}

#[test]
fn inspect_has_a_sample_for_each_case_and_an_error_for_what_could_not_be_judged() {
    let folder = ran(CASE);
    let log = exported(&folder, "inspect");
    assert_eq!((&log["version"], &log["status"]), (&Value::from(2), &Value::from("success")));
    let samples = log["samples"].as_array().expect("a list");
    let values: Vec<&Value> = samples.iter().map(|it| &it["scores"]["grounded"]["value"]).collect();
    assert_eq!(values, [&Value::from("C"), &Value::from("I"), &Value::from("C"), &Value::Null]);
    assert!(samples[3]["error"]["message"].as_str().expect("a message").contains("no `context`"));
    let accuracy = log["results"]["scores"][0]["metrics"]["accuracy"]["value"].as_f64().expect("a number");
    assert!((accuracy - 2.0 / 3.0).abs() < 1e-9, "errors are not counted: {accuracy}");
    let runs = imported(&folder, "inspect", "runs.jsonl");
    assert_eq!(runs.len(), 4);
    assert_eq!(runs[1]["runner_metadata"]["scores"]["grounded"]["value"], "I");
    assert_eq!(runs[3]["status"], "failed");
}

const VARIANTS: &str = "suite: variants
models: { subject: [script/a.jsonl, script/b.jsonl] }
records: [{ id: one, x: 1 }, { id: two, x: 2 }]
ask: { prompts: { plain: 'Say ${x}', polite: 'Please say ${x}' } }
tasks: [{ id: said, field_path: output, operator: equals, expected_value: A }]
";

fn ran_variants() -> Folder {
    let reply = |it: &str| format!("{{\"reply\": \"{it}\", \"times\": \"*\"}}\n");
    let folder = Folder::with("suite.yaml", VARIANTS).and("a.jsonl", reply("A")).and("b.jsonl", reply("B"));
    let ran = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    folder
}

/// Promptfoo counts each prompt for each provider; one place for two models would make their answers one.
#[test]
fn promptfoo_has_a_column_for_each_prompt_of_each_model() {
    let whole = exported(&ran_variants(), "promptfoo");
    let results = whole["results"]["results"].as_array().expect("a list");
    let mut places: Vec<(i64, i64)> =
        results.iter().map(|it| (it["testIdx"].as_i64().unwrap(), it["promptIdx"].as_i64().unwrap())).collect();
    places.sort_unstable();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]);
    let columns = whole["results"]["prompts"].as_array().expect("a list");
    for it in results {
        let column = &columns[it["promptIdx"].as_u64().expect("a number") as usize];
        assert_eq!((&column["provider"], &column["label"]), (&it["provider"]["id"], &it["prompt"]["label"]));
    }
}

/// A log has one model: several are refused with what to do, and one of them has its own results.
#[test]
fn inspect_has_the_cases_of_one_variant() {
    let folder = ran_variants();
    let refused = folder.jurat(&["export", "--to", "inspect", "-o", "out.json"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let expected =
        "a log of Inspect has one model, and these cases are of 4 variants; choose one, for example `--where 'subject:";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(!folder.path().join("out.json").exists());
    for (subject, accuracy) in [("script/a.jsonl", 1.0), ("script/b.jsonl", 0.0)] {
        let query = format!("subject:{subject} prompt:polite");
        let ended = folder.jurat(&["export", "--to", "inspect", "--where", &query, "-o", "out.json"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let text = fs::read(folder.path().join("out.json")).expect("it is there");
        let log: Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(
            (&log["eval"]["model"], &log["eval"]["dataset"]["samples"]),
            (&Value::from(subject), &Value::from(2))
        );
        let scores = &log["results"]["scores"][0]["metrics"];
        assert_eq!(scores["accuracy"]["value"].as_f64(), Some(accuracy), "{subject}");
    }
}

#[test]
fn otlp_has_a_span_for_each_case_and_an_event_for_each_task() {
    let folder = ran(CASE);
    let request = exported(&folder, "otlp");
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("a list");
    assert_eq!(spans.len(), 4);
    for span in spans {
        assert_eq!(span["traceId"].as_str().expect("text").len(), 32);
        assert_eq!(span["spanId"].as_str().expect("text").len(), 16);
    }
    let event = &spans[1]["events"][0];
    assert_eq!(event["name"], "gen_ai.evaluation.result");
    let attributes = event["attributes"].as_array().expect("a list");
    let value = |key: &str| attributes.iter().find(|it| it["key"] == key).map(|it| it["value"].clone());
    assert_eq!(value("gen_ai.evaluation.name"), Some(serde_json::json!({ "stringValue": "grounded" })));
    assert_eq!(value("gen_ai.evaluation.score.value"), Some(serde_json::json!({ "doubleValue": 0.5 })));
    assert_eq!(value("gen_ai.evaluation.score.label"), Some(serde_json::json!({ "stringValue": "unfaithful" })));
    assert_eq!(spans[3]["status"]["code"], 2, "what could not be judged is an error of its span");
    assert_eq!(spans[1]["status"]["code"], 1, "a failed task is not");
    let runs = imported(&folder, "otlp", "runs.jsonl");
    assert_eq!(runs.len(), 4);
}

#[test]
fn results_alone_are_the_same_in_every_run() {
    for format in ["promptfoo", "inspect", "otlp"] {
        let written = || {
            let folder = ran("a-preference-is-asked-in-both-orders");
            folder.jurat(&["export", "--to", format, "--results-only"]).stdout
        };
        let (one, other) = (written(), written());
        assert!(one.len() > 100 && one == other, "{format}");
    }
}
