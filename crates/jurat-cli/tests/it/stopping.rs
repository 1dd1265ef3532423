//! `jurat run --stop-when` and `--gate`, and `jurat plan --power`: what they end with, and what they say.

use std::fs;

use serde_json::Value;

use crate::command::{Ended, Folder};

/// Three hundred rows of which every tenth is open.
fn folder(gates: &str) -> Folder {
    let status = |it: usize| if it.is_multiple_of(10) { "open" } else { "paid" };
    let row = |it: usize| {
        let tags = if it == 1 { ",\"tags\":[\"critical\"]" } else { "" };
        format!("{{\"id\":\"r{it}\",\"status\":\"{}\"{tags}}}\n", status(it))
    };
    let suite = format!(
        "suite: invoices\nrecords: rows.jsonl\ntasks: [{{ id: paid, field_path: status, operator: equals, expected_value: paid }}]\n{gates}\n"
    );
    Folder::with("rows.jsonl", (0..300).map(row).collect::<String>()).and("suite.yaml", suite)
}

fn run(folder: &Folder, arguments: &[&str]) -> Ended {
    folder.jurat(&[&["run", "suite.yaml", "--seed", "5"], arguments].concat())
}

const RATE: &str = "gates: { conditions: [{ id: rate, at_least: 0.7, expect: 0.9 }] }";

