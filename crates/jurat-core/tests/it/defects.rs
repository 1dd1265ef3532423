//! What goes wrong elsewhere when scenarios are run, and must not go wrong here.

use std::path::Path;

use jurat_core::case::CaseState;
use jurat_core::effect::{Answer, FaultKind, Finish, Message, ModelRequest, Outcome, Request, Slot, Step};
use jurat_core::plan::{CaseName, Plan, Samples};
use jurat_core::scenario::{CompiledScenario, Execution, FailureCategory};
use jurat_core::suite::{CaseKind, load};
use jurat_format::value::{Val, Value};

use crate::InMemory;
use crate::conversations::{calls, executed, fails, json, ready, returns, says, slot};

/// Holds a conversation and records every request.
#[track_caller]
fn heard(ready: &CompiledScenario, mut world: impl FnMut(&Step) -> Outcome) -> (Execution, Vec<Step>) {
    let mut steps = Vec::new();
    let execution = executed(ready, |step| {
        steps.push(step.clone());
        world(step)
    });
    (execution, steps)
}

/// The requests to the subject.
fn to_subject(steps: &[Step]) -> Vec<&ModelRequest> {
    let request = |it: &&Step| slot(it) == Slot::Subject;
    let asked = steps.iter().filter(request).filter_map(|it| match &it.request {
        Request::Model(request) => Some(&**request),
        Request::Action(_) => None,
    });
    asked.collect()
}

fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(value, |value, key| match key.parse::<usize>() {
        Ok(ix) => &value.as_list().expect("a list")[ix],
        Err(_) => value.get(key).unwrap_or_else(|| panic!("there is no `{key}` in {value}")),
    })
}

const TWO_SERVERS: &str = "
models: { subject: script/s.jsonl, parser: script/p.jsonl }
tools: { fs: { command: [fs] }, web: { command: [web] } }
scenarios:
  recall:
    tools: [fs, web]
    entry: look
    nodes:
      look: { question: Look it up. }
      recall: { question: What was it?, tool_filter: { remove: [{ server: fs, tool: read }, { server: web }] } }
    edges: [{ from: look, to: recall }]
";

