"""What the page "Building Scenarios" of Karenina promises, a test for each sentence."""

from __future__ import annotations

import copy
import dataclasses
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import PlanWarning
from jurat.scenario import (
    END,
    ContainsAny,
    ModelOverride,
    NumericRange,
    Question,
    Scenario,
    ScenarioDefinition,
    ScenarioExecutionResult,
    StateCheck,
    ToolFilter,
    status_is,
)

pydantic = pytest.importorskip("pydantic")

Edge = tuple[str, str, Any]


def built(*edges: Edge, nodes: str = "ab", **of_node: dict[str, Any]) -> ScenarioDefinition:
    scenario = Scenario("probe", turn_limit=6)
    for node in nodes:
        scenario.add_node(node, question=Question(f"{node}?", "yes"), **of_node.get(node, {}))
    for source, target, when in edges:
        scenario.add_edge(source, target, when=when)
    scenario.set_entry(nodes[0])
    return scenario.validate()


def run(*edges: Edge, says: Any = "yes", **of_node: Any) -> ScenarioExecutionResult:
    answer = says if callable(says) else lambda question: says
    return built(*edges, **of_node).run(subject=answer)


READ = {"template": {"fields": {"city": {"type": "string"}, "n": {"type": "number"}, "ok": {"type": "boolean", "ground_truth": True}}}}


def reading(*edges: Edge, **of_node: Any) -> ScenarioExecutionResult:
    """A scenario whose nodes read a city, a number and a flag from each answer."""
    scenario = Scenario("probe", turn_limit=6)
    for node in "ab":
        scenario.add_node(node, question=Question(f"{node}?", "yes", **READ), **of_node.get(node, {}))  # type: ignore[arg-type]
    for source, target, when in edges:
        scenario.add_edge(source, target, when=when)
    scenario.set_entry("a")
    return scenario.validate().run(subject=lambda _: "yes", parser=lambda _: {"city": "Paris", "n": 7, "ok": True})


def test_nodes_and_edges_come_in_any_order_and_errors_surface_only_when_validate_is_called() -> None:
    scenario = Scenario("s")
    scenario.add_edge("b", END)
    scenario.add_edge("a", "b")
    scenario.add_edge("a", "nowhere", when={"verify_result": False})
    scenario.add_node("b", question=Question("b?", "yes"))
    scenario.add_node("a", question=Question("a?", "yes"))
    scenario.set_entry("a")
    with pytest.raises(ValueError, match="nowhere"):
        scenario.validate()


def test_validate_returns_an_immutable_scenario_definition() -> None:
    definition = built(("a", "b", {"verify_result": True}), ("a", END, None), a={"topic": {"words": ["x"]}})
    question = definition.nodes["a"].question
    for change in (
        lambda: definition.nodes.update(zz=definition.nodes["a"]),
        lambda: definition.nodes.__setitem__("zz", definition.nodes["a"]),
        lambda: question.__setitem__("question", "another?"),
        lambda: question["keywords"].append("x"),
        lambda: definition.nodes["a"].metadata["topic"]["words"].append("y"),
        lambda: definition.metadata.update(a=1),
        lambda: definition.edges[0].condition.clear(),
    ):
        with pytest.raises(TypeError, match="a validated scenario does not change"):
            change()
    with pytest.raises(dataclasses.FrozenInstanceError):
        definition.name = "another"  # type: ignore[misc]
    assert definition.node_ids == ["a", "b"]
    assert json.loads(json.dumps(question))["question"] == "a?"
    assert type(copy.deepcopy(question)) is dict


def test_the_outcomes_of_a_definition_are_immutable_too() -> None:
    from jurat.scenario import all_of, turn_count_eq

    scenario = Scenario("s")
    scenario.add_node("a", question=Question("a?", "yes"))
    scenario.set_entry("a")
    scenario.add_outcome("once", all_of(turn_count_eq(1)))
    (criterion,) = scenario.validate().outcome_criteria
    with pytest.raises(dataclasses.FrozenInstanceError):
        criterion.name = "twice"  # type: ignore[misc]
    with pytest.raises(TypeError):
        criterion.check.conditions.append(turn_count_eq(2))  # type: ignore[union-attr]


