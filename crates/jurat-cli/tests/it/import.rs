//! `jurat import`: what other tools store becomes suites and runs that work.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{Ended, Folder, root};

fn sample(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/import").join(name)).expect("the sample is there")
}

fn report(folder: &Folder, directory: &str) -> Value {
    let text = fs::read_to_string(folder.path().join(directory).join("import.json")).expect("there is a report");
    serde_json::from_str(&text).expect("the report is JSON")
}

/// What promptfoo decided about 1,425 pairs of assertion and answer is what the imported tasks decide.
#[test]
fn assertions_of_promptfoo_decide_as_there() {
    let vectors = vectors("promptfoo/assertion_vectors.jsonl");
    let tests: Vec<Value> = vectors.iter().map(test_of).collect();
    let (folder, judged) = decided(&vectors, &json!({ "prompts": ["{{o}}"], "providers": ["echo"], "tests": tests }));
    agree(&vectors, &judged);
    // JavaScript refuses one of the patterns, which promptfoo counts as a failure; the importer drops it, and the provider `echo`.
    let n_refused = vectors.iter().filter(|it| it["value"] == "(?i)hello").count();
    assert_eq!(report(&folder, "out")["totals"]["dropped"], n_refused + 1);
}

/// Tests with thresholds, weights and sets pass where they do in promptfoo.
#[test]
fn thresholds_and_sets_of_promptfoo_decide_as_there() {
    let vectors = vectors("promptfoo/threshold_vectors.jsonl");
    let default = json!({ "assert": [{ "type": "not-contains", "value": "zzz", "weight": 2 }] });
    let test =
        |it: &Value| json!({ "vars": { "o": it["output"] }, "assert": it["assert"], "threshold": it["threshold"] });
    let tests: Vec<Value> = vectors.iter().map(test).collect();
    let config = json!({ "prompts": ["{{o}}"], "providers": ["echo"], "defaultTest": default, "tests": tests });
    let (folder, judged) = decided(&vectors, &config);
    agree(&vectors, &judged);
    assert_eq!(report(&folder, "out")["totals"]["approximate"], 0);
}

fn vectors(name: &str) -> Vec<Value> {
    let text = String::from_utf8(sample(name)).expect("the vectors are text");
    text.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect()
}