#[test]
fn a_run_stops_when_its_gate_is_decided() {
    let folder = folder(RATE);
    let ended = run(&folder, &["--gate", "--stop-when", "decided"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("with 95 % confidence the pass rate is at least 70 %"), "{}", ended.stdout);
    assert!(ended.stdout.contains("pass: 1 condition is met"), "{}", ended.stdout);
    let again = folder.jurat(&["gate", "latest"]);
    assert_eq!(again.code, Some(0), "{}", again.stdout);
    // The verdict was reached by the policy of the run. Another one is not decided by it.
    fs::write(folder.path().join("policy.yaml"), "conditions: [{ id: rate, at_least: 0.71 }]\n")
        .expect("it is written");
    let other = folder.jurat(&["gate", "latest", "--policy", "policy.yaml"]);
    assert_eq!(other.code, Some(6), "{}", other.stdout);
    assert!(other.stdout.contains("is not complete"), "{}", other.stdout);
}

#[test]
fn a_replay_of_a_stopped_run_equals_it() {
    let folder = folder(RATE);
    let results = |ended: &Ended| {
        let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        document["results"].clone()
    };
    let ran = run(&folder, &["--stop-when", "decided", "--json", "--results-only"]);
    let replayed = folder.jurat(&["run", "suite.yaml", "--replay", "latest", "--json", "--results-only"]);
    assert_eq!(results(&ran), results(&replayed));
    assert!(results(&ran)["stopped_early"].is_object(), "{}", ran.stdout);
}

#[test]
fn a_paired_difference_is_decided() {
    let folder = folder("gates: { conditions: [{ id: quality, not_worse: 0.1 }] }");
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    assert_eq!(folder.jurat(&["export", "latest", "--to", "baseline", "-o", "main.jsonl"]).code, Some(0));
    let missing = run(&folder, &["--stop-when", "decided"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("condition `quality` compares with BASE, and there is none"), "{}", missing.stderr);
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--base", "main.jsonl"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("at most 10.0 points worse than that of BASE"), "{}", ended.stdout);
    let compared = folder.jurat(&["compare", "main.jsonl", "latest", "--json"]);
    let document: Value = serde_json::from_str(&compared.stdout).expect("it is JSON");
    let line = &document["comparisons"][0]["lines"][0];
    assert_eq!((&line["method"]["interval"], &line["p"]), (&Value::from("cs_mean"), &Value::Null), "{line}");
    assert!(line["interval"]["low"].as_f64() < Some(0.0), "{line}");
}

#[test]
fn the_code_of_a_gate_takes_the_place_of_the_thresholds() {
    for (gates, code) in [
        ("gates: { conditions: [{ id: rate, at_least: 0.7 }] }", 0),
        ("gates: { conditions: [{ id: rate, at_least: 0.97 }] }", 1),
        ("gates: { conditions: [{ id: rate, at_least: 0.9 }] }", 6),
        ("gates: { conditions: [{ id: first, tag: critical, all_pass: true }] }", 0),
        ("", 2),
    ] {
        let folder = folder(gates);
        let ended = folder.jurat(&["run", "suite.yaml", "--gate"]);
        assert_eq!(ended.code, Some(code), "{gates}\n{}{}", ended.stdout, ended.stderr);
    }
    // Without a gate a case that fails fails the run; a run without a case has no gate.
    let folder = folder(RATE);
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    assert_eq!(folder.jurat(&["run", "suite.yaml", "--gate", "--tag", "absent"]).code, Some(5));
    let json = folder.jurat(&["run", "suite.yaml", "--gate", "--json"]);
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok(), "the gate is not part of the document");
    assert!(json.stderr.contains("pass: 1 condition is met"), "{}", json.stderr);
}

#[test]
fn a_gate_that_is_certain_to_fail_ends_a_run_that_fails_fast() {
    let total = |gates: &str| {
        let ended = folder(gates).jurat(&["run", "suite.yaml", "--gate", "--fail-fast", "--json", "--results-only"]);
        let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        (ended.code, document["results"]["case_counts"]["total"].as_u64())
    };
    // A case that fails does not fail this gate.
    assert_eq!(total(RATE), (Some(0), Some(300)));
    let (code, n_cases) = total("gates: { conditions: [{ id: rate, at_least: 0.999 }] }");
    assert_eq!((code, n_cases < Some(300)), (Some(1), true), "{n_cases:?}");
    let (code, n_cases) = total("gates: { conditions: [{ id: all, all_pass: true }] }");
    assert_eq!((code, n_cases < Some(300)), (Some(1), true), "{n_cases:?}");
}

#[test]
fn what_cannot_be_decided_is_refused_before_anything_runs() {
    let better = "gates: { conditions: [{ id: more, better: 0.0 }], base: rows.jsonl }";
    let score = "gates: { conditions: [{ id: depth, task: paid, score: true, not_worse: 0.1 }] }";
    for (gates, arguments, expected) in [
        ("", ["--stop-when", "decided"].as_slice(), "needs conditions"),
        (RATE, &["--stop-when", "sure"], "`sure` is no rule; write `decided`"),
        (RATE, &["--stop-when", "decided", "--rerun", "failed"], "cannot be used with"),
        (better, &["--stop-when", "decided"], "is no baseline"),
        (score, &["--stop-when", "decided", "--base", "latest"], "has no score to compare"),
    ] {
        let ended = run(&folder(gates), arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?} {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?} {}", ended.stderr);
    }
    let ended = Folder::with(
        "suite.yaml",
        "records: '-'\ntasks: [{ id: t, field_path: x, operator: equals, expected_value: 1 }]\n",
    )
    .jurat(&["run", "suite.yaml", "--stop-when", "width=0.1"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("put them into a file"), "{}", ended.stderr);
}

#[test]
fn a_run_continues_after_its_decision_only_when_asked_to() {
    let folder = folder("");
    let arguments = ["--stop-when", "width=0.1", "--json", "--results-only"];
    let total = |ended: &Ended| {
        let document: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        document["results"]["case_counts"]["total"].as_u64()
    };
    let first = total(&run(&folder, &arguments));
    assert!(first < Some(300), "{first:?}");
    assert_eq!(total(&run(&folder, &arguments)), first, "it begins anew, in the order of the same seed");
    assert_eq!(total(&run(&folder, &[&arguments[..], &["--resume-decided"]].concat())), Some(300));
    let runs = fs::read_dir(folder.path().join(".jurat/runs")).expect("there are runs");
    assert_eq!(
        runs.filter(|it| it.as_ref().is_ok_and(|it| it.path().extension().is_some_and(|it| it == "jurat"))).count(),
        2
    );
}

#[test]
fn power_says_how_many_rows_a_question_needs() {
    let folder = folder(RATE);
    let power = |arguments: &[&str]| {
        let ended = folder.jurat(&[&["plan", "suite.yaml", "--json"], arguments].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        serde_json::from_str::<Value>(&ended.stdout).expect("it is JSON")
    };
    let effect = power(&["--power", "--effect", "5", "--discordance", "0.2"]);
    assert_eq!(effect["questions"][0]["rows"], 626);
    assert_eq!((&effect["rows"], &effect["assumed"]), (&Value::from(300), &Value::Bool(false)));
    let more = power(&["--power=0.9", "--effect", "5", "--discordance", "0.2"]);
    assert!(more["questions"][0]["rows"].as_u64() > Some(626));
    let conditions = power(&["--power", "--rate", "0.9"]);
    assert_eq!(
        (&conditions["questions"][0]["id"], &conditions["stopping"]),
        (&Value::from("rate"), &Value::from("rows_to_spare"))
    );
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    let from = power(&["--power", "--effect", "5", "--from", "latest"]);
    assert_eq!((&from["rate"], &from["from"]), (&Value::from(0.9), &Value::from("of latest")));
    let text = folder.jurat(&["plan", "suite.yaml", "--power"]).stdout;
    assert!(text.contains("pass rate 80 %") || text.contains("pass rate 80.0 % (assumed)"), "{text}");
    for arguments in
        [["plan", "suite.yaml", "--effect", "5"].as_slice(), &["plan", "suite.yaml", "--power", "--effect", "500"]]
    {
        assert_eq!(folder.jurat(arguments).code, Some(2), "{arguments:?}");
    }
}

/// Two hundred questions for two models. The first answers all, the second half of them.
#[test]
fn a_run_of_several_subjects_stops_when_each_is_decided() {
    let rows: String = (0..200).map(|it| format!("{{\"id\":\"r{it}\",\"n\":{it}}}\n")).collect();
    let reply = |it: usize, text: &str| format!("{{\"match\": {{\"case\": \"r{it}\"}}, \"reply\": \"{text}\"}}\n");
    let good: String = (0..200).map(|it| reply(it, "yes")).collect();
    let bad: String = (0..200).map(|it| reply(it, if it.is_multiple_of(2) { "yes" } else { "no" })).collect();
    let suite = "suite: two\nrecords: rows.jsonl\nmodels: { subject: [script/good.jsonl, script/bad.jsonl] }\nask: { prompt: \"Is ${n} a number?\" }\n\
        tasks: [{ id: said, field_path: output, operator: equals, expected_value: 'yes' }]\n\
        gates:\n  conditions:\n    - { id: good, subject: script/good.jsonl, at_least: 0.8, expect: 0.98 }\n    - { id: bad, subject: script/bad.jsonl, at_least: 0.2, expect: 0.5 }\n";
    let folder =
        Folder::with("rows.jsonl", rows).and("good.jsonl", good).and("bad.jsonl", bad).and("suite.yaml", suite);
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--json"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let stopped = &json["results"]["stopped_early"];
    assert!(stopped["rows"].as_u64() < Some(200), "{stopped}");
    // One row with both of its answers is one step, and the run lasts until both models are decided.
    let rows = |ix: usize| stopped["conditions"][ix]["rows"].as_u64();
    assert!(rows(0) != rows(1) && rows(0).max(rows(1)) == stopped["rows"].as_u64(), "{stopped}");
    assert_eq!(folder.jurat(&["gate", "latest"]).code, Some(0));
}

#[test]
fn conversations_are_steps_of_a_run_that_stops() {
    let scenario = |it: usize| {
        format!(
            "  s{it}: {{ entry: ask, nodes: {{ ask: {{ question: Is {it} a number? }} }}, outcomes: {{ ended: {{ status_is: completed }} }} }}\n"
        )
    };
    let scenarios: String = (0..120).map(scenario).collect();
    let suite = format!(
        "suite: talks\nmodels: {{ subject: script/replies.jsonl }}\nscenarios:\n{scenarios}gates: {{ conditions: [{{ id: ended, at_least: 0.6, expect: 0.95 }}] }}\n"
    );
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", "{\"reply\": \"yes\", \"times\": \"*\"}\n");
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--json"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert!(json["results"]["stopped_early"]["rows"].as_u64() < Some(120), "{}", json["results"]["stopped_early"]);
}

#[test]
fn runs_of_agents_are_steps_of_a_run_that_stops() {
    let case = |it: usize| {
        format!(
            "  - {{ id: c{it}, task: Say it., artifact: run.json, deterministic_checks: [{{ check_id: said, declarative: {{ kind: final_response_present }} }}] }}\n"
        )
    };
    let cases: String = (0..120).map(case).collect();
    let suite = format!(
        "suite: agents\nagents: {{ stored: {{ runner: recorded }} }}\ncases:\n{cases}gates: {{ conditions: [{{ id: said, at_least: 0.6, expect: 0.95 }}] }}\n"
    );
    let artifact = r#"{"identity": {"schema_version": 1, "run_id": "r", "case_id": "c", "suite_id": "agents", "run_profile_id": "default", "runner_type": "command"},
        "status": "success", "request": {"requested_model": "m"}, "trace": [{"sequence": 0, "event_type": "final_output", "content": "It."}]}"#;
    let folder = Folder::with("suite.yaml", suite).and("run.json", artifact);
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--json"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert!(json["results"]["stopped_early"]["rows"].as_u64() < Some(120), "{}", json["results"]["stopped_early"]);
}

/// The gate adjusts p values of failing for the number of conditions. What stops a run must survive that.
#[test]
fn one_of_several_conditions_fails_early() {
    let conditions =
        "{ id: all, at_least: 0.97 }, { id: paid, task: paid, at_least: 0.5 }, { id: most, at_least: 0.6 }";
    let folder = folder(&format!("gates: {{ conditions: [{conditions}] }}"));
    let ended = run(&folder, &["--gate", "--stop-when", "decided,no-hopeless"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("stopped after"), "{}", ended.stdout);
    let again = folder.jurat(&["gate", "latest"]);
    assert_eq!(again.code, Some(1), "{}", again.stdout);
}

#[test]
fn the_scale_of_a_score_comes_from_the_output_of_its_judge() {
    let suite = |output: &str| {
        format!(
            "suite: depth\nrecords: rows.jsonl\nmodels: {{ judge: script/replies.jsonl }}\n\
             tasks: [{{ id: depth, judge: {{ prompt: 'How deep is ${{answer}}?', output: {{ score: {output} }} }} }}]\n\
             gates: {{ conditions: [{{ id: depth, task: depth, score: true, not_worse: 2 }}] }}\n"
        )
    };
    let rows: String = (0..300).map(|it| format!("{{\"id\":\"r{it}\",\"answer\":\"a{it}\"}}\n")).collect();
    let replies = "{\"reply\": {\"score\": 7}, \"times\": \"*\"}\n".to_owned();
    let folder = Folder::with("rows.jsonl", rows).and("replies.jsonl", replies);
    let folder = folder.and("suite.yaml", suite("{ type: number, minimum: 0, maximum: 10 }"));
    // It measures, and judges nothing.
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(5));
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--base", "latest"]);
    assert!(ended.stdout.contains("stopped after"), "{}", ended.stdout);
    // The gate has an answer where the suite itself judges nothing.
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let folder = folder.and("suite.yaml", suite("number"));
    let ended = run(&folder, &["--gate", "--stop-when", "decided", "--base", "latest"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("needs `range`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("has no `minimum` and `maximum`"), "{}", ended.stderr);
}