def test_later_changes_of_the_builder_do_not_alter_a_validated_definition() -> None:
    scenario = Scenario("s")
    scenario.add_node("a", question=Question("a?", "yes"))
    scenario.set_entry("a")
    definition = scenario.validate()
    scenario.add_node("b", question=Question("b?", "yes"))
    scenario.add_edge("a", "b")
    assert definition.node_ids == ["a"] and definition.run(subject=lambda _: "yes").path == ["a"]


def test_the_first_matching_conditional_edge_is_followed_wherever_the_fallback_stands() -> None:
    with pytest.warns(PlanWarning, match="the edge `a -> c` can never be taken"):
        found = run(("a", END, None), ("a", "b", {"verify_result": True}), ("a", "c", {"verify_result": True}), nodes="abc")
    assert found.path == ["a", "b"]


def test_an_unconditional_edge_serves_as_the_fallback() -> None:
    assert run(("a", "b", {"verify_result": True}), ("a", END, None), says="no").path == ["a"]


def test_execution_follows_edges_until_end_or_a_node_with_no_outbound_edges() -> None:
    assert run(("a", "b", None)).path == ["a", "b"]
    assert run(("a", "b", None), ("b", END, None)).status == "completed"


def test_the_runtime_state_accumulates_turn_results_across_the_conversation() -> None:
    found = run(("a", "b", None), ("b", "c", {"node_results.a.verify_result": True}), ("b", END, None), nodes="abc")
    assert found.path == ["a", "b", "c"]


@pytest.mark.parametrize(
    "when",
    [
        {"verify_result": True},
        {"turn": 1},
        {"parsed.city": "paris"},
        {"parsed.n": 7},
        {"parsed.ok": True},
        {"node_visits.a": 1},
        {"node_results.a.verify_result": True},
        {"node_results.a.parsed.city": "Paris"},
        {"node_results.a.parsed.n": 7},
    ],
    ids=lambda it: next(iter(it)),
)
def test_a_state_field_path_resolves_to_what_the_table_says(when: Any) -> None:
    assert reading(("a", "b", when), ("a", END, None)).path == ["a", "b"]


def test_accumulated_values_route_and_are_set_by_state_update() -> None:
    count = {"a": {"state_update": lambda accumulated, parsed: {"seen": parsed["city"]}}}
    assert reading(("a", "b", {"accumulated.seen": "Paris"}), ("a", END, None), **count).path == ["a", "b"]


def test_state_update_accepts_a_source_string() -> None:
    count = {"a": {"state_update": "lambda accumulated, parsed: {'n': accumulated.get('n', 0) + 1}"}}
    assert run(("a", "a", {"accumulated.n": 1}), ("a", "b", None), **count).path == ["a", "a", "b"]


def test_rubric_traits_of_past_nodes_route() -> None:
    scenario = Scenario("rated")
    rubric = [{"name": "polite", "kind": "regex", "pattern": "please"}]
    scenario.add_node("a", question=Question("a?", "yes", rubric=rubric))
    scenario.add_node("b", question=Question("b?", "yes"))
    scenario.add_edge("a", "b", when={"node_results.a.rubric.polite": True})
    scenario.add_edge("a", END)
    scenario.set_entry("a")
    definition = scenario.validate()
    assert definition.run(subject=lambda _: "yes, please").path == ["a", "b"]
    assert definition.run(subject=lambda _: "yes").path == ["a"]


def test_a_list_of_dicts_is_and_of_multiple_state_checks() -> None:
    both = [{"verify_result": True}, {"turn": 1}]
    assert run(("a", "b", both), ("a", END, None)).path == ["a", "b"]
    with pytest.warns(PlanWarning, match="asks of `turn` what cannot be"):
        assert run(("a", "b", [*both, {"turn": 2}]), ("a", END, None)).path == ["a"]


def test_a_state_check_gives_explicit_control_over_the_comparison_primitive() -> None:
    near = StateCheck(field="parsed.n", verify_with=NumericRange(min=5, max=9))
    city = StateCheck(field="parsed.city", verify_with=ContainsAny(["ari"]))
    assert reading(("a", "b", near), ("a", END, None)).path == ["a", "b"]
    assert reading(("a", "b", [city, near]), ("a", END, None)).path == ["a", "b"]


