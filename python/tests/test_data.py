"""Rows in, tables out."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import uuid
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from pydantic import BaseModel

import jurat
from jurat import _jurat
from jurat.errors import DataError, ReadError, UsageError

SUITE = jurat.Suite({"tasks": [{"id": "small", "field_path": "n", "operator": "less_than", "expected_value": 2}]}, name="small")
ROWS = [{"id": f"r{n}", "n": n, "name": "x"} for n in range(4)]


def expected(run: jurat.Run) -> bool:
    return [(it.id, it.verdict) for it in run] == [("r0", "passed"), ("r1", "passed"), ("r2", "failed"), ("r3", "failed")]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(ROWS),
        iter(ROWS),
        (it for it in ROWS),
        pandas.DataFrame(ROWS),
        polars.DataFrame(ROWS),
        pyarrow.Table.from_pylist(ROWS),
        pyarrow.Table.from_pylist(ROWS).to_reader(max_chunksize=1),
        pyarrow.RecordBatch.from_pylist(ROWS),
        pyarrow.Table.from_pylist(ROWS).cast(
            pyarrow.schema([("id", pyarrow.large_string()), ("n", pyarrow.int8()), ("name", pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))])
        ),
    ],
    ids=["list", "tuple", "iterator", "generator", "pandas", "polars", "table", "reader", "batch", "layouts"],
)
def test_rows_come_from_everywhere(rows: Any) -> None:
    assert expected(SUITE.run(rows))


def test_nested_columns_are_objects() -> None:
    suite = jurat.Suite({"tasks": [{"id": "t", "field_path": "a.b[1]", "operator": "equals", "expected_value": "y"}]})
    assert suite.run(polars.DataFrame([{"a": {"b": ["x", "y"]}}])).pass_rate == 1


def test_an_iterator_is_not_held() -> None:
    alive, most = 0, 0

    class Row(dict):  # type: ignore[type-arg]
        def __init__(self, n: int) -> None:
            nonlocal alive, most
            super().__init__(n=n)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    run = SUITE.run(Row(n) for n in range(20_000))
    assert len(run) == 20_000 and most < 100


def test_a_column_that_json_has_no_form_for_is_named() -> None:
    with pytest.raises(DataError, match="`b`"):
        SUITE.run(pyarrow.table({"n": [1], "b": [b"x"]}))


@pytest.mark.parametrize("rows", ["text", b"bytes", 7])
def test_what_is_no_rows_is_refused(rows: Any) -> None:
    with pytest.raises(UsageError, match="rows are"):
        SUITE.run(rows)


def test_results_are_tables() -> None:
    run = SUITE.run(ROWS)
    table = pyarrow.table(run)
    assert table.column("verdict").to_pylist() == ["passed", "passed", "failed", "failed"]
    assert table.column("task").to_pylist() == ["small"] * 4
    frame = run.to_pandas()
    assert list(frame["verdict"]) == ["passed", "passed", "failed", "failed"]
    assert run.to_polars().filter(polars.col("verdict") == "failed").height == 2
    assert polars.DataFrame(run).height == 4
    assert [it["id"] for it in run.to_dict()["cases"]] == ["r0", "r1", "r2", "r3"]


def test_a_batch_goes_in_and_a_batch_comes_out() -> None:
    table = jurat.evaluate_batch(SUITE, pyarrow.RecordBatch.from_pylist(ROWS))
    assert table.column("verdict").to_pylist() == ["passed", "passed", "failed", "failed"]
    assert not Path(".jurat").exists()
    with pytest.raises(UsageError, match="has rows of its own"):
        jurat.evaluate_batch(jurat.Suite({"records": [{"n": 1}], "tasks": [{"id": "a", "field_path": "n", "operator": "exists"}]}), ROWS)


def test_a_suite_is_picklable_by_its_definition() -> None:
    import pickle

    again = pickle.loads(pickle.dumps(SUITE))
    assert again.definition == SUITE.definition and expected(again.run(ROWS))


def test_runs_are_exported_and_opened(tmp_path: Path) -> None:
    run = SUITE.run(ROWS)
    for name in ("out.json", "out.jsonl", "out.csv", "out.parquet", "out.xml", "out.md"):
        run.export(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 4
    with pytest.raises(UsageError, match="says no format"):
        run.export(tmp_path / "out")
    assert jurat.open_run("latest", directory=tmp_path).id == jurat.open_run(run.path).id == run.id
    with pytest.raises(OSError):
        jurat.open_run(tmp_path / "nothing.jurat")
    with pytest.raises(ReadError):
        jurat.open_run(tmp_path / "out.csv")


def test_everything_about_a_verdict_is_told() -> None:
    run = SUITE.run(ROWS)
    assert "expected a number less than 2, found 3" in run.explain("r3", "small")
    with pytest.raises(UsageError):
        run.explain("r9", "small")
    assert run.case("r3").task("small").actual == 3
    assert repr(run).endswith("4 cases, 50.0% passed, failed>")
    shown = run._repr_html_()
    assert run.decision in shown and "<title>small: 2 passed, 2 failed</title>" in shown
    assert "<title>small: 50.0%, 95 % interval 15.0% to 85.0%</title>" in shown and "<svg" in SUITE._repr_html_()
    assert SUITE.plan()._repr_html_().startswith("<div><svg") and "small" in SUITE.plan()


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    y: list[str]


class Model(BaseModel):
    when: datetime.date
    inner: dict[str, int]


Pair = namedtuple("Pair", ["left", "right"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (-(2**63), "-9223372036854775808"),
        (2**70, "1180591620717411303424"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (math.nan, "null"),
        (math.inf, "null"),
        ('a"\\\n\x01é😀', '"a\\"\\\\\\n\\u0001é😀"'),
        ([1, (2, 3)], "[1,[2,3]]"),
        ({1: "a", None: "b", True: "c"}, '{"1":"c","null":"b"}'),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        ({"only"}, '["only"]'),
        (Colour.RED, '"red"'),
        (Level.HIGH, "3"),
        (Point(1, ["z"]), '{"x":1,"y":["z"]}'),
        (Model(when=datetime.date(2026, 1, 2), inner={"a": 1}), '{"when":"2026-01-02","inner":{"a":1}}'),
        (Pair(1, 2), '{"left":1,"right":2}'),
        (datetime.datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02T03:04:05"'),
        (decimal.Decimal("12.500"), "12.500"),
        (decimal.Decimal("NaN"), "null"),
        (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
        (Path("a/b"), '"a/b"'),
        (pandas.Series([1, 2]).to_numpy(), "[1,2]"),
        (pandas.Series([1.5]).to_numpy()[0], "1.5"),
    ],
)
def test_objects_are_written_as_json(value: Any, text: str) -> None:
    assert _jurat.to_json(value) == text
    json.loads(text)


@pytest.mark.parametrize("value", [b"x", bytearray(b"x"), object(), int, {(1, 2): 3}, lambda: 1, "\ud800", 1j])
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(DataError):
        _jurat.to_json({"a": value} if not isinstance(value, dict) else value)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(DataError, match="levels"):
        _jurat.to_json(endless)
