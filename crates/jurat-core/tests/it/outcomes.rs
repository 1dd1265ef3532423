//! Outcomes: their results, their explanations, how they join, and that what is written is what is read.

use std::path::Path;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_compare::normalise::Normaliser;
use jurat_core::case::CaseState;
use jurat_core::outcome::{
    AggregationKind, Cel, Check, CrossComparison, Nodes, Relation, Scope, Traced, TurnCheck, TurnField, TurnFilter,
    TurnTest, Wanted, all_of, any_of, at_least_n, count_turns, cross_turn, first_match_index, not, turn,
};
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;
use jurat_format::codes;
use jurat_format::value::{SourceId, Val, Value, json_node, parse_json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::InMemory;
use crate::arbitrary::{scalar, text, value};
use crate::vocabulary::{fitting_operand, operators};

const EVIDENCE: &str = r#"{
    "scenario_id": "s1", "status": "limit_reached", "path": ["ask", "challenge", "challenge"], "turn_count": 3,
    "history": [
        {"node_id": "ask", "raw_response": "BCL-2", "verify_result": true, "parsed": {"n": 3}, "rubric": {"tone": 4},
         "usage": {"total_tokens": 10}},
        {"node_id": "challenge", "raw_response": "It is BCL-2.", "verify_result": false, "parsed": {"n": 5, "stance": "Changed"},
         "usage": {"total_tokens": 30}},
        {"node_id": "challenge", "raw_response": "", "verify_result": null, "parsed": {}, "failure": {"category": "abstention"},
         "usage": {"total_tokens": 5}}
    ],
    "final_state": {"accumulated": {"n_hints": 2}}
}"#;

/// The result of a task with this outcome: its verdict, and what tasks that depend on it see.
fn concluded(keys: &str) -> String {
    let suite = format!("records: [{{ id: r }}]\ntasks:\n  - {{ id: it, {keys} }}\n");
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite.as_str())]));
    let wrong = loaded.problems.iter().filter(|it| it.code != &codes::ALWAYS_SAME);
    assert_eq!(wrong.count(), 0, "{keys}: {:?}", loaded.problems);
    let (plan, _) = Plan::build(&loaded.suite, &Samples { is_partial: true, ..Samples::default() })
        .unwrap_or_else(|problems| panic!("{problems:?} in {keys}"));
    assert!(plan.footprint.is_all(), "an outcome reads whatever the turns hold");
    let evidence = parse_json(EVIDENCE).expect("the evidence is JSON").value;
    let state = CaseState::start(&plan, &evidence);
    let result = state.result(jurat_core::plan::TaskIx(0)).expect("nothing is asked").clone();
    let seen = result.output.map_or_else(|| "nothing".to_owned(), |it| it.to_string());
    format!("{}; {seen}", result.verdict)
}

#[track_caller]
fn evaluates_to(outcome: &str, expected: &str) {
    assert_eq!(concluded(&format!("outcome: {outcome}")), expected, "{outcome}");
}

#[test]
fn turns_are_checked() {
    evaluates_to("{ first_turn: { verify_result: true } }", "passed; true");
    evaluates_to(
        "{ all_turns: { verify_result: true } }",
        "failed: expected every turn: `verify_result` is a value that counts as true, found false in turn 2 (`challenge`); false",
    );
    evaluates_to("{ any_turn: { node: challenge, parsed.stance: changed } }", "passed; true");
    evaluates_to(
        "{ any_turn: { node: [ask, elsewhere], parsed.stance: changed } }",
        "failed: expected any turn at `ask` or `elsewhere`: `parsed.stance` is `changed`, found null in turn 1 (`ask`); false",
    );
    evaluates_to("{ turn_at: { index: -2, parsed.n: { gt: 3, lte: 5 } } }", "passed; true");
    evaluates_to(
        "{ turn_at: { index: 7, verify_result: true } }",
        "failed: expected turn 8: `verify_result` is a value that counts as true, found no such turn; false",
    );
    evaluates_to(
        "{ all_turns: { node: elsewhere, verify_result: true } }",
        "failed: expected every turn at `elsewhere`: `verify_result` is a value that counts as true, found no such turn; false",
    );
    evaluates_to("{ last_turn: { failure.category: abstention, usage.total_tokens: { lt: 6 } } }", "passed; true");
    evaluates_to("{ first_turn: { rubric.tone: { gte: 4 }, 'parsed[\"n\"]': 3 } }", "passed; true");
    evaluates_to("{ any_turn: { raw_response: { operator: contains, expected_value: BCL } } }", "passed; true");
    evaluates_to("{ any_turn: { cel: 'turn.parsed.n > 4 && !turn.verify_result' } }", "passed; true");
    evaluates_to(
        "{ all_turns: { cel: turn.parsed.n > 2 } }",
        "error: `cel` of turn 3 (`challenge`): `turn.parsed.n > 2` reads `n`, which is not there; `has(….n)` asks whether it is; nothing",
    );
}

