"""Rows from lazy sources and files; results as tables, slices, subjects and times."""

from __future__ import annotations

import datetime
import functools
import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import jurat
from jurat.errors import UsageError
from jurat.spec import Assertion, compare

SAME = Assertion("same", "output", compare.equals("${expected}"))
ROWS = [{"id": f"r{it}", "n": it, "expected": 2 * it if it else 1, "kind": "zero" if it == 0 else "other"} for it in range(6)]


def double(n: int) -> int:
    return 2 * n


def verdicts(data: Any) -> list[tuple[str, str]]:
    return [(case.id, case.verdict) for case in jurat.evaluate(double, data, [SAME])]


EXPECTED = [(f"r{it}", "passed" if it else "failed") for it in range(6)]


def test_rows_of_a_lazy_frame() -> None:
    assert verdicts(polars.LazyFrame(ROWS)) == EXPECTED
    assert verdicts(polars.LazyFrame(ROWS).filter(polars.col("n") < 2)) == EXPECTED[:2]


def test_rows_of_a_dataset_of_pyarrow(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path / "rows.parquet")
    assert verdicts(dataset) == EXPECTED
    assert verdicts(dataset.scanner(filter=pyarrow.dataset.field("n") < 2)) == EXPECTED[:2]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "json"])
@pytest.mark.parametrize("kind", [str, Path])
def test_rows_of_a_file(ending: str, kind: type, tmp_path: Path) -> None:
    frame, path = polars.DataFrame(ROWS), tmp_path / f"rows.{ending}"
    write: dict[str, Any] = {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet, "json": frame.write_json}
    write[ending](path)
    if ending == "csv":
        # Cells of CSV are texts unless the suite says what they are.
        assert len(jurat.evaluate(lambda n: n, kind(path), [{"id": "there", "field_path": "output", "operator": "exists"}])) == 6
    else:
        assert verdicts(kind(path)) == EXPECTED


def test_rows_of_a_file_for_a_suite(tmp_path: Path) -> None:
    polars.DataFrame(ROWS).write_ndjson(tmp_path / "rows.jsonl")
    suite = jurat.Suite({"tasks": [{"id": "small", "field_path": "n", "operator": "less_than", "expected_value": 3}]})
    assert suite.run(tmp_path / "rows.jsonl").pass_rate == 0.5


def test_files_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no file `rows.jsonl`"):
        jurat.evaluate(double, "rows.jsonl", [SAME])


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The address of a folder, the folder, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


def downloads(tmp_path: Path) -> list[str]:
    return sorted(it.name.split("-", 1)[1] for it in (tmp_path / "cache/jurat/downloads").iterdir())


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_rows_at_an_address(ending: str, served: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = served
    frame = polars.DataFrame(ROWS)
    (frame.write_ndjson if ending == "jsonl" else frame.write_parquet)(folder / f"rows.{ending}")
    assert verdicts(f"{address}/rows.{ending}") == EXPECTED
    assert verdicts(f"{address}/rows.{ending}?signature=secret") == EXPECTED
    assert downloads(tmp_path) == [f"rows.{ending}"], "equal content is one file"
    frame.filter(polars.col("n") < 2).write_ndjson(folder / "rows.jsonl")
    assert verdicts(f"{address}/rows.jsonl") == EXPECTED[:2], "a file that changed is read as it is now"
    assert len(downloads(tmp_path)) == 2


def test_rows_at_an_address_that_fsspec_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with fsspec.open("memory://bucket/rows.jsonl", "wb") as file:
        file.write(polars.DataFrame(ROWS).write_ndjson().encode())
    assert verdicts("memory://bucket/rows.jsonl") == EXPECTED
    with pytest.raises(UsageError, match="rows cannot be read from `memory://bucket/none.jsonl`"):
        jurat.evaluate(double, "memory://bucket/none.jsonl", [SAME])
    with pytest.raises(UsageError, match="rows cannot be read from `nowhere://bucket/rows.jsonl`: .*nowhere"):
        jurat.evaluate(double, "nowhere://bucket/rows.jsonl", [SAME])


def test_rows_at_the_address_of_a_local_file(tmp_path: Path) -> None:
    path = tmp_path / "some rows.jsonl"
    polars.DataFrame(ROWS).write_ndjson(path)
    assert verdicts(path.as_uri()) == EXPECTED


def test_addresses_that_cannot_be_read_are_refused_without_their_secrets(
    served: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = served
    with pytest.raises(UsageError, match="rows cannot be read from `http://127.0.0.1:[0-9]+/none.jsonl`: the server returned 404") as raised:
        jurat.evaluate(double, f"{address}/none.jsonl?signature=secret", [SAME])
    assert "secret" not in str(raised.value)
    # A port that was given back answers nothing.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(UsageError, match="rows cannot be read from `http://127.0.0.1:[0-9]+/rows.jsonl`: "):
        jurat.evaluate(double, f"http://user:secret@127.0.0.1:{port}/rows.jsonl", [SAME])
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UsageError, match="rows at `s3://bucket/rows.parquet` are read with fsspec, which is not installed"):
        jurat.evaluate(double, "s3://bucket/rows.parquet", [SAME])
    assert downloads(tmp_path) == [], "nothing is left of what failed"


@pytest.fixture
def run() -> jurat.Run:
    return jurat.evaluate({"double": double, "zero": lambda n: 0}, ROWS, [SAME, lambda output: output >= 0], repeat=2, group_by=["kind"])


def test_a_table_has_a_row_for_each_task_of_each_case(run: jurat.Run) -> None:
    table = run.to_arrow()
    assert table.num_rows == 6 * 2 * 2 * 2
    first = table.slice(0, 1).to_pylist()[0]
    del first["case_seconds"]
    assert first == {
        "record": "r0",
        "prompt": None,
        "subject": "double",
        "replicate": 1,
        "case_verdict": "failed",
        "task": "same",
        "kind": "assert",
        "counted": True,
        "verdict": "failed",
        "label": None,
        "score": None,
        "explanation": None,
        "message": "expected 1, found 0",
    }
    assert pyarrow.types.is_dictionary(table.schema.field("task").type)
    assert pyarrow.table(run) == table


def test_every_kind_of_table_has_the_same_rows(run: jurat.Run) -> None:
    rows = run.to_arrow().to_pylist()
    assert run.to_polars().to_dicts() == rows
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["record"].astype(str)) == [it["record"] for it in rows]
    assert str(frame["task"].dtype) == "category"
    assert run.to_polars().group_by("subject", "verdict").len().height >= 2


