"""jurat evaluates language models, agents and functions: passed, failed, measured, skipped or error, and why.

>>> import jurat
>>> def answer(question: str) -> str:
...     return "Lima" if "Peru" in question else "I do not know."
>>> def right(output: str, expected: str) -> bool:
...     return output == expected
>>> run = jurat.evaluate(
...     answer,
...     [{"id": "peru", "question": "Capital of Peru?", "expected": "Lima"},
...      {"id": "chile", "question": "Capital of Chile?", "expected": "Santiago"}],
...     [right],
... )
>>> run.pass_rate
0.5
>>> for case in run:
...     for task in case.failures:
...         print(case.id, task.id, task.message)
chile right expected true, found false

`evaluate` calls a function with each row and judges what it returns. `Suite` is a definition with the keys of files; `jurat.spec` has its parts as classes,
`jurat.scenario` conversations along a graph, `jurat.agents` functions as agents. Runs are opened with `open_run` and listed with `runs`; `compare` says whether one
is better than another, `gate` whether it may pass, and `calibrate` how far a judge can be trusted. What goes wrong is in `jurat.errors`. Those who come from another tool find its names in `jurat.evaluate`,
`jurat.queue`, `jurat.genai`, `jurat.evaluators`, `jurat.checks`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from jurat._calibrating import calibrate
from jurat._comparing import compare, gate
from jurat._evaluation import evaluate, evaluate_async
from jurat._jurat import __version__
from jurat._listing import runs
from jurat.batches import Evaluator as Evaluator
from jurat.coordinator import Coordinator as Coordinator
from jurat.errors import JuratError

# These have homes of their own, `jurat.errors` and `jurat.suite`, and are here for programs that import them from here.
from jurat.errors import ModelError as ModelError
from jurat.errors import PlanWarning as PlanWarning
from jurat.errors import Problem as Problem
from jurat.errors import RunError as RunError
from jurat.errors import RunFailed as RunFailed
from jurat.errors import SuiteError as SuiteError
from jurat.run import Case, Run, TaskResult, open_run
from jurat.suite import Question as Question
from jurat.suite import Reply as Reply
from jurat.suite import Suite
from jurat.suite import evaluate_batch as evaluate_batch

__all__ = [
    "Case",
    "JuratError",
    "Run",
    "Suite",
    "TaskResult",
    "__version__",
    "calibrate",
    "compare",
    "evaluate",
    "evaluate_async",
    "gate",
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

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        # Functions that use the package go to other processes by value, and the package by its name. What pickles modules knows no other kind of them.
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
