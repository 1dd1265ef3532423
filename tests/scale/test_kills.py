"""Kills at random moments: of a process that runs a shard, of the worker that started it, of a node with what is on its disk, of the driver. Nothing is lost, and no answer that was written is paid for again: what is paid for twice was
in flight, or had come and was not written yet.

`JURAT_KILL_TRIALS` is the number of trials for each engine and each victim; `cargo xtask scale --kills N` sets it. Moments are random and the same every time: they count answers of the endpoint.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import without_latencies

import jurat

TRIALS = int(os.environ.get("JURAT_KILL_TRIALS", "1"))
ROWS = 240
ROWS_PER_SHARD = 60
IN_FLIGHT = 4
WORKERS = 2

SUITE = """
suite: killed
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - { id: tone, judge: { prompt: "tone of ${answer}" }, operator: contains, expected_value: fine }
"""

OPTIONS = f"out='parts', rows_per_shard={ROWS_PER_SHARD}, arguments=['-j', '{IN_FLIGHT}']"

#: What runs shards, as a process that can be killed. The cluster of Ray is one that outlives it. Executors of Spark are processes of their own only where nodes are killed.
DRIVERS = {
    "ray": f"import os, ray, jurat.ray; ray.init(address=os.environ['CLUSTER'], log_to_driver=False); jurat.ray.run('suite.yaml', workers={WORKERS}, {OPTIONS})",
    "spark": "import os, jurat.spark; from pyspark.sql import SparkSession;"
    " b = SparkSession.builder.master(os.environ['CLUSTER']).config('spark.ui.enabled', 'false').config('spark.driver.host', '127.0.0.1');"
    f" s = b.getOrCreate(); jurat.spark.run('suite.yaml', session=s, {OPTIONS})",
}


class Endpoint:
    """A model that counts what it is asked, and takes a while."""

    def __init__(self) -> None:
        program = os.environ["JURAT_ENDPOINT"]
        command = [program, "--until-input-ends", "--keep", "--latency", "20..40", "--reply", "fine"]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._child.stdout.readline())}"

    def n_answers(self) -> int:
        return int(self._told("stats")["answers"])

    def rows(self) -> list[int]:
        """The rows that were asked about, in order, each as often as it was."""
        return [int(found.group(1)) for it in self._told("requests") if (found := re.search(r"tone of answer (\d+)", json.dumps(it)))]

    def _told(self, what: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{what}") as reply:
            return json.load(reply)

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


class Cluster:
    """Ray with a node that runs nothing, and two nodes with a CPU each."""

    def __init__(self, address_of_endpoint: str) -> None:
        from ray.cluster_utils import Cluster as Nodes

        # Workers have the environment of their node.
        os.environ.update({"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": address_of_endpoint})
        self._nodes: Any = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self._workers = [self._nodes.add_node(num_cpus=1) for _ in range(WORKERS)]
        self.address = self._nodes.address

    def kill_node(self, of_process: int) -> None:
        """Kills the node that a process belongs to, with everything on it, and adds another."""
        lineage = set(ancestors(of_process))
        node = next(it for it in self._workers if it.all_processes["raylet"][0].process.pid in lineage)
        self._workers.remove(node)
        self._nodes.remove_node(node, allow_graceful=False)
        self._workers.append(self._nodes.add_node(num_cpus=1))

    def end(self) -> None:
        self._nodes.shutdown()


@pytest.fixture(scope="module")
def ray_cluster(endpoint: Endpoint) -> Iterator[Cluster]:
    before = dict(os.environ)
    cluster = Cluster(endpoint.url)
    yield cluster
    cluster.end()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def folder(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"id": f"r{ix:03}", "answer": f"answer {ix:03}"}) + "\n" for ix in range(ROWS)))
    monkeypatch.chdir(tmp_path)
    for name, value in {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": endpoint.url, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def started(engine: str, cluster: str) -> subprocess.Popen[bytes]:
    with Path("driver.log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-W", "ignore", "-c", DRIVERS[engine]], stdout=log, stderr=log, env={**os.environ, "CLUSTER": cluster})


def shards(folder: Path) -> dict[int, int]:
    """The processes that run shards of a folder, each with the number of its shard."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            mine = [it for it in words if it.startswith(f"{folder}/parts:")]
            if "--of-parent" in words and mine:
                found[int(entry.name)] = int(mine[0].rpartition(":")[2])
    return found


def ancestors(process: int) -> Iterator[int]:
    """The parent of a process, its parent, and so on."""
    while process > 1:
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return
        yield process


