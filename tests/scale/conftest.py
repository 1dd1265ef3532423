"""What the tests of all engines share: a suite, rows, and what one process makes of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import jurat

N_ROWS = 100_000

SUITE = jurat.Suite(
    {
        "tasks": [
            {"id": "paid", "field_path": "status", "operator": "equals", "expected_value": "paid"},
            {"id": "small", "field_path": "amount", "operator": "less_than", "expected_value": 900},
            {"id": "named", "field_path": "customer.name", "operator": "starts_with", "expected_value": "c"},
        ]
    },
    name="invoices",
)

#: What a judge is asked, by a model whose key the workers must have.
ASKING = jurat.Suite(
    {"tasks": [{"id": "tone", "judge": {"prompt": "Is this polite? ${status}", "output": {"polite": "boolean"}}}]},
    models={"judge": {"model": "openai/gpt-5-mini", "api_key_env": "SCALE_TEST_KEY"}},
)


def table(n: int = N_ROWS) -> pyarrow.Table:
    """Rows, of which one in seven fails a task and one in ten another."""
    return pyarrow.table(
        {
            "id": [f"r{ix}" for ix in range(n)],
            "status": ["due" if ix % 7 == 0 else "paid" for ix in range(n)],
            "amount": [ix % 1000 for ix in range(n)],
            "customer": [{"name": f"c{ix}", "tags": ["a", "b"]} for ix in range(n)],
        }
    )


def plain(rows: pyarrow.Table | Any) -> list[dict[str, Any]]:
    """Results by case, as values: what differs between engines in how it is laid out is the same."""
    found = [_without_nulls_of_lists(it) for it in rows.to_pylist()]
    return sorted(found, key=lambda it: it["case"])


def _without_nulls_of_lists(row: dict[str, Any]) -> dict[str, Any]:
    return {key: [] if key == "why" and value is None else value for key, value in row.items()}


def without_latencies(run: jurat.Run) -> str:
    """The results of a run but for how long responses took, which no two runs have in common."""
    return re.sub(r'"latency_ms":[0-9.e-]+,?', "", run.results_json())


@pytest.fixture(scope="session")
def rows() -> pyarrow.Table:
    return table()


@pytest.fixture(scope="session")
def expected(rows: pyarrow.Table) -> list[dict[str, Any]]:
    """What one process makes of them."""
    return plain(SUITE.evaluate_batches(rows, strings=True, carry=["amount"]).read_all())


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCALE_TEST_KEY", raising=False)
