"""The runs of a project."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from jurat import _jurat
from jurat.run import Run, open_run

if TYPE_CHECKING:
    import datetime
    import pathlib
else:
    from jurat._later import Later

    datetime, pathlib = map(Later, ("datetime", "pathlib"))

__all__ = ["RunEntry", "runs"]


@dataclass(frozen=True)
class RunEntry:
    """A run among those of its project.

    Attributes:
        id: What it is called.
        path: Its file.
        suite: The suite that was run.
        started_at: When it began.
        cases: How many cases it has so far.
        pass_rate: The share of what was judged that passed; `None` when nothing was judged.
        condition: How far it has come. One that was `stopped` or `killed` is resumed by running the same again.
    """

    id: str
    path: pathlib.Path
    suite: str
    started_at: datetime.datetime | None
    cases: int | None
    pass_rate: float | None
    condition: Literal["done", "stopped", "failed", "running", "killed", "unreadable"]

    def open(self) -> Run:
        """Opens it.

        Returns:
            The run.

        Raises:
            ReadError: It cannot be read.
        """
        return open_run(self.path)


def runs(directory: str | PathLike[str] = ".", *, most: int = 100) -> list[RunEntry]:
    """The runs of the project that a directory belongs to, the newest first.

    Args:
        directory: The directory, or one below it.
        most: How many are looked at.

    Returns:
        An entry for each run; none when there is no project.

    Raises:
        ReadError: The directory cannot be read.

    Example:
        >>> import jurat
        >>> run = jurat.evaluate(len, ["a", "ab"], [lambda output: output < 3])
        >>> jurat.runs()[0].id == run.id
        True
    """
    return [_entry(**it) for it in _jurat.list_runs(directory, most)]


def _entry(*, path: str, started: float | None, **known: Any) -> RunEntry:
    started_at = None if started is None else datetime.datetime.fromtimestamp(started, tz=datetime.timezone.utc)
    return RunEntry(path=pathlib.Path(path), started_at=started_at, **known)
