"""Suites over data frames of Spark: `pip install 'jurat[spark]'`, on the driver and in the Python of the workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from jurat import _shards
from jurat.batches import Evaluator
from jurat.errors import ModelError, UsageError
from jurat.run import Run
from jurat.suite import Suite

__all__ = ["evaluate", "run"]


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


def run(
    suite: str | os.PathLike[str], *, out: str | os.PathLike[str], session: Any = None, rows_per_shard: int = 200_000, arguments: Sequence[str] = ()
) -> Run:
    """Runs a suite as shards, each a task of Spark, and merges them into one run.

    A task whose worker is lost is run again, and finds the responses that were paid for. Running the same again is free for shards that are done.

    Args:
        suite: The file of the suite.
        out: The directory of the plan, the shards and the merged run. Every worker must see it, and the rows.
        session: The session; default: the active one, or a new one.
        rows_per_shard: How many rows a shard has, about.
        arguments: Further arguments of `jurat run --shard`, such as `["-j", "8", "--coordinator", "http://10.0.0.5:7420"]`.

    Returns:
        The merged run.

    Raises:
        UsageError: The suite cannot be planned, or a worker has another version of jurat.
        RunError: A shard was not run to its end; the message says why.
    """
    return _shards.run(suite, out, rows_per_shard, arguments, _engine(session, None))


def _engine(session: Any, master: str | None) -> _shards.Engine:
    def run_all(job: _shards.Job, shards: Sequence[int]) -> list[_shards.Ended]:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master) if master else SparkSession.builder
        used = session or builder.getOrCreate()
        # One partition for each shard, so that each is a task of its own.
        tasks = used.range(0, len(shards), 1, len(shards)).mapInArrow(_Shards(job, shards), "shard long, code long, said string")
        return [(it.shard, it.code, it.said) for it in _collected(tasks)]

    return run_all


def _collected(tasks: Any) -> Any:
    ended = tasks.collect()
    refused = [it.said for it in ended if it.code == _REFUSED]
    if refused:
        raise UsageError(refused[0])
    return ended


#: The code of a shard that a worker did not start.
_REFUSED = -1


class _Shards:
    """Runs the shards of a partition."""

    def __init__(self, job: _shards.Job, shards: Sequence[int]) -> None:
        self._job = job
        self._shards = list(shards)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            ended = [self._run(self._shards[ix]) for ix in batch.column(0).to_pylist()]
            rows = [{"shard": shard, "code": code, "said": said} for shard, code, said in ended]
            schema = pyarrow.schema([("shard", pyarrow.int64()), ("code", pyarrow.int64()), ("said", pyarrow.string())])
            yield pyarrow.RecordBatch.from_pylist(rows, schema=schema)

    def _run(self, shard: int) -> _shards.Ended:
        try:
            return self._job.run(shard)
        except UsageError as error:
            return shard, _REFUSED, str(error)


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
