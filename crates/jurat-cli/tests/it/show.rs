//! `jurat show`: runs read back, whole and in part, also those that are not done.

use std::fmt::Write;
use std::process::Stdio;

use jurat_format::value::{Val, Value, parse_json};
use jurat_testkit::{Endpoint, Script};

use crate::command::Folder;
use crate::stored::{greetings, greetings_run, refused, said, steady};

#[test]
fn a_run_is_shown_as_it_was_printed() {
    let folder = greetings();
    for more in [&[][..], &["--tasks"], &["--results-only"], &["--json"]] {
        let run = folder.jurat(&[&["run", "suite.yaml"], more].concat());
        let shown = folder.jurat(&[&["show"], more].concat());
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
        assert_eq!(shown.stdout, run.stdout);
    }
}

#[test]
fn one_case_is_shown_with_its_tasks() {
    let folder = greetings_run();
    assert_eq!(
        said(&folder, &["show", "--case", "r2"]),
        "r2: passed\n\
         answer Hallo!\n\
         ✗ is_english (gate) failed: expected `en`, found `de`\n\
         – greets skipped: gate `is_english` failed\n\
         ✓ short passed: found `Hallo!`\n\
         – tone skipped: gate `is_english` failed\n"
    );
}

#[test]
fn cases_are_found_by_how_they_or_their_tasks_ended() {
    let folder = greetings_run();
    let failed = "r3: failed\nanswer What do you want this time?\n";
    let tone = "✗ tone failed: expected `polite`, found `rude` (score 0.100)\nreason: It is impatient.\n";
    let greets = "✗ greets failed: expected text with `Hello`, found `What do you want this time?`\n";
    let short = "✗ short failed: expected a length of less than 20, found 27 characters\n";
    for (arguments, expected) in [
        (vec!["--verdict", "failed"], format!("{failed}{greets}{short}{tone}")),
        (vec!["--failed"], format!("{failed}{greets}{short}{tone}")),
        (vec!["--task", "tone", "--verdict", "failed"], format!("{failed}{tone}")),
        (
            vec!["--task", "tone", "--verdict", "skipped"],
            "r2: passed\nanswer Hallo!\n– tone skipped: gate `is_english` failed\n".to_owned(),
        ),
        (
            vec!["--task", "greets", "--limit", "2"],
            "r1: passed\nanswer Hello Ada!\n✓ greets passed: found `Hello Ada!`\n\n\
             r2: passed\nanswer Hallo!\n– greets skipped: gate `is_english` failed\n\n\
             and 1 more case: `--limit 3` shows them\n"
                .to_owned(),
        ),
        (vec!["--verdict", "error"], "no case of `greetings_RUN` has the verdict `error`\n".to_owned()),
        (
            vec!["--task", "tone", "--verdict", "not_run"],
            "no case of `greetings_RUN` has `tone` = not_run\n".to_owned(),
        ),
    ] {
        assert_eq!(said(&folder, &[&["show"], arguments.as_slice()].concat()), expected, "{arguments:?}");
    }
}

#[test]
fn a_case_is_named_by_its_id_the_beginning_of_it_or_its_row() {
    let suite = "suite: s\nrecords: data/rows.jsonl\ntasks: [{ id: zero, field_path: n, operator: equals, expected_value: 0 }]\n";
    let rows = "{\"n\": 0}\n{\"n\": 1}\n{\"id\": \"kitchen-1\", \"n\": 2}\n{\"id\": \"kitchen-20\", \"n\": 3}\n";
    let folder = Folder::with("suite.yaml", suite).and("data/rows.jsonl", rows);
    let ran = folder.jurat(&["run", "suite.yaml"]);
    assert!(ran.stdout.starts_with("rows.jsonl:2: failed\n    row   {\"n\": 1}\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nnext: jurat explain rows.jsonl:2 zero\n"), "{}", ran.stdout);
    let second = "rows.jsonl:2: failed\nrow {\"n\": 1}\n✗ zero failed: expected 0, found 1\n";
    for name in ["rows.jsonl:2", "data/rows.jsonl:2"] {
        assert_eq!(said(&folder, &["show", name]), second);
        assert_eq!(said(&folder, &["show", "--case", name]), second);
        assert_eq!(said(&folder, &["show", "latest", name]), second);
        assert!(said(&folder, &["explain", name, "zero"]).starts_with("zero of rows.jsonl:2: failed\n"));
    }
    assert!(said(&folder, &["show", "kitchen-2"]).starts_with("kitchen-20: failed\n"));
    assert_eq!(
        refused(&folder, &["show", "kitchen"]),
        "error: several cases begin with `kitchen`: `kitchen-1` and `kitchen-20`; write more of the id"
    );
    assert_eq!(
        refused(&folder, &["explain", "kitchen-3"]),
        "error: the run `s_RUN` has no case `kitchen-3`; it has `rows.jsonl:1`, `rows.jsonl:2`, `kitchen-1` and `kitchen-20`; did you mean `kitchen-1`?"
    );
}

