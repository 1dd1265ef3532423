"""Every verdict of many rows with scripted judges, on every engine, is that of one process.

`JURAT_SCALE_ROWS` is the number of rows; `cargo xtask scale --rows N` sets it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest
from conftest import without_latencies

import jurat
import jurat.daft
import jurat.dask
import jurat.ray
import jurat.spark

ROWS = int(os.environ.get("JURAT_SCALE_ROWS", "100000"))
#: What results are compared by: everything but how long it took.
COLUMNS = ["case", "verdict", "passed", "failed", "error", "tasks", "labels", "scores", "answers", "requests", "input_tokens", "output_tokens"]

REPLIES = [
    {"match": {"regex": "due"}, "reply": {"label": "rude", "score": 0.2}, "usage": {"input": 30, "output": 5}, "times": "*"},
    {"match": {"regex": "7 of"}, "reply": "no JSON", "times": "*"},
    {"reply": {"label": "polite", "score": 0.9}, "usage": {"input": 20, "output": 5}, "times": "*"},
]


def tasks() -> list[dict[str, Any]]:
    judge = {"prompt": "Rate: ${status}, ${amount} of ${customer.name}", "output": {"label": {"enum": ["polite", "rude"]}, "score": "number"}, "max_retries": 0}
    return [
        {"id": "small", "field_path": "amount", "operator": "less_than", "expected_value": 900},
        {"id": "tone", "judge": judge, "field_path": "label", "operator": "equals", "expected_value": "polite"},
    ]


def definition(folder: Path, **sections: Any) -> dict[str, Any]:
    return {"suite": "equal", "models": {"judge": f"script/{folder / 'replies.jsonl'}"}, "tasks": tasks(), **sections}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows as Parquet and as JSON lines, the script, and a suite."""
    folder = tmp_path_factory.mktemp("equality")
    (folder / "replies.jsonl").write_text("".join(json.dumps(it) + "\n" for it in REPLIES))
    names = [f"c{ix % 5000}" for ix in range(ROWS)]
    status = ["due" if ix % 7 == 0 else "paid" for ix in range(ROWS)]
    columns = {"id": [f"r{ix:07}" for ix in range(ROWS)], "status": status, "amount": [ix % 1000 for ix in range(ROWS)], "customer": [{"name": it} for it in names]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "rows.parquet", row_group_size=20_000)
    (folder / "suite.yaml").write_text(json.dumps(definition(folder, records="rows.parquet")))
    return folder


@pytest.fixture(scope="module")
def suite(folder: Path) -> jurat.Suite:
    return jurat.Suite(definition(folder))


def ordered(results: pyarrow.Table) -> pyarrow.Table:
    """Results by case, in one piece, with plain types."""
    results = results.select([it for it in COLUMNS if it in results.column_names])
    results = results.take(pyarrow.compute.sort_indices(results["case"])).combine_chunks()
    large = [_plain(it) for it in results.schema]
    return results.cast(pyarrow.schema(large))


def _plain(field: pyarrow.Field) -> pyarrow.Field:
    kind = field.type
    if pyarrow.types.is_struct(kind):
        return pyarrow.field(field.name, pyarrow.struct([_plain(it) for it in kind]))
    text = pyarrow.types.is_large_string(kind) or pyarrow.types.is_dictionary(kind)
    return pyarrow.field(field.name, pyarrow.string() if text else kind)


@pytest.fixture(scope="module")
def expected(folder: Path, suite: jurat.Suite) -> pyarrow.Table:
    began = time.monotonic()
    results = ordered(suite.evaluate_batches(pyarrow.parquet.read_table(folder / "rows.parquet"), strings=True).read_all())
    print(f"one process: {ROWS} rows in {time.monotonic() - began:.1f} s")
    assert results.num_rows == ROWS
    # Both tasks fail somewhere, and what cannot be judged is an error.
    counts = {it["values"]: it["counts"] for it in results["verdict"].value_counts().to_pylist()}
    assert set(counts) == {"passed", "failed", "error"}, counts
    return results


