"""Evaluating much and dropping it leaves nothing behind."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jurat.evaluate import AssertionTask, GenAIEvalDataset
from jurat.queue import GenAIEvalRecord

#: The goal is 100,000; what is built for tests is so much slower that fewer say the same.
N_RECORDS = int(os.environ.get("JURAT_MEMORY_RECORDS", "20000"))

STATM = Path("/proc/self/statm")


def resident() -> int:
    gc.collect()
    # What an allocator keeps for later is not in use.
    getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)(0)
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def rounds() -> list[int]:
    """How much memory is in use after each of ten rounds."""
    task = AssertionTask(id="small", field_path="n", operator="LessThan", expected_value=N_RECORDS)
    used = []
    for _ in range(10):
        records = [GenAIEvalRecord({"n": n, "text": "x" * 200}) for n in range(N_RECORDS)]
        results = GenAIEvalDataset(records, [task]).evaluate(progress=False)
        assert len(results) == N_RECORDS and results.pass_rate == 1
        del records, results
        used.append(resident())
    return used


@pytest.mark.skipif(not STATM.exists(), reason="the system does not say how much memory is in use")
def test_memory_does_not_grow(tmp_path: Path) -> None:
    # In a process of its own: what other tests left would move about meanwhile.
    ran = subprocess.run([sys.executable, __file__], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
    used = json.loads(ran.stdout)
    # Records that stayed would be 10 MB a round. The first rounds fill what is made once.
    assert used[-1] - used[2] < 8 << 20, used


if __name__ == "__main__":
    print(json.dumps(rounds()))