#[test]
fn json_has_the_same_cases() {
    let folder = greetings_run();
    let cases = |arguments: &[&str]| {
        let ended = folder.jurat(&[&["show", "--json"], arguments].concat());
        let document =
            parse_json(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}")).value.into_owned();
        let cases =
            document.get("results").and_then(|it| it.get("cases")).and_then(Val::as_list).expect("cases").to_vec();
        let name = |it: &Value, key: &str| it.get(key).and_then(Val::as_str).map(str::to_owned).expect("a name");
        let tasks = |it: &Value| {
            let tasks = it.get("tasks").and_then(Val::as_list).expect("tasks");
            tasks.iter().map(|it| name(it, "task")).collect::<Vec<_>>().join(" ")
        };
        cases.iter().map(|it| format!("{}: {}", name(it, "id"), tasks(it))).collect::<Vec<_>>()
    };
    let all = "is_english greets short tone";
    assert_eq!(cases(&[]), [format!("r1: {all}"), format!("r2: {all}"), format!("r3: {all}")]);
    assert_eq!(cases(&["--limit", "1"]), [format!("r1: {all}")]);
    assert_eq!(cases(&["--case", "r2"]), [format!("r2: {all}")]);
    assert_eq!(cases(&["--case", "r2", "--task", "short"]), ["r2: short"]);
    assert_eq!(cases(&["--task", "tone", "--verdict", "failed"]), ["r3: tone"]);
    assert_eq!(cases(&["--verdict", "error"]), [""; 0]);
}

#[test]
fn of_many_cases_those_that_did_not_pass_are_shown() {
    let mut rows = String::new();
    for ix in 0..9_000 {
        let _ = writeln!(rows, "{{\"id\": \"r{ix}\", \"n\": {}}}", i32::from(ix % 4_000 == 3_999));
    }
    let suite =
        "suite: many\nrecords: rows.jsonl\ntasks: [{ id: zero, field_path: n, operator: equals, expected_value: 0 }]\n";
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", rows);
    folder.jurat(&["run", "suite.yaml"]);
    let shown = said(&folder, &["show"]);
    let failed =
        |id: &str| format!("{id}: failed\nrow {{\"id\": \"{id}\", \"n\": 1}}\n✗ zero failed: expected 0, found 1\n");
    assert!(shown.starts_with(&format!("{}\n{}\ntask ", failed("r3999"), failed("r7999"))), "{shown}");
    assert_eq!(
        said(&folder, &["show", "--verdict", "passed", "--limit", "1"]),
        "r0: passed\nrow {\"id\": \"r0\", \"n\": 0}\n\nand 8,997 more cases: `--limit 8998` shows them\n"
    );
}

