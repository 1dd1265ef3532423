"""What can go wrong, one class for each kind.

All derive from `JuratError`. Those about values that a program gave are `ValueError`s too, and those about files are `OSError`s, so that
code which expects the built-in ones catches them.

>>> from jurat.scenario import Scenario
>>> try:
...     Scenario("empty").validate()
... except ValueError as error:
...     print(error)
the scenario does not say which node it starts with
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from jurat.gates import GateReport
    from jurat.run import Run

__all__ = [
    "DataError",
    "DuplicateIdError",
    "EvaluatorError",
    "GateFailed",
    "JuratError",
    "MissingDirectoryError",
    "ModelError",
    "OutcomeError",
    "OutcomeTypeError",
    "PlanWarning",
    "PrimitiveError",
    "PrimitiveNotImplementedError",
    "PrimitiveTypeError",
    "Problem",
    "ReadError",
    "RunError",
    "RunFailed",
    "ScenarioError",
    "SuiteError",
    "SuiteNotFoundError",
    "UsageError",
    "WriteError",
]


class JuratError(Exception):
    """Whatever goes wrong."""


class Problem(TypedDict):
    """One thing that is wrong with a definition. `docs/problems` has a page for every code."""

    code: str
    is_error: bool
    message: str
    help: list[str]
    line: int | None


class SuiteError(JuratError, ValueError):
    """The definition is wrong: everything that is wrong with it, as `jurat check` prints it."""

    problems: list[Problem]

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems)

    def __reduce__(self) -> tuple[type[SuiteError], tuple[str, list[Problem]]]:
        return type(self), (str(self), self.problems)


class SuiteNotFoundError(SuiteError, FileNotFoundError):
    """The file of a definition is not there, or cannot be read."""


class PlanWarning(UserWarning):
    """Something about a definition that does not keep it from running, but is probably a mistake: a path that finds nothing, a label that is never given.

    `suite.problems` has the same as data.
    """


class DataError(JuratError, ValueError):
    """A value is none that JSON can write, or not what it should be."""


class UsageError(JuratError, ValueError):
    """What was asked for does not fit together, or is not there."""


class ScenarioError(JuratError, ValueError):
    """A scenario is not sound, or a step that builds it is wrong."""


class EvaluatorError(JuratError, ValueError):
    """An evaluator returned what its outputs do not take, or its outputs make no sense."""


class PrimitiveError(JuratError, ValueError):
    """A primitive cannot be made, or cannot judge this value."""


class PrimitiveTypeError(PrimitiveError, TypeError):
    """A primitive cannot judge values of this kind."""


class PrimitiveNotImplementedError(PrimitiveError, NotImplementedError):
    """A primitive cannot be used in this way."""


class OutcomeError(JuratError, ValueError):
    """A criterion could not be decided."""


class OutcomeTypeError(OutcomeError, TypeError):
    """A criterion looked at a value of a kind that it cannot judge."""


class ModelError(JuratError):
    """A model cannot be asked."""


class RunError(JuratError):
    """The run ended before its end. Requests and responses until then are stored: running again resumes it."""


class DuplicateIdError(RunError, ValueError):
    """Two rows have the same id."""


class RunFailed(JuratError, AssertionError):
    """A run did not pass: `Run.raise_for_failures` raises it."""

    run: Run

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[type[RunFailed], tuple[str, Run]]:
        return RunFailed, (str(self), self.run)


class GateFailed(JuratError, AssertionError):
    """A gate did not pass: `GateReport.raise_for_failures` raises it."""

    report: GateReport

    def __init__(self, message: str, report: GateReport) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[type[GateFailed], tuple[str, GateReport]]:
        return GateFailed, (str(self), self.report)


class ReadError(JuratError, OSError):
    """A run, a recording or a file cannot be read."""


class MissingDirectoryError(UsageError, NotADirectoryError):
    """The directory that runs are to be stored in is none."""


class WriteError(JuratError, OSError):
    """A report cannot be written."""
