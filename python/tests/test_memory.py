"""Evaluating much and dropping it leaves nothing behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from jurat.evaluate import AssertionTask, GenAIEvalDataset
from jurat.queue import GenAIEvalRecord

#: The goal is 100,000; what is built for tests is so much slower that fewer say the same.
N_RECORDS = int(os.environ.get("JURAT_MEMORY_RECORDS", "20000"))

STATM = Path("/proc/self/statm")


def resident() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not STATM.exists(), reason="the system does not say how much memory is in use")
def test_memory_does_not_grow() -> None:
    task = AssertionTask(id="small", field_path="n", operator="LessThan", expected_value=N_RECORDS)
    used = []
    for _ in range(10):
        records = [GenAIEvalRecord({"n": n, "text": "x" * 200}) for n in range(N_RECORDS)]
        results = GenAIEvalDataset(records, [task]).evaluate()
        assert len(results) == N_RECORDS and results.pass_rate == 1
        del records, results
        used.append(resident())
    # The first rounds fill what allocators keep for later.
    assert used[-1] - used[2] < 8 << 20, used