#[test]
fn results_and_numbers_are_checked() {
    evaluates_to("{ status_is: limit_reached }", "passed; true");
    evaluates_to("{ status_is: completed }", "failed: expected `status` is `completed`, found `limit_reached`; false");
    evaluates_to("{ turn_count_gte: 3 }", "passed; true");
    evaluates_to("{ turn_count_eq: 4 }", "failed: expected `turn_count` is the number 4, found 3; false");
    evaluates_to(
        "{ result: { final_state.accumulated.n_hints: { lte: 2 }, path: { operator: contains, expected_value: ask } } }",
        "passed; true",
    );
    evaluates_to("{ count_turns: { verify_result: false } }", "measured; 1");
    evaluates_to("{ count_turns: { node: challenge, gte: 2 } }", "passed; true");
    evaluates_to(
        "{ count_turns: { verify_result: true, gte: 2 } }",
        "failed: expected the number of turns with `verify_result` true is at least 2, found true in turn 1 (`ask`); false",
    );
    evaluates_to("{ first_match_index: { node: challenge } }", "measured; 1");
    evaluates_to("{ first_match_index: { node: challenge, lte: 1 } }", "passed; true");
    // There is no first turn, so it is not an early one.
    evaluates_to(
        "{ first_match_index: { node: elsewhere, lte: 1 } }",
        "failed: expected the index of the first turn at `elsewhere` is at most 1, found no such turn; false",
    );
    evaluates_to("{ first_match_index: { node: elsewhere, eq: -1 } }", "passed; true");
    evaluates_to("{ cel: result.turn_count * 2 }", "measured; 6");
    evaluates_to("{ cel: 'result.history.all(turn, turn.usage.total_tokens < 50)' }", "passed; true");
}

#[test]
fn turns_are_compared() {
    let cross = |rest: &str| format!("{{ cross_turn: {{ source: first_turn, target: {{ turn_at: 1 }}, {rest} }} }}");
    evaluates_to(
        &cross("source_field: raw_response, target_field: raw_response, comparison: contains"),
        "passed; true",
    );
    evaluates_to(
        &cross("source_field: parsed.n, target_field: parsed.n, comparison: lt"),
        "failed: expected `parsed.n` of turn 2 is less than `parsed.n` of the first turn, found 5 in turn 2 (`challenge`); 3 in turn 1 (`ask`); false",
    );
    evaluates_to(
        &cross(
            "source_field: raw_response, target_field: raw_response, comparison: eq, normalize: [lowercase, { mapping: { it is bcl-2.: bcl-2 } }]",
        ),
        "passed; true",
    );
}

#[test]
fn joined_outcomes_say_which_part_did_not_hold() {
    evaluates_to(
        "{ all_of: [{ turn_count_gte: 1 }, { any_of: [{ status_is: error }, { not: { turn_count_gte: 2 } }] }] }",
        "failed: expected any of 2: `status` is `error`; not (`turn_count` is a number of at least 2), found `limit_reached`; that it holds; false",
    );
    evaluates_to(
        "{ at_least_n: { n: 2, of: [{ status_is: error }, { turn_count_eq: 3 }] } }",
        "failed: expected at least 2 of 2, found 1: expected `status` is `error`, found `limit_reached`; false",
    );
    evaluates_to("{ not: { all_of: [] } }", "failed: expected not all of 0, found that it holds; false");
}

