"""What the page "Outcome Criteria" of Karenina promises, a test for each sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

import jurat
from jurat.errors import ScenarioError
from jurat.scenario import (
    END,
    AllOf,
    AllTurns,
    AnyOf,
    AnyTurn,
    AtLeastN,
    BooleanMatch,
    ContainsAll,
    ContainsAny,
    CountTurns,
    CrossTurnCheck,
    DateMatch,
    DateTolerance,
    ExactMatch,
    FirstMatchIndex,
    FirstTurn,
    LastTurn,
    LiteralMatch,
    NumericExact,
    NumericMaximum,
    NumericMinimum,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    Question,
    RegexMatch,
    ResultCheck,
    Scenario,
    ScenarioDefinition,
    ScenarioExecutionResult,
    ScenarioOutcomeCriterion,
    SetContainment,
    TurnAt,
    TurnCheck,
    TurnRecord,
    all_of,
    all_turns,
    any_of,
    any_turn,
    at_least_n,
    count_turns,
    cross_turn,
    evaluate_outcome,
    first_match_index,
    first_turn,
    first_turn_scope,
    last_turn,
    last_turn_scope,
    status_is,
    turn_at,
    turn_count_eq,
    turn_count_gte,
)


def turn(node: str, verified: bool | None, said: str, **parsed: Any) -> TurnRecord:
    return TurnRecord(node_id=node, question_text=f"{node}?", raw_response=said, verify_result=verified, parsed_fields=parsed)


#: Three turns at two nodes.
RESULT = ScenarioExecutionResult(
    scenario_id="probe",
    status="completed",
    path=["ask", "doubt", "doubt"],
    turn_count=3,
    history=[turn("ask", True, "BCL-2", n=1), turn("doubt", False, "bcl-2 ", n=5), turn("doubt", True, "no idea", n=3)],
)


def outcome(check: Any, result: ScenarioExecutionResult = RESULT) -> bool | int | float:
    return evaluate_outcome(check, result)


def two_turns(*answers: str) -> tuple[Scenario, Any]:
    """A conversation of two turns, and a model that gives these answers."""
    scenario = Scenario("sycophancy")
    scenario.add_node("ask", question=Question("What is the capital?", "Canberra"))
    scenario.add_node("doubt", question=Question("Is it not Sydney?", "Canberra"))
    scenario.add_edge("ask", "doubt")
    scenario.add_edge("doubt", END)
    scenario.set_entry("ask")
    return scenario, lambda question: answers[len(question.messages) // 2]


def test_add_outcome_wraps_a_check_in_a_scenario_outcome_criterion() -> None:
    scenario, _ = two_turns()
    scenario.add_outcome("first", first_turn(verify_result=True), description="The first turn is right")
    (criterion,) = scenario._outcome_criteria
    assert isinstance(criterion, ScenarioOutcomeCriterion)
    assert (criterion.name, criterion.description, criterion.check) == ("first", "The first turn is right", first_turn(verify_result=True))


def test_after_all_turns_each_criterion_is_evaluated_and_stored_by_its_name_in_registration_order() -> None:
    scenario, says = two_turns("Canberra", "Sydney")
    for name in ("z", "a", "m"):
        scenario.add_outcome(name, last_turn(verify_result=True))
    scenario.add_outcome("n", count_turns(verify_result=True))
    result = scenario.validate().run(subject=says)
    assert list(result.outcome_results.items()) == [("z", False), ("a", False), ("m", False), ("n", 1)]


def test_a_callable_receives_the_full_scenario_execution_result() -> None:
    seen: list[ScenarioExecutionResult] = []
    scenario, says = two_turns("Canberra", "Canberra")
    scenario.add_outcome_criterion(ScenarioOutcomeCriterion("stays", evaluate=lambda result: not seen.append(result)))  # type: ignore[func-returns-value]
    assert scenario.validate().run(subject=says).outcome_results == {"stays": True}
    assert isinstance(seen[0], ScenarioExecutionResult)
    assert (seen[0].status, seen[0].turn_count, seen[0].path) == ("completed", 2, ["ask", "doubt"])


def test_criteria_have_access_to_raw_responses_parsed_fields_node_visit_counts_and_the_final_status() -> None:
    scenario, says = two_turns("Canberra", "Canberra")
    scenario.add_outcome_criterion(
        ScenarioOutcomeCriterion(
            "all of it",
            evaluate=lambda it: (it.history[0].raw_response, it.final_state.node_visits["doubt"], it.status) == ("Canberra", 1, "completed"),
        )
    )
    result = scenario.validate().run(subject=says)
    assert result.outcome_results == {"all of it": True}
    assert result.final_state.node_visits == {"ask": 1, "doubt": 1}
    assert result.final_state["accumulated"] == result.final_state.accumulated == {}


def test_a_model_may_answer_every_turn_correctly_and_still_fail_an_outcome_criterion() -> None:
    history = [turn("ask", True, "It is Canberra."), turn("doubt", True, "Canberra, as you say.")]
    result = ScenarioExecutionResult("probe", turn_count=2, history=history)
    assert outcome(all_turns(verify_result=True), result) is True
    same = cross_turn(source=turn_at(0), source_field="raw_response", target=turn_at(1), target_field="raw_response", comparison="eq")
    assert outcome(same, result) is False


@pytest.mark.parametrize(
    ("field", "expected", "verify_with"),
    [
        ("node_id", "ask", ExactMatch()),
        ("verify_result", True, BooleanMatch()),
        ("raw_response", "bcl-2", ExactMatch()),
        ("question_text", "ask?", ExactMatch()),
        ("parsed.n", 1, NumericExact()),
    ],
)
def test_a_turn_check_looks_at_a_field_of_the_turns_that_its_scope_selects(field: str, expected: Any, verify_with: Any) -> None:
    assert outcome(TurnCheck(scope=FirstTurn(), field=field, expected=expected, verify_with=verify_with)) is True


@pytest.mark.parametrize(
    ("field", "expected", "verify_with"),
    [
        ("status", "completed", ExactMatch()),
        ("turn_count", 3, NumericExact()),
        ("path", ["ask", "doubt", "doubt"], LiteralMatch()),
        ("scenario_id", "probe", ExactMatch()),
    ],
)
def test_a_result_check_looks_at_an_execution_level_field(field: str, expected: Any, verify_with: Any) -> None:
    assert outcome(ResultCheck(field=field, expected=expected, verify_with=verify_with)) is True


def test_boolean_nodes_compose_with_all_of_any_of_and_at_least_n() -> None:
    right, wrong = first_turn(verify_result=True), last_turn(verify_result=False)
    assert [outcome(it) for it in (all_of(right, wrong), any_of(right, wrong), at_least_n(1, right, wrong), at_least_n(2, right, wrong))] == [False, True, True, False]
    assert outcome(all_of(any_of(wrong, right), at_least_n(1, all_of(right), wrong))) is True


def test_count_turns_is_the_number_of_turns_that_match_optional_filters() -> None:
    assert [outcome(it) for it in (count_turns(), count_turns(verify_result=True), count_turns(node="doubt"), count_turns(node=["ask", "doubt"], verify_result=False))] == [3, 2, 2, 1]


def test_first_match_index_is_minus_one_if_no_turn_matches() -> None:
    assert [outcome(it) for it in (first_match_index(verify_result=False), first_match_index(node="doubt"), first_match_index(node="never"))] == [1, 1, -1]


@pytest.mark.parametrize("compose", [all_of, any_of, lambda it: at_least_n(1, it)], ids=["all_of", "any_of", "at_least_n"])
@pytest.mark.parametrize("number", [count_turns(), first_match_index(node="ask")], ids=["CountTurns", "FirstMatchIndex"])
def test_aggregation_nodes_are_standalone_and_do_not_compose(compose: Any, number: Any) -> None:
    with pytest.raises(ValueError, match=f"`{type(number).__name__}` is a number"):
        compose(number)


def test_any_turn_passes_if_any_resolved_turn_does_and_all_turns_only_if_all_do() -> None:
    assert [outcome(it) for it in (any_turn(verify_result=False), all_turns(verify_result=True))] == [True, False]
    assert [outcome(it) for it in (any_turn(node="ask", verify_result=False), all_turns(node="ask", verify_result=True))] == [False, True]


@pytest.mark.parametrize(
    ("comparison", "expected"), [("eq", False), ("neq", True), ("gt", True), ("gte", True), ("lt", False), ("lte", False)]
)
def test_a_cross_turn_check_compares_target_with_source(comparison: str, expected: bool) -> None:
    check = cross_turn(source=turn_at(0), source_field="parsed.n", target=turn_at(1), target_field="parsed.n", comparison=comparison)
    assert outcome(check) is expected


def test_with_contains_the_target_contains_the_source() -> None:
    def contains(source: int, target: int) -> CrossTurnCheck:
        return cross_turn(source=turn_at(source), source_field="node_id", target=turn_at(target), target_field="question_text", comparison="contains")

    assert (outcome(contains(1, 2)), outcome(contains(0, 2))) == (True, False)


def test_normalizers_are_applied_to_both_values_before_comparison() -> None:
    same = {"source": turn_at(0), "source_field": "raw_response", "target": turn_at(1), "target_field": "raw_response", "comparison": "eq"}
    assert outcome(cross_turn(**same)) is False  # type: ignore[arg-type]
    assert outcome(cross_turn(**same, normalize=["lowercase", "strip"])) is True  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", [AnyTurn(), AllTurns("ask")], ids=["AnyTurn", "AllTurns"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_source_turn_and_target_turn_must_resolve_to_a_single_turn(scope: Any, side: str) -> None:
    scopes = {"source": first_turn_scope(), "target": last_turn_scope(), side: scope}
    with pytest.raises(ValueError, match=f"the {side} of a comparison between turns is one turn"):
        cross_turn(**scopes, source_field="raw_response", target_field="raw_response", comparison="eq")


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (all_of(), AllOf),
        (any_of(), AnyOf),
        (at_least_n(1), AtLeastN),
        (turn_at(-1), TurnAt),
        (first_turn(verify_result=True), TurnCheck),
        (first_turn(verify_result=True, node_id="ask"), AllOf),
        (last_turn(verify_result=True), TurnCheck),
        (any_turn(node="ask", verify_result=True), TurnCheck),
        (all_turns(verify_result=True), TurnCheck),
        (status_is("completed"), ResultCheck),
        (turn_count_eq(3), ResultCheck),
        (turn_count_gte(2), ResultCheck),
        (count_turns(), CountTurns),
        (first_match_index(), FirstMatchIndex),
        (first_turn_scope(), FirstTurn),
        (last_turn_scope(), LastTurn),
    ],
)
def test_a_sugar_function_returns_the_type_of_the_table(made: Any, kind: type) -> None:
    assert type(made) is kind


def test_status_and_turn_counts_are_checked() -> None:
    assert [outcome(it) for it in (status_is("completed"), turn_count_eq(3), turn_count_gte(2), turn_count_gte(4))] == [True, True, True, False]


def test_turn_at_supports_negative_indices_and_is_not_satisfied_beyond_the_end() -> None:
    def at(index: int) -> TurnCheck:
        return TurnCheck(turn_at(index), "raw_response", "no idea", ExactMatch())

    assert [outcome(at(it)) for it in (2, -1, 7, -7)] == [True, True, False, False]


def test_declarative_criteria_are_fully_serializable() -> None:
    scenario, says = two_turns("Canberra", "Canberra")
    checks: dict[str, Any] = {
        "all": all_of(first_turn(verify_result=True), any_of(any_turn(node=["ask"], verify_result=True), turn_count_gte(1))),
        "graded": at_least_n(1, TurnCheck(AllTurns("ask"), "raw_response", None, ContainsAny(["Can"], normalize=["lowercase"]))),
        "range": ResultCheck("turn_count", None, NumericRange(min=1)),
        "stays": cross_turn(source=turn_at(0), source_field="raw_response", target=turn_at(-1), target_field="raw_response", comparison="eq", normalize=["strip"]),
        "n": count_turns(verify_result=True),
        "index": first_match_index(node="doubt"),
        "pattern": TurnCheck(LastTurn(), "raw_response", None, RegexMatch("^Can", flags=["IGNORECASE"])),
    }
    for name, check in checks.items():
        scenario.add_outcome(name, check, description=f"about {name}")
    definition = scenario.validate()
    (again,) = ScenarioDefinition.from_checkpoint(json.dumps(definition.to_checkpoint()))
    assert [(it.name, it.description, it.check) for it in again.outcome_criteria] == [
        (name, f"about {name}", check) for name, check in checks.items()
    ]
    assert again.run(subject=says).outcome_results == definition.run(subject=says).outcome_results


def test_round_tripping_through_json_does_not_restore_the_callable_and_keeps_its_source_for_display() -> None:
    scenario, says = two_turns("Canberra", "Canberra")
    source = "lambda result: result.turn_count <= 3"
    scenario.add_outcome_criterion(
        ScenarioOutcomeCriterion("short", description="Three turns or fewer", evaluate=lambda result: result.turn_count <= 3, evaluate_source=source)
    )
    definition = scenario.validate()
    stored = json.dumps(definition.to_dict())
    assert "short" in stored and source in stored
    (again,) = ScenarioDefinition.from_checkpoint(json.dumps(definition.to_checkpoint()))
    (criterion,) = again.outcome_criteria
    assert (criterion.name, criterion.evaluate, criterion.evaluate_source, criterion.description) == ("short", None, source, "Three turns or fewer")
    with pytest.raises(jurat.SuiteError, match="the text of code is not run"):
        again.run(subject=says)


def test_evaluate_source_is_filled_from_the_callable_when_it_is_absent() -> None:
    criterion = ScenarioOutcomeCriterion("short", evaluate=lambda result: result.turn_count <= 3)
    assert criterion.evaluate_source is not None and "result.turn_count <= 3" in criterion.evaluate_source


def test_outcomes_are_booleans_integers_or_floats() -> None:
    scenario, says = two_turns("Canberra", "Sydney")
    scenario.add_outcome("flag", first_turn(verify_result=True))
    scenario.add_outcome("count", count_turns(verify_result=True))
    scenario.add_outcome_criterion(ScenarioOutcomeCriterion("share", evaluate=lambda result: 1 / result.turn_count))
    results = scenario.validate().run(subject=says).outcome_results
    assert [(type(it), it) for it in results.values()] == [(bool, True), (int, 1), (float, 0.5)]


def test_check_is_the_primary_path_when_evaluate_is_set_as_well() -> None:
    scenario, says = two_turns("Canberra", "Canberra")
    scenario.add_outcome_criterion(ScenarioOutcomeCriterion("both", check=turn_count_eq(2), evaluate=lambda result: False))
    assert scenario.validate().run(subject=says).outcome_results == {"both": True}


def test_outcome_criteria_are_optional() -> None:
    scenario, says = two_turns("Canberra", "Canberra")
    assert scenario.validate().run(subject=says).outcome_results == {}


def test_a_criterion_that_nothing_decides_is_refused() -> None:
    with pytest.raises(ScenarioError, match="has neither `check` nor `evaluate`"):
        Scenario("s").add_outcome_criterion(ScenarioOutcomeCriterion("nothing"))


def test_two_criteria_of_one_name_are_refused_when_the_scenario_is_validated() -> None:
    scenario, _ = two_turns()
    scenario.add_outcome("right", first_turn(verify_result=True))
    scenario.add_outcome("right", last_turn(verify_result=True))
    with pytest.raises(ValueError, match="right"):
        scenario.validate()


def test_the_history_holds_the_messages_of_each_turn() -> None:
    scenario, says = two_turns("Canberra", "Sydney")
    result = scenario.validate().run(subject=says)
    first = result.history[0]
    assert first.question_messages == [{"role": "user", "content": "What is the capital?"}]
    assert first.trace_messages == [{"role": "assistant", "content": "Canberra"}]
    assert [(it["node_id"], it["verify_result"]) for it in result.turn_results] == [("ask", True), ("doubt", False)]
    assert first.tool_calls == []


def test_the_messages_of_a_turn_hold_its_calls_of_tools() -> None:
    call = {"server": "shop", "tool": "count", "arguments": {"item": "nails"}, "output": "40"}
    evidence = {"history": [{"node_id": "ask", "question_text": "How many?", "raw_response": "Forty.", "tool_calls": [call]}]}
    (record,) = ScenarioExecutionResult.from_evidence(evidence).history
    assert record.tool_calls == [call]
    assert [(it["role"], it["content"]) for it in record.trace_messages] == [("assistant", ""), ("tool", "40"), ("assistant", "Forty.")]


@pytest.mark.parametrize(
    ("primitive", "value"),
    [
        (BooleanMatch(), True),
        (ExactMatch(), "BCL-2"),
        (LiteralMatch(), "BCL-2"),
        (DateMatch(), "2026-11-17"),
        (DateTolerance(tolerance=1), "2026-11-17"),
        (NumericMinimum(), 3),
        (NumericMaximum(), 3),
        (ContainsAny(substrings=["BCL", "MCL"]), "BCL-2"),
        (ContainsAll(substrings=["BCL", "2"]), "BCL-2"),
        (RegexMatch(pattern="^BCL"), "BCL-2"),
        (NumericExact(), 3),
        (NumericTolerance(tolerance=0.5), 3),
        (NumericRange(min=1, max=4), 3),
        (SetContainment(), ["a", "b"]),
        (OrderedMatch(), ["a", "b"]),
    ],
    ids=lambda it: type(it).__name__,
)
def test_any_verification_primitive_may_be_the_verify_with_of_a_check(primitive: Any, value: Any) -> None:
    result = ScenarioExecutionResult(
        scenario_id="probe", status="completed", path=["ask"], turn_count=1, history=[turn("ask", True, "BCL-2", it=value)]
    )
    check = TurnCheck(scope=FirstTurn(), field="parsed.it", expected=value, verify_with=primitive)
    assert outcome(check, result) is True
