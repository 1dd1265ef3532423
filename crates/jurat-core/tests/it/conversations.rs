//! The laws of a conversation: what comes first changes nothing, a recording gives the same again, and what is not asked for is not taken.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use jurat_core::effect::wire::{outcome_json, read_outcome};
use jurat_core::effect::{
    Action, Answer, Fault, FaultKind, Finish, ModelRequest, Outcome, Request, Returned, Slot, Step, StepSite, ToolCall,
    Usage,
};
use jurat_core::evidence::scenario::schema;
use jurat_core::scenario::{
    Callable, CompiledScenario, Condition, Criterion, Edge, End, Execution, Function, Handover, Scenario, StateUpdate,
    Traversal,
};
use jurat_core::suite::{Loaded, load};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Map, Val, Value, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::InMemory;

/// The first scenario of a suite.
#[track_caller]
pub(crate) fn scenario(suite: &str) -> Scenario {
    let Loaded { suite: read, problems, .. } = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite)]));
    assert!(problems.is_empty(), "{problems:?}\n{suite}");
    let (scenario, problems) = read.scenarios.first().expect("a scenario").resolve(&read);
    assert!(problems.is_empty(), "{problems:?}\n{suite}");
    scenario
}

/// A scenario whose answers are read by a parser.
#[track_caller]
pub(crate) fn ready(suite: &str) -> CompiledScenario {
    CompiledScenario::new(scenario(suite), Some("parser")).expect("a scenario that can be run")
}

/// Holds a conversation: `choose` picks the next of the open steps, `world` says what becomes of it.
pub(crate) fn held(
    ready: &CompiledScenario,
    mut choose: impl FnMut(usize) -> usize,
    mut world: impl FnMut(&Step) -> Outcome,
) -> End {
    let mut traversal = Traversal::start(ready, "subject", "m", 0);
    for _ in 0..10_000 {
        let steps = traversal.steps();
        if steps.is_empty() {
            let end = traversal.end().expect("a conversation without steps is over").clone();
            assert!(!matches!(end, End::NotRun(StopReason::Interrupted)), "it took what it did not ask for");
            return end;
        }
        let step = &steps[choose(steps.len()) % steps.len()];
        traversal.apply(step.site, world(step));
        // What comes again, and what comes from elsewhere, changes nothing.
        traversal.apply(step.site, Outcome::NotRun(StopReason::Interrupted));
    }
    panic!("the conversation does not end")
}

/// Holds a conversation in order, and returns what happened.
#[track_caller]
pub(crate) fn executed(ready: &CompiledScenario, world: impl FnMut(&Step) -> Outcome) -> Execution {
    match held(ready, |_| 0, world) {
        End::Execution(execution) => *execution,
        End::NotRun(reason) => panic!("it was not run: {reason:?}"),
    }
}

pub(crate) fn says(text: &str) -> Outcome {
    Outcome::Answer(Box::new(Answer::new(text)))
}

pub(crate) fn calls(tools: &[(&str, &str)]) -> Outcome {
    let call = |(ix, (name, arguments)): (usize, &(&str, &str))| ToolCall {
        id: format!("call-{ix}"),
        name: (*name).to_owned(),
        arguments: json(arguments),
    };
    let tool_calls = tools.iter().enumerate().map(call).collect();
    Outcome::Answer(Box::new(Answer { tool_calls, finish: Finish::ToolCalls, ..Answer::new("") }))
}

pub(crate) fn returns(value: Value, is_error: bool) -> Outcome {
    Outcome::Returned(Box::new(Returned::new(value, is_error, std::time::Duration::ZERO, 0)))
}

pub(crate) fn fails(kind: FaultKind) -> Outcome {
    Outcome::Fault(Box::new(Fault::new(kind, format!("no luck ({})", kind.name()), 1)))
}

pub(crate) fn json(text: &str) -> Value {
    parse_json(text).expect("the test has JSON").value.into_owned()
}

pub(crate) fn slot(step: &Step) -> Slot {
    Slot::numbered(step.site.slot).expect("a step has a slot")
}

