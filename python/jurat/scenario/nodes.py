"""Checks of a whole conversation, and the turns that they look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from jurat.errors import ScenarioError
from jurat.scenario._frozen import frozen
from jurat.scenario.primitives import Normalizer, VerificationPrimitive, primitive_of, stored_normalizer

__all__ = [
    "AllOf",
    "AllTurns",
    "AnyOf",
    "AnyTurn",
    "AtLeastN",
    "CountTurns",
    "CrossTurnCheck",
    "FirstMatchIndex",
    "FirstTurn",
    "LastTurn",
    "Not",
    "OutcomeNode",
    "ResultCheck",
    "ScopeUnion",
    "TurnAt",
    "TurnCheck",
    "node_of",
]

Nodes: TypeAlias = "str | Sequence[str] | None"


@dataclass(frozen=True)
class FirstTurn:
    """The first turn."""

    type: ClassVar[str] = "first_turn"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type}


@dataclass(frozen=True)
class LastTurn:
    """The last turn."""

    type: ClassVar[str] = "last_turn"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type}


@dataclass(frozen=True)
class TurnAt:
    """The turn at an index; negative ones count from the end."""

    index: int
    type: ClassVar[str] = "turn_at"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "index": self.index}


@dataclass(frozen=True)
class AnyTurn:
    """Some turn, at these nodes when they are named."""

    node_id: Nodes = None
    type: ClassVar[str] = "any_turn"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "node_id": self.node_id}


@dataclass(frozen=True)
class AllTurns:
    """Every turn, at these nodes when they are named; there must be one."""

    node_id: Nodes = None
    type: ClassVar[str] = "all_turns"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "node_id": self.node_id}


ScopeUnion: TypeAlias = "FirstTurn | LastTurn | TurnAt | AnyTurn | AllTurns"


@dataclass(frozen=True)
class TurnCheck:
    """A field of the turns that a scope means: `node_id`, `verify_result`, `raw_response`, `question_text` or `parsed.<name>`."""

    scope: ScopeUnion
    field: str
    expected: Any
    verify_with: VerificationPrimitive
    type: ClassVar[str] = "turn_check"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "type": self.type,
            "scope": self.scope.stored(),
            "field": self.field,
            "expected": self.expected,
            "verify_with": self.verify_with.stored(),
        }


@dataclass(frozen=True)
class ResultCheck:
    """A field of the whole: `status`, `turn_count`, `path` or `scenario_id`."""

    field: str
    expected: Any
    verify_with: VerificationPrimitive
    type: ClassVar[str] = "result_check"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        verify_with = self.verify_with.stored()
        return {"type": self.type, "field": self.field, "expected": self.expected, "verify_with": verify_with}


@dataclass(frozen=True)
class CrossTurnCheck:
    """A field of one turn, the target, compared with a field of another, the source: target, comparison, source."""

    source_turn: ScopeUnion
    source_field: str
    target_turn: ScopeUnion
    target_field: str
    comparison: str
    normalize: Sequence[Normalizer] = ()
    type: ClassVar[str] = "cross_turn_check"

    def __post_init__(self) -> None:
        for side, scope in (("source", self.source_turn), ("target", self.target_turn)):
            if isinstance(scope, (AnyTurn, AllTurns)):
                raise ScenarioError(
                    f"the {side} of a comparison between turns is one turn, and `{type(scope).__name__}` means several; use"
                    " `turn_at(index)`, `first_turn_scope()` or `last_turn_scope()`"
                )

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "type": self.type,
            "source_turn": self.source_turn.stored(),
            "source_field": self.source_field,
            "target_turn": self.target_turn.stored(),
            "target_field": self.target_field,
            "comparison": self.comparison,
            "normalize": [stored_normalizer(it) for it in self.normalize],
        }


@dataclass(frozen=True)
class CountTurns:
    """How many turns there are of these."""

    node_id: Nodes = None
    verify_result: bool | None = None
    type: ClassVar[str] = "count_turns"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "node_id": self.node_id, "verify_result": self.verify_result}


@dataclass(frozen=True)
class FirstMatchIndex:
    """The index of the first of these turns; -1 when there is none."""

    node_id: Nodes = None
    verify_result: bool | None = None
    type: ClassVar[str] = "first_match_index"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "node_id": self.node_id, "verify_result": self.verify_result}


@dataclass(frozen=True)
class AllOf:
    """All of these hold. Asked in order, until one does not."""

    conditions: list[OutcomeNode] = field(default_factory=list)
    type: ClassVar[str] = "all_of"

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _boolean(self, self.conditions))

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class AnyOf:
    """One of these holds. Asked in order, until one does."""

    conditions: list[OutcomeNode] = field(default_factory=list)
    type: ClassVar[str] = "any_of"

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _boolean(self, self.conditions))

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class AtLeastN:
    """At least this number of these hold. All of them are asked."""

    n: int
    conditions: list[OutcomeNode] = field(default_factory=list)
    type: ClassVar[str] = "at_least_n"

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _boolean(self, self.conditions))

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "n": self.n, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class Not:
    """This does not hold."""

    condition: OutcomeNode
    type: ClassVar[str] = "not"

    def __post_init__(self) -> None:
        _boolean(self, [self.condition])

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "condition": self.condition.stored()}


OutcomeNode: TypeAlias = (
    "AllOf | AnyOf | AtLeastN | Not | TurnCheck | ResultCheck | CrossTurnCheck | CountTurns | FirstMatchIndex"
)


def _boolean(composed: AllOf | AnyOf | AtLeastN | Not, conditions: Sequence[OutcomeNode]) -> list[OutcomeNode]:
    """Conditions that hold or do not. A number is neither: it would always count as false."""
    for it in conditions:
        if isinstance(it, (CountTurns, FirstMatchIndex)):
            raise ScenarioError(
                f"`{type(it).__name__}` is a number, and `{type(composed).__name__}` takes conditions that hold or do not; make it an outcome of its"
                " own, or ask about turns with `any_turn` or `all_turns`"
            )
    checked: list[OutcomeNode] = frozen(list(conditions))
    return checked


_CHECKS: tuple[type, ...] = (AllOf, AnyOf, AtLeastN, Not, TurnCheck, ResultCheck, CrossTurnCheck, CountTurns, FirstMatchIndex)
_SCOPES: tuple[type, ...] = (FirstTurn, LastTurn, TurnAt, AnyTurn, AllTurns)
_KINDS: dict[str, Any] = {it.type: it for it in (*_CHECKS, *_SCOPES)}  # type: ignore[attr-defined]


def node_of(stored: Mapping[str, Any]) -> Any:
    """A check or a scope from its stored form.

    >>> node_of({"type": "count_turns", "node_id": None, "verify_result": True})
    CountTurns(node_id=None, verify_result=True)
    """
    kind = _KINDS.get(stored["type"])
    if kind is None:
        raise ScenarioError(f"there is no check `{stored['type']}`; there are {', '.join(_KINDS)}")
    return kind(**{it.name: _part(it.name, stored[it.name]) for it in fields(kind) if it.name in stored})


def _part(name: str, stored: Any) -> Any:
    if name in ("scope", "source_turn", "target_turn", "condition"):
        return node_of(stored)
    if name == "conditions":
        return [node_of(it) for it in stored]
    if name == "verify_with":
        return primitive_of(stored)
    return stored
