"""Dask with threads, and with processes of its own."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest
from conftest import SUITE, plain

import jurat.dask

frames = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_results_are_those_of_one_process(scheduler: str, rows: pyarrow.Table, expected: list[dict[str, Any]]) -> None:
    import pandas

    frame = frames.from_pandas(rows.to_pandas(types_mapper=pandas.ArrowDtype), npartitions=6)
    judged = jurat.dask.evaluate(frame, SUITE, carry=["amount"]).compute(scheduler=scheduler)
    assert plain(pyarrow.Table.from_pandas(judged, preserve_index=False)) == expected
