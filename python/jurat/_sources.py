"""Sources of rows that are read lazily, and files of rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from os import PathLike, fspath, getcwd
from os.path import isfile, join
from typing import Any

from jurat.errors import UsageError

__all__ = ["file_of", "opened"]


def opened(rows: Any) -> Any:
    """Rows that a query or a dataset gives, as a stream; any other as they are."""
    if _is(rows, "polars", "LazyFrame"):
        return _collected(rows)
    if _is(rows, "pyarrow.dataset", "Dataset"):
        return rows.scanner().to_reader()
    if _is(rows, "pyarrow.dataset", "Scanner"):
        return rows.to_reader()
    return rows


def _is(rows: Any, module: str, name: str) -> bool:
    """Whether it is an instance of a class of a module, which then is imported."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(rows, getattr(loaded, name))


def _collected(frame: Any) -> Any:
    """The rows of a query of Polars, a batch at a time where this Polars can do that."""
    batches = getattr(frame, "collect_batches", None)
    return _rows(batches(maintain_order=True)) if batches is not None else frame.collect(engine="streaming")


def _rows(batches: Any) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.iter_rows(named=True)


def file_of(rows: Any) -> str | None:
    """The path of a file of rows, which is downloaded from an address; `None` when they are something else.

    Raises:
        UsageError: There is no such file, or nothing at the address.
    """
    if not isinstance(rows, (str, PathLike)):
        return None
    path = fspath(rows)
    if isinstance(path, bytes):
        path = path.decode()
    if "://" in path:
        # What downloads is not imported by runs over rows that are here.
        from jurat._downloads import downloaded, is_address

        path = downloaded(path) if is_address(path) else path
    if not isfile(path):
        raise UsageError(f"rows are read from a path, and there is no file `{path}`; give one of JSON lines, JSON, CSV or Parquet")
    return join(getcwd(), path)
