//! `jurat check` and its siblings: arguments, exit codes, and which stream says what.

use serde_json::Value;

use crate::command::{Ended, Folder, ended};

const GOOD: &str =
    "suite: support\nrecords: [{ answer: Paid. }]\ntasks: [{ id: paid, field_path: answer, operator: is_string }]\n";
const WARNED: &str =
    "suite: support\nrecords: [{ answer: Paid. }]\ntasks: [{ id: paid, field_path: anwser, operator: is_string }]\n";
const WRONG: &str =
    "suite: support\nrecords: [{ answer: Paid. }]\ntasks: [{ id: paid, field_path: answer, operator: is_strng }]\n";

/// Runs the command on a suite, and compares its exit code and both streams.
#[track_caller]
fn ends(suite: &str, arguments: &[&str], code: i32, stdout: &str, stderr_has: &str) {
    let Ended { code: found, stdout: said, stderr } =
        Folder::with("suite.yaml", suite).and("s.jsonl", "{\"reply\": \"yes\"}\n").jurat(arguments);
    assert_eq!((found, said.as_str()), (Some(code), stdout), "{stderr}");
    assert!(if stderr_has.is_empty() { stderr.is_empty() } else { stderr.contains(stderr_has) }, "{stderr}");
}

#[test]
fn exit_codes_say_whether_it_would_run() {
    let ready = "suite.yaml: 1 task, 1 sample row, ready to run\n";
    ends(GOOD, &["check", "suite.yaml"], 0, ready, "");
    ends(GOOD, &["check", "--strict", "suite.yaml"], 0, ready, "");
    ends(WARNED, &["check", "suite.yaml"], 0, ready, "1 warning\n");
    ends(WRONG, &["check", "suite.yaml"], 2, "", "1 error\n");
    let talk = "models: { subject: script/s.jsonl }\nscenarios: { hi: { entry: a, nodes: { a: { question: Hi } }, \
                outcomes: { ended: { status_is: completed } } } }\n";
    ends(talk, &["check", "suite.yaml"], 0, "suite.yaml: 1 scenario, 1 task, ready to run\n", "");
    let both = format!("{talk}{}", GOOD.replace("id: paid,", "id: paid, on: records,"));
    ends(&both, &["check", "suite.yaml"], 0, "suite.yaml: 1 scenario, 2 tasks, 1 sample row, ready to run\n", "");
    ends(WRONG, &["check", "--strict", "suite.yaml"], 2, "", "1 error\n");
}

#[test]
fn strict_refuses_what_it_warns_about() {
    let Ended { code, stdout, stderr } = Folder::with("suite.yaml", WARNED).jurat(&["check", "--strict", "suite.yaml"]);
    assert_eq!(code, Some(2));
    assert!(!stdout.contains("ready to run"), "{stdout}");
    assert!(stderr.contains("warning[plan::unknown_name]"), "{stderr}");
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    ends(GOOD, &[], 2, "", "Usage: jurat");
    ends(GOOD, &["chekc"], 2, "", "check");
    ends(GOOD, &["check", "--strickt", "suite.yaml"], 2, "", "--strict");
    ends(GOOD, &["check", "--format", "xml", "suite.yaml"], 2, "", "[possible values: text, json]");
    ends(GOOD, &["check", "--json", "--format", "text", "suite.yaml"], 2, "", "cannot be used with");
}

#[test]
fn help_says_what_matters() {
    let folder = Folder::empty();
    let says = |arguments: &[&str], words: &[&str]| {
        let Ended { code, stdout, .. } = folder.jurat(arguments);
        assert_eq!(code, Some(0));
        for word in words {
            assert!(stdout.contains(word), "`jurat {}` does not say `{word}`:\n{stdout}", arguments.join(" "));
        }
    };
    says(
        &["--help"],
        &[
            "init",
            "run",
            "check",
            "schema",
            "Exit codes:",
            "0    passed",
            "3    errors: some cases could not be judged",
            "2    the definition or the command is wrong",
        ],
    );
    says(&["check", "--help"], &["without running", "--strict", "--json", "--format", "jurat.yaml", "100 sample rows"]);
    says(&["init", "--help"], &["--kind", "records", "ask", "without a network", "--json"]);
    says(&["run", "--help"], &["--tasks", "--model", "script/FILE", "--limit", "-j", "--json", "jurat.yaml"]);
    says(&["check", "-h"], &["--strict"]);
    says(&["schema", "--help"], &["JSON Schema", "yaml-language-server"]);
    says(&["--version"], &["jurat "]);
}

