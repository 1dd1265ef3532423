"""`jurat.spec`: the parts of suites as classes, compared with the schema of suites."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest
import spec_source

import jurat
from jurat import _jurat, spec
from jurat.errors import DataError, UsageError
from jurat.scenario import NumericTolerance, Question, Scenario, all_of, turn_count_eq
from jurat.spec import Agent, AgentCase, Assertion, Cel, Check, Evaluate, Group, Judge, Outcome, TaskThresholds, Thresholds, check, compare, suite, template

SOURCES = Path(__file__).parents[1] / "jurat" / "spec"


@pytest.mark.parametrize("name", list(spec_source.MODULES))
def test_a_generated_module_is_what_the_schema_says(name: str) -> None:
    made = spec_source.MODULES[name]()
    if os.environ.get("JURAT_BLESS"):
        (SOURCES / name).write_text(made)
    assert (SOURCES / name).read_text() == made, "JURAT_BLESS=1 writes it"


def test_every_key_of_a_task_is_a_parameter_of_some_class() -> None:
    keys = set(spec_source.schema()["$defs"]["task"]["properties"])
    classes = (Assertion, Cel, Judge, Evaluate, Check, Group, Outcome)
    known = {name.rstrip("_") for it in classes for name in inspect.signature(it).parameters}
    # Written otherwise in Python: other names of the same, and keys that one parameter stands for.
    otherwise = {"context_path", "item_context_path", "operator", "expected_value", "condition", "required", "with", "evaluate", "judge", "assert"}
    assert keys - otherwise <= known
    assert {"gate", "comparison", "arguments", "evaluator"} <= known


def test_every_key_of_a_judge_is_a_parameter() -> None:
    keys = set(spec_source.schema()["$defs"]["judge"]["properties"])
    otherwise = {"output": "output_type", "with": "inputs"}
    assert {otherwise.get(it, it) for it in keys} <= set(inspect.signature(Judge).parameters)


def test_a_ready_judge_is_used_by_its_name() -> None:
    judge = Judge("grounded", use="faithfulness", inputs={"context": "passages"})
    assert judge.definition() == {"id": "grounded", "judge": {"use": "faithfulness", "with": {"context": "passages"}}}
    rows = [{"id": "r1", "said": "It opened in 1964.", "passages": ["It opened in 1964."]}]
    replies = [{"claims": ["It opened in 1964."]}, {"verdicts": [{"claim": "It opened in 1964.", "quote": "", "verdict": "supported"}]}]
    run = jurat.evaluate(lambda said: said, rows, [judge], models={"judge": lambda question: replies.pop(0)})
    assert run.case("r1").task("grounded").verdict == "passed"


def test_every_section_of_a_suite_has_a_place() -> None:
    sections = {key for key, it in spec_source.schema()["properties"].items() if not it.get("deprecated")}
    parameters = set(inspect.signature(suite).parameters) | {"suite"}
    # Files have these, or another class makes them.
    elsewhere = {"description", "include", "tools", "templates", "rubrics", "evaluators", "deterministic_checks", "evaluation", "security_policy", "campaign", "python", "prices"}
    assert sections - elsewhere <= parameters, sections - elsewhere - parameters


@pytest.mark.parametrize("name", [name for _, name, _ in _jurat.operators()])
def test_every_comparison_is_one_that_suites_know(name: str) -> None:
    function = getattr(compare, name)
    operand: dict[str, Any] = {"in_range": [0, 1], "not_in_range": [0, 1], "approximately_equals": [1, 0.5], "matches": "a", "matches_regex": "a"}
    takes = "expected" in inspect.signature(function).parameters
    comparison = function(operand.get(name, 1)) if takes and name != "exists" else function()
    assert comparison.operator == name


def test_gates_and_dependencies() -> None:
    tasks = [
        Assertion("answered", "answer", compare.is_not_empty(), gate="condition"),
        Assertion("brief", "answer", compare.has_length_less_than(5), depends_on=["answered"]),
    ]
    run = suite(tasks).run([{"id": "a", "answer": ""}, {"id": "b", "answer": "yes"}])
    assert (run.case("a").task("brief").verdict, run.case("b").task("brief").verdict) == ("skipped", "passed")


class Tone(pydantic.BaseModel):
    label: Literal["polite", "rude"]
    score: float


def test_a_judge_replies_with_a_pydantic_model() -> None:
    tone = Judge("tone", "How polite is ${answer}?", compare.equals("polite"), output_type=Tone, field_path="label")
    judged = suite([tone], models={"judge": lambda question: {"label": "rude", "score": 0.25}})
    case = judged.run([{"id": "a", "answer": "Sit."}]).case("a")
    assert tone.reply(case) == Tone(label="rude", score=0.25) and case.verdict == "failed"
    silent = suite([tone], models={"judge": lambda question: "no idea"}).run([{"id": "a", "answer": "Sit."}])
    with pytest.raises(DataError, match="`tone` has no reply in `a`"):
        tone.reply(silent.case("a"))


def test_thresholds_and_the_thresholds_of_a_task() -> None:
    thresholds = Thresholds(pass_rate=0.5, tasks={"one": TaskThresholds(pass_rate=0.9).definition()})
    run = suite([Assertion("one", "n", compare.equals(1))], thresholds=thresholds).run([{"n": 1}, {"n": 2}])
    assert run.conclusion == "failed" and len(run.missed) == 1


def test_an_agent_and_its_case() -> None:
    judged = suite(
        [Check("written", check.workspace_file_present("report.md", contains="three")), Check("short", check.turns(max=3))],
        agents={"writer": lambda task: str((task.workspace / "report.md").write_text("three notes"))},
        cases=[AgentCase(id="report", task="Write report.md.", agent="writer", key_outputs=["report.md"])],
    )
    run = judged.run()
    assert run.case("report").task("written").verdict == "passed", run.table(tasks=True)
    assert Agent(command=["agent"], output="text").definition() == {"command": ["agent"], "output": "text"}


def test_an_outcome_of_a_scenario() -> None:
    scenario = Scenario("talk")
    scenario.add_node("ask", question=Question("Capital of Peru?", "Lima"))
    scenario.set_entry("ask")
    judged = suite([Outcome("ended", all_of(turn_count_eq(1)))], scenarios=[scenario.validate()], models={"subject": lambda question: "Lima"})
    assert judged.run().case("talk").task("ended").verdict == "passed"


class City(pydantic.BaseModel):
    name: str = pydantic.Field(description="The city that is called the capital.")
    people: int | None = None


@dataclass
class Country:
    capital: str


def test_an_answer_template_from_a_pydantic_model() -> None:
    made = template(City(name="Lima", people=10_000_000), verify={"people": NumericTolerance(0.1)}, weights={"name": 2})
    assert made["fields"]["name"] == {
        "type": {"type": "string"},
        "description": "The city that is called the capital.",
        "ground_truth": "Lima",
        "weight": 2,
    }
    assert made["fields"]["people"]["ground_truth"] == 10_000_000
    assert "ground_truth" not in template(City)["fields"]["name"]
    with pytest.raises(UsageError, match="`Country` has no field `city`; its fields are capital"):
        template(Country("Lima"), verify={"city": NumericTolerance(0.1)})


@pytest.mark.parametrize(("read", "verdict"), [("Lima", True), ("Quito", False)])
def test_a_question_with_a_template_of_a_type_is_verified(read: str, verdict: bool) -> None:
    scenario = Scenario("talk")
    scenario.add_node("ask", question=Question("Capital of Peru?", "Lima", template=template(City(name="Lima"))))
    scenario.set_entry("ask")
    result = scenario.validate().run(subject=lambda question: "Lima, I think.", parser=lambda question: {"name": read, "people": None})
    assert result.history[0].verify_result is verdict


def test_parts_are_values() -> None:
    one = Assertion("one", "n", compare.equals(1))
    assert one == Assertion("one", "n", compare.equals(1)) != Assertion("one", "n", compare.equals(2))
    assert set(spec.__all__) == {it for it in vars(spec) if it in spec.__all__}
