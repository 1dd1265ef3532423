"""The same ten assertions over the same records, by jurat and by a peer: `python work.py WHO N`. Prints one JSON object.

`WHO` is `scouter`, or jurat with its rows as `dicts`, `arrow` or `jsonl`. Building records is measured apart from judging them. What is measured is CPU time of
all threads, and the most memory that the process had.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# id, path, operator, operand, depends on, gate: three stages, one gate, two patterns.
TASKS: list[tuple[str, str, str, Any, list[str], bool]] = [
    ("answered", "answer", "IsNotEmpty", None, [], True),
    ("is_english", "meta.language", "Equals", "en", [], False),
    ("ticket", "ticket", "Matches", r"^[A-Z]{3}-\d+$", [], False),
    ("confident", "score", "GreaterThanOrEqual", 0.2, [], False),
    ("long_enough", "answer", "HasLengthGreaterThan", 20, ["answered"], False),
    ("not_rude", "answer", "NotContains", "stupid", ["answered"], False),
    ("dated", "meta.date", "MatchesRegex", r"\d{4}-\d{2}-\d{2}", ["answered"], False),
    ("tagged", "tags", "Contains", "support", ["answered"], False),
    ("in_range", "meta.latency_ms", "InRange", [0, 5000], ["long_enough"], False),
    ("starts_well", "answer", "StartsWith", "Dear", ["long_enough"], False),
]


def context(n: int) -> dict[str, Any]:
    """About one kilobyte; every task passes."""
    return {
        "question": f"Question {n}: " + "why does it hum so loudly since we moved it? " * 6,
        "answer": f"Dear customer {n}, " + "please level its feet and leave some space behind it. " * 8,
        "ticket": f"SUP-{n}",
        "score": 0.2 + (n % 80) / 100,
        "tags": ["support", "kitchen", "fridge"],
        "meta": {"language": "en", "date": "2026-11-16", "latency_ms": n % 5000, "model": "m"},
    }


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def scouter(n: int) -> tuple[float, float]:
    from scouter.evaluate import AssertionTask, ComparisonOperator, EvalDataset
    from scouter.queue import EvalRecord

    tasks = [
        AssertionTask(
            id=id,
            context_path=path,
            operator=getattr(ComparisonOperator, operator),
            expected_value=operand,
            depends_on=depends_on,
            condition=gate,
        )
        for id, path, operator, operand, depends_on, gate in TASKS
    ]
    start = cpu()
    records = [EvalRecord(context=context(it), id=str(it)) for it in range(n)]
    built = cpu()
    results = EvalDataset(records=records, tasks=tasks).evaluate()
    ended = cpu()
    assert results.successful_count == n and results.failed_count == 0
    return built - start, ended - built


def jurat(rows: str, n: int) -> tuple[float, float]:
    from jurat.evaluate import AssertionTask, GenAIEvalDataset
    from jurat.queue import GenAIEvalRecord
    from jurat.suite import Suite

    tasks = [
        AssertionTask(id, path, operand, operator, depends_on=depends_on, condition=gate)
        for id, path, operator, operand, depends_on, gate in TASKS
    ]
    given: Any
    if rows == "dicts":
        start = cpu()
        given = [GenAIEvalRecord(context=context(it), id=str(it)) for it in range(n)]
        built = cpu()
        dataset = GenAIEvalDataset(given, tasks)
        results = dataset.evaluate(progress=False, keep_all=False).run
        ended = cpu()
    elif rows == "arrow":
        import pyarrow

        given = pyarrow.Table.from_pylist([context(it) for it in range(n)])
        start = built = cpu()
        results = GenAIEvalDataset(given, tasks).evaluate(progress=False, keep_all=False).run
        ended = cpu()
    else:
        file = Path("records.jsonl")
        file.write_text("".join(json.dumps(context(it)) + "\n" for it in range(n)))
        from jurat.genai.settings import Roles

        start = built = cpu()
        definition = {"records": str(file), "tasks": [it.definition(Roles("judge")) for it in tasks]}
        results = Suite(definition).run(progress=False)
        ended = cpu()
    assert len(results) == n and results.pass_rate == 1
    return built - start, ended - built


def main() -> None:
    who, n = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        import os

        os.chdir(directory)
        building, judging = scouter(n) if who == "scouter" else jurat(who, n)
        os.chdir("/")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"who": who, "n": n, "building_s": building, "judging_s": judging, "memory_bytes": memory}))


if __name__ == "__main__":
    main()