def waited(condition: Callable[[], Any], seconds: float = 240.0) -> None:
    """Waits for something that other processes do."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"it takes too long: {Path('driver.log').read_text()[-3000:]}"
        time.sleep(0.01)


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        # It has just ended.
        pass


def n_written(folder: Path, shard: int) -> int:
    """How many answers of a shard are in its segments: whole frames, without the one that names the shard."""
    n = 0
    for file in (folder / "parts" / "journal" / f"{shard:05}").glob("*.seg"):
        bytes_, at = file.read_bytes(), 8
        frames = 0
        while at + 12 <= len(bytes_):
            at += 12 + int.from_bytes(bytes_[at : at + 4], "little")
            frames += at <= len(bytes_)
        n += max(0, frames - 1)
    return n


def shard_of(folder: Path, row: int) -> int:
    """The shard that a row is in. All rows have equally many bytes."""
    plan = json.loads((folder / "parts" / "plan.json").read_text())
    at = row * (folder / "rows.jsonl").stat().st_size // ROWS
    lines = [it["lines"] for it in plan["shards"]]
    return next(ix for ix, it in enumerate(lines) if it["offset"] <= at < it["offset"] + it["bytes"])


def raylet(process: int) -> int | None:
    return next((it for it in ancestors(process) if "raylet" in Path(f"/proc/{it}/comm").read_text()), None)


def executor(process: int) -> int | None:
    return next((it for it in ancestors(process) if "java" in Path(f"/proc/{it}/comm").read_text()), None)


def settled(asked: Callable[[], Counter[int]], shards: set[int]) -> Counter[int]:
    """What was asked of shards whose processes are stopped, once a second has brought nothing more: the endpoint may be slow to read. Requests of others do not matter."""
    found, since = asked(), time.monotonic()
    while time.monotonic() < since + 1:
        time.sleep(0.1)
        now = asked()
        if any(now[ix] != found[ix] for ix in shards):
            since = time.monotonic()
        found = now
    return found


class Killed(NamedTuple):
    """What a kill left of the shards whose processes died with it."""

    #: The rows of these shards that were asked about, and how many answers are written.
    asked: dict[int, int]
    written: dict[int, int]


def kill_at(victim: str, folder: Path, endpoint: Endpoint, driver: subprocess.Popen[bytes], cluster: Cluster | None, chance: random.Random) -> Killed:
    """Kills a process. Shards that die with it are stopped before, so that what they asked and wrote can be counted."""
    node = raylet if cluster is not None else executor
    dying: dict[int, int] = {}
    while not dying:
        running = sorted(shards(folder))
        assert running, f"the run is over: {Path('driver.log').read_text()[-3000:]}"
        shard = chance.choice(running)
        ends = {"driver": lambda _: True, "node": lambda it, shard=shard: node(it) == node(shard)}.get(victim, lambda it, shard=shard: it == shard)
        # Twice: one may have begun meanwhile.
        for _ in range(2):
            for process, ix in shards(folder).items():
                if process not in dying and ends(process):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGSTOP)
                        dying[process] = ix
    asked = settled(lambda: Counter(shard_of(folder, it) for it in endpoint.rows()), set(dying.values()))
    left = Killed({ix: asked[ix] for ix in dying.values()}, {ix: n_written(folder, ix) for ix in dying.values()})
    if victim == "node":
        # With what is on its disk: the runs that it was writing. Segments are in the directory that all see.
        for ix in dying.values():
            for file in (folder / "parts" / "shards").glob(f".*{ix:05}*"):
                file.unlink(missing_ok=True)
    if victim == "driver":
        driver.kill()
        driver.wait()
    elif victim == "node" and cluster is not None:
        cluster.kill_node(shard)
    else:
        kill({"node": executor(shard), "worker": next(ancestors(shard), None), "shard": shard}[victim] or shard)
    # What they started ends with them.
    waited(lambda: not set(dying) & set(shards(folder)))
    return left


@pytest.mark.parametrize("trial", range(TRIALS))
@pytest.mark.parametrize("victim", ["shard", "worker", "node", "driver"])
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_kill_loses_nothing_and_what_is_written_is_not_paid_for_again(
    engine: str, victim: str, trial: int, folder: Path, endpoint: Endpoint, request: pytest.FixtureRequest
) -> None:
    endpoint.reset()
    cluster: Cluster | None = request.getfixturevalue("ray_cluster") if engine == "ray" else None
    address = cluster.address if cluster else f"local-cluster[{WORKERS},1,1024]" if victim == "node" else f"local[{WORKERS},4]"
    chance = random.Random(f"{engine} {victim} {trial}")
    moment = chance.randrange(ROWS // 8, ROWS * 3 // 4)
    driver = started(engine, address)
    waited(lambda: driver.poll() is not None or (endpoint.n_answers() >= moment and shards(folder)))
    left = kill_at(victim, folder, endpoint, driver, cluster, chance)
    if victim == "driver":
        driver = started(engine, address)
    assert driver.wait(timeout=300) == 0, Path("driver.log").read_text()[-3000:]
    asked = Counter(shard_of(folder, it) for it in endpoint.rows())
    in_shard = Counter(shard_of(folder, it) for it in range(ROWS))
    for ix, written in left.written.items():
        again = asked[ix] - left.asked[ix]
        assert again <= in_shard[ix] - written, f"shard {ix} had {written} answers, and asked {again} times after the kill"
    paid_twice = asked.total() - ROWS
    lost = sum(left.asked.values()) - sum(left.written.values())
    print(f"{engine}, {victim} killed after {moment} answers: {paid_twice} paid twice, {lost} in flight or not written, {len(left.asked)} processes with {IN_FLIGHT} in flight each")
    assert 0 <= paid_twice <= lost
    merged = jurat.open_run(folder / "parts" / "run.jurat")
    assert without_latencies(merged) == without_latencies(jurat.Suite.load(folder / "suite.yaml").run())
