"""`jurat.evaluate`: functions of this program over rows."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import subprocess
import sys
import threading
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic
import pytest

import jurat
from jurat import _jurat
from jurat.errors import UsageError
from jurat.subject import Output, Subject

RIGHT = {"id": "right", "field_path": "output", "operator": "equals", "expected_value": "${expected}"}


def double(n: int) -> int:
    return 2 * n


def rows(n: int) -> list[dict[str, Any]]:
    return [{"id": f"r{it}", "n": it, "expected": 2 * it} for it in range(n)]


def test_a_function_is_given_fields_by_the_names_of_its_parameters() -> None:
    run = jurat.evaluate(double, rows(3), [RIGHT])
    assert run.pass_rate == 1.0 and [it.id for it in run] == ["r0", "r1", "r2"]


async def later(row: dict[str, Any]) -> int:
    await asyncio.sleep(0)
    return double(row["n"])


def test_an_async_function_is_awaited() -> None:
    assert jurat.evaluate(later, rows(20), [RIGHT]).pass_rate == 1.0
    assert asyncio.run(jurat.evaluate_async(later, rows(20), [RIGHT])).pass_rate == 1.0


@dataclass
class Ticket:
    n: int
    expected: int


class Model(pydantic.BaseModel):
    n: int


@pytest.mark.parametrize(
    ("function", "row", "result"),
    [
        (lambda n: n, {"n": 1}, 1),
        (lambda row: row["n"], {"n": 1}, 1),
        (lambda row, n: [row, n], {"n": 1}, [{"n": 1}, 1]),
        (lambda n, unit="m": f"{n} {unit}", {"n": 1}, "1 m"),
        (lambda n, **rest: rest, {"n": 1, "a": 2, "b": 3}, {"a": 2, "b": 3}),
        (lambda value: value + 1, 41, 42),
        (len, [1, 2, 3], 3),
    ],
)
def test_rows_become_arguments(function: Any, row: Any, result: Any) -> None:
    assert Subject(function)(row) == result


def test_annotations_make_values_what_they_say() -> None:
    def of_dataclass(ticket: Ticket) -> int:
        return ticket.n

    def of_model(row: Model, /) -> int:
        return row.n

    def of_field(it: Model, other: int) -> int:
        return it.n + other

    assert Subject(of_dataclass)({"n": 7, "expected": 14}) == 7
    assert Subject(of_model)({"n": 7}) == 7
    assert Subject(of_field)({"it": {"n": 7}, "other": 1}) == 8


def test_a_field_that_no_row_has_is_reported_before_anything_is_called() -> None:
    called: list[Any] = []

    def typo(m: int) -> None:
        called.append(m)

    with pytest.raises(UsageError, match="`typo` takes `m`, which the row does not have; its fields are `id`, `n`, `expected`"):
        jurat.evaluate(typo, rows(2), [RIGHT])
    assert not called


def test_a_row_in_the_middle_that_lacks_a_field_is_an_error_of_its_case() -> None:
    run = jurat.evaluate(double, [*rows(1), {"id": "bad", "expected": 1}], [RIGHT])
    task = run.case("bad").task("right")
    assert task.verdict == "error" and "takes `n`, which the row does not have" in task.message
    assert run.case("r0").verdict == "passed"


@pytest.mark.parametrize("value", [None, True, 0, 42, 1.5, "42", "text", "null", [1, "a"], {"a": [None]}, 10**30, "ünï\n"])
def test_what_a_function_returns_is_judged_as_the_value_that_it_is(value: Any) -> None:
    def given(output: Any) -> str:
        return repr(output)

    (case,) = jurat.evaluate(lambda n: value, [{"n": 1}], [given, {"id": "is", "field_path": "output", "operator": "exists"}])
    assert case.task("given").label == repr(value)


def test_a_boolean_of_an_evaluator_is_its_verdict_and_anything_else_is_measured() -> None:
    def right(output: Any, expected: Any) -> Any:
        return output == expected

    def length(output: str) -> float:
        return len(str(output))

    run = jurat.evaluate(double, [*rows(3), {"id": "wrong", "n": 1, "expected": 1}], [right, length, lambda output: output >= 0])
    assert (run.pass_rate, run.conclusion) == (7 / 8, "failed")
    assert [it.id for it in run.case("wrong").failures] == ["right"]
    assert run.case("wrong").task("right").message == "expected true, found false"
    assert run.case("r0").task("length").verdict == "measured" and run.case("r0").task("evaluator_3").verdict == "passed"


def test_an_evaluator_with_outputs_says_by_them_what_it_means() -> None:
    from jurat.evaluators import evaluator

    @evaluator(outputs=[{"name": "tone", "values": [{"label": "True", "score": 1}, {"label": "False", "score": 0}]}])
    def labelled(output: int) -> bool:
        return True

    (case,) = jurat.evaluate(double, rows(1), [labelled])
    assert (case.task("labelled").verdict, case.task("labelled").label) == ("measured", "True")


def test_tasks_see_every_field_of_the_row_beside_the_output() -> None:
    seen: list[tuple[Any, ...]] = []

    def look(output: Any, input: Any, messages: Any, expected: Any) -> bool:
        seen.append((output, input, messages, expected))
        return True

    jurat.evaluate(lambda input: input.upper(), [{"input": "a", "messages": [1], "expected": "A"}], [look])
    assert seen == [("A", "a", [1], "A")]


def test_an_exception_is_an_error_with_its_traceback() -> None:
    def broken(n: int) -> int:
        raise LookupError(f"no {n}")

    run = jurat.evaluate(broken, rows(2), [RIGHT])
    task = run.case("r1").task("right")
    assert (task.verdict, run.conclusion) == ("error", "undecided")
    assert "LookupError: no 1" in task.message and run.pass_rate is None


def test_a_judge_sees_what_a_function_returned() -> None:
    def judge(question: jurat.Question) -> dict[str, bool]:
        return {"polite": "please" in question.prompt}

    polite = {
        "id": "polite",
        "judge": {"prompt": "Is it polite? ${output.text}", "output": {"polite": "boolean"}},
        "field_path": "polite",
        "operator": "equals",
        "expected_value": True,
    }
    run = jurat.evaluate(lambda said: {"text": said}, [{"said": "sit, please"}, {"said": "sit"}], [polite], models={"judge": judge})
    assert run.pass_rate == 0.5


def test_tool_calls_and_tokens_of_an_output_are_evidence() -> None:
    calls = [{"name": "clock", "arguments": {"city": "Lima"}}]
    tasks = [
        {"id": "clock", "field_path": "tool_calls[0].name", "operator": "equals", "expected_value": "clock"},
        {"id": "city", "field_path": "tool_calls[0].arguments.city", "operator": "equals", "expected_value": "Lima"},
        {"id": "tokens", "field_path": "usage.total_tokens", "operator": "equals", "expected_value": 8},
        {"id": "said", "field_path": "output", "operator": "equals", "expected_value": "noon"},
    ]
    run = jurat.evaluate(lambda city: Output("noon", tool_calls=calls, tokens=(5, 3)), [{"city": "Lima"}], tasks)
    assert run.pass_rate == 1.0, run.table(tasks=True)


def test_repetitions_and_several_functions_are_cases_of_their_own() -> None:
    def triple(n: int) -> int:
        return 3 * n

    run = jurat.evaluate({"double": double, "triple": triple}, rows(2), [RIGHT], repeat=3)
    assert len(run) == 12
    assert {it.subject for it in run} == {"double", "triple"}
    assert {it.replicate for it in run} == {1, 2, 3}
    # 0 is three times 0, too.
    assert run.counts.passed == 9


def test_no_more_calls_are_made_at_a_time_than_asked_for() -> None:
    lock, now, most = threading.Lock(), 0, 0
    gate = threading.Barrier(3)

    def busy(n: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        gate.wait(timeout=60)
        with lock:
            now -= 1
        return 2 * n

    assert jurat.evaluate(busy, rows(9), [RIGHT], concurrency=3).pass_rate == 1.0
    assert most == 3


def test_a_budget_of_calls_ends_the_run() -> None:
    called: list[int] = []

    def counted(n: int) -> int:
        called.append(n)
        return 2 * n

    run = jurat.evaluate(counted, rows(10), [RIGHT], budget_calls=4, concurrency=1)
    assert (len(called), run.conclusion, run.counts.not_run) == (4, "limited", 6)


def test_a_run_that_was_interrupted_is_resumed_by_the_same_call() -> None:
    called: list[int] = []

    def counted(n: int) -> int:
        called.append(n)
        return 2 * n

    first = jurat.evaluate(counted, rows(10), [RIGHT], budget_calls=4, concurrency=1)
    second = jurat.evaluate(counted, rows(10), [RIGHT], concurrency=1)
    assert second.id == first.id and second.pass_rate == 1.0
    assert sorted(called) == list(range(10))
    # A run that is over is not resumed, and neither is one over other rows.
    third = jurat.evaluate(counted, rows(10), [RIGHT])
    assert third.id != second.id and len(called) == 20


def test_other_rows_or_other_code_do_not_resume_a_run() -> None:
    first = jurat.evaluate(double, rows(10), [RIGHT], name="same", budget_calls=4, concurrency=1)
    assert jurat.evaluate(double, rows(9), [RIGHT], name="same").id != first.id
    assert jurat.evaluate(lambda n: n + n, rows(10), [RIGHT], name="same").id != first.id


KILLED = """
import glob, os, subprocess, sys, jurat
# A second SQLite in the process that writes the file would take its locks away, so another process looks.
COUNT = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select count(*) from effect').fetchone()[0])"
def n_stored():
    (run,) = glob.glob(".jurat/runs/*.jurat")
    return int(subprocess.run([sys.executable, "-c", COUNT, run], capture_output=True, text=True, check=True).stdout)
