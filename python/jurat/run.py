"""Runs that are over: what came of them, read back from their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from jurat import _jurat
from jurat._counts import Counts
from jurat._tables import Tables
from jurat.errors import RunFailed, UsageError
from jurat.viewing import Viewer

if TYPE_CHECKING:
    import pathlib

    from jurat.scenario import ScenarioExecutionResult
else:
    from jurat._later import Later

    pathlib = Later("pathlib")

__all__ = ["Case", "Counts", "Run", "TaskResult", "Verdict", "open_run"]

Verdict = Literal["passed", "failed", "measured", "skipped", "error", "not_run"]

#: How many cases are read from the file at a time.
_CHUNK = 256


@dataclass(frozen=True, repr=False)
class TaskResult:
    """The result of one task of one case."""

    id: str
    kind: str
    verdict: Verdict
    is_counted: bool
    message: str
    expected: Any
    actual: Any
    reply: Any
    label: str | None
    score: float | None
    explanation: str | None
    cost_usd: float | None
    seconds: float | None
    requests: int
    #: The results of the outputs of an evaluator that has several, or of the dimensions that a judge scored: `content-check.toxicity`.
    outputs: tuple[TaskResult, ...] = ()

    @property
    def passed(self) -> bool | None:
        """Whether it passed; `None` when it was not judged."""
        return {"passed": True, "failed": False}.get(self.verdict)

    def __repr__(self) -> str:
        # A failed assertion shows it: the message says what was expected and found.
        said = self.message or self.label or ("" if self.score is None else self.score)
        return f"<{type(self).__name__} {self.id}: {self.verdict}{f': {said}' if said != '' else ''}>"


@dataclass(frozen=True, repr=False)
class Case:
    """One case of a run, with the results of its tasks. The outputs of a task stand behind it, each with a result of its own."""

    id: str
    verdict: str
    tasks: tuple[TaskResult, ...]
    counts: Counts
    subject: str | None
    prompt: str | None
    replicate: int | None
    seconds: float
    cost_usd: float | None
    execution: ScenarioExecutionResult | None

    @property
    def pass_rate(self) -> float | None:
        """The share of its tasks that passed, of those that count and were judged."""
        return self.counts.pass_rate

    @property
    def failures(self) -> tuple[TaskResult, ...]:
        """The tasks that make it fail: those that count and did not pass."""
        return tuple(it for it in self.tasks if it.is_counted and it.verdict == "failed")

    @property
    def errors(self) -> tuple[TaskResult, ...]:
        """The tasks that could not be judged."""
        return tuple(it for it in self.tasks if it.verdict == "error")

    @property
    def passed(self) -> bool | None:
        """Whether it passed; `None` when it could not be judged, or nothing was."""
        return {"passed": True, "failed": False}.get(self.verdict)

    def task(self, id: str) -> TaskResult:
        """One of its tasks, or one of their outputs.

        Args:
            id: The id of a task, or of an output such as `content-check.toxicity`; upper and lower case are the same.

        Returns:
            Its result.

        Raises:
            KeyError: The case has no such task.
        """
        for task in self.tasks:
            if task.id.lower() == id.lower():
                return task
        raise KeyError(f"there is no task `{id}`; there are {', '.join(it.id for it in self.tasks) or 'none'}")

    def __getitem__(self, id: str) -> TaskResult:
        return self.task(id)

    def __repr__(self) -> str:
        wrong = "".join(f"; {it.id}: {it.message}" for it in (*self.failures, *self.errors))
        return f"<{type(self).__name__} {self.id}: {self.verdict}{wrong}>"


class Run(Tables):
    """A run, and everything that came of it. All of it is in one file: memory does not grow with the number of cases.

    It can be iterated over, case by case, and is a table of Arrow.
    """

    def __init__(self, run: _jurat.Run) -> None:
        self._run = run
        self._summary: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, tuple[pathlib.Path]]:
        # All of it is in its file, which another process of this machine opens.
        return open_run, (self.path.absolute(),)

    @property
    def _figures(self) -> dict[str, Any]:
        if self._summary is None:
            self._summary = self._run.summary()
        return self._summary

    @property
    def id(self) -> str:
        """What it is called."""
        return self._run.id

    @property
    def path(self) -> pathlib.Path:
        """Its file."""
        return pathlib.Path(self._run.path)

    @property
    def conclusion(self) -> str:
        """How it ended: `passed`, `failed`, `undecided`, `limited`, `nothing` or `interrupted`."""
        return self._run.conclusion

    @property
    def passed(self) -> bool:
        """Whether it passed: every threshold was reached, and everything that counts could be judged. `decision` says why."""
        return self.conclusion == "passed"

    @property
    def failures(self) -> Iterator[Case]:
        """The cases that failed, read from the file one by one."""
        return (it for it in self if it.verdict == "failed")

    @property
    def errors(self) -> Iterator[Case]:
        """The cases that could not be judged, read from the file one by one."""
        return (it for it in self if it.verdict == "error")

    def raise_for_failures(self) -> None:
        """Raises an exception where it did not pass.

        Raises:
            RunFailed: It did not pass. It is an `AssertionError`, with the reason and the first cases that failed or could not be judged.
        """
        if not self.passed:
            raise RunFailed(_failure(self), self)

    @property
    def counts(self) -> Counts:
        """How many tasks ended how, over all cases."""
        return Counts(**self._figures["counts"])

    @property
    def pass_rate(self) -> float | None:
        """The share of what was judged that passed; `None` when nothing was judged, or when no case could be: each ended with an error."""
        rate: float | None = self._figures["pass_rate"] if self._has_judged else None
        return rate

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the pass rate."""
        interval: tuple[float, float] | None = self._figures["interval"] if self._has_judged else None
        return interval

    @property
    def _has_judged(self) -> bool:
        """Whether some case could be judged. Where none could, single tasks that passed say nothing about the subject."""
        cases: dict[str, int] = self._figures["cases"]
        return cases["passed"] + cases["failed"] > 0 or not cases["error"]

    @property
    def decision(self) -> str:
        """Whether it passed and by which rule, in one sentence."""
        decision: str = self._figures["decision"]
        return decision

    @property
    def missed(self) -> list[str]:
        """The thresholds that were not reached, in words."""
        return list(self._figures["missed"])

    @property
    def stopped(self) -> str | None:
        """Why it was stopped; `None` when it was not."""
        stopped: str | None = self._figures["stopped"]
        return stopped

    @property
    def cost_usd(self) -> float | None:
        """What all answers cost in dollars, as far as that is known."""
        cost: float | None = self._figures["cost_usd"]
        return cost

    @property
    def answers(self) -> tuple[int, int]:
        """How many answers of models it rests on, and how many of them were there before it."""
        asked, reused = self._figures["answers"]
        return asked, reused

    @property
    def task_totals(self) -> list[dict[str, Any]]:
        """Each task over all cases."""
        return self._run.task_totals()

    def __len__(self) -> int:
        total: int = self._figures["cases"]["total"]
        return total

    def __iter__(self) -> Iterator[Case]:
        start = 0
        while cases := self._run.cases(start, _CHUNK):
            yield from map(_case, cases)
            start += _CHUNK

    def case(self, id: str) -> Case:
        """The case of a row, a scenario or an agent, by its id. It is found by the index of the file.

        Args:
            id: The id.

        Returns:
            The case; the first, where several subjects, prompts or repetitions have one.

        Raises:
            KeyError: There is no such case.
        """
        found = self._run.case(id)
        if found is None:
            raise KeyError(f"there is no case `{id}` in the run {self.id}")
        return _case(found)

    def _at(self, place: int) -> Case:
        """The case with this place, counted from 0."""
        return _case(self._run.cases(place, 1)[0])

    def __getitem__(self, id: str) -> Case:
        return self.case(id)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._run.case(id) is not None

    def table(self, *, tasks: bool = False) -> str:
        """The tables that the command prints.

        Args:
            tasks: Whether it has the result of each task of each case, too.

        Returns:
            Text.
        """
        return self._run.table(tasks)

    def explain(self, case: str, task: str) -> str:
        """Everything that a verdict rests on: operands, the context that the task saw, gates, prompt and answers.

        Args:
            case: The id of a case, or the beginning of it.
            task: The id of a task.

        Returns:
            Text.

        Raises:
            UsageError: There is no such case or task.
        """
        return self._run.explain(case, task)

    def answered(self) -> list[dict[str, Any]]:
        """What subjects answered, for another suite to judge.

        Returns:
            Each row with what was asked and answered.
        """
        return self._run.answered()

    def results_json(self) -> str:
        """The results as JSON, without anything that depends on the day.

        Returns:
            Text, of which a replay gives the same.
        """
        return self._run.results_json()

    def to_dict(self) -> dict[str, Any]:
        """The results as an object.

        Returns:
            Numbers of the whole, of tasks, and of each case under `cases`.
        """
        import json

        results: dict[str, Any] = json.loads(self.results_json())["results"]
        return results

    def export(self, path: str | PathLike[str], *, format: str | None = None) -> None:
        """Writes it to a file.

        Args:
            path: The file.
            format: The format; default: what the name of the file says: JSON, JSON lines, CSV, Parquet, JUnit (`.xml`) or Markdown.

        Raises:
            UsageError: The name says no format.
            WriteError: The file cannot be written.
        """
        found = format or _jurat.format_of_file(path)
        if found is None:
            raise UsageError(f"the name of `{path}` says no format; give one of {', '.join(_jurat.formats())}")
        self._run.export(found, path)

    def view(self, *, read_only: bool = False, annotator: str | None = None) -> Viewer:
        """Shows it in a browser: starts a viewer, which answers until it is stopped or the program ends.

        Args:
            read_only: Whether no labels are accepted.
            annotator: The person who labels; default: the name of the user.

        Returns:
            The viewer; its address is `url`, and a notebook shows it as a link.

        Raises:
            JuratError: It cannot be started.
        """
        return Viewer(self.path, read_only=read_only, annotator=annotator)

    def __repr__(self) -> str:
        return f"<Run {self.id}: {len(self)} cases, {_rate(self.pass_rate)}, {self.conclusion}>"

    def _repr_html_(self) -> str:
        from jurat._overview import shown

        return shown(self)