/// Tools on two servers, an answer that is read and rated in several requests, code wherever there may be some.
static EVERYTHING: LazyLock<CompiledScenario> = LazyLock::new(|| {
    let mut scenario = scenario(
        "
tools:
  files: { command: [files] }
  web: { command: [web] }
models: { subject: script/subject.jsonl, parser: script/parser.jsonl }
scenarios:
  it:
    system: Be brief.
    tools: [files, web]
    turn_limit: 7
    rubric:
      - { name: clear, kind: boolean, description: is it clear }
      - { name: facts, kind: metric, description: the facts, items: [a, b] }
      - { name: long, kind: regex, description: is it long, pattern: '.{20}' }
      - { name: tone, kind: cel, description: the tone, cel: 'size(raw_response)' }
    entry: ask
    nodes:
      ask:
        question: Where?
        template: { city: { type: string, description: a city, ground_truth: Rome }, sure: { type: boolean, description: is it sure, ground_truth: true } }
      again: { question: Are you sure?, template: ask, system: Be careful. }
      other: { question: And now?, raw_answer: Rome, tool_filter: { remove: [{ server: web }] } }
    edges:
      - { from: ask, to: again, when: { failure.category: timeout } }
      - { from: ask, to: other, when: { verify_result: false }, handover: transcript_prepend }
      - { from: ask, to: again }
      - { from: again, to: ask, when: { node_visits.again: { lt: 2 } }, handover: transcript_append }
      - { from: again, to: __end__ }
      - { from: other, to: ask, when: { node_results.other.rubric.clear: true } }
      - { from: other, to: again }
    outcomes:
      right: { any_turn: { verify_result: true } }
      n_right: { count_turns: { verify_result: true } }
",
    );
    let code =
        |name: &str| Callable { source: Some(name.to_owned()), function: Some(Function::new(|_| Ok(Val::Null))) };
    scenario.nodes[1].state_update = Some(StateUpdate::Callable(code("update")));
    let mut by_code = Edge::new("again", "other");
    by_code.when = Some(Condition::Callable(code("is_other")));
    by_code.handover = Some(Handover::Callable(code("hand_over")));
    scenario.edges.insert(0, by_code);
    for name in ["first", "second", "third"] {
        let criterion = Criterion { evaluate: Some(code(name)), check: None, ..scenario.outcomes[0].clone() };
        scenario.outcomes.insert(1, Criterion { name: name.to_owned(), ..criterion });
    }
    CompiledScenario::new(scenario, Some("parser")).expect("a scenario that can be run")
});

