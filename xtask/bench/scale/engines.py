"""What engines add to batches of Arrow, and what shards add to judge calls (`cargo xtask bench scale --engines`): prints figures as one line of JSON.

`engines.py N` measures N rows. The overhead of an engine is the CPU time that a worker spends in the adapter for a batch of 10,000 rows, beside that of one process that judges the same rows; what the engine
itself does, such as reading and moving rows, is in the times of whole passes. `JURAT_ENDPOINT` names the endpoint that judge calls go to.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from processes import Endpoint, coordinator, run
from work import TASKS, row

import jurat

BATCH = 10_000
#: How many times what is compared is measured; the least counts.
ROUNDS = 3
#: Passes of an engine. Starting its workers takes longest.
PASSES = 2
#: Judge calls for each way of storing their responses.
CALLS = 2_000

SCHEMA = pyarrow.schema([("rows", pyarrow.int64()), ("cpu", pyarrow.float64())])


def suite() -> jurat.Suite:
    return jurat.Suite({"tasks": TASKS})


def timed(judge: Callable[[Any], Any], batch: Any) -> pyarrow.RecordBatch:
    """The CPU time of a batch, as a row: of this thread, which is where rows are judged that ask nothing. Other threads of the process are those of the engine."""
    began = time.thread_time()
    judge(batch)
    return pyarrow.RecordBatch.from_pylist([{"rows": batch.num_rows, "cpu": time.thread_time() - began}], schema=SCHEMA)


def least(rows: pyarrow.Table) -> float:
    """The CPU time of a row in the cheapest whole batch, in µs: others met more of what else the machine does."""
    whole = [it["cpu"] / it["rows"] for it in rows.to_pylist() if it["rows"] >= BATCH]
    return min(whole) * 1e6


def alone(file: Path) -> tuple[float, float]:
    """One process: the CPU time of a row, and the seconds of all rows."""
    evaluator, began, found = suite().evaluator(strings=True), time.monotonic(), []
    for batch in pyarrow.parquet.ParquetFile(file).iter_batches(BATCH):
        found.append(timed(evaluator, batch))
    return least(pyarrow.Table.from_batches(found)), time.monotonic() - began


class OnRay:
    """What `jurat.ray` has actors do, with a clock."""

    def __init__(self) -> None:
        from jurat.ray import _Judge

        self._judge = _Judge(suite().evaluator(strings=True))

    def __call__(self, batch: Any) -> Any:
        return pyarrow.Table.from_batches([timed(self._judge, batch)])


def on_ray(file: Path, workers: int) -> tuple[float, float]:
    import ray
    import ray.data

    rows = ray.data.read_parquet(str(file))
    began = time.monotonic()
    found = rows.map_batches(OnRay, batch_size=BATCH, batch_format="pyarrow", compute=ray.data.ActorPoolStrategy(size=workers), num_cpus=0.9)
    table = pyarrow.concat_tables(ray.get(found.to_arrow_refs()))
    return least(table), time.monotonic() - began


def of_spark(batches: Iterator[Any]) -> Iterator[Any]:
    """What `jurat.spark` has a partition do, with a clock."""
    evaluator = suite().evaluator(strings=True)
    for batch in batches:
        yield timed(lambda it: list(evaluator.iterate(iter([it]))), batch)


def on_spark(file: Path, workers: int) -> tuple[float, float]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH)).config("spark.sql.files.maxPartitionBytes", "4m").getOrCreate()
    try:
        frame = session.read.parquet(str(file))
        frame.limit(1).collect()
        began = time.monotonic()
        found = frame.mapInArrow(of_spark, "rows long, cpu double").toArrow()
        return least(found), time.monotonic() - began
    finally:
        session.stop()


def on_daft(file: Path, workers: int) -> tuple[float, float]:
    import daft

    from jurat.daft import _joined

    evaluator = suite().evaluator(strings=True)

    def judged(rows: Any) -> Any:
        return evaluator(pyarrow.RecordBatch.from_struct_array(_joined(rows))).to_struct_array()


    @daft.cls
    class Judge:
        @daft.method.batch(return_dtype=daft.DataType.float64(), batch_size=BATCH)
        def clocked(self, rows: Any) -> Any:
            given = rows.to_arrow()
            began = time.thread_time()
            judged(given)
            return pyarrow.array([(time.thread_time() - began) / len(given) if len(given) >= BATCH else None] * len(given))

    frame = daft.read_parquet(str(file))
    began = time.monotonic()
    times = frame.select(Judge().clocked(daft.functions.to_struct(*(daft.col(it) for it in frame.column_names))).alias("cpu")).to_arrow()
    return min(it for it in times["cpu"].to_pylist() if it is not None) * 1e6, time.monotonic() - began


def calls(directory: Path) -> dict[str, float]:
    """The CPU time of a judge call, in µs: in one run with its journal, in a shard with segments, and with leases besides."""
    task = {"id": "tone", "judge": {"prompt": "tone of ${answer}"}, "operator": "contains", "expected_value": "fine"}
    suite = {"suite": "s", "records": "rows.jsonl", "models": {"judge": "openai/judge"}, "tasks": [task]}
    found: dict[str, list[float]] = {"journal": [], "segments": [], "leases": []}
    stored = 0
    with Endpoint() as endpoint:
        for round_ in range(ROUNDS):
            folder = directory / f"calls-{round_}"
            folder.mkdir()
            (folder / "suite.yaml").write_text(json.dumps(suite))
            with (folder / "rows.jsonl").open("w") as file:
                file.writelines(json.dumps({"id": f"r{ix}", "answer": f"answer {ix} of round {round_}"}) + "\n" for ix in range(CALLS))
            for name in ("segments", "leases"):
                run(["shards", "suite.yaml", "--rows", str(10 * CALLS), "-o", name], folder)
            shard = ["run", "--quiet", "-j", "50", "--shard"]
            found["journal"].append(run(["run", "suite.yaml", "--quiet", "-j", "50"], folder, **endpoint.keys).per(CALLS))
            found["segments"].append(run([*shard, "segments:0"], folder, **endpoint.keys).per(CALLS))
            stored = sum(it.stat().st_size for it in (folder / "segments" / "journal").rglob("*.seg"))
            with coordinator(folder, "leases", "-j", "50") as leasing:
                found["leases"].append(run([*shard, "leases:0", "--coordinator", leasing.said], folder, **endpoint.keys).per(CALLS))
        # A process of Python takes as long to start as a thousand calls.
        start = min(run(["--version"], directory).per(CALLS) for _ in range(ROUNDS))
    return {**{f"call_{name}_us": min(times) - start for name, times in found.items()}, "segment_bytes": stored / CALLS}


def measured(n: int, directory: Path) -> dict[str, float]:
    file = directory / "rows.parquet"
    rows = pyarrow.Table.from_pylist([row(ix) for ix in range(n)])
    pyarrow.parquet.write_table(rows, file, row_group_size=BATCH)
    figures = calls(directory)
    figures["segments_ratio"] = figures["call_segments_us"] / figures["call_journal_us"]
    figures["leases_ratio"] = figures["call_leases_us"] / figures["call_segments_us"]
    own, seconds = alone(file)
    figures.update(alone_us=own, alone_s=seconds)
    print(figures, file=sys.stderr)
    import ray

    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    engines = {"ray": on_ray, "spark": on_spark, "daft": on_daft}
    for name, engine in engines.items():
        passes = [engine(file, 2) for _ in range(PASSES)]
        figures[f"{name}_us"] = min(it[0] for it in passes)
        figures[f"{name}_s"] = min(it[1] for it in passes)
        # What is compared was measured in the same minutes.
        figures[f"{name}_ratio"] = figures[f"{name}_us"] / min(alone(file)[0] for _ in range(ROUNDS))
        print(name, passes, figures[f"{name}_ratio"], file=sys.stderr)
    ray.shutdown()
    return figures


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import this file.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(measured(int(sys.argv[1]), Path(scratch))))


if __name__ == "__main__":
    main()
