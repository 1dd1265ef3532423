"""How many ended how."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """How many ended how."""

    passed: int = 0
    failed: int = 0
    measured: int = 0
    skipped: int = 0
    error: int = 0
    not_run: int = 0

    @property
    def pass_rate(self) -> float | None:
        """The share of what was judged that passed; `None` when nothing was judged."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None