#[test]
fn what_cannot_be_decided_is_an_error_unless_others_decide_first() {
    let number = "{ last_turn: { parsed.n: 3 } }";
    let reason = "error: `parsed.n` of turn 3 (`challenge`): needs a number, found null; nothing";
    evaluates_to(number, reason);
    evaluates_to(&format!("{{ any_of: [{{ turn_count_gte: 1 }}, {number}] }}"), "passed; true");
    evaluates_to(&format!("{{ any_of: [{number}, {{ turn_count_gte: 1 }}] }}"), reason);
    evaluates_to(&format!("{{ at_least_n: {{ n: 0, of: [{{ turn_count_gte: 1 }}, {number}] }} }}"), reason);
    evaluates_to(&format!("{{ not: {number} }}"), reason);
    evaluates_to(
        "{ all_of: [{ cel: result.turn_count }] }",
        "error: `cel`: `result.turn_count` gives 3, and must give true or false; nothing",
    );
}

#[test]
fn a_turn_that_a_fault_left_without_an_answer_cannot_be_checked() {
    let evidence = EVIDENCE.replace(
        r#""category": "abstention""#,
        r#""category": "timeout", "stage": "generate_answer", "reason": "too late""#,
    );
    let evidence = parse_json(&evidence).expect("JSON").value;
    let reason = "turn 3 (`challenge`): no answer from the subject: too late";
    for (field, wanted) in [("verify_result", true.into()), ("raw_response", "".into()), ("parsed.n", 3.into())] {
        for scope in [Scope::Last, Scope::All(Nodes::Every)] {
            let check = turn(scope, [(field, Wanted::clone(&wanted))]);
            let judged = check.evaluate(&evidence);
            let is_earlier = judged == Ok(Val::Bool(false));
            assert!(is_earlier || judged.as_ref().is_err_and(|it| it.to_string() == reason), "{field}: {judged:?}");
        }
        let judged = turn(Scope::Last, [(field, wanted)]).evaluate(&evidence);
        assert_eq!(judged.map_err(|it| it.to_string()), Err(reason.to_owned()), "{field}");
    }
    for (field, wanted) in [("node_id", "challenge"), ("failure.category", "timeout")] {
        let judged = turn(Scope::Last, [(field, wanted.into())]).evaluate(&evidence);
        assert_eq!(judged, Ok(Val::Bool(true)), "{field}");
    }
}

#[test]
fn a_comparison_beside_an_outcome_judges_its_value() {
    let counted = "outcome: { count_turns: { node: challenge } }, operator: greater_than, expected_value:";
    assert_eq!(concluded(&format!("{counted} 1")), "passed; 2");
    assert_eq!(concluded(&format!("{counted} 2")), "failed: expected a number greater than 2, found 2; 2");
    let listed = "outcome: { cel: 'result.history.map(turn, turn.node_id)' }, field_path: '[0]'";
    assert_eq!(
        concluded(&format!("{listed}, operator: equals, expected_value: ask")),
        r#"passed; ["ask", "challenge", "challenge"]"#
    );
}

#[test]
fn a_gate_needs_a_yes_or_no() {
    let found = concluded("condition: true, outcome: { cel: result.turn_count }");
    assert_eq!(found, "error: `result.turn_count` gives 3, and a gate needs true or false; 3");
}

