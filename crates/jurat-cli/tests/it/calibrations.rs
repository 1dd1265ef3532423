//! Runs and labels beside what `jurat calibrate` writes about them. A new directory of `tests/calibrations/` is a new test.
//!
//! A directory holds `suite.yaml`, files of labels whose names begin with `labels`, whatever the suite names, and `arguments.txt` with further arguments.
//! `calibrate.txt`, `calibrate.json` and `calibrate.md` are what it writes; `problems.txt` alone is what it writes about labels that are wrong.
//! `later.yaml` is run afterwards, and `later.txt` is what `jurat show` says about it.
//!
//! `JURAT_BLESS=1` writes the expected texts anew.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Folder, root};

/// What is written, by the name of the file that says so.
const FORMATS: [(&str, &str); 3] =
    [("calibrate.txt", "text"), ("calibrate.json", "json"), ("calibrate.md", "markdown")];

#[test]
fn every_judge_is_calibrated_as_it_should() {
    let entries = fs::read_dir(root().join("tests/calibrations")).expect("the directory can be listed");
    let mut n_directories = 0;
    for entry in entries {
        let directory = entry.expect("it can be listed").path();
        let folder = copied(&directory);
        let run = folder.jurat(&["run", "suite.yaml"]);
        assert!(matches!(run.code, Some(0 | 1 | 3 | 5)), "{run:?}");
        check(&directory, &folder);
        n_directories += 1;
    }
    assert!(n_directories > 3, "there are {n_directories} directories");
}

fn copied(directory: &Path) -> Folder {
    let files = fs::read_dir(directory).expect("the directory can be listed");
    files.fold(Folder::empty(), |folder, file| {
        let path = file.expect("it can be listed").path();
        let name = path.file_name().and_then(|it| it.to_str()).expect("names are text").to_owned();
        folder.and(&name, fs::read(path).expect("files can be read"))
    })
}

fn check(directory: &Path, folder: &Folder) {
    if directory.join("problems.txt").exists() {
        let ended = calibrated(folder, "text");
        let text = format!("{}exit code {}\n", ended.stderr, ended.code.unwrap_or_default());
        return compared(&directory.join("problems.txt"), text);
    }
    for (file, format) in FORMATS {
        let ended = calibrated(folder, format);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", directory.display());
        compared(&directory.join(file), ended.stdout);
    }
    if directory.join("later.yaml").exists() {
        let later = folder.jurat(&["run", "later.yaml"]);
        assert!(matches!(later.code, Some(0 | 1 | 3)), "{later:?}");
        let shown = folder.jurat(&["show"]).stdout;
        let said = shown.lines().filter(|it| it.contains("pass rate is") || it.contains("corrected pass rate"));
        compared(&directory.join("later.txt"), said.map(|it| format!("{it}\n")).collect());
    }
}

fn calibrated(folder: &Folder, format: &str) -> crate::command::Ended {
    let given = fs::read_to_string(folder.path().join("arguments.txt")).unwrap_or_default();
    let mut labels: Vec<String> = fs::read_dir(folder.path())
        .expect("the folder can be listed")
        .filter_map(|it| it.expect("it can be listed").file_name().into_string().ok())
        .filter(|it| it.starts_with("labels"))
        .collect();
    labels.sort_unstable();
    let mut arguments = vec!["calibrate", "--labels"];
    arguments.extend(labels.iter().map(String::as_str));
    arguments.extend(given.split_whitespace());
    arguments.extend(["--results-only", "--format", format]);
    folder.jurat(&arguments)
}

fn compared(path: &PathBuf, text: String) {
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(path, text).expect("snapshots can be written");
    } else {
        assert_eq!(text, fs::read_to_string(path).unwrap_or_default(), "{}", path.display());
    }
}

/// Sixty replies, a judge of them, and labels of people.
fn replies() -> Folder {
    let folder = copied(&root().join("examples/judges"));
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    folder
}

/// A sheet with the labels of `ada`, filled in from what she said of all replies.
fn filled(folder: &Folder, sheet: &str) -> String {
    let said = fs::read_to_string(folder.path().join("labels.csv")).expect("labels are there");
    let label = |case: &str| {
        let line = said.lines().find(|it| it.starts_with(&format!("{case},")) && it.ends_with(",ada"));
        line.and_then(|it| it.split(',').nth(1)).expect("every reply has a label").to_owned()
    };
    let mut lines = sheet.lines();
    let mut text = lines.next().expect("a header").to_owned() + "\n";
    for line in lines {
        let case = line.split(',').next().expect("an id");
        text += &line.replacen(",,,", &format!(",{},ada,", label(case)), 1);
        text.push('\n');
    }
    text
}

