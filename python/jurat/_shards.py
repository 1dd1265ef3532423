"""Shards of a plan, run by an engine: what `jurat.ray.run`, `jurat.spark.run`, `jurat.dask.run` and `jurat run --engine` share.

A shard is run by the command, in a process of its own: `jurat run --shard`. What an engine does is to run that command once for each shard, and again when a worker is lost.
The process ends with its worker: it would ask what the next attempt asks, too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jurat import _jurat
from jurat.__main__ import command
from jurat.errors import RunError, UsageError
from jurat.run import Run, open_run

#: How a shard ended: its number, the exit code of the command, and what it wrote to standard error.
Ended = tuple[int, int, str]

#: Runs shards, in any order.
Engine = Callable[["Job", Sequence[int]], Iterable[Ended]]


#: How often a shard is tried whose process is killed.
_MOST_ATTEMPTS = 3

#: The first word of what starts a process that ends with its parent.
_OF_PARENT = "--of-parent"


class Job(NamedTuple):
    """What a worker needs to run a shard."""

    #: The directory of the plan, as every worker sees it.
    out: str
    #: Further arguments of `jurat run --shard`.
    arguments: tuple[str, ...]
    #: The version of jurat that made the plan.
    version: str

    def run(self, shard: int) -> Ended:
        """Runs a shard on this machine.

        Raises:
            UsageError: This worker has another version of jurat.
        """
        if _jurat.__version__ != self.version:
            raise UsageError(f"the shards were planned by jurat {self.version}, and this worker has {_jurat.__version__}; install the same version everywhere")
        for _ in range(_MOST_ATTEMPTS):
            ran = _attempt(["run", "--quiet", "--shard", f"{self.out}:{shard}", *self.arguments])
            # A process that was killed says nothing about its shard; the next one has its responses.
            if ran.returncode >= 0:
                break
        return shard, ran.returncode, ran.stderr.strip()


def run(suite: str | os.PathLike[str], out: str | os.PathLike[str], rows_per_shard: int, arguments: Sequence[str], engine: Engine) -> Run:
    """Plans shards, has an engine run those that are missing, and merges them."""
    directory = str(Path(out).absolute())
    _checked(["shards", os.fspath(suite), "--rows", str(rows_per_shard), "-o", directory])
    run_missing(directory, arguments, engine)
    _checked(["merge", directory])
    return open_run(Path(directory) / "run.jurat")


def run_missing(out: str, arguments: Sequence[str], engine: Engine) -> None:
    """Has an engine run the shards of a plan that are not done.

    Raises:
        RunError: A shard could not be run; the message is that of the first.
    """
    shards = missing(Path(out))
    if not shards:
        return
    failed = [it for it in engine(Job(out, tuple(arguments), _jurat.__version__), shards) if it[1] != 0]
    if failed:
        shard, code, said = min(failed)
        reason = said.removeprefix("error: ") or f"the command ended with {code}"
        raise RunError(f"{len(failed)} of {len(shards)} shards were not run to their end; shard {shard}: {reason}")


def missing(out: Path) -> list[int]:
    """The shards that are not done, those with the most bytes first: they take longest."""
    plan = json.loads((out / "plan.json").read_text())
    shards = [ix for ix in range(len(plan["shards"])) if not (out / "shards" / f"{ix:05}.jurat").exists()]
    return sorted(shards, key=lambda ix: (-_weight(plan["shards"][ix]), ix))


def _weight(shard: dict[str, Any]) -> float:
    for extent in ("lines", "table"):
        if extent in shard:
            return float(shard[extent]["bytes"])
    for extent in ("row_groups", "rows"):
        if extent in shard:
            return float(shard[extent]["n"])
    # Conversations, agents and whole files.
    return float("inf")


def _attempt(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "jurat._shards", _OF_PARENT, str(os.getpid()), *arguments]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def _end_with(parent: int) -> None:
    """Has the system kill this process when its parent is gone, in whatever way. Elsewhere than on Linux it outlives it."""
    if sys.platform != "linux":
        return
    import ctypes

    set_signal_of_parents_death = 1
    ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)
    if os.getppid() != parent:
        # It was gone before.
        os.kill(os.getpid(), signal.SIGKILL)


def _command(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "jurat", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def _checked(arguments: Sequence[str]) -> None:
    ran = _command(arguments)
    if ran.returncode != 0:
        raise UsageError(ran.stderr.strip().removeprefix("error: "))


def main(words: Sequence[str]) -> int:
    """What `jurat run --engine` starts: `ENGINE OUT ARGUMENTS…`, where the engine may have an address: `ray://HOST:PORT`, `spark://HOST:PORT`. And what a worker starts for a shard."""
    if words[0] == _OF_PARENT:
        _end_with(int(words[1]))
        sys.argv[1:] = words[2:]
        return command()
    name, out, *arguments = words
    kind, _, _ = name.partition("://")
    address = name if name != kind else None
    try:
        if kind == "ray":
            from jurat.ray import _engine as on_ray

            run_missing(out, arguments, on_ray(address, None))
        else:
            from jurat.spark import _engine as on_spark

            run_missing(out, arguments, on_spark(None, address))
    except ModuleNotFoundError as error:
        print(f"error: `{error.name}` is not installed; `pip install 'jurat[{kind}]'` brings it", file=sys.stderr)
        return 2
    except (RunError, UsageError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
