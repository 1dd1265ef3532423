//! Runs of scenarios read back: graphs with counts, what was not exercised, and what was said.

use jurat_format::value::{Val, parse_json};

use crate::command::Folder;
use crate::stored::{greetings_run, refused, said};

/// Two scenarios with an outcome of the same name; one goes in a circle, hands over and has a state.
const SUITE: &str = "\
suite: riddles
models: { subject: script/subject.jsonl, parser: script/parser.jsonl }
scenarios:
  riddle:
    entry: ask
    nodes:
      ask:
        question: What has keys and opens no door?
        template: { thing: { type: string, description: the thing, ground_truth: piano } }
        state_update: { cel: \"{'tries': 1}\" }
      hint:
        question: One plays it.
        template: ask
        rubric: [{ name: playful, description: it is playful, kind: boolean }]
        state_update: { cel: \"{'tries': accumulated.tries + 1}\" }
    edges:
      - { from: ask, to: __end__, when: { verify_result: true } }
      - { from: ask, to: hint, handover: transcript_prepend }
      - { from: hint, to: hint, when: [{ verify_result: false }, { node_visits.hint: { lt: 3 } }] }
      - { from: hint, to: __end__ }
    outcomes:
      solved: { any_of: [{ first_turn: { verify_result: true } }, { last_turn: { verify_result: true } }] }
  easy:
    entry: ask
    nodes: { ask: { question: Say yes., raw_answer: 'Yes' } }
    edges: [{ from: ask, to: __end__ }]
    outcomes: { solved: { all_turns: { verify_result: true } } }
";

const SUBJECT: &str = "\
{\"match\": {\"contains\": \"Say yes.\"}, \"reply\": \"Yes\"}
{\"match\": {\"contains\": \"One plays it.\"}, \"reply\": \"A lute.\"}
{\"match\": {\"contains\": \"One plays it.\"}, \"reply\": \"A piano!\"}
{\"reply\": \"A map.\"}
";

const PARSER: &str = "\
{\"match\": {\"contains\": \"playful\"}, \"reply\": {\"playful\": true}, \"times\": \"*\"}
{\"match\": {\"contains\": \"Say yes.\"}, \"reply\": {\"answer\": \"Yes\", \"correct\": true}}
{\"match\": {\"contains\": \"lute\"}, \"reply\": {\"thing\": \"lute\"}}
{\"match\": {\"contains\": \"piano!\"}, \"reply\": {\"thing\": \"piano\"}}
{\"reply\": {\"thing\": \"map\"}}
";

fn riddles() -> Folder {
    Folder::with("suite.yaml", SUITE).and("subject.jsonl", SUBJECT).and("parser.jsonl", PARSER)
}

fn riddles_run() -> Folder {
    let folder = riddles();
    let ended = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    folder
}

#[test]
fn a_graph_has_the_counts_of_its_run() {
    let folder = riddles_run();
    let text = said(&folder, &["show", "--graph"]);
    for line in [
        "> ask 1×: What has keys and opens no door?",
        "├─ verify_result is true → end 0×",
        "└─ else → hint, hands over transcript_prepend 1×",
        "hint 2×: One plays it.",
        "├─ verify_result is false and node_visits.hint < 3 → hint 1×",
        "└─ else → end 1×",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    let json = said(&folder, &["show", "--graph", "--json"]);
    assert_eq!(json, said(&folder, &["show", "--graph=json"]));
    assert!(json.contains("\"from\":\"hint\",\"to\":\"__end__\",\"taken\":1"), "{json}");
    for (format, begins) in [("mermaid", "flowchart TD\n"), ("dot", "digraph \"riddles\" {\n"), ("svg", "<svg ")] {
        let drawing = said(&folder, &["show", &format!("--graph={format}")]);
        assert!(drawing.starts_with(begins) && drawing.contains("hint · 2×"), "{drawing}");
    }
}

#[test]
fn a_graph_needs_scenarios() {
    let folder = greetings_run();
    assert!(refused(&folder, &["show", "--graph"]).contains("this run has no scenarios"));
    assert!(refused(&folder, &["show", "--graph", "--case", "r1"]).contains("cannot be used with"));
}

#[test]
fn what_was_not_exercised_is_the_same_in_a_replay() {
    let folder = riddles_run();
    let results = said(&folder, &["show", "--json", "--results-only"]);
    let document = parse_json(&results).expect("it is JSON").value;
    let scenarios = document.get("results").and_then(|it| it.get("scenarios")).and_then(Val::as_list);
    let unexercised: Vec<String> = scenarios
        .expect("there are scenarios")
        .iter()
        .map(|it| it.get("unexercised").expect("it is reported").to_string())
        .collect();
    let expected = [
        r#"{"nodes": [], "edges": [{"from": "ask", "to": "__end__", "when": "verify_result is true"}], "never_true": [], "never_false": ["solved"], "never_decided": []}"#,
        r#"{"nodes": [], "edges": [], "never_true": [], "never_false": ["solved"], "never_decided": []}"#,
    ];
    assert_eq!(unexercised, expected);
    let replayed = folder.jurat(&["run", "suite.yaml", "--replay", "latest", "--json", "--results-only", "--quiet"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert_eq!(crate::stored::steady(&folder, &replayed.stdout), results);
}

#[test]
fn an_explanation_shows_the_conversation_turn_by_turn() {
    let folder = riddles_run();
    let text = said(&folder, &["explain", "riddle"]);
    for line in [
        "asked, with what was handed over",
        "│ One plays it.",
        "read as {\"thing\": \"lute\"}",
        "verified wrong, judged by template, score 0",
        "field thing wrong: expected `piano`, found `lute`",
        "rubric playful: true",
        "tested verify_result is false and node_visits.hint < 3 → hint: holds, as verify_result is false, node_visits.hint is 1",
        "next → hint",
        "state {\"tries\": 2}",
        "next → end, because no other edge holds",
        "solved: true",
        "`verify_result` of turn 3 (`hint`): true",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    for asked in ["asks subject subject.jsonl: asked in this run", "asks rubric parser.jsonl: asked in this run"] {
        assert!(text.contains(asked), "{asked}: {text}");
    }
    let lines = folder.jurat(&["explain", "riddle", "--json"]).stdout;
    let transcript = parse_json(lines.lines().next().expect("a line")).expect("it is JSON").value;
    let transcript = transcript.get("transcript").expect("it comes first");
    let turns = transcript.get("turns").and_then(Val::as_list).expect("there are turns");
    let tries = |turn: &Val<'_>| turn.get("state")?.get("accumulated")?.get("tries").map(ToString::to_string);
    assert_eq!(turns.iter().map(tries).collect::<Vec<_>>(), [Some("1".to_owned()), Some("2".to_owned()), None]);
    let last = transcript.get("final_state").and_then(|it| it.get("accumulated")).map(ToString::to_string);
    assert_eq!(last.as_deref(), Some("{\"tries\": 3}"));
    let messages =
        |turn: &Val<'_>| turn.get("conversations")?.as_list()?.first()?.get("messages").map(ToString::to_string);
    assert!(messages(&turns[1]).is_some_and(|it| it.contains("A map.")), "what was handed over is whole");
}

#[test]
fn outcomes_of_one_name_are_distinguished() {
    let folder = riddles_run();
    let text = said(&folder, &["show"]);
    assert!(text.contains("\nsolved riddle 1 0") && text.contains("\nsolved easy 1 0"), "{text}");
    let easy = said(&folder, &["explain", "easy", "solved"]);
    assert!(easy.starts_with("solved of easy: passed") && easy.contains("every turn"), "{easy}");
    assert!(easy.contains("│ Say yes."), "with a task the conversation is shown, too: {easy}");
    assert!(said(&folder, &["show", "--case", "easy", "--task", "solved"]).starts_with("easy: passed\n"));
    let several = refused(&folder, &["show", "--task", "solved"]);
    assert!(several.contains("several scenarios have a task `solved`"), "{several}");
}

#[test]
fn a_stopped_scenario_is_shown_as_not_run() {
    let folder = riddles();
    let ended = folder.jurat(&["run", "suite.yaml", "--budget-calls", "0", "--quiet"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(said(&folder, &["explain", "easy"]).contains("ended not held: the run was stopped before"));
    assert!(said(&folder, &["show"]).contains("not run"));
}

/// What a program's code returned, beside what was said.
const EFFECTS: &str = r#"
{"case":"greeting","scenario_turn":0,"key":"00","request":{"role":"subject","endpoint":{"codec":"call","revision":1,"model":"me"},"messages":[{"role":"user","text":"Hello?"}]},"outcome":{"answer":{"text":"Hello.","finish":"stop","requests":1}}}
{"case":"greeting","scenario_turn":0,"seat":3,"key":"01","request":{"kind":"call","who":"count them","arguments":{"accumulated":{},"parsed":{}}},"outcome":{"returned":{"value":{"n":1}}}}
"#;

#[test]
fn a_replay_needs_no_code_and_does_not_miss_it() {
    let suite = "\
suite: greeting
models: { subject: call/me }
scenarios:
  greeting:
    entry: hi
    nodes: { hi: { question: 'Hello?', raw_answer: Hello., state_update_source: count them } }
    outcomes: { counted: { result: { final_state.accumulated.n: 1 } } }
";
    let folder = Folder::with("suite.yaml", suite).and("effects.jsonl", EFFECTS.replace("\"key\":\"0", &long_key()));
    assert!(refused(&folder, &["run", "suite.yaml"]).contains("error[plan::no_code]"));
    let replayed = said(&folder, &["run", "suite.yaml", "--replay", "effects.jsonl", "--quiet"]);
    assert!(replayed.contains("1 case: 1 passed"), "{replayed}");
}

/// The beginning of a key of full length.
fn long_key() -> String {
    format!("\"key\":\"{}", "0".repeat(63))
}
