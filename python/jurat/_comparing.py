"""`jurat.compare` and `jurat.gate`. Their results are imported when they are needed: most programs that evaluate compare nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from jurat import _jurat
from jurat._listing import RunEntry
from jurat._sides import Evaluated, side
from jurat.errors import UsageError
from jurat.run import Run

if TYPE_CHECKING:
    from jurat import comparison, gates
else:
    from jurat._later import Later

    comparison, gates = map(Later, ("jurat.comparison", "jurat.gates"))

__all__ = ["compare", "gate"]


def compare(
    run: Run | RunEntry | Evaluated | str | PathLike[str],
    /,
    *new: Run | RunEntry | Evaluated | str | PathLike[str],
    by: Literal["prompt", "subject"] | None = None,
    base: str | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    unpaired: bool = False,
    include_changed: bool = False,
    allow: Sequence[Literal["suite"]] = (),
    common: bool = False,
    test: Literal["sign_flip", "wilcoxon"] = "sign_flip",
    described: int = 10,
    calibrations: Sequence[str | PathLike[str]] = (),
    directory: str | PathLike[str] = ".",
) -> comparison.Comparison:
    """Compares runs case by case: which cases changed, and whether the difference is more than chance.

    Cases are paired by the ids of their rows. What could not be paired or judged is counted, and bounded. Nothing is drawn at random: the same runs give the same
    result.

    Args:
        run: What others are compared with: a run, its file, the beginning of its name, `latest`, or a baseline that `jurat export --to baseline` or
            `Run.export` wrote. `"RUN@subject=NAME"` is a part of a run.
        new: What is compared with it.
        by: Compare the prompts or the subjects of the one run instead.
        base: With `by`, the prompt or subject that others are compared with; default: the first of the suite.
        confidence: The confidence of intervals.
        cluster: The path of what rows share, such as a document; default: `cluster_by` of the suite.
        unpaired: Whether the sides are independent samples, for runs that share no cases.
        include_changed: Whether rows that have the same id and other content are compared, too.
        allow: What may differ all the same: `["suite"]`.
        common: Whether three and more runs are compared on the cases that all of them have.
        test: The test of scores: every way in which the signs of the differences could have fallen, or Wilcoxon's signed ranks.
        described: How many cases that became worse, and how many that became better, are described with what was answered.
        calibrations: Files of calibrations, by which differences are corrected for the errors of their judges; default: those of the project.
        directory: The directory whose project has the runs that are given by name.

    Returns:
        The comparison: lines with intervals, cases that changed, and what else differs.

    Raises:
        ReadError: A run cannot be read.
        RunError: The runs share no case.
        UsageError: There is no such run, or the runs cannot be compared so.

    Example:
        >>> import jurat
        >>> rows = [{"id": f"r{n}", "n": n, "expected": 2 * n} for n in range(20)]
        >>> def right(output: int, expected: int) -> bool:
        ...     return output == expected
        >>> before = jurat.evaluate(lambda n: n + 10, rows, [right])
        >>> after = jurat.evaluate(lambda n: n * 2, rows, [right])
        >>> found = jurat.compare(before, after)
        >>> found.word, len(found.fixes), len(found.regressions)
        ('better', 19, 0)
    """
    if (by is None) != bool(new):
        raise UsageError("give the runs that are compared with the first, or `by` for the prompts or subjects of one run")
    if base is not None and by is None:
        raise UsageError("`base` names a prompt or a subject, and needs `by`; the first run is what others are compared with")
    options = {
        "by": by,
        "base": base,
        "confidence": confidence,
        "cluster": cluster,
        "unpaired": unpaired,
        "include_changed": include_changed,
        "allow": list(allow),
        "common": common,
        "test": test,
        "described": described,
        "calibrations": [os.fspath(it) for it in calibrations],
    }
    return comparison.read(*_jurat.compare_runs(directory, [side(it) for it in (run, *new)], options))


def gate(
    run: Run | RunEntry | Evaluated | str | PathLike[str] = "latest",
    *,
    base: Run | RunEntry | Evaluated | str | PathLike[str] | None = None,
    policy: Mapping[str, Any] | str | PathLike[str] | None = None,
    directory: str | PathLike[str] = ".",
) -> gates.GateReport:
    """Decides whether a run may pass: pass, fail, or not enough data to say.

    Args:
        run: The run, as `compare` takes it.
        base: What it is compared with; default: `base` of the policy.
        policy: The conditions, or the path of a YAML file with them; default: `gates` of the suite.
        directory: The directory whose project has the runs that are given by name.

    Returns:
        The verdict, and what each condition found.

    Raises:
        ReadError: A run cannot be read.
        RunError: The runs share no case.
        SuiteError: The policy is wrong.
        UsageError: There is no such run, no policy, or the policy compares and there is nothing to compare with.

    Example:
        >>> import jurat
        >>> rows = [{"id": f"r{n}", "n": n} for n in range(100)]
        >>> run = jurat.evaluate(lambda n: 2 * n, rows, [lambda output: output % 2 == 0])
        >>> report = jurat.gate(run, policy={"conditions": [{"id": "even", "at_least": 0.9}]})
        >>> report.verdict
        'pass'
    """
    text = _jurat.to_json(policy) if isinstance(policy, Mapping) else None
    file = None if policy is None or isinstance(policy, Mapping) else policy
    written = _jurat.gate_run(directory, side(run), None if base is None else side(base), file, text)
    return gates.read(*written)
