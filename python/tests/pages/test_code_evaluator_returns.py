"""What the page "Code Evaluator Returns" of Phoenix promises, a test for each sentence."""

from __future__ import annotations

import enum
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

import jurat
from jurat.evaluators import EvaluationResult, evaluator, normalize

numpy = pytest.importorskip("numpy")
pydantic = pytest.importorskip("pydantic")

VERDICT = {"name": "verdict", "type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}
TOXICITY = {"name": "toxicity", "type": "continuous", "lower_bound": 0, "upper_bound": 1}
SAFETY = {**VERDICT, "name": "safety"}
OPEN = {"name": "open", "type": "continuous"}


class Label(str, enum.Enum):
    PASS = "pass"


class Level(enum.IntEnum):
    HIGH = 1


class Judged(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    label: str | None = None
    score: float | None = None
    explanation: str | None = None


@dataclass
class Plain:
    label: str
    explanation: str | None = None


def triple(returned: Any, *outputs: dict[str, Any]) -> tuple[str | None, float | None, str | None]:
    (result,) = normalize(returned, outputs, name="it")
    return result.label, result.score, result.explanation


def refused(returned: Any, *outputs: dict[str, Any]) -> list[str]:
    with pytest.raises(ValueError) as raised:
        normalize(returned, outputs, name="it")
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("returned", "outputs", "expected"),
    [
        ("pass", [VERDICT], ("pass", 1.0, None)),
        ({"label": "fail", "explanation": "It did not match."}, [VERDICT], ("fail", 0.0, "It did not match.")),
        ({"label": "pass", "score": 1}, [VERDICT], ("pass", 1.0, None)),
        (0.85, [TOXICITY], (None, 0.85, None)),
        ({"score": 0.85, "explanation": "By its words."}, [TOXICITY], (None, 0.85, "By its words.")),
        ({"score": 0.85, "label": "mild"}, [TOXICITY], ("mild", 0.85, None)),
        (0, [TOXICITY], (None, 0.0, None)),
        (1, [TOXICITY], (None, 1.0, None)),
        (-1e9, [OPEN], (None, -1e9, None)),
        ("any text", [], ("any text", None, None)),
        (3, [], (None, 3.0, None)),
        (0.5, [], (None, 0.5, None)),
        (True, [], ("True", None, None)),
        (False, [], ("False", None, None)),
        (None, [], (None, None, None)),
        ({"label": "a", "score": 2, "explanation": "b"}, [], ("a", 2.0, "b")),
    ],
)
def test_an_accepted_shape_is_normalized_to_label_score_and_explanation(returned: Any, outputs: Any, expected: Any) -> None:
    assert triple(returned, *outputs) == expected


@pytest.mark.parametrize("label", ["unknown", "Pass", "PASS", " pass"])
def test_the_label_must_exactly_match_one_of_the_configured_values(label: str) -> None:
    assert refused(label, VERDICT)[0] == f"Label {label!r} not in categorical output config values ['pass', 'fail']."


def test_a_score_that_conflicts_with_the_lookup_value_raises() -> None:
    assert "0.5" in refused({"label": "pass", "score": 0.5}, VERDICT)[0]


@pytest.mark.parametrize("outputs", [[VERDICT], [TOXICITY], []], ids=["categorical", "continuous", "none"])
def test_tuple_shorthand_is_not_accepted(outputs: Any) -> None:
    assert refused(("pass", 1.0), *outputs)


@pytest.mark.parametrize("score", [-0.001, 1.001])
def test_a_number_must_be_within_the_bounds(score: float) -> None:
    assert refused(score, TOXICITY)


@pytest.mark.parametrize("returned", [True, False, float("nan"), float("inf"), "0.5", None])
def test_continuous_rejects_bool_nan_infinity_and_text(returned: Any) -> None:
    assert refused(returned, TOXICITY) and refused({"score": returned}, TOXICITY)


@pytest.mark.parametrize("returned", [[1], ["pass"], {"nested": {"label": "pass"}}, {"label": {"a": 1}}, object(), {1, 2}])
def test_lists_and_arbitrary_nested_objects_are_rejected(returned: Any) -> None:
    assert refused(returned)


def test_the_message_enumerates_all_valid_shapes_for_the_configured_output_type() -> None:
    assert refused("unknown", VERDICT)[1:] == ["Valid shapes:", '  return "pass"', '  return {"label": "pass", "explanation": "..."}']
    assert refused(2, TOXICITY)[1:] == [
        "Valid shapes:",
        "  return 0.5",
        "  # score in range 0.0 - 1.0",
        '  return {"score": 0.5, "explanation": "..."}',
    ]


def test_without_an_output_config_the_shapes_include_bool_and_none() -> None:
    assert refused([1])[1:] == [
        "Valid shapes:",
        '  return "pass"',
        "  return 0.5",
        '  return {"label": "pass", "explanation": "..."}',
        '  return {"score": 0.5, "explanation": "..."}',
        "  return True",
        "  return None",
    ]


@pytest.mark.parametrize("returned", [{"x": 1}, {"score": "high"}, {"score": False}])
def test_a_dict_that_is_wrong_inside_lists_neither_bool_nor_none(returned: dict[str, Any]) -> None:
    assert refused(returned)[1:] == [
        "Valid shapes:",
        '  return "pass"',
        "  return 0.5",
        '  return {"label": "pass", "explanation": "..."}',
        '  return {"score": 0.5, "explanation": "..."}',
    ]


def test_the_message_is_in_the_language_of_the_evaluator() -> None:
    with pytest.raises(ValueError) as raised:
        normalize([1], [], name="it", language="typescript")
    assert {"  return true;", "  return null;", '  return "pass";'} <= set(str(raised.value).splitlines())


@pytest.mark.parametrize("words", ["", "zwei\nZeilen", "ünïcödé ✓", " spaces "])
def test_an_explanation_is_passed_through_unchanged(words: str) -> None:
    assert triple({"label": "pass", "explanation": words}, VERDICT)[2] == words


def named(returned: Any) -> dict[str, tuple[str | None, float | None, str | None]]:
    found = normalize(returned, [TOXICITY, SAFETY], name="content-check")
    return {it.name: (it.label, it.score, it.explanation) for it in found if it.error is None}


def test_a_single_value_is_applied_to_each_output_config_independently() -> None:
    found = normalize("pass", [SAFETY, {**SAFETY, "name": "tone"}], name="content-check")
    assert [(it.name, it.label) for it in found] == [("content-check.safety", "pass"), ("content-check.tone", "pass")]


def test_a_dict_whose_keys_match_every_output_config_is_routed_and_the_top_level_explanation_fills_in() -> None:
    assert named({"toxicity": 0.1, "safety": "pass", "explanation": "Safe."}) == {
        "content-check.toxicity": (None, 0.1, "Safe."),
        "content-check.safety": ("pass", 1.0, "Safe."),
    }


def test_a_per_config_explanation_takes_precedence() -> None:
    returned = {"toxicity": {"score": 0.9, "explanation": "Slurs."}, "safety": "fail", "explanation": "Unsafe."}
    assert [it[2] for it in named(returned).values()] == ["Slurs.", "Unsafe."]


def test_a_partial_match_is_treated_as_a_shared_value() -> None:
    assert refused({"toxicity": 0.1}, TOXICITY, SAFETY)


def test_several_outputs_give_a_result_each_in_a_run() -> None:
    @evaluator(name="content-check", outputs=[TOXICITY, SAFETY])
    def check(output: str) -> dict[str, Any]:
        return {"toxicity": 0.1, "safety": "pass"}

    for code in (check.called(), check.definition()):
        suite = jurat.Suite._quiet({"evaluators": {"content-check": code}}, evaluators=[check] if "call" in code else [])
        (case,) = suite.run([{"output": "Hello"}])
        assert [(it.id, it.label, it.score) for it in case["content-check"].outputs] == [
            ("content-check.toxicity", None, 0.1),
            ("content-check.safety", "pass", 1.0),
        ]


@pytest.mark.parametrize(
    ("returned", "outputs", "expected"),
    [
        (numpy.float64(0.5), [TOXICITY], (None, 0.5, None)),
        (numpy.float32(0.5), [TOXICITY], (None, 0.5, None)),
        (numpy.int64(1), [TOXICITY], (None, 1.0, None)),
        (numpy.mean([0.25, 0.75]), [], (None, 0.5, None)),
        (numpy.bool_(True), [], ("True", None, None)),
        (numpy.str_("pass"), [VERDICT], ("pass", 1.0, None)),
        ({"score": numpy.float64(0.5)}, [TOXICITY], (None, 0.5, None)),
        (Decimal("0.5"), [TOXICITY], (None, 0.5, None)),
        (Label.PASS, [VERDICT], ("pass", 1.0, None)),
        (Level.HIGH, [TOXICITY], (None, 1.0, None)),
        (OrderedDict(label="pass"), [VERDICT], ("pass", 1.0, None)),
        (Judged(label="pass", explanation="e"), [VERDICT], ("pass", 1.0, "e")),
        (Judged(score=0.5), [TOXICITY], (None, 0.5, None)),
        (Plain("pass"), [VERDICT], ("pass", 1.0, None)),
        (Plain("pass", "e"), [VERDICT], ("pass", 1.0, "e")),
    ],
    ids=lambda it: type(it).__name__ if not isinstance(it, (list, tuple)) else "",
)
def test_what_is_a_number_a_text_or_a_dict_is_accepted_as_one(returned: Any, outputs: Any, expected: Any) -> None:
    assert triple(returned, *outputs) == expected


@pytest.mark.parametrize("returned", [numpy.bool_(True), numpy.float64("nan"), numpy.array([0.5])])
def test_what_is_refused_as_itself_is_refused_from_numpy_too(returned: Any) -> None:
    assert refused(returned, TOXICITY)


@pytest.mark.parametrize(
    "returned",
    [numpy.float64(0.5), Label.PASS, Judged(label="pass"), Plain("pass"), EvaluationResult("it", label="pass"), {"score": numpy.float32(0.5)}],
    ids=lambda it: type(it).__name__,
)
def test_an_evaluator_of_a_run_may_return_them(returned: Any) -> None:
    (case,) = jurat.Suite._quiet({"tasks": [{"id": "it", "evaluate": lambda n: returned}]}).run([{"n": 1}])
    assert case["it"].verdict == "measured"
    assert (case["it"].label, case["it"].score) in ((None, 0.5), ("pass", None))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), numpy.float64("-inf")])
