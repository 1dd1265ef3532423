//! Options of `jurat run`: which cases are run, where results go, several suites, and what is said about values that make no sense.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::command::{Ended, Folder, ended};
use crate::stored::{greetings, greetings_run, said, steady};

const PASSES: &str = "suite: passes\nrecords: [{ id: a, n: 1, tags: [x] }]\ntasks:\n  - { id: one, field_path: n, operator: equals, expected_value: 1 }\n";

fn fails() -> String {
    PASSES.replace("passes", "fails").replace("expected_value: 1", "expected_value: 2")
}

#[test]
fn results_are_written_to_files_by_their_names() {
    let folder = greetings();
    let files = ["r.json", "r.jsonl", "r.csv", "r.parquet", "r.xml", "r.md"];
    let outputs = files.iter().flat_map(|it| ["-o", it]);
    let arguments: Vec<&str> = ["run", "suite.yaml", "-q"].into_iter().chain(outputs).collect();
    assert_eq!(folder.jurat(&arguments).code, Some(1));
    for (file, format) in files.into_iter().zip(["json", "jsonl", "csv", "parquet", "junit", "markdown"]) {
        let exported = folder.command().args(["export", "--to", format]).output().expect("the command starts").stdout;
        assert!(!exported.is_empty());
        assert!(fs::read(folder.path().join(file)).expect("it is written") == exported, "{file}");
    }
    let unknown = folder.jurat(&["run", "suite.yaml", "-o", "r.docx"]);
    assert_eq!(unknown.code, Some(2));
    for word in ["`r.docx`", ".json", ".jsonl", ".csv", ".parquet", ".xml", ".md", ".html"] {
        assert!(unknown.stderr.contains(word), "{word}: {}", unknown.stderr);
    }
}

