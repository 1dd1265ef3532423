"""What names a run: the run itself, its file, or text."""

from __future__ import annotations

import os
from os import PathLike
from typing import Protocol

from jurat._listing import RunEntry
from jurat.errors import UsageError
from jurat.run import Run

__all__ = ["Evaluated", "file_of", "side"]


class Evaluated(Protocol):
    """The result of an evaluation that has a run, such as that of a dataset."""

    run: Run


def side(of: Run | RunEntry | Evaluated | str | PathLike[str]) -> str | tuple[str, str]:
    """What names a side: text, or a file and what it is called."""
    if isinstance(of, str):
        return of
    if isinstance(of, (Run, RunEntry)):
        return str(of.path), of.id
    if isinstance(of, PathLike):
        path = os.fspath(of)
        return path, os.path.basename(path)
    if isinstance(getattr(of, "run", None), Run):
        return side(of.run)
    raise UsageError(f"a {type(of).__name__} is no run; give a run, its file or its name")


def file_of(run: Run | RunEntry | Evaluated | str | PathLike[str]) -> str:
    """The file of a run, or the text that names it."""
    named = side(run)
    return named if isinstance(named, str) else os.path.abspath(named[0])
