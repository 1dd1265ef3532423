"""Where rows come from: anything that can be iterated over, data frames, and whatever speaks Arrow. Nothing is held as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["given"]

#: How many rows of a data frame without Arrow are made objects at a time.
_CHUNK = 1024


def given(rows: Any) -> tuple[Any, str]:
    """The rows as the engine takes them, and what they are."""
    if hasattr(rows, "__arrow_c_stream__") and not _is_pandas_without_arrow(rows):
        return rows, "arrow"
    if hasattr(rows, "__arrow_c_array__"):
        import pyarrow

        return pyarrow.table(rows), "arrow"
    if hasattr(rows, "to_dict") and hasattr(rows, "iloc"):
        return _rows_of_frame(rows), "rows"
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        from jurat.errors import UsageError

        raise UsageError(f"rows are a list, an iterator, a data frame or a table of Arrow, not `{type(rows).__name__}`")
    return rows, "rows"


def _is_pandas_without_arrow(rows: Any) -> bool:
    if not (hasattr(rows, "iloc") and type(rows).__module__.partition(".")[0] == "pandas"):
        return False
    if "pyarrow" in sys.modules:
        return False
    import importlib.util

    return importlib.util.find_spec("pyarrow") is None


def _rows_of_frame(frame: Any) -> Iterator[dict[str, Any]]:
    for start in range(0, len(frame), _CHUNK):
        yield from frame.iloc[start : start + _CHUNK].to_dict("records")
