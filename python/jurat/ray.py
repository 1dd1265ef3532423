"""Suites over data sets of Ray: `pip install 'jurat[ray]'`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from jurat import _shards
from jurat.batches import Evaluator
from jurat.errors import UsageError
from jurat.run import Run
from jurat.suite import Suite

__all__ = ["evaluate", "run"]


def evaluate(dataset: Any, suite: Suite, *, workers: int | None = None, batch_rows: int | None = None, **evaluator: Any) -> Any:
    """Judges the rows of a data set, on actors.

    Args:
        dataset: The rows.
        suite: The suite. Keys of its models are taken from the environment of the workers (`runtime_env`).
        workers: How many actors judge; default: as many as leave a CPU for reading, and one a node where models are asked.
        batch_rows: How many rows an actor takes at a time; default: by whether models are asked.
        evaluator: As for `Suite.evaluator`.

    Returns:
        The results, which Ray computes when they are used.

    Raises:
        UsageError: This number of workers would leave no CPU for reading, and Ray would wait for ever.
        ModelError: A worker cannot ask a model; the message names the variable that is not set there.
    """
    import ray
    import ray.data

    made = suite.evaluator(**evaluator)
    if not ray.is_initialized():
        ray.init()
    share = 0.25 if made.asks else 0.9
    nodes: Any = ray.nodes
    workers = _workers([it["Resources"].get("CPU", 0.0) for it in nodes() if it["Alive"]], share, workers, asks=made.asks)
    # An actor that cannot be opened would be started again and again, so a task finds out what is missing.
    ray.get(ray.remote(num_cpus=0, max_retries=0)(_open).remote(made))
    return dataset.map_batches(
        _Judge,
        fn_constructor_args=(made,),
        batch_size=batch_rows or made.batch_rows,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=share,
        max_restarts=-1,
        max_task_retries=-1,
    )


def run(
    suite: str | os.PathLike[str], *, out: str | os.PathLike[str], workers: int | None = None, rows_per_shard: int = 200_000, arguments: Sequence[str] = ()
) -> Run:
    """Runs a suite as shards, each a task of Ray, and merges them into one run.

    A task whose worker is lost is run again, and finds the responses that were paid for. Running the same again is free for shards that are done.

    Args:
        suite: The file of the suite.
        out: The directory of the plan, the shards and the merged run. Every worker must see it, and the rows.
        workers: How many shards are run at a time; default: as many as the cluster has CPUs.
        rows_per_shard: How many rows a shard has, about.
        arguments: Further arguments of `jurat run --shard`, such as `["-j", "8", "--coordinator", "http://10.0.0.5:7420"]`.

    Returns:
        The merged run.

    Raises:
        UsageError: The suite cannot be planned, or a worker has another version of jurat.
        RunError: A shard was not run to its end; the message says why.
    """
    return _shards.run(suite, out, rows_per_shard, arguments, _engine(None, workers))


def _engine(address: str | None, workers: int | None) -> _shards.Engine:
    """Tasks rather than actors: a dead actor keeps its place, and a shard is minutes of work."""

    def run_all(job: _shards.Job, shards: Sequence[int]) -> list[_shards.Ended]:
        import ray

        if not ray.is_initialized():
            ray.init(address=address) if address else ray.init()
        # Only a lost worker is a reason to try again: what the command says is the same every time.
        task = ray.remote(num_cpus=1, max_retries=-1, retry_exceptions=False)(_shards.Job.run)
        waiting = list(shards)
        running: list[Any] = []
        ended: list[_shards.Ended] = []
        while waiting or running:
            while waiting and len(running) < (workers or len(shards)):
                running.append(task.remote(job, waiting.pop(0)))
            done, running = ray.wait(running)
            ended.extend(_got(ray, it) for it in done)
        return ended

    return run_all


def _got(ray: Any, reference: Any) -> _shards.Ended:
    try:
        return ray.get(reference)  # type: ignore[no-any-return]
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UsageError):
            raise error.cause from None
        raise


def _workers(cpus: list[float], share: float, wanted: int | None, *, asks: bool) -> int:
    """How many actors there are. When every node has less than a CPU left, Ray never reads a row, and says nothing about it."""
    most = sum(math.floor((it - 1) / share) + 1 for it in cpus if it >= 1) - 1
    workers = wanted or min(most, len(cpus) if asks else most)
    if not 1 <= workers <= most:
        raise UsageError(
            f"{max(workers, 1)} workers with {share} CPU each would leave no CPU of this cluster ({sum(cpus):g} in all) for reading rows, and Ray would wait"
            f" for ever; {f'at most {most} fit' if most > 0 else 'it needs a node with 2 CPUs'}"
        )
    return workers


def _open(evaluator: Evaluator) -> None:
    evaluator.open()


class _Judge:
    """An actor."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def __call__(self, batch: Any) -> Any:
        import pyarrow

        return pyarrow.Table.from_batches([self._evaluator(batch)])