def test_a_callable_is_evaluated_with_the_accumulated_state_and_the_parsed_result_of_the_turn() -> None:
    seen: list[Any] = []

    def when(accumulated: Any, parsed: Any) -> bool:
        seen.append((accumulated, parsed))
        return True

    assert reading(("a", "b", when), ("a", END, None)).path == ["a", "b"]
    assert seen == [({}, {"city": "Paris", "n": 7, "ok": True})]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([("a", "b", None), ("nowhere", "b", None)], "nowhere"),
        ([("a", "b", None), ("b", "nowhere", None)], "nowhere"),
        ([("a", END, None)], "b"),
        ([("a", "b", {"verify_result": True})], "a"),
        ([("a", "b", None), ("b", "b", {"verify_result": True})], "b"),
    ],
    ids=["unknown source", "unknown target", "unreachable node", "conditional without a fallback", "loop without a fallback"],
)
def test_validate_raises_value_error_with_a_description_of_the_problem(edges: list[Edge], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        built(*edges)


def test_multiple_unconditional_edges_are_a_user_warning_and_only_the_first_is_used() -> None:
    with pytest.warns(UserWarning, match="a"):
        definition = built(("a", "b", None), ("a", END, None))
    assert definition.run(subject=lambda _: "yes").path == ["a", "b"]


def test_implicit_terminals_are_valid() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built(("a", "b", None))


def test_set_entry_rejects_unknown_node_ids_and_validate_checks_again() -> None:
    scenario = Scenario("s")
    with pytest.raises(ValueError, match="zz"):
        scenario.set_entry("zz")
    scenario.add_node("a", question=Question("a?", "yes"))
    with pytest.raises(ValueError, match="starts with"):
        scenario.validate()


def test_each_node_id_must_be_unique_within_the_scenario() -> None:
    scenario = Scenario("s")
    scenario.add_node("a", question=Question("a?", "yes"))
    with pytest.raises(ValueError, match="a"):
        scenario.add_node("a", question=Question("a?", "yes"))


def test_add_node_deep_copies_the_question() -> None:
    scenario, question = Scenario("s"), Question("a?", "yes", keywords=["one"])
    scenario.add_node("a", question=question)
    scenario.set_entry("a")
    question.question = "changed?"
    question.keywords.append("two")
    stored = scenario.validate().nodes["a"].question
    assert (stored["question"], stored["keywords"]) == ("a?", ["one"])


def test_model_override_is_a_per_node_override_of_the_answering_model() -> None:
    import jurat

    scenario = Scenario("s")
    scenario.add_node("a", question=Question("a?", "yes"))
    scenario.add_node("b", question=Question("b?", "yes"), model_override=ModelOverride(answering_model="other"))
    scenario.add_edge("a", "b")
    scenario.set_entry("a")
    scenario.add_outcome("completed", status_is("completed"))
    suite = jurat.Suite({}, scenarios=[scenario.validate()], models={"subject": lambda _: "yes", "other": lambda _: "from another"})
    (case,) = suite.run()
    assert case.execution is not None
    assert [it.raw_response for it in case.execution.history] == ["yes", "from another"]


def test_metadata_are_arbitrary_key_value_pairs_stored_on_the_node() -> None:
    definition = built(("a", "b", None), a={"difficulty": "hard", "source": {"page": 3}})
    assert definition.nodes["a"].metadata == {"difficulty": "hard", "source": {"page": 3}}


def test_end_is_the_string_end_and_is_exported_from_both_modules() -> None:
    from jurat.schemas.scenario.types import END as OTHER

    assert END == OTHER == "__end__"


def test_later_turns_see_the_conversation_so_far() -> None:
    seen: list[list[str]] = []

    def says(question: Any) -> str:
        seen.append([text for _, text in question.messages])
        return f"answer {len(seen)}"

    run(("a", "b", None), says=says)
    assert seen == [["a?"], ["a?", "answer 1", "b?"]]


def test_a_dict_with_several_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="one"):
        built(("a", "b", {"verify_result": True, "turn": 1}), ("a", END, None))


def test_a_scenario_may_loop_while_its_condition_holds_and_is_bounded_by_its_turn_limit() -> None:
    looped = run(("a", "a", {"verify_result": True}), ("a", END, None), nodes="a")
    assert (looped.turn_count, looped.status) == (6, "limit_reached")


