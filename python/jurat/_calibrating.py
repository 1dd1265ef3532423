"""`jurat.calibrate`. Its result is imported when it is needed: most programs that evaluate calibrate nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from jurat import _jurat
from jurat._listing import RunEntry
from jurat._sides import Evaluated, file_of
from jurat.errors import UsageError
from jurat.run import Run

if TYPE_CHECKING:
    from jurat import calibration
else:
    from jurat._later import Later

    calibration = Later("jurat.calibration")

__all__ = ["calibrate"]


def calibrate(
    run: Run | RunEntry | Evaluated | str | PathLike[str],
    labels: str | PathLike[str] | Sequence[str | PathLike[str]] | Sequence[Mapping[str, Any]],
    *,
    task: str | None = None,
    random: bool = False,
    ordered: bool = False,
    weights: Literal["quadratic", "linear"] = "quadratic",
    half_width: float | None = None,
    against: str | PathLike[str] | None = None,
    probe: Sequence[Literal["order", "verbosity", "repeat"]] = (),
    budget_usd: float | None = None,
    budget_calls: int | None = None,
    confidence: float = 0.95,
    store: bool = True,
    directory: str | PathLike[str] = ".",
) -> calibration.Calibration:
    """Compares the judge of a run with what people said: how far it can be trusted, and what pass rate people would have given.

    Args:
        run: The run, as `compare` takes it.
        labels: What people said: a file or several, as CSV or JSON lines, or dicts with `case`, `label` or `score`, and `annotator`. `jurat.calibration.sheet` makes a
            sheet to fill in.
        task: The task whose judge is looked at; default: the only one that has a judge.
        random: Whether the labelled cases are a simple random part of the run.
        ordered: Whether labels have an order, that of the judge's `enum`.
        weights: How much neighbouring labels count as agreement, where labels have an order.
        half_width: The half-width that intervals should have: `advice` says how many labels that takes; default: half of what they have.
        against: The file of an earlier calibration: `drift` says whether the judge agrees with people as it did then.
        probe: What is changed that should not matter. Each asks the judge once more about the labelled cases, as a run of its own.
        budget_usd: The most that each probe spends, in US dollars.
        budget_calls: The most requests that each probe makes.
        confidence: The confidence of intervals.
        store: Whether the calibration is stored in the project: then reports of later runs with this judge are corrected by it.
        directory: The directory whose project has the run that is given by name, and where the calibration is stored.

    Returns:
        The calibration: agreement, κ, α and more, each with an interval, and the corrected pass rate.

    Raises:
        ReadError: The run or a file cannot be read.
        RunError: No label is about the run.
        SuiteError: A line of labels is wrong.
        UsageError: There is no such run or task, or an option is wrong.

    Example:
        >>> import jurat
        >>> rows = [{"id": f"r{n}", "n": n} for n in range(40)]
        >>> run = jurat.evaluate(lambda n: n, rows, [lambda output: output < 20])
        >>> said = [{"case": f"r{n}", "label": "pass" if n < 22 else "fail", "annotator": "ada"} for n in range(40)]
        >>> found = jurat.calibrate(run, said, store=False)
        >>> found.agreement.value, len(found.disagreements)
        (0.95, 2)
    """
    options = {
        "task": task,
        "random": random,
        "ordered": ordered,
        "weights": weights,
        "half_width": half_width,
        "against": None if against is None else os.fspath(against),
        "probe": list(probe),
        "budget_usd": budget_usd,
        "budget_calls": budget_calls,
        "confidence": confidence,
        "store": store,
    }
    with _files(labels) as files:
        return calibration.read(*_jurat.calibrate_run(directory, file_of(run), files, options))


@contextmanager
def _files(labels: str | PathLike[str] | Sequence[str | PathLike[str]] | Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The files of labels; those of dicts are there as long as they are read."""
    if isinstance(labels, (str, PathLike)):
        yield [os.fspath(labels)]
        return
    rows = [it for it in labels if isinstance(it, Mapping)]
    paths = [os.fspath(it) for it in labels if not isinstance(it, Mapping)]
    if rows and paths:
        raise UsageError("labels are files, or dicts, not both")
    if not rows:
        yield paths
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "labels.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{_jurat.to_json(it)}\n" for it in rows)
        yield [path]
