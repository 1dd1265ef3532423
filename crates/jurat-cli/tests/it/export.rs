//! `jurat export`: the same run in every format, and as a recording that replays.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use jurat_core::suite::RowFormat;
use jurat_format::value::{Val, Value, parse_json};
use jurat_store::records::{SampleLimits, sample};
use jurat_testkit::{Endpoint, Reply, Script};

use crate::command::{Folder, ended};
use crate::stored::{greetings, greetings_run, refused, said, steady};

#[test]
fn json_lines_have_a_line_for_each_task_of_each_case() {
    let folder = greetings_run();
    let lines = said(&folder, &["export", "--to", "jsonl"]);
    assert_eq!(lines.lines().count(), 12);
    assert_eq!(
        lines.lines().last(),
        Some(
            "{\"record\":\"r3\",\"prompt\":null,\"subject\":null,\"replicate\":null,\"case_verdict\":\"failed\",\"task\":\"tone\",\
             \"kind\":\"judge\",\"gate\":null,\"stage\":3,\"verdict\":\"failed\",\"path\":\"label\",\"operator\":\"equals\",\
             \"expected\":\"polite\",\"actual\":\"rude\",\"label\":\"rude\",\"score\":0.1,\"explanation\":\"It is impatient.\",\
             \"message\":\"expected `polite`, found `rude`\",\
             \"input_tokens\":null,\"output_tokens\":null,\"cost_usd\":0.0,\
             \"latency_ms\":T,\"requests\":1,\"reused\":false,\
             \"case_input_tokens\":null,\"case_output_tokens\":null,\"case_cost_usd\":0.0,\"case_duration_ms\":T,\
             \"source\":\"rows.jsonl\",\"row_number\":3,\
             \"row\":{\"id\":\"r3\",\"language\":\"en\",\"answer\":\"What do you want this time?\"},\"input\":null,\"output\":null}"
        )
    );
    let bare = said(&folder, &["export", "--to", "jsonl", "--results-only"]);
    assert!(!bare.contains("case_duration_ms") && !bare.contains("reused"), "{bare}");
}

#[test]
fn tables_have_what_the_subject_took() {
    const SUITE: &str = "suite: talk\nrecords: [{ id: a, question: 'Where?' }]\n\
        models: { subject: 'script/script.jsonl', judge: 'script/script.jsonl' }\nask: { prompt: '${question}' }\n\
        tasks:\n  - { id: said, field_path: output, operator: contains, expected_value: here }\n  \
        - { id: tone, judge: { prompt: 'Rate ${output}' }, operator: contains, expected_value: fine }\n";
    const SCRIPT: &str = r#"{"match":{"role":"subject"},"reply":"here","usage":{"input":30,"output":4}}
{"match":{"role":"judge"},"reply":"fine","usage":{"input":7,"output":1}}"#;
    let folder = Folder::with("suite.yaml", SUITE).and("script.jsonl", SCRIPT);
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    let columns = "task,input_tokens,output_tokens,case_input_tokens,case_output_tokens,case_cost_usd";
    let csv = said(&folder, &["export", "--to", "csv", "--columns", columns, "--results-only"]);
    let header = columns.to_owned() + "\n";
    assert_eq!(csv, header + "said,,,37,5,0\ntone,7,1,37,5,0\n");
}

#[test]
fn parquet_has_the_columns_of_json_lines() {
    let folder = greetings_run();
    said(&folder, &["export", "-o", "rows.parquet"]);
    let lines = folder.jurat(&["export", "--to", "jsonl"]).stdout;
    let expected: Vec<Value> = lines.lines().map(typed).collect();
    let read = sample(&folder.path().join("rows.parquet"), Some(RowFormat::Parquet), &[], SampleLimits::default());
    assert_eq!(read.expect("the file is Parquet").rows, expected);
    // Where standard output is no terminal it may have it, too.
    let piped = folder.command().args(["export", "--to", "parquet"]).output().expect("the command starts").stdout;
    assert_eq!(piped, fs::read(folder.path().join("rows.parquet")).expect("the file is there"));
}

