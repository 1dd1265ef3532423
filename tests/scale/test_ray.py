"""Ray Data on a cluster of two nodes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from conftest import ASKING, SUITE, plain

import jurat.ray
from jurat.errors import ModelError, UsageError

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)
    yield
    ray.shutdown()
    cluster.shutdown()


def test_results_are_those_of_one_process(rows: pyarrow.Table, expected: list[dict[str, Any]]) -> None:
    results = jurat.ray.evaluate(ray.data.from_arrow(rows).repartition(10), SUITE, strings=True, carry=["amount"])
    judged = pyarrow.concat_tables(ray.get(results.to_arrow_refs()))
    assert plain(judged) == expected


def test_too_many_actors_are_refused_at_once(rows: pyarrow.Table) -> None:
    dataset = ray.data.from_arrow(rows)
    started = time.monotonic()
    with pytest.raises(UsageError, match="would leave no CPU of this cluster .* at most 3 fit"):
        jurat.ray.evaluate(dataset, SUITE, workers=4)
    assert time.monotonic() - started < 5


def test_a_key_that_a_worker_lacks_is_named_before_the_first_row(rows: pyarrow.Table) -> None:
    with pytest.raises(ModelError, match="SCALE_TEST_KEY"):
        jurat.ray.evaluate(ray.data.from_arrow(rows), ASKING)


def judging() -> list[int]:
    """The actors that judge a batch now: Ray has the processes say what they do."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if words.startswith(b"ray::MapWorker(MapBatches(_Judge)).submit"):
            found.append(int(entry.name))
    return found


def test_a_killed_actor_loses_no_row(rows: pyarrow.Table) -> None:
    some = rows.slice(0, 20_000)
    results = jurat.ray.evaluate(ray.data.from_arrow(some).repartition(40), SUITE, strings=True, workers=1, batch_rows=500)
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 120
        while not killed and time.monotonic() < until:
            for process in judging():
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.001)

    killer = threading.Thread(target=kill)
    killer.start()
    judged = pyarrow.concat_tables(ray.get(results.to_arrow_refs()))
    killer.join()
    assert killed, "nothing was killed while it worked"
    assert plain(judged) == plain(SUITE.evaluator(strings=True)(some))
