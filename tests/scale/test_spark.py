"""Spark with two threads that may fail four times."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from conftest import ASKING, SUITE, plain

import jurat.spark
from jurat.errors import ModelError, UsageError

sql = pytest.importorskip("pyspark.sql")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    import os

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()
    yield session
    session.stop()


def frame(session: Any, rows: pyarrow.Table, directory: Path) -> Any:
    pyarrow.parquet.write_table(rows, directory / "rows.parquet")
    return session.read.parquet(str(directory / "rows.parquet")).repartition(6)


def test_results_are_those_of_one_process(session: Any, rows: pyarrow.Table, expected: list[dict[str, Any]], tmp_path: Path) -> None:
    out = tmp_path / "results"
    results = jurat.spark.evaluate(frame(session, rows, tmp_path), SUITE, out=str(out), carry=["amount"])
    assert results.count() == rows.num_rows
    assert plain(pyarrow.parquet.read_table(out)) == expected
    assert results.where("tasks.paid = 'failed'").count() == sum(it["tasks"]["paid"] == "failed" for it in expected)


def test_an_empty_frame_has_the_schema(session: Any, rows: pyarrow.Table, tmp_path: Path) -> None:
    empty = frame(session, rows.slice(0, 10), tmp_path).where("false")
    results = jurat.spark.evaluate(empty, SUITE, out=str(tmp_path / "results"))
    assert results.columns == SUITE.evaluator().schema.names and results.count() == 0


SPECULATING = """
import sys

sys.path.insert(0, sys.argv[1])
from conftest import ASKING
from pyspark.sql import SparkSession

import jurat.spark
from jurat.errors import UsageError

builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
session = builder.config("spark.speculation", "true").getOrCreate()
try:
    jurat.spark.evaluate(session.range(3), ASKING, out="results")
except UsageError as error:
    assert "`spark.speculation` runs slow partitions twice" in str(error)
    sys.exit(7)
"""


def test_speculation_is_refused_for_suites_that_ask() -> None:
    # A session has it from its beginning, so it is another one than that of the other tests.
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", SPECULATING, str(Path(__file__).parent)], timeout=300)
    assert ran.returncode == 7


def test_a_key_that_a_worker_lacks_is_named_before_the_first_row(session: Any, rows: pyarrow.Table, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="SCALE_TEST_KEY"):
        jurat.spark.evaluate(frame(session, rows.slice(0, 10), tmp_path), ASKING, out=str(tmp_path / "results"))
    assert not (tmp_path / "results").exists()