/// A JSON line as Parquet has it: values as JSON.
fn typed(line: &str) -> Value {
    let object = parse_json(line).unwrap_or_else(|error| panic!("{error}: {line}")).value.into_owned();
    let members = object.as_map().expect("an object").iter().map(|(key, value)| {
        let is_value = matches!(key, "expected" | "actual" | "row" | "input" | "output") && !matches!(value, Val::Null);
        let value = if is_value { Val::from(value.to_json()) } else { value.clone() };
        (key.to_owned(), value)
    });
    Val::Map(members.collect())
}

#[test]
fn the_name_of_a_file_says_the_format() {
    let folder = greetings_run();
    for (name, format) in [
        ("a.jsonl", "jsonl"),
        ("a.csv", "csv"),
        ("a.xml", "junit"),
        ("a.md", "markdown"),
        ("a.html", "html"),
        ("a.json", "json"),
    ] {
        assert_eq!(said(&folder, &["export", "-o", name]), "");
        let file = fs::read_to_string(folder.path().join(name)).expect("the file is there");
        assert_eq!(file, folder.jurat(&["export", "--to", format]).stdout, "{name}");
    }
    assert_eq!(
        said(&folder, &["export", "--json", "--results-only"]),
        said(&folder, &["show", "--json", "--results-only"])
    );
    assert_eq!(
        fs::read_dir(folder.path())
            .expect("a folder")
            .filter(|it| is_part(it.as_ref().expect("a file").path().as_path()))
            .count(),
        0
    );
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "part")
}

#[test]
fn tables_and_summaries_say_what_failed() {
    let folder = greetings_run();
    let csv = said(&folder, &["export", "--to", "csv", "--results-only"]);
    let line = "r3,,,,failed,short,assert,,1,failed,answer,has_length_less_than,20,What do you want this time?,,,,\
                \"expected a length of less than 20, found 27 characters\",,,,,,,0,rows.jsonl,3,\"{\"\"id\"\":\"\"r3\"\",";
    assert!(csv.contains(line), "{csv}");
    let junit = said(&folder, &["export", "--to", "junit", "--results-only"]);
    assert!(
        junit.contains("<testsuite name=\"greetings\" tests=\"9\" failures=\"3\" errors=\"0\" skipped=\"2\">"),
        "{junit}"
    );
    let markdown = said(&folder, &["export", "--to", "markdown", "--results-only"]);
    assert!(markdown.contains("3 cases: 2 passed, 1 failed; 7 tasks judged: 4 passed (57.1 %)\n"), "{markdown}");
    assert!(markdown.contains("#### <code>r3</code> failed\n"), "{markdown}");
    assert!(!markdown.contains("<code>r1</code>"), "{markdown}");
}

#[test]
fn effects_replay_in_another_place_byte_for_byte() {
    let folder = greetings_run();
    said(&folder, &["export", "--effects", "-o", "effects.jsonl"]);
    let effects = fs::read_to_string(folder.path().join("effects.jsonl")).expect("the file is there");
    assert_eq!(effects, folder.jurat(&["export", "--to", "effects"]).stdout);
    assert_eq!(effects.lines().count(), 2, "{effects}");
    let file = |name: &str| fs::read(folder.path().join(name)).expect("the file is there");
    let elsewhere = Folder::with("suite.yaml", file("suite.yaml")).and("rows.jsonl", file("rows.jsonl"));
    let elsewhere = elsewhere.and("effects.jsonl", &effects);
    let replayed = elsewhere.jurat(&["run", "suite.yaml", "--replay", "effects.jsonl", "--json", "--results-only"]);
    assert_eq!((replayed.code, replayed.stderr.as_str()), (Some(1), ""));
    assert_eq!(replayed.stdout, folder.jurat(&["show", "--json", "--results-only"]).stdout);
}

