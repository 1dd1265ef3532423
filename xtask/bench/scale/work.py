"""What batches of Arrow cost in one process (`cargo xtask bench scale`): prints figures as one line of JSON.

`work.py N` measures N rows with ten assertions each; `work.py N memory FILE` judges N rows as a stream, and prints its peak of memory in MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.ipc
from processes import peak_mb, run

import jurat

#: How many times what is compared is measured; the least counts.
ROUNDS = 3
BATCH = 4096
N_TASKS = 10
#: The codes of a run: one with failures ends with 1.
FAILED = (0, 1)

TASKS = [{"id": f"t{n}", "field_path": f"answer.f{n}", "operator": "less_than", "expected_value": 900} for n in range(N_TASKS)]


def row(ix: int) -> dict[str, Any]:
    """A row of 1.6 kB of which ten fields are read. One in twelve fails a task."""
    answer = {f"f{n}": 950 if n == 3 and ix % 12 == 0 else (ix + n) % 900 for n in range(N_TASKS)}
    return {"id": f"row-{ix}", "answer": answer, "transcript": f"{ix} " + "lorem ipsum dolor sit amet " * 50}


def batches(n: int) -> Iterator[pyarrow.RecordBatch]:
    for start in range(0, n, BATCH):
        yield pyarrow.RecordBatch.from_pylist([row(ix) for ix in range(start, min(n, start + BATCH))])


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
            whole = min(whole, run(["run", "suite.yaml"], all_rows, FAILED).cpu - run(["run", "suite.yaml"], one, FAILED).cpu)
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


def merging(n: int, directory: Path) -> dict[str, float]:
    """How many cases are merged in a second of CPU, the peak of memory, and what a run of shards takes on disk."""
    folder, n_shards = written(directory / "merge", n), 10
    run(["shards", "suite.yaml", "--rows", str(n // n_shards), "-o", "parts"], folder)
    shards = len(json.loads((folder / "parts" / "plan.json").read_text())["shards"])
    for ix in range(shards):
        run(["run", "--quiet", "--shard", f"parts:{ix}"], folder)
    took = [run(["merge", "parts", "-o", f"merged-{ix}.jurat"], folder) for ix in range(ROUNDS)]
    best = min(took, key=lambda it: it.cpu)
    stored = sum(it.stat().st_size for it in (folder / "parts" / "shards").glob("*.jurat"))
    return {
        "merged_per_s": n / best.cpu,
        "merge_wall_s": best.wall,
        "merge_mb": best.peak_mb,
        "shard_bytes": stored / n,
        "merged_bytes": (folder / "merged-0.jurat").stat().st_size / n,
    }


def memory(n: int) -> float:
    """The peak of a process of its own that judges a stream, in MB."""
    # The batch comes from a file: making it of objects takes more memory than judging it.
    with tempfile.TemporaryDirectory() as scratch:
        file, batch = str(Path(scratch, "batch.arrow")), next(batches(BATCH))
        with pyarrow.OSFile(file, "wb") as sink, pyarrow.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        ran = subprocess.run([sys.executable, __file__, str(n), "memory", file], capture_output=True, text=True, check=True)
    return float(ran.stdout)


def stream(n: int, file: str) -> None:
    with pyarrow.OSFile(file) as source:
        given = pyarrow.ipc.open_stream(source).read_next_batch()
    reader = pyarrow.RecordBatchReader.from_batches(given.schema, (given for _ in range(-(-n // BATCH))))
    with jurat.Suite({"tasks": TASKS}).evaluate_batches(reader) as results:
        for _ in results:
            pass
    print(peak_mb("self"))


def main() -> None:
    n = int(sys.argv[1])
    if sys.argv[2:3] == ["memory"]:
        stream(n, sys.argv[3])
        return
    ours, whole = per_row(n)
    few, many = memory(10_000), memory(10 * n)
    with tempfile.TemporaryDirectory() as scratch:
        merged = merging(3 * n, Path(scratch))
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
                **merged,
            }
        )
    )


if __name__ == "__main__":
    main()
