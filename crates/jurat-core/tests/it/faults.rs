//! A fault is never a verdict on the subject: whatever leaves evidence incomplete makes its case an error, whatever its tasks would conclude.

use std::path::Path;

use jurat_core::case::CaseState;
use jurat_core::effect::{Answer, FaultKind, Finish, Outcome, Slot, Step};
use jurat_core::evidence::fault::fault;
use jurat_core::plan::{CaseName, Plan, Samples};
use jurat_core::scenario::End;
use jurat_core::suite::{CaseKind, load};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Value, parse_json};

use crate::InMemory;
use crate::conversations::{executed, fails, held, ready, says, slot};

const TASKS: &str = "
    outcomes:
      - { name: over, check: { status_is: completed }, condition: true }
      - { name: right, check: { all_turns: { verify_result: true } }, depends_on: [over] }
      - { name: not_failed, check: { not: { status_is: error } } }
      - { name: not_late, check: { not: { status_is: timeout } } }
      - { name: in_all, check: { all_of: [{ status_is: completed }, { first_turn: { verify_result: true } }] } }
      - { name: in_any, check: { any_of: [{ status_is: error }, { last_turn: { verify_result: true } }] } }
      - { name: first, check: { first_turn: { node_id: ask } } }
      - { name: by_cel, check: { cel: \"result.status != 'completed' || result.turn_count > 0\" } }
      - { name: n_turns, check: { count_turns: {} } }
    tasks:
      - { id: status, field_path: status, operator: is_string }
      - { id: brief, field_path: turn_count, operator: less_than, expected_value: 9, depends_on: [over] }
";

const HEAD: &str = "
suite: it
models: { subject: script/s.jsonl, parser: script/p.jsonl }
scenarios:
  it:
    entry: ask
    nodes:
      ask: { question: Q, template: { n: { type: integer, description: a number, ground_truth: 1 } } }
      doubt: { question: Sure?, template: { n: { type: integer, description: a number, ground_truth: 1 } } }
      free: { question: Thanks. }
";

const LINE: &str = "
    edges: [{ from: ask, to: doubt }, { from: doubt, to: free }]
";

/// How a case of the only scenario of a suite ends, and each of its tasks.
#[track_caller]
fn judged(suite: &str, world: impl FnMut(&Step) -> Outcome) -> (String, Vec<String>) {
    let execution = executed(&ready(suite), world);
    judged_evidence(suite, CaseKind::Scenarios, &execution.to_value())
}

#[track_caller]
fn judged_evidence(suite: &str, kind: CaseKind, evidence: &Value) -> (String, Vec<String>) {
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite)]));
    let samples = Samples { is_partial: true, ..Samples::default() };
    let (plan, _) = Plan::build(&loaded.suite, &samples).expect("a suite without errors");
    let scenario = (kind == CaseKind::Scenarios).then_some("it");
    let state = CaseState::start_for(&plan, evidence, &CaseName { id: "it", scenario, kind, tags: Vec::new() });
    let tasks = plan.tasks.iter().zip(state.verdicts());
    let tasks = tasks.map(|(task, verdict)| format!("{} {}", task.id, verdict.expect("nothing is asked"))).collect();
    (state.verdict().expect("it is done").name().to_owned(), tasks)
}

