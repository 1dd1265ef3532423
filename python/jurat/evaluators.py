"""Functions that look at an answer and return a label, a score, or both.

>>> from jurat.evaluators import normalize
>>> outputs = [{"name": "verdict", "values": [{"label": "pass", "score": 1.0}, {"label": "fail", "score": 0.0}]}]
>>> normalize("pass", outputs, name="tone")
[EvaluationResult(name='tone', label='pass', score=1.0, explanation=None, error=None)]
>>> normalize("unknown", outputs, name="tone")
Traceback (most recent call last):
jurat.errors.EvaluatorError: Label 'unknown' not in categorical output config values ['pass', 'fail'].
Valid shapes:
  return "pass"
  return {"label": "pass", "explanation": "..."}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jurat import _jurat
from jurat.errors import EvaluatorError

__all__ = ["EvaluationResult", "Evaluator", "evaluator", "normalize"]


@dataclass(frozen=True)
class EvaluationResult:
    """What an evaluator says about one of its outputs."""

    name: str
    label: str | None = None
    score: float | None = None
    explanation: str | None = None
    #: Why there is neither, where another output of the same value has something.
    error: str | None = None


def normalize(
    value: Any, outputs: Sequence[Mapping[str, Any]] = (), *, name: str, language: str = "python"
) -> list[EvaluationResult]:
    """What a returned value means for each output.

    An output is `{"name", "values": [{"label", "score"}]}` for labels, or `{"name", "lower_bound", "upper_bound"}` for numbers; `type` may say which. A value
    that means nothing is an `EvaluatorError`, which lists what would do. Of several outputs those that can be read are, and the others say why not.
    """
    found = [EvaluationResult(**it) for it in _jurat.normalize(value, list(outputs), name, language)]
    if found and all(it.error is not None for it in found):
        raise EvaluatorError("\n".join(dict.fromkeys(it.error or "" for it in found)))
    return found


class Evaluator:
    """A function with a name and outputs. Calling it gives results rather than what the function returns."""

    def __init__(self, function: Callable[..., Any], name: str, outputs: Sequence[Mapping[str, Any]]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.outputs = tuple(outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> list[EvaluationResult]:
        from jurat._called import settled

        return normalize(settled(self.function(*args, **kwargs)), self.outputs, name=self.name)

    def definition(self) -> dict[str, Any]:
        """The evaluator as suites have it: by its text. There it runs apart from this program, and sees none of its names."""
        import ast
        import inspect
        import textwrap

        try:
            text = textwrap.dedent(inspect.getsource(self.function))
        except (OSError, TypeError) as error:
            raise EvaluatorError(f"the text of `{self.name}` is not known, so it cannot run in a suite") from error
        (function, *_) = ast.parse(text).body
        if not isinstance(function, ast.FunctionDef):
            raise EvaluatorError(f"`{self.name}` is no plain function, so it cannot run in a suite")
        function.decorator_list = []
        # Names in annotations need not exist where it runs.
        source = f"from __future__ import annotations\n\n{ast.unparse(function)}\n"
        definition: dict[str, Any] = {"source": source, "language": "python", "entry": function.name}
        if self.outputs:
            definition["outputs"] = [dict(it) for it in self.outputs]
        return definition


def evaluator(
    name: str | None = None, outputs: Sequence[Mapping[str, Any]] = ()
) -> Callable[[Callable[..., Any]], Evaluator]:
    """Makes a function an evaluator.

    >>> from jurat.evaluators import evaluator
    >>> @evaluator(outputs=[{"name": "length", "lower_bound": 0}])
    ... def brief(output: str) -> float:
    ...     return len(output) / 10
    >>> brief("Hello!")[0].score
    0.6
    """

    def wrap(function: Callable[..., Any]) -> Evaluator:
        return Evaluator(function, name or str(getattr(function, "__name__", "evaluator")), outputs)

    return wrap
