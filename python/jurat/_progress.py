"""How far a run is: a line on a terminal, or one that is written anew in a notebook. Elsewhere nothing is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    done: int
    failed: int
    errors: int
    requests: int
    in_flight: int
    cost_usd: float

    def __str__(self) -> str:
        parts = [f"{self.done} done"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.errors:
            parts.append(f"{self.errors} errors")
        if self.requests:
            parts.append(f"{self.requests} requests")
        if self.in_flight:
            parts.append(f"{self.in_flight} in flight")
        if self.cost_usd:
            parts.append(f"${self.cost_usd:.4f}")
        return ", ".join(parts)


class Shown(Protocol):
    """Where progress is shown."""

    def update(self, progress: Progress) -> None:
        """Shows it."""

    def close(self) -> None:
        """Takes it away."""


@contextmanager
def shown(wanted: bool | None) -> Iterator[Shown]:
    """Where progress is shown: `None` for wherever somebody looks."""
    bar = _bar(wanted)
    try:
        yield bar
    finally:
        bar.close()


def _bar(wanted: bool | None) -> Shown:
    if wanted is False:
        return _Nowhere()
    if _is_notebook():
        return _Notebook()
    if wanted or (sys.stderr is not None and sys.stderr.isatty()):
        return _Terminal()
    return _Nowhere()


def _is_notebook() -> bool:
    # Whoever has a notebook has it loaded; nobody else should pay for it.
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Nowhere:
    def update(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class _Terminal:
    def update(self, progress: Progress) -> None:
        sys.stderr.write(f"\r\x1b[2K{progress}")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


class _Notebook:
    def __init__(self) -> None:
        import IPython.display

        display: Any = IPython.display.display
        self._handle: Any = display({"text/plain": ""}, raw=True, display_id=True)
        self._last = ""

    def update(self, progress: Progress) -> None:
        text = str(progress)
        if text != self._last:
            self._last = text
            self._handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        pass