/// Answers as it should, but for what is asked at one slot in one turn.
fn but_for(at: (Slot, u32), otherwise: impl Fn() -> Outcome) -> impl FnMut(&Step) -> Outcome {
    move |step| match (slot(step), step.site.asker.turn()) {
        here if here == (at.0, Some(at.1)) => otherwise(),
        (Slot::Subject, _) => says("One."),
        _ => says(r#"{"n": 1}"#),
    }
}

const KINDS: [FaultKind; 12] = [
    FaultKind::Status(401),
    FaultKind::Status(404),
    FaultKind::Status(429),
    FaultKind::Status(503),
    FaultKind::Timeout,
    FaultKind::Connect,
    FaultKind::Cut,
    FaultKind::Garbled,
    FaultKind::Unsupported,
    FaultKind::NoAnswer,
    FaultKind::TurnDeadline,
    FaultKind::CaseDeadline,
];

#[test]
fn an_endpoint_that_fails_in_any_turn_makes_the_case_an_error() {
    let suite = format!("{HEAD}{LINE}{TASKS}");
    for kind in KINDS {
        for at in [0, 1, 2].map(|turn| (Slot::Subject, turn)).into_iter().chain([0, 1].map(|turn| (Slot::Parser, turn)))
        {
            let (case, tasks) = judged(&suite, but_for(at, || fails(kind)));
            assert_eq!(case, "error", "{kind:?} at {at:?}: {tasks:#?}");
            let is_undecided = |it: &String| it.contains(" error: ") || it.ends_with(" skipped");
            assert!(tasks.iter().all(is_undecided), "{kind:?} at {at:?}: {tasks:#?}");
        }
    }
}

#[test]
fn the_error_says_where_the_conversation_ended_and_why() {
    let suite = format!("{HEAD}{LINE}{TASKS}");
    let (_, tasks) = judged(&suite, but_for((Slot::Subject, 1), || fails(FaultKind::Connect)));
    assert_eq!(
        tasks[0],
        "over error: the conversation ended at turn 2 (`doubt`): no answer from the subject: no luck (connect)"
    );
    let (_, tasks) = judged(&suite, but_for((Slot::Parser, 0), || says("one")));
    assert!(
        tasks[0].starts_with("over error: the conversation ended at turn 1 (`ask`): the answer could not be read: "),
        "{tasks:?}"
    );
}

/// A scenario without tasks has nothing that could be an error but itself.
#[test]
fn a_case_without_tasks_is_an_error_too() {
    let suite = format!("{HEAD}{LINE}");
    assert_eq!(judged(&suite, but_for((Slot::Subject, 9), || says(""))).0, "not_judged");
    assert_eq!(judged(&suite, but_for((Slot::Subject, 1), || fails(FaultKind::Connect))).0, "error");
}

const ROUTED: &str = "
    edges:
      - { from: ask, to: ask, when: { failure.category: connection } }
      - { from: ask, to: free, when: { cel: 'failure != null' } }
      - { from: ask, to: doubt }
      - { from: doubt, to: __end__ }
";

#[test]
fn a_fault_that_an_edge_routes_leaves_a_hole_unless_it_is_asked_again() {
    let suite = format!("{HEAD}{ROUTED}{TASKS}");
    let (case, tasks) = judged(&suite, but_for((Slot::Subject, 0), || fails(FaultKind::Status(500))));
    assert_eq!(case, "error", "{tasks:#?}");
    assert_eq!(tasks[0], "over error: turn 1 (`ask`): no answer from the subject: no luck (status:500)");

    let (case, tasks) = judged(&suite, but_for((Slot::Subject, 0), || fails(FaultKind::Connect)));
    assert_eq!(case, "error", "a criterion looks at the turn that never happened: {tasks:#?}");
    assert_eq!(tasks[0], "over passed");
    assert_eq!(tasks[1], "right error: turn 1 (`ask`): no answer from the subject: no luck (connect)");
    assert_eq!(tasks[5], "in_any passed", "the last turn was had");

    // What the subject itself does is evidence.
    let refusal = || Outcome::Answer(Box::new(Answer { finish: Finish::Refusal, ..Answer::new("No.") }));
    let (case, tasks) = judged(&suite, but_for((Slot::Subject, 0), refusal));
    assert_eq!(case, "failed", "{tasks:#?}");
    assert_eq!(tasks[0], "over passed");
}

#[test]
fn as_many_turns_as_it_may_take_are_the_subjects_doing() {
    let suite = format!("{HEAD}    turn_limit: 2\n{LINE}{TASKS}");
    let (case, tasks) = judged(&suite, but_for((Slot::Subject, 9), || says("")));
    assert_eq!((case.as_str(), tasks[0].split(':').next()), ("failed", Some("over failed")), "{tasks:#?}");
}

#[test]
fn mistakes_of_authors_are_errors() {
    for (what, suite) in [
        ("an update that gives no object", HEAD.replace("Thanks.", "Thanks., state_update: { cel: 'turn' }")),
        (
            "an update that cannot be computed",
            HEAD.replace("Thanks.", "Thanks., state_update: { cel: '{\"n\": parsed.nothing + 1}' }"),
        ),
    ] {
        let suite = format!("{suite}{LINE}{TASKS}");
        let (case, tasks) = judged(&suite, but_for((Slot::Subject, 9), || says("")));
        assert_eq!(case, "error", "{what}: {tasks:#?}");
        assert!(tasks[0].contains("the state could not be updated"), "{what}: {tasks:#?}");
    }
    let edge = "
    edges:
      - { from: ask, to: doubt, when: { cel: 'parsed.nothing > 1' } }
      - { from: ask, to: free }
      - { from: doubt, to: free }
";
    let (case, tasks) = judged(&format!("{HEAD}{edge}{TASKS}"), but_for((Slot::Subject, 9), || says("")));
    assert_eq!(case, "error", "{tasks:#?}");
    assert!(tasks[0].contains("the next node could not be found"), "{tasks:#?}");
}

/// A callback that fails leaves the state as it was, and the conversation continues; what it leads to is no evidence.
#[test]
fn a_callback_that_failed_makes_the_case_an_error() {
    let evidence = r#"{"status": "completed", "path": ["ask"], "turn_count": 1, "terminal_failure": null,
        "history": [{"node_id": "ask", "raw_response": "One.", "verify_result": true, "update_error": "ZeroDivisionError"}]}"#;
    let evidence = parse_json(evidence).expect("JSON").value.into_owned();
    let (case, tasks) = judged_evidence(&format!("{HEAD}{LINE}{TASKS}"), CaseKind::Scenarios, &evidence);
    assert_eq!(case, "error");
    assert_eq!(tasks[0], "over error: turn 1 (`ask`): the state could not be updated: ZeroDivisionError");
}

