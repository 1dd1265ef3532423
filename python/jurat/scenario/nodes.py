"""Checks of a whole conversation, and the turns that they look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from jurat.scenario.primitives import Normalizer, VerificationPrimitive, stored_normalizer

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

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class AnyOf:
    """One of these holds. Asked in order, until one does."""

    conditions: list[OutcomeNode] = field(default_factory=list)
    type: ClassVar[str] = "any_of"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class AtLeastN:
    """At least this number of these hold. All of them are asked."""

    n: int
    conditions: list[OutcomeNode] = field(default_factory=list)
    type: ClassVar[str] = "at_least_n"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "n": self.n, "conditions": [it.stored() for it in self.conditions]}


@dataclass(frozen=True)
class Not:
    """This does not hold."""

    condition: OutcomeNode
    type: ClassVar[str] = "not"

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {"type": self.type, "condition": self.condition.stored()}


OutcomeNode: TypeAlias = (
    "AllOf | AnyOf | AtLeastN | Not | TurnCheck | ResultCheck | CrossTurnCheck | CountTurns | FirstMatchIndex"
)
