//! Runs to read back, and what they say without what differs from day to day.

use std::sync::LazyLock;

use regex::Regex;

use crate::command::{Ended, Folder};

/// Greetings in two languages, judged by assertions behind a gate and by a judge.
pub(crate) const GREETINGS: &str = "\
suite: greetings
records: rows.jsonl
models: { judge: script/replies.jsonl }
tasks:
  - { id: is_english, condition: true, field_path: language, operator: equals, expected_value: en }
  - { id: greets, depends_on: [is_english], field_path: answer, operator: contains, expected_value: Hello }
  - { id: short, field_path: answer, operator: has_length_less_than, expected_value: 20 }
  - id: tone
    depends_on: [greets]
    judge: { prompt: 'Rate the tone: ${answer}', output: { label: { enum: [polite, rude] }, score: number, reason: string } }
    field_path: label
    operator: equals
    expected_value: polite
";

const ROWS: &str = "\
{\"id\": \"r1\", \"language\": \"en\", \"answer\": \"Hello Ada!\"}
{\"id\": \"r2\", \"language\": \"de\", \"answer\": \"Hallo!\"}
{\"id\": \"r3\", \"language\": \"en\", \"answer\": \"What do you want this time?\"}
";

const REPLIES: &str = "\
{\"match\": {\"contains\": \"Ada\"}, \"reply\": {\"label\": \"polite\", \"score\": 0.9, \"reason\": \"It greets by name.\"}}
{\"reply\": {\"label\": \"rude\", \"score\": 0.1, \"reason\": \"It is impatient.\"}, \"times\": \"*\"}
";

/// The folder of the greetings, not run yet.
pub(crate) fn greetings() -> Folder {
    Folder::with("suite.yaml", GREETINGS).and("rows.jsonl", ROWS).and("replies.jsonl", REPLIES)
}

/// The same after one run: `r1` passed, `r2` passed what was for it, `r3` failed.
pub(crate) fn greetings_run() -> Folder {
    let folder = greetings();
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    folder
}

/// What a command writes to standard output when all is well.
#[track_caller]
pub(crate) fn said(folder: &Folder, arguments: &[&str]) -> String {
    let Ended { code, stdout, stderr } = folder.jurat(arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}\n{stdout}");
    steady(folder, &stdout)
}

/// What a command says when it is used wrongly; nothing goes to standard output then.
#[track_caller]
pub(crate) fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let Ended { code, stdout, stderr } = folder.jurat(arguments);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}\n{stderr}");
    steady(folder, stderr.trim_end()).trim_end().to_owned()
}

/// The text without folders, names of runs, times and the widths that follow from them.
pub(crate) fn steady(folder: &Folder, text: &str) -> String {
    let folder = std::fs::canonicalize(folder.path()).expect("the folder is there");
    let mut text = text.replace(&format!("{}/", folder.display()), "");
    for (pattern, word) in PATTERNS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    text.lines().map(line).collect()
}

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_([a-z0-9-]+)_[a-z0-9]{4}\b", "${1}_RUN"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "WHEN"),
        (r"\b\d+(\.\d+)? (µs|ms|s|min)( \d+ s)?(\W|$)", "T$4"),
        (r#""(wall_ms|latency_ms|case_duration_ms|took_ms|age_ms)":[\d.]+"#, "\"$1\":T"),
        (r"\b[0-9a-f]{64}\b", "HASH"),
        (r"the oldest [^;\n]+ old", "the oldest T old"),
        (r"\b\d+\.\d (kB|MB)\b", "SIZE"),
    ];
    patterns.into_iter().map(|(pattern, word)| (Regex::new(pattern).expect("a pattern"), word)).collect()
});