#[test]
fn a_sheet_is_blind_seeded_and_has_half_of_each_verdict() {
    let folder = replies();
    let sheet = folder.jurat(&["calibrate", "--sample", "20"]).stdout;
    assert_eq!(sheet, folder.jurat(&["calibrate", "--sample", "20"]).stdout);
    assert_ne!(sheet, folder.jurat(&["calibrate", "--sample", "20", "--seed", "2"]).stdout);
    let strata = |name: &str| sheet.lines().filter(|it| it.contains(&format!(",,,{name},"))).count();
    assert_eq!((strata("a"), strata("b"), sheet.lines().count()), (10, 10, 21));
    for word in ["passed", "failed", "it answers the question", "true", "false"] {
        assert!(!sheet.contains(word), "the sheet says `{word}`: {sheet}");
    }
}

#[test]
fn a_sheet_that_was_filled_in_corrects_the_pass_rate_and_the_next_one_has_other_cases() {
    let folder = replies();
    let sheet = folder.jurat(&["calibrate", "--sample", "40"]).stdout;
    let text = filled(&folder, &sheet);
    let folder = folder.and("sheet.csv", text);
    let text = folder.jurat(&["calibrate", "--labels", "sheet.csv"]).stdout;
    assert!(text.contains("corrected for its errors the pass rate is"), "{text}");
    assert!(text.contains("each represents the cases with its verdict"), "{text}");
    let next = folder.jurat(&["calibrate", "--sample", "10", "--labels", "sheet.csv"]).stdout;
    let case = |line: &str| line.split(',').next().unwrap_or_default().to_owned();
    let before: Vec<String> = sheet.lines().skip(1).map(case).collect();
    assert_eq!(next.lines().count(), 11);
    assert!(next.lines().skip(1).all(|it| !before.contains(&case(it))), "{next}");
    let json: serde_json::Value = serde_json::from_str(&folder.jurat(&["show", "--json"]).stdout).expect("JSON");
    assert_eq!(json["corrected"][0]["method"], "poststratified");
    assert_eq!(json["corrected"][0]["task"], "helpful");
    let markdown = folder.jurat(&["export", "--to", "markdown"]).stdout;
    assert!(markdown.contains("corrected for its errors the pass rate is"), "{markdown}");
}

/// Twelve questions, answered by a model whose answer to every third depends on its name.
fn answers() -> Folder {
    let suite = "suite: capitals\nrecords: records.jsonl\nmodels: { subject: script/one.jsonl, judge: script/judge.jsonl }\n\
        ask: { prompt: \"${question}\" }\ntasks:\n  - id: brief\n    judge: { prompt: \"Brief? ${output}\", output: { ok: boolean } }\n    \
        field_path: ok\n    operator: equals\n    expected_value: true\n";
    let rows: String =
        (0..12).map(|it| format!("{{\"id\": \"q{it:02}\", \"question\": \"Capital {it}?\"}}\n")).collect();
    let replies = |model: &str| -> String {
        let reply = |it: usize| {
            let text = if it.is_multiple_of(3) { format!("{model} {it}") } else { format!("City {it}") };
            let usage = format!("{{\"input\": {}, \"output\": 2}}", model.len());
            format!("{{\"match\": {{\"case\": \"q{it:02}\"}}, \"reply\": \"{text}\", \"usage\": {usage}}}\n")
        };
        (0..12).map(reply).collect()
    };
    Folder::with("suite.yaml", suite)
        .and("records.jsonl", rows)
        .and("one.jsonl", replies("first"))
        .and("two.jsonl", replies("another"))
        .and("judge.jsonl", "{\"reply\": {\"ok\": true}, \"times\": \"*\"}\n")
}

