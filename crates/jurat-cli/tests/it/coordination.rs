//! Budgets and limits that several processes share: `--share`, and `jurat coordinate`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use jurat_testkit::{Endpoint, Reply, Script, Usage};
use serde_json::Value;

use crate::command::{Ended, Folder};

const ROWS: usize = 40;
const SHARDS: usize = 8;

/// Rows that a judge with a price is asked about, cut into shards.
fn planned(endpoint: &Endpoint) -> Folder {
    let suite = "\
suite: shared
records: rows.jsonl
models:
  judge: { model: openai/judge, price: { input: 1, output: 2 }, max_tokens: 50 }
tasks:
  - { id: tone, judge: { prompt: 'tone of ${answer}' }, operator: contains, expected_value: fine }
";
    let keys = format!("OPENAI_BASE_URL={}\nOPENAI_API_KEY=sk-of-the-project\n", endpoint.url());
    let rows: String =
        (0..ROWS).map(|it| format!("{{\"id\": \"r{it:02}\", \"answer\": \"answer {it:02}\"}}\n")).collect();
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", rows).and(".env", keys);
    let planned = folder.jurat(&["shards", "suite.yaml", "--rows", "5", "-o", "parts"]);
    assert_eq!(planned.stdout.lines().next(), Some("8 shards in parts"), "{}", planned.stderr);
    folder
}

fn script() -> Script {
    let usage = Usage { input: 20, output: 5, cached: 0, reasoning: 0 };
    Script::new().reply(Reply::text("fine").usage(usage))
}

/// A coordinator of the plan of a folder, ended when it is dropped.
struct Coordinator {
    child: Child,
    url: String,
}

