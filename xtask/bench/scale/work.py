"""What batches of Arrow cost in one process (`cargo xtask bench scale`): prints figures as one line of JSON.

`work.py N` measures N rows with ten assertions each; `work.py N memory` judges N rows as a stream, and prints its peak of memory in MB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

import jurat

#: How many times what is compared is measured; the least counts.
ROUNDS = 3
BATCH = 4096
N_TASKS = 10

TASKS = [{"id": f"t{n}", "field_path": f"answer.f{n}", "operator": "less_than", "expected_value": 900} for n in range(N_TASKS)]


def row(ix: int) -> dict[str, Any]:
    """A row of 1.6 kB of which ten fields are read. One in twelve fails a task."""
    answer = {f"f{n}": 950 if n == 3 and ix % 12 == 0 else (ix + n) % 900 for n in range(N_TASKS)}
    return {"id": f"row-{ix}", "answer": answer, "transcript": f"{ix} " + "lorem ipsum dolor sit amet " * 50}


def batches(n: int) -> Iterator[pyarrow.RecordBatch]:
    for start in range(0, n, BATCH):
        yield pyarrow.RecordBatch.from_pylist([row(ix) for ix in range(start, min(n, start + BATCH))])


def cpu_of_run(directory: Path) -> float:
    """The CPU time of `jurat run` over the rows of the directory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # A suite with failures ends with 1.
    subprocess.run([sys.executable, "-m", "jurat", "run", "suite.yaml"], cwd=directory, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def written(directory: Path, n: int) -> Path:
    directory.mkdir()
    (directory / "suite.yaml").write_text(json.dumps({"suite": "s", "records": "rows.jsonl", "tasks": TASKS}))
    with (directory / "rows.jsonl").open("w") as file:
        file.writelines(json.dumps(row(ix)) + "\n" for ix in range(n))
    return directory


def per_row(n: int) -> tuple[float, float]:
    """The CPU time for a row, in µs: of batches, and of a run as a whole without its start."""
    evaluator = jurat.Suite({"tasks": TASKS}).evaluator()
    with tempfile.TemporaryDirectory() as scratch:
        one, all_rows = written(Path(scratch, "one"), 1), written(Path(scratch, "all"), n)
        given, ours, whole = list(batches(n)), float("inf"), float("inf")
        for _ in range(ROUNDS):
            started = time.process_time()
            for batch in given:
                evaluator(batch)
            ours = min(ours, time.process_time() - started)
            whole = min(whole, cpu_of_run(all_rows) - cpu_of_run(one))
    return ours / n * 1e6, whole / n * 1e6


def per_call() -> float:
    """The CPU time of a batch of one row, in ms."""
    evaluator, batch = jurat.Suite({"tasks": TASKS}).evaluator(), next(batches(1))
    evaluator(batch)
    started = time.process_time()
    for _ in range(500):
        evaluator(batch)
    return (time.process_time() - started) / 500 * 1e3


def bytes_out() -> float:
    """The bytes of a row of the results that passed."""
    passing = pyarrow.RecordBatch.from_pylist([row(ix) for ix in range(BATCH) if ix % 12])
    return jurat.Suite({"tasks": TASKS}).evaluator()(passing).nbytes / passing.num_rows


def memory(n: int) -> float:
    """The peak of a process of its own that judges a stream, in MB."""
    ran = subprocess.run([sys.executable, __file__, str(n), "memory"], capture_output=True, text=True, check=True)
    return float(ran.stdout)


def stream(n: int) -> None:
    given = next(batches(BATCH))
    reader = pyarrow.RecordBatchReader.from_batches(given.schema, (given for _ in range(-(-n // BATCH))))
    with jurat.Suite({"tasks": TASKS}).evaluate_batches(reader) as results:
        for _ in results:
            pass
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    n = int(sys.argv[1])
    if sys.argv[2:] == ["memory"]:
        stream(n)
        return
    ours, whole = per_row(n)
    few, many = memory(10_000), memory(10 * n)
    print(
        json.dumps(
            {
                "call_ms": per_call(),
                "row_us": ours,
                "run_us": whole,
                "row_ratio": ours / whole,
                "row_bytes": bytes_out(),
                "memory_mb": many,
                "memory_ratio": many / few,
            }
        )
    )


if __name__ == "__main__":
    main()