#[test]
fn evidence_without_turns_cannot_be_checked() {
    let check = turn(Scope::First, [("verify_result", true.into())]);
    for (evidence, reason) in [
        ("{}", "`history`: there is none: only scenarios have turns"),
        (r#"{"history": "none"}"#, "`history`: needs a list, found text"),
    ] {
        let evidence = parse_json(evidence).unwrap().value;
        assert_eq!(check.evaluate(&evidence).unwrap_err().to_string(), reason);
    }
}

#[test]
fn a_trace_has_every_step() {
    let outcome = all_of([
        turn(Scope::Any(Nodes::Every), [("parsed.n", Wanted::at_least(5.0))]),
        not(count_turns(TurnFilter::default()).within(Relation::Gt, 5)),
        turn(Scope::Last, [("verify_result", true.into())]),
        any_of([Cel(Arc::new(Expression::compile("result.turn_count > 1").unwrap())).into()]),
    ]);
    let evidence = parse_json(EVIDENCE).unwrap().value;
    let shown = "\
all of 4: does not hold
  any turn: `parsed.n` is a number of at least 5: holds
    `parsed.n` of turn 1 (`ask`): 3
    `parsed.n` of turn 2 (`challenge`): 5
  not: holds
    the number of turns is more than 5: does not hold
      `verify_result` of turn 1 (`ask`): true
      `verify_result` of turn 2 (`challenge`): false
      `verify_result` of turn 3 (`challenge`): null
  the last turn: `verify_result` is a value that counts as true: does not hold
    `verify_result` of turn 3 (`challenge`): null
  any of 1: not evaluated
    `result.turn_count > 1`: not evaluated
";
    assert_eq!(outcome.trace(&evidence).to_string(), shown);
}

/// Turns as they never come from a careful scenario.
fn evidence() -> impl Strategy<Value = Value> {
    let verified = prop_oneof![Just(Val::Null), any::<bool>().prop_map(Val::Bool)];
    let turn = (select(&["a", "b", "c"][..]), verified, scalar(), option::of(value())).prop_map(
        |(node, verified, response, n)| {
            let parsed: Val<'static> = Val::Map(n.map(|it| ("n", it)).into_iter().collect());
            object([
                ("node_id", Val::from(node)),
                ("verify_result", verified),
                ("raw_response", response),
                ("parsed", parsed),
            ])
        },
    );
    (vec(turn, 0..5), select(&["completed", "error"][..])).prop_map(|(turns, status)| {
        let n_turns = Val::from(turns.len() as u64);
        object([("status", Val::from(status)), ("turn_count", n_turns), ("history", Val::List(turns))])
    })
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect())
}

fn nodes() -> impl Strategy<Value = Nodes> {
    prop_oneof![
        Just(Nodes::Every),
        select(&["a", "b", "no"][..]).prop_map(Nodes::from),
        text().prop_map(Nodes::One),
        vec(text(), 0..3).prop_map(Nodes::Of),
        Just(Nodes::from(["a", "c"])),
    ]
}

fn single() -> impl Strategy<Value = Scope> {
    let index = prop_oneof![-6_i64..6, any::<i64>()];
    prop_oneof![Just(Scope::First), Just(Scope::Last), index.prop_map(Scope::At)]
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![single(), nodes().prop_map(Scope::Any), nodes().prop_map(Scope::All)]
}

fn field() -> impl Strategy<Value = String> {
    let known = ["verify_result", "node_id", "raw_response", "parsed.n", "failure.category", "parsed[\"n\"][0].a"];
    prop_oneof![
        4 => select(known.to_vec()).prop_map(str::to_owned),
        1 => text().prop_map(|it| format!("parsed.{it}")),
        1 => text().prop_map(|it| format!("rubric.{it}")),
    ]
}

/// Whatever a field can be compared with, in a file too.
fn wanted() -> impl Strategy<Value = Wanted> {
    let usable = operators().into_iter().filter(|it| {
        let name = it.entry().name;
        name != "SemanticMatch" && !name.starts_with("Trace")
    });
    let compared = select(usable.collect::<Vec<_>>()).prop_flat_map(|operator| {
        let operand = fitting_operand(&operator);
        operand.prop_map(move |it| Wanted::new(operator.clone(), it.unwrap_or(Val::Null)))
    });
    let relation = select(Relation::NAMED.map(|(_, it)| it).to_vec());
    let bound = prop_oneof![(-9_i64..9).prop_map(Val::I), (-9.0..9.0).prop_map(Val::F)];
    prop_oneof![
        2 => value().prop_map(Wanted::equal_to),
        2 => compared,
        1 => (relation, bound).prop_map(|(relation, bound)| Wanted::number(relation, bound)),
    ]
}

fn filter() -> impl Strategy<Value = TurnFilter> {
    (nodes(), option::of(any::<bool>())).prop_map(|(nodes, verify_result)| TurnFilter { nodes, verify_result })
}