#[test]
fn json_is_one_object_with_places() {
    let Ended { code, stdout, stderr } =
        Folder::with("suite.yaml", format!("{WARNED}nmae: x\n")).jurat(&["check", "--json", "suite.yaml"]);
    assert_eq!((code, stderr.as_str(), stdout.lines().count()), (Some(2), "", 1));
    let json: Value = serde_json::from_str(&stdout).expect("the output is JSON");
    assert_eq!((&json["version"], &json["errors"], &json["warnings"]), (&1.into(), &1.into(), &1.into()));
    let problems = json["problems"].as_array().expect("a list of problems");
    let codes: Vec<&str> = problems.iter().filter_map(|it| it["code"].as_str()).collect();
    assert_eq!(codes, ["plan::unknown_name", "suite::unknown_key"]);
    let problem = &problems[1];
    assert_eq!(problem["severity"], "error");
    assert_eq!(problem["message"], "a suite has no key `nmae`");
    assert_eq!(problem["docs"], "docs/problems/suite/unknown_key.md");
    for place in [problem, &problem["labels"][0]] {
        let numbers = ["line", "column", "end_line", "end_column"].map(|key| place[key].as_u64());
        assert_eq!((place["file"].as_str(), numbers), (Some("suite.yaml"), [4, 1, 4, 5].map(Some)));
    }
    assert!(problem["help"].as_array().is_some_and(|it| !it.is_empty()), "{problem}");
}

#[test]
fn json_of_a_good_suite_has_no_problems() {
    let nothing = "{\"version\":1,\"problems\":[],\"errors\":0,\"warnings\":0}\n";
    ends(GOOD, &["check", "--json", "suite.yaml"], 0, nothing, "");
    ends(GOOD, &["check", "--format", "json", "suite.yaml"], 0, nothing, "");
}

#[test]
fn several_files_are_checked_each_for_itself() {
    let folder = Folder::with("good.yaml", GOOD).and("warned.yaml", WARNED).and("wrong.yaml", WRONG);
    let Ended { code, stdout, stderr } = folder.jurat(&["check", "wrong.yaml", "good.yaml", "warned.yaml"]);
    assert_eq!(code, Some(2));
    let ready = "1 task, 1 sample row, ready to run\n";
    assert_eq!(stdout, format!("good.yaml: {ready}warned.yaml: {ready}"));
    assert!(stderr.contains("--> wrong.yaml:3:") && stderr.contains("--> warned.yaml:3:"), "{stderr}");
    assert!(stderr.ends_with("1 error, 1 warning\n"), "{stderr}");

    let Ended { stdout, .. } = folder.jurat(&["check", "--json", "wrong.yaml", "warned.yaml"]);
    let json: Value = serde_json::from_str(&stdout).expect("several files make one object");
    let files: Vec<&str> = json["problems"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str()).collect();
    assert_eq!(files, ["wrong.yaml", "warned.yaml"]);
}

