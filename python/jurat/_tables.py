"""Runs as tables, and the groups that their results make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurat import _jurat
from jurat._counts import Counts

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator

    import pandas
    import polars
    import pyarrow
else:
    from jurat._later import Later

    datetime, pandas, polars, pyarrow = map(Later, ("datetime", "pandas", "polars", "pyarrow"))

__all__ = ["Slice", "SubjectTotal", "Tables"]


@dataclass(frozen=True)
class Slice:
    """The cases that have one value at a path of `group_by`.

    Attributes:
        path: The path.
        value: The value; `None` for the cases that have none.
        counts: How many of their tasks ended how.
        pass_rate: The share of what was judged that passed; `None` when nothing was judged.
    """

    path: str
    value: str | None
    counts: Counts
    pass_rate: float | None


@dataclass(frozen=True)
class SubjectTotal:
    """What one subject did with one prompt, over all cases.

    Attributes:
        subject: The model or function, when there are several.
        prompt: The prompt, when there are several.
        counts: How many tasks ended how.
        pass_rate: The share of what was judged that passed; `None` when nothing was judged.
        cost_usd: What its responses and those of its judges cost, as far as that is known.
        tokens: The tokens that they took, read and written.
        seconds: How long a response took on average.
    """

    subject: str | None
    prompt: str | None
    counts: Counts
    pass_rate: float | None
    cost_usd: float | None
    tokens: tuple[int, int]
    seconds: float | None


class Tables:
    """What a run has as tables."""

    _run: _jurat.Run

    @property
    def slices(self) -> list[Slice]:
        """The groups of cases that `group_by` makes, in the order in which reports show them."""
        return [Slice(**{**it, "counts": Counts(**it["counts"])}) for it in self._run.slices()]

    @property
    def subjects(self) -> list[SubjectTotal]:
        """What was asked of whom; empty for rows that were answered before."""
        return [SubjectTotal(**{**it, "counts": Counts(**it["counts"])}) for it in self._run.subjects()]

    @property
    def started_at(self) -> datetime.datetime:
        """When it began."""
        return datetime.datetime.fromtimestamp(self._run.times()[0], tz=datetime.timezone.utc)

    @property
    def duration(self) -> datetime.timedelta:
        """How long it took, without the time before it was resumed."""
        return datetime.timedelta(seconds=self._run.times()[1])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._run.arrow(False).__arrow_c_stream__(requested_schema)

    def to_arrow(self, *, details: bool = False) -> pyarrow.Table:
        """The result of each task of each case, as a table of pyarrow.

        Texts are dictionaries, and only what the file of the run says is read: a million cases take about a second.

        Args:
            details: Whether the table has everything that can be concluded again: what was expected and found, the row, tokens and costs of each task. That
                reads every row, and takes about ten times as long.

        Returns:
            A table with the columns `record`, `prompt`, `subject`, `replicate`, `case_verdict`, `task`, `kind`, `counted`, `verdict`, `label`, `score`,
            `explanation`, `message` and `case_seconds`; with `details` those of `docs/reference/results.md`.

        Raises:
            ImportError: pyarrow is not installed.
            ReadError: The run cannot be read.
        """
        import pyarrow

        return pyarrow.table(self._run.arrow(details))

    def to_pandas(self, *, details: bool = False) -> pandas.DataFrame:
        """The same as a data frame of pandas, in which texts are categories.

        Args:
            details: As for `to_arrow`.

        Returns:
            A row for each task of each case.

        Raises:
            ImportError: pandas or pyarrow is not installed.
            ReadError: The run cannot be read.
        """
        frame: pandas.DataFrame = self.to_arrow(details=details).to_pandas(self_destruct=True, split_blocks=True)
        return frame

    def to_polars(self, *, details: bool = False) -> polars.DataFrame:
        """The same as a data frame of Polars, in which texts are categories. It needs no pyarrow.

        Args:
            details: As for `to_arrow`.

        Returns:
            A row for each task of each case.

        Raises:
            ImportError: Polars is not installed.
            ReadError: The run cannot be read.
        """
        import polars

        return polars.DataFrame(self._run.arrow(details, has_views=True))

    def lazy(self, *, details: bool = False) -> polars.LazyFrame:
        """The same as a lazy frame of Polars, read from the file of the run while a query is collected.

        A query holds the columns that it uses of some cases at a time, so its memory does not grow with the run.

        ```python
        failed = run.lazy().filter(polars.col("verdict") == "failed").group_by("task").len().collect()
        ```

        Args:
            details: As for `to_arrow`.

        Returns:
            A row for each task of each case.

        Raises:
            ImportError: Polars is not installed.
            ReadError: The run cannot be read.
        """
        import polars
        from polars.io.plugins import register_io_source

        def parts(with_columns: list[str] | None, predicate: polars.Expr | None, n_rows: int | None, batch_size: int | None) -> Iterator[polars.DataFrame]:
            for batch in self._run.parts(details):
                part = polars.DataFrame(batch)
                part = part if predicate is None else part.filter(predicate)
                part = part if with_columns is None else part.select(with_columns)
                part = part if n_rows is None else part.head(n_rows)
                n_rows = n_rows if n_rows is None else n_rows - part.height
                yield part
                if n_rows == 0:
                    return

        return register_io_source(parts, schema=polars.DataFrame(self._run.parts(details).empty()).schema, is_pure=True)