fn bounded() -> impl Strategy<Value = Check> {
    let relations = subsequence(Relation::NAMED.map(|(_, it)| it).to_vec(), 1..3);
    let kind = select(vec![AggregationKind::Count, AggregationKind::FirstIndex]);
    (kind, filter(), relations, -2_i64..5).prop_map(|(kind, filter, relations, than)| {
        let number = if kind == AggregationKind::Count { count_turns(filter) } else { first_match_index(filter) };
        relations.into_iter().fold(number, |check, relation| check.within(relation, than))
    })
}

fn compared_turns() -> impl Strategy<Value = Check> {
    let comparison = select(CrossComparison::NAMED.map(|(_, it)| it).to_vec());
    let synonyms = vec((text(), text()), 0..2).prop_map(|it| {
        // A text stands for one other.
        let pairs: std::collections::BTreeMap<String, String> = it.into_iter().collect();
        Normaliser::Synonyms(pairs.into_iter().collect())
    });
    let named =
        [Normaliser::Lowercase, Normaliser::Strip, Normaliser::RemovePunctuation, Normaliser::CollapseWhitespace];
    let normaliser = prop_oneof![3 => select(named.to_vec()), 1 => synonyms];
    ((single(), field()), (single(), field()), comparison, vec(normaliser, 0..3)).prop_map(
        |(source, target, comparison, normalize)| {
            cross_turn((source.0, &source.1), (target.0, &target.1), comparison, normalize)
        },
    )
}

/// An outcome that may well be undecidable, but could stand in a file.
pub(crate) fn check() -> BoxedStrategy<Check> {
    let compiled = |sources: &[&'static str]| {
        select(sources.to_vec()).prop_map(|it| Arc::new(Expression::compile(it).expect("it is one")))
    };
    let of_result = || compiled(&["result.turn_count > 1", "result.status == 'completed'", "result.final_state"]);
    let of_turn = || compiled(&["turn.verify_result", "turn.node_id == 'ask' && has(turn.parsed)"]);
    let result = ["status", "turn_count", "path[0]", "final_state.accumulated.n"];
    let leaf = prop_oneof![
        4 => (scope(), field(), wanted()).prop_map(|(scope, field, wanted)| turn(scope, [(field, wanted)])),
        1 => (scope(), of_turn()).prop_map(|(scope, it)| Check::Turn(TurnCheck { scope, test: TurnTest::Cel(it) })),
        2 => (select(result.to_vec()), wanted()).prop_map(|(field, wanted)| {
            let field = jurat_core::outcome::ResultField::parse(field);
            Check::Result(jurat_core::outcome::ResultCheck { field, wanted })
        }),
        2 => compared_turns(),
        2 => bounded(),
        1 => of_result().prop_map(|it| Cel(it).into()),
    ];
    let joined = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(all_of),
            vec(inner.clone(), 0..4).prop_map(any_of),
            (0_u64..4, vec(inner.clone(), 0..4)).prop_map(|(n, of)| at_least_n(n, of)),
            inner.prop_map(not),
        ]
    });
    joined.boxed()
}