def test_a_score_that_is_no_number_is_an_error_in_a_run_also_without_a_config(score: float) -> None:
    (case,) = jurat.Suite._quiet({"tasks": [{"id": "it", "evaluate": lambda n: score}]}).run([{"n": 1}])
    assert case["it"].verdict == "error" and "a score must be a finite number" in case["it"].message


PYTHON = """
def evaluate(output):
    return {"label": "pass" if "please" in output else "fail", "explanation": f"{len(output)} letters"}
"""
TYPESCRIPT = """
export function evaluate({ output }: { output: string }): { label: string; explanation: string } {
  return { label: output.includes("please") ? "pass" : "fail", explanation: `${output.length} letters` };
}
"""


@pytest.mark.parametrize(("language", "source"), [("python", PYTHON), ("typescript", TYPESCRIPT)], ids=["python", "typescript"])
def test_code_evaluators_are_python_or_typescript_functions_that_run_in_a_sandbox(language: str, source: str) -> None:
    code = {"source": source, "language": language, "outputs": [VERDICT]}
    suite = jurat.Suite({"evaluators": {"polite": code}, "tasks": [{"id": "polite", "evaluate": "polite"}]})
    found = {it.id: it["polite"] for it in suite.run([{"id": "a", "output": "Sit, please"}, {"id": "b", "output": "Sit"}])}
    assert {id: (it.label, it.score, it.explanation) for id, it in found.items()} == {
        "a": ("pass", 1.0, "11 letters"),
        "b": ("fail", 0.0, "3 letters"),
    }


def test_the_rejection_of_typescript_lists_shapes_of_typescript() -> None:
    code = {"source": "export function evaluate() { return [1]; }", "language": "typescript"}
    (case,) = jurat.Suite({"evaluators": {"it": code}, "tasks": [{"id": "it", "evaluate": "it"}]}).run([{"output": "x"}])
    assert case["it"].verdict == "error"
    assert 'return "pass";' in case["it"].message and "return true;" in case["it"].message


@pytest.mark.parametrize(("outputs", "names"), [([VERDICT], ["check"]), ([TOXICITY, SAFETY], ["content-check.toxicity", "content-check.safety"])])
def test_several_outputs_are_named_after_evaluator_and_config_and_one_after_the_evaluator(outputs: Any, names: list[str]) -> None:
    returned = {"toxicity": 0.1, "safety": "pass"} if len(outputs) > 1 else "pass"
    assert [it.name for it in normalize(returned, outputs, name=names[0].partition(".")[0])] == names
