//! `jurat show`: runs read back, whole and in part, also those that are not done.

use std::fmt::Write;
use std::process::Stdio;

use jurat_core::value::{Val, Value, parse_json};
use jurat_testkit::{Endpoint, Script};

use crate::command::Folder;
use crate::kept::{greetings, greetings_run, refused, said, steady};

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
        "record total passed failed skipped error pass rate duration\n\
         r2 1 1 0 2 0 100.0 % T\n\
         \n\
         record task kind gate stage verdict path operator expected actual message\n\
         r2 is_english assert gate 1 failed language equals `en` `de` expected `en`, found `de`\n\
         r2 greets assert 2 skipped answer contains gate `is_english` failed\n\
         r2 short assert 1 passed answer has_length_less_than 20 `Hallo!`\n\
         r2 tone judge 3 skipped label equals gate `is_english` failed\n"
    );
}

#[test]
fn cases_are_found_by_how_they_or_their_tasks_ended() {
    let folder = greetings_run();
    let cases = "record total passed failed skipped error pass rate duration\n";
    let tasks = "record task kind stage verdict path operator expected actual label score message\n";
    for (arguments, expected) in [
        (vec!["--verdict", "failed"], format!("{cases}r3 3 0 3 0 0 0.0 % T\n")),
        (
            vec!["--task", "tone", "--verdict", "failed"],
            format!(
                "{tasks}r3 tone judge 3 failed label equals `polite` `rude` rude 0.100 expected `polite`, found `rude`\n"
            ),
        ),
        (
            vec!["--task", "tone", "--verdict", "skipped"],
            "record task kind stage verdict path operator message\n\
             r2 tone judge 3 skipped label equals gate `is_english` failed\n"
                .to_owned(),
        ),
        (
            vec!["--task", "greets", "--limit", "2"],
            "record task kind stage verdict path operator expected actual message\n\
             r1 greets assert 2 passed answer contains `Hello` `Hello Ada!`\n\
             r2 greets assert 2 skipped answer contains gate `is_english` failed\n\
             … and 1 more case\n"
                .to_owned(),
        ),
        (vec!["--verdict", "error"], "no case ended as `error`\n".to_owned()),
        (vec!["--task", "tone", "--verdict", "not_run"], "`tone` ended as `not_run` in no case\n".to_owned()),
    ] {
        assert_eq!(said(&folder, &[&["show"], arguments.as_slice()].concat()), expected, "{arguments:?}");
    }
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
    assert!(
        shown.starts_with(
            "record total passed failed skipped error pass rate duration\n\
             r3999 1 0 1 0 0 0.0 % T\n\
             r7999 1 0 1 0 0 0.0 % T\n\
             … and 8,998 more cases; of many, only those that did not pass are shown\n"
        ),
        "{shown}"
    );
    assert_eq!(
        said(&folder, &["show", "--verdict", "passed", "--limit", "1"]),
        "record total passed failed skipped error pass rate duration\nr0 1 1 0 0 0 100.0 % T\n… and 8,997 more cases\n"
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
            "there is no run `nothing`; name a file, the beginning of a run's name such as `greetings_RUN`, or `latest`",
        ),
        (vec!["suite.yaml"], "`suite.yaml` is not a run of jurat"),
        (vec!["--case", "r11"], "the run has no case `r11`; did you mean `r1`?"),
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
            "`not_judged` is said of cases, not of tasks; leave `--task` out, or look for `skipped`",
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
    let latest = folder.jurat(&["show", "latest"]).stdout;
    let elsewhere = Folder::empty();
    let (id, file) = (text("run_id"), text("file"));
    for name in [id, &id[..20], id.rsplit('_').next().expect("the last part"), file] {
        assert_eq!(folder.jurat(&["show", name]).stdout, latest, "{name}");
    }
    // Elsewhere the file has a longer name.
    let results = |folder: &Folder, name: &str| folder.jurat(&["show", name, "--results-only"]).stdout;
    assert_eq!(results(&elsewhere, file), results(&folder, "latest"));
}

#[test]
fn a_run_that_goes_on_or_was_killed_is_shown_as_far_as_it_came() {
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
    assert!(shown.contains("0 cases\nnot all cases are here: the run is still going on\n"), "{shown}");
    assert!(said(&folder, &["show", "--list"]).contains(" 0 – running\n"));
    let json = folder.jurat(&["show", "--json"]).stdout;
    assert!(json.contains("\"complete\":false,\"error\":\"the run is still going on\""), "{json}");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let shown = said(&folder, &["show"]);
    let killed = "not all cases are here: the run was killed; the command that began it goes on with it\n";
    assert!(shown.contains(killed), "{shown}");
    assert!(steady(&folder, &folder.jurat(&["show", "--list"]).stdout).contains(" 0 – killed\n"));
}
