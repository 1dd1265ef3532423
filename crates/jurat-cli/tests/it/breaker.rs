//! A fault that every further request would meet stops a run, which can be resumed.

use jurat_format::value::{Val, parse_json};
use jurat_testkit::{Endpoint, Fault, Reply, Script, When};

use crate::command::{Ended, Folder, ended};

const KEY: &str = "sk-right-0123456789";

/// Forty rows for a judge behind an endpoint that wants a key.
fn forty(url: &str) -> Folder {
    let suite = format!(
        "suite: forty\nrecords: rows.jsonl\n\
         models: {{ judge: {{ model: openai/small, base_url: '{url}', api_key_env: JUDGE_KEY }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }}, operator: contains, expected_value: fine }}\n"
    );
    let rows: String = (0..40).map(|n| format!("{{\"id\": \"r{n}\", \"n\": {n}}}\n")).collect();
    Folder::with("suite.yaml", suite).and("rows.jsonl", rows)
}

fn run(folder: &Folder, key: &str, arguments: &[&str]) -> Ended {
    ended(folder.command().args(["run", "suite.yaml", "-q"]).args(arguments).env("JUDGE_KEY", key))
}

/// How many cases of the run that was printed as JSON ended in a certain way.
fn n_cases(ended: &Ended, verdict: &str) -> i64 {
    let report = parse_json(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}")).value;
    let counts = report.get("results").and_then(|it| it.get("case_counts")).and_then(|it| it.get(verdict));
    match counts {
        Some(Val::I(n)) => *n,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_key_stops_the_run_and_the_right_one_resumes_it() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).key(KEY));
    let folder = forty(&endpoint.url());
    let stopped = run(&folder, "sk-wrong-0123456789", &["-j", "1", "--json"]);
    assert_eq!(stopped.code, Some(3), "{stopped:?}");
    assert_eq!((n_cases(&stopped, "error"), n_cases(&stopped, "not_run")), (5, 35));
    assert_eq!(endpoint.stats().requests, 5);
    assert!(stopped.stdout.contains("\"stopped\":\"endpoint_fault\""), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("\"sentence\":\"stopped: every request fails: "), "{}", stopped.stdout);

    let replayed = run(&folder, "", &["--replay", "latest", "--json", "--results-only"]);
    assert_eq!(replayed.code, Some(3), "{replayed:?}");
    assert!(stopped.stdout.starts_with(replayed.stdout.trim_end().trim_end_matches('}')), "{}", replayed.stdout);

    let resumed = run(&folder, KEY, &["-j", "1", "--json"]);
    assert_eq!((resumed.code, n_cases(&resumed, "passed")), (Some(0), 40), "{resumed:?}");
    assert!(resumed.stdout.contains("\"resumed\":true"), "{}", resumed.stdout);
}

#[test]
fn keep_going_meets_every_fault() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).key(KEY));
    let folder = forty(&endpoint.url());
    let ended = run(&folder, "sk-wrong-0123456789", &["--keep-going", "--json"]);
    assert_eq!((ended.code, n_cases(&ended, "error")), (Some(3), 40), "{ended:?}");
}

#[test]
fn an_answer_between_faults_keeps_a_run_going() {
    let suite = "suite: mixed\nrecords: rows.jsonl\nmodels: { judge: script/replies.jsonl }\n\
                 tasks:\n  - { id: tone, judge: { prompt: 'Rate ${n}', max_retries: 0 }, operator: contains, expected_value: fine }\n";
    let rows: String = (0..40).map(|n| format!("{{\"id\": \"r{n}\", \"n\": \"{}\"}}\n", n % 5)).collect();
    let replies = "{\"match\": {\"contains\": \"4\"}, \"reply\": \"fine\", \"times\": \"*\"}\n\
                   {\"fault\": \"status:401\", \"times\": \"*\"}\n";
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", rows).and("replies.jsonl", replies);
    let ended = folder.jurat(&["run", "suite.yaml", "-q", "-j", "1", "--json"]);
    assert_eq!(
        (n_cases(&ended, "error"), n_cases(&ended, "passed"), n_cases(&ended, "not_run")),
        (32, 8, 0),
        "{ended:?}"
    );
}

