"""Runs that are over: whether they passed, their cases by id, other processes."""

from __future__ import annotations

import copy
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat.errors import RunFailed
from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset
from jurat.queue import GenAIEvalRecord

PAID = {"id": "paid", "field_path": "status", "operator": "equals", "expected_value": "paid"}
PRESENT = {"id": "present", "field_path": "status", "operator": "exists"}
JUDGED = {"id": "tone", "judge": {"prompt": "${status}", "output": {"ok": "boolean"}}, "field_path": "ok", "operator": "equals", "expected_value": True}


def down(question: jurat.Question) -> str:
    raise ConnectionError("the judge is down")


def run_of(*statuses: str) -> jurat.Run:
    return jurat.Suite({"tasks": [PAID]}).run([{"id": f"r{number}", "status": it} for number, it in enumerate(statuses)])


class TestWhetherItPassed:
    def test_one_that_passed(self) -> None:
        run = run_of("paid", "paid")
        assert run.passed
        assert list(run.failures) == list(run.errors) == []
        run.raise_for_failures()

    def test_one_that_failed_says_which_cases_and_why(self) -> None:
        run = run_of("paid", "open")
        assert not run.passed
        assert [it.id for it in run.failures] == ["r1"]
        with pytest.raises(RunFailed, match="r1 paid failed: expected `paid`, found `open`") as raised:
            run.raise_for_failures()
        assert raised.value.run.id == run.id
        assert isinstance(raised.value, AssertionError)

    def test_one_in_which_no_case_could_be_judged_has_no_pass_rate(self) -> None:
        run = jurat.Suite({"tasks": [PRESENT, JUDGED]}, models={"judge": down}).run([{"status": "paid"}, {"status": "open"}])
        assert run.counts.passed == 2
        assert run.pass_rate is None and run.interval is None
        assert not run.passed
        assert [it.verdict for it in run.errors] == ["error", "error"]
        assert [it.id for case in run for it in case.errors] == ["tone", "tone"]
        assert [it.passed for it in run] == [None, None]
        with pytest.raises(RunFailed, match="the judge is down"):
            run.raise_for_failures()

    def test_a_long_list_of_failures_is_cut(self) -> None:
        with pytest.raises(RunFailed, match="and 15 more cases"):
            run_of(*["open"] * 25).raise_for_failures()


class TestCases:
    def test_a_case_is_found_by_its_id(self) -> None:
        run = run_of("paid", "open")
        assert run["r1"] == run.case("r1") == list(run)[1]
        assert run["r1"]["paid"].verdict == "failed"
        assert "r0" in run and "r9" not in run
        with pytest.raises(KeyError, match="there is no case `r9` in the run"):
            run["r9"]
        with pytest.raises(KeyError, match="there is no task `piad`; there are paid"):
            run["r1"]["piad"]

    def test_a_case_of_a_row_without_an_id_is_found_by_its_place(self) -> None:
        run = jurat.Suite({"tasks": [PAID]}).run([{"status": "paid"}, {"status": "open"}])
        assert [it.id for it in run] == ["rows:1", "rows:2"]
        assert run["rows:2"].verdict == "failed"

    def test_it_is_found_without_reading_all_others(self) -> None:
        n = 50_000
        run = jurat.Suite({"tasks": [{"id": "has_n", "field_path": "n", "operator": "exists"}]}).run(
            {"id": str(it), "n": it} for it in range(n)
        )
        started = time.perf_counter()
        for number in range(0, n, n // 50):
            assert run[str(number)].id == str(number)
        # Reading all cases takes seconds each time, so that the limit is far from both.
        assert time.perf_counter() - started < 2

    def test_the_outputs_of_an_evaluator_are_results_of_their_own(self) -> None:
        outputs: list[dict[str, Any]] = [{"name": "toxicity", "lower_bound": 0, "upper_bound": 1}, {"name": "safety", "values": [{"label": "safe"}, {"label": "unsafe"}]}]

        @jurat.evaluators.evaluator(name="content-check", outputs=outputs)
        def content(text: str) -> dict[str, object]:
            return {"toxicity": {"score": 0.1, "explanation": "mild"}, "safety": "safe", "explanation": "by its words"}

        case = next(iter(GenAIEvalDataset([{"text": "Hello"}], [content]).evaluate()))
        assert [it.id for it in case.tasks] == ["content-check", "content-check.toxicity", "content-check.safety"]
        toxicity, safety = case["content-check"].outputs
        assert (toxicity.score, toxicity.explanation, toxicity.verdict) == (0.1, "mild", "measured")
        assert (case["content-check.safety"].label, safety.explanation) == ("safe", "by its words")


class TestOtherProcesses:
    def test_a_run_goes_there_as_its_file(self) -> None:
        run = run_of("paid", "open")
        again = pickle.loads(pickle.dumps(run))
        assert again.id == run.id and [it.id for it in again] == [it.id for it in run]
        assert copy.copy(run).id == copy.deepcopy(run).id == run.id

    def test_it_is_found_from_another_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = pickle.dumps(run_of("paid"))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert pickle.loads(text).passed

    def test_results_and_failures_go_there_too(self) -> None:
        task = AssertionTask(id="paid", field_path="status", operator=ComparisonOperator.Equals, expected_value="paid")
        records = [GenAIEvalRecord({"status": "open"})]
        results = GenAIEvalDataset(records, [task]).evaluate()
        uid = records[0].uid
        assert pickle.loads(pickle.dumps(results))[uid].verdict == "failed"
        with pytest.raises(RunFailed) as raised:
            results.run.raise_for_failures()
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


class TestRecordsWithoutIds:
    def test_a_case_is_found_by_the_uid_of_its_record(self) -> None:
        task = AssertionTask(id="paid", field_path="status", operator=ComparisonOperator.Equals, expected_value="paid")
        records = [GenAIEvalRecord({"status": it}) for it in ("paid", "open")]
        results = GenAIEvalDataset(records, [task]).evaluate()
        assert [results[it.uid].verdict for it in records] == ["passed", "failed"]
        assert "expected `paid`, found `open`" in results.explain(records[1].uid, "paid")
        with pytest.raises(KeyError):
            results["nothing"]
