//! Where a conversation continues is a function of the state and of the edges, and of nothing else.

use std::path::Path;

use jurat_core::scenario::{CompiledEdge, Route, State, StatePath, route};
use jurat_core::suite::load;
use jurat_format::value::{Map, Val, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::InMemory;
use crate::arbitrary::value;

/// Conditions of every form, and the paths that they look at.
const CONDITIONS: &[(&str, &[&str])] = &[
    ("{ verify_result: true }", &["verify_result"]),
    ("{ verify_result: false }", &["verify_result"]),
    ("{ turn: { gte: 2 } }", &["turn"]),
    ("{ current_node: a }", &["current_node"]),
    ("{ parsed.x: 3 }", &["parsed.x"]),
    ("{ parsed.x: Rome }", &["parsed.x"]),
    ("{ parsed.x: [a, b] }", &["parsed.x"]),
    ("{ accumulated.n: { gt: 1 } }", &["accumulated.n"]),
    ("{ node_visits.a: { lt: 3 } }", &["node_visits.a"]),
    ("{ node_results.a.verify_result: true }", &["node_results.a.verify_result"]),
    ("{ node_results.a.parsed.x: yes }", &["node_results.a.parsed.x"]),
    ("{ node_results.a.rubric.t: { gte: 2 } }", &["node_results.a.rubric.t"]),
    ("{ failure.category: timeout }", &["failure.category"]),
    ("[{ verify_result: true }, { parsed.x: 3 }]", &["verify_result", "parsed.x"]),
    ("{ any: [{ turn: 1 }, { accumulated.n: 2 }] }", &["turn", "accumulated.n"]),
    ("{ not: { parsed.x: 3 } }", &["parsed.x"]),
    ("{ cel: 'turn > 1' }", &["turn"]),
    // An expression is given what it names, whole.
    ("{ cel: 'parsed.x == 3' }", &["parsed"]),
];

/// The edges of a node, one for each condition; `None` for an edge without.
fn edges(conditions: &[Option<usize>]) -> Vec<CompiledEdge> {
    let mut text = "scenarios: { s: { entry: a, nodes: { a: { question: Q }, b: { question: Q } }, edges: [".to_owned();
    for condition in conditions {
        text += &match condition {
            Some(ix) => format!("{{ from: a, to: b, when: {} }}, ", CONDITIONS[*ix].0),
            None => "{ from: a, to: b }, ".to_owned(),
        };
    }
    text += "{ from: a, to: __end__ }] } }\n";
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)]));
    assert!(loaded.problems.is_empty(), "{:?}\n{text}", loaded.problems);
    loaded.suite.scenarios[0].scenario.edges.iter().cloned().map(CompiledEdge::new).collect()
}

