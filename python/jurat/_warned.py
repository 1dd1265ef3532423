"""What is probably a mistake, as warnings of Python at the line of the caller."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jurat.errors import PlanWarning

if TYPE_CHECKING:
    from jurat.errors import Problem

__all__ = ["warn", "warn_of"]


#: What a program sees by itself: functions that give scores and no verdicts are usual in Python, and the pass rate of such a run is `None`.
_SEEN_ANYWAY = ("plan::nothing_judged",)


def warn(found: Iterable[str]) -> None:
    """Warns of each, at the first line that is not of this package."""
    for words in found:
        warnings.warn(words, PlanWarning, stacklevel=_outside())


def warn_of(problems: Iterable[Problem]) -> None:
    """Warns of the problems of a definition."""
    warn(_words(it) for it in problems if it["code"] not in _SEEN_ANYWAY)


def _words(problem: Problem) -> str:
    """A problem in one paragraph, with its code for `docs/problems`."""
    return f"{'; '.join([problem['message'], *problem['help']])} [{problem['code']}]"


def _outside() -> int:
    """How far up the first frame is that is not of this package, as `warnings.warn` counts from its caller."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "jurat":
        frame, level = frame.f_back, level + 1
    return level
