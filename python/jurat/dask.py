"""Suites over data frames of Dask: `pip install 'jurat[dask]'`."""

from __future__ import annotations

from typing import Any

from jurat.batches import Evaluator
from jurat.suite import Suite

__all__ = ["evaluate"]


def evaluate(frame: Any, suite: Suite, **evaluator: Any) -> Any:
    """Judges the rows of a data frame, partition by partition.

    Args:
        frame: The rows.
        suite: The suite. Keys of its models are taken from the environment of the workers.
        evaluator: As for `Suite.evaluator`. Columns of `carry` keep their names and get the types of Arrow.

    Returns:
        The results, which Dask computes whenever they are used; `persist` computes them once.

    Raises:
        UsageError: An option means nothing for batches.
    """
    import pyarrow

    names = list(evaluator.pop("carry", ()))
    carried = pyarrow.Schema.from_pandas(frame._meta[names], preserve_index=False) if names else ()
    made = suite.evaluator(**{"strings": True, **evaluator}, carry=carried)
    return frame.map_partitions(_judged, made, meta=_frame(made.schema.empty_table()))


def _judged(rows: Any, evaluator: Evaluator) -> Any:
    import pyarrow

    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    return _frame(pyarrow.Table.from_batches(evaluator.iterate(table.to_batches()), schema=evaluator.schema))


def _frame(table: Any) -> Any:
    """A table as a data frame whose columns stay those of Arrow."""
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)
