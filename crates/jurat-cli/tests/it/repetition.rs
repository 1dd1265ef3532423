//! What repeating cases showed, in `jurat show`.

use crate::command::Folder;
use crate::stored::{refused, said};

const SUITE: &str = "suite: s
records: [{ id: steady }, { id: shaky }, { id: lost }]
models: { subject: script/answers.jsonl }
ask: { prompt: 'Say yes, ${id}' }
tasks:
  - { id: right, field_path: output, operator: equals, expected_value: 'yes' }
  - { id: short, field_path: output, operator: has_length_less_than, expected_value: 9 }
";

/// One row passes always, one twice in four times, one never.
fn repeated() -> Folder {
    let answers = |case: &str, replies: [&str; 4]| {
        replies.map(|it| format!("{{\"match\": {{\"case\": \"{case}\"}}, \"reply\": \"{it}\"}}\n")).concat()
    };
    let script =
        [answers("steady", ["yes"; 4]), answers("shaky", ["yes", "no", "yes", "no"]), answers("lost", ["no"; 4])];
    let folder = Folder::with("suite.yaml", SUITE).and("answers.jsonl", script.concat());
    folder.jurat(&["run", "suite.yaml", "--repeat", "4", "--concurrency", "1"]);
    folder
}

#[test]
fn flaky_cases_are_listed_with_the_tasks_that_flip() {
    let text = said(&repeated(), &["show", "--flaky", "--k", "2"]);
    for line in [
        "shaky 2 4 15.0–85.0 % right",
        "2 61.1 % 0.0–100.0 % 38.9 % 0.0–100.0 %",
        "pass rate of cases 50.0 %; standard error 9.6 points for these cases, 28.9 for cases like these",
        "1 of 3 repeated cases is flaky; 33.3 % of the variance is the noise of asking again",
    ] {
        assert!(text.lines().any(|it| it.split_whitespace().eq(line.split_whitespace())), "{line}\n{text}");
    }
}

#[test]
fn attempts_are_part_of_every_report() {
    let folder = repeated();
    let text = said(&folder, &["show"]);
    assert!(text.contains("1 of 3 repeated cases is flaky"), "{text}");
    let json = said(&folder, &["show", "--json"]);
    assert!(json.contains(r#""repetition":{"attempts":[{"k":1,"pass_at_k":{"rate":0.5"#), "{json}");
}

#[test]
fn cases_that_were_run_once_cannot_be_flaky() {
    let folder = Folder::with(
        "suite.yaml",
        "suite: s\nrecords: [{ id: a }]\ntasks: [{ id: there, field_path: id, operator: exists }]\n",
    );
    folder.jurat(&["run", "suite.yaml"]);
    let message = refused(&folder, &["show", "--flaky"]);
    assert!(message.contains("were run once each"), "{message}");
}
