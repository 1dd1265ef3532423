//! Scenarios: conditions in all their forms, graphs that say of themselves what routing then does, and files of Karenina.

use std::path::Path;

use jurat_core::compat::karenina;
use jurat_core::scenario::structure::{Flaw, flaws};
use jurat_core::scenario::when::{self, Bound, WhenError};
use jurat_core::scenario::{
    Callable, CompiledEdge, Condition, Criterion, Edge, Example, Handover, ModelOverride, Node, Question, Route,
    Scenario, ScenarioBuilder, State, StateCheck, StateUpdate, Target, ToolName, route,
};
use jurat_core::suite::{Loaded, load};
use jurat_format::problem::Severity;
use jurat_format::value::{Map, SourceId, Val, Value, json_node, parse_json};
use jurat_format::yaml_writer::yaml_text;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::InMemory;
use crate::arbitrary::{text, value};
use crate::outcomes::check;
use crate::rubrics::traits;
use crate::templates::{arbitrary_template, blocks};

type Read = fn(&jurat_format::value::Node<'_>) -> Result<Option<Condition>, Vec<WhenError>>;

/// What a condition is when it is stored, or what is wrong with it.
fn condition(read: Read, text: &str) -> String {
    let (node, _) = json_node(text, SourceId(0)).expect("a condition is JSON");
    match read(&node) {
        Ok(condition) => condition.as_ref().map_or(Val::Null, when::write_stored).to_json(),
        Err(errors) => {
            errors.iter().map(|it| format!("{}: {}", it.kind.name(), it.message)).collect::<Vec<_>>().join("; ")
        }
    }
}

#[track_caller]
fn reads(text: &str, expected: &str) {
    assert_eq!(condition(when::read, text), expected, "{text}");
}

#[track_caller]
fn seed_reads(text: &str, expected: &str) {
    assert_eq!(condition(karenina::read_condition, text), expected, "{text}");
}

fn check_of(field: &str, expected: &str, verify_with: &str) -> String {
    format!(r#"{{"type":"state_check","field":"{field}","expected":{expected},"verify_with":{verify_with}}}"#)
}

const EXACT: &str = r#"{"normalize":["lowercase","strip"],"type":"ExactMatch"}"#;

#[test]
fn the_value_decides_the_comparison() {
    for reads in [reads, seed_reads] {
        reads("null", "null");
        reads(r#"{"verify_result": false}"#, &check_of("verify_result", "false", r#"{"type":"BooleanMatch"}"#));
        reads(r#"{"parsed.a.b": "x"}"#, &check_of("parsed.a.b", "\"x\"", EXACT));
        reads(r#"{"parsed.a": null}"#, &check_of("parsed.a", "null", EXACT));
        reads(r#"{"turn": 5}"#, &check_of("turn", "5", r#"{"type":"NumericExact"}"#));
        reads(r#"{"turn": {"eq": "5"}}"#, &check_of("turn", "\"5\"", r#"{"type":"NumericExact"}"#));
        let range = r#"{"min":null,"max":3.0,"exclusive_min":false,"exclusive_max":true,"type":"NumericRange"}"#;
        reads(r#"{"turn": {"lt": 3}}"#, &check_of("turn", "null", range));
        reads(r#"{"turn": {"lt": "3"}}"#, &check_of("turn", "null", range));
        let set = r#"{"mode":"exact","min_overlap":null,"type":"SetContainment"}"#;
        reads(r#"{"parsed.tags": []}"#, &check_of("parsed.tags", "[]", set));
        reads("[]", "[]");
        reads(r#"[{"turn": 1}]"#, &format!("[{}]", check_of("turn", "1", r#"{"type":"NumericExact"}"#)));
        reads("{}", "bad_condition: a condition without a field");
        reads(r#"{"turn": {}}"#, "bad_condition: `turn` is compared with an object without an operator");
        reads(r#"{"turn": {"gte": "x"}}"#, "bad_condition: `gte` must be a number, not `x`");
        reads(r#"{"turn": {"gtee": 1}}"#, "unknown_operator: there is no operator `gtee` for `turn`");
        reads("5", "unsupported_condition: 5 is not a condition");
        reads("true", "unsupported_condition: true is not a condition");
    }
}

#[test]
fn jurat_knows_more_than_the_seed() {
    let paris = check_of("parsed.city", "\"paris\"", EXACT);
    let rome = check_of("parsed.city", "\"rome\"", EXACT);
    let short = |text: &str| {
        let (node, _) = json_node(text, SourceId(0)).expect("a condition is JSON");
        let condition = when::read(&node).expect("a condition").expect("not null");
        assert_eq!(when::write(&condition).to_json(), text, "the short form is the shortest");
    };
    reads(r#"{"parsed.city": {"neq": "paris"}}"#, r#"{"not":{"parsed.city":"paris"}}"#);
    reads(
        r#"{"parsed.city": {"in": ["paris", "rome"]}}"#,
        r#"{"any":[{"parsed.city":"paris"},{"parsed.city":"rome"}]}"#,
    );
    reads(r#"[{"parsed.city": "paris"}, {"parsed.city": "rome"}]"#, &format!("[{paris},{rome}]"));
    reads(r#"{"parsed.tags": {"contains": "x"}}"#, &check_of("parsed.tags", "\"x\"", r#"{"type":"Contains"}"#));
    short(r#"{"any":[{"turn":3},[{"verify_result":true},{"not":{"turn":{"gt":1.0}}}]]}"#);
    short(r#"[{"turn":3},{"cel":"turn < 9"}]"#);
    short(r#"{"not":{"parsed.a":{"gte":2.5}}}"#);
    reads(r#"{"cel": "turn <"}"#, "bad_expression: `turn <` is not an expression at column 7: it ends too early");
    reads(r#""turn > 3""#, "unsupported_condition: `turn > 3` is not a condition");
    seed_reads(r#"{"turn": {"neq": 2}}"#, "unknown_operator: there is no operator `neq` for `turn`");
    seed_reads(r#"{"cel": "turn < 9"}"#, &check_of("cel", "\"turn < 9\"", EXACT));
    // To Karenina a text is code. It is stored, and is no check.
    seed_reads(r#""lambda state: True""#, "null");
}

/// Where the state sends a conversation whose one edge has this condition.
#[track_caller]
fn holds(condition: &str, expected: &str) {
    let (node, _) = json_node(condition, SourceId(0)).expect("a condition is JSON");
    let condition = when::read(&node).expect("a condition").expect("not null");
    let parsed = parse_json(r#"{"city": "Paris ", "tags": ["a", "b"]}"#).expect("JSON").value.into_owned();
    let parsed = parsed.as_map().expect("an object").clone();
    let state = State { turn: 2, verify_result: Some(true), parsed, ..State::default() };
    let (route, tested) =
        route(&[CompiledEdge::new(Edge::new("a", "b").when(condition.clone()))], |_| true, &state, &|_| None);
    let found = match route {
        Route::Along(_) => "yes".to_owned(),
        Route::Ends => "no".to_owned(),
        Route::Unclear { reason, .. } => reason,
        Route::Calls(_) => "calls".to_owned(),
    };
    let saw: Vec<&str> = tested[0].saw.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(format!("{found}; saw {}", saw.join(" ")), expected, "{condition:?}");
}

#[test]
fn parts_are_tested_in_order_until_the_whole_is_decided() {
    holds(r#"{"any": [{"turn": 3}, {"parsed.city": "paris"}, {"verify_result": true}]}"#, "yes; saw turn parsed.city");
    holds(r#"[{"turn": 2}, {"not": {"verify_result": true}}, {"parsed.city": "x"}]"#, "no; saw turn verify_result");
    holds(r#"[{"any": [{"turn": 2}, {"turn": 3}]}, {"parsed.city": {"neq": "rome"}}]"#, "yes; saw turn parsed.city");
    holds(r#"{"not": [{"turn": 3}, {"turn": 2}]}"#, "yes; saw turn");
    holds(r#"{"parsed.tags": {"contains": "b"}}"#, "yes; saw parsed.tags");
    holds(r#"{"any": [{"cel": "turn > 5"}, {"cel": "parsed.city == 'Paris '"}]}"#, "yes; saw turn parsed");
    // What cannot be compared is no "no", and its opposite is no "yes".
    let reason = "`parsed.none`: needs a number, found null; saw parsed.none";
    holds(r#"{"parsed.none": {"gt": 1}}"#, reason);
    holds(r#"{"not": {"parsed.none": {"gt": 1}}}"#, reason);
}

/// The names of the flaws of a graph of edges, each `from -> to` with a condition behind `?`; the first node is the entry.
fn flaws_of(edges: &[&str]) -> String {
    let mut scenario = Scenario::new("graph");
    for edge in edges {
        let (ends, condition) = edge.split_once('?').map_or((*edge, None), |(ends, it)| (ends, Some(it)));
        let (source, target) = ends.split_once("->").expect("an edge");
        let node = |id: &str| Node::new(id.trim(), Question::new("?", "!"));
        for id in [source, target].map(str::trim).into_iter().filter(|it| *it != "__end__") {
            if scenario.node(id).is_none() {
                scenario.nodes.push(node(id));
            }
        }
        let mut edge = Edge::new(source.trim(), target.trim());
        edge.when = condition.map(|it| {
            let (node, _) = json_node(it, SourceId(0)).expect("a condition is JSON");
            when::read(&node).expect("a condition").expect("not null")
        });
        scenario.edges.push(edge);
    }
    scenario.entry = scenario.nodes[0].id.clone();
    let words = flaws(&scenario).iter().map(|it| it.words(&scenario).to_string()).collect::<Vec<_>>();
    words.join("\n")
}

#[test]
fn loops_and_shadows_are_seen() {
    assert_eq!(flaws_of(&["a -> b", "b -> __end__"]), "");
    assert_eq!(
        flaws_of(&["a -> b", "b -> a"]),
        "no way leads out of the nodes `a` and `b`: only the turn limit ends it"
    );
    assert_eq!(flaws_of(&["a -> b", r#"b -> __end__ ? {"turn": 9}"#, "b -> a"]), "");
    // The way out is behind one that is always taken.
    assert_eq!(
        flaws_of(&["a -> a", "a -> __end__"]),
        "the node `a` has 2 edges without a condition; only the first can be taken\n\
         no way leads out of the node `a`: only the turn limit ends it"
    );
    let shadowed = "the edge `a -> b` can never be taken: `a -> __end__` is taken whenever it could be";
    for (earlier, later) in [
        (r#"{"turn": 1}"#, r#"{"turn": 1}"#),
        ("[]", r#"{"cel": "turn == 1"}"#),
        (r#"{"turn": 1}"#, r#"[{"verify_result": true}, {"turn": 1}]"#),
        (r#"[{"turn": 1}]"#, r#"{"turn": 1}"#),
        (r#"{"any": [{"turn": 1}, {"turn": 2}]}"#, r#"{"turn": 2}"#),
        (r#"{"parsed.answer": {"in": ["a", "b", "c"]}}"#, r#"{"parsed.answer": {"in": ["c", "a"]}}"#),
        (r#"{"not": [{"turn": 1}, {"turn": 2}]}"#, r#"{"not": {"turn": 1}}"#),
        (r#"{"cel": "turn == 1"}"#, r#"{"cel": "turn == 1"}"#),
    ] {
        let edges = [format!("a -> __end__ ? {earlier}"), format!("a -> b ? {later}"), "a -> b".to_owned()];
        let found = flaws_of(&edges.each_ref().map(String::as_str));
        assert!(found.starts_with(shadowed), "{earlier} before {later}: {found}");
    }
    for (earlier, later) in [
        (r#"{"turn": 1}"#, r#"{"turn": 2}"#),
        (r#"[{"verify_result": true}, {"turn": 1}]"#, r#"{"turn": 1}"#),
        (r#"{"turn": 2}"#, r#"{"any": [{"turn": 1}, {"turn": 2}]}"#),
        (r#"{"not": {"turn": 1}}"#, r#"{"not": [{"turn": 1}, {"turn": 2}]}"#),
    ] {
        let edges = [format!("a -> __end__ ? {earlier}"), format!("a -> b ? {later}"), "a -> b".to_owned()];
        assert_eq!(flaws_of(&edges.each_ref().map(String::as_str)), "", "{earlier} before {later}");
    }
}

#[test]
fn comparing_conditions_does_not_take_for_ever() {
    // Without a bound, each level would double the work twice over.
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(60), "]".repeat(60));
    let one = nested(r#"{"any": [{"turn": 1}, {"turn": 2}]}"#);
    let other = nested(r#"{"any": [{"turn": 3}, {"turn": 4}]}"#);
    assert_eq!(flaws_of(&[&format!("a -> b ? {one}"), &format!("a -> b ? {other}"), "a -> b"]), "");
}

#[test]
fn what_a_builder_refuses_keeps_its_step() {
    let mut builder = ScenarioBuilder::new("steps");
    let question = || Question::new("?", "!");
    builder
        .add_edge("a", "b")
        .add_node("a", question())
        .add_node("a", question())
        .add_node("c", Node::from(Question::new("", "!")).agent_identity("__user__"))
        .set_entry("b")
        .add_outcome_criterion(Criterion::calling("o", Callable::text("lambda: 1")))
        .add_outcome_criterion(Criterion::calling("o", Callable::text("lambda: 2")));
    let errors = builder.validate().unwrap_err().0;
    let shown: Vec<(&str, Option<usize>)> = errors.iter().map(|it| (it.flaw.name(), it.step)).collect();
    let expected = [
        ("duplicate_node", Some(2)),
        ("reserved_agent_identity", Some(3)),
        ("invalid_question", Some(3)),
        ("unknown_entry", Some(4)),
        ("unknown_edge_target", None),
    ];
    assert_eq!(shown, expected);
    assert_eq!(builder.warnings().iter().map(Flaw::name).collect::<Vec<_>>(), ["duplicate_outcome"]);
}

/// The scenarios of a file that Karenina has written, as YAML; or what is wrong.
fn of_karenina(name: &str, text: &str) -> String {
    let Loaded { suite, problems, .. } = load(Path::new(name), &InMemory(&[(name, text)]));
    let errors: Vec<String> =
        problems.iter().filter(|it| it.severity() == Severity::Error).map(|it| it.message.clone()).collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    let scenarios = suite.scenarios.iter().map(|it| (it.name.value.clone(), it.scenario.to_value()));
    let name = suite.name.map(|it| ("suite".to_owned(), Val::from(it.value)));
    let scenarios = ("scenarios".to_owned(), Val::Map(scenarios.collect()));
    yaml_text(&Val::Map(name.into_iter().chain([scenarios]).collect()))
}

#[test]
fn a_checkpoint_is_read_as_a_suite() {
    let checkpoint = r#"{"@context": {"@version": 1.1}, "@type": "DataFeed", "name": "exported", "hasPart": [
        {"@type": "Other", "name": "not ours"},
        {"@type": "karenina:Scenario", "name": "capital", "description": "d", "entryNode": "ask", "nodes": {"ask": {
            "@type": "karenina:ScenarioNode", "nodeId": "ask",
            "question": {"@type": "Question", "text": "What?", "acceptedAnswer": {"text": "That."}, "hasPart": {"text": ""}},
            "modelOverride": {"answering_model": {"id": "m", "model_provider": "openai", "model_name": "gpt", "system_prompt": "Be brief."}, "parsing_model": null},
            "toolFilter": {"remove": [{"server": "fs", "tool": null}]}, "stateUpdateSource": null, "questionData": null, "agentIdentity": "a", "metadata": {}}},
         "edges": [{"source": "ask", "target": "__end__", "condition": null, "conditionSource": null, "handover": null}],
         "outcomeCriteria": [{"name": "o", "description": "", "check": {"type": "AllOf", "conditions": [
            {"type": "TurnCheck", "scope": {"type": "turn_at", "index": -1}, "field": "verify_result", "expected": true, "verify_with": {"type": "BooleanMatch"}}]}, "evaluateSource": null}],
         "metadata": {}}]}"#;
    let expected = "\
suite: exported
scenarios:
  capital:
    description: d
    entry: ask
    nodes:
      ask:
        question: \"What?\"
        raw_answer: \"That.\"
        models:
          subject:
            id: m
            model_provider: openai
            model_name: gpt
            system_prompt: \"Be brief.\"
        system: \"Be brief.\"
        tool_filter:
          remove:
            - server: fs
        agent_identity: a
    edges: [\"ask -> __end__\"]
    outcomes:
      - name: o
        check:
          all_of:
            - turn_at:
                index: -1
                verify_result: true
";
    assert_eq!(of_karenina("exported.jsonld", checkpoint), expected);
    assert_eq!(of_karenina("exported.json", checkpoint), expected);
    let dump = r#"{"name": "s", "nodes": {"a": {"node_id": "a", "question": {"question": "?", "raw_answer": "!"}, "metadata": {}}},
        "edges": [], "entry_node": "a", "outcome_criteria": [], "metadata": {}, "description": ""}"#;
    assert!(
        of_karenina("dump.json", dump).contains("scenarios:\n  s:\n    entry: a\n"),
        "{}",
        of_karenina("dump.json", dump)
    );
}

fn laws() -> ProptestConfig {
    ProptestConfig { cases: 128, ..crate::laws() }
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn a_condition_reads_back(condition in any_condition()) {
        let written = when::write(&condition).to_string();
        let (node, _) = json_node(&written, SourceId(0)).expect("JSON");
        prop_assert_eq!(when::read(&node), Ok(Some(condition)), "{}", written);
    }

    #[test]
    fn a_scenario_reads_back_from_a_checkpoint(scenario in scenario()) {
        for written in [scenario.to_checkpoint().to_string(), scenario.to_stored().to_string()] {
            let (node, _) = json_node(&written, SourceId(0)).expect("JSON");
            let read = Scenario::from_checkpoint(&node);
            prop_assert_eq!(read.as_deref(), Ok(std::slice::from_ref(&scenario)), "{}", written);
        }
    }

    #[test]
    fn an_edge_that_is_never_taken_is_never_taken(
        conditions in vec(option::weighted(0.8, small_condition()), 1..6),
        states in vec((0_u32..3, option::of(any::<bool>())), 6),
    ) {
        let mut scenario = Scenario::new("edges");
        scenario.nodes = vec![Node::new("a", Question::new("?", "!"))];
        scenario.entry = "a".to_owned();
        scenario.edges = conditions.into_iter().map(|when| Edge { when, ..Edge::new("a", "a") }).collect();
        let never: Vec<usize> = flaws(&scenario).into_iter().flat_map(|it| match it {
            Flaw::Shadowed { edge, .. } => vec![edge],
            Flaw::SeveralFallbacks { edges, .. } => edges[1..].to_vec(),
            _ => Vec::new(),
        }).collect();
        let edges: Vec<CompiledEdge> = scenario.edges.iter().cloned().map(CompiledEdge::new).collect();
        for (turn, verify_result) in states {
            let state = State { turn, verify_result, ..State::default() };
            if let (Route::Along(edge), _) = route(&edges, |_| true, &state, &|_| None) {
                prop_assert!(!never.contains(&edge), "{:?} with {:?}", scenario.edges, state);
            }
        }
    }

    #[test]
    fn nodes_without_a_way_out_lead_only_to_each_other(edges in vec((0_usize..5, 0_usize..6), 1..12)) {
        let mut scenario = Scenario::new("ways");
        scenario.nodes = (0..5).map(|it| Node::new(it.to_string(), Question::new("?", "!"))).collect();
        scenario.entry = "0".to_owned();
        scenario.edges = edges.iter().map(|(from, to)| {
            let target = if *to == 5 { "__end__".to_owned() } else { to.to_string() };
            Edge::new(from.to_string(), target)
        }).collect();
        let (mut stuck, mut unreachable) = (Vec::new(), Vec::new());
        for flaw in flaws(&scenario) {
            match flaw {
                Flaw::NoWayOut { nodes } => stuck = nodes,
                Flaw::Unreachable { nodes } => unreachable = nodes,
                _ => {}
            }
        }
        for node in 0..5 {
            // Without conditions the first edge of a node is the only one.
            let mut at = node;
            let ends = (0..20).any(|_| match edges.iter().find(|(from, _)| *from == at) {
                None | Some((_, 5)) => true,
                Some((_, to)) => { at = *to; false }
            });
            prop_assert_eq!(stuck.contains(&node), !ends && !unreachable.contains(&node), "{} of {:?}", node, edges);
        }
    }
}

/// An unusual scenario, with every part that a file can hold.
pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let nodes = vec(node().boxed(), 0..4);
    let edges = vec(edge().boxed(), 0..5);
    let names = "[a-z]{1,6}";
    let criterion = (text(), text(), check())
        .prop_map(|(name, description, check)| Criterion::new(name, check).description(description));
    let frame = (option::of(text()), models(), vec(text(), 0..3), vec(text(), 0..3), option::of(traits()));
    let limits = (1_u32..50, option::of(1_u64..100_000_000), option::of(1_u64..100_000_000));
    ((names, text(), text()), nodes, edges, vec(criterion, 0..3), object(), frame, limits).prop_map(
        |((name, description, entry), nodes, edges, outcomes, metadata, frame, limits)| {
            let (system, models, tools, tags, rubric) = frame;
            let (turn_limit, turn_timeout, timeout) = limits;
            let mut outcomes: Vec<Criterion> = outcomes;
            outcomes.sort_by(|left, right| left.name.cmp(&right.name));
            outcomes.dedup_by(|left, right| left.name == right.name);
            Scenario {
                name,
                description,
                nodes: unique(nodes),
                edges,
                entry,
                outcomes,
                metadata,
                over_records: false,
                system,
                system_prompt: None,
                models,
                rubric: rubric.unwrap_or_default(),
                tools,
                turn_limit,
                turn_timeout: turn_timeout.map(std::time::Duration::from_millis),
                timeout: timeout.map(std::time::Duration::from_millis),
                tags,
            }
        },
    )
}

fn unique(nodes: Vec<Node>) -> Vec<Node> {
    let mut retained: Vec<Node> = Vec::new();
    for node in nodes {
        if !retained.iter().any(|it| it.id == node.id) {
            retained.push(node);
        }
    }
    retained
}

fn object() -> impl Strategy<Value = Map<'static>> {
    vec((text(), value()), 0..3).prop_map(|it| it.into_iter().collect())
}

fn models() -> impl Strategy<Value = ModelOverride> {
    // Karenina has a model's provider and name apart.
    let name = || option::of("[a-z]{1,5}(/[a-z/]{1,5})?");
    (name(), name()).prop_map(|(subject, parser)| ModelOverride { subject, parser })
}

fn node() -> impl Strategy<Value = Node> {
    let stored = option::of(text()).prop_map(|author| author.map(|it| ("author", Val::from(it))).into_iter().collect());
    let question = (text(), option::of(text()), vec((text(), text()), 0..2), stored).prop_map(
        |(text, raw_answer, examples, stored)| {
            let example = |(question, answer)| Example { question, answer, ..Example::default() };
            let examples = examples.into_iter().map(example).collect();
            Question { text, raw_answer, examples, stored, ..Question::default() }
        },
    );
    let tools = vec((text(), option::of(text())), 0..2)
        .prop_map(|it| it.into_iter().map(|(server, tool)| ToolName { server, tool }).collect());
    let update = prop_oneof![
        Just(None),
        Just(Some(StateUpdate::cel("{'n': turn}").expect("an expression"))),
        text().prop_map(|it| Some(StateUpdate::from(Callable::text(it)))),
    ];
    let judged = (option::of(arbitrary_template().boxed()), option::of(traits().boxed()));
    let words = (option::of(text()), option::of(text()), option::of(vec(text(), 0..2)), option::of(text()));
    ((text(), question), judged, models(), words, tools, update, object()).prop_map(
        |(
            (id, question),
            (template, rubric),
            models,
            (description, system, servers, identity),
            remove,
            update,
            metadata,
        )| {
            let mut node = Node::new(id, question);
            node.description = description;
            node.template = template;
            node.rubric = rubric;
            node.models = models;
            node.system = system;
            node.tools = servers;
            node.tool_filter.remove = remove;
            node.state_update = update;
            node.agent_identity = identity;
            node.metadata = metadata;
            node
        },
    )
}

fn edge() -> impl Strategy<Value = Edge> {
    let when = prop_oneof![
        2 => Just(None),
        4 => any_condition().boxed().prop_map(Some),
        1 => text().prop_map(|it| Some(Condition::Callable(Callable::text(it)))),
    ];
    let handover = option::of(select(Handover::NAMED.map(|(_, it)| it).to_vec()));
    (text(), text(), when, handover).prop_map(|(source, target, when, handover)| Edge {
        source,
        target: Target::named(&target),
        when,
        handover,
    })
}

/// A condition of any form but code, which stands under a key of its own.
fn any_condition() -> impl Strategy<Value = Condition> {
    let field =
        || prop_oneof![select(&["turn", "any", "not", "cel", "type", "field"][..]).prop_map(str::to_owned), text()];
    let bounds = select(vec![Bound::AtLeast, Bound::Above, Bound::AtMost, Bound::Below]);
    let check = prop_oneof![
        (field(), value())
            .prop_filter("stored checks are tried", |(_, it)| fits(it))
            .prop_map(|(field, it)| when::inferred(&field, it)),
        (field(), bounds, -5_i32..5).prop_map(|(field, bound, it)| when::bounded(&field, bound, f64::from(it) / 2.0)),
    ];
    let check = check.boxed();
    let leaf = prop_oneof![
        4 => check.clone().prop_map(Condition::from),
        1 => Just(Condition::cel("turn > 2 || parsed.a == 'x'").expect("an expression")),
        1 => vec(check, 0..3).prop_map(Condition::Checks),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..3).prop_map(Condition::Any),
            inner.clone().prop_map(|it| Condition::Not(Box::new(it))),
            // A list of nothing but checks is one of checks.
            vec(inner, 1..3)
                .prop_filter("checks alone", |it| it.iter().any(|it| !matches!(it, Condition::Check(_))))
                .prop_map(Condition::All),
        ]
    })
}

/// Whether the comparison of a value can be made with it.
fn fits(value: &Value) -> bool {
    let StateCheck { verify_with, expected, .. } = when::inferred("turn", value.clone());
    verify_with.bind(expected).is_ok()
}

/// Conditions on a small state, so that they often imply each other.
fn small_condition() -> impl Strategy<Value = Condition> {
    let check = prop_oneof![
        (0_i64..3).prop_map(|it| StateCheck::new("turn", it)),
        any::<bool>().prop_map(|it| StateCheck::new("verify_result", it)),
    ];
    let leaf = prop_oneof![check.clone().prop_map(Condition::from), vec(check, 0..3).prop_map(Condition::Checks)];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Condition::Any),
            vec(inner.clone(), 0..3).prop_map(Condition::All),
            inner.prop_map(|it| Condition::Not(Box::new(it))),
        ]
    })
}

#[test]
fn the_suites_of_the_page_are_clean() {
    let page = include_str!("../../../../docs/reference/scenarios.md");
    let (mut n_suites, mut n_fragments) = (0, 0);
    for (info, text) in blocks(page) {
        let (name, suite) = match info {
            "yaml" => ("a suite", text.to_owned()),
            "yaml fragment" => ("a fragment", fragment(text)),
            other => panic!("nobody tests a block `{other}`"),
        };
        n_suites += usize::from(info == "yaml");
        n_fragments += usize::from(info != "yaml");
        let Loaded { suite, problems, .. } = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &suite)]));
        let examined = jurat_core::plan::examine(&suite, &Default::default());
        let found: Vec<&str> = problems.iter().chain(&examined).map(|it| it.message.as_str()).collect();
        assert!(found.is_empty(), "{name} of the page: {found:#?}\n{text}");
        assert!(!suite.scenarios.is_empty(), "{name} of the page has no scenario:\n{text}");
    }
    assert_eq!((n_suites, n_fragments), (4, 1));
}

/// Edges of the page in a scenario that has what they name.
fn fragment(edges: &str) -> String {
    let indented: String = edges.lines().map(|it| format!("    {it}\n")).collect();
    let field = |name: &str, kind: &str| format!("{name}: {{ type: {kind}, description: it }}");
    format!(
        "models: {{ subject: openai/x, parser: openai/y }}\nscenarios:\n  page:\n    entry: ask\n    nodes:\n      ask: {{ question: Q, template: {{ {}, {} }} }}\n      \
         doubt: {{ question: Q, raw_answer: A }}\n    outcomes: {{ over: {{ status_is: completed }} }}\n{indented}",
        field("city", "string"),
        field("year", "number"),
    )
}
