//! `jurat explain`: what verdicts rest on.

use std::fs;

use jurat_format::value::{Val, parse_json};

use crate::command::{Folder, ended};
use crate::stored::{greetings_run, refused, said, steady};

#[test]
fn a_case_is_explained_in_a_line_for_each_task() {
    assert_eq!(
        said(&greetings_run(), &["explain", "r3"]),
        "r3: failed\n\
         answer What do you want this time?\n\
         ✓ is_english (gate) passed: found `en`\n\
         ✗ greets failed: expected text with `Hello`, found `What do you want this time?`\n\
         ✗ short failed: expected a length of less than 20, found 27 characters\n\
         ✗ tone failed: expected `polite`, found `rude` (score 0.100)\n\
         reason: It is impatient.\n\
         \n\
         suite: greetings in run greetings_RUN\n\
         \n\
         `jurat explain r3 TASK` shows what a verdict rests on\n"
    );
}

#[test]
fn a_judge_is_explained_with_its_requests_and_replies() {
    assert_eq!(
        said(&greetings_run(), &["explain", "r3", "tone"]),
        "tone of r3: failed\n\
         expected `polite`, found `rude`\n\
         \n\
         suite greetings in run greetings_RUN\n\
         row rows.jsonl, row 3, from byte 106\n\
         task judge, stage 3\n\
         label rude\n\
         score 0.100\n\
         \n\
         in the words of the judge\n\
         │ It is impatient.\n\
         \n\
         gates above it, from the top\n\
         is_english passed\n\
         \n\
         compared\n\
         path label\n\
         operator equals\n\
         expected `polite`\n\
         found `rude`\n\
         \n\
         what it could read\n\
         id: `r3`\n\
         language: `en`\n\
         answer: `What do you want this time?`\n\
         greets (a task): false\n\
         \n\
         what it could not read\n\
         is_english: not a direct dependency\n\
         short: not a direct dependency\n\
         \n\
         what the judge was asked\n\
         user\n\
         │ Rate the tone: What do you want this time?\n\
         schema of the answer\n\
         │ {\"type\": \"object\", \"properties\": {\"label\": {\"enum\": [\"polite\", \"rude\"]}, \"score\": {\"type\": \"number\"}, \
         \"reason\": {\"type\": \"string\"}}, \"required\": [\"label\", \"score\", \"reason\"], \"additionalProperties\": false}\n\
         \n\
         judge (replies.jsonl)\n\
         asked in this run, $0, T, finish stop\n\
         │ {\"label\":\"rude\",\"score\":0.1,\"reason\":\"It is impatient.\"}\n\
         read as {\"label\": \"rude\", \"score\": 0.1, \"reason\": \"It is impatient.\"}\n"
    );
}

#[test]
fn a_task_that_was_skipped_names_the_gate() {
    let text = said(&greetings_run(), &["explain", "r2", "tone"]);
    assert!(text.starts_with("tone of r2: skipped\ngate `is_english` failed\n"), "{text}");
    assert!(text.contains("is_english failed: expected `en`, found `de`\n"), "{text}");
    assert!(!text.contains("what the judge was asked"), "{text}");
}

#[test]
fn as_json_each_task_is_a_line() {
    let folder = greetings_run();
    let texts = |arguments: &[&str], key: &str| {
        let text = said(&folder, &[&["explain", "--json"], arguments].concat());
        let read = |line: &str| {
            let line = line.replace(":T", ":0");
            let object = parse_json(&line).unwrap_or_else(|error| panic!("{error}: {line}")).value;
            object.get(key).and_then(Val::as_str).map(str::to_owned).unwrap_or_default()
        };
        text.lines().map(read).collect::<Vec<_>>()
    };
    assert_eq!(texts(&["r2"], "task"), ["is_english", "greets", "short", "tone"]);
    assert_eq!(texts(&["r2"], "verdict"), ["failed", "skipped", "passed", "skipped"]);
    assert_eq!(texts(&["r1", "tone"], "explanation"), ["It greets by name."]);
}

/// Two prompts, two subjects, two repetitions.
fn matrix() -> Folder {
    let suite = "\
suite: matrix
records: [{ id: a, question: Why? }]
models: { subject: [script/one.jsonl, script/two.jsonl] }
ask: { prompts: { brief: 'In a word: ${question}', long: 'At length: ${question}' } }
tasks:
  - { id: says, field_path: output, operator: contains, expected_value: cause }
  - { id: other, on: [b], field_path: output, operator: contains, expected_value: cause }
";
    let reply = |text: &str| format!("{{\"reply\": \"{text}\", \"times\": \"*\"}}");
    Folder::with("suite.yaml", suite).and("one.jsonl", reply("Because.")).and("two.jsonl", reply("No idea."))
}