/// The tools of the two servers.
fn listed(step: &Step) -> Outcome {
    let tools = [r#"[{"name": "read"}, {"name": "write"}]"#, r#"[{"name": "search"}]"#];
    returns(json(tools[step.site.turn as usize]), false)
}

#[test]
fn a_tool_that_a_node_removes_is_neither_offered_nor_callable() {
    let (execution, steps) = heard(&ready(TWO_SERVERS), |step| match (slot(step), step.site.asker.turn()) {
        (Slot::Tools, _) => listed(step),
        (Slot::Subject, Some(0)) if step.site.turn == 0 => calls(&[("read", "{}"), ("search", "{}")]),
        // The subject calls what it knows from before.
        (Slot::Subject, Some(1)) if step.site.turn == 0 => calls(&[("read", "{}"), ("search", "{}"), ("write", "{}")]),
        (Slot::Subject, _) => says("It was 7."),
        (Slot::Tool, _) => returns(json(r#"{"text": "7"}"#), false),
        other => panic!("nobody asks {other:?}"),
    });
    let offered: Vec<Vec<&str>> =
        to_subject(&steps).iter().map(|it| it.tools.iter().map(|tool| tool.name.as_str()).collect()).collect();
    assert_eq!(
        offered,
        [vec!["read", "write", "search"], vec!["read", "write", "search"], vec!["write"], vec!["write"]]
    );
    let n_called =
        |turn| steps.iter().filter(|it| slot(it) == Slot::Tool && it.site.asker.turn() == Some(turn)).count();
    assert_eq!((n_called(0), n_called(1)), (2, 1), "what is not offered is not called");
    let evidence = execution.to_value();
    let used = at(&evidence, &["history", "1", "tool_calls"]);
    assert_eq!(
        at(used, &["0"]),
        &json(r#"{"tool": "read", "arguments": {}, "output": "there is no tool `read` here", "is_error": true}"#)
    );
    assert_eq!(at(used, &["2"]), &json(r#"{"server": "fs", "tool": "write", "arguments": {}, "output": "7"}"#));
}

#[test]
fn the_first_turn_under_another_system_prompt_has_it() {
    let ready = ready(
        "
models: { subject: script/s.jsonl }
scenarios:
  prompts:
    system: Be brief.
    entry: a
    nodes: { a: { question: A }, b: { question: B, system: Be thorough. }, c: { question: C }, d: { question: D, system: '' } }
    edges: [{ from: a, to: b }, { from: b, to: c }, { from: c, to: d }]
",
    );
    let (_, steps) = heard(&ready, |_| says("Yes."));
    let systems: Vec<Vec<&str>> = to_subject(&steps)
        .iter()
        .map(|it| it.messages.iter().filter(|it| matches!(it, Message::System(_))).map(Message::text).collect())
        .collect();
    // The one that is in force, once, and no earlier one.
    assert_eq!(systems, [vec!["Be brief."], vec!["Be thorough."], vec!["Be brief."], vec![]]);
    let firsts = to_subject(&steps).iter().map(|it| it.messages[0].role()).collect::<Vec<_>>();
    assert_eq!(firsts, ["system", "system", "system", "user"]);
}

#[test]
fn the_expected_answer_reaches_no_model_and_no_state() {
    let ready = ready(
        "
models: { subject: script/s.jsonl, parser: script/p.jsonl }
scenarios:
  secret:
    rubric: [{ name: clear, kind: boolean, description: is it clear }]
    entry: ask
    nodes:
      ask:
        question: Which city?
        raw_answer: the city is Xanadu
        template:
          city: { type: string, description: the city, ground_truth: Xanadu }
          n: { type: integer, description: a number, ground_truth: 4711 }
      again:
        question: Really?
        raw_answer: the city is Xanadu
        template:
          city: { type: string, description: the city, ground_truth: { conditional: { source: node_results.ask.verify_result, cases: { 'False': { value: Xanadu } }, default: { value: Xanadu } } } }
    edges: [{ from: ask, to: again }]
",
    );
    let (execution, steps) = heard(&ready, |step| match slot(step) {
        Slot::Subject => says("Rome"),
        Slot::Parser => {
            says(if step.site.asker.turn() == Some(0) { r#"{"city": "Rome", "n": 1}"# } else { r#"{"city": "Rome"}"# })
        }
        _ => says(r#"{"clear": true}"#),
    });
    assert_eq!(steps.len(), 6, "each answer is given, read and rated");
    for step in &steps {
        let request = format!("{:?}", step.request);
        assert!(!request.contains("Xanadu") && !request.contains("4711"), "{request}");
    }
    let evidence = execution.to_value();
    let state = at(&evidence, &["final_state"]).to_json();
    assert!(!state.contains("Xanadu") && !state.contains("4711"), "{state}");
    assert_eq!(at(&evidence, &["history", "0", "parsed"]), &json(r#"{"city": "Rome", "n": 1}"#));
    assert_eq!(at(&evidence, &["history", "1", "parsed"]), &json(r#"{"city": "Rome"}"#));
    assert_eq!(at(&evidence, &["history", "1", "verify_result"]), &Val::Bool(false), "it was compared all the same");
}

/// The verdicts of the tasks of a suite about its only scenario.
fn verdicts(suite: &str, execution: &Execution) -> Vec<(String, String)> {
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite)]));
    let samples = Samples { is_partial: true, ..Samples::default() };
    let (plan, _) = Plan::build(&loaded.suite, &samples).expect("a suite without errors");
    let evidence = execution.to_value();
    let case = CaseName {
        id: &execution.scenario_id,
        scenario: Some(&execution.scenario_id),
        kind: CaseKind::Scenarios,
        tags: Vec::new(),
    };
    let state = CaseState::start_for(&plan, &evidence, &case);
    let ids = plan.tasks.iter().map(|it| it.id.clone());
    ids.zip(state.verdicts().map(|it| format!("{:?}", it.expect("nothing is asked")))).collect()
}

const UNDECIDED: &str = "
models: { subject: script/s.jsonl }
scenarios:
  it:
    entry: ask
    nodes: { ask: { question: How many? } }
    outcomes:
      three: { last_turn: { parsed.n: 3 } }
      not_three: { not: { last_turn: { parsed.n: 3 } } }
      done: { status_is: completed }
";

#[test]
fn an_outcome_that_cannot_be_decided_is_an_error_and_not_false() {
    let execution = executed(&ready(UNDECIDED), |_| says("Some."));
    let evidence = execution.to_value();
    // What others read there stays as they know it; the reason stands beside it.
    assert_eq!(at(&evidence, &["outcome_results"]), &json(r#"{"three": false, "not_three": false, "done": true}"#));
    for name in ["three", "not_three"] {
        let reason = at(&evidence, &["outcome_errors", name]).to_string();
        assert!(reason.contains("`parsed.n`"), "{reason}");
    }
    let verdicts = verdicts(UNDECIDED, &execution);
    let of = |id: &str| verdicts.iter().find(|(it, _)| it == id).map(|(_, verdict)| verdict.as_str()).expect("a task");
    assert!(of("three").starts_with("Error") && of("not_three").starts_with("Error"), "{verdicts:?}");
    assert!(of("done").starts_with("Passed"), "{verdicts:?}");
}

const UNCLEAR: &str = "
models: { subject: script/s.jsonl }
scenarios:
  it:
    entry: a
    nodes: { a: { question: A }, b: { question: B }, c: { question: C } }
    edges:
      - { from: a, to: b }
      - { from: b, to: c, when: { parsed.n: { gte: 1 } } }
      - { from: b, to: __end__ }
    outcomes:
      n_turns: { count_turns: {} }
      went_wrong: { status_is: error }
";

#[test]
fn a_condition_that_cannot_be_tested_ends_in_an_error_with_what_there_was() {
    let execution = executed(&ready(UNCLEAR), |_| says("Yes."));
    let evidence = execution.to_value();
    assert_eq!(at(&evidence, &["status"]), &Val::from("error"));
    assert_eq!(at(&evidence, &["path"]), &json(r#"["a", "b"]"#));
    assert_eq!(at(&evidence, &["turn_count"]), &Val::I(2));
    assert_eq!(at(&evidence, &["history", "1", "raw_response"]), &Val::from("Yes."));
    let failure = at(&evidence, &["terminal_failure"]);
    assert_eq!(at(failure, &["stage"]), &Val::from("routing"));
    assert!(at(failure, &["reason"]).to_string().contains("`parsed.n`"), "{failure}");
    let tested = at(&evidence, &["history", "1", "route", "tested", "0"]);
    assert!(tested.get("held").is_none() && tested.get("error").is_some(), "neither true nor false: {tested}");
    assert_eq!(at(&evidence, &["outcome_results"]), &json(r#"{"n_turns": 2, "went_wrong": true}"#));
    let verdicts = verdicts(UNCLEAR, &execution);
    assert!(verdicts[0].1.starts_with("Error"), "what was cut short is not counted: {verdicts:?}");
    assert!(verdicts[1].1.starts_with("Error"), "nor is how it ended the subject's doing: {verdicts:?}");
}

const ROUTED_FAILURES: &str = "
models: { subject: script/s.jsonl, parser: script/p.jsonl }
scenarios:
  it:
    entry: ask
    nodes:
      ask: { question: Q, template: { n: { type: integer, description: a number, ground_truth: 1 } } }
      refused: { question: Why not? }
      late: { question: Are you there? }
      unread: { question: In digits? }
    edges:
      - { from: ask, to: refused, when: { failure.category: abstention } }
      - { from: ask, to: late, when: { failure.category: timeout } }
      - { from: ask, to: unread, when: { cel: 'failure != null && failure.category == \"parsing\"' } }
      - { from: ask, to: __end__ }
";

#[test]
fn failures_other_than_by_content_can_be_routed() {
    let ready = ready(ROUTED_FAILURES);
    let refusal = || Outcome::Answer(Box::new(Answer { finish: Finish::Refusal, ..Answer::new("No.") }));
    let at_slot = |where_: Slot, outcome: &dyn Fn() -> Outcome| {
        let execution = executed(&ready, |step| match (slot(step), step.site.asker.turn()) {
            (it, Some(0)) if it == where_ => outcome(),
            (Slot::Subject, _) => says("One."),
            _ => says(r#"{"n": 1}"#),
        });
        let category = execution.history[0].failure.as_ref().map(|it| it.category);
        (execution.path.join(" "), execution.status.name(), category)
    };
    let (abstention, timeout) = (Some(FailureCategory::Abstention), Some(FailureCategory::Timeout));
    assert_eq!(at_slot(Slot::Subject, &refusal), ("ask refused".to_owned(), "completed", abstention));
    assert_eq!(
        at_slot(Slot::Subject, &|| fails(FaultKind::TurnDeadline)),
        ("ask late".to_owned(), "completed", timeout)
    );
    assert_eq!(at_slot(Slot::Subject, &|| fails(FaultKind::Timeout)), ("ask late".to_owned(), "completed", timeout));
    assert_eq!(
        at_slot(Slot::Parser, &|| fails(FaultKind::TurnDeadline)),
        ("ask late".to_owned(), "completed", timeout)
    );
    let unread = ("ask unread".to_owned(), "completed", Some(FailureCategory::Parsing));
    assert_eq!(at_slot(Slot::Parser, &|| says("a number")), unread);
    // A failure that no edge is about ends the conversation, whatever edge is without a condition.
    let limit = ("ask".to_owned(), "error", Some(FailureCategory::RateLimit));
    assert_eq!(at_slot(Slot::Subject, &|| fails(FaultKind::Status(429))), limit);
    let nothing = ("ask".to_owned(), "completed", None);
    assert_eq!(at_slot(Slot::Subject, &|| says("One.")), nothing);
}

#[test]
fn the_time_of_the_whole_scenario_ends_it_as_a_timeout_whatever_edges_say() {
    let ready = ready(ROUTED_FAILURES);
    for where_ in [Slot::Subject, Slot::Parser] {
        let execution = executed(&ready, |step| match slot(step) {
            it if it == where_ => fails(FaultKind::CaseDeadline),
            _ => says("One."),
        });
        let evidence = execution.to_value();
        assert_eq!(at(&evidence, &["status"]), &Val::from("timeout"));
        assert_eq!(at(&evidence, &["terminal_failure", "category"]), &Val::from("timeout"));
        assert_eq!(at(&evidence, &["path"]), &json(r#"["ask"]"#));
        assert_eq!(at(&evidence, &["turn_count"]), &Val::I(1));
    }
}

/// After a handover the log holds the question as it was sent, transcript included: that is what was said. A later turn without a handover is
/// given the log, so it sees the first turns twice, once as messages and once inside of that question. So does Karenina's; an author who
/// does not want that hands over again, or by code.
#[test]
fn after_a_handover_the_log_holds_the_question_as_it_was_sent() {
    let ready = ready(
        "
models: { subject: script/s.jsonl }
scenarios:
  relay:
    entry: a
    nodes: { a: { question: A, agent_identity: triage }, b: { question: B, agent_identity: expert }, c: { question: C, agent_identity: expert } }
    edges: [{ from: a, to: b, handover: transcript_prepend }, { from: b, to: c }]
",
    );
    let (execution, steps) = heard(&ready, |step| says(&format!("answer {}", step.site.asker.turn().unwrap_or(9))));
    let shown: Vec<Vec<&str>> =
        to_subject(&steps).iter().map(|it| it.messages.iter().map(Message::text).collect()).collect();
    let sent = "[__user__] A\n[triage:assistant:text] answer 0\n\n---\n\nB";
    assert_eq!(shown[1], [sent], "a transcript is in place of messages");
    assert_eq!(shown[2], ["A", "answer 0", sent, "answer 1", "C"]);
    let evidence = execution.to_value();
    assert_eq!(at(&evidence, &["history", "1", "question_text"]), &Val::from("B"));
    assert_eq!(at(&evidence, &["history", "1", "sent"]), &Val::from(sent));
}
