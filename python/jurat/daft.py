"""Suites over data frames of Daft: `pip install 'jurat[daft]'`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurat.errors import UsageError
from jurat.suite import Suite

__all__ = ["evaluate"]


def evaluate(frame: Any, suite: Suite, *, carry: Sequence[str] = (), **evaluator: Any) -> Any:
    """Judges the rows of a data frame.

    Args:
        frame: The rows.
        suite: The suite. Each row must be one case: Daft gives one row for one row.
        carry: The columns of rows that results have, too.
        evaluator: As for `Suite.evaluator`.

    Returns:
        The results, which Daft computes when they are used; `collect` computes them once.

    Raises:
        UsageError: A row is more than one case, or `layout` is not `cases`.
        ModelError: A model cannot be asked; the message names the variable that is not set.
    """
    import daft
    import pyarrow

    made = suite.evaluator(**{"strings": True, **evaluator})
    if evaluator.get("layout", "cases") != "cases" or "replicate" in made.schema.names:
        raise UsageError("Daft gives one row for one row: the layout is `cases`, and the suite asks one model, one prompt, once")
    made.open()
    kind = daft.DataType.from_arrow_type(pyarrow.struct(list(made.schema)))

    @daft.cls
    class Judge:
        def __init__(self, of: Any) -> None:
            self.evaluator = of

        @daft.method.batch(return_dtype=kind)
        def judged(self, rows: Any) -> Any:
            batch = pyarrow.RecordBatch.from_struct_array(_joined(rows.to_arrow()))
            return self.evaluator(batch).to_struct_array()

    rows = daft.functions.to_struct(*(daft.col(it) for it in frame.column_names))
    judged = frame.select(Judge(made).judged(rows).alias("@judged"), *carry)
    members = [daft.col("@judged").get(it).alias(it) for it in made.schema.names]
    return judged.select(*members, *carry)


def _joined(rows: Any) -> Any:
    """A column in one piece."""
    return rows.combine_chunks() if hasattr(rows, "combine_chunks") else rows
