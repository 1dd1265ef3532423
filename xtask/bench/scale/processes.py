"""Commands of jurat as processes that are measured, and the endpoint that they ask: for the other scripts here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

JURAT = [sys.executable, "-m", "jurat"]
#: How often the memory of a process is looked at, in seconds.
LOOK = 0.01


class Took(NamedTuple):
    """What a command took, with all processes that it started."""

    cpu: float
    wall: float
    #: The peak of its memory, in MB.
    peak_mb: float

    def per(self, n: int) -> float:
        """The CPU time of each of `n`, in µs."""
        return self.cpu / n * 1e6


def peak_mb(process: int | str) -> float:
    """The peak of memory of a process so far, in MB. What the system says when a process has ended counts the process that started it, too."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0.0


def run(arguments: Sequence[str], directory: Path, codes: Sequence[int] = (0,), **variables: str) -> Took:
    """Runs a command of jurat, which ends with one of these codes: a suite with failures ends with 1."""
    began = time.monotonic()
    with (directory / "stderr.txt").open("w") as errors:
        child = subprocess.Popen([*JURAT, *arguments], cwd=directory, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **variables})
        ended, peak = 0, 0.0
        while not ended:
            peak = max(peak, peak_mb(child.pid))
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            time.sleep(0 if ended else LOOK)
    wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise RuntimeError(f"`jurat {' '.join(arguments)}` ended with {child.returncode}: {(directory / 'stderr.txt').read_text()}")
    return Took(usage.ru_utime + usage.ru_stime, wall, peak)


class Child:
    """A process that ends with the block that it is used in. What it prints first is known."""

    def __init__(self, command: Sequence[str], directory: Path | None = None) -> None:
        self._child = subprocess.Popen(command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._child.stdout is not None
        self.said = self._child.stdout.readline().strip()

    def cpu(self) -> float:
        """The CPU time that it has taken so far, in seconds."""
        fields = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._child.kill()
        self._child.wait()


class Endpoint(Child):
    """A model that answers `fine`."""

    def __init__(self, latency_ms: int = 0) -> None:
        super().__init__([os.environ["JURAT_ENDPOINT"], "--until-input-ends", "--latency", str(latency_ms), "--reply", "fine"])
        self.url = f"http://127.0.0.1:{self.said}"
        #: What processes that ask it have in their environment.
        self.keys = {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "sk"}

    def reset(self) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/reset", method="POST")).close()


def coordinator(directory: Path, plan: str, *arguments: str) -> Child:
    """A coordinator for a plan; what it says first is its address."""
    return Child([*JURAT, "coordinate", plan, "--listen", "127.0.0.1:0", *arguments], directory)