/// Imports a configuration with a test for each vector and judges their answers, which are recorded: nothing is asked. Returns the verdict of each row.
fn decided(vectors: &[Value], config: &Value) -> (Folder, HashMap<String, bool>) {
    let folder = Folder::with("promptfooconfig.json", config.to_string());
    let imported = folder.jurat(&[
        "import",
        "promptfooconfig.json",
        "-o",
        "out",
        "--accept",
        "dropped",
        "--accept",
        "approximate",
    ]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    let suite = fs::read_to_string(folder.path().join("out/suite.yaml")).expect("a suite");
    let suite = suite.replace("ask:\n  prompt: \"${vars.o}\"\n", "");
    fs::write(folder.path().join("out/recorded.yaml"), suite).expect("files can be written");
    let rows: String = vectors
        .iter()
        .enumerate()
        .map(|(ix, it)| format!("{}\n", json!({ "id": format!("r{}", ix + 1), "output": it["output"] })))
        .collect();
    fs::write(folder.path().join("out/rows.jsonl"), rows).expect("files can be written");
    folder.jurat(&["run", "out/recorded.yaml"]);
    let cases = folder.jurat(&["export", "--to", "jsonl", "--columns", "record,case_verdict"]).stdout;
    let judged = cases.lines().map(verdict).collect();
    (folder, judged)
}

#[track_caller]
fn agree(vectors: &[Value], judged: &HashMap<String, bool>) {
    let differing: Vec<(usize, &Value)> = vectors
        .iter()
        .enumerate()
        .filter(|(ix, it)| judged.get(&format!("r{}", ix + 1)) != it["pass"].as_bool().as_ref())
        .collect();
    assert!(differing.is_empty(), "{} differ: {differing:#?}", differing.len());
}

fn test_of(vector: &Value) -> Value {
    let mut assertion = vector.clone();
    let members = assertion.as_object_mut().expect("an object");
    members.remove("output");
    members.remove("pass");
    json!({ "vars": { "o": vector["output"] }, "assert": [assertion] })
}

/// The id of a row, and whether its case passed.
fn verdict(line: &str) -> (String, bool) {
    let line: Value = serde_json::from_str(line).expect("JSON");
    (line["record"].as_str().expect("an id").to_owned(), line["case_verdict"] == "passed")
}

#[test]
fn a_configuration_becomes_a_suite_that_runs() {
    let folder = Folder::with("promptfooconfig.yaml", sample("promptfoo/promptfooconfig.yaml"));
    let Ended { code, stdout, stderr } = folder.jurat(&["import", ".", "-o", "out"]);
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "{stdout}");
    assert!(stdout.starts_with("a configuration of promptfoo: 3 rows, 2 prompts, 1 model, 9 tasks\n"), "{stdout}");
    assert!(stdout.contains("14 exact, 1 approximate, 3 dropped\n"), "{stdout}");
    assert!(!stdout.contains("none") && stdout.contains("`apiKey` of provider"), "{stdout}");
    assert!(stdout.ends_with("out/suite.yaml: 9 tasks, 3 sample rows, ready to run\n"), "{stdout}");

    let script = concat!(
        r#"{"match": {"contains": "French"}, "reply": "Bonjour Ada!", "times": "*"}"#,
        "\n",
        r#"{"match": {"contains": "Bob"}, "reply": "Hallo Bob!", "times": "*"}"#,
        "\n",
        r#"{"reply": "Hello Eve!", "times": "*"}"#,
        "\n"
    );
    fs::write(folder.path().join("answers.jsonl"), script).expect("files can be written");
    let ran = folder.jurat(&["run", "out/suite.yaml", "--model", "subject=script/answers.jsonl", "--results-only"]);
    // The pattern of the set does not match `Hello Eve!`, and the mean of its test is above its threshold all the same.
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\n6 cases: 6 passed; "), "{}", ran.stdout);
}