#[test]
fn an_answer_that_could_not_be_rated_makes_the_case_an_error() {
    let turn = |errors: &str| {
        format!(r#"{{"node_id": "ask", "raw_response": "One.", "verify_result": true, "rubric": {{}}{errors}}}"#)
    };
    let unrated = turn(r#", "rubric_errors": {"clear": "no valid reply"}"#);
    for (history, case) in [
        (turn(""), "passed"),
        (unrated.clone(), "error"),
        (format!("{unrated}, {}", turn("")), "passed"),
        (format!("{}, {unrated}", turn("")), "error"),
    ] {
        let evidence =
            format!(r#"{{"status": "completed", "turn_count": 1, "terminal_failure": null, "history": [{history}]}}"#);
        let evidence = parse_json(&evidence).expect("JSON").value.into_owned();
        let judged = judged_evidence(&format!("{HEAD}{LINE}{TASKS}"), CaseKind::Scenarios, &evidence);
        assert_eq!(judged.0, case, "{history}: {:#?}", judged.1);
        if case == "error" {
            assert!(
                judged.1[0].ends_with("(`ask`): the answer could not be rated by `clear`: no valid reply"),
                "{:?}",
                judged.1
            );
        }
    }
}

/// Rows may be results of scenarios that ran elsewhere.
#[test]
fn outcomes_do_not_judge_a_recorded_conversation_that_a_fault_ended() {
    let suite = "
suite: it
records: [{ id: it }]
tasks:
  - { id: over, outcome: { status_is: completed }, condition: true }
  - { id: n, outcome: { count_turns: {} } }
";
    let judged = |category: &str| {
        let evidence = format!(
            r#"{{"status": "error", "history": [], "terminal_failure": {{"node_id": "ask", "category": "{category}", "stage": "generate_answer", "reason": "gone"}}}}"#
        );
        judged_evidence(suite, CaseKind::Records, &parse_json(&evidence).expect("JSON").value.into_owned())
    };
    assert_eq!(judged("abstention").0, "measured");
    let (case, tasks) = judged("connection");
    let reason = "error: the conversation ended at turn 1 (`ask`): no answer from the subject: gone";
    assert_eq!((case.as_str(), tasks), ("error", vec![format!("over {reason}"), format!("n {reason}")]));
}

#[test]
fn a_budget_that_ends_a_conversation_leaves_it_not_run() {
    let ready = ready(&format!("{HEAD}{LINE}{TASKS}"));
    for at in [(Slot::Subject, 0), (Slot::Subject, 2), (Slot::Parser, 1)] {
        let end = held(&ready, |_| 0, but_for(at, || Outcome::NotRun(StopReason::Budget)));
        assert!(matches!(end, End::NotRun(StopReason::Budget)), "{at:?}: {end:?}");
    }
}

#[test]
fn runs_of_agents_without_an_endpoint_or_a_start_are_errors() {
    for (run, reason) in [
        (r#"{"status": "success"}"#, None),
        (r#"{"status": "timed_out", "error": {"code": "timeout", "message": "too long"}}"#, None),
        (r#"{"status": "failed", "error": {"code": "exit_status", "message": "status 1"}}"#, None),
        (r#"{"status": "invalid", "error": {"code": "empty_output", "message": "nothing"}}"#, None),
        (
            r#"{"status": "provider_error", "error": {"code": "status_500", "message": "HTTP 500"}}"#,
            Some("the endpoint of the agent's model failed: HTTP 500"),
        ),
        (r#"{"status": "provider_error", "error": null}"#, Some("the endpoint of the agent's model failed")),
        (
            r#"{"status": "failed", "error": {"code": "not_started", "message": "there is no program `x`"}}"#,
            Some("the agent could not be started: there is no program `x`"),
        ),
        (
            r#"{"status": "invalid", "error": {"code": "c", "error_type": "configuration", "message": "no key"}}"#,
            Some("the agent refused its configuration: no key"),
        ),
    ] {
        let found = fault(CaseKind::Cases, &parse_json(run).expect("JSON").value).map(|it| it.to_string());
        assert_eq!(found, reason.map(|it| format!("error: {it}")), "{run}");
    }
}