#[test]
fn a_key_is_in_no_format() {
    const KEY: &str = "sk-must-not-be-told-0123456789";
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).key(KEY));
    let suite = format!(
        "suite: paid\nrecords: [{{ id: a, n: 1 }}]\n\
         models: {{ judge: {{ model: openai/small, base_url: '{}', api_key_env: PAID_KEY, headers: {{ x-more: '${{PAID_MORE}}' }} }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }}, operator: contains, expected_value: fine }}\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite);
    let run = ended(folder.command().args(["run", "suite.yaml"]).env("PAID_KEY", KEY).env("PAID_MORE", KEY));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(endpoint.stats().answers, 1, "the key was right");
    for format in ["jsonl", "csv", "parquet", "junit", "markdown", "html", "json", "effects", "baseline"] {
        let out = folder.command().args(["export", "--to", format]).output().expect("the command starts").stdout;
        assert!(!out.is_empty(), "{format}");
        assert!(!String::from_utf8_lossy(&out).contains(KEY), "{format}");
    }
    for verb in [vec!["explain", "a", "tone"], vec!["show", "--tasks"], vec!["plan", "suite.yaml"]] {
        let ended = ended(folder.command().args(&verb).env("PAID_KEY", KEY).env("PAID_MORE", KEY));
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains(KEY), "{verb:?}");
    }
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = greetings_run();
    for (arguments, message) in [
        (
            vec![],
            "name a format with `--to`: `json`, `jsonl`, `csv`, `parquet`, `junit`, `markdown`, `html`, `otlp`, `promptfoo`, `inspect`, `effects` or `baseline`",
        ),
        (
            vec!["-o", "a.txt"],
            "name a format with `--to`: `json`, `jsonl`, `csv`, `parquet`, `junit`, `markdown`, `html`, `otlp`, `promptfoo`, `inspect`, `effects` or `baseline`",
        ),
        (vec!["-o", "none/a.csv"], "`none/a.csv` cannot be written: No such file or directory (os error 2)"),
    ] {
        assert_eq!(refused(&folder, &[&["export"], arguments.as_slice()].concat()), format!("error: {message}"));
    }
    let empty = greetings();
    assert!(
        steady(&empty, &empty.jurat(&["export", "--to", "csv"]).stderr).starts_with("error: there is no run `latest`")
    );
}