/// What a model grades there is graded by ready judges here. Each line says how they differ, and the suite is one that runs.
#[test]
fn assertions_that_a_model_grades_use_ready_judges() {
    let config = fs::read_to_string(root().join("tests/import/promptfoo/graded.yaml")).expect("the sample is there");
    let folder = Folder::with("promptfooconfig.yaml", config);
    let imported = folder.jurat(&["import", "promptfooconfig.yaml", "-o", "out", "--accept", "approximate"]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    let differs = imported.stdout.lines().filter(|it| it.contains("approximate  assertion")).count();
    assert_eq!(differs, 12, "{}", imported.stdout);
    let suite = fs::read_to_string(folder.path().join("out/suite.yaml")).expect("a suite");
    let used: Vec<&str> = suite.lines().filter_map(|it| it.trim().strip_prefix("use: ")).collect();
    let expected = [
        "rubric",
        "rubric",
        "rubric",
        "correctness",
        "correctness",
        "closed-qa",
        "rubric",
        "answer-relevance",
        "context-recall",
        "faithfulness",
        "trajectory",
    ];
    assert_eq!(used, expected);
    assert!(suite.contains("content: \"Judge.\"\n") && suite.contains("content: \"${output} by y\"\n"), "{suite}");
    // A threshold of 0.8 is a grade of 4.2 of 5.
    assert!(suite.contains("expected_value: 4.2\n"), "{suite}");
    fs::write(folder.path().join("any.jsonl"), "{\"reply\": \"\", \"times\": \"*\"}\n").expect("files can be written");
    let models = ["--model", "subject=script/any.jsonl", "--model", "judge=script/any.jsonl"];
    let checked = folder.jurat(&[&["check", "out/suite.yaml", "--strict"], &models[..]].concat());
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
}

/// The entries of a report about what was dropped, or taken over with a difference: what it is and why.
fn differing(folder: &Folder) -> Vec<String> {
    let report = report(folder, "out");
    let entries = report["entries"].as_array().expect("a list").iter().filter(|it| it["class"] != "exact");
    entries.map(|it| format!("{} {}: {}", it["class"], it["what"], it["why"]).replace('"', "")).collect()
}

#[test]
fn what_an_option_or_an_assertion_has_beside_is_reported() {
    let config = "\
prompts: ['Q {{question}}']
defaultTest:
  options: { prefix: 'Be brief. ', disableVarExpansion: true, transformVars: vars, runSerially: true, foo: 1 }
tests:
  - vars: { question: [A, B] }
    assert:
      - { type: icontains, value: ok, contextTransform: x, config: { a: 1 }, bogus: 3 }
      - { type: llm-rubric, value: ok, threshold: 0.8 }
      - { type: not-llm-rubric, value: ok, threshold: 0.8 }
      - { type: assert-set, metric: m, assert: [{ type: contains, value: ok }] }
";
    let folder = Folder::with("promptfooconfig.yaml", config);
    folder.jurat(&["import", "promptfooconfig.yaml", "-o", "out", "--accept", "approximate,dropped"]);
    let expected = [
        "approximate prompt `Q {{question}}`: `defaultTest.options.prefix` is not in it",
        "dropped `options.prefix` of `defaultTest`: write it into the prompt",
        "dropped `options.transformVars` of `defaultTest`: code that changes variables is not run",
        "dropped `options.foo` of `defaultTest`: not known to the importer",
        "dropped `contextTransform` of assertion `icontains`: only assertions about a context use it",
        "dropped `config` of assertion `icontains`: only code is given it",
        "dropped `bogus` of assertion `icontains`: not known to the importer",
        "approximate assertion `llm-rubric`: the ready judge `rubric` grades from 1 to 5; `threshold: 0.8` is 4.2 there, and the task passes from it",
        "approximate assertion `not-llm-rubric`: the ready judge `rubric` grades from 1 to 5; `threshold: 0.8` is 4.2 there, and the task passes below it",
    ];
    assert_eq!(differing(&folder), expected);
    // A list that is not written out is one value of one row.
    let rows = fs::read_to_string(folder.path().join("out/rows.jsonl")).expect("rows");
    assert_eq!(rows, "{\"id\":\"r1\",\"vars\":{\"question\":[\"A\",\"B\"]}}\n");
}

/// A chat of several turns is asked as it is written, and a template with a loop says what it says there.
#[test]
fn chats_and_templates_are_asked_as_there() {
    let config = r#"
prompts:
  - 'List: {% for it in items %}{{ it.name | upper }};{% endfor %}{{ tone | default("plain") }}'
  - '[{"role":"system","content":"Brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":"{{q}}"}]'
providers: [openai:gpt-4o]
tests:
  - { vars: { q: Who?, items: [{ name: a }, { name: b }] }, assert: [{ type: contains, value: ok }] }
"#;
    let folder =
        Folder::with("promptfooconfig.yaml", config).and("any.jsonl", "{\"reply\": \"ok\", \"times\": \"*\"}\n");
    let imported = folder.jurat(&["import", "promptfooconfig.yaml", "-o", "out", "--accept", "approximate"]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    let suite = fs::read_to_string(folder.path().join("out/suite.yaml")).expect("a suite");
    assert!(suite.contains("temperature: 0\n") && suite.contains("max_tokens: 1024\n"), "{suite}");
    let models = ["--model", "subject=script/any.jsonl"];
    let checked = folder.jurat(&[&["check", "out/suite.yaml", "--strict"], &models[..]].concat());
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    assert_eq!(folder.jurat(&[&["run", "out/suite.yaml"], &models[..]].concat()).code, Some(0));
    let effects = folder.jurat(&["export", "--to", "effects"]).stdout;
    let asked = |line: &str| {
        let effect: Value = serde_json::from_str(line).expect("JSON");
        let messages = effect["request"]["messages"].as_array().expect("messages").clone();
        messages.iter().map(|it| format!("{}: {}", it["role"], it["text"]).replace('"', "")).collect::<Vec<_>>()
    };
    let mut asked: Vec<Vec<String>> = effects.lines().map(asked).collect();
    asked.sort();
    let chat = ["system: Brief.", "user: Hi", "assistant: Yes?", "user: Who?"];
    assert_eq!(asked, [chat.map(str::to_owned).to_vec(), vec!["user: List: A;B;plain".to_owned()]]);
}

#[test]
fn nothing_is_written_without_a_directory_and_nothing_is_overwritten() {
    let folder = Folder::with("promptfooconfig.yaml", sample("promptfoo/promptfooconfig.yaml"));
    let looked = folder.jurat(&["import", "promptfooconfig.yaml", "--accept", "dropped,approximate"]);
    assert_eq!(looked.code, Some(0));
    assert!(looked.stdout.ends_with("nothing was written; `-o DIR` says where to\n"), "{}", looked.stdout);
    assert!(!folder.path().join("suite.yaml").exists());

    let folder = folder.and("out/rows.jsonl", "mine");
    let refused = folder.jurat(&["import", "promptfooconfig.yaml", "-o", "out"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(
        refused.stderr.starts_with("error: `rows.jsonl` are in `out` already, and nothing was written"),
        "{}",
        refused.stderr
    );
    assert!(!folder.path().join("out/suite.yaml").exists());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::with("promptfooconfig.yaml", sample("promptfoo/promptfooconfig.yaml"));
    for directory in ["a", "b"] {
        folder.jurat(&["import", "promptfooconfig.yaml", "-o", directory]);
    }
    for file in ["suite.yaml", "rows.jsonl", "import.json", "evaluators/javascript.js"] {
        let read = |directory: &str| fs::read(folder.path().join(directory).join(file)).expect("it was written");
        assert_eq!(read("a"), read("b"), "{file}");
    }
}

#[test]
fn files_outside_of_the_folder_are_not_copied() {
    let config = r#"
prompts: ["{{x}}"]
tests:
  - vars: { x: file://../secret.txt }
    assert: [{ type: contains, value: a }]
  - vars: { x: file://link.txt }
    assert: [{ type: contains, value: file:///etc/hostname }]
"#;
    let folder = Folder::with("secret.txt", "top secret").and("config/promptfooconfig.yaml", config);
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), folder.path().join("config/link.txt"))
        .expect("links can be made");
    let imported = folder.jurat(&["import", "config", "-o", "out"]);
    assert_eq!(imported.code, Some(1), "{}", imported.stdout);
    assert_eq!(imported.stdout.matches("outside of the folder of the configuration").count(), 3, "{}", imported.stdout);
    let rows = fs::read_to_string(folder.path().join("out/rows.jsonl")).expect("rows");
    assert!(!rows.contains("secret"), "{rows}");
}

#[test]
fn what_is_of_no_known_kind_is_refused() {
    let folder = Folder::with("notes.txt", "hello").and("cut.json", "{\"prompts\": [");
    let Ended { code, stderr, .. } = folder.jurat(&["import", "notes.txt"]);
    assert_eq!(code, Some(2));
    let expected = "`notes.txt` is of no kind that can be imported; known are `promptfoo-results`, `promptfoo`, ";
    assert!(stderr.contains(expected), "{stderr}");
    for arguments in [&["import", "cut.json"][..], &["import", "cut.json", "--from", "promptfoo"]] {
        let Ended { code, stderr, .. } = folder.jurat(arguments);
        assert_eq!(code, Some(2));
        assert!(stderr.contains("`cut.json` cannot be read: line 1, column"), "{stderr}");
    }
    let Ended { code, stderr, .. } = folder.jurat(&["import", "notes.txt", "--from", "otlp"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("there is nothing of the kind `otlp` in it"), "{stderr}");
}

#[test]
fn the_report_is_json_for_programs() {
    let folder = Folder::with("promptfooconfig.yaml", sample("promptfoo/promptfooconfig.yaml"));
    let Ended { stdout, .. } = folder.jurat(&["import", "promptfooconfig.yaml", "-o", "out", "--json"]);
    let printed: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(printed["kind"], "promptfoo");
    assert_eq!(printed["totals"], json!({ "exact": 14, "approximate": 1, "dropped": 3 }));
    assert_eq!(printed["entries"], report(&folder, "out")["entries"]);
    let first = json!({
        "at": "promptfooconfig.yaml:3",
        "what": "prompt `Say hello to {{name}} in {{language}}`",
        "class": "exact",
        "into": "`ask`",
    });
    assert_eq!(printed["entries"][0], first);
}

/// Imports a sample into `out`, and runs its suite.
#[track_caller]
fn ran(sample_name: &str, accept: &str) -> (Folder, Ended) {
    let folder = Folder::with("sample", sample(sample_name));
    let imported = folder.jurat(&["import", "sample", "-o", "out", "--accept", accept]);
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), ""), "{}", imported.stdout);
    let ran = folder.jurat(&["run", "out/suite.yaml", "--results-only"]);
    (folder, ran)
}

#[test]
fn results_of_promptfoo_are_judged_anew_without_asking() {
    let (folder, ran) = ran("promptfoo/results_first_five.json", "approximate,dropped");
    assert!(ran.stdout.contains("\n5 cases: "), "{}{}", ran.stdout, ran.stderr);
    // What was recorded is what is decided now, assertion by assertion and case by case.
    let rows = fs::read_to_string(folder.path().join("out/rows.jsonl")).expect("rows");
    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let judged = folder.jurat(&["export", "--to", "jsonl"]).stdout;
    let judged: Vec<Value> = judged.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    for row in &rows {
        let recorded =
            row["recorded"]["assertions"].as_array().expect("a list").iter().filter(|it| it["type"] != "assert-set");
        let recorded: Vec<bool> = recorded.map(|it| it["pass"].as_bool().expect("a verdict")).collect();
        let of_row = || judged.iter().filter(|it| it["record"] == row["id"]);
        assert!(of_row().all(|it| (it["case_verdict"] == "passed") == row["recorded"]["pass"]), "{row}");
        let found: Vec<bool> =
            of_row().filter(|it| it["kind"] != "group").map(|it| it["verdict"] == "passed").collect();
        let count = |it: &[bool]| it.iter().filter(|it| **it).count();
        assert_eq!((found.len(), count(&found)), (recorded.len(), count(&recorded)), "{row}");
    }
}

#[test]
fn a_log_of_inspect_is_a_run_that_show_and_compare_understand() {
    let (folder, ran) = ran("inspect/demo_v2_zstd.eval", "approximate,dropped");
    assert!(ran.stdout.contains("\n6 cases: 4 passed, 2 failed; "), "{}{}", ran.stdout, ran.stderr);
    assert!(folder.jurat(&["show", "latest"]).stdout.contains("includes"));
    folder.jurat(&["run", "out/suite.yaml"]);
    let compared = folder.jurat(&["compare", "latest", "latest"]);
    assert_eq!(compared.code, Some(0), "{}{}", compared.stdout, compared.stderr);
}

/// What Inspect's own scorers decided about 102 pairs.
#[test]
fn scorers_of_inspect_decide_as_there() {
    let vectors = String::from_utf8(sample("inspect/scorer_vectors.jsonl")).expect("text");
    let vectors: Vec<Value> = vectors.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let evaluators = root().join("crates/jurat-import/src/inspect");
    let code = |name: &str| fs::read_to_string(evaluators.join(name)).expect("the code is there");
    let rows: String = vectors
        .iter()
        .enumerate()
        .map(|(ix, it)| {
            format!("{}\n", json!({ "id": format!("r{ix}"), "output": it["output"], "reference": it["target"] }))
        })
        .collect();
    // A task for each scorer, with the code that the importer writes for its options.
    let (includes, matches) = (code("includes.py"), code("match.py"));
    let located = |location: &str| matches.replace("LOCATION = \"end\"", &format!("LOCATION = \"{location}\""));
    let tasks = [
        ("includes", includes.clone()),
        ("includes_case", includes.replace("IGNORE_CASE = True", "IGNORE_CASE = False")),
        ("match_end", matches.clone()),
        ("match_exact", located("exact")),
        ("match_any", located("any")),
        ("exact", code("normalized.py") + &code("exact.py")),
    ];
    let (mut suite, mut judged) =
        ("suite: scorers\nrecords: rows.jsonl\nevaluators:\n".to_owned(), "tasks:\n".to_owned());
    let mut folder = Folder::with("rows.jsonl", rows);
    for (task, code) in &tasks {
        suite += &format!("  {task}: {{ source: {{ file: {task}.py }} }}\n");
        judged += &format!(
            "  - {{ id: {task}, evaluate: {task}, field_path: label, operator: equals, expected_value: C }}\n"
        );
        folder = folder.and(&format!("{task}.py"), code);
    }
    let folder = folder.and("suite.yaml", suite + &judged);
    folder.jurat(&["run", "suite.yaml"]);
    let judged = folder.jurat(&["export", "--to", "jsonl"]).stdout;
    let mut differing = Vec::new();
    for line in judged.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON")) {
        let ix: usize = line["record"].as_str().expect("an id")[1..].parse().expect("a number");
        let task = line["task"].as_str().expect("a task");
        if (line["verdict"] == "passed") != (vectors[ix][task] == "C") {
            differing.push((task.to_owned(), vectors[ix]["output"].clone(), vectors[ix]["target"].clone()));
        }
    }
    assert_eq!(judged.lines().count(), tasks.len() * vectors.len());
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn traces_are_evidence_for_checks() {
    let suite = "suite: traces\nrecords: { path: out/runs.jsonl, as: runs }\ntasks:\n  - { id: summed, check: { kind: tool_called, tool: get-sum, arguments: { a: 2 } } }\n  - { id: cheap, check: { kind: tokens, max: 40 } }\n";
    let folder = Folder::with("traces.jsonl", sample("otlp/openinference.otlp.jsonl")).and("suite.yaml", suite);
    let imported = folder.jurat(&["import", "traces.jsonl", "-o", "out"]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    let ran = folder.jurat(&["run", "suite.yaml", "--results-only"]);
    assert!(ran.stdout.contains("\n3 cases: 1 passed, 1 failed, 1 error; "), "{}", ran.stdout);
}

/// A span in the form of OTLP, with one attribute.
fn span(trace: &str, id: &str, parent: &str, (key, value): (&str, &str)) -> Value {
    json!({
        "traceId": trace.repeat(32), "spanId": id.repeat(16), "parentSpanId": parent.repeat(16), "name": "it",
        "startTimeUnixNano": "1000000000000000000", "endTimeUnixNano": "1000000001000000000",
        "attributes": [{ "key": key, "value": { "stringValue": value } }],
    })
}

/// The trace of a health check is no run; one without its beginning, or without anything that was said, is approximate.
#[test]
fn traces_that_lack_something_are_not_called_exact() {
    let operation = |name| ("gen_ai.operation.name", name);
    let said =
        ("gen_ai.output.messages", r#"[{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]"#);
    let mut cut = span("c", "2", "1", said);
    cut["attributes"]
        .as_array_mut()
        .expect("a list")
        .extend(span("c", "2", "1", operation("chat"))["attributes"].as_array().cloned().expect("a list"));
    let spans = json!([
        span("a", "1", "", ("http.method", "GET")),
        span("b", "1", "", operation("embeddings")),
        cut,
        span("d", "1", "", operation("invoke_agent")),
        span("d", "2", "1", operation("execute_tool")),
        span("e", "1", "", operation("chat")),
    ]);
    let traces = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
    let folder = Folder::with("traces.json", traces.to_string());
    folder.jurat(&["import", "traces.json", "-o", "out", "--accept", "approximate,dropped"]);
    let unsaid = "no messages were recorded (content capture is off by default); checks of tokens, duration, cost and tools still work";
    let expected = [
        "dropped 2 traces: none of their spans is about a model, an agent or a tool".to_owned(),
        format!(
            "approximate trace `{}`: the parent of its outermost span `it` is not in the input, so what came before may be missing",
            "c".repeat(32)
        ),
        format!("approximate trace `{}`: {unsaid}", "d".repeat(32)),
        format!("approximate trace `{}`: {unsaid}", "e".repeat(32)),
    ];
    assert_eq!(differing(&folder), expected);
    let runs = fs::read_to_string(folder.path().join("out/runs.jsonl")).expect("runs");
    let runs: Vec<Value> = runs.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert!(runs.len() == 3 && runs.iter().all(|it| it["status"] == "success"), "{runs:#?}");
}

/// Sends a request, and returns the status line of the answer.
fn sent(address: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("the receiver listens");
    stream.write_all(&[head.as_bytes(), b"\r\n\r\n", body].concat()).expect("it reads");
    stream.shutdown(std::net::Shutdown::Write).expect("the connection is open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn traces_that_programs_send_are_received_and_imported() {
    let folder = Folder::empty();
    let mut command = folder.command();
    let receiver = command.args(["receive", "-o", "traces", "--port", "0", "--requests", "3"]).stdout(Stdio::piped());
    let mut receiver = receiver.spawn().expect("the command starts");
    let mut output = BufReader::new(receiver.stdout.take().expect("its output"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it says where it listens");
    let address = line
        .trim()
        .strip_prefix("listening on http://")
        .and_then(|it| it.strip_suffix("/v1/traces"))
        .expect(&line)
        .to_owned();

    let post = |path: &str, host: &str, fields: &str| format!("POST {path} HTTP/1.1\r\nhost: {host}\r\n{fields}");
    assert_eq!(sent(&address, &post("/v1/traces", "evil.example", "content-length: 0"), b""), "HTTP/1.1 403 Forbidden");
    assert_eq!(sent(&address, &post("/v1/metrics", "localhost:1", "content-length: 0"), b""), "HTTP/1.1 404 Not Found");
    assert_eq!(sent(&address, "GET /v1/traces HTTP/1.1\r\nhost: localhost", b""), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(
        sent(&address, &post("/v1/traces", "localhost", "content-length: 99999999999"), b""),
        "HTTP/1.1 413 Content Too Large"
    );
    assert_eq!(
        sent(&address, &post("/v1/traces", "localhost", "content-length: 9"), b"cut"),
        "HTTP/1.1 400 Bad Request"
    );
    // What an import would refuse is refused, and not stored; a request without anything is fine.
    for (body, answer) in
        [("{bad", "HTTP/1.1 400 Bad Request"), ("{\"a\": 1}", "HTTP/1.1 400 Bad Request"), ("{}", "HTTP/1.1 200 OK")]
    {
        let fields = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        assert_eq!(sent(&address, &post("/v1/traces", "localhost", &fields), body.as_bytes()), answer, "{body}");
    }

    let binary = sample("langfuse/sdk_v5_trace.pb");
    let head = post(
        "/v1/traces",
        "127.0.0.1:4318",
        &format!("content-type: application/x-protobuf\r\ncontent-length: {}", binary.len()),
    );
    assert_eq!(sent(&address, &head, &binary), "HTTP/1.1 200 OK");
    let lines = String::from_utf8(sample("otlp/genai_semconv.otlp.jsonl")).expect("text");
    let (first, rest) = lines.split_once('\n').expect("lines");
    let head =
        post("/v1/traces", "localhost", &format!("content-type: application/json\r\ncontent-length: {}", first.len()));
    assert_eq!(sent(&address, &head, first.as_bytes()), "HTTP/1.1 200 OK");
    let second = rest.lines().next().expect("a second line");
    let chunks = format!("{:x}\r\n{second}\r\n0\r\n\r\n", second.len());
    let head = post("/v1/traces", "localhost", "content-type: application/json\r\ntransfer-encoding: chunked");
    assert_eq!(sent(&address, &head, chunks.as_bytes()), "HTTP/1.1 200 OK");

    let mut printed = String::new();
    output.read_to_string(&mut printed).expect("it ends");
    assert!(receiver.wait().expect("it ends").success());
    assert!(printed.starts_with("3 requests received, "), "{printed}");
    let imported = folder.jurat(&["import", "traces", "-o", "runs"]);
    assert!(
        imported.stdout.starts_with("traces of OpenTelemetry (OTLP): 6 spans, 2 runs\n"),
        "{}{}",
        imported.stdout,
        imported.stderr
    );
}
