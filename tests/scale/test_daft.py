"""Daft on this machine, and on Ray where `DAFT_RUNNER` says so."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest
from conftest import ASKING, SUITE, plain

import jurat.daft
from jurat.errors import ModelError, UsageError

daft = pytest.importorskip("daft")


def test_results_are_those_of_one_process(rows: pyarrow.Table, expected: list[dict[str, Any]]) -> None:
    results = jurat.daft.evaluate(daft.from_arrow(rows), SUITE, carry=["amount"]).to_arrow()
    assert plain(results) == expected


def test_a_row_that_is_several_cases_is_refused(rows: pyarrow.Table) -> None:
    with pytest.raises(UsageError, match="one row for one row"):
        jurat.daft.evaluate(daft.from_arrow(rows), SUITE, layout="tasks")


def test_a_key_that_is_not_set_is_named_before_the_first_row(rows: pyarrow.Table) -> None:
    with pytest.raises(ModelError, match="SCALE_TEST_KEY"):
        jurat.daft.evaluate(daft.from_arrow(rows), ASKING)
