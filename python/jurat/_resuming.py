"""What names the rows and the code of a run by their content: the same call resumes a run that was interrupted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jurat import _jurat
from jurat._called import source_of
from jurat.rows import given

__all__ = ["digest_of"]


def digest_of(rows: Any, code: Iterable[Any]) -> str | None:
    """The name of rows and functions; `None` for rows that can be read only once, which are gone with their run."""
    if isinstance(rows, Iterator) or not hasattr(rows, "__len__"):
        return None
    import hashlib

    taken, items = given(rows)
    sources = hashlib.sha256("\n".join(source_of(getattr(it, "function", it)) for it in code).encode()).hexdigest()
    return f"{_jurat.rows_digest(taken, items)}:{sources}"
