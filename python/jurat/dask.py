"""Suites over data frames of Dask: `pip install 'jurat[dask]'`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from jurat import _shards
from jurat.batches import Evaluator
from jurat.run import Run
from jurat.suite import Suite

__all__ = ["evaluate", "run"]


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


def run(
    suite: str | os.PathLike[str], *, out: str | os.PathLike[str], client: Any, rows_per_shard: int = 200_000, arguments: Sequence[str] = ()
) -> Run:
    """Runs a suite as shards, each a future of Dask, and merges them into one run.

    A future whose worker is lost is computed again, and finds the responses that were paid for. Running the same again is free for shards that are done.

    Args:
        suite: The file of the suite.
        out: The directory of the plan, the shards and the merged run. Every worker must see it, and the rows.
        client: The client of `dask.distributed`.
        rows_per_shard: How many rows a shard has, about.
        arguments: Further arguments of `jurat run --shard`, such as `["-j", "8", "--coordinator", "http://10.0.0.5:7420"]`.

    Returns:
        The merged run.

    Raises:
        UsageError: The suite cannot be planned, or a worker has another version of jurat.
        RunError: A shard was not run to its end; the message says why.
    """

    def run_all(job: _shards.Job, shards: Sequence[int]) -> Any:
        return client.gather(client.map(job.run, shards, retries=3, pure=False))

    return _shards.run(suite, out, rows_per_shard, arguments, run_all)


def _judged(rows: Any, evaluator: Evaluator) -> Any:
    import pyarrow

    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    return _frame(pyarrow.Table.from_batches(evaluator.iterate(table.to_batches()), schema=evaluator.schema))


def _frame(table: Any) -> Any:
    """A table as a data frame whose columns stay those of Arrow."""
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)
