"""What jurat's own face takes: `python native.py N`. Prints one JSON object.

N rows with six assertions are run once. Then the results are made tables, each in a process of its own (`python native.py to_polars RUN`), and one case is read by its
id; last, a function is called with each of some rows. Times are CPU time of all threads, and memory is by how much the most memory that the process had grew.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

# Importing them is none of ours.
import polars
import pyarrow  # noqa: F401

import jurat
from jurat.spec import Assertion, compare, suite

TASKS = [
    Assertion("answered", "answer", compare.is_not_empty(), gate="condition"),
    Assertion("brief", "answer", compare.has_length_less_than(200)),
    Assertion("polite", "answer", compare.contains("please"), depends_on=["answered"]),
    Assertion("scored", "score", compare.in_range([0, 1])),
    Assertion("english", "language", compare.equals("en")),
    Assertion("starts_well", "answer", compare.starts_with("Dear")),
]

#: How many rows a function is called with, and how often a case is looked for.
CALLS, LOOKS = 20_000, 200


def rows(n: int) -> Iterator[dict[str, Any]]:
    for it in range(n):
        # One in a hundred fails, so that there are messages.
        yield {"id": f"r{it}", "answer": "Dear customer, please sit." if it % 100 else "Sit.", "score": 0.5, "language": "en"}


def used() -> tuple[float, int]:
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime, found.ru_maxrss * 1024


def taken(work: Callable[[], Any]) -> tuple[float, int]:
    start, before = used()
    work()
    end, after = used()
    return end - start, after - before


def tabled(run: jurat.Run, method: str) -> tuple[float, int]:
    """What a table of a run takes. The most memory of a process never falls, so each table has a process of its own."""
    command = [sys.executable, __file__, method, str(run.path)]
    seconds, size = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return seconds, size


def by_task(run: jurat.Run) -> None:
    """A query over a lazy frame, which reads all results and holds a part of them."""
    failed = run.lazy().filter(polars.col("verdict") == "failed").group_by("task").len().collect()
    assert failed["len"].sum() > 0


def main(n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        run = suite(TASKS).run(rows(n), directory=directory, progress=False)
        arrow_s, arrow_bytes = tabled(run, "to_arrow")
        polars_s, polars_bytes = tabled(run, "to_polars")
        lazy_s, lazy_bytes = tabled(run, "lazy")
        run.case("r0")
        start = time.process_time()
        for it in range(LOOKS):
            run.case(f"r{it * (n // LOOKS)}")
        case_ms = 1e3 * (time.process_time() - start) / LOOKS
        data = [{"n": it, "expected": 2 * it} for it in range(min(n, CALLS))]
        same = Assertion("same", "output", compare.equals("${expected}"))
        calls_s, _ = taken(lambda: jurat.evaluate(lambda n: 2 * n, data, [same], directory=directory, progress=False))
        return {
            "arrow_s": arrow_s,
            "arrow_mb": arrow_bytes / 1e6,
            "polars_s": polars_s,
            "polars_mb": polars_bytes / 1e6,
            "lazy_s": lazy_s,
            "lazy_mb": lazy_bytes / 1e6,
            "case_ms": case_ms,
            "call_us": 1e6 * calls_s / len(data),
        }


if __name__ == "__main__":
    if len(sys.argv) > 2:
        opened = jurat.open_run(sys.argv[2])
        print(json.dumps(taken((lambda: by_task(opened)) if sys.argv[1] == "lazy" else getattr(opened, sys.argv[1]))))
    else:
        print(json.dumps(main(int(sys.argv[1]))))