#[test]
fn tables_hold_the_row_and_choose_their_columns() {
    let folder = greetings_run();
    let table = said(&folder, &["export", "--to", "csv", "--columns", "record,source,row_number,task,verdict,row"]);
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("record,source,row_number,task,verdict,row"));
    assert_eq!(
        lines.next(),
        Some(
            "r1,rows.jsonl,1,is_english,passed,\"{\"\"id\"\":\"\"r1\"\",\"\"language\"\":\"\"en\"\",\"\"answer\"\":\"\"Hello Ada!\"\"}\""
        )
    );
    let unknown = folder.jurat(&["export", "--to", "csv", "--columns", "recrod"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no column `recrod`; columns are `record`"), "{}", unknown.stderr);
}

#[test]
fn tables_hold_what_the_subject_was_asked_and_answered() {
    let suite = "suite: asks\nrecords: [{ id: a, q: one }]\nask: { prompt: 'Say ${q}' }\nmodels: { subject: script/replies.jsonl }\n\
                 tasks:\n  - { id: said, field_path: output, operator: contains, expected_value: One }\n";
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", "{\"reply\": \"One.\"}");
    let columns = "row_number,row,input,output";
    let arguments = ["run", "suite.yaml", "-q", "-o", "r.jsonl", "--columns", columns];
    assert_eq!(folder.jurat(&arguments).code, Some(0));
    let lines = fs::read_to_string(folder.path().join("r.jsonl")).expect("it is written");
    assert_eq!(
        lines,
        "{\"row_number\":1,\"row\":{\"id\":\"a\",\"q\":\"one\"},\"input\":\"Say one\",\"output\":\"One.\"}\n"
    );
}

#[test]
fn only_those_that_failed_are_run_again() {
    let folder = greetings_run();
    let mut runs = fs::read_dir(folder.path().join(".jurat/runs")).expect("there are runs");
    let first = runs.find_map(|it| Some(it.ok()?.path()).filter(|it| it.extension().is_some_and(|it| it == "jurat")));
    let first = first.expect("there is a run").display().to_string();
    let corrected = fs::read_to_string(folder.path().join("rows.jsonl")).expect("it is there");
    let corrected = corrected.replace("What do you want this time?", "Hello Ada again!");
    fs::write(folder.path().join("rows.jsonl"), corrected).expect("it can be written");
    let again = folder.jurat(&["run", "suite.yaml", "-q", "--rerun", "failed", "--tasks"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("r3") && !again.stdout.contains("r1 "), "{}", again.stdout);
    assert!(again.stdout.contains("1 case: 1 passed") || again.stdout.contains("1 of 1"), "{}", again.stdout);

    // Nothing of that run failed, and that is no run.
    let none = folder.jurat(&["run", "suite.yaml", "-q", "--rerun", "failed,error,not_run"]);
    assert_eq!(none.code, Some(5), "{none:?}");
    assert!(
        none.stderr.starts_with("error: nothing was judged: there is no case to run again (failed, error, not_run of ")
    );
    let from = folder.jurat(&["run", "suite.yaml", "-q", "--rerun", "failed", "--from", &first]);
    assert_eq!(from.code, Some(0), "{from:?}");
    let other = Folder::with("suite.yaml", PASSES).jurat(&["run", "suite.yaml", "--rerun", "failed"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("there is no earlier run of the suite `passes`"), "{}", other.stderr);
}

#[test]
fn a_variant_that_passed_is_not_run_again() {
    let suite = "suite: matrix\nrecords: [{ id: a, q: one }, { id: b, q: two }]\n\
                 models: { subject: [script/good.jsonl, script/bad.jsonl] }\nask: { prompt: 'Say ${q}' }\n\
                 tasks:\n  - { id: said, field_path: output, operator: equals, expected_value: fine }\n";
    let folder = Folder::with("suite.yaml", suite).and("good.jsonl", "{\"reply\": \"fine\", \"times\": \"*\"}").and(
        "bad.jsonl",
        "{\"match\": {\"case\": \"a\"}, \"reply\": \"no\", \"times\": \"*\"}\n{\"reply\": \"fine\", \"times\": \"*\"}",
    );
    let first = folder.jurat(&["run", "suite.yaml", "-q", "--json"]);
    assert!(first.stdout.contains("\"case_counts\":{\"total\":4,\"passed\":3,\"failed\":1"), "{first:?}");
    let again = folder.jurat(&["run", "suite.yaml", "-q", "--json", "--rerun", "failed"]);
    assert!(again.stdout.contains("\"case_counts\":{\"total\":1,\"passed\":0,\"failed\":1"), "{again:?}");
}

#[test]
fn several_suites_end_with_the_worst_code_and_a_line_each() {
    let folder = Folder::with("good.yaml", PASSES).and("bad.yaml", fails()).and("empty.yaml", PASSES);
    let Ended { code, stdout, stderr } = folder.jurat(&["run", "good.yaml", "bad.yaml", "-q", "-o", "{suite}.json"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert_eq!(
        stderr,
        "\n2 suites:\ngood.yaml: passed: 1 of 1 counted task results passed (exit 0)\n\
         bad.yaml: failed: 1 of 1 counted task results failed, in 1 of 1 cases (exit 1)\n"
    );
    assert!(folder.path().join("passes.json").is_file() && folder.path().join("fails.json").is_file());
    let wrong = folder.jurat(&["run", "good.yaml", "missing.yaml", "bad.yaml", "-q"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("missing.yaml: could not be run (exit 2)"), "{}", wrong.stderr);
    let one_file = folder.jurat(&["run", "good.yaml", "bad.yaml", "-o", "r.json"]);
    assert_eq!(
        (one_file.code, one_file.stderr.as_str()),
        (Some(2), "error: every suite would write `r.json`; put `{suite}` into its name, for example `{suite}.json`\n")
    );
}

#[test]
fn two_results_are_not_written_to_one_file() {
    let folder = Folder::with("x/s.yaml", PASSES).and("y/s.yaml", fails()).and("z/s.yaml", PASSES);
    let by_name = folder.jurat(&["run", "x/s.yaml", "y/s.yaml", "-q", "-o", "{suite}.csv"]);
    assert_eq!(by_name.code, Some(1), "{by_name:?}");
    for (name, verdict) in [("passes.csv", "passed"), ("fails.csv", "failed")] {
        let table = std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        assert!(table.contains(verdict), "{name}: {table}");
    }
    let refused = "error: `passes.csv` would be written twice; give each suite a name of its own (`suite:`), and each `-o` another file\n";
    let same = folder.jurat(&["run", "x/s.yaml", "z/s.yaml", "-q", "-o", "{suite}.csv"]);
    assert_eq!((same.code, same.stdout.as_str(), same.stderr.as_str()), (Some(2), "", refused));
    let no_table = folder.jurat(&["run", "x/s.yaml", "-q", "--columns", "verdict", "-o", "r.json"]);
    assert_eq!(no_table.code, Some(2), "{no_table:?}");
    assert!(
        no_table.stderr.starts_with("error: `--columns` chooses columns of a table; add `-o FILE`"),
        "{no_table:?}"
    );
    let twice = folder.jurat(&["run", "x/s.yaml", "-q", "-o", "passes.csv", "-o", "./passes.csv"]);
    assert_eq!((twice.code, twice.stderr.replace("./", "")), (Some(2), refused.to_owned()));
}

#[test]
fn an_empty_selection_is_no_run() {
    let folder = Folder::with("suite.yaml", PASSES);
    assert_eq!(folder.jurat(&["run", "suite.yaml", "-q"]).code, Some(0));
    let before = steady(&folder, &folder.jurat(&["show"]).stdout);
    for (arguments, by) in [
        (vec!["--tag", "y"], "`--tag y`"),
        (vec!["--limit", "0"], "`--limit 0`"),
        (vec!["--filter", "n > 5", "--tag", "x"], "`--tag x`, `--filter 'n > 5'`"),
    ] {
        let all: Vec<&str> = ["run", "suite.yaml", "-q"].into_iter().chain(arguments).collect();
        let Ended { code, stdout, stderr } = folder.jurat(&all);
        let said = format!("error: nothing was judged: no case was selected by {by}\n");
        assert_eq!((code, stdout.as_str(), stderr), (Some(5), "", said));
    }
    assert_eq!(steady(&folder, &folder.jurat(&["show"]).stdout), before, "`latest` is the run with a case");
    let runs = std::fs::read_dir(folder.path().join(".jurat/runs")).expect("it can be listed");
    assert_eq!(runs.count(), 1, "runs without a case are not stored");
}

#[test]
fn the_latest_run_is_the_one_that_ended_last() {
    let folder = Folder::with("a.yaml", PASSES).and("b.yaml", fails());
    let id = |file: &str| {
        let text = folder.jurat(&["run", file, "-q", "--json"]).stdout;
        let (_, id) = text.split_once("\"run_id\":\"").expect("a run has an id");
        id.split('"').next().expect("a text ends").to_owned()
    };
    let latest = || folder.jurat(&["show", "--json", "--limit", "0"]).stdout;
    let first = id("a.yaml");
    let second = id("b.yaml");
    assert!(latest().contains(&second));
    // Resuming writes the older file once more; so does setting when it ended.
    let connection =
        rusqlite::Connection::open(folder.path().join(format!(".jurat/runs/{first}.jurat"))).expect("a database");
    connection.execute("UPDATE meta SET value = value + 3600000 WHERE key = 'ended_at_ms'", []).expect("it has ended");
    drop(connection);
    assert!(latest().contains(&first));
}

#[test]
fn values_that_make_no_sense_are_refused_in_plain_words() {
    let folder = Folder::with("suite.yaml", PASSES);
    for (arguments, said) in [
        (&["-j", "0"][..], "error: invalid value '0' for '--concurrency <N>': must be at least 1"),
        (&["--limit", "abc"], "error: invalid value 'abc' for '--limit <N>': `abc` is not a number"),
        (&["--repeat", "0"], "error: invalid value '0' for '--repeat <N>': must be at least 1"),
        (&["--budget-usd", "much"], "error: invalid value 'much' for '--budget-usd <USD>': `much` is not a number"),
        (&["--limit", "-3"], "error: invalid value '-3' for '--limit <N>': must not be negative"),
        (&["--limit", "1.5"], "error: invalid value '1.5' for '--limit <N>': must be a whole number"),
        (&["--budget-usd", "-1"], "error: invalid value '-1' for '--budget-usd <USD>': must not be negative"),
        (&["-v"], "error: unexpected argument '-v' found"),
        (&["--colour"], "error: unexpected argument '--colour' found"),
    ] {
        let all: Vec<&str> = ["run", "suite.yaml"].into_iter().chain(arguments.iter().copied()).collect();
        let ended = folder.jurat(&all);
        assert_eq!((ended.code, ended.stderr.lines().next()), (Some(2), Some(said)), "{}", ended.stderr);
        assert!(!ended.stderr.contains("as a value"), "{}", ended.stderr);
    }
}

#[test]
fn colour_is_an_option() {
    let folder = Folder::with("suite.yaml", fails());
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.command();
        command.args(["run", "suite.yaml", "-q"]).args(arguments).envs(variables.iter().copied());
        ended(&mut command).stdout.contains('\u{1b}')
    };
    assert!(!is_coloured(&[], &[]));
    assert!(is_coloured(&["--color", "always"], &[]));
    assert!(is_coloured(&["--color=always"], &[("NO_COLOR", "1")]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_suite_is_run_again_when_its_data_changes() {
    let suite = PASSES.replace("[{ id: a, n: 1, tags: [x] }]", "rows.jsonl");
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", "{\"n\": 2}\n");
    let mut command = folder.command();
    command.args(["run", "suite.yaml", "-q", "--watch"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|it| it.starts_with("watching 2 files")));
    fs::write(folder.path().join("rows.jsonl"), "{\"n\": 1}\n{\"n\": 1, \"m\": 2}\n").expect("it can be written");
    assert!(lines.any(|it| it.starts_with("changed: ") && it.ends_with("rows.jsonl")));
    assert!(lines.any(|it| it.starts_with("watching 2 files")));
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert!(folder.jurat(&["show", "--json"]).stdout.contains("\"total\":2,\"passed\":2"));
    let input = Folder::with("suite.yaml", PASSES.replace("[{ id: a, n: 1, tags: [x] }]", "'-'"));
    let refused = input.jurat(&["run", "suite.yaml", "--watch"]);
    assert!(refused.stderr.contains("standard input can be read only once"), "{}", refused.stderr);
}
