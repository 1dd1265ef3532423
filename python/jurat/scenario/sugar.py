"""Short ways to make checks.

A field is named with what it must be: a boolean by truth, text without regard to case and outer space, a number by value. Names with dots are
given as `**{"parsed.city": "Paris"}`.

>>> from jurat.scenario import first_turn
>>> first_turn(verify_result=True).field
'verify_result'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurat.scenario.nodes import (
    AllOf,
    AllTurns,
    AnyOf,
    AnyTurn,
    AtLeastN,
    CountTurns,
    CrossTurnCheck,
    FirstMatchIndex,
    FirstTurn,
    LastTurn,
    Nodes,
    OutcomeNode,
    ResultCheck,
    ScopeUnion,
    TurnAt,
    TurnCheck,
)
from jurat.scenario.primitives import (
    BooleanMatch,
    ExactMatch,
    Normalizer,
    NumericExact,
    NumericRange,
    VerificationPrimitive,
)

__all__ = [
    "all_of",
    "all_turns",
    "any_of",
    "any_turn",
    "at_least_n",
    "count_turns",
    "cross_turn",
    "first_match_index",
    "first_turn",
    "first_turn_scope",
    "last_turn",
    "last_turn_scope",
    "status_is",
    "turn_at",
    "turn_count_eq",
    "turn_count_gte",
]


def all_of(*checks: OutcomeNode) -> AllOf:
    """All conditions must hold."""
    return AllOf(list(checks))


def any_of(*checks: OutcomeNode) -> AnyOf:
    """At least one condition must hold."""
    return AnyOf(list(checks))


def at_least_n(n: int, *checks: OutcomeNode) -> AtLeastN:
    """At least this number of conditions must hold."""
    return AtLeastN(n, list(checks))


def turn_at(index: int) -> TurnAt:
    """The turn at an index, as a scope; negative ones count from the end."""
    return TurnAt(index)


def first_turn_scope() -> FirstTurn:
    """The first turn, as a scope."""
    return FirstTurn()


def last_turn_scope() -> LastTurn:
    """The last turn, as a scope."""
    return LastTurn()


def first_turn(**fields: Any) -> TurnCheck | AllOf:
    """These fields of the first turn."""
    return _turn(FirstTurn(), fields)


def last_turn(**fields: Any) -> TurnCheck | AllOf:
    """These fields of the last turn."""
    return _turn(LastTurn(), fields)


def any_turn(*, node: Nodes = None, **fields: Any) -> TurnCheck | AllOf:
    """These fields, each of some turn."""
    return _turn(AnyTurn(node), fields)


def all_turns(*, node: Nodes = None, **fields: Any) -> TurnCheck | AllOf:
    """These fields of every turn; there must be one."""
    return _turn(AllTurns(node), fields)


def status_is(expected: str) -> ResultCheck:
    """How the conversation ended: `completed`, `limit_reached`, `timeout` or `error`."""
    return ResultCheck("status", expected, ExactMatch())


def turn_count_eq(n: int) -> ResultCheck:
    """It took this number of turns."""
    return ResultCheck("turn_count", n, NumericExact())


def turn_count_gte(n: int) -> ResultCheck:
    """It took at least this number of turns."""
    return ResultCheck("turn_count", None, NumericRange(min=n))


def count_turns(*, node: Nodes = None, verify_result: bool | None = None) -> CountTurns:
    """How many turns there are of these."""
    return CountTurns(node, verify_result)


def first_match_index(*, node: Nodes = None, verify_result: bool | None = None) -> FirstMatchIndex:
    """The index of the first of these turns; -1 when there is none."""
    return FirstMatchIndex(node, verify_result)


def cross_turn(
    *,
    source: ScopeUnion,
    source_field: str,
    target: ScopeUnion,
    target_field: str,
    comparison: str,
    normalize: Sequence[Normalizer] | None = None,
) -> CrossTurnCheck:
    """A field of the target compared with a field of the source: `eq`, `neq`, `contains`, `gt`, `gte`, `lt` or `lte`."""
    return CrossTurnCheck(source, source_field, target, target_field, comparison, list(normalize or ()))


def _turn(scope: ScopeUnion, fields: dict[str, Any]) -> TurnCheck | AllOf:
    checks = [TurnCheck(scope, name, expected, _inferred(expected)) for name, expected in fields.items()]
    return checks[0] if len(checks) == 1 else AllOf(list(checks))


def _inferred(expected: Any) -> VerificationPrimitive:
    if isinstance(expected, bool):
        return BooleanMatch()
    if isinstance(expected, (int, float)):
        return NumericExact()
    return ExactMatch()
