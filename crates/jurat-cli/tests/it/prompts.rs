//! Prompts that are more than text: what is sent, what is stored of it, and that a replay needs no files.

use std::fs;

use crate::command::Folder;
use crate::stored::said;

/// Answers with the types and the sizes of what it is sent.
const MODEL: &str = r#"
import base64, json, sys
for line in sys.stdin:
    asked = json.loads(line)
    parts = [part for message in asked["messages"] for part in message.get("parts", [])]
    media = [f"{it['media_type']} {len(base64.b64decode(it['data']))}" for it in parts if "data" in it]
    print(json.dumps({"id": asked["id"], "text": "; ".join(media)}), flush=True)
"#;

const SUITE: &str = r#"
suite: pictures
records: data/rows.jsonl
models: { subject: "exec/python3 model.py", judge: "exec/python3 model.py" }
ask:
  messages:
    - { role: user, content: [{ text: "What is it?" }, { image: "${picture}" }] }
tasks:
  - { id: seen, field_path: output, operator: equals, expected_value: image/png 70 }
  - id: seen_by_the_judge
    judge: { messages: [{ role: user, content: [{ image: "${picture}" }, { text: "Is it ${output}?" }] }] }
    operator: equals
    expected_value: image/png 70
"#;

/// The bytes of the test cases' picture.
fn picture() -> Vec<u8> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/prompts-with-images/data/red.png");
    fs::read(path).expect("the picture is there")
}

fn folder() -> Folder {
    let rows = "{\"id\": \"a\", \"picture\": \"red.png\"}\n{\"id\": \"b\", \"picture\": \"red.png\"}\n";
    Folder::with("suite.yaml", SUITE).and("model.py", MODEL).and("data/rows.jsonl", rows).and("data/red.png", picture())
}

#[test]
fn bytes_are_sent_to_subject_and_judge_and_stored_once() {
    let folder = folder();
    let run = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert!(run.stdout.contains("2 cases: 2 passed"), "{run:?}");
    let stored: Vec<u8> =
        run_files(&folder).into_iter().flat_map(|it| fs::read(it).expect("a run can be read")).collect();
    let picture = picture();
    assert_eq!(stored.windows(picture.len()).filter(|it| *it == picture).count(), 1);
}

#[test]
fn a_replay_needs_no_files() {
    let folder = folder();
    let first = folder.jurat(&["run", "suite.yaml", "--quiet", "--results-only"]);
    fs::remove_file(folder.path().join("data/red.png")).expect("it can be removed");
    fs::remove_file(folder.path().join("model.py")).expect("it can be removed");
    let replayed = folder.jurat(&["run", "suite.yaml", "--quiet", "--results-only", "--replay", "latest"]);
    assert_eq!((replayed.code, &replayed.stdout), (Some(0), &first.stdout), "{replayed:?}");
}

#[test]
fn a_judge_is_explained_with_what_it_was_shown() {
    let folder = folder();
    assert_eq!(folder.jurat(&["run", "suite.yaml", "--quiet"]).code, Some(0));
    let explained = said(&folder, &["explain", "a", "seen_by_the_judge"]);
    assert!(explained.contains("[image: image/png, 70 bytes, red.png]"), "{explained}");
}

#[test]
fn a_file_that_every_case_sends_is_missed_before_anything_is_asked() {
    let suite = SUITE.replace("{ text: \"What is it?\" }", "{ image: example.png }");
    let folder = folder().and("suite.yaml", suite);
    let checked = folder.jurat(&["check", "suite.yaml"]);
    assert!(checked.stderr.contains("`example.png` cannot be sent: there is no such file"), "{checked:?}");
}

/// The files of all runs.
fn run_files(folder: &Folder) -> Vec<std::path::PathBuf> {
    let runs = fs::read_dir(folder.path().join(".jurat/runs")).expect("there are runs");
    runs.map(|it| it.expect("it can be listed").path()).filter(|it| it.is_file()).collect()
}
