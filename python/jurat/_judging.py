"""Functions whose booleans are verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jurat.evaluators import Evaluator, evaluator_of

__all__ = ["JudgingEvaluator", "judging"]


class JudgingEvaluator(Evaluator):
    """An evaluator that passes or fails when it returns `True` or `False`, where no task compares what it returns."""

    def called(self) -> dict[str, Any]:
        """The evaluator as suites of this program have it."""
        return {**super().called(), "judges": True}


def judging(code: Evaluator | Callable[..., Any], name: str | None = None) -> Evaluator:
    """A function as an evaluator that judges. One with outputs says by them what it means, and stays as it is."""
    known = evaluator_of(code)
    return known if known.outputs else JudgingEvaluator(known.function, name or known.name, ())