#[test]
fn several_cases_of_a_row_are_distinguished() {
    let folder = matrix();
    folder.jurat(&["run", "suite.yaml", "--repeat", "2"]);
    let heads = |arguments: &[&str]| {
        let text = said(&folder, &[&["explain", "a"], arguments].concat());
        let heads = text.lines().filter(|it| it.contains("[") && it.contains("]: "));
        heads.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(heads(&[]).len(), 8);
    assert_eq!(
        heads(&["--prompt", "long", "--replicate", "2"]),
        ["a [long, script/one.jsonl, #2]: passed", "a [long, script/two.jsonl, #2]: failed"]
    );
    let one = ["says", "--prompt", "brief", "--subject", "script/two.jsonl", "--replicate", "1"];
    assert_eq!(heads(&one), ["says of a [brief, script/two.jsonl, #1]: failed"]);
    let text = said(&folder, &[&["explain", "a"], &one[..]].concat());
    assert!(text.contains("what the subject was asked\nuser\n│ In a word: Why?\n"), "{text}");
    for (arguments, message) in [
        (vec!["--prompt", "short"], "`a` has no prompt `short`: there are `brief` and `long`"),
        (vec!["--subject", "three"], "`a` has no subject `three`: there are `script/one.jsonl` and `script/two.jsonl`"),
        (vec!["--replicate", "3"], "`a` has no repetition `3`: there are `1` and `2`"),
        (vec!["other"], "the task `other` is not for the case `a`: its `on` leaves it out"),
    ] {
        assert_eq!(refused(&folder, &[&["explain", "a"], arguments.as_slice()].concat()), format!("error: {message}"));
    }
}

/// What came on standard input is nowhere else, so it is stored whatever the verdict.
#[test]
fn rows_of_standard_input_are_explained_when_they_passed() {
    let suite = "suite: piped\nrecords: { path: '-', format: FORMAT }\ntasks: [{ id: greets, field_path: answer, operator: contains, expected_value: Hello }]\n";
    for (format, rows) in [
        ("jsonl", "{\"id\": \"a\", \"answer\": \"Hello Ada!\"}\n{\"id\": \"b\", \"answer\": \"Hello Bo!\"}\n"),
        ("json", "[{\"id\": \"a\", \"answer\": \"Hello Ada!\"}, {\"id\": \"b\", \"answer\": \"Hello Bo!\"}]"),
        ("csv", "id,answer\na,Hello Ada!\nb,Hello Bo!\n"),
    ] {
        let folder = Folder::with("suite.yaml", suite.replace("FORMAT", format)).and("rows", rows);
        let stdin = fs::File::open(folder.path().join("rows")).expect("files can be read");
        let ran = ended(folder.command().args(["run", "suite.yaml", "--quiet", "--keep", "needed"]).stdin(stdin));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}: {}", ran.stdout);
        let text = said(&folder, &["explain", "b", "greets"]);
        assert!(text.starts_with("greets of b: passed\n"), "{format}: {text}");
        assert!(text.contains("\nrow standard input, row 2\n"), "{format}: {text}");
        assert!(text.contains("\nfound `Hello Bo!`\n"), "{format}: {text}");
    }
}

#[test]
fn a_missing_row_is_reported_and_what_was_stored_is_shown() {
    let folder = greetings_run();
    fs::write(folder.path().join("rows.jsonl"), "{\"id\": \"r1\", \"language\": \"en\", \"answer\": \"Hello Eve!\"}\n")
        .expect("files can be written");
    let message = refused(&folder, &["explain", "r1", "tone"]);
    assert_eq!(message, "error: `rows.jsonl` changed since this run; put back the file as it was, or run again");
    let brief = steady(&folder, &folder.jurat(&["explain", "r1"]).stdout);
    assert!(brief.contains("✓ tone passed"), "{brief}");
    // What did not pass was copied.
    assert!(said(&folder, &["explain", "r3", "short"]).starts_with("short of r3: failed\n"));
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let folder = greetings_run();
    for (arguments, message) in [
        (vec!["r4"], "the run `greetings_RUN` has no case `r4`; it has `r1`, `r2` and `r3`; did you mean `r3`?"),
        (
            vec!["r1", "tune"],
            "the suite has no task `tune`; it has `is_english`, `greets`, `short` and `tone`; did you mean `tone`?",
        ),
        (vec!["r1", "--prompt", "x"], "`r1` has no prompt `x`: there is one prompt only"),
    ] {
        assert_eq!(refused(&folder, &[&["explain"], arguments.as_slice()].concat()), format!("error: {message}"));
    }
}

#[test]
fn changed_texts_of_an_agent_are_shown_as_a_diff() {
    let folder = Folder::with(
        "suite.yaml",
        "suite: notes\n\
         agents: { editor: { command: [/bin/sh, ./agent.sh], output: text } }\n\
         cases: [{ id: edit, task: Correct notes.txt., workspace: desk }]\n\
         models: { judge: script/judge.jsonl }\n\
         tasks: [{ id: seen, judge: { prompt: 'Is this right? ${workspace.files}' } }]\n",
    );
    let folder = folder
        .and("agent.sh", "printf 'order 118 leaks\\ncall back\\n' > notes.txt; printf x > new.txt; printf '\\377' > image\necho done\n")
        .and("desk/notes.txt", "order 811 leaks\ncall back\n")
        .and("desk/image", [0xfe])
        .and("judge.jsonl", "{\"reply\": \"yes\"}\n");
    let ran = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ran.code, Some(5), "{}{}", ran.stdout, ran.stderr);
    let shown = folder.jurat(&["explain", "edit"]).stdout;
    let workspace = shown.split_once("what it made of its workspace\n").map(|(_, it)| it).unwrap_or_default();
    assert_eq!(
        workspace.split("\n\n").next().unwrap_or_default(),
        "  added     new.txt\n  \
           changed   image\n  \
           changed   notes.txt\n    \
             │ @@ -1,2 +1,2 @@\n    \
             │ -order 811 leaks\n    \
             │ +order 118 leaks\n    \
             │  call back"
    );
    // The judge sees it, too.
    let asked = folder.jurat(&["explain", "edit", "seen"]).stdout;
    assert!(asked.contains("-order 811 leaks"), "{asked}");
}
