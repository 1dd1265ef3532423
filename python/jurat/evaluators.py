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
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurat import _jurat
from jurat._called import parameters, settled, then
from jurat.errors import EvaluatorError

if TYPE_CHECKING:
    import inspect

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

    #: Whether it has no name but the one that all have which are given none.
    is_anonymous = False

    def __init__(self, function: Callable[..., Any], name: str, outputs: Sequence[Mapping[str, Any]]) -> None:
        self.__qualname__: str = type(self).__qualname__
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.outputs: tuple[Mapping[str, Any], ...] = tuple(outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> list[EvaluationResult]:
        return normalize(settled(self.function(*args, **kwargs)), self.outputs, name=self.name)

    def __reduce__(self) -> str | tuple[Any, ...]:
        # The name that the function had is the evaluator's now.
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (Evaluator, (self.function, self.name, self.outputs))

    def called(self) -> dict[str, Any]:
        """The evaluator as suites of this program have it: by its name. It runs here, when the suite is given it."""
        written: dict[str, Any] = {"call": self.name, "language": "python"}
        taken = parameters(self.function)
        if taken is not None:
            written["parameters"] = list(_written(taken))
        if self.outputs:
            written["outputs"] = [dict(it) for it in self.outputs]
        return written

    def call(self, arguments: dict[str, Any]) -> Any:
        """Calls the function with arguments by their names, and gives what it returns."""
        # Python reads named arguments before it runs a generator: those by place are taken out first.
        by_place = [arguments.pop(it) for it in self._positional if it in arguments]
        return then(self.function(*by_place, **arguments), _plain)

    @functools.cached_property
    def _positional(self) -> list[str]:
        return [it.name for it in parameters(self.function) or () if it.kind is it.POSITIONAL_ONLY]

    def definition(self) -> dict[str, Any]:
        """The evaluator as files have it: by its text. There it runs apart from this program, and sees none of its names."""
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
        given = str(getattr(function, "__name__", ""))
        # A lambda has no name that a task could have.
        made = Evaluator(function, name or (given if given.isidentifier() else "evaluator"), outputs)
        made.is_anonymous = name is None and not given.isidentifier()
        return made

    return wrap


#: The arguments that every case has names for.
_COMMON = ("output", "input", "reference", "metadata")


def _written(taken: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Parameters as definitions have them."""
    named = [it for it in taken if it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)]
    yield from (it.name if it.default is it.empty else f"{it.name}?" for it in named)
    if any(it.kind is it.VAR_KEYWORD for it in taken):
        names = {it.name for it in named}
        yield from (f"{it}?" for it in _COMMON if it not in names)
        yield "**"


def _plain(returned: Any) -> Any:
    """What a function returned, where it returned a result as `normalize` gives them."""
    if isinstance(returned, EvaluationResult):
        parts = {"label": returned.label, "score": returned.score, "explanation": returned.explanation}
        return {key: it for key, it in parts.items() if it is not None}
    return returned


def evaluator_of(code: Evaluator | Callable[..., Any]) -> Evaluator:
    """A function as an evaluator, if it is none."""
    return code if isinstance(code, Evaluator) else evaluator()(code)