impl Coordinator {
    fn start(folder: &Folder, arguments: &[&str]) -> Coordinator {
        let mut command = folder.command();
        command.args(["coordinate", "parts", "--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().expect("it was asked for")).read_line(&mut url).expect("text");
        Coordinator { child, url: url.trim().to_owned() }
    }

    /// What it answers, and with which status.
    fn asked(&self, folder: &Folder, method: &str, path: &str, token: Option<&str>) -> (u16, String) {
        let stored = fs::read_to_string(folder.path().join("parts/coordinator.token")).expect("a token");
        let token = token.unwrap_or(stored.trim());
        let mut socket = TcpStream::connect(self.url.trim_start_matches("http://")).expect("it listens");
        let request = format!("{method} {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n");
        socket.write_all(request.as_bytes()).expect("it listens");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        (head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status"), body.to_owned())
    }

    fn state(&self, folder: &Folder) -> Value {
        serde_json::from_str(&self.asked(folder, "GET", "/state", None).1).expect("JSON")
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a process for each shard at the same time, and returns how they ended.
fn all_at_once(folder: &Folder, arguments: &dyn Fn(usize) -> Vec<String>) -> Vec<Option<i32>> {
    let start = |ix: usize| {
        let mut command = folder.command();
        command.args(["run", "--quiet", "--shard", &format!("parts:{ix}")]).args(arguments(ix));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let children: Vec<Child> = (0..SHARDS).map(start).collect();
    children.into_iter().map(|mut it| it.wait().expect("it ends").code()).collect()
}

fn leasing(coordinator: &Coordinator) -> impl Fn(usize) -> Vec<String> + use<> {
    let url = coordinator.url.clone();
    move |_| vec!["--coordinator".to_owned(), url.clone(), "-j".to_owned(), "4".to_owned()]
}

#[track_caller]
fn merged(folder: &Folder) -> Ended {
    let merged = folder.jurat(&["merge", "parts", "--expect-rows", "40"]);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    folder.jurat(&["show", "parts/run.jurat"])
}

#[test]
fn processes_that_lease_stay_within_what_all_of_them_may_have_in_flight() {
    let endpoint = Endpoint::start(script().at_most_in_flight(3));
    let folder = planned(&endpoint);
    let mut coordinator = Coordinator::start(&folder, &["-j", "3", "--budget-usd", "1"]);
    assert_eq!(all_at_once(&folder, &leasing(&coordinator)), [Some(0); SHARDS]);
    let stats = endpoint.stats();
    assert!(stats.peak_in_flight <= 3, "{stats:?}");
    assert_eq!((stats.answers, stats.errors), (ROWS as u64, 0), "nothing was refused");
    // All shards are done, so it ends by itself.
    assert_eq!(coordinator.child.wait().expect("it ends").code(), Some(0));
    assert!(merged(&folder).stdout.contains("40"));
}

#[test]
fn a_budget_that_is_leased_is_never_exceeded_and_can_be_raised() {
    let endpoint = Endpoint::start(script());
    let folder = planned(&endpoint);
    let coordinator = Coordinator::start(&folder, &["--budget-calls", "17"]);
    let ended = all_at_once(&folder, &leasing(&coordinator));
    assert!(ended.iter().all(|it| matches!(it, Some(0 | 4))) && ended.contains(&Some(4)), "{ended:?}");
    assert!(endpoint.stats().requests <= 17, "{:?}", endpoint.stats());
    let state = coordinator.state(&folder);
    assert_eq!(state["spent"]["calls"].as_u64(), Some(endpoint.stats().requests), "{state}");
    drop(coordinator);
    // What was spent before counts, and what was answered is not asked again.
    let mut coordinator = Coordinator::start(&folder, &["--budget-calls", "40"]);
    assert_eq!(all_at_once(&folder, &leasing(&coordinator)), [Some(0); SHARDS]);
    assert_eq!(endpoint.stats().requests, ROWS as u64);
    assert_eq!(coordinator.child.wait().expect("it ends").code(), Some(0));
    merged(&folder);
}

#[test]
fn a_coordinator_that_is_killed_and_started_again_continues() {
    let endpoint = Endpoint::start(script().held());
    let folder = planned(&endpoint);
    let coordinator = Coordinator::start(&folder, &["--budget-calls", "40", "-j", "8"]);
    let port = coordinator.url.rsplit(':').next().expect("a port").to_owned();
    let mut shard = folder.command();
    shard.args(["run", "--quiet", "--shard", "parts:0", "-j", "2", "--coordinator", &coordinator.url]);
    let mut shard = shard.stdout(Stdio::null()).spawn().expect("it starts");
    endpoint.wait_until(|it| it.requests == 2);
    drop(coordinator);
    let mut command = folder.command();
    command.args(["coordinate", "parts", "--budget-calls", "40", "-j", "8", "--listen", &format!("127.0.0.1:{port}")]);
    let mut again = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    endpoint.release_all();
    assert_eq!(shard.wait().expect("it ends").code(), Some(0));
    again.kill().expect("it runs");
    again.wait().expect("it ends");
    assert_eq!(endpoint.stats().requests, 5);
}

#[test]
fn a_coordinator_answers_only_those_who_have_its_token() {
    let endpoint = Endpoint::start(script());
    let folder = planned(&endpoint);
    let coordinator = Coordinator::start(&folder, &["--budget-usd", "0.5", "--rpm", "600"]);
    for token in ["", "wrong"] {
        for (method, path) in [("GET", "/state"), ("GET", "/metrics"), ("POST", "/stop"), ("POST", "/lease")] {
            assert_eq!(coordinator.asked(&folder, method, path, Some(token)).0, 401, "{method} {path}");
        }
    }
    assert_eq!(coordinator.asked(&folder, "GET", "/nowhere", None).0, 404);
    assert_eq!(coordinator.asked(&folder, "POST", "/lease", None).0, 400, "a lease needs a body");
    let state = coordinator.state(&folder);
    assert_eq!(state["limits"]["nano_usd"], 500_000_000, "{state}");
    assert_eq!(state["shards"]["planned"], SHARDS);
    let refused = folder.jurat(&["coordinate", "parts", "--listen", "127.0.0.1:0"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("another coordinator uses"), "{refused:?}");
    let shard = ["run", "--shard", "parts:0", "--coordinator", &coordinator.url, "--quiet"];
    let mut other = folder.command();
    let other = crate::command::ended(other.args(shard).env("JURAT_COORDINATOR_TOKEN", "wrong"));
    assert!(other.code == Some(2) && other.stderr.contains("the token is missing or wrong"), "{other:?}");
    assert_eq!(folder.jurat(&shard).code, Some(0));
    let metrics = coordinator.asked(&folder, "GET", "/metrics", None).1;
    for line in [
        "jurat_shards{state=\"done\"} 1",
        "jurat_cases_total{verdict=\"passed\"} 5",
        "jurat_requests_total{outcome=\"answered\"} 5",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    // Once it is stopped, a shard asks nothing, and is resumed later.
    assert_eq!(coordinator.asked(&folder, "POST", "/stop", None).0, 200);
    let stopped = folder.jurat(&["run", "--shard", "parts:1", "--coordinator", &coordinator.url, "--quiet"]);
    assert_eq!(stopped.code, Some(130), "{stopped:?}");
    assert_eq!(endpoint.stats().requests, 5);
    let nowhere = folder.jurat(&["run", "--shard", "parts:1", "--coordinator", "nowhere"]);
    assert!(nowhere.code == Some(2) && nowhere.stderr.contains("write `http://HOST:PORT`"), "{nowhere:?}");
}

#[test]
fn a_plan_of_another_directory_is_refused_by_a_coordinator() {
    let endpoint = Endpoint::start(script());
    let folder = planned(&endpoint);
    let coordinator = Coordinator::start(&folder, &["-j", "4"]);
    let other = folder.jurat(&["shards", "suite.yaml", "--rows", "20", "-o", "other"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    fs::copy(folder.path().join("parts/coordinator.token"), folder.path().join("other/coordinator.token"))
        .expect("it can be copied");
    let refused = folder.jurat(&["run", "--shard", "other:0", "--coordinator", &coordinator.url]);
    assert!(refused.code == Some(2) && refused.stderr.contains("is for another plan of shards"), "{refused:?}");
    assert_eq!(endpoint.stats().requests, 0);
}

#[test]
fn shares_of_a_budget_are_together_the_budget() {
    let endpoint = Endpoint::start(script());
    let folder = planned(&endpoint);
    let share = |ix: usize| {
        let words = ["--share", &format!("{ix}/{SHARDS}"), "--budget-calls", "20", "-j", "8"];
        words.iter().map(|it| (*it).to_owned()).collect()
    };
    let ended = all_at_once(&folder, &share);
    // The first four have three requests each, the others two, and each shard needs five.
    assert_eq!(ended, [Some(4); SHARDS]);
    assert_eq!(endpoint.stats().requests, 20);
    assert!(endpoint.stats().peak_in_flight <= SHARDS as u64);
    // What an attempt spent counts for the next one: the budget is that of the shard.
    assert_eq!(all_at_once(&folder, &share), [Some(4); SHARDS]);
    assert_eq!(endpoint.stats().requests, 20);
    let refused = |arguments: &[&str], words: &str| {
        let ended = folder.jurat(&[&["run", "--shard", "parts:5"], arguments].concat());
        assert!(ended.code == Some(2) && ended.stderr.contains(words), "{ended:?}");
    };
    refused(&["--share", "5/8", "--budget-calls", "4"], "it is enough for 4 processes");
    refused(&["--share", "8/8"], "they are counted from 0");
    refused(&["--budget-calls", "4"], "`--budget-calls` cannot be used with shards");
}
