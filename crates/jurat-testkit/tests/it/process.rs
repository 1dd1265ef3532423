//! The program, started and killed.

use std::process::{Command, Stdio};

use jurat_testkit::{Event, Process, read_log};
use serde_json::json;

use crate::client::{CHAT, Client, post, question, text};

#[test]
fn the_program_answers_and_counts() {
    let process = Process::start(["--reply", "yes", "--latency", "1..3", "--seed", "7", "--fault", "first:1=503"]);
    let ask = |prompt: &str| post(process.port(), CHAT, &question(prompt));
    assert_eq!(ask("a").status, 503);
    assert_eq!(text(&ask("a")), "yes");
    let stats = process.stats();
    assert_eq!((&stats["requests"], &stats["most_repeats"]), (&json!(2), &json!(2)));
}

#[test]
fn what_was_logged_survives_a_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("requests.jsonl");
    let log = ["--log", file.to_str().expect("a path in UTF-8")];
    let mut first = Process::start(["--fault", "every:2=silence"].iter().chain(&log));
    let port = first.port();
    assert_eq!(post(port, CHAT, &question("a")).status, 200);
    let mut client = Client::connect(port);
    client.send(CHAT, "", &question("b").to_string());
    while first.stats()["in_flight"] != 1 {}
    first.kill();
    let second = Process::start(["--port", &port.to_string()].iter().chain(&log));
    assert_eq!(second.url(), first.url());
    assert_eq!(post(port, CHAT, &question("b")).status, 200);
    while second.stats()["in_flight"] != 0 {}
    let lines = read_log(&file).unwrap();
    let shown: Vec<(u64, Event)> = lines.iter().map(|it| (it.number, it.event)).collect();
    let expected = [(1, Event::Arrived), (1, Event::Sent), (2, Event::Arrived), (3, Event::Arrived), (3, Event::Sent)];
    assert_eq!(shown, expected);
    assert_eq!((lines[2].digest, lines[0].digest == lines[2].digest), (lines[3].digest, false));
}

#[test]
fn wrong_options_are_refused_with_the_accepted_ones() {
    let shown = |arguments: &[&str]| {
        let output = Command::new(Process::program()).args(arguments).output().expect("it starts");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(shown(&["--fault", "often=reset"]).contains("there is `always`, `first:N`, `each-first:N`, `every:N`"));
    assert!(shown(&["--fault", "always=crash"]).contains("`crash` is no fault; there is `reset`, "));
    assert!(shown(&["--fault", "reset"]).contains("expected WHEN=FAULT"));
    assert!(shown(&["--latency", "50..1"]).contains("expected milliseconds such as `20` or `1..50`"));
    assert!(shown(&["--log", "/no/such/directory/log"]).contains("cannot start the endpoint"));
}

#[test]
fn the_program_ends_with_its_input() {
    let mut command = Command::new(Process::program());
    let mut child = command.arg("--until-input-ends").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