def test_a_table_agrees_with_the_cases(run: jurat.Run) -> None:
    rows = run.to_arrow().to_pylist()
    found = [(case.id, case.subject, case.replicate, task.id, task.verdict, task.label) for case in run for task in case.tasks]
    assert [(it["record"], it["subject"], it["replicate"], it["task"], it["verdict"], it["label"]) for it in rows] == found


def test_details_have_what_was_expected_and_found(run: jurat.Run) -> None:
    table = run.to_arrow(details=True)
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["expected"], first["actual"], first["task"]) == ("1", "0", "same")
    assert table.num_rows == run.to_arrow().num_rows
    assert "row" in run.to_pandas(details=True) and "actual" in run.to_polars(details=True)


def test_a_lazy_frame_has_the_rows_of_the_table(run: jurat.Run) -> None:
    frame = run.to_polars()
    assert run.lazy().collect().equals(frame)
    assert run.lazy().head(3).collect().height == 3
    failed = polars.col("verdict") == "failed"
    assert run.lazy().filter(failed).select("record", "task").collect().to_dicts() == frame.filter(failed).select("record", "task").to_dicts()
    assert run.lazy(details=True).select("actual").collect().height == frame.height


def test_a_run_of_the_last_rows_has_them_in_every_table() -> None:
    rows = [{"id": f"r{n}", "n": n} for n in range(40_000)]
    run = jurat.Suite({"tasks": [{"id": "small", "field_path": "n", "operator": "less_than", "expected_value": 39_999}]}).run(rows, filter="n >= 39998")
    assert [it.id for it in run] == ["r39998", "r39999"]
    assert [it.id for it in run.failures] == ["r39999"]
    assert run.to_arrow()["record"].to_pylist() == run.to_arrow(details=True)["record"].to_pylist() == ["r39998", "r39999"]
    assert run.lazy().collect()["record"].to_list() == ["r39998", "r39999"]


def test_a_lazy_frame_reads_part_after_part() -> None:
    run = jurat.Suite({"tasks": [{"id": "small", "field_path": "n", "operator": "less_than", "expected_value": 39_999}]}).run([{"n": n} for n in range(40_000)])
    assert len(list(run._run.parts(False))) == 3
    counts = run.lazy().group_by("verdict").len().sort("len").collect()
    assert counts["len"].to_list() == [1, 39_999]
    assert run.lazy().filter(polars.col("verdict") == "failed").collect().height == 1


def test_a_table_of_no_cases_has_its_columns() -> None:
    table = jurat.evaluate(double, [], [SAME]).to_arrow()
    assert table.num_rows == 0 and table.schema.names[0] == "record"


def test_slices_subjects_and_times(run: jurat.Run) -> None:
    assert {(it.path, it.value) for it in run.slices} == {("kind", "zero"), ("kind", "other")}
    (double_total, zero_total) = run.subjects
    assert (double_total.subject, zero_total.subject) == ("double", "zero")
    assert double_total.pass_rate is not None and zero_total.pass_rate is not None and double_total.pass_rate > zero_total.pass_rate
    assert datetime.datetime.now(tz=datetime.timezone.utc) - run.started_at < datetime.timedelta(minutes=10)
    assert run.duration >= datetime.timedelta(0)


def test_runs_are_listed_the_newest_first() -> None:
    assert jurat.runs() == []
    jurat.evaluate(double, ROWS, [SAME], name="first")
    second = jurat.evaluate(double, ROWS, [SAME], name="second", budget_calls=2, concurrency=1)
    newest, oldest = jurat.runs()
    assert {newest.suite, oldest.suite} == {"first", "second"}
    (stopped,) = (it for it in (newest, oldest) if it.suite == "second")
    assert (stopped.id, stopped.condition, stopped.open().id) == (second.id, "stopped", second.id)
    assert stopped.started_at is not None and len(jurat.runs(most=1)) == 1


def test_polars_needs_no_pyarrow() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None; import jurat; "
        "run = jurat.evaluate(len, ['a'], [{'id': 'one', 'field_path': 'output', 'operator': 'equals', 'expected_value': 1}], progress=False); "
        "print(run.to_polars()['verdict'].to_list())"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.stdout == "['passed']\n", shown.stderr


def test_a_case_is_shown_by_what_is_wrong_with_it(run: jurat.Run) -> None:
    case = run.case("r0")
    assert repr(case) == "<Case r0: failed; same: expected 1, found 0>"
    assert repr(case.task("same")) == "<TaskResult same: failed: expected 1, found 0>"
    assert repr(run.case("r1")) == "<Case r1: passed>"
