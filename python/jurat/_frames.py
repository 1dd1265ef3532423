"""Small tables whose columns have types, as data frames of several libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Column", "to_arrow", "to_pandas", "to_polars"]


class Column(NamedTuple):
    """A column: its type must not depend on whether all of its values are missing."""

    name: str
    kind: Literal["text", "texts", "number", "count", "flag"]


def _values(columns: list[Column], rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [[row[ix] for row in rows] for ix in range(len(columns))]


def to_arrow(columns: list[Column], rows: list[tuple[Any, ...]]) -> pyarrow.Table:
    """As a table of pyarrow."""
    import pyarrow

    kinds = {"text": pyarrow.string(), "texts": pyarrow.list_(pyarrow.string()), "number": pyarrow.float64(), "count": pyarrow.int64(), "flag": pyarrow.bool_()}
    arrays = [pyarrow.array(it, kinds[column.kind]) for column, it in zip(columns, _values(columns, rows), strict=True)]
    return pyarrow.table(arrays, names=[it.name for it in columns])


def to_pandas(columns: list[Column], rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    """As a data frame of pandas. Numbers that may be missing have types that know it."""
    import pandas

    kinds = {"text": "object", "texts": "object", "number": "float64", "count": "Int64", "flag": "boolean"}
    series = {column.name: pandas.Series(it, dtype=kinds[column.kind]) for column, it in zip(columns, _values(columns, rows), strict=True)}
    return pandas.DataFrame(series)


def to_polars(columns: list[Column], rows: list[tuple[Any, ...]]) -> polars.DataFrame:
    """As a data frame of Polars."""
    import polars

    kinds: dict[str, Any] = {"text": polars.String, "texts": polars.List(polars.String), "number": polars.Float64, "count": polars.Int64, "flag": polars.Boolean}
    return polars.DataFrame(rows, schema={it.name: kinds[it.kind] for it in columns}, orient="row")
