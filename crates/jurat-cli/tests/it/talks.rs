//! Conversations about rows: a run that is killed in the middle of them, and applications that are sent values of the row.

use std::process::Stdio;

use jurat_testkit::{Endpoint, Reply, Request, Script};

use crate::command::Folder;
use crate::stored::said;

/// A conversation of three turns about each row; what is asked in a later turn depends on what was answered before.
const SUITE: &str = "\
suite: talks
records: rows.jsonl
models: { subject: openai/small, parser: openai/reader }
scenarios:
  insists:
    over: records
    entry: ask
    nodes:
      ask: { question: 'Capital of ${country}?', raw_answer: '${capital}', state_update: { cel: \"{'said': parsed.answer}\" } }
      doubt: { question: 'Is ${state.accumulated.said} really the capital of ${country}?', raw_answer: '${capital}' }
      thank: { question: 'Thank you for turn ${state.turn}.', raw_answer: '${capital}' }
    edges: [ask -> doubt, doubt -> thank, thank -> __end__]
    outcomes: { held: { all_turns: { raw_response: '${capital}' } } }
tasks:
  - { id: turns, field_path: turn_count, operator: equals, expected_value: 3 }
";

const N_ROWS: usize = 6;

fn rows() -> String {
    (0..N_ROWS)
        .map(|it| format!("{{\"id\": \"r{it}\", \"country\": \"C{it}\", \"capital\": \"City {it}\"}}\n"))
        .collect()
}

/// A subject that knows every capital but one, and a parser that reads what it is shown.
fn answer(request: &Request) -> Reply {
    let known = (0..N_ROWS)
        .find(|it| request.prompt.contains(&format!("C{it}?")) || request.prompt.contains(&format!("City {it}")));
    let city = format!("City {}", known.unwrap_or_default());
    if request.json["response_format"].is_null() {
        let is_wrong = request.prompt.contains("really the capital of C3");
        return Reply::text(if is_wrong { "Elsewhere".to_owned() } else { city });
    }
    Reply::text(format!("{{\"answer\": \"{city}\", \"correct\": true}}"))
}

fn folder(endpoint: &Endpoint) -> Folder {
    let keys = format!("OPENAI_BASE_URL={}\nOPENAI_API_KEY=sk-of-the-project\n", endpoint.url());
    Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows()).and(".env", keys)
}

fn results(folder: &Folder) -> String {
    said(folder, &["export", "--to", "jsonl", "--results-only"])
}

#[test]
fn a_run_that_is_killed_in_the_middle_of_conversations_is_resumed_to_the_same_end() {
    let undisturbed = Endpoint::start(Script::answering(answer));
    let expected = folder(&undisturbed);
    let ended = expected.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let n_requests = undisturbed.stats().requests;

    for n_answered in [1, 5, 11, 17] {
        let endpoint = Endpoint::start(Script::answering(answer).held().keep_requests());
        let folder = folder(&endpoint);
        let mut command = folder.command();
        command.args(["run", "suite.yaml", "--quiet", "-j", "2"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the command starts");
        endpoint.release(n_answered);
        // Two more are waited for, so that the process is in the middle of conversations.
        endpoint.wait_until(|it| it.requests >= n_answered as u64 + 2);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let n_before = endpoint.stats().requests;
        endpoint.release_all();
        let resumed = folder.jurat(&["run", "suite.yaml"]);
        assert_eq!(resumed.code, Some(1), "{}{}", resumed.stdout, resumed.stderr);
        assert!(resumed.stderr.contains("resuming the run that was interrupted"), "{}", resumed.stderr);
        assert_eq!(results(&folder), results(&expected), "after {n_answered}");
        // What was in flight is asked again, and in each conversation what may have arrived without being written down: it asks on only after that.
        let n_again = endpoint.stats().requests - n_requests;
        assert!(n_again <= n_before - n_answered as u64 + N_ROWS as u64, "{n_again} asked again after {n_answered}");
    }
}

#[test]
fn an_application_in_a_conversation_about_rows_is_sent_values_of_the_row() {
    let endpoint = Endpoint::start(Script::new().keep_requests().reply(Reply::text("It was shipped.")));
    let suite = format!(
        r#"suite: support
records:
  - {{ id: one, question: "Where is A-17?", language: en, secret: x }}
  - {{ id: two, question: "Where is A-18?", language: de, secret: y }}
models:
  subject:
    model: http/support
    base_url: {}
    request: {{ path: /v1/chat/completions, body: {{ model: m, messages: "${{messages}}", user: "${{row.language}}" }} }}
    response: {{ text: "choices[0].message.content" }}
scenarios:
  order:
    over: records
    entry: ask
    nodes: {{ ask: {{ question: "${{question}}" }}, again: {{ question: "Are you sure?" }} }}
    edges: [ask -> again, again -> __end__]
    outcomes: {{ shipped: {{ all_turns: {{ raw_response: It was shipped. }} }} }}
"#,
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite);
    let run = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    let mut sent: Vec<(usize, String)> = endpoint
        .requests()
        .iter()
        .map(|it| (it.json["messages"].as_array().map_or(0, Vec::len), it.json["user"].to_string()))
        .collect();
    sent.sort();
    let expected = [(1, "\"de\""), (1, "\"en\""), (3, "\"de\""), (3, "\"en\"")].map(|(n, it)| (n, it.to_owned()));
    assert_eq!(sent, expected);
}
