"""Functions of this program as subjects: they are called with the rows, and what they return is judged.

>>> import jurat
>>> def double(n: int) -> int:
...     return 2 * n
>>> run = jurat.evaluate(double, [{"n": 21, "expected": 42}], [{"id": "right", "field_path": "output",
...                      "operator": "equals", "expected_value": "${expected}"}])
>>> run.pass_rate
1.0
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurat._called import parameters, then
from jurat.errors import UsageError

if TYPE_CHECKING:
    import inspect

__all__ = ["Output", "Subject"]

#: The parameter that is given the whole row.
ROW = "row"


@dataclass(frozen=True)
class Output:
    """What a subject returns when its result alone does not say enough.

    Args:
        value: The result, which tasks find under `output`.
        tool_calls: The tools that were called on the way, each as `{"name": …, "arguments": {…}}`; tasks find them under `tool_calls`.
        tokens: The tokens that models took, read and written; tasks find them under `usage`.

    Example:
        >>> from jurat.subject import Output
        >>> Output("It is noon.", tool_calls=[{"name": "clock", "arguments": {"city": "Lima"}}]).value
        'It is noon.'
    """

    value: Any
    tool_calls: Sequence[Mapping[str, Any]] = ()
    tokens: tuple[int, int] | None = None


class Subject:
    """A function, and how rows become its arguments.

    Each parameter is given the field of the row that has its name. A parameter called `row`, and one that is positional-only, is given the whole row. So is
    the only parameter of a function when its annotation is a dataclass or a pydantic model and the row has no field of its name. `**` parameters are
    given all fields that no other parameter takes. Values become dataclasses, pydantic models and enums where annotations say so.

    Args:
        function: A plain or an `async` function.
        of_values: Whether rows are no objects: the engine has each as an object with the one field `value`, and the function is given the value.

    Raises:
        UsageError: It is no function.

    Example:
        >>> from jurat.subject import Subject
        >>> Subject(lambda a, b: a + b)({"a": 1, "b": 2})
        3
        >>> Subject(lambda row: len(row))({"a": 1, "b": 2})
        2
    """

    def __init__(self, function: Callable[..., Any], *, of_values: bool = False) -> None:
        if not callable(function):
            raise UsageError(f"the subject is a function that is called with each row, not a `{type(function).__name__}`")
        self.function = function
        self.of_values = of_values
        self._parameters = parameters(function)
        self._types = _types(function)

    def __call__(self, row: Any) -> Any:
        """Calls the function with a row.

        Args:
            row: An object of fields, or any other value, which the only parameter is given.

        Returns:
            What the function returns; for an `async` function, a coroutine.

        Raises:
            UsageError: The row lacks a field that a parameter needs.
        """
        positional, named = self.arguments(row)
        return self.function(*positional, **named)

    def arguments(self, row: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments that a row becomes.

        Args:
            row: As for a call.

        Returns:
            Those by place, and those by name.

        Raises:
            UsageError: The row lacks a field that a parameter needs.
        """
        if self._parameters is None:
            return [row], {}
        taken = [it for it in self._parameters if it.kind is not it.VAR_POSITIONAL]
        if not isinstance(row, Mapping):
            return self._of_value(row, taken)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in taken:
            if parameter.kind is parameter.VAR_KEYWORD:
                named |= {key: it for key, it in row.items() if key not in {it.name for it in taken}}
            elif self._takes_row(parameter, taken, row):
                _put(parameter, self._typed(parameter, row), positional, named)
            elif parameter.name in row:
                _put(parameter, self._typed(parameter, row[parameter.name]), positional, named)
            elif parameter.default is parameter.empty:
                raise UsageError(self._missing(parameter.name, row))
        return positional, named

    def _of_value(self, row: Any, taken: Sequence[inspect.Parameter]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a row that is no object."""
        by_place = [it for it in taken if it.kind is not it.VAR_KEYWORD]
        needed = [it for it in by_place if it.default is it.empty]
        if not by_place or len(needed) > 1:
            raise UsageError(f"`{self.name}` takes {len(needed)} arguments, and the row is a single value: {row!r}")
        positional: list[Any] = []
        named: dict[str, Any] = {}
        first = (needed or by_place)[0]
        _put(first, self._typed(first, row), positional, named)
        return positional, named

    def _takes_row(self, parameter: inspect.Parameter, taken: Sequence[inspect.Parameter], row: Mapping[str, Any]) -> bool:
        if parameter.kind is parameter.POSITIONAL_ONLY or parameter.name == ROW:
            return True
        return len(taken) == 1 and parameter.name not in row and _is_object(self._types.get(parameter.name))

    def _typed(self, parameter: inspect.Parameter, value: Any) -> Any:
        kind = self._types.get(parameter.name)
        if kind is None or value is None:
            return value
        from jurat._schema import instance_of

        return instance_of(kind, value)

    def _missing(self, name: str, row: Mapping[str, Any]) -> str:
        fields = ", ".join(f"`{it}`" for it in row) or "none"
        return f"`{self.name}` takes `{name}`, which the row does not have; its fields are {fields}. A parameter called `{ROW}` is given the whole row"

    @property
    def name(self) -> str:
        """What the function is called."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def asked(self, question: Mapping[str, Any]) -> Any:
        """The function as the engine calls it.

        Args:
            question: What a model is asked: the row is its prompt.

        Returns:
            The answer, as JSON; for an `async` function, a coroutine.
        """
        import json

        row = json.loads(question["prompt"])
        return then(self(row["value"] if self.of_values else row), _answer)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _subject, (self.function, self.of_values)

    def __repr__(self) -> str:
        return f"<Subject {self.name}>"


def _subject(function: Callable[..., Any], of_values: bool) -> Subject:
    return Subject(function, of_values=of_values)


def _put(parameter: inspect.Parameter, value: Any, positional: list[Any], named: dict[str, Any]) -> None:
    if parameter.kind is parameter.POSITIONAL_ONLY:
        positional.append(value)
    else:
        named[parameter.name] = value


def _answer(returned: Any) -> dict[str, Any]:
    if not isinstance(returned, Output):
        return {"json": returned}
    answer: dict[str, Any] = {"json": returned.value}
    if returned.tool_calls:
        answer["tool_calls"] = [dict(it) for it in returned.tool_calls]
    if returned.tokens is not None:
        answer["tokens"] = returned.tokens
    return answer


def _types(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of parameters, where they can be known: names in them may exist for type checkers alone."""
    import typing

    target = function if hasattr(function, "__code__") else getattr(function, "__call__", function)  # noqa: B004
    try:
        return {name: it for name, it in typing.get_type_hints(target).items() if name != "return"}
    except Exception:
        return {}


def _is_object(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "model_validate"))