def open_run(path: str | PathLike[str], *, directory: str | PathLike[str] | None = None) -> Run:
    """Opens a run.

    Args:
        path: Its file; with a directory, also the beginning of its name, or `latest`.
        directory: The directory whose project has the run.

    Returns:
        The run.

    Raises:
        ReadError: It cannot be read.
        UsageError: There is no such run.

    Example:
        >>> import jurat
        >>> suite = jurat.Suite({"tasks": [{"id": "one", "field_path": "n", "operator": "equals", "expected_value": 1}]})
        >>> run = suite.run([{"n": 1}])
        >>> jurat.open_run(run.path).id == run.id
        True
    """
    if directory is None:
        return Run(_jurat.open_run(path))
    return Run(_jurat.find_run(directory, str(path)))


#: How many cases a failure names.
_SHOWN = 10


def _failure(run: Run) -> str:
    """Why a run did not pass, for the reader of a failed test."""
    lines = [f"{run.decision} (run {run.id})", *run.missed]
    n_wrong = 0
    for case in run:
        if case.verdict in ("failed", "error"):
            n_wrong += 1
            if n_wrong <= _SHOWN:
                tasks = (it for it in case.tasks if it.verdict == case.verdict and (it.is_counted or it.verdict == "error"))
                lines += [f"  {case.id} {it.id} {it.verdict}: {it.message}" for it in tasks]
    if n_wrong > _SHOWN:
        lines.append(f"  and {n_wrong - _SHOWN} more cases")
    return "\n".join(lines)