#[test]
fn without_a_name_the_suite_is_jurat_yaml() {
    let Ended { code, stdout, .. } = Folder::with("jurat.yaml", GOOD).jurat(&["check"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "jurat.yaml: 1 task, 1 sample row, ready to run\n"));

    let Ended { code, stderr, .. } = Folder::empty().jurat(&["check"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("there is no file `jurat.yaml`"), "{stderr}");
    assert!(
        stderr.contains(
            "name a suite, for example `jurat run FILE` or `jurat check FILE`, or make one with `jurat init`"
        ),
        "{stderr}"
    );
}

#[test]
fn what_is_no_suite_is_answered_with_what_to_do() {
    let says = |name: &str, text: &[u8], message: &str| {
        let Ended { code, stderr, .. } = Folder::with(name, text).jurat(&["check", name]);
        assert_eq!(code, Some(2));
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(stderr.matches("= help:").count(), 1, "{stderr}");
    };
    says("rows.jsonl", b"{\"id\": 1}\n{\"id\": 2}\n", "write a suite (YAML) with `records: rows.jsonl` and `tasks`");
    says("rows.csv", b"id,answer\n1,x\n", "`rows.csv` holds rows, and a suite is needed here");
    says("suite.yaml", b"\xff\xfes\0u\0", "save it as UTF-8");
    says(
        "promptfooconfig.yaml",
        b"prompts: [x]\nproviders: [openai:gpt-4o]\ntests: []\n",
        "docs/reference/from-promptfoo.md",
    );
}

#[test]
fn commands_of_other_tools_are_answered_with_what_does_the_same() {
    for (verb, advice) in [
        ("ui", "`jurat view` opens runs in a browser"),
        ("eval", "`jurat run SUITE` runs a suite"),
        ("diff", "`jurat compare BASE NEW` compares runs"),
        ("list", "`jurat show --list`"),
    ] {
        let Ended { code, stderr, .. } = Folder::empty().jurat(&[verb]);
        assert_eq!(code, Some(2));
        assert!(stderr.contains(&format!("there is no command `{verb}`")) && stderr.contains(advice), "{stderr}");
        assert!(!stderr.contains("completions"), "{stderr}");
    }
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let folder = Folder::with("folder/suite.yaml", GOOD);
    let says = |path: &str, message: &str| {
        let Ended { code, stdout, stderr } = folder.jurat(&["check", path]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains(message), "{stderr}");
    };
    says("nowhere.yaml", "error[file::not_found]: there is no file `nowhere.yaml`");
    says("folder/suite.yaml/inside", "there is no file `folder/suite.yaml/inside`");
    says("folder", "`folder` cannot be opened: it is a directory, not a file");
    says(".", "`.` cannot be opened: it is a directory, not a file");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with("suite.yaml", GOOD);
    let path = folder.path().join("suite.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads this too.
    if std::fs::read(&path).is_err() {
        let Ended { code, stderr, .. } = folder.jurat(&["check", "suite.yaml"]);
        assert_eq!(code, Some(2));
        assert!(stderr.contains("`suite.yaml` cannot be opened: "), "{stderr}");
    }
}

#[test]
fn what_is_not_a_terminal_gets_no_colour() {
    let folder = Folder::with("suite.yaml", WRONG);
    for value in [None, Some(""), Some("1")] {
        let mut command = folder.command();
        let command = command.args(["check", "suite.yaml"]);
        let Ended { stderr, .. } = ended(match value {
            Some(value) => command.env("NO_COLOR", value),
            None => command,
        });
        assert!(stderr.starts_with("error[suite::unknown_operator]"), "{stderr}");
        assert!(!stderr.contains('\x1b'), "{stderr:?}");
    }
}

#[test]
fn a_hostile_name_cannot_move_the_cursor() {
    let Ended { stderr, .. } = Folder::empty().jurat(&["check", "a\x1b[2Jb.yaml"]);
    assert!(stderr.contains("there is no file") && !stderr.contains('\x1b'), "{stderr:?}");
}

#[test]
fn the_schema_is_json_schema() {
    let Ended { code, stdout, stderr } = Folder::empty().jurat(&["schema"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let schema: Value = serde_json::from_str(&stdout).expect("a schema is JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["properties"]["tasks"].is_object(), "{stdout}");
}

/// A named pipe without a writer would be waited for until the end of time, and a device may have none.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_instead_of_waited_for() {
    let with_rows = |rows: &str| GOOD.replace("[{ answer: Paid. }]", rows);
    let folder = Folder::with("suite.yaml", with_rows("rows.jsonl"))
        .and("zero.yaml", with_rows("{ path: /dev/zero, format: jsonl }"));
    for pipe in ["rows.jsonl", "pipe.yaml"] {
        let made = std::process::Command::new("mkfifo").arg(folder.path().join(pipe)).status();
        assert!(made.expect("`mkfifo` is there").success());
    }
    for verb in ["check", "plan", "run"] {
        for (suite, said) in [("suite.yaml", "a pipe"), ("pipe.yaml", "a pipe"), ("zero.yaml", "a device")] {
            let Ended { code, stderr, .. } = folder.jurat(&[verb, suite]);
            assert_eq!(code, Some(2), "{verb} {suite}");
            assert!(stderr.contains(&format!("it is {said}, not a file")), "{verb} {suite}: {stderr}");
        }
    }
}
