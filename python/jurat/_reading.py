"""Typed values from the members of a document that the engine wrote."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

__all__ = ["Interval", "interval", "of", "some", "with_interval"]

T = TypeVar("T")


@dataclass(frozen=True)
class Interval:
    """What lies between two ends.

    Attributes:
        low: The lower end; `None` where there is none.
        high: The upper end; `None` where there is none.
    """

    low: float | None
    high: float | None


def of(kind: type[T], members: dict[str, Any]) -> T:
    """An object of the members that its class knows: a later engine may write more."""
    known = {it.name for it in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: tuple(it) if isinstance(it, list) else it for name, it in members.items() if name in known})


def some(kind: type[T], members: dict[str, Any] | None) -> T | None:
    """The same where there may be nothing."""
    return None if members is None else of(kind, members)


def interval(members: dict[str, Any] | None) -> Interval | None:
    """An interval, where there is one."""
    return some(Interval, members)


def with_interval(kind: type[T], members: dict[str, Any] | None) -> T | None:
    """An object that has an interval, where there is one."""
    return None if members is None else of(kind, {**members, "interval": interval(members["interval"])})