def slow(n):
    with open("called.txt", "a") as file:
        file.write(f"{n}\\n")
    if n == 5 and sys.argv[1] == "die":
        while n_stored() < 5:
            pass
        os._exit(9)
    return 2 * n
rows = [{"id": f"r{it}", "n": it, "expected": 2 * it} for it in range(10)]
task = {"id": "right", "field_path": "output", "operator": "equals", "expected_value": "${expected}"}
run = jurat.evaluate(slow, rows, [task], concurrency=1, progress=False)
print(run.pass_rate)
"""


def test_results_survive_a_process_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    assert subprocess.run([sys.executable, script, "die"], cwd=tmp_path, check=False).returncode == 9
    again = subprocess.run([sys.executable, script, "live"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert again.stdout == "1.0\n" and again.stderr == ""
    called = [int(it) for it in (tmp_path / "called.txt").read_text().split()]
    # Only what was being called when the process died is called again.
    assert called == [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9]


def test_a_replay_calls_nothing() -> None:
    called: list[int] = []

    def counted(n: int) -> int:
        called.append(n)
        return 2 * n

    run = jurat.evaluate(counted, rows(5), [RIGHT])
    again = jurat.evaluate(counted, rows(5), [RIGHT], replay=run.path)
    assert len(called) == 5 and again.results_json() == run.results_json()


@pytest.mark.parametrize("data", [["a", "bc"], ("a", "bc"), iter(["a", "bc"])])
def test_rows_that_are_no_objects_are_given_as_they_are(data: Any) -> None:
    long = {"id": "long", "field_path": "output", "operator": "greater_than", "expected_value": 1}
    assert [it.verdict for it in jurat.evaluate(len, data, [long])] == ["failed", "passed"]


def test_rows_of_an_iterator_are_taken_once() -> None:
    assert len(jurat.evaluate(double, iter(rows(100)), [RIGHT])) == 100


def test_thresholds_and_slices() -> None:
    data = [{"n": it, "expected": 2 * it if it else 1, "kind": "zero" if it == 0 else "other"} for it in range(4)]
    run = jurat.evaluate(double, data, [RIGHT], thresholds={"pass_rate": 0.7}, group_by=["kind"])
    assert run.conclusion == "passed"
    assert {it["value"] for it in run.to_dict()["slices"]} == {"zero", "other"}


def test_every_option_of_a_run_is_a_keyword_with_documentation() -> None:
    signature = inspect.signature(jurat.evaluate)
    assert set(_jurat.run_options()) <= set(signature.parameters)
    documented = {it.strip().partition(":")[0] for it in (jurat.evaluate.__doc__ or "").splitlines()}
    assert set(signature.parameters) <= documented
    assert inspect.signature(jurat.evaluate_async).parameters == signature.parameters
    assert set(signature.parameters) <= set(typing.get_type_hints(jurat.evaluate))


def test_the_function_and_the_module_of_the_same_name_are_both_there() -> None:
    import jurat.evaluate as module
    from jurat.evaluate import AssertionTask

    assert callable(jurat.evaluate) and module.AssertionTask is AssertionTask
    assert sys.modules["jurat.evaluate"].AssertionTask is AssertionTask


def test_a_subject_goes_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Subject(double)))({"n": 2}) == 4