fn state() -> impl Strategy<Value = State> {
    let simple = prop_oneof![
        select(vec![Val::Null, Val::Bool(true), Val::I(1), Val::I(3), Val::F(2.5), Val::from("Rome"), Val::from("3")]),
        value(),
    ];
    let values = vec(simple, 5);
    (0_u32..4, any::<Option<bool>>(), any::<Option<bool>>(), 0_u32..4, values).prop_map(
        |(turn, verify_result, of_node, visits, values)| {
            let [x, n, own, score, other] = values.try_into().expect("five values");
            let map = |members: [(&'static str, Value); 2]| members.into_iter().collect();
            let result = [
                ("verify_result", of_node.map_or(Val::Null, Val::Bool)),
                ("parsed", Val::Map(map([("x", own), ("y", other.clone())]))),
                ("rubric", Val::Map(map([("t", score), ("u", other.clone())]))),
            ];
            State {
                row: None,
                turn,
                current_node: if visits > 1 { "a" } else { "b" }.to_owned(),
                verify_result,
                parsed: map([("x", x), ("y", other.clone())]),
                node_visits: vec![("a".to_owned(), visits)],
                accumulated: Val::Map(map([("n", n), ("m", other)])),
                node_results: [("a", Val::Map(result.into_iter().collect()))].into_iter().collect(),
                failure: None,
            }
        },
    )
}

fn routed(edges: &[CompiledEdge], state: &State) -> Route {
    route(edges, |_| true, state, &|_| None).0
}

/// A state that is the same at these paths, and another one everywhere else.
fn same_at(paths: &[&str], state: &State, other: &State) -> State {
    let has = |root: &str| paths.iter().any(|it| it.split('.').next() == Some(root));
    let mut mixed = other.clone();
    if has("turn") {
        mixed.turn = state.turn;
    }
    if has("verify_result") {
        mixed.verify_result = state.verify_result;
    }
    if has("current_node") {
        mixed.current_node.clone_from(&state.current_node);
    }
    if has("node_visits") {
        mixed.node_visits.clone_from(&state.node_visits);
    }
    if paths.contains(&"parsed") {
        mixed.parsed.clone_from(&state.parsed);
    } else if has("parsed") {
        mixed.parsed = with(&state.parsed, "y", other.parsed.get("y"));
    }
    if has("accumulated")
        && let (Val::Map(own), Val::Map(others)) = (&state.accumulated, &other.accumulated)
    {
        mixed.accumulated = Val::Map(with(own, "m", others.get("m")));
    }
    if has("node_results") {
        mixed.node_results.clone_from(&state.node_results);
    }
    mixed.failure.clone_from(&state.failure);
    mixed
}

fn with(map: &Map<'static>, key: &'static str, value: Option<&Value>) -> Map<'static> {
    let mut map = map.clone();
    map.insert(key.into(), value.cloned().unwrap_or(Val::Null));
    map
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_route_depends_on_nothing_but_the_paths_that_its_edges_look_at(
        rendered in vec(proptest::option::of(0..CONDITIONS.len()), 1..5), state in state(), other in state(),
    ) {
        let edges = edges(&rendered);
        let found = routed(&edges, &state);
        prop_assert_eq!(&found, &routed(&edges, &state));
        let paths: Vec<&str> = rendered.iter().flatten().flat_map(|it| CONDITIONS[*it].1).copied().collect();
        prop_assert_eq!(&found, &routed(&edges, &same_at(&paths, &state, &other)), "{:?}", paths);
    }

    #[test]
    fn the_first_edge_that_holds_is_taken_and_the_first_without_a_condition_otherwise(
        rendered in vec(proptest::option::of(0..CONDITIONS.len()), 1..5), state in state(),
    ) {
        let all = edges(&rendered);
        // Each edge by itself: taken, not taken, or undecided.
        let alone: Vec<Route> = rendered.iter().map(|it| routed(&edges(&[*it])[..1], &state)).collect();
        let decides = (0..).zip(&rendered).find(|(ix, it): &(usize, _)| it.is_some() && alone[*ix] != Route::Ends);
        let fallback = rendered.iter().position(Option::is_none).unwrap_or(rendered.len());
        let expected = match decides.map(|(ix, _)| (ix, &alone[ix])) {
            None => Route::Along(fallback),
            Some((ix, Route::Along(_))) => Route::Along(ix),
            Some((edge, Route::Unclear { fault, reason, .. })) => {
                Route::Unclear { edge, fault: *fault, reason: reason.clone() }
            }
            Some((_, other)) => panic!("an edge by itself came to {other:?}"),
        };
        prop_assert_eq!(routed(&all, &state), expected);
    }

    #[test]
    fn what_an_edge_saw_is_what_the_state_has_there(
        rendered in vec(proptest::option::of(0..CONDITIONS.len()), 1..5), state in state(),
    ) {
        let edges = edges(&rendered);
        for tested in route(&edges, |_| true, &state, &|_| None).1 {
            for (path, value) in &tested.saw {
                let in_state = StatePath::parse(path);
                if path.contains('.') || path == "turn" {
                    prop_assert_eq!(value, &*state.find(&in_state), "{}", path);
                }
            }
        }
    }
}
