"""jurat evaluates language models and agents: you write down what should happen, and it says passed, failed, measured, skipped or error, and why.

>>> import jurat
>>> suite = jurat.Suite(
...     {
...         "tasks": [
...             {"id": "answered", "field_path": "answer", "operator": "is_not_empty", "condition": True},
...             {"id": "short", "depends_on": ["answered"], "field_path": "answer",
...              "operator": "has_length_less_than", "expected_value": 20},
...         ]
...     },
...     name="greetings",
... )
>>> run = suite.run([{"id": "r1", "answer": "Hello!"}, {"id": "r2", "answer": "Good day to you and all of yours!"}])
>>> run.pass_rate
0.5
>>> for case in run:
...     for task in case.failures:
...         print(case.id, task.id, task.message)
r2 short expected a length of less than 20, found 33 characters

`jurat.evaluate` has records and tasks as classes, `jurat.scenario` conversations along a graph, `jurat.checks` checks of an agent's run,
`jurat.evaluators` functions that give labels and scores, `jurat.genai` prompts. What goes wrong is in `jurat.errors`.
"""

from __future__ import annotations

import sys

if "free-threading" in sys.version:
    raise ImportError("jurat is not made for a Python without the global interpreter lock; use one that has it")

from types import ModuleType

from jurat._evaluation import evaluate, evaluate_async
from jurat._jurat import __version__
from jurat._listing import runs
from jurat.errors import JuratError, ModelError, Problem, RunError, SuiteError
from jurat.run import Case, Run, TaskResult, open_run
from jurat.suite import Question, Reply, Suite, evaluate_batch

__all__ = [
    "Case",
    "JuratError",
    "ModelError",
    "Problem",
    "Question",
    "Reply",
    "Run",
    "RunError",
    "Suite",
    "SuiteError",
    "TaskResult",
    "__version__",
    "evaluate",
    "evaluate_async",
    "evaluate_batch",
    "open_run",
    "runs",
]


class _Package(ModuleType):
    """The package. `jurat.evaluate` is a function, and also a module for those who import its classes from there: the function stays, with their names."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "evaluate" and isinstance(value, ModuleType):
            vars(evaluate).update({it: getattr(value, it) for it in value.__all__})
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
