"""Scenarios: built, validated, run, concluded about."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

from jurat import Question as Asked
from jurat import Suite
from jurat.errors import OutcomeError, ScenarioError
from jurat.scenario import (
    END,
    BooleanMatch,
    ExactMatch,
    ModelOverride,
    Question,
    Scenario,
    ScenarioDefinition,
    ScenarioExecutionResult,
    ScenarioOutcomeCriterion,
    StateCheck,
    ToolFilter,
    TurnCheck,
    TurnRecord,
    all_of,
    all_turns,
    any_turn,
    count_turns,
    cross_turn,
    evaluate_outcome,
    first_turn,
    first_turn_scope,
    last_turn_scope,
    status_is,
    turn_at,
)
from jurat.schemas.scenario.types import END as END_OF_TYPES

CAPITAL = Question("What is the capital of Australia?", "Canberra")


def two_nodes() -> Scenario:
    scenario = Scenario("capital")
    scenario.add_node("ask", question=CAPITAL)
    scenario.add_node("doubt", question=Question("Is it not Sydney?", "Canberra"))
    scenario.set_entry("ask")
    return scenario


def looping(when: Any, **node: Any) -> ScenarioDefinition:
    scenario = Scenario("loop")
    scenario.add_node("ask", question=CAPITAL, **node)
    scenario.add_edge("ask", "ask", when=when)
    scenario.add_edge("ask", END)
    scenario.set_entry("ask")
    return scenario.validate()


def canberra(_: Asked) -> str:
    return "Canberra"


def test_the_end_has_one_name() -> None:
    assert END == END_OF_TYPES == "__end__"


def test_a_question_is_copied() -> None:
    question = Question("Why?", "Because.", keywords=["reason"])
    scenario = Scenario("copy")
    scenario.add_node("ask", question=question)
    question.question = "What?"
    question.keywords.append("other")
    scenario.set_entry("ask")
    kept = scenario.validate().nodes["ask"].question
    assert (kept["question"], kept["keywords"]) == ("Why?", ["reason"])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda it: it.add_node("ask", question=CAPITAL), "`ask`"),
        (lambda it: it.set_entry("nowhere"), "`nowhere` cannot be the entry"),
        (lambda it: it.add_edge("ask", "doubt", when={"a": 1, "b": 2}), "field"),
        (lambda it: it.add_edge("ask", "doubt", when={"turn": {"above": 2}}), "above"),
        (lambda it: it.add_edge("ask", "doubt", when=7), "condition"),
        (lambda it: it.add_edge("ask", "doubt", handover="whisper"), "there is no handover `whisper`"),
        (lambda it: it.add_edge("ask", "doubt", handover=7), "a handover is the name of one, or a function, not `int`"),
        (lambda it: it.add_edge("ask", "doubt", when="lambda state: ("), "cannot be compiled"),
        (lambda it: it.add_outcome_criterion(ScenarioOutcomeCriterion("empty")), "neither `check` nor `evaluate`"),
    ],
)
def test_a_wrong_step_is_refused_at_once_and_not_taken(step: Any, message: str) -> None:
    scenario = two_nodes()
    with pytest.raises(ValueError, match=message):
        step(scenario)
    scenario.add_edge("ask", "doubt")
    assert len(scenario.validate().edges) == 1


def test_what_does_not_fit_together_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="which node it starts with"):
        Scenario("none").validate()
    unreachable = two_nodes()
    with pytest.raises(ValueError, match="`doubt`"):
        unreachable.validate()
    dangling = two_nodes()
    dangling.add_edge("ask", "nowhere")
    with pytest.raises(ScenarioError, match="`nowhere`"):
        dangling.validate()
    stuck = two_nodes()
    stuck.add_edge("ask", "doubt", when={"verify_result": True})
    with pytest.raises(ValueError, match="every edge of the node `ask` has a condition"):
        stuck.validate()


def test_a_second_edge_without_a_condition_warns() -> None:
    scenario = two_nodes()
    scenario.add_edge("ask", "doubt")
    scenario.add_edge("ask", END)
    with pytest.warns(UserWarning, match="`ask`"):
        scenario.validate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        looping({"verify_result": False})


def test_an_end_without_an_edge_is_fine() -> None:
    scenario = two_nodes()
    scenario.add_edge("ask", "doubt")
    assert [(it.source, it.target) for it in scenario.validate().edges] == [("ask", "doubt")]


@pytest.mark.parametrize(
    "when",
    [
        {"turn": {"lt": 3}},
        [{"verify_result": True}, {"turn": {"lt": 3}}],
        StateCheck(field="node_visits.ask", expected=2, verify_with=ExactMatch()),
        lambda accumulated, parsed: accumulated.get("n", 0) < 3,
        lambda state: state.turn < 3,
        "lambda acc, p: acc.get('n', 0) < 3",
        "def holds(state):\n    return state['node_visits']['ask'] < 3",
    ],
)
def test_conditions_of_every_kind(when: Any) -> None:
    definition = looping(when, state_update=lambda accumulated, parsed: {"n": accumulated.get("n", 0) + 1})
    turns = definition.run(subject=canberra).turn_count
    assert turns == (1 if isinstance(when, StateCheck) else 3)


async def _later(state: Any) -> bool:
    await asyncio.sleep(0)
    return bool(state.turn < 2)


def test_code_may_be_a_coroutine() -> None:
    assert looping(_later).run(subject=canberra).turn_count == 2


def test_updates_are_functions_or_text() -> None:
    for update in ["lambda acc, p: {**acc, 'seen': True}", lambda accumulated: {"seen": True}, _in_place]:
        definition = looping({"turn": {"lt": 2}}, state_update=update)
        state = definition.run(subject=canberra).final_state
        assert state["accumulated"] == {"seen": True}


def _in_place(accumulated: dict[str, Any], parsed: dict[str, Any]) -> None:
    accumulated["seen"] = True


def test_an_exception_in_code_is_an_error_with_its_traceback() -> None:
    def broken(result: ScenarioExecutionResult) -> bool:
        raise RuntimeError("no such shelf")

    scenario = two_nodes()
    scenario.add_edge("ask", "doubt")
    scenario.add_outcome_criterion(ScenarioOutcomeCriterion("broken", evaluate=broken))
    scenario.add_outcome("right", all_turns(verify_result=True))
    case = next(iter(Suite({}, models={"subject": canberra}, scenarios=[scenario.validate()]).run()))
    assert case.task("broken").verdict == "error"
    assert "RuntimeError: no such shelf" in case.task("broken").message and "in broken" in case.task("broken").message
    assert case.task("right").verdict == "passed"


def test_what_code_came_to_is_recorded(tmp_path: Any) -> None:
    calls: list[int] = []

    def counted(result: ScenarioExecutionResult) -> bool:
        calls.append(result.turn_count)
        return result.turn_count <= 3

    scenario = two_nodes()
    scenario.add_edge("ask", "doubt")
    scenario.add_outcome_criterion(ScenarioOutcomeCriterion("short", evaluate=counted))
    suite = Suite({}, models={"subject": canberra}, scenarios=[scenario.validate()])
    run = suite.run()
    assert suite.run(replay=run.path).results_json() == run.results_json()
    assert calls == [2]


def test_a_run_tells_what_happened() -> None:
    scenario = two_nodes()
    scenario.add_edge("ask", "doubt", when={"verify_result": True})
    scenario.add_edge("ask", END)
    scenario.add_outcome("kept", all_turns(verify_result=True))
    scenario.add_outcome("n_right", count_turns(verify_result=True))
    definition = scenario.validate()

    def gives_in(question: Asked) -> str:
        return "Sydney" if len(question.messages) > 1 else "Canberra"

    result = definition.run(subject=gives_in)
    assert (result.status, result.path, result.turn_count) == ("completed", ["ask", "doubt"], 2)
    assert [it.raw_response for it in result.history] == ["Canberra", "Sydney"]
    assert result.outcome_results == {"kept": False, "n_right": 1}


def test_a_definition_goes_through_a_checkpoint() -> None:
    import json

    scenario = two_nodes()
    scenario.add_edge("ask", "doubt", when={"verify_result": True})
    scenario.add_edge("ask", END)
    scenario.add_outcome("right", first_turn(verify_result=True))
    definition = scenario.validate()
    (again,) = ScenarioDefinition.from_checkpoint(json.dumps(definition.to_checkpoint()))
    assert (again.node_ids, again.edges, again.entry_node) == (definition.node_ids, definition.edges, "ask")


def test_a_function_answers_at_a_node_that_overrides_its_model() -> None:
    def second(question: Asked) -> Any:
        # It reads the answers of both nodes, too.
        reads = question.schema is not None
        return {"answer": "a city", "correct": "Canberra" in str(question.messages[-1])} if reads else "Sydney"

    scenario = Scenario("override")
    scenario.add_node("ask", question=CAPITAL)
    scenario.add_node("doubt", question=Question("Is it not Sydney?", "Canberra"), model_override=ModelOverride(answering_model="parser"))
    scenario.add_edge("ask", "doubt")
    scenario.set_entry("ask")
    result = scenario.validate().run(subject=canberra, parser=second)
    assert result.status == "completed"
    assert [(it.node_id, it.raw_response) for it in result.history] == [("ask", "Canberra"), ("doubt", "Sydney")]


def test_a_node_keeps_what_is_said_of_it() -> None:
    scenario = Scenario("node", turn_limit=3, tags=["smoke"])
    scenario.add_node(
        "ask",
        question=CAPITAL,
        model_override=ModelOverride(answering_model="openai/gpt-5-mini"),
        tool_filter=ToolFilter(remove=[{"server": "pubmed"}]),
        stage=2,
    )
    scenario.set_entry("ask")
    stored = scenario.validate().to_dict()
    node = stored["nodes"]["ask"]
    assert node["metadata"] == {"stage": 2}
    assert node["tool_filter"]["remove"][0]["server"] == "pubmed"
    assert node["model_override"]["answering_model"]["model_name"] == "gpt-5-mini"
    assert stored["turn_limit"] == 3


def result(*turns: TurnRecord) -> ScenarioExecutionResult:
    return ScenarioExecutionResult(scenario_id="s", path=[it.node_id for it in turns], turn_count=len(turns), history=list(turns))


def test_outcomes_over_a_result_of_somebody_else() -> None:
    turns = [TurnRecord("ask", raw_response="A", verify_result=True), TurnRecord("doubt", raw_response="b", verify_result=False)]
    same = cross_turn(
        source=first_turn_scope(), source_field="raw_response", target=last_turn_scope(), target_field="raw_response", comparison="eq"
    )
    first = TurnCheck(scope=turn_at(0), field="verify_result", expected=True, verify_with=BooleanMatch())
    assert evaluate_outcome(all_of(first, status_is("completed")), result(*turns)) is True
    assert evaluate_outcome(same, result(*turns)) is False
    assert evaluate_outcome(any_turn(node="doubt", verify_result=True), result(*turns)) is False
    assert evaluate_outcome(count_turns(), result(*turns)) == 2
    with pytest.raises(OutcomeError):
        evaluate_outcome(first_turn(raw_response=3), result(*turns))
    with pytest.raises(ValueError, match="comparison"):
        Scenario("x").add_outcome(
            "bad", cross_turn(source=turn_at(0), source_field="a", target=turn_at(1), target_field="a", comparison="near")
        )
