"""The typed layer says what the compiled module does: operators, primitives, stubs."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pickle
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat import _jurat, scenario
from jurat.errors import EvaluatorError, PrimitiveError
from jurat.evaluate import ComparisonOperator
from jurat.evaluators import evaluator, normalize
from jurat.scenario import (
    BooleanMatch,
    ContainsAny,
    ExactMatch,
    NumericExact,
    NumericGraded,
    SemanticMatch,
    SynonymMap,
    TraceRegex,
    VerificationPrimitive,
    normalize_text,
)


def test_every_operator_is_there() -> None:
    assert {it.name: it.value for it in ComparisonOperator} == {name: value for name, value, _ in _jurat.operators()}


@pytest.mark.parametrize(("name", "parameters"), _jurat.primitives(), ids=lambda it: it if isinstance(it, str) else "")
def test_every_primitive_is_there_with_its_parameters(name: str, parameters: list[tuple[str, str | None]]) -> None:
    found = {it.name: it for it in fields(getattr(scenario, name))}
    assert list(found) == [it for it, _ in parameters]
    for parameter, default in parameters:
        it = found[parameter]
        given = it.default if it.default_factory is MISSING else it.default_factory()
        assert (given is MISSING) if default is None else (given == json.loads(default))


def test_every_option_of_a_run_is_a_keyword() -> None:
    module = ast.parse((Path(jurat.__file__).parent / "_options.py").read_text())
    options = next(it for it in ast.walk(module) if isinstance(it, ast.ClassDef) and it.name == "RunOptions")
    keywords = {it.target.id for it in options.body if isinstance(it, ast.AnnAssign) and isinstance(it.target, ast.Name)}
    assert keywords == set(_jurat.run_options())


def test_primitives_are_values() -> None:
    primitive: VerificationPrimitive = ContainsAny(["a"], normalize=["lowercase", SynonymMap({"b": "a"})])
    assert copy.deepcopy(primitive) == pickle.loads(pickle.dumps(primitive)) == primitive
    assert primitive.check("cAt", None)
    assert normalize_text("B", ["lowercase", SynonymMap({"b": "a"})]) == "a"
    assert NumericGraded(cutoff=0.2).score(11, 10) == pytest.approx(0.5)


def test_what_a_primitive_cannot_judge() -> None:
    with pytest.raises(TypeError):
        NumericExact().check(None, 1)
    with pytest.raises(ValueError):
        NumericExact().check("many", 1)
    with pytest.raises(NotImplementedError):
        SemanticMatch().check("a", "a")
    with pytest.raises(NotImplementedError):
        TraceRegex("a").check("a", "a")
    assert TraceRegex("a+").check_trace("caat")
    with pytest.raises(PrimitiveError):
        NumericGraded(cutoff=-1)
    assert BooleanMatch().check(None, None) and ExactMatch(normalize=[]).check(1, "1")


OUTPUT = {"name": "verdict", "type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}
RANGE = {"name": "toxicity", "type": "continuous", "lower_bound": 0, "upper_bound": 1}


def test_returned_values_are_normalised() -> None:
    (only,) = normalize({"label": "fail", "explanation": "rude"}, [OUTPUT], name="tone")
    assert (only.name, only.label, only.score, only.explanation) == ("tone", "fail", 0.0, "rude")
    both = normalize({"verdict": "pass", "toxicity": {"score": 0.1, "explanation": "own"}, "explanation": "shared"}, [OUTPUT, RANGE], name="t")
    assert [(it.name, it.label, it.score, it.explanation) for it in both] == [
        ("t.verdict", "pass", 1.0, "shared"),
        ("t.toxicity", None, 0.1, "own"),
    ]
    assert normalize(True, name="t")[0].label == "True" and normalize(None, name="t")[0].label is None


@pytest.mark.parametrize(
    ("value", "output"),
    [("other", OUTPUT), (("pass", 1.0), OUTPUT), ({"label": "pass", "score": 0}, OUTPUT), (True, RANGE), (float("nan"), RANGE), (2, RANGE)],
)
def test_what_an_output_does_not_take_is_a_value_error(value: Any, output: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Valid shapes:"):
        normalize(value, [output], name="t")


def test_outputs_that_make_no_sense_are_refused() -> None:
    for output in [{"name": "a", "type": "other"}, {"name": "a", "values": []}, {"values": []}]:
        with pytest.raises(EvaluatorError):
            normalize("pass", [output], name="t")
    with pytest.raises(EvaluatorError, match="python"):
        normalize("pass", name="t", language="cobol")


def test_a_function_becomes_an_evaluator() -> None:
    @evaluator(name="tone", outputs=[OUTPUT])
    def judged(output: str) -> str:
        """Judges."""
        return "pass" if "please" in output else "fail"

    assert judged("please")[0].score == 1.0 and judged.__doc__ == "Judges." and judged.name == "tone"


def test_the_stub_says_what_the_module_has() -> None:
    stub = ast.parse((Path(jurat.__file__).parent / "_jurat.pyi").read_text())
    said: dict[str, set[str]] = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            said[node.name] = {it.name for it in node.body if isinstance(it, ast.FunctionDef)} - {"__new__"}
        elif isinstance(node, ast.FunctionDef):
            said[node.name] = set()
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            said[node.target.id] = set()
    there = {it for it in vars(_jurat) if not it.startswith("__")} | {"__version__"}
    assert set(said) == there
    for name, members in said.items():
        kind = getattr(_jurat, name)
        if inspect.isclass(kind):
            own = {it for it in vars(kind) if not it.startswith("__") or it in ("__arrow_c_stream__", "__iter__", "__next__")}
            assert members == own, name


def test_parameters_of_the_stub_are_those_of_the_module() -> None:
    stub = ast.parse((Path(jurat.__file__).parent / "_jurat.pyi").read_text())
    functions = [(getattr(_jurat, it.name), it) for it in stub.body if isinstance(it, ast.FunctionDef)]
    for kind in (it for it in stub.body if isinstance(it, ast.ClassDef)):
        methods = [it for it in kind.body if isinstance(it, ast.FunctionDef) and not it.name.startswith("__") and not it.decorator_list]
        functions += [(getattr(getattr(_jurat, kind.name), it.name), it) for it in methods]
    for function, said in functions:
        names = [it.arg for it in [*said.args.args, *said.args.kwonlyargs]]
        assert list(inspect.signature(function).parameters) == names, said.name
