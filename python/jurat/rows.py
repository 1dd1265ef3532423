"""Where rows come from: anything that can be iterated over, data frames, columns by name, and whatever speaks Arrow. Nothing is held as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jurat._sources import opened
from jurat.errors import UsageError

__all__ = ["given", "n_rows"]

#: How many rows of a data frame without Arrow are made objects at a time.
_CHUNK = 1024


def given(rows: Any) -> tuple[Any, str]:
    """The rows as the engine takes them, and what they are."""
    rows = opened(rows)
    if hasattr(rows, "__arrow_c_stream__") and not _is_pandas_without_arrow(rows):
        return rows, "arrow"
    if hasattr(rows, "__arrow_c_array__"):
        import pyarrow

        return pyarrow.table(rows), "arrow"
    if hasattr(rows, "to_dict") and hasattr(rows, "iloc"):
        return _rows_of_frame(rows), "rows"
    if isinstance(rows, Mapping):
        return _rows_of_columns(rows), "rows"
    names = getattr(getattr(rows, "dtype", None), "names", None)
    if names:
        # An array of numpy with named fields.
        return _rows_of_columns({name: rows[name] for name in names}), "rows"
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise UsageError(
            f"rows are a list, an iterator, a data frame, a dict of columns or a table of Arrow, not `{type(rows).__name__}`"
        )
    return rows, "rows"


def n_rows(rows: Any) -> int | None:
    """How many rows there are, where that is known before they are read."""
    if isinstance(rows, Mapping):
        column = next(iter(rows.values()), ())
        return len(column) if hasattr(column, "__len__") else None
    return len(rows) if hasattr(rows, "__len__") else None


def _rows_of_columns(columns: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """Columns by their names as rows: what numpy, Ray and `DataFrame(dict)` mean by a dict."""
    lengths = {}
    for name, column in columns.items():
        if isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__len__"):
            raise UsageError(
                f"a dict as rows holds columns, lists of equal length, and `{name}` is a `{type(column).__name__}`; put a single row into a list:"
                " `[row]`"
            )
        lengths[name] = len(column)
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"`{name}` {n}" for name, n in lengths.items())
        raise UsageError(f"the columns of a dict as rows have different lengths: {shown}")
    names = [str(it) for it in columns]
    return (dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True))


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
