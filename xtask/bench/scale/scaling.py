"""How work grows with workers (`cargo xtask bench scale --scaling`): prints figures as one line of JSON.

`scaling.py N` makes N judge calls of 200 ms in each way, which leaves processors idle: their wall-clock time is that of the requests, and is true also on a machine that others use. What needs processors is
compared by its CPU time, with rows that ask nothing: two workers that take no more CPU than one are twice as fast on two free cores.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from engines import on_ray, on_spark
from processes import Endpoint, coordinator, run
from work import FAILED, row, written

import jurat
import jurat.ray
import jurat.spark

LATENCY_MS = 200
#: Requests in flight of each worker.
IN_FLIGHT = 16
#: Rows that ask nothing, for each pass.
ROWS = 200_000
#: Processes whose leases are simulated. Each renews one every two seconds.
WORKERS = 1_000
LEASES = 5_000

TASK = {"id": "tone", "judge": {"prompt": "tone of ${answer}"}, "operator": "contains", "expected_value": "fine"}


def suite() -> jurat.Suite:
    return jurat.Suite({"tasks": [TASK]}, models={"judge": "openai/judge"})


def judged(n: int, pass_: str) -> pyarrow.Table:
    return pyarrow.table({"id": [f"r{ix}" for ix in range(n)], "answer": [f"answer {ix} of {pass_}" for ix in range(n)]})


def ray_calls(n: int, workers: int) -> float:
    """The seconds of judge calls in actors of Ray, which are there before."""
    import ray
    import ray.data

    def asked(rows: int) -> None:
        given = ray.data.from_arrow(judged(rows, f"ray {workers}")).repartition(8 * workers)
        results = jurat.ray.evaluate(given, suite(), workers=workers, batch_rows=max(1, rows // (8 * workers)), concurrency=IN_FLIGHT)
        assert sum(it.num_rows for it in ray.get(results.to_arrow_refs())) == rows

    asked(workers)
    began = time.monotonic()
    asked(workers)
    without = time.monotonic() - began
    began = time.monotonic()
    asked(n)
    # What is left out is the start of actors, which is the same for few rows.
    return time.monotonic() - began - without


def spark_calls(n: int, workers: int, directory: Path) -> float:
    """The same in tasks of Spark."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    session = builder.getOrCreate()
    try:
        rows = directory / f"spark-{workers}.parquet"
        pyarrow.parquet.write_table(judged(n, f"spark {workers}"), rows)
        frame = session.read.parquet(str(rows)).repartition(workers).cache()
        assert frame.count() == n
        seconds = []
        # The first pass starts workers; the second is left out of the third.
        for pass_, asked in enumerate((frame.limit(workers), frame.limit(workers), frame)):
            began = time.monotonic()
            jurat.spark.evaluate(asked, suite(), out=str(directory / f"spark-{workers}-{pass_}"), concurrency=IN_FLIGHT)
            seconds.append(time.monotonic() - began)
        return seconds[2] - seconds[1]
    finally:
        session.stop()


def local_calls(n: int, directory: Path, keys: dict[str, str]) -> dict[str, float]:
    """The seconds of judge calls in one process, and in two with as many in flight together."""
    found = {}
    for name, arguments in {"one": [], "one_half": [], "local": ["--engine", "local:2"]}.items():
        folder = directory / f"calls-{name}"
        folder.mkdir()
        given = {"suite": "s", "records": "rows.jsonl", "models": {"judge": "openai/judge"}, "tasks": [TASK]}
        (folder / "suite.yaml").write_text(json.dumps(given))
        with (folder / "rows.jsonl").open("w") as file:
            file.writelines(json.dumps(it) + "\n" for it in judged(n, name).to_pylist())
        concurrency = IN_FLIGHT if name == "one_half" else 2 * IN_FLIGHT
        found[name] = run(["run", "suite.yaml", "--quiet", "-j", str(concurrency), *arguments], folder, **keys).wall
    return found


def local_rows(directory: Path) -> dict[str, float]:
    """The CPU and the seconds of rows that ask nothing, in 1, 2 and 4 processes."""
    folder, found = written(directory / "rows", ROWS), {}
    for n in (1, 2, 4):
        took = run(["run", "suite.yaml", "--quiet", "--engine", f"local:{n}", "--out", f"parts-{n}"], folder, FAILED)
        found.update({f"local_{n}_cpu_s": took.cpu, f"local_{n}_wall_s": took.wall})
    return found


def engine_rows(directory: Path) -> dict[str, float]:
    """The CPU of a row in one worker and in two."""
    file, found = directory / "rows.parquet", {}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row(ix) for ix in range(ROWS)]), file, row_group_size=10_000)
    for name, engine in {"ray": on_ray, "spark": on_spark}.items():
        for workers in (1, 2):
            found[f"{name}_{workers}_us"] = min(engine(file, workers)[0] for _ in range(2))
    return found


def leases(directory: Path) -> dict[str, float]:
    """What a coordinator takes for the leases of many processes, and how long they wait."""
    folder = written(directory / "leases", 10)
    run(["shards", "suite.yaml", "-o", "parts"], folder)
    waits: list[float] = []
    with coordinator(folder, "parts", "--budget-calls", str(10 * LEASES), "-j", str(2 * WORKERS)) as leasing:
        token = (folder / "parts" / "coordinator.token").read_text().strip()

        def lease(first: int) -> None:
            for seq in range(first, LEASES, 4):
                body = {"worker": f"w{seq % WORKERS}", "shard": 0, "seq": 1 + seq // WORKERS, "least": {"calls": 1}, "wanted": {"calls": 2}}
                asked = urllib.request.Request(f"{leasing.said}/lease", json.dumps(body).encode(), {"authorization": f"Bearer {token}"})
                began = time.monotonic()
                urllib.request.urlopen(asked).close()
                waits.append(time.monotonic() - began)

        before = leasing.cpu()
        threads = [threading.Thread(target=lease, args=(ix,)) for ix in range(4)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        each = (leasing.cpu() - before) / LEASES
    waits.sort()
    return {"lease_us": each * 1e6, "lease_cores": each * WORKERS / 2, "lease_p99_ms": waits[int(0.99 * len(waits))] * 1e3}


def scaled(n: int, directory: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    with Endpoint(LATENCY_MS) as endpoint:
        os.environ.update(endpoint.keys)
        import ray

        figures.update({f"calls_{name}_s": it for name, it in local_calls(n, directory, endpoint.keys).items()})
        ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False)
        figures.update({f"calls_ray_{it}_s": ray_calls(n, it) for it in (1, 2)})
        figures.update({f"calls_spark_{it}_s": spark_calls(n, it, directory) for it in (1, 2)})
    figures.update(local_rows(directory))
    figures.update(engine_rows(directory))
    ray.shutdown()
    figures.update(leases(directory))
    figures["calls_ratio"] = figures["calls_local_s"] / figures["calls_one_s"]
    for name in ("ray", "spark"):
        figures[f"{name}_calls_speedup"] = figures[f"calls_{name}_1_s"] / figures[f"calls_{name}_2_s"]
        figures[f"{name}_rows_speedup"] = 2 * figures[f"{name}_1_us"] / figures[f"{name}_2_us"]
    figures["local_rows_speedup"] = 2 * figures["local_1_cpu_s"] / figures["local_2_cpu_s"]
    figures["load"] = os.getloadavg()[1]
    return figures


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import the files here.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(scaled(int(sys.argv[1]), Path(scratch))))


if __name__ == "__main__":
    main()