@contextlib.contextmanager
def ray_of_two_nodes() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield ray
    finally:
        ray.shutdown()
        cluster.shutdown()


def on_ray(folder: Path, suite: jurat.Suite) -> pyarrow.Table:
    with ray_of_two_nodes() as ray:
        rows = ray.data.read_parquet(str(folder / "rows.parquet")).repartition(20)
        results = jurat.ray.evaluate(rows, suite, strings=True, workers=2, batch_rows=4096)
        return pyarrow.concat_tables(ray.get(results.to_arrow_refs()))


def spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    return builder.config("spark.driver.memory", "2g").getOrCreate()


def on_spark(folder: Path, suite: jurat.Suite) -> pyarrow.Table:
    session = spark()
    try:
        jurat.spark.evaluate(session.read.parquet(str(folder / "rows.parquet")).repartition(8), suite, out=str(folder / "of-spark"))
        return pyarrow.parquet.read_table(folder / "of-spark")
    finally:
        session.stop()


def on_daft(folder: Path, suite: jurat.Suite) -> pyarrow.Table:
    import daft

    return jurat.daft.evaluate(daft.read_parquet(str(folder / "rows.parquet")), suite).to_arrow()


def on_dask(folder: Path, suite: jurat.Suite) -> pyarrow.Table:
    import dask.dataframe
    import pandas

    rows = pyarrow.parquet.read_table(folder / "rows.parquet").to_pandas(types_mapper=pandas.ArrowDtype)
    judged = jurat.dask.evaluate(dask.dataframe.from_pandas(rows, npartitions=8), suite).compute(scheduler="processes", num_workers=2)
    return pyarrow.Table.from_pandas(judged, preserve_index=False)


@pytest.mark.parametrize("engine", [on_ray, on_spark, on_daft, on_dask])
def test_every_verdict_is_that_of_one_process(engine: Callable[[Path, jurat.Suite], pyarrow.Table], folder: Path, suite: jurat.Suite, expected: pyarrow.Table) -> None:
    began = time.monotonic()
    found = ordered(engine(folder, suite))
    print(f"{engine.__name__}: {ROWS} rows in {time.monotonic() - began:.1f} s")
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        assert found[name].equals(expected[name]), f"`{name}` differs"


def shards_on_ray(suite: Path, out: Path) -> jurat.Run:
    with ray_of_two_nodes():
        return jurat.ray.run(suite, out=out, workers=2, rows_per_shard=max(20_000, ROWS // 16))


def shards_on_spark(suite: Path, out: Path) -> jurat.Run:
    session = spark()
    try:
        return jurat.spark.run(suite, out=out, session=session, rows_per_shard=max(20_000, ROWS // 16))
    finally:
        session.stop()


def shards_on_dask(suite: Path, out: Path) -> jurat.Run:
    from dask.distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as client:
        return jurat.dask.run(suite, out=out, client=client, rows_per_shard=max(20_000, ROWS // 16))


@pytest.fixture(scope="module")
def one_run(folder: Path) -> str:
    return without_latencies(jurat.Suite.load(folder / "suite.yaml").run(directory=folder))


@pytest.mark.parametrize("engine", [shards_on_ray, shards_on_spark, shards_on_dask])
def test_a_merged_run_is_that_of_one_process(engine: Callable[[Path, Path], jurat.Run], folder: Path, one_run: str) -> None:
    began = time.monotonic()
    merged = without_latencies(engine(folder / "suite.yaml", folder / f"parts-{engine.__name__}"))
    print(f"{engine.__name__}: {ROWS} rows in {time.monotonic() - began:.1f} s")
    # Not in the assertion: a difference of hundreds of megabytes would be shown.
    is_equal = merged == one_run
    assert is_equal
