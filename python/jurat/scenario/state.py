"""What is known between two turns, and checks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jurat.scenario.primitives import VerificationPrimitive

__all__ = ["ScenarioState", "StateCheck"]


@dataclass(frozen=True)
class StateCheck:
    """A field of the state compared with a value: the condition of an edge.

    >>> from jurat.scenario import ExactMatch, StateCheck
    >>> StateCheck(field="parsed.city", expected="Paris", verify_with=ExactMatch()).stored()["field"]
    'parsed.city'
    """

    field: str
    expected: Any = None
    verify_with: VerificationPrimitive | None = None

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        if self.verify_with is None:
            return {self.field: self.expected}
        return {
            "type": "state_check",
            "field": self.field,
            "expected": self.expected,
            "verify_with": self.verify_with.stored(),
        }


class ScenarioState(Mapping[str, Any]):
    """What is known after a turn: `turn`, `current_node`, `verify_result`, `parsed`, `accumulated`, `node_visits`, `node_results`, `failure`.

    Its parts are attributes and members.
    """

    turn: int
    current_node: str
    verify_result: bool | None
    parsed: dict[str, Any]
    accumulated: dict[str, Any]
    node_visits: dict[str, int]
    node_results: dict[str, Any]

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.__dict__.update(parts)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __repr__(self) -> str:
        return f"ScenarioState({self.__dict__!r})"
