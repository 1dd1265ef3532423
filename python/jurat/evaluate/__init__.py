"""Records judged by a graph of tasks: comparisons, and models that are asked.

>>> from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset
>>> from jurat.queue import GenAIEvalRecord
>>> dataset = GenAIEvalDataset(
...     records=[GenAIEvalRecord({"answer": "Unplug it first."}, id="r1"), GenAIEvalRecord({"answer": ""}, id="r2")],
...     tasks=[
...         AssertionTask(
...             id="answered", field_path="answer", operator=ComparisonOperator.IsNotEmpty, expected_value=None, condition=True
...         ),
...         AssertionTask(
...             id="safe", field_path="answer", operator=ComparisonOperator.Contains, expected_value="Unplug",
...             depends_on=["answered"],
...         ),
...     ],
... )
>>> results = dataset.evaluate()
>>> results["r1"].task("safe").passed
True
>>> results["r2"].task("safe").verdict
'skipped'
"""

from jurat.evaluate.dataset import EvalDataset, GenAIEvalDataset
from jurat.evaluate.operators import ComparisonOperator
from jurat.evaluate.results import EvalResults, GenAIEvalResults
from jurat.evaluate.tasks import AssertionTask, EvaluatorTask, LLMJudgeTask
from jurat.suite import evaluate_batch

__all__ = [
    "AssertionTask",
    "ComparisonOperator",
    "EvalDataset",
    "EvalResults",
    "EvaluatorTask",
    "GenAIEvalDataset",
    "GenAIEvalResults",
    "LLMJudgeTask",
    "evaluate_batch",
]
