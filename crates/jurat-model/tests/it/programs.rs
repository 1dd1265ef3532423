//! Models that are programs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::{Message, ModelRequest, Tool, ToolCall, ToolChoice};
use jurat_format::value::parse_json;
use jurat_model::provider::describe;
use jurat_model::{Model, Transport, TransportOptions};

use crate::asking::{NoFiles, ask, options, question, run, shown, until};
use crate::settings::settings;

/// A program in a folder of its own; the folder goes with it.
struct Program {
    folder: tempfile::TempDir,
    command: &'static str,
}

impl Program {
    /// A program of `sh` that gets each request as `$line`.
    fn new(each_line: &str) -> Program {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let text = format!("echo started >> starts\nwhile IFS= read -r line; do\n{each_line}\ndone\n");
        std::fs::write(folder.path().join("judge.sh"), text).expect("a program can be written");
        Program { folder, command: "sh judge.sh" }
    }

    fn open(&self) -> Model {
        open(self.command, self.folder.path())
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }

    fn n_starts(&self) -> usize {
        self.read("starts").lines().count()
    }
}

fn open(command: &str, folder: &Path) -> Model {
    let settings = settings(r#"{"temperature": 0, "seed": 7}"#);
    let resolved = describe(&format!("exec/{command}"), &settings, &|_| None).expect("a command can be resolved");
    Model::open(resolved, folder, &NoFiles, &|_| None).expect("a command can be read")
}

/// Puts the id of a request into `$id`.
const ID: &str = "id=${line#*\\\"id\\\":}; id=${id%%,*}";

#[test]
fn a_program_answers_line_by_line() {
    let program = Program::new(&format!(
        r#"printf '%s\n' "$line" >> seen
{ID}
case "$line" in
  *json*) echo "{{\"id\": $id, \"json\": {{\"label\":  \"polite\"}}, \"usage\": {{\"input\": 5, \"output\": 2}}}}" ;;
  *tools*) echo "{{\"id\": $id, \"tool_calls\": [{{\"name\": \"forecast\", \"arguments\": {{\"city\": \"Ghent\"}}}}]}}" ;;
  *error*) echo "{{\"id\": $id, \"error\": \"the judge is ill\"}}" ;;
  *both*) echo "{{\"id\": $id, \"text\": \"a\", \"json\": 1}}" ;;
  *) echo; echo "{{\"id\": $id, \"text\": \"yes\", \"more\": 1}}" ;;
esac"#
    ));
    let model = program.open();
    run(async {
        let transport = Transport::new(options());
        for (prompt, expected) in [
            ("plain", "stop: yes after 1"),
            ("json", "stop: {\"label\":  \"polite\"} after 1"),
            ("tools", "tool_calls:  forecast({\"city\": \"Ghent\"}) after 1"),
            ("error", "no_answer after 1: `sh` replied with the error `the judge is ill`"),
            ("both", "garbled after 4: a reply has one of `text`, `json`, `tool_calls` and `error`"),
        ] {
            assert_eq!(shown(&ask(&transport, &model, &question(prompt)).await), expected);
        }
    });
    assert_eq!(program.n_starts(), 1);
    assert_eq!(
        program.read("seen").lines().next(),
        Some(r#"{"id":1,"messages":[{"role":"user","content":"plain"}],"settings":{"seed":7,"temperature":0}}"#)
    );
}

#[test]
fn a_program_receives_the_whole_request() {
    let program =
        Program::new(&format!(r#"printf '%s\n' "$line" >> seen; {ID}; echo "{{\"id\": $id, \"text\": \"\"}}""#));
    let value = |text: &str| parse_json(text).expect("JSON").value.into_owned();
    let call = ToolCall { id: "c1".to_owned(), name: "f".to_owned(), arguments: value("{\"a\": 1}") };
    let request = ModelRequest {
        output: Some(value("{\"type\": \"object\"}").into()),
        tools: vec![Tool { name: "f".to_owned(), description: None, parameters: value("{}") }],
        tool_choice: ToolChoice::Named("f".to_owned()),
        ..ModelRequest::new(
            "judge",
            vec![
                Message::System("s".to_owned()),
                Message::Assistant { text: String::new(), tool_calls: vec![call], reasoning: None },
                Message::Tool {
                    call_id: "c1".to_owned(),
                    name: "f".to_owned(),
                    text: "r".to_owned(),
                    media: Vec::new(),
                    is_error: true,
                },
            ],
        )
    };
    run(async { ask(&Transport::new(options()), &program.open(), &request).await });
    assert_eq!(
        program.read("seen").trim(),
        concat!(
            r#"{"id":1,"messages":[{"role":"system","content":"s"},"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"f","arguments":{"a":1}}]},"#,
            r#"{"role":"tool","content":"r","call_id":"c1","name":"f","is_error":true}],"#,
            r#""output_schema":{"type":"object"},"tools":[{"name":"f","parameters":{}}],"tool_choice":{"name":"f"},"#,
            r#""settings":{"seed":7,"temperature":0}}"#
        )
    );
}

#[test]
fn replies_may_come_in_any_order() {
    // The program answers two at a time, the second one first.
    let program = Program::new(&format!(
        r#"{ID}; first=$id; IFS= read -r line; {ID}
echo "{{\"id\": $id, \"text\": \"second\"}}"; echo "{{\"id\": $first, \"text\": \"first\"}}""#
    ));
    let (model, transport) = (Arc::new(program.open()), Arc::new(Transport::new(options())));
    run(async {
        let ask = |text: &'static str| {
            let (model, transport) = (Arc::clone(&model), Arc::clone(&transport));
            tokio::spawn(async move { shown(&ask(&transport, &model, &question(text)).await) })
        };
        let (one, two) = (ask("one"), ask("two"));
        assert_eq!(one.await.expect("it does not panic"), "stop: first after 1");
        assert_eq!(two.await.expect("it does not panic"), "stop: second after 1");
    });
}

#[test]
fn a_program_that_ends_is_started_again() {
    let program = Program::new(&format!(
        r#"{ID}
case "$line" in
  *die*) exit 3 ;;
  *babble*) echo "hello" ;;
  *) echo "{{\"id\": $id, \"text\": \"yes\"}}" ;;
esac"#
    ));
    let model = program.open();
    run(async {
        let transport = Transport::new(options());
        assert_eq!(shown(&ask(&transport, &model, &question("plain")).await), "stop: yes after 1");
        assert_eq!(
            shown(&ask(&transport, &model, &question("die")).await),
            "cut after 4: `sh` ended before it answered (exit status: 3)"
        );
        assert_eq!(program.n_starts(), 4);
        assert_eq!(shown(&ask(&transport, &model, &question("plain")).await), "stop: yes after 1");
        assert_eq!(program.n_starts(), 5);
        let babbled = shown(&ask(&transport, &model, &question("babble")).await);
        assert!(babbled.starts_with("garbled after 4: `sh` wrote a line that is no reply ("), "{babbled}");
        assert!(babbled.ends_with("): `hello`; notes belong on standard error"), "{babbled}");
    });
}