def _rate(rate: float | None) -> str:
    return "nothing judged" if rate is None else f"{rate:.1%} passed"


def _case(case: dict[str, Any]) -> Case:
    execution = None
    if case["execution"] is not None:
        from jurat.scenario import ScenarioExecutionResult

        execution = ScenarioExecutionResult.from_evidence(case["execution"])
    return Case(
        id=case["id"],
        verdict=case["verdict"],
        tasks=tuple(it for task in case["tasks"] for it in _results(task)),
        counts=Counts(**case["counts"]),
        subject=case["subject"],
        prompt=case["prompt"],
        replicate=case["replicate"],
        seconds=case["seconds"],
        cost_usd=case["cost_usd"],
        execution=execution,
    )


def _results(task: dict[str, Any]) -> tuple[TaskResult, ...]:
    """The result of a task, and behind it those of its outputs."""
    outputs = tuple(_output(task["kind"], it) for it in task["outputs"])
    return (TaskResult(**{**task, "outputs": outputs}), *outputs)


def _output(kind: str, output: dict[str, Any]) -> TaskResult:
    # It is part of its task, which counts, costs and asks.
    part: dict[str, Any] = {"is_counted": False, "expected": None, "actual": None, "reply": None, "cost_usd": None, "seconds": None, "requests": 0}
    return TaskResult(kind=kind, **part, **output)