#[test]
fn a_host_that_cannot_be_reached_stops_the_run_with_a_remedy() {
    let endpoint = Endpoint::start(Script::new());
    let rows: String = (0..200).map(|n| format!("{{\"id\": \"r{n}\", \"n\": {n}}}\n")).collect();
    let folder = forty(&endpoint.url()).and("rows.jsonl", rows);
    drop(endpoint);
    let ended = run(&folder, KEY, &["-j", "1"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let sentence = ended.stdout.lines().find(|it| it.starts_with("stopped: every request fails: ")).unwrap_or_default();
    assert!(sentence.contains("check `base_url`") && sentence.ends_with(" of 200 cases not run"), "{ended:?}");
}

/// A program that asks its model once.
const ASK: &str = r#"
import os, urllib.request
body = b'{"model": "small", "messages": [{"role": "user", "content": "Hello."}]}'
url = os.environ["JURAT_BASE_URL"] + "/v1/chat/completions"
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["JURAT_API_KEY"]}
print(urllib.request.urlopen(urllib.request.Request(url, body, headers)).read())
"#;

/// A program that gives up on its model, and says so.
const GIVE_UP: &str = r#"
import os, urllib.request
body = b'{"model": "small", "messages": [{"role": "user", "content": "Hello."}]}'
url = os.environ["JURAT_BASE_URL"] + "/v1/chat/completions"
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["JURAT_API_KEY"]}
try:
    urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=3)
except Exception:
    print("I could not reach the model.")
"#;

/// What an agent says when its endpoint never answered says nothing about the agent.
#[test]
fn an_agent_that_gives_up_on_a_silent_endpoint_is_not_judged() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).fault(When::Always, Fault::Silence));
    let suite = format!(
        "suite: agents\nmodels: {{ subject: {{ model: openai/small, base_url: '{}', api_key_env: JUDGE_KEY }} }}\n\
         agents:\n  mine: {{ command: [python3, ./give_up.py], model: subject, output: text }}\n\
         cases: [{{ id: c, task: Say hello. }}]\n\
         tasks: [{{ id: said, field_path: final_response, operator: contains, expected_value: reach }}]\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite).and("give_up.py", GIVE_UP);
    let ended = run(&folder, KEY, &["--json"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(n_cases(&ended, "error"), 1, "{ended:?}");
    assert!(ended.stdout.contains("the agent closed its request to the model after "), "{}", ended.stdout);
    assert!(ended.stdout.contains("resume the run when the endpoint answers"), "{}", ended.stdout);
}

/// Cases of agents whose endpoint fails every request: a program that asks it through the proxy, and a model that jurat asks itself.
#[test]
fn runs_of_agents_that_meet_such_a_fault_are_counted() {
    for agent in ["{ runner: llm_probe }", "{ command: [python3, ./ask.py], model: subject, output: text }"] {
        let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).key(KEY));
        let cases: String = (0..8).map(|n| format!("  - {{ id: c{n}, task: Say hello. }}\n")).collect();
        let suite = format!(
            "suite: agents\nmodels: {{ subject: {{ model: openai/small, base_url: '{}', api_key_env: JUDGE_KEY }} }}\n\
             agents:\n  mine: {agent}\ncases:\n{cases}tasks: [{{ id: done, check: {{ kind: status_is, expected: success }} }}]\n",
            endpoint.url()
        );
        let folder = Folder::with("suite.yaml", suite).and("ask.py", ASK);
        let stopped = run(&folder, "sk-wrong-0123456789", &["-j", "1", "--json"]);
        assert_eq!(stopped.code, Some(3), "{agent} {stopped:?}");
        assert_eq!((n_cases(&stopped, "error"), n_cases(&stopped, "not_run")), (5, 3), "{agent} {}", stopped.stdout);
        assert!(stopped.stdout.contains("\"sentence\":\"stopped: every request fails: "), "{}", stopped.stdout);
        assert!(
            stopped.stdout.contains("\"remedy\":\"check the API key and what it may access\""),
            "{}",
            stopped.stdout
        );
        // Each run of an agent made at least one request, and all of them are counted.
        assert!(stopped.stdout.contains(&format!("\"requests\":{},", endpoint.stats().requests)), "{}", stopped.stdout);
    }
}
