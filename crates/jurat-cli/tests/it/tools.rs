//! Models that are asked about rows with tools: what they call, what tools return, and what is reported.

use std::fs;

use jurat_format::value::{Val, Value, parse_json};
use jurat_testkit::tools::{Guard, SECRET, ToolEndpoint, program};

use crate::command::{Ended, Folder, ended, root};
use crate::stored::{said, steady};

/// A suite whose subject may call the tools of a server, and what the subject says.
fn asking(server: &str, ask: &str, replies: &[&str]) -> Folder {
    let suite = format!(
        "\
suite: calling
tools: {{ kit: {{ command: ['{server}'] }} }}
models: {{ subject: script/replies.jsonl }}
records: [{{ id: a, word: hello }}]
ask: {{ prompt: 'Say ${{word}}.', tools: [kit]{ask} }}
tasks: [{{ id: said, field_path: output, operator: contains, expected_value: hello }}]
"
    );
    Folder::with("suite.yaml", suite).and("replies.jsonl", replies.join("\n"))
}

fn kit() -> String {
    program().display().to_string()
}

/// A line of a script that calls a tool.
fn call(tool: &str, arguments: &str) -> String {
    format!(r#"{{"reply": "wait", "tool_calls": [{{"id": "c1", "name": "{tool}", "arguments": {arguments}}}]}}"#)
}

const ANSWER: &str = r#"{"reply": "hello it is"}"#;

/// Runs a suite and returns the row that it saves, with how it ended.
fn saved(folder: &Folder) -> (Option<i32>, Value) {
    let Ended { code, stdout, stderr } =
        folder.jurat(&["run", "suite.yaml", "--quiet", "--save-records", "saved.jsonl"]);
    assert_eq!(stderr, "", "{stdout}");
    let saved = fs::read_to_string(folder.path().join("saved.jsonl")).expect("rows are saved");
    (code, parse_json(&saved).expect("one row is saved").value.into_owned())
}

/// What a row says that its model called, as JSON.
fn calls(row: &Value) -> String {
    row.get("tool_calls").map(Val::to_json).unwrap_or_default()
}

/// What is not offered is not called, and whatever a tool says is for the model to deal with.
#[test]
fn what_a_model_calls_is_evidence_whatever_comes_of_it() {
    let without_echo = ", tool_filter: { remove: [{ server: kit, tool: echo }] }";
    let without_kit = ", tool_filter: { remove: [{ server: kit }] }";
    let refused = r#"[{"id":"c1","name":"echo","arguments":{"message":"hello"},"output":"there is no tool `echo` here","is_error":true}]"#;
    for (ask, tool, arguments, expected) in [
        (
            "",
            "echo",
            r#"{"message": "hello"}"#,
            r#"[{"id":"c1","name":"echo","arguments":{"message":"hello"},"server":"kit","output":"hello","is_error":false}]"#,
        ),
        (
            "",
            "sing",
            "{}",
            r#"[{"id":"c1","name":"sing","arguments":{},"output":"there is no tool `sing` here","is_error":true}]"#,
        ),
        (without_echo, "echo", r#"{"message": "hello"}"#, refused),
        (without_kit, "echo", r#"{"message": "hello"}"#, refused),
    ] {
        let (code, row) = saved(&asking(&kit(), ask, &[&call(tool, arguments), ANSWER]));
        assert_eq!((code, calls(&row).as_str()), (Some(0), expected), "{ask}");
        assert_eq!(row.get("output").and_then(Val::as_str), Some("hello it is"));
        assert_eq!(row.get("finish_reason").and_then(Val::as_str), Some("stop"));
        let roles: Vec<&str> = row
            .get("messages")
            .and_then(Val::as_list)
            .expect("messages are saved")
            .iter()
            .filter_map(|it| it.get("role").and_then(Val::as_str))
            .collect();
        assert_eq!(roles, ["user", "assistant", "tool"]);
    }
    for tool in ["fail", "invalid"] {
        let (code, row) = saved(&asking(&kit(), "", &[&call(tool, "{}"), ANSWER]));
        assert_eq!(code, Some(0), "{tool}");
        let call = row.get("tool_calls").and_then(Val::as_list).and_then(|it| it.first()).expect("a call");
        assert_eq!(call.get("is_error"), Some(&Val::Bool(true)), "{tool}");
        let output = call.get("output").and_then(Val::as_str).expect("the model was sent a message");
        assert!(!output.is_empty(), "{tool}: {output}");
    }
}

/// A server that fails says nothing about the model.
/// Calls `picture`, and says what media it was given with the result.
const LOOKING: &str = r#"import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    last = asked["messages"][-1]
    with open("seen.jsonl", "a") as seen:
        seen.write(json.dumps(last) + "\n")
    if last["role"] == "user":
        reply = {"tool_calls": [{"id": "c1", "name": "picture", "arguments": {}}]}
    else:
        media = [f"{it['media_type']} {it['data']}" for it in last["media"]]
        reply = {"text": "hello " + "; ".join(media)}
    print(json.dumps({"id": asked["id"], **reply}), flush=True)
"#;

fn looking() -> Folder {
    let suite = format!(
        "\
suite: looking
tools: {{ kit: {{ command: ['{}', --log, calls.txt], reuse: true }} }}
models: {{ subject: exec/python3 model.py }}
records: [{{ id: a, word: hello }}]
ask: {{ prompt: 'Look at ${{word}}.', tools: [kit] }}
tasks: [{{ id: said, field_path: output, operator: equals, expected_value: hello image/png iVBORw0KGgo= }}]
",
        kit()
    );
    Folder::with("suite.yaml", suite).and("model.py", LOOKING)
}

fn n_calls(folder: &Folder) -> usize {
    let log = fs::read_to_string(folder.path().join("calls.txt")).expect("the server writes a log");
    log.lines().filter(|it| *it == "tools/call").count()
}

#[test]
fn an_image_that_a_tool_returns_reaches_the_model_and_is_stored_once() {
    let folder = looking();
    let (code, row) = saved(&folder);
    assert_eq!(code, Some(0), "{row}");
    assert!(calls(&row).contains(r#""output":"[image: image/png, 8 bytes]\na point""#), "{row}");
    let runs = fs::read_dir(folder.path().join(".jurat/runs")).expect("there are runs");
    let runs = runs.map(|it| it.expect("it can be listed").path()).filter(|it| it.is_file());
    let stored: Vec<u8> = runs.flat_map(|it| fs::read(it).expect("a run can be read")).collect();
    assert_eq!(stored.windows(8).filter(|it| *it == b"\x89PNG\r\n\x1a\n").count(), 1);
    // Other runs have no bytes of it, so the tool is called again there.
    assert_eq!(folder.jurat(&["run", "suite.yaml", "--quiet"]).code, Some(0));
    assert_eq!(n_calls(&folder), 2);
    fs::remove_file(folder.path().join("model.py")).expect("it can be removed");
    assert_eq!(folder.jurat(&["run", "suite.yaml", "--quiet", "--replay", "latest"]).code, Some(0));
    assert_eq!(n_calls(&folder), 2);
}

#[test]
fn a_run_that_is_resumed_sends_the_same_image() {
    let folder = looking();
    let stopped = folder.jurat(&["run", "suite.yaml", "--quiet", "--budget-calls", "1"]);
    assert_eq!(stopped.code, Some(4), "{stopped:?}");
    let resumed = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!((resumed.code, n_calls(&folder)), (Some(0), 1), "{resumed:?}");
    let seen = fs::read_to_string(folder.path().join("seen.jsonl")).expect("the model writes what it saw");
    assert_eq!(seen.lines().filter(|it| it.contains("iVBORw0KGgo=")).count(), 1, "{seen}");
}

#[test]
fn no_token_and_no_secret_is_stored() {
    let endpoint = ToolEndpoint::guarded(Guard::default());
    let suite = format!(
        "\
suite: guarded
tools: {{ kit: {{ url: '{}', oauth: {{ client_id: jurat, client_secret: '${{KIT_SECRET}}' }} }} }}
models: {{ subject: script/replies.jsonl }}
records: [{{ id: a }}]
ask: {{ prompt: 'Say hello.', tools: [kit] }}
tasks: [{{ id: said, field_path: output, operator: contains, expected_value: hello }}]
",
        endpoint.url()
    );
    let replies = [call("echo", r#"{"message": "token-0123456789-1"}"#), ANSWER.to_owned()].join("\n");
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", replies);
    let run = ended(folder.command().args(["run", "suite.yaml", "--tasks"]).env("KIT_SECRET", SECRET));
    assert_eq!((run.code, endpoint.token_requests().len()), (Some(0), 1), "{run:?}");
    let effects = folder.jurat(&["export", "--effects", "-o", "effects.jsonl"]);
    assert_eq!(effects.code, Some(0), "{effects:?}");
    let effects = fs::read_to_string(folder.path().join("effects.jsonl")).expect("effects are exported");
    assert!(effects.contains("[secret]"), "{effects}");
    // The script itself says the token, as the argument of its call.
    let said = effects.replace(r#"{"message":"token-0123456789-1"}"#, "");
    for text in [run.stdout, run.stderr, said] {
        assert!(!text.contains("token-0123456789") && !text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_server_that_ends_in_the_middle_is_an_error_of_the_case() {
    let folder = asking(&kit(), "", &[&call("die", "{}"), ANSWER]);
    let ended = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    let text = said(&folder, &["explain", "a", "said"]);
    let why =
        "said of a: error\nthe subject gave no answer: the tool `die` could not be called: the server `kit` ended";
    assert!(text.starts_with(why), "{text}");
}

#[test]
fn a_model_that_only_calls_tools_has_not_answered() {
    let replies = call("echo", r#"{"message": "hello"}"#).replace("\"reply\"", "\"times\": \"*\", \"reply\"");
    let folder = asking(&kit(), "", &[&replies]);
    let (code, row) = saved(&folder);
    assert_eq!(code, Some(1), "that is a failure of the subject, not an error");
    assert_eq!(row.get("output").and_then(Val::as_str), Some("wait"));
    assert_eq!(row.get("finish_reason").and_then(Val::as_str), Some("tool_calls"));
    let calls = row.get("tool_calls").and_then(Val::as_list).expect("there are calls");
    let n_called = calls.iter().filter(|it| it.get("output").is_some()).count();
    assert_eq!((calls.len(), n_called), (16, 15), "the last are not called");
    assert!(said(&folder, &["show"]).contains("for 16 requests"));
}

/// What the model would have said is not known.
#[test]
fn a_server_that_does_not_start_is_an_error_of_the_case() {
    let folder = asking("false", "", &[ANSWER]);
    let ended = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    let text = said(&folder, &["explain", "a", "said"]);
    assert!(text.starts_with("said of a: error\nthe tools of `kit` could not be listed: "), "{text}");
}

#[test]
fn a_server_whose_program_is_not_there_is_refused() {
    for verb in ["check", "plan", "run"] {
        let ended = asking("./nowhere", "", &[ANSWER]).jurat(&[verb, "suite.yaml"]);
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        let message = "error[run::no_program]: the server `kit` cannot be started: there is no program `./nowhere`\n";
        assert!(ended.stderr.starts_with(message), "{}", ended.stderr);
    }
}

#[test]
fn the_bound_of_a_plan_counts_every_time_the_model_may_be_asked() {
    let folder = asking(&kit(), "", &[ANSWER]);
    let text = said(&folder, &["plan", "suite.yaml"]);
    let line = "asks script/replies.jsonl with 1 prompt and the tools of kit, at most 64 calls a case\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("at most 64 calls of models"), "{text}");
    let text = said(&asking(&kit(), ", max_retries: 0", &[ANSWER]), &["plan", "suite.yaml", "--format", "json"]);
    assert!(text.contains("\"tools\":[\"kit\"],\"max_calls\":16"), "{text}");
}

#[test]
fn an_explanation_shows_what_tools_returned() {
    let folder = asking(&kit(), ", output: { word: string }", &[&call("echo", r#"{"message": "hello"}"#), ANSWER]);
    folder.jurat(&["run", "suite.yaml", "--quiet"]);
    let text = said(&folder, &["explain", "a", "said"]);
    let shown = "\
what the subject was asked
user
│ Say hello.
schema of the answer
│ {\"type\": \"object\", \"properties\": {\"word\": {\"type\": \"string\"}}, \"required\": [\"word\"], \"additionalProperties\": false}

subject (replies.jsonl)
asked in this run, $0, T, finish tool_calls
│ wait
calls echo with {\"message\": \"hello\"}

subject (replies.jsonl), with what tools returned
asked in this run, $0, T, finish stop
│ hello it is
";
    assert!(text.contains(shown), "{text}");
    let tools = "
the tools that it called
called kit/echo with {\"message\": \"hello\"}
which returned
│ hello
asks tools kit: asked in this run, T
asks tool kit/echo: asked in this run, T
";
    assert!(text.ends_with(tools), "{text}");
    let json = said(&folder, &["explain", "a", "said", "--json"]);
    let calls = r#""tool_calls":[{"server":"kit","tool":"echo","arguments":{"message":"hello"},"output":"hello","is_error":false}]"#;
    assert!(json.contains(calls), "{json}");
}

/// The recording of the example is what a replay of it records, to the byte: sites, keys, requests and outcomes stay as they are.
#[test]
fn recorded_calls_of_tools_stay_what_they_are() {
    let example = |name: &str| fs::read_to_string(root().join("examples/tools").join(name)).expect("an example");
    let folder = Folder::with("suite.yaml", example("suite.yaml")).and("effects.jsonl", example("effects.jsonl"));
    let replayed = folder.jurat(&["run", "suite.yaml", "--replay", "effects.jsonl", "--json", "--results-only"]);
    assert_eq!((replayed.code, replayed.stderr.as_str()), (Some(0), ""), "{}", replayed.stdout);
    let exported = folder.jurat(&["export", "--effects", "-o", "again.jsonl"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let again = fs::read_to_string(folder.path().join("again.jsonl")).expect("effects are exported");
    assert_eq!(again, example("effects.jsonl"));
    // With Python the command gets the same verdicts from the server itself.
    let live = Folder::with("suite.yaml", example("suite.yaml")).and("replies.jsonl", example("replies.jsonl"));
    let live = live.and("warehouse.py", example("warehouse.py"));
    live.jurat(&["run", "suite.yaml", "--quiet"]);
    let shown = |folder: &Folder| steady(folder, &folder.jurat(&["show", "--tasks", "--results-only"]).stdout);
    assert_eq!(shown(&live), shown(&folder));
}

/// A model that jurat asks for a case of its own goes the same way, and its filter holds as well.
#[test]
fn the_filter_of_an_agent_holds() {
    let suite = format!(
        "\
suite: errand
tools: {{ kit: {{ command: ['{}'] }} }}
models: {{ subject: script/replies.jsonl }}
agents: {{ probe: {{ runner: llm_probe, tools: [kit], tool_filter: {{ remove: [{{ server: kit, tool: echo }}] }} }} }}
cases: [{{ id: errand, task: Add. }}]
tasks:
  - {{ id: refused, field_path: 'tool_calls[0].output', operator: equals, expected_value: 'there is no tool `echo` here' }}
  - {{ id: added, field_path: 'tool_calls[1].output', operator: contains, expected_value: '5' }}
  - {{ id: said, field_path: final_response, operator: equals, expected_value: hello it is }}
",
        kit()
    );
    let replies = [&*call("echo", r#"{"message": "hello"}"#), &*call("add", r#"{"a": 2, "b": 3}"#), ANSWER].join("\n");
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", replies);
    let ended = folder.jurat(&["run", "suite.yaml", "--quiet", "--tasks"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

/// A program that is an agent: it calls tools of a server at the address that it is given, and prints what came back.
const CALLER: &str = r#"
import json, sys, urllib.request

asked = json.load(sys.stdin)
url = asked["mcp_servers"]["kit"]["url"]

def post(message):
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)
    with urllib.request.urlopen(request) as response:
        text = response.read()
        return json.loads(text) if text else response.status

def emit(**event):
    print(json.dumps(event))

started = post({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}})
emit(type="note", name="started", detail=started["result"]["serverInfo"]["name"])
assert post({"method": "notifications/initialized"}) == 202
names = [tool["name"] for tool in post({"id": 1, "method": "tools/list"})["result"]["tools"]]
called = {}
for name, arguments in [("add", {"a": 2, "b": 3}), ("fail", {}), ("echo", {"message": "hello"})]:
    emit(type="tool_call", id=name, name="kit." + name, arguments=arguments)
    answer = post({"id": name, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    result = answer.get("result") or {"content": [{"text": answer["error"]["message"]}], "isError": True}
    emit(type="tool_result", id=name, output=result["content"][0]["text"], is_error=result["isError"])
emit(type="final", text=f"echo offered: {'echo' in names}, add offered: {'add' in names}")
"#;

/// An agent in its sandbox reaches the servers of the suite through jurat, and no tool that the suite removes.
#[test]
fn a_program_that_is_an_agent_calls_tools_of_servers() {
    let suite = format!(
        "\
suite: calling
tools: {{ kit: {{ command: ['{}'] }} }}
agents:
  caller: {{ command: [python3, ./caller.py], tools: [kit], tool_filter: {{ remove: [{{ server: kit, tool: echo }}] }} }}
cases: [{{ id: errand, task: Add. }}]
tasks:
  - {{ id: offered, field_path: final_response, operator: equals, expected_value: 'echo offered: False, add offered: True' }}
  - {{ id: added, field_path: 'tool_calls[0].output', operator: contains, expected_value: '5' }}
  - {{ id: failed, field_path: 'tool_calls[1].status', operator: equals, expected_value: error }}
  - {{ id: removed, field_path: 'tool_calls[2].output', operator: equals, expected_value: 'there is no tool `echo`' }}
  - {{ id: known, check: {{ kind: tool_called, tool_kind: mcp, min: 3 }} }}
",
        kit()
    );
    for place in ["--quiet", "--unsafe-host"] {
        let folder = Folder::with("suite.yaml", &suite).and("caller.py", CALLER);
        let ended = folder.jurat(&["run", "suite.yaml", "--tasks", place]);
        assert_eq!(ended.code, Some(0), "{place}\n{}{}", ended.stdout, ended.stderr);
    }
}