#[test]
fn what_is_not_done_is_said_beside_the_export() {
    let endpoint = Endpoint::start(Script::new().held());
    let suite = format!(
        "suite: slow\nrecords: [{{ id: a, n: 1 }}]\n\
         models: {{ judge: {{ model: openai/m, base_url: '{}', api_key_env: SLOW_KEY }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }} }}\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite);
    let mut command = folder.command();
    command.args(["run", "suite.yaml"]).env("SLOW_KEY", "sk-0").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    endpoint.wait_until(|it| it.requests == 1);
    let exported = folder.jurat(&["export", "--to", "jsonl"]);
    assert_eq!(
        (exported.code, exported.stdout.as_str(), exported.stderr.as_str()),
        (Some(0), "", "not all cases are here: the run is still in progress\n")
    );
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// A conversation whose model cannot be asked, in a suite whose only task is for rows.
fn without_task() -> Folder {
    let suite = "suite: talk\nrecords: [{ id: row, n: 1 }]\nmodels: { subject: script/none.jsonl }\n\
                 scenarios:\n  greeting: { entry: hello, nodes: { hello: { question: Hello? } } }\n\
                 tasks: [{ id: one, on: records, field_path: n, operator: equals, expected_value: 1 }]\n";
    let folder = Folder::with("suite.yaml", suite).and("none.jsonl", "{\"fault\": \"status:503\", \"times\": \"*\"}\n");
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stdout.contains("503"), "{}", ended.stdout);
    folder
}

#[test]
fn a_case_without_tasks_that_cannot_be_judged_is_in_every_format() {
    let folder = without_task();
    let junit = said(&folder, &["export", "--to", "junit", "--results-only"]);
    assert!(
        junit.contains("<testsuite name=\"talk\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\">"),
        "{junit}"
    );
    assert!(
        junit.contains("<testcase classname=\"talk.greeting\" name=\"case\"> <error message=\"")
            || junit.contains("<testcase classname=\"talk.greeting\" name=\"case\">\n<error message=\""),
        "{junit}"
    );
    let lines = said(&folder, &["export", "--to", "jsonl", "--columns", "record,case_verdict,task,verdict,message"]);
    assert!(
        lines.contains(
            "{\"record\":\"greeting\",\"case_verdict\":\"error\",\"task\":null,\"verdict\":\"error\",\"message\":\""
        ),
        "{lines}"
    );
    let csv = said(&folder, &["export", "--to", "csv", "--columns", "record,task,verdict"]);
    assert_eq!(csv, "record,task,verdict\ngreeting,,error\nrow,one,passed\n");
    said(&folder, &["export", "-o", "rows.parquet"]);
    let read = sample(&folder.path().join("rows.parquet"), Some(RowFormat::Parquet), &[], SampleLimits::default());
    assert_eq!(read.expect("the file is Parquet").rows.len(), 2);
    for format in ["json", "markdown"] {
        let text = said(&folder, &["export", "--to", format, "--results-only"]);
        let case = &text[text.rfind("greeting").unwrap_or(0)..];
        assert!(case.contains("503"), "{format}: {text}");
    }
    let shown = said(&folder, &["show", "greeting"]);
    assert!(shown.contains("greeting: error") && shown.contains("! case ") && shown.contains("503"), "{shown}");
}

#[test]
fn one_case_is_exported_by_any_name_that_it_has() {
    let folder = greetings_run();
    let all = said(&folder, &["export", "--to", "jsonl", "--columns", "record,task"]);
    let of = |id: &str| -> String {
        all.lines().filter(|it| it.contains(&format!("\"{id}\""))).map(|it| format!("{it}\n")).collect()
    };
    let only = |names: &[&str]| {
        let names = names.iter().flat_map(|it| ["--case", *it]);
        let arguments = ["export", "--to", "jsonl", "--columns", "record,task"].into_iter().chain(names);
        said(&folder, &arguments.collect::<Vec<_>>())
    };
    assert_eq!(only(&["r3"]), of("r3"));
    assert_eq!(only(&["rows.jsonl:3"]), of("r3"));
    // Cases are in the order of the run, and each is written once.
    assert_eq!(only(&["r3", "r1", "rows.jsonl:3"]), of("r1") + &of("r3"));
    let refusal = refused(&folder, &["export", "--to", "jsonl", "--case", "r"]);
    assert!(refusal.contains("`r1`, `r2` and `r3`"), "{refusal}");
    let effects = said(&folder, &["export", "--effects", "--case", "r1"]);
    assert_eq!(effects.lines().count(), 1, "{effects}");
    assert_eq!(
        said(&folder, &["export", "--json", "--results-only", "--case", "r1"]),
        said(&folder, &["show", "r1", "--json", "--results-only"])
    );
    assert_eq!(
        refused(&folder, &["export", "--to", "junit", "--case", "r1"]),
        "error: `junit` is about the whole run; `--case` is for `json`, `jsonl`, `csv`, `parquet`, `otlp`, `promptfoo`, `inspect` and `effects`"
    );
}

/// The rows that are in the file now were not judged, so they do not stand beside the old verdicts.
#[test]
fn rows_that_changed_since_the_run_are_left_out_and_that_is_reported() {
    let folder = greetings_run();
    let rows = fs::read_to_string(folder.path().join("rows.jsonl")).expect("the rows are there");
    fs::write(folder.path().join("rows.jsonl"), rows.replace("\"en\"", "\"xx\"")).expect("rows can be written");
    let why = "rows are left out: `rows.jsonl` changed since this run; put back the file as it was, or run again\n";
    for arguments in [&["export", "--to", "csv"][..], &["export", "--to", "json"], &["show", "latest", "r1"]] {
        let written = folder.jurat(arguments);
        assert_eq!((written.code, written.stderr.as_str()), (Some(0), why), "{arguments:?}");
        assert!(!written.stdout.contains("xx"), "{}", written.stdout);
    }
    fs::write(folder.path().join("rows.jsonl"), rows).expect("rows can be written");
    assert_eq!(folder.jurat(&["export", "--to", "csv"]).stderr, "");
}