def test_an_exception_in_a_condition_is_an_error_with_its_reason() -> None:
    def fragile(accumulated: Any, parsed: Any) -> bool:
        raise LookupError("no such key")

    found = run(("a", "b", fragile), ("a", END, None))
    assert found.status == "error" and "no such key" in json.dumps(found.terminal_failure)


def test_a_definition_shows_its_edges_with_their_conditions() -> None:
    definition = built(("a", "b", {"verify_result": True}), ("a", END, None))
    assert [(it.source, it.target, it.condition is None) for it in definition.edges] == [("a", "b", False), ("a", END, True)]


class Capital(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    city: str = pydantic.Field(description="The city that the answer calls the capital")
    people: int


@dataclass
class Plain:
    city: str


def answered(question: Question, reply: dict[str, Any]) -> ScenarioExecutionResult:
    scenario = Scenario("read")
    scenario.add_node("a", question=question)
    scenario.set_entry("a")
    return scenario.validate().run(subject=lambda _: "Paris, with two million people.", parser=lambda _: reply)


@pytest.mark.parametrize("template", [Capital(city="Paris", people=2_000_000), Plain("Paris")], ids=["pydantic", "dataclass"])
def test_an_answer_template_may_be_an_instance_of_a_model_which_says_what_is_right(template: Any) -> None:
    question = Question("What is the capital of France?", "Paris", template=template)
    right = {"city": "Paris", "people": 2_000_000} if isinstance(template, Capital) else {"city": "Paris"}
    found = answered(question, right)
    assert (found.history[0].verify_result, found.history[0].parsed_fields) == (True, right)
    assert answered(question, {**right, "city": "Lyon"}).history[0].verify_result is False


def test_an_answer_template_may_be_a_class_which_says_what_is_read() -> None:
    for question in (
        Question("What is the capital of France?", "Paris", template=Capital),
        Question("What is the capital of France?", "Paris", answer_template=Capital),
    ):
        found = answered(question, {"city": "Paris", "people": 2_000_000})
        assert found.history[0].parsed_answer == {"city": "Paris", "people": 2_000_000}


def test_with_repeat_the_result_leads_to_the_run_with_all_conversations() -> None:
    result = built(("a", "b", None)).run(subject=lambda _: "yes", repeat=3)
    assert result.run is not None and len(result.run) == 3
    assert [it.replicate for it in result.run] == [1, 2, 3]


@pytest.mark.parametrize("missing", [{"question": "", "raw_answer": "yes"}, {"question": "a?", "raw_answer": ""}, {"question": None, "raw_answer": "yes"}])
def test_a_question_has_a_text_and_an_answer(missing: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="of a question must be text of at least one letter"):
        Question(**missing)


WAREHOUSE = Path(__file__).parents[3] / "examples" / "tools" / "warehouse.py"


def test_tool_filter_removes_specific_tools_from_the_answering_model_at_this_node(tmp_path: Path) -> None:
    import jurat

    scenario = Scenario("shop", tools=["warehouse"])
    order = {"name": "order", "arguments": {"article": "lamp"}}
    for node, options in (("a", {"tool_filter": ToolFilter(remove=[{"server": "warehouse", "tool": "order"}])}), ("b", {})):
        scenario.add_node(node, question=Question(f"Order a lamp, {node}?", "done"), **options)  # type: ignore[arg-type]
    scenario.add_edge("a", "b")
    scenario.set_entry("a")
    scenario.add_outcome("completed", status_is("completed"))
    replies = [{"tool_calls": [order]}, {"reply": "done"}] * 2
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(it) + "\n" for it in replies))
    suite = jurat.Suite(
        {"tools": {"warehouse": {"command": [sys.executable, str(WAREHOUSE)]}}, "models": {"subject": "script/replies.jsonl"}},
        scenarios=[scenario.validate()],
        directory=tmp_path,
    )
    (case,) = suite.run(directory=tmp_path)
    assert case.execution is not None
    first, second = (it.tool_calls[0] for it in case.execution.history)
    assert "there is no tool `order` here" in json.dumps(first) and second["output"] == "10"
