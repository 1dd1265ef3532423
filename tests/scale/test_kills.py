"""Shards on Ray and Spark with SIGKILL in the middle: nothing is lost, and nothing is paid for twice but what was in flight.

`JURAT_KILL_TRIALS` says how many trials each way of killing has; `cargo xtask scale --kills N` sets it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import without_latencies

import jurat

TRIALS = int(os.environ.get("JURAT_KILL_TRIALS", "1"))
ROWS = 240
IN_FLIGHT = 4
WORKERS = 2

SUITE = """
suite: killed
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - { id: tone, judge: { prompt: "tone of ${answer}" }, operator: contains, expected_value: fine }
"""

#: What runs shards, as a process that can be killed.
DRIVERS = {
    "ray": "import ray, jurat.ray; ray.init(address='local', num_cpus=2, include_dashboard=False, log_to_driver=False);"
    f" jurat.ray.run('suite.yaml', out='parts', workers={WORKERS}, rows_per_shard=60, arguments=['-j', '{IN_FLIGHT}'])",
    "spark": "from pyspark.sql import SparkSession; import jurat.spark;"
    f" s = SparkSession.builder.master('local[{WORKERS},4]').config('spark.ui.enabled', 'false').config('spark.driver.host', '127.0.0.1').getOrCreate();"
    f" jurat.spark.run('suite.yaml', out='parts', session=s, rows_per_shard=60, arguments=['-j', '{IN_FLIGHT}'])",
}


class Endpoint:
    """A model that counts what it is asked, and takes a while."""

    def __init__(self) -> None:
        program = os.environ["JURAT_ENDPOINT"]
        self._child = subprocess.Popen([program, "--until-input-ends", "--latency", "20..40", "--reply", "fine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._child.stdout.readline())}"

    def n_answers(self) -> int:
        with urllib.request.urlopen(f"{self.url}/stats") as reply:
            return int(json.load(reply)["answers"])

    def reset(self) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/reset", method="POST")).close()

    def end(self) -> None:
        self._child.kill()
        self._child.wait()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.end()


@pytest.fixture
def folder(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"id": f"r{ix:03}", "answer": f"answer {ix:03}"}) + "\n" for ix in range(ROWS)))
    monkeypatch.chdir(tmp_path)
    for name, value in {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": endpoint.url, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAY_ADDRESS", "local")
    return tmp_path


def started(engine: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", DRIVERS[engine]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def shards(folder: Path) -> list[int]:
    """The processes that run shards of a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--of-parent" in words and any(it.startswith(str(folder).encode()) for it in words):
                found.append(int(entry.name))
    return found


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def waited(condition: object, seconds: float = 240.0) -> None:
    """Waits for something that other processes do."""
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.01)


def killed(victim: str, folder: Path, driver: subprocess.Popen[bytes]) -> int:
    """Kills a process, and returns how many requests may have been in flight in what dies with it."""
    running = shards(folder)
    assert running, "the run is over"
    if victim == "driver":
        driver.kill()
        driver.wait()
        # What it started ends with it.
        waited(lambda: not shards(folder))
        return IN_FLIGHT * len(running)
    shard = random.choice(running)
    os.kill(shard if victim == "shard" else parent(shard), signal.SIGKILL)
    return IN_FLIGHT


@pytest.mark.parametrize("trial", range(TRIALS))
@pytest.mark.parametrize("victim", ["shard", "worker", "driver"])
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_kill_loses_nothing_and_pays_at_most_what_was_in_flight(engine: str, victim: str, trial: int, folder: Path, endpoint: Endpoint) -> None:
    endpoint.reset()
    moment = random.Random(f"{engine} {victim} {trial}").randrange(ROWS // 8, ROWS // 2)
    driver = started(engine)
    waited(lambda: driver.poll() is not None or (endpoint.n_answers() >= moment and shards(folder)))
    in_flight = killed(victim, folder, driver)
    if victim == "driver":
        driver = started(engine)
    assert driver.wait(timeout=300) == 0
    paid_twice = endpoint.n_answers() - ROWS
    print(f"{engine}, {victim} killed after {moment}: {paid_twice} paid twice of {in_flight} in flight")
    assert 0 <= paid_twice <= in_flight
    merged = jurat.open_run(folder / "parts" / "run.jurat")
    assert without_latencies(merged) == without_latencies(jurat.Suite.load(folder / "suite.yaml").run())
