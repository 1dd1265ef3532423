"""What reports of the engine share: the document that they were read from, and tables of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jurat._frames import Column, to_arrow, to_pandas, to_polars

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    from jurat._later import Later

    pandas, polars, pyarrow = map(Later, ("pandas", "polars", "pyarrow"))

__all__ = ["Documented", "Tabled"]

Of = TypeVar("Of", bound=str)


class Documented:
    """A value that was read from a document of JSON."""

    json: str

    def to_dict(self) -> dict[str, Any]:
        """What the command writes with `--json`, as an object.

        Returns:
            A dict.
        """
        import json

        document: dict[str, Any] = json.loads(self.json)
        return document


class Tabled(Documented, Generic[Of]):
    """A report with several tables, the first of which is shown by default. What the class says has their names and columns."""

    def _tables(self) -> dict[str, tuple[list[Column], list[tuple[Any, ...]]]]:
        raise NotImplementedError

    def _table(self, of: Of | None) -> tuple[list[Column], list[tuple[Any, ...]]]:
        tables = self._tables()
        name = next(iter(tables)) if of is None else of
        if name not in tables:
            raise ValueError(f"a {type(self).__name__.lower()} has tables of {' and of '.join(f'`{it}`' for it in tables)}, not of `{name}`")
        return tables[name]

    def to_arrow(self, of: Of | None = None) -> pyarrow.Table:
        """One of its tables as a table of pyarrow.

        Args:
            of: What the table has a row for; default: the first of its tables.

        Returns:
            A table.

        Raises:
            ImportError: pyarrow is not installed.
        """
        return to_arrow(*self._table(of))

    def to_pandas(self, of: Of | None = None) -> pandas.DataFrame:
        """The same as a data frame of pandas. It needs no pyarrow.

        Args:
            of: As for `to_arrow`.

        Returns:
            A data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return to_pandas(*self._table(of))

    def to_polars(self, of: Of | None = None) -> polars.DataFrame:
        """The same as a data frame of Polars. It needs no pyarrow.

        Args:
            of: As for `to_arrow`.

        Returns:
            A data frame.

        Raises:
            ImportError: Polars is not installed.
        """
        return to_polars(*self._table(of))
