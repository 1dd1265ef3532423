"""Shards as tasks of Ray, Spark and Dask: the merged run is that of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jurat
import jurat.dask
import jurat.ray
import jurat.spark
from jurat import _shards
from jurat.errors import RunError, UsageError

SUITE = """
suite: invoices
records: rows.jsonl
tasks:
  - { id: paid, field_path: status, operator: equals, expected_value: paid }
  - { id: small, field_path: amount, operator: less_than, expected_value: 900 }
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = ({"id": f"r{ix}", "status": "due" if ix % 7 == 0 else "paid", "amount": ix % 1000} for ix in range(2_000))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(it) + "\n" for it in rows))
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    # Workers of Spark start this Python, and Ray must not use a cluster that is there already.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("RAY_ADDRESS", "local")
    return tmp_path / "suite.yaml"


def results(run: jurat.Run) -> str:
    return run.results_json()


def on_ray(suite: Path, out: Path) -> jurat.Run:
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        return jurat.ray.run(suite, out=out, workers=2, rows_per_shard=300)
    finally:
        ray.shutdown()


def on_spark(suite: Path, out: Path) -> jurat.Run:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        return jurat.spark.run(suite, out=out, session=session, rows_per_shard=300)
    finally:
        session.stop()


def on_dask(suite: Path, out: Path) -> jurat.Run:
    from dask.distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as client:
        return jurat.dask.run(suite, out=out, client=client, rows_per_shard=300)


@pytest.mark.parametrize("engine", [on_ray, on_spark, on_dask])
def test_a_merged_run_is_that_of_one_process(engine: Callable[[Path, Path], Any], suite: Path, tmp_path: Path) -> None:
    merged = engine(suite, tmp_path / "parts")
    assert results(merged) == results(jurat.Suite.load(suite).run())
    assert len(list((tmp_path / "parts" / "shards").iterdir())) > 5


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_the_command_runs_a_suite_on_an_engine(engine: str, suite: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jurat", "run", "suite.yaml", "--results-only", "--json"]
    ran = subprocess.run([*command, "--engine", engine, "--out", "parts"], capture_output=True, text=True, env={**os.environ}, timeout=300)
    one = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (one.returncode, one.stdout), ran.stderr
    assert (tmp_path / "parts" / "run.jurat").is_file()


def test_a_worker_with_another_version_is_refused(suite: Path, tmp_path: Path) -> None:
    def elsewhere(job: _shards.Job, shards: Any) -> Any:
        return [job._replace(version="0.0.1").run(it) for it in shards]

    with pytest.raises(UsageError, match=r"planned by jurat 0\.0\.1"):
        _shards.run(suite, tmp_path / "parts", 300, [], elsewhere)


def test_a_shard_that_fails_is_named_with_the_reason(suite: Path, tmp_path: Path) -> None:
    def here(job: _shards.Job, shards: Any) -> Any:
        (tmp_path / "rows.jsonl").write_text("{}\n")
        return [job.run(it) for it in shards]

    with pytest.raises(RunError, match="shard 0: `rows.jsonl` changed since the shards were planned"):
        _shards.run(suite, tmp_path / "parts", 300, [], here)