/// An outcome that is always decided.
fn sound() -> impl Strategy<Value = Check> {
    let wanted = scalar().prop_map(|it| match it {
        Val::Bool(_) | Val::Str(_) | Val::Null => Wanted::equal_to(it),
        other => Wanted::equal_to(Val::from(other.to_string())),
    });
    let verified = (scope(), any::<bool>()).prop_map(|(scope, it)| turn(scope, [("verify_result", it.into())]));
    prop_oneof![
        3 => verified,
        2 => (scope(), field(), wanted).prop_map(|(scope, field, wanted)| turn(scope, [(field, wanted)])),
        2 => compared_turns(),
        2 => bounded(),
    ]
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_stored_check_reads_back(check in check()) {
        for stored in [check.to_stored(), check.to_checkpoint()] {
            let text = stored.to_string();
            let (node, _) = json_node(&text, SourceId(0)).expect("stored checks are JSON");
            prop_assert_eq!(Check::from_stored(&node), Ok(check.clone()), "{}", text);
        }
    }

    #[test]
    fn a_trace_gives_the_result_of_the_check(check in check(), evidence in evidence()) {
        let trace = check.trace(&evidence);
        match check.evaluate(&evidence) {
            Ok(value) => prop_assert_eq!(trace.result, Traced::Value(value)),
            Err(error) => prop_assert_eq!(trace.result, Traced::Error(error)),
        }
    }

    #[test]
    fn not_undoes_itself_and_changes_sides(checks in vec(sound(), 0..4), evidence in evidence()) {
        let holds = |check: Check| check.evaluate(&evidence);
        let opposites = || checks.iter().cloned().map(not);
        prop_assert_eq!(holds(not(all_of(checks.clone()))), holds(any_of(opposites())));
        prop_assert_eq!(holds(not(any_of(checks.clone()))), holds(all_of(opposites())));
        for check in &checks {
            prop_assert_eq!(holds(not(not(check.clone()))), holds(check.clone()));
        }
    }

    #[test]
    fn at_least_one_is_any_and_at_least_as_many_is_all(checks in vec(sound(), 0..5), evidence in evidence()) {
        let holds = |check: Check| check.evaluate(&evidence);
        let n = checks.len() as u64;
        prop_assert_eq!(holds(at_least_n(1, checks.clone())), holds(any_of(checks.clone())));
        prop_assert_eq!(holds(at_least_n(n, checks.clone())), holds(all_of(checks.clone())));
        prop_assert_eq!(holds(at_least_n(0, checks.clone())), Ok(Val::Bool(true)));
        prop_assert_eq!(holds(at_least_n(n + 1, checks)), Ok(Val::Bool(false)));
    }

    #[test]
    fn the_order_of_decided_parts_does_not_matter(
        (checks, shuffled) in vec(sound(), 0..5).prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        evidence in evidence(),
        n in 0_u64..5,
    ) {
        let holds = |check: Check| check.evaluate(&evidence);
        prop_assert_eq!(holds(all_of(checks.clone())), holds(all_of(shuffled.clone())));
        prop_assert_eq!(holds(any_of(checks.clone())), holds(any_of(shuffled.clone())));
        prop_assert_eq!(holds(at_least_n(n, checks)), holds(at_least_n(n, shuffled)));
    }

    /// Whatever stands behind a part that decides is never asked.
    #[test]
    fn what_comes_behind_a_decision_changes_nothing(before in vec(sound(), 0..3), behind in vec(check(), 0..3), evidence in evidence()) {
        let (yes, no) = (all_of([]), any_of([]));
        let joined = |decides: Check| before.iter().cloned().chain([decides]).chain(behind.clone()).collect::<Vec<_>>();
        prop_assert_eq!(all_of(joined(no)).evaluate(&evidence), Ok(Val::Bool(false)));
        prop_assert_eq!(any_of(joined(yes)).evaluate(&evidence), Ok(Val::Bool(true)));
    }

    #[test]
    fn every_turn_is_not_any_turn_otherwise(nodes in nodes(), verified in any::<bool>(), evidence in evidence()) {
        let meant = |scope: fn(Nodes) -> Scope| turn(scope(nodes.clone()), [("verify_result", verified.into())]);
        let of_turns = evidence.get("history").and_then(Val::as_list).unwrap_or_default();
        let meant_turns: Vec<bool> = of_turns.iter().filter(|it| nodes.has(it))
            .map(|it| it.get("verify_result") == Some(&Val::Bool(verified))).collect();
        let (all, any) = (!meant_turns.is_empty() && !meant_turns.contains(&false), meant_turns.contains(&true));
        prop_assert_eq!(meant(Scope::All).evaluate(&evidence), Ok(Val::Bool(all)));
        prop_assert_eq!(meant(Scope::Any).evaluate(&evidence), Ok(Val::Bool(any)));
    }

    #[test]
    fn every_text_is_a_path_into_a_turn(text in text(), turn in value()) {
        let field = TurnField::parse(&text);
        prop_assert_eq!(field.as_str(), text.as_str());
        drop(field.find(&turn).into_owned());
    }
}
