"""Records judged by tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel

from jurat.errors import DataError, SuiteError, UsageError
from jurat.evaluate import (
    AssertionTask,
    ComparisonOperator,
    EvalDataset,
    EvalResults,
    GenAIEvalDataset,
    GenAIEvalResults,
    LLMJudgeTask,
)
from jurat.genai import Prompt
from jurat.queue import EvalRecord, GenAIEvalRecord


def paid(**options: object) -> AssertionTask:
    return AssertionTask(
        id="paid", field_path="status", operator=ComparisonOperator.Equals, expected_value="paid", **options  # type: ignore[arg-type]
    )


def verdicts(results: GenAIEvalResults) -> list[str]:
    return [it.task("paid").verdict for it in results]


def test_records_are_judged_in_their_order() -> None:
    records = [GenAIEvalRecord(context={"status": it}, id=f"r{ix}") for ix, it in enumerate(["paid", "open", "paid"])]
    results = GenAIEvalDataset(records=records, tasks=[paid()]).evaluate()
    assert [it.id for it in results] == ["r0", "r1", "r2"]
    assert verdicts(results) == ["passed", "failed", "passed"]
    assert results["r1"].task("paid").message == "expected `paid`, found `open`"
    assert results.pass_rate == pytest.approx(2 / 3)
    assert (results.successful_count, results.failed_count, results.errored_tasks) == (3, 0, [])


class Invoice(BaseModel):
    status: str


@dataclass
class Plain:
    status: str


@pytest.mark.parametrize("context", [{"status": "paid"}, Invoice(status="paid"), Plain("paid")])
def test_contexts_are_dicts_models_and_dataclasses(context: object) -> None:
    assert verdicts(GenAIEvalDataset([GenAIEvalRecord(context)], [paid()]).evaluate()) == ["passed"]


def test_an_id_is_no_part_of_what_tasks_see() -> None:
    task = AssertionTask(id="three", field_path="n", operator="Equals", expected_value=3)
    records = [GenAIEvalRecord({"id": "own", "n": 3}, id="given"), GenAIEvalRecord({}, id="empty")]
    results = GenAIEvalDataset(records, [task]).evaluate()
    assert [(it.id, it.verdict) for it in results] == [("given", "passed"), ("empty", "error")]


def test_ids_are_given_to_all_or_to_none() -> None:
    with pytest.raises(UsageError, match="1 of 2 records have no id"):
        GenAIEvalDataset([GenAIEvalRecord({}), GenAIEvalRecord({}, id="a")], [paid()])
    with pytest.raises(UsageError, match="several records have the id `a`"):
        GenAIEvalDataset([GenAIEvalRecord({}, id="a"), GenAIEvalRecord({}, id="a")], [paid()])


def test_later_names_are_the_same() -> None:
    assert EvalRecord is GenAIEvalRecord and EvalDataset is GenAIEvalDataset and EvalResults is GenAIEvalResults
    task = AssertionTask(id="t", context_path="a[0]", operator=ComparisonOperator.IsNumeric, item_context_path=None)
    assert task.field_path == task.context_path == "a[0]"


def test_what_is_wrong_with_tasks_is_told_at_once() -> None:
    with pytest.raises(SuiteError) as caught:
        GenAIEvalDataset([], [paid(depends_on=["piad"])])
    assert [it["code"] for it in caught.value.problems] == ["plan::unknown_dependency"]
    with pytest.raises(ValueError, match="tasks"):
        GenAIEvalDataset([], [])


def test_a_value_that_is_no_data_is_an_error_of_its_record_alone() -> None:
    contexts = [{"status": "paid"}, {"status": "paid", "raw": {"pages": [1, b"x"]}}, {"status": "open"}]
    records = [GenAIEvalRecord(it, id=str(number)) for number, it in enumerate(contexts)]
    results = GenAIEvalDataset(records, [paid()]).evaluate()
    assert [it.verdict for it in results] == ["passed", "error", "failed"]
    assert [it.id for it in results] == ["0", "1", "2"]
    (error,) = results["1"].errors
    assert error.message.startswith("row 2 cannot be judged: `raw.pages[1]`: a value of type `bytes` cannot be written as JSON")


def test_an_exception_while_rows_are_made_comes_through() -> None:
    def rows() -> object:
        yield {"status": "paid"}
        raise LookupError("the shelf is empty")

    with pytest.raises(LookupError, match="the shelf is empty"):
        GenAIEvalDataset(rows(), [paid()]).evaluate()


def test_plan_and_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    prompt = Prompt("Is it right? ${status}", model="gpt-5-mini", provider="openai", output_type=Invoice)
    gate = paid(condition=True)
    judge = LLMJudgeTask(
        id="judge", prompt=prompt, expected_value="paid", operator=ComparisonOperator.Equals, field_path="status", depends_on=["paid"]
    )
    GenAIEvalDataset([], [gate, judge]).print_execution_plan()
    assert "paid (gate)\n└─ judge" in capsys.readouterr().out
    results = GenAIEvalDataset([GenAIEvalRecord({"status": "open"}, id="r1")], [paid()]).evaluate()
    results.as_table()
    shown = capsys.readouterr().out
    assert all(it in shown for it in ("r1: failed", "✗ paid  failed: expected `paid`, found `open`", "task  passed  failed"))
    results.as_table(show_tasks=True)
    assert "✗ paid  failed: expected `paid`, found `open`" in capsys.readouterr().out


def test_contexts_are_updated_by_id() -> None:
    records = [GenAIEvalRecord({"status": "open", "n": 1}, id="a"), GenAIEvalRecord({"status": "open"}, id="b")]
    dataset = GenAIEvalDataset(records, [paid()])
    again = dataset.with_updated_contexts_by_id({"a": {"status": "paid"}})
    assert verdicts(again.evaluate()) == ["passed", "failed"]
    assert records[0].context["status"] == "open"


def test_runs_are_kept_where_the_program_is(tmp_path: Path) -> None:
    results = GenAIEvalDataset([GenAIEvalRecord({"status": "paid"})], [paid()]).evaluate()
    assert results.run.path.parent == tmp_path / ".jurat" / "runs"
