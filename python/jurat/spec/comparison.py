"""What a value must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from jurat._part import Part
from jurat.scenario.primitives import VerificationPrimitive

__all__ = ["Comparison", "by"]

#: Nothing to compare with, which is other than `None`.
_NOTHING: Any = object()


@dataclass(frozen=True)
class Comparison(Part):
    """An operator and its operand. The functions of `jurat.spec.compare` make them.

    Args:
        operator: The name of the operator, or a primitive with its parameters.
        expected: What the value is compared with.
    """

    operator: str | dict[str, Any]
    expected: Any = _NOTHING
    is_inline: ClassVar[bool] = True

    def definition(self) -> dict[str, Any]:
        """The keys that a task has for it.

        Returns:
            `operator`, and `expected_value` where there is one.
        """
        written: dict[str, Any] = {"operator": self.operator}
        if self.expected is not _NOTHING:
            written["expected_value"] = self.expected
        return written


def by(primitive: VerificationPrimitive, expected: Any = _NOTHING) -> Comparison:
    """A verification primitive of `jurat.scenario` as a comparison.

    Args:
        primitive: The primitive, such as `NumericTolerance(0.1)`.
        expected: What the value is compared with, for primitives that compare.

    Returns:
        The comparison.

    Example:
        >>> from jurat.scenario import NumericTolerance
        >>> from jurat.spec import compare
        >>> compare.by(NumericTolerance(0.1), 20).definition()["expected_value"]
        20
    """
    return Comparison(primitive.stored(), expected)
