"""One budget for evaluators in several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat.errors import ModelError, RunError, UsageError

pyarrow = pytest.importorskip("pyarrow")

JUDGE = {"id": "tone", "judge": {"prompt": "Is it polite? ${status}", "output": {"polite": "boolean"}}}
ROWS = pyarrow.table({"id": [f"r{n}" for n in range(40)], "status": [f"status {n}" for n in range(40)]})


def polite(question: jurat.Question) -> dict[str, bool]:
    return {"polite": True}


SUITE = jurat.Suite({"tasks": [JUDGE]}, name="tone", models={"judge": polite})


def verdicts(results: Any) -> list[str]:
    return list(results.column("verdict").to_pylist())


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("JURAT_COORDINATOR_TOKEN", "of these tests")
    return "of these tests"


def test_a_budget_is_that_of_all_evaluators(token: str) -> None:
    with jurat.Coordinator(budget_calls=50) as coordinator:
        one, other = SUITE.evaluator(coordinator=coordinator.url), SUITE.evaluator(coordinator=coordinator.url)
        assert verdicts(one(ROWS)).count("not_run") == 0
        again = verdicts(other(ROWS))
        assert again.count("not_run") == 30, "40 of 50 calls were made"
        assert coordinator.state()["spent"]["calls"] == 50


#: Judges all rows, in a process of its own.
WORKER = """
import sys

sys.path.insert(0, sys.argv[1])
from test_coordinator import ROWS, SUITE, verdicts

print(len(ROWS) - verdicts(SUITE.evaluator(coordinator=sys.argv[2], concurrency=4)(ROWS)).count("not_run"))
"""


def test_processes_together_make_no_more_calls_than_the_budget_has(token: str) -> None:
    with jurat.Coordinator(budget_calls=100, concurrency=6) as coordinator:
        command = [sys.executable, "-c", WORKER, str(Path(__file__).parent), coordinator.url]
        workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        made = [int(it.communicate(timeout=120)[0]) for it in workers]
        # What a process had leased at its end is given back, so nothing is left over.
        assert sum(made) == 100 == coordinator.state()["spent"]["calls"], made


def test_an_evaluator_without_the_token_is_refused_before_its_first_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JURAT_COORDINATOR_TOKEN", raising=False)
    with jurat.Coordinator(budget_calls=5) as coordinator:
        assert list(coordinator.environment) == ["JURAT_COORDINATOR_TOKEN"] and coordinator.token not in repr(coordinator)
        with pytest.raises(UsageError, match="`JURAT_COORDINATOR_TOKEN` is not set on this worker"):
            SUITE.evaluator(coordinator=coordinator.url).open()
        monkeypatch.setenv("JURAT_COORDINATOR_TOKEN", "another")
        with pytest.raises(RunError, match="the token is missing or wrong"):
            SUITE.evaluator(coordinator=coordinator.url)(ROWS)


def test_the_token_is_in_no_pickle(token: str) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    with jurat.Coordinator(budget_calls=5) as coordinator:
        assert token.encode() not in cloudpickle.dumps(SUITE.evaluator(coordinator=coordinator.url))


def test_a_coordinator_continues_from_its_file(token: str, tmp_path: Path) -> None:
    books = tmp_path / "books.jsonl"
    for expected in (10, 40):
        with jurat.Coordinator(budget_calls=50, file=books) as coordinator:
            assert verdicts(SUITE.evaluator(coordinator=coordinator.url)(ROWS)).count("not_run") == (0 if expected == 10 else 30)
            # What the evaluator leased and did not use is given back after its last batch.
            assert any(not coordinator.state()["leased"]["calls"] for _ in range(100_000))
    with pytest.raises(UsageError, match="closed"):
        coordinator.state()


def test_what_a_budget_needs_is_said_before_the_first_row(token: str) -> None:
    os.environ["OPENAI_API_KEY"] = "test"
    asking = jurat.Suite({"tasks": [JUDGE]}, models={"judge": "openai/judge"})
    with jurat.Coordinator(budget_usd=1.0) as coordinator, pytest.raises(ModelError, match="price"):
        asking.evaluator(coordinator=coordinator.url).open()


def test_limits_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="`concurrency` is at least 1"):
        jurat.Coordinator(concurrency=0)
    with pytest.raises(UsageError, match="`listen` is an address with a port, not `here`"):
        jurat.Coordinator(listen="here")