#[test]
fn a_label_counts_in_a_later_run_with_the_same_answer_of_another_model() {
    let folder = answers();
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    let sheet = folder.jurat(&["calibrate", "--sample", "12"]).stdout.replace(",,,", ",pass,ada,");
    let folder = folder.and("sheet.csv", sheet);
    let later = folder.jurat(&["run", "suite.yaml", "--model", "subject=script/two.jsonl"]);
    assert_eq!(later.code, Some(0), "{later:?}");
    let json = folder.jurat(&["calibrate", "--labels", "sheet.csv", "--random", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((json["labels"]["n"].as_u64(), json["labels"]["other_answer"].as_u64()), (Some(8), Some(4)), "{json}");
}

#[test]
fn a_calibration_of_another_prompt_is_reported_as_stale_and_not_used() {
    let folder = replies();
    assert_eq!(folder.jurat(&["calibrate", "--labels", "labels.csv", "--random"]).code, Some(0));
    let run = folder.jurat(&["run", "suite.yaml"]).stdout;
    assert!(run.contains("corrected for its errors the pass rate is"), "{run}");
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("the suite is there");
    let folder = folder.and("suite.yaml", suite.replace("Kind words alone do not.", "Be strict."));
    let run = folder.jurat(&["run", "suite.yaml"]).stdout;
    assert!(run.contains("no corrected pass rate: the calibration is stale: the prompt of `helpful` changed"), "{run}");
    assert!(!run.contains("corrected for its errors"), "{run}");
}

#[test]
fn labels_that_are_about_nothing_of_the_run_are_counted() {
    let folder = replies().and("other.csv", "case,label\nno-such-case,pass\n");
    let ended = folder.jurat(&["calibrate", "--labels", "other.csv"]);
    assert_eq!(ended.code, Some(5));
    assert!(ended.stderr.contains("1 about cases that it does not have"), "{}", ended.stderr);
}

/// The same replies, judged again after the judge changed its mind about some of them.
fn judged_again(folder: Folder) -> Folder {
    let replies = fs::read_to_string(folder.path().join("replies.jsonl")).expect("replies are there");
    let cases = ["r04", "r09", "r14", "r19", "r24", "r29"];
    let is_meant = |line: &str| cases.iter().any(|it| line.contains(&format!("{{\"case\": \"{it}\"}}")));
    let lines = replies.lines().map(|it| if is_meant(it) { it.replace("false", "true") } else { it.to_owned() });
    let replies: String = lines.map(|it| it + "\n").collect();
    let folder = folder.and("replies.jsonl", replies);
    assert_eq!(folder.jurat(&["run", "suite.yaml", "--fresh"]).code, Some(1));
    folder
}

/// The names of the runs, the newest first.
fn runs(folder: &Folder) -> Vec<String> {
    let listed = folder.jurat(&["show", "--list", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&listed).expect("it is JSON");
    let runs = json["runs"].as_array().expect("a list");
    runs.iter().map(|it| it["run_id"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_difference_is_corrected_by_the_judge_of_both_sides() {
    let folder = replies();
    let ended = folder.jurat(&["calibrate", "--labels", "labels.csv", "--random", "-o", "helpful.json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let folder = judged_again(folder);
    let names = runs(&folder);
    let json = folder.jurat(&["compare", &names[1], &names[0], "--json", "--calibration", "helpful.json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let lines = json["comparisons"][0]["lines"].as_array().expect("a list");
    let line = lines.iter().find(|it| it["about"] == "task").expect("a line about the task");
    let (found, corrected) = (&line["difference"], &line["corrected"]);
    assert_eq!((found.as_f64(), corrected["method"].as_str()), (Some(0.1), Some("rogan_gladen")), "{line}");
    assert!(corrected["difference"].as_f64() > found.as_f64(), "{line}");
    let text = folder.jurat(&["compare", &names[1], &names[0]]).stdout;
    assert!(text.contains("Corrected for the errors of its judge, `helpful` differs by +"), "{text}");
}

#[track_caller]
fn gated(folder: &Folder, policy: &str, code: i32, says: &str) {
    fs::write(folder.path().join("policy.yaml"), format!("conditions: [{policy}]\n")).expect("it can be written");
    let ended = folder.jurat(&["gate", "latest", "--policy", "policy.yaml"]);
    assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
}

#[test]
fn a_gate_asks_for_a_judge_that_agrees_with_people() {
    let folder = replies();
    let judge = |measure: &str, least: f64| {
        format!("{{ id: judge, judge: helpful, agreement: {{ measure: {measure}, at_least: {least} }}, max_age: 90d }}")
    };
    gated(&folder, &judge("kappa", 0.4), 6, "there is no calibration of `helpful`");
    assert_eq!(folder.jurat(&["calibrate", "--labels", "labels.csv", "--random"]).code, Some(0));
    gated(&folder, &judge("kappa", 0.4), 0, "kappa 0.71, between 0.53 and 0.90");
    gated(&folder, &judge("specificity", 0.95), 1, "specificity 75.0 %");
    gated(&folder, &judge("weighted_kappa", 0.4), 6, "the calibration has no weighted kappa");
    let corrected = "{ id: rate, task: helpful, at_least: 0.4, corrected: true }";
    gated(&folder, corrected, 0, "corrected for the judge's errors");
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("the suite is there");
    let folder = folder.and("suite.yaml", suite.replace("Kind words alone do not.", "Be strict."));
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(1));
    gated(&folder, &judge("kappa", 0.4), 6, "stale: the prompt of `helpful` changed");
    gated(&folder, corrected, 6, "stale: the prompt of `helpful` changed");
}

#[test]
fn a_probe_asks_the_judge_once_more_as_a_run_of_its_own() {
    let folder = replies();
    let arguments = ["calibrate", "--labels", "labels.csv", "--random", "--json", "--probe", "order,verbosity,repeat"];
    let ended = folder.jurat(&arguments);
    assert_eq!(
        ended.stderr,
        "note: the probe `order` is not possible: the judge has no `enum` of options that could be put in another order\n"
    );
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let probe = |ix: usize| {
        let it = &json["probes"][ix];
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        (text("kind"), it["cases"].as_u64(), it["flipped"]["value"].as_f64(), text("word"))
    };
    let words = |kind: &str, word: &str| (kind.to_owned(), word.to_owned());
    let (kind, cases, flipped, word) = probe(0);
    assert_eq!(((kind, word), cases, flipped), (words("verbosity", "better"), Some(60), Some(7.0 / 60.0)));
    let (kind, cases, flipped, word) = probe(1);
    assert_eq!(((kind, word), cases, flipped), (words("repeat", "not_shown"), Some(60), Some(0.0)));
    assert_eq!((probes(&folder).len(), runs(&folder).len()), (2, 1));
}

/// The files of probes.
fn probes(folder: &Folder) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.path().join(".jurat/probes")).expect("probes are stored");
    let files = files.map(|it| it.expect("it can be listed").path());
    files.filter(|it| it.extension().is_some_and(|it| it == "jurat")).collect()
}

#[test]
fn the_order_of_options_is_probed() {
    let suite = "suite: tone\nrecords: records.jsonl\nmodels: { judge: script/replies.jsonl }\ntasks:\n  \
        - id: tone\n    judge: { prompt: \"Rate ${answer}\", output: { label: { enum: [polite, rude] } } }\n    field_path: label\n    operator: equals\n    expected_value: polite\n";
    let rows: String = (0..12).map(|it| format!("{{\"id\": \"r{it:02}\", \"answer\": \"Answer {it}\"}}\n")).collect();
    let labels: String =
        (0..12).map(|it| format!("r{it:02},{}\n", if it % 2 == 0 { "pass" } else { "fail" })).collect();
    let reply = |it: usize| {
        let label = if it.is_multiple_of(2) { "polite" } else { "rude" };
        format!("{{\"match\": {{\"case\": \"r{it:02}\"}}, \"reply\": {{\"label\": \"{label}\"}}, \"times\": \"*\"}}\n")
    };
    let folder = Folder::with("suite.yaml", suite)
        .and("records.jsonl", rows)
        .and("labels.csv", format!("case,label\n{labels}"))
        .and("replies.jsonl", (0..12).map(reply).collect::<String>());
    folder.jurat(&["run", "suite.yaml"]);
    let ended = folder.jurat(&["calibrate", "--labels", "labels.csv", "--json", "--probe", "order"]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!((json["probes"][0]["cases"].as_u64(), ended.stderr.as_str()), (Some(12), ""));
    let probe = probes(&folder).pop().expect("there is one").display().to_string();
    let asked = folder.jurat(&["explain", "r00", "tone", "--run", &probe]).stdout;
    assert!(asked.contains("\"enum\": [\"rude\", \"polite\"]"), "{asked}");
}

#[test]
fn labels_of_both_sides_correct_a_difference_whatever_the_judges_do() {
    let folder = replies();
    let calibrated = |folder: &Folder, file: &str| {
        let ended = folder.jurat(&["calibrate", "--labels", "labels.csv", "--random", "--no-store", "-o", file]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    calibrated(&folder, "base.json");
    let folder = judged_again(folder);
    calibrated(&folder, "new.json");
    let names = runs(&folder);
    let arguments = ["compare", &names[1], &names[0], "--calibration", "base.json", "--calibration", "new.json"];
    let json = folder.jurat(&[&arguments[..], &["--json"]].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let lines = json["comparisons"][0]["lines"].as_array().expect("a list");
    let line = lines.iter().find(|it| it["about"] == "task").expect("a line about the task");
    // The replies are the same, and so are their labels: it is the judge that changed its mind.
    let corrected = &line["corrected"];
    assert_eq!((line["difference"].as_f64(), corrected["difference"].as_f64()), (Some(0.1), Some(0.0)), "{line}");
    assert_eq!(corrected["method"], "ppi_mean");
    let end = |name: &str| corrected["interval"][name].as_f64().expect("an end");
    assert!(end("low") < 0.0 && end("high") > 0.0, "{corrected}");
    let text = folder.jurat(&arguments).stdout;
    assert!(text.contains("`helpful` differs by 0.0 points"), "{text}");
    assert!(text.contains("by what people said of cases on both sides"), "{text}");
}

/// Probes ask the judge again about what was recorded, whatever a case is: neither subjects nor agents are started again.
#[test]
fn judges_of_conversations_and_of_agents_are_probed() {
    let task = |prompt: &str| {
        format!(
            "tasks:\n  - id: tone\n    judge: {{ prompt: \"Rate {prompt}\", output: {{ label: {{ enum: [polite, rude] }} }} }}\n    field_path: label\n    operator: equals\n    expected_value: polite\n"
        )
    };
    let scenarios: String = (0..12)
        .map(|it| format!("  c{it:02}: {{ entry: ask, nodes: {{ ask: {{ question: Is {it} a number? }} }} }}\n"))
        .collect();
    let talks = format!(
        "suite: talks\nmodels: {{ subject: script/subject.jsonl, judge: script/replies.jsonl }}\nscenarios:\n{scenarios}{}",
        task("${history}")
    );
    let cases: String =
        (0..12).map(|it| format!("  - {{ id: c{it:02}, task: Say it., artifact: run.json }}\n")).collect();
    let agents = format!(
        "suite: agents\nmodels: {{ judge: script/replies.jsonl }}\nagents: {{ stored: {{ runner: recorded }} }}\ncases:\n{cases}{}",
        task("${final_response}")
    );
    for suite in [talks, agents] {
        let folder = judged_cases(&suite);
        let ran = folder.jurat(&["run", "suite.yaml"]);
        assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
        let ended =
            folder.jurat(&["calibrate", "--labels", "labels.csv", "--json", "--probe", "order,verbosity,repeat"]);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr));
        let found = json["probes"].as_array().expect("a list");
        let kinds: Vec<(Option<&str>, Option<u64>)> =
            found.iter().map(|it| (it["kind"].as_str(), it["cases"].as_u64())).collect();
        assert!(
            kinds.contains(&(Some("order"), Some(12))) && kinds.contains(&(Some("repeat"), Some(12))),
            "{kinds:?} {}",
            ended.stderr
        );
    }
}

/// Twelve cases whose judge passes every second one, and labels that agree.
fn judged_cases(suite: &str) -> Folder {
    let artifact = r#"{"identity": {"schema_version": 1, "run_id": "r", "case_id": "c", "suite_id": "agents", "run_profile_id": "default", "runner_type": "command"},
        "status": "success", "request": {"requested_model": "m"}, "trace": [{"sequence": 0, "event_type": "final_output", "content": "It."}]}"#;
    let is_good = |it: usize| it.is_multiple_of(2);
    let labels: String =
        (0..12).map(|it| format!("c{it:02},{}\n", if is_good(it) { "pass" } else { "fail" })).collect();
    let reply = |it: usize| {
        let label = if is_good(it) { "polite" } else { "rude" };
        format!("{{\"match\": {{\"case\": \"c{it:02}\"}}, \"reply\": {{\"label\": \"{label}\"}}, \"times\": \"*\"}}\n")
    };
    Folder::with("suite.yaml", suite)
        .and("run.json", artifact)
        .and("subject.jsonl", "{\"reply\": \"yes\", \"times\": \"*\"}\n")
        .and("labels.csv", format!("case,label\n{labels}"))
        .and("replies.jsonl", (0..12).map(reply).collect::<String>())
}