#[test]
fn runs_are_listed_the_newest_first() {
    let folder = greetings();
    assert_eq!(said(&folder, &["show", "--list"]), "this project has no runs yet; `jurat run` makes one\n");
    folder.jurat(&["run", "suite.yaml"]);
    folder.jurat(&["run", "suite.yaml", "--limit", "1"]);
    let folder = folder.and(".jurat/runs/0000_broken.jurat", "no run");
    assert_eq!(
        said(&folder, &["show", "--list"]),
        "run suite started cases pass rate state\n\
         greetings_RUN greetings WHEN 1 100.0 % done\n\
         greetings_RUN greetings WHEN 3 57.1 % done\n\
         0000_broken unreadable: `.jurat/runs/0000_broken.jurat` is not a run of jurat\n"
    );
    assert!(said(&folder, &["show", "--list", "--limit", "1"]).ends_with("… and 2 older runs\n"));
    let json = said(&folder, &["show", "--list", "--json", "--limit", "1"]);
    assert_eq!(
        json,
        "{\"version\":1,\"runs\":[{\"run_id\":\"greetings_RUN\",\"file\":\".jurat/runs/greetings_RUN.jurat\",\
         \"suite\":\"greetings\",\"started_at\":\"WHEN\",\"cases\":1,\"pass_rate\":1.0,\"state\":\"done\"}]}\n"
    );
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let folder = greetings();
    assert_eq!(
        refused(&folder, &["show"]),
        "error: there is no run `latest`: neither this directory nor one above it has a `.jurat`; `jurat run` makes it"
    );
    folder.jurat(&["run", "suite.yaml"]);
    for (arguments, message) in [
        (
            vec!["nothing"],
            "there is no run `nothing`, and the run `greetings_RUN` has no case `nothing`; it has `r1`, `r2` and `r3`",
        ),
        (vec!["suite.yaml"], "`suite.yaml` is not a run of jurat"),
        (
            vec!["--case", "r11"],
            "the run `greetings_RUN` has no case `r11`; it has `r1`, `r2` and `r3`; did you mean `r1`?",
        ),
        (
            vec!["--task", "tones"],
            "the suite has no task `tones`; it has `is_english`, `greets`, `short` and `tone`; did you mean `tone`?",
        ),
        (
            vec!["--verdict", "skipped"],
            "a case is not skipped as a whole, its tasks are; name the task: `--task TASK --verdict skipped`",
        ),
        (
            vec!["--task", "tone", "--verdict", "not_judged"],
            "`not_judged` is a verdict of cases, not of tasks; remove `--task`, or filter by `skipped`",
        ),
    ] {
        assert_eq!(refused(&folder, &[&["show"], arguments.as_slice()].concat()), format!("error: {message}"));
    }
}

#[test]
fn a_run_is_found_by_its_file_and_by_parts_of_its_name() {
    let folder = greetings_run();
    let listed = folder.jurat(&["show", "--list", "--json"]).stdout;
    let listed = parse_json(&listed).unwrap_or_else(|error| panic!("{error}")).value;
    let run = listed.get("runs").and_then(Val::as_list).and_then(|it| it.first()).expect("a run");
    let text = |key: &str| run.get(key).and_then(Val::as_str).expect("a text");
    // The commands that a report proposes have the name that was given.
    let latest = folder.jurat(&["show", "latest", "--results-only"]).stdout;
    let elsewhere = Folder::empty();
    let (id, file) = (text("run_id"), text("file"));
    for name in [id, &id[..20], id.rsplit('_').next().expect("the last part"), file] {
        assert_eq!(folder.jurat(&["show", name, "--results-only"]).stdout, latest, "{name}");
    }
    // Elsewhere the file has a longer name.
    let results = |folder: &Folder, name: &str| folder.jurat(&["show", name, "--results-only"]).stdout;
    assert_eq!(results(&elsewhere, file), results(&folder, "latest"));
}

#[test]
fn a_run_in_progress_or_killed_is_shown_as_far_as_it_got() {
    let endpoint = Endpoint::start(Script::new().held());
    let suite = format!(
        "suite: slow\nrecords: [{{ id: a, n: 1 }}, {{ id: b, n: 2 }}]\n\
         models: {{ judge: {{ model: openai/m, base_url: '{}', api_key_env: SLOW_KEY }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }} }}\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite);
    let mut command = folder.command();
    command.args(["run", "suite.yaml"]).env("SLOW_KEY", "sk-0").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    endpoint.wait_until(|it| it.requests == 2);
    let shown = said(&folder, &["show"]);
    assert!(shown.contains("incomplete: not all cases are here: the run is still in progress\n0 cases\n"), "{shown}");
    assert!(said(&folder, &["show", "--list"]).contains(" 0 – running\n"));
    let json = folder.jurat(&["show", "--json"]).stdout;
    assert!(json.contains("\"complete\":false,\"error\":\"the run is still in progress\""), "{json}");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let shown = said(&folder, &["show"]);
    let killed = "incomplete: not all cases are here: the run was killed; the command that began it resumes it";
    assert!(shown.contains(killed), "{shown}");
    let json = folder.jurat(&["show", "--json"]).stdout;
    assert!(json.contains("\"conclusion\":\"limited\"") && json.contains(killed), "{json}");
    let markdown = folder.jurat(&["export", "--to", "markdown"]).stdout;
    assert!(markdown.contains(&format!("**{}**", killed.replace(':', "\\:"))), "{markdown}");
    let junit = folder.jurat(&["export", "--to", "junit"]).stdout;
    let error = format!("<error message=\"{killed}\" type=\"incomplete\"/>");
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\"") && junit.contains(&error), "{junit}");
    assert!(steady(&folder, &folder.jurat(&["show", "--list"]).stdout).contains(" 0 – killed\n"));
}