#[test]
fn a_line_without_end_is_read_to_a_bound() {
    let program = Program::new("exec cat /dev/zero");
    let model = program.open();
    let outcome = run(async { shown(&ask(&Transport::new(options()), &model, &question("q")).await) });
    assert_eq!(outcome, "garbled after 4: `sh` wrote a line of more than 64 MiB");
}

#[test]
fn a_program_that_does_not_answer_is_given_up_but_not_stopped() {
    let program = Program::new(&format!(
        r#"{ID}
case "$line" in *never*) ;; *) echo "{{\"id\": $id, \"text\": \"yes\"}}" ;; esac"#
    ));
    let model = program.open();
    run(async {
        let transport = Transport::new(TransportOptions { request_timeout: Duration::from_millis(100), ..options() });
        assert_eq!(
            shown(&ask(&transport, &model, &question("never")).await),
            "timeout after 2: no answer within 0.1 s; it was asked 2 times and not again, because each request may be paid for"
        );
        let transport = Transport::new(options());
        assert_eq!(shown(&ask(&transport, &model, &question("plain")).await), "stop: yes after 1");
    });
    assert_eq!(program.n_starts(), 1);
    // A runtime that ends takes the program with it.
    run(async {
        let transport = Transport::new(options());
        assert_eq!(shown(&ask(&transport, &model, &question("plain")).await), "stop: yes after 1");
    });
    assert_eq!(program.n_starts(), 2);
}

#[test]
fn a_program_ends_with_its_model_and_takes_its_own_along() {
    let program = Program::new(&format!(
        r#"echo $$ > pids; sleep 1000 & echo $! >> pids; {ID}; echo "{{\"id\": $id, \"text\": \"yes\"}}"; sleep 1000"#
    ));
    run(async {
        let transport = Transport::new(options());
        let model = program.open();
        assert_eq!(shown(&ask(&transport, &model, &question("plain")).await), "stop: yes after 1");
        if !Path::new("/proc/self/stat").exists() {
            return;
        }
        let pids = program.read("pids");
        let is_running =
            |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|it| !it.contains(") Z "));
        assert_eq!(pids.lines().filter(|it| is_running(it)).count(), 2, "{pids}");
        drop(model);
        until(|| !pids.lines().any(is_running)).await;
    });
}

#[cfg(unix)]
#[test]
fn a_program_in_the_folder_is_found_wherever_that_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir_in(".").expect("a folder can be made here");
    let folder = Path::new(parent.path().file_name().expect("it has a name"));
    let file = folder.join("my judge");
    let text = format!("#!/bin/sh\nIFS= read -r line; {ID}; echo \"{{\\\"id\\\": $id, \\\"text\\\": \\\"$1\\\"}}\"\n");
    std::fs::write(&file, text).expect("a program can be written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it may be run");
    let outcome =
        run(async { ask(&Transport::new(options()), &open("'./my judge' yes", folder), &question("q")).await });
    assert_eq!(shown(&outcome), "stop: yes after 1");
}

#[test]
fn a_program_that_cannot_be_started_says_so() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (command, problem) in [
        ("no-such-program-here", "there is no such program"),
        ("./no-such-file", "there is no such program"),
        ("'open", "a quote is never closed"),
    ] {
        let resolved =
            describe(&format!("exec/{command}"), &settings("{}"), &|_| None).expect("a command can be resolved");
        let error = Model::open(resolved, folder.path(), &NoFiles, &|_| None).expect_err("it cannot be started");
        assert_eq!(error.to_string(), format!("`exec/{command}` is no command: {problem}"));
    }
}