/// A number that depends on a seed and on where it is asked for.
fn mixed(site: StepSite, seed: u64) -> u64 {
    let turn = u64::from(site.asker.turn().unwrap_or(99));
    let place = turn * 1_000_003 + u64::from(site.slot) * 10_007 + u64::from(site.turn) * 101;
    let mut mixed = seed.wrapping_add(place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

/// What becomes of a step depends on its site and on a seed, and on nothing else.
fn world(step: &Step, seed: u64) -> Outcome {
    let mixed = mixed(step.site, seed);
    let luck = mixed % 100;
    if mixed.is_multiple_of(307) {
        return Outcome::NotRun(StopReason::Budget);
    }
    if mixed.is_multiple_of(101) {
        return fails(FaultKind::CaseDeadline);
    }
    if luck < 4 {
        return fails([FaultKind::TurnDeadline, FaultKind::Status(500), FaultKind::Connect][(mixed >> 8) as usize % 3]);
    }
    let pick = (mixed >> 16) as usize;
    match (slot(step), &step.request) {
        (Slot::Subject, _) if luck < 7 => {
            Outcome::Answer(Box::new(Answer { finish: Finish::Refusal, ..Answer::new("No.") }))
        }
        (Slot::Subject, _) if luck < 40 => {
            let tools = [("read", r#"{"path": "a"}"#), ("web__get", "{}"), ("nothing", "{}"), ("files__get", "[1]")];
            calls(&tools[pick % 3..])
        }
        (Slot::Subject, _) => {
            let usage = Usage { input: mixed % 50, output: mixed % 7, cached: 0, reasoning: 0, cache_write: 0 };
            let cost_usd = Some((mixed % 9) as f64 / 1e6);
            Outcome::Answer(Box::new(Answer { usage: Some(usage), cost_usd, ..Answer::new(format!("answer {pick}")) }))
        }
        (Slot::Tools, Request::Action(action)) if luck < 98 => match &**action {
            Action::ListTools { server } if server == "files" => {
                returns(json(r#"[{"name": "read"}, {"name": "get"}]"#), false)
            }
            _ => returns(json(r#"[{"name": "get", "description": "gets"}]"#), false),
        },
        (Slot::Tool, _) => returns(json(&format!(r#"{{"text": "it is {pick}"}}"#)), pick.is_multiple_of(5)),
        (Slot::Parser | Slot::Rubric(_), _) if luck < 25 => says("what?"),
        (Slot::Parser | Slot::Rubric(_), Request::Model(request)) => says(&reply(request, pick)),
        (Slot::Handover, _) => returns(json(r#"[{"role": "user", "content": "what was said"}]"#), luck > 90),
        (Slot::Edge, _) => {
            returns([Val::Bool(true), Val::Bool(false), Val::Bool(false), Val::I(1)][pick % 4].clone(), false)
        }
        (Slot::Update, _) => returns(json(&format!(r#"{{"n": {pick}}}"#)), luck > 80),
        _ => returns([Val::Bool(true), Val::I(7), Val::from("because")][pick % 3].clone(), luck > 80),
    }
}

/// What a model replies that reads or rates.
fn reply(request: &ModelRequest, pick: usize) -> String {
    let schema = request.output.as_ref().map(|it| it.to_json()).unwrap_or_default();
    let is_so = pick.is_multiple_of(3);
    if schema.contains("true_positives") {
        r#"{"true_positives": ["a"], "false_negatives": ["b"], "false_positives": []}"#.to_owned()
    } else if schema.contains("clear") {
        format!(r#"{{"clear": {is_so}}}"#)
    } else if schema.contains("correct") {
        format!(r#"{{"answer": "Rome", "correct": {is_so}}}"#)
    } else {
        format!(r#"{{"city": "Rome", "sure": {is_so}}}"#)
    }
}

/// All that evidence holds.
fn shown(end: &End) -> String {
    match end {
        End::Execution(execution) => execution.to_value().to_json(),
        End::NotRun(reason) => format!("{reason:?}"),
    }
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn any_order_gives_the_same_execution(seed in any::<u64>(), choices in vec(any::<usize>(), 1..20)) {
        let in_order = held(&EVERYTHING, |_| 0, |step| world(step, seed));
        let backwards = held(&EVERYTHING, |n| n - 1, |step| world(step, seed));
        let mut next = choices.iter().cycle();
        let shuffled = held(&EVERYTHING, |_| *next.next().unwrap(), |step| world(step, seed));
        prop_assert_eq!(shown(&in_order), shown(&backwards));
        prop_assert_eq!(shown(&in_order), shown(&shuffled));
    }

    #[test]
    fn a_recording_gives_the_same_execution(seed in any::<u64>(), choices in vec(any::<usize>(), 1..20)) {
        let mut recording: BTreeMap<StepSite, (String, String)> = BTreeMap::new();
        let recorded = held(&EVERYTHING, |_| 0, |step| {
            let outcome = world(step, seed);
            let earlier = recording.insert(step.site, (format!("{:?}", step.request), outcome_json(&outcome)));
            assert_eq!(earlier, None, "a site is asked once: {:?}", step.site);
            outcome
        });
        let mut next = choices.iter().cycle();
        let replayed = held(&EVERYTHING, |_| *next.next().unwrap(), |step| match recording.get(&step.site) {
            Some((request, outcome)) => {
                assert_eq!(*request, format!("{:?}", step.request));
                read_outcome(step.request.kind(), outcome).unwrap()
            }
            // Where one outcome stops everything, the others of that moment may never have been asked for.
            None => {
                assert!(matches!(recorded, End::NotRun(_)), "not recorded: {:?}", step.site);
                fails(FaultKind::Diverged)
            }
        });
        prop_assert_eq!(shown(&recorded), shown(&replayed));
    }
}

/// Without this the laws above could hold for want of anything happening.
#[test]
fn the_world_of_these_laws_does_everything() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let plain = |value: &Val<'_>| serde_json::from_str(&value.to_json()).expect("JSON");
    let schema = jsonschema::draft202012::new(&plain(&schema())).expect("a schema");
    for seed in 0..500 {
        let mut n_open = 0;
        let mut traversal = Traversal::start(&EVERYTHING, "subject", "m", 0);
        loop {
            let steps = traversal.steps();
            let Some(step) = steps.first() else { break };
            n_open = n_open.max(steps.len());
            traversal.apply(step.site, world(step, seed));
        }
        *seen.entry(format!("{n_open} at once")).or_default() += 1;
        let Some(End::Execution(execution)) = traversal.end() else {
            *seen.entry("not run".to_owned()).or_default() += 1;
            continue;
        };
        let evidence = execution.to_value();
        let wrong: Vec<String> = schema.iter_errors(&plain(&evidence)).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "the schema of the evidence does not know {wrong:?}: {evidence}");
        *seen.entry(execution.status.name().to_owned()).or_default() += 1;
        let turns = evidence.get("history").and_then(Val::as_list).unwrap_or_default();
        for turn in turns {
            for key in turn.as_map().into_iter().flat_map(Map::iter).map(|(key, _)| key) {
                *seen.entry(key.to_owned()).or_default() += 1;
            }
            let rated = turn.get("rubric").and_then(Val::as_map).into_iter().flat_map(Map::iter);
            for (key, _) in rated {
                *seen.entry(format!("rubric {key}")).or_default() += 1;
            }
        }
        if evidence.get("outcome_errors").is_some() {
            *seen.entry("outcome_errors".to_owned()).or_default() += 1;
        }
    }
    let wanted = [
        "3 at once",
        "not run",
        "completed",
        "error",
        "timeout",
        "limit_reached",
        "sent",
        "tool_calls",
        "update_error",
        "failure",
        "rubric_errors",
        "outcome_errors",
        "usage",
        "rubric clear",
        "rubric long",
        "fields",
    ];
    for it in wanted {
        assert!(seen.get(it).is_some_and(|n| *n >= 10), "`{it}` happens too seldom: {seen:#?}");
    }
}
