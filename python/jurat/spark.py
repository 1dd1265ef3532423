"""Suites over data frames of Spark: `pip install 'jurat[spark]'`, on the driver and in the Python of the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jurat.batches import Evaluator
from jurat.errors import ModelError, UsageError
from jurat.suite import Suite

__all__ = ["evaluate"]


def evaluate(
    frame: Any, suite: Suite, *, out: str, carry: Sequence[str] = (), allow_speculation: bool = False, **evaluator: Any
) -> Any:
    """Judges the rows of a data frame, and writes the results once.

    Spark computes what is not written again whenever it is used, and would ask models again: the results are written to `out`, and read back.

    Args:
        frame: The rows.
        suite: The suite. Keys of its models are taken from the environment of the workers (`spark.executorEnv`).
        out: Where the results go, as Parquet: a path or an address that Spark can write to, where nothing is yet.
        carry: The columns of rows that results have, too.
        allow_speculation: Whether a suite that asks models runs although Spark may run a slow partition twice, and pay for it twice.
        evaluator: As for `Suite.evaluator`. With `journal`, partitions that are run again do not ask again.

    Returns:
        The results.

    Raises:
        UsageError: Spark speculates, and the suite asks models.
        ModelError: A worker cannot ask a model; the message names the variable that is not set there.
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    session = frame.sparkSession
    carried = to_arrow_schema(frame.select(*carry).schema) if carry else ()
    made = suite.evaluator(**{"strings": True, **evaluator}, carry=carried)
    if made.asks and not allow_speculation and session.conf.get("spark.speculation", "false") == "true":
        raise UsageError(
            "`spark.speculation` runs slow partitions twice, and each would pay for its answers; turn it off, or say `allow_speculation=True`"
        )
    if made.asks:
        missing = session.range(1, numPartitions=1).mapInArrow(_Opened(made), "missing string").first()
        if missing is not None and missing[0]:
            raise ModelError(missing[0])
    frame.mapInArrow(made.iterate, from_arrow_schema(made.schema)).write.parquet(out)
    return session.read.parquet(out)


class _Opened:
    """What is missing on a worker, in words."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            missing = None
            try:
                self._evaluator.open()
            except Exception as error:
                missing = str(error)
            yield pyarrow.RecordBatch.from_pydict({"missing": [missing] * batch.num_rows}, schema=pyarrow.schema([("missing", pyarrow.string())]))
