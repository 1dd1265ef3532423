"""Verification primitives: how a value is compared with what is expected.

They work on text and numbers as Python sees them. `docs/reference/comparisons.md` says exactly what passes. The rules are in the compiled module;
a test compares the parameters here with those there.

>>> from jurat.scenario import ExactMatch, NumericTolerance
>>> ExactMatch().check(" Paris ", "paris")
True
>>> NumericTolerance(tolerance=0.05).check(10.4, 10)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from jurat import _jurat

__all__ = [
    "BooleanMatch",
    "ContainsAll",
    "ContainsAny",
    "DateMatch",
    "DateRange",
    "DateTolerance",
    "ExactMatch",
    "LiteralMatch",
    "Normalizer",
    "NumericExact",
    "NumericGraded",
    "NumericMaximum",
    "NumericMinimum",
    "NumericRange",
    "NumericRangeGraded",
    "NumericThresholdGraded",
    "NumericTolerance",
    "OrderedMatch",
    "RegexMatch",
    "SemanticMatch",
    "SetContainment",
    "SynonymMap",
    "TraceContains",
    "TraceLength",
    "TraceRegex",
    "VerificationPrimitive",
    "normalize_text",
    "primitive_of",
]

Mode: TypeAlias = Literal["relative", "absolute"]
Decay: TypeAlias = Literal["linear", "quadratic"]


@dataclass(frozen=True)
class SynonymMap:
    """Whole texts that stand for others."""

    mapping: Mapping[str, str]


#: What is done to text before it is compared: `lowercase`, `strip`, `remove_punctuation`, `collapse_whitespace`, or synonyms.
Normalizer: TypeAlias = "str | SynonymMap | Mapping[str, Any]"


def stored_normalizer(normalizer: Normalizer) -> Any:
    """As it is stored."""
    return {"mapping": dict(normalizer.mapping)} if isinstance(normalizer, SynonymMap) else normalizer


def normalize_text(text: str, normalizers: Sequence[Normalizer]) -> str:
    """Text after normalizers, in their order.

    >>> normalize_text("  Hello,   World! ", ["remove_punctuation", "collapse_whitespace", "lowercase"])
    'hello world'
    """
    return _jurat.normalise_text(text, [stored_normalizer(it) for it in normalizers])


def _lowercase_and_strip() -> list[Normalizer]:
    return ["lowercase", "strip"]


@dataclass(frozen=True)
class VerificationPrimitive:
    """What every primitive has."""

    def __post_init__(self) -> None:
        # What is wrong with its parameters is reported where it is made.
        self._made()

    def _made(self) -> _jurat.Primitive:
        parameters = {it.name: getattr(self, it.name) for it in fields(self)}
        if "normalize" in parameters:
            parameters["normalize"] = [stored_normalizer(it) for it in parameters["normalize"]]
        given = {name: value for name, value in parameters.items() if value is not None}
        return _jurat.Primitive(type(self).__name__, given)

    def stored(self) -> dict[str, Any]:
        """As it is stored: its name under `type`, and all its parameters."""
        return self._made().stored()

    def check(self, extracted: Any, expected: Any) -> bool:
        """Whether a value is as expected. What it cannot judge is a `PrimitiveError`."""
        return self._made().check(extracted, expected)

    def score(self, extracted: Any, expected: Any) -> float:
        """How much of it is, from 0 to 1."""
        return self._made().score(extracted, expected)


@dataclass(frozen=True)
class BooleanMatch(VerificationPrimitive):
    """Both count as true, or both as false; nothing equals nothing alone."""


@dataclass(frozen=True)
class ExactMatch(VerificationPrimitive):
    """The same text, after normalizers."""

    normalize: list[Normalizer] = field(default_factory=_lowercase_and_strip)


@dataclass(frozen=True)
class LiteralMatch(VerificationPrimitive):
    """The same value, through and through."""


@dataclass(frozen=True)
class ContainsAny(VerificationPrimitive):
    """Text with one of these in it."""

    substrings: list[str]
    normalize: list[Normalizer] = field(default_factory=list)


@dataclass(frozen=True)
class ContainsAll(VerificationPrimitive):
    """Text with all of these in it."""

    substrings: list[str]
    normalize: list[Normalizer] = field(default_factory=list)


@dataclass(frozen=True)
class RegexMatch(VerificationPrimitive):
    """Text that a regular expression matches somewhere."""

    pattern: str
    flags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SemanticMatch(VerificationPrimitive):
    """Text that means the same. It is judged by models alone: `check` says so."""

    threshold: float = 0.85


@dataclass(frozen=True)
class NumericExact(VerificationPrimitive):
    """The same number."""


@dataclass(frozen=True)
class NumericTolerance(VerificationPrimitive):
    """A number near the expected one."""

    tolerance: float
    mode: Mode = "relative"


@dataclass(frozen=True)
class NumericRange(VerificationPrimitive):
    """A number between two others."""

    min: float | None = None
    max: float | None = None
    exclusive_min: bool = False
    exclusive_max: bool = False


@dataclass(frozen=True)
class NumericMinimum(VerificationPrimitive):
    """A number of at least the expected one."""

    exclusive: bool = False


@dataclass(frozen=True)
class NumericMaximum(VerificationPrimitive):
    """A number of at most the expected one."""

    exclusive: bool = False


@dataclass(frozen=True)
class NumericGraded(VerificationPrimitive):
    """A number near the expected one, with partial credit."""

    cutoff: float
    full_credit: float | None = None
    mode: Mode = "relative"
    decay: Decay = "linear"


@dataclass(frozen=True)
class NumericRangeGraded(VerificationPrimitive):
    """A number between two others, with partial credit beside them."""

    min: float
    max: float
    margin: float
    mode: Mode = "absolute"
    decay: Decay = "linear"
    exclusive_min: bool = False
    exclusive_max: bool = False


@dataclass(frozen=True)
class NumericThresholdGraded(VerificationPrimitive):
    """A number on one side of the expected one, with partial credit beyond."""

    direction: Literal["max", "min"]
    margin: float
    mode: Mode = "relative"
    decay: Decay = "linear"
    exclusive: bool = False


@dataclass(frozen=True)
class SetContainment(VerificationPrimitive):
    """A list with the same items, with some of them, or with more."""

    mode: Literal["exact", "subset", "superset", "overlap"] = "exact"
    min_overlap: int | None = None


@dataclass(frozen=True)
class OrderedMatch(VerificationPrimitive):
    """A list with the same items in the same order, after normalizers."""

    normalize: list[Normalizer] = field(default_factory=_lowercase_and_strip)


@dataclass(frozen=True)
class DateMatch(VerificationPrimitive):
    """The same day."""

    format: str | None = None


@dataclass(frozen=True)
class DateTolerance(VerificationPrimitive):
    """A moment near the expected one."""

    tolerance: int
    unit: Literal["days", "hours", "minutes"] = "days"


@dataclass(frozen=True)
class DateRange(VerificationPrimitive):
    """A moment between two others."""

    min: str | None = None
    max: str | None = None


@dataclass(frozen=True)
class TracePrimitive(VerificationPrimitive):
    """What looks at a whole answer rather than at a value read from it."""

    def check(self, extracted: Any, expected: Any) -> bool:
        """Not possible: `check_trace` is what these are for."""
        from jurat.errors import PrimitiveNotImplementedError

        raise PrimitiveNotImplementedError(f"`{type(self).__name__}` looks at a whole answer: use `check_trace`")

    def check_trace(self, trace: str) -> bool:
        """Whether a whole answer is as wanted."""
        return super().check(trace, None)


@dataclass(frozen=True)
class TraceRegex(TracePrimitive):
    """An answer that a regular expression matches often enough."""

    pattern: str
    count_min: int | None = None


@dataclass(frozen=True)
class TraceContains(TracePrimitive):
    """An answer with this text in it."""

    substring: str


@dataclass(frozen=True)
class TraceLength(TracePrimitive):
    """An answer of this length."""

    min: int | None = None
    max: int | None = None
    unit: Literal["chars", "words"] = "chars"


def primitive_of(stored: Mapping[str, Any]) -> VerificationPrimitive:
    """A primitive from its stored form.

    >>> primitive_of({"type": "NumericRange", "min": 1})
    NumericRange(min=1, max=None, exclusive_min=False, exclusive_max=False)
    """
    kind = {it.__name__: it for it in (*VerificationPrimitive.__subclasses__(), *TracePrimitive.__subclasses__())}.get(stored["type"])
    if kind is None:
        from jurat.errors import PrimitiveError

        raise PrimitiveError(f"there is no primitive `{stored['type']}`")
    return kind(**{it.name: stored[it.name] for it in fields(kind) if it.name in stored})
