//! Explanations in, text out.

use std::time::Duration;

use jurat_core::effect::{Attempt, FaultKind, Message, Printed, PrintedText, Served, ToolCall, Usage};
use jurat_core::outcome::{any_of, last_turn, status_is};
use jurat_core::report::TaskVerdict;
use jurat_core::report::explanation::{
    Called, Conversation, Explanation, GateStep, Operands, Origin, Purpose, Reply, RowSource, Seen, Unseen,
};
use jurat_core::suite::Gate;
use jurat_format::value::{Val, parse_json};
use jurat_report::explanation::{write_json, write_text};
use jurat_report::{Style, visible_line};
use proptest::prelude::*;

use crate::laws::{laws, text, value};
use crate::sample::{self, HOSTILE};

fn shown(explanation: &Explanation) -> String {
    let mut out = Vec::new();
    write_text(&mut out, explanation, Style::Plain, None).expect("memory can be written");
    String::from_utf8(out).expect("text is UTF-8")
}

pub(crate) fn json(explanation: &Explanation) -> String {
    let mut out = Vec::new();
    write_json(&mut out, explanation).expect("memory can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn reply(slot: u32, turn: u32) -> Reply {
    Reply {
        slot,
        turn,
        model: "judge".to_owned(),
        served: Served::default(),
        text: None,
        reasoning: None,
        logprobs: None,
        tool_calls: Vec::new(),
        parsed: None,
        problem: None,
        finish: None,
        usage: None,
        cost_usd: None,
        latency: None,
        first_token: None,
        attempts: Vec::new(),
        origin: Origin::Live,
        age: None,
    }
}

/// An assertion behind a gate: nothing was asked.
fn assertion() -> Explanation {
    Explanation {
        suite: "appliance-support".to_owned(),
        run_id: "x7k2".to_owned(),
        case: "r3".to_owned(),
        prompt: None,
        subject: None,
        replicate: None,
        row: Some(RowSource { file: "records.jsonl".to_owned(), row: Some(3), offset: Some(2_048) }),
        task: "kitchen_score".to_owned(),
        kind: "assert".to_owned(),
        gate: Gate::None,
        stage: 4,
        description: Some("At least 7 of 10".to_owned()),
        verdict: TaskVerdict::Failed,
        message: "expected a number of at least 7, found 4".to_owned(),
        label: None,
        score: None,
        explanation: None,
        gates: vec![
            GateStep { task: "has_answer".to_owned(), verdict: TaskVerdict::Passed, message: String::new() },
            GateStep { task: "is_kitchen".to_owned(), verdict: TaskVerdict::Passed, message: String::new() },
        ],
        operands: Some(Operands {
            path: Some("kitchen_expert.score".to_owned()),
            operator: "greater_than_or_equal".to_owned(),
            expected: Some(Val::I(7)),
            found: Some(Val::I(4)),
        }),
        decided: None,
        seen: vec![
            Seen { name: "question".to_owned(), is_output: false, value: Val::from("Is it loud?") },
            Seen { name: "kitchen_expert".to_owned(), is_output: true, value: sample::value(r#"{"score": 4}"#) },
        ],
        unseen: vec![Unseen { name: "category".to_owned(), reason: "not a direct dependency".to_owned() }],
        called: None,
        conversations: Vec::new(),
        tool_calls: Vec::new(),
        spread: Vec::new(),
        transcript: None,
    }
}

#[test]
fn an_outcome_shows_how_it_was_decided() {
    let evidence = sample::value(r#"{"status": "error\u001b[31m", "history": []}"#);
    let check = any_of([last_turn([("verify_result", true.into())]), status_is("completed")]);
    let explanation = Explanation { decided: Some(check.trace(&evidence)), operands: None, ..assertion() };
    let text = shown(&explanation);
    let decided = "how it was decided
  any of 2: does not hold
    the last turn: `verify_result` is a value that counts as true: does not hold
    `status` is `completed`: does not hold
      `status`: `error\\u{1b}[31m`
";
    assert!(text.contains(decided), "{text}");
    let json = json(&explanation);
    let shown = parse_json(&json).expect("explanations are JSON").value;
    let parts = shown.get("decided").and_then(|it| it.get("parts")).and_then(Val::as_list).expect("it has parts");
    assert_eq!(parts[1].get("value"), Some(&Val::Bool(false)), "{json}");
}

/// A panel of judges over a probe: one slot needed a second request, one was answered by the journal.
pub(crate) fn panel() -> Explanation {
    let messages =
        vec![Message::System("You judge answers.".to_owned()), Message::User(format!("Judge this:\n{HOSTILE}"))];
    let refused = Attempt {
        kind: FaultKind::Status(429),
        message: "slow down".to_owned(),
        retry_after: Some(Duration::from_secs(2)),
        took: Duration::from_millis(120),
    };
    let first = Reply {
        text: Some("Sure!\nIt is polite.".to_owned()),
        problem: Some("the reply is not JSON".to_owned()),
        finish: Some("stop".to_owned()),
        attempts: vec![refused],
        ..reply(1, 1)
    };
    let second = Reply {
        served: Served {
            model: Some("gemini-2.5-flash-lite-001".to_owned()),
            fingerprint: Some("fp_1".to_owned()),
            request_id: Some("req_9".to_owned()),
            batch: None,
        },
        text: Some(r#"{"label": "polite"}"#.to_owned()),
        parsed: Some(sample::value(r#"{"label": "polite"}"#)),
        finish: Some("stop".to_owned()),
        usage: Some(Usage { input: 210, output: 14, cached: 100, reasoning: 0, cache_write: 0 }),
        cost_usd: Some(0.000_031),
        latency: Some(Duration::from_micros(812_500)),
        ..reply(1, 2)
    };
    let third = Reply {
        tool_calls: vec![ToolCall { id: "c2".to_owned(), name: HOSTILE.to_owned(), arguments: Val::from(HOSTILE) }],
        text: Some(HOSTILE.to_owned()),
        parsed: Some(Val::from(HOSTILE)),
        origin: Origin::Journal,
        age: Some(Duration::from_secs(3 * 86_400)),
        ..reply(2, 1)
    };
    let asked = Conversation {
        purpose: Purpose::Subject,
        messages: vec![
            Message::User("Is it loud?".to_owned()),
            Message::Assistant {
                text: String::new(),
                reasoning: None,
                tool_calls: vec![ToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: Val::I(1) }],
            },
            Message::Tool {
                call_id: "c1".to_owned(),
                name: "look".to_owned(),
                text: "42 dB".to_owned(),
                media: Vec::new(),
                is_error: false,
            },
        ],
        schema: None,
        replies: vec![Reply { problem: Some("no connection".to_owned()), origin: Origin::Log, ..reply(1, 1) }],
    };
    let schema = Some(sample::value(r#"{"type": "object", "properties": {"label": {"type": "string"}}}"#));
    Explanation {
        prompt: Some("short".to_owned()),
        subject: Some("openai/small".to_owned()),
        replicate: Some(2),
        task: "tone".to_owned(),
        kind: "judge".to_owned(),
        gate: Gate::Required,
        verdict: TaskVerdict::Error,
        message: format!("the judges are divided: `{HOSTILE}`"),
        label: Some("polite".to_owned()),
        score: Some(0.5),
        explanation: Some(HOSTILE.to_owned()),
        gates: vec![GateStep {
            task: "is_kitchen".to_owned(),
            verdict: TaskVerdict::Failed,
            message: "expected `kitchen`, found `bath`".to_owned(),
        }],
        operands: Some(Operands { path: None, operator: "equals".to_owned(), expected: None, found: None }),
        conversations: vec![
            asked,
            Conversation { purpose: Purpose::Judge, messages, schema, replies: vec![first, second, third] },
        ],
        spread: vec![Val::from("polite"), Val::from(HOSTILE)],
        ..assertion()
    }
}

/// Code that printed, some of it too early to be stored.
pub(crate) fn evaluator() -> Explanation {
    let printed = |text: &str, n_dropped| PrintedText { text: text.to_owned(), n_dropped };
    let called = Called {
        evaluator: "tone".to_owned(),
        arguments: Val::Map([("output", Val::from(HOSTILE)), ("limit", Val::I(3))].into_iter().collect()),
        returned: Some(sample::value(r#"{"label": "polite"}"#)),
        problem: None,
        printed: Printed { stdout: printed(&format!("looking\n{HOSTILE}\n"), 0), stderr: printed("late\n", 2048) },
        latency: Some(Duration::from_micros(152)),
        origin: Origin::Live,
        age: None,
    };
    Explanation {
        kind: "evaluate".to_owned(),
        explanation: Some("says thanks".to_owned()),
        called: Some(called),
        ..assertion()
    }
}

#[test]
fn an_evaluator_shows_what_it_was_called_with_and_what_it_printed() {
    insta::assert_snapshot!(shown(&evaluator()));
    insta::assert_snapshot!(json(&evaluator()));
}

#[test]
fn an_assertion_shows_what_it_read_and_what_it_could_not() {
    insta::assert_snapshot!(shown(&assertion()));
    insta::assert_snapshot!(json(&assertion()));
}

#[test]
fn a_judge_shows_what_was_asked_and_everything_that_came_back() {
    insta::assert_snapshot!(shown(&panel()));
    insta::assert_snapshot!(json(&panel()));
}

#[test]
fn long_replies_are_cut_for_people_and_whole_for_programs() {
    let mut explanation = panel();
    let long = "ä".repeat(5_000);
    explanation.conversations[1].replies[1].text = Some(long.clone());
    let text = shown(&explanation);
    assert!(text.contains("    … and 1,000 more characters; as JSON it is whole"), "{text}");
    assert!(!text.contains(&long));
    assert!(json(&explanation).contains(&long));
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn nothing_poses_as_ours(said in text(), seen in value()) {
        let mut explanation = assertion();
        explanation.case = said.clone();
        explanation.message = format!("x{said}");
        explanation.seen[0] = Seen { name: said.clone(), is_output: false, value: seen.clone() };
        explanation.conversations = panel().conversations;
        explanation.conversations[1].messages[0] = Message::System(said.clone());
        explanation.conversations[1].replies[0].text = Some(said.clone());
        let text = shown(&explanation);
        let line = text.replace(['\n', '\t'], "");
        prop_assert_eq!(&*visible_line(&line), &*line);
        // A line of a message or a reply stands behind a bar; everything else has as many lines as it would without.
        let plain = {
            let mut plain = explanation.clone();
            plain.case = "r".to_owned();
            plain.message = "x".to_owned();
            plain.seen[0] = Seen { name: "n".to_owned(), is_output: false, value: Val::Null };
            plain.conversations[1].messages[0] = Message::System("s".to_owned());
            plain.conversations[1].replies[0].text = Some("t".to_owned());
            shown(&plain)
        };
        let ours = |text: &str| text.lines().filter(|it| !it.starts_with("    │")).count();
        prop_assert_eq!(ours(&text), ours(&plain), "{}", text);
        let json = json(&explanation);
        let read = parse_json(&json).map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
        prop_assert_eq!(read.value.get("case").and_then(Val::as_str), Some(&*said));
    }
}
