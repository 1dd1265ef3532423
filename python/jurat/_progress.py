"""How far a run is: a bar on a terminal, or one that is updated in a notebook. Elsewhere nothing is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jurat._jurat import Running

#: How wide a bar is in a notebook, whose window has no columns.
_NOTEBOOK_COLUMNS = 100


class Shown(Protocol):
    """Where progress is shown."""

    def update(self, running: Running, total: int | None) -> None:
        """Shows how far a run is."""

    def close(self) -> None:
        """Takes it away, or leaves it as it is."""


@contextmanager
def shown(wanted: bool | None) -> Iterator[Shown]:
    """Where progress is shown: `None` for terminals and notebooks."""
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
    # In a notebook it is loaded already; other programs should not pay for it.
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Nowhere:
    def update(self, running: Running, total: int | None) -> None:
        pass

    def close(self) -> None:
        pass


class _Terminal:
    def __init__(self) -> None:
        import shutil

        # A line that fills the window would be broken.
        self._columns = shutil.get_terminal_size().columns - 1

    def update(self, running: Running, total: int | None) -> None:
        sys.stderr.write(f"\r\x1b[2K{running.progress_bar(self._columns, total)}")
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

    def update(self, running: Running, total: int | None) -> None:
        text = running.progress_bar(_NOTEBOOK_COLUMNS, total)
        if text != self._last:
            self._last = text
            self._handle.update({"text/plain": text, "text/html": self._html(running, total, text)}, raw=True)

    def _html(self, running: Running, total: int | None, text: str) -> str:
        import html

        numbers = running.progress()
        whole = numbers["total"] if total is None else total
        bar = "" if whole is None else f'<progress value="{numbers["done"]}" max="{max(whole, 1)}"></progress> '
        return f"{bar}<code>{html.escape(text.lstrip('━─ '))}</code>"

    def close(self) -> None:
        pass
