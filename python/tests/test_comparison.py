"""Comparing runs, and gates: the same members as the command writes, typed, as tables and in notebooks."""

from __future__ import annotations

import dataclasses
import html
import json
import pickle
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import jurat
from jurat import comparison
from jurat.comparison import Comparison
from jurat.errors import GateFailed, ReadError, RunError, SuiteError, UsageError
from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset
from jurat.queue import GenAIEvalRecord

GOLDEN = sorted((Path(__file__).parents[2] / "tests" / "comparisons").glob("*/compare.json"))
ROWS = [{"id": f"r{n:02}", "n": n, "expected": 2 * n, "kind": "even" if n % 2 == 0 else "odd"} for n in range(20)]


def right(output: int, expected: int) -> bool:
    return output == expected


def near(output: int, expected: int) -> float:
    return 1 / (1 + abs(output - expected))


def add(n: int) -> int:
    return n + 10


def double(n: int) -> int:
    return 2 * n


def evaluated(function: Any, **options: Any) -> jurat.Run:
    return jurat.evaluate(function, ROWS, [right, near], name="doubling", group_by=["kind"], **options)


@pytest.fixture
def found() -> Comparison:
    return jurat.compare(evaluated(add), evaluated(double))


def members(value: Any) -> Any:
    """What a value of ours has of a document, by the names of the document."""
    if dataclasses.is_dataclass(value):
        return {it.name: members(getattr(value, it.name)) for it in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [members(it) for it in value]
    return value


def assert_has(written: Any, typed: Any, place: str) -> None:
    """Every member that is written is there, with its value. What is absent in a document is `None`, empty or 0."""
    if isinstance(written, dict) and isinstance(typed, dict):
        assert set(written) <= set(typed), f"{place} lacks {set(written) - set(typed)}"
        for name, it in written.items():
            assert_has(it, typed[name], f"{place}.{name}")
        assert not any(it for name, it in typed.items() if name not in written), place
    elif isinstance(written, list):
        assert len(written) == len(typed), place
        for ix, it in enumerate(written):
            assert_has(it, typed[ix], f"{place}[{ix}]")
    else:
        assert written == typed, place


@pytest.mark.parametrize("file", GOLDEN, ids=[it.parent.name for it in GOLDEN])
def test_every_member_that_the_command_writes_has_a_typed_place(file: Path) -> None:
    document = json.loads(file.read_text())
    # These files are without the names of runs.
    document["sides"] = [{**it, "run_id": "a"} for it in document["sides"]]
    typed = members(comparison.read(json.dumps(document), "text", "markdown"))
    for both in ("version", "notes", "pairing"):
        document.pop(both)
    document["tiers"] = [it["sides"] for it in document.get("tiers", [])]
    documents = {"json": typed["json"], "text": "text", "markdown": "markdown"}
    assert_has({**document, **documents}, typed, "comparison")


def test_members_are_those_of_the_command(found: Comparison) -> None:
    runs = [it.run_id for it in found.sides]
    written = subprocess.run([sys.executable, "-m", "jurat", "compare", *runs, "--json"], capture_output=True, text=True, check=True).stdout
    assert found.to_dict() == json.loads(written)
    text = subprocess.run([sys.executable, "-m", "jurat", "compare", *runs], capture_output=True, text=True, check=True).stdout
    assert found.text == text


def test_a_comparison_says_what_changed_and_how_sure_that_is(found: Comparison) -> None:
    line = found.headline
    assert line is not None and line.interval is not None
    assert (found.word, line.pairs, line.base, line.new) == ("better", 20, 0.05, 1.0)
    assert line.interval.low is not None and line.interval.low > 0
    assert (len(found.fixes), found.regressions) == (19, ())
    assert found.fixes[0].tasks == ("right",) and found.fixes[0].base.response == "10"
    assert found.task("right").moved == comparison.Units(better=19, same=1, worse=0)
    assert "near (score)" in [it.name for it in found.lines if it.about == "score"]
    assert {it.name for it in found.lines if it.about == "slice"} == {"kind = even", "kind = odd"}
    with pytest.raises(KeyError, match="there is no line of a task `left`; there are right"):
        found.task("left")


def test_a_comparison_is_shown_in_a_few_words(found: Comparison) -> None:
    base, new = (it.name for it in found.sides)
    assert repr(found) == f"<Comparison {base} → {new}: better; 5.0% → 100.0% of 20 cases passed (0 worse, 19 better)>"
    assert repr(found.comparisons[0]).startswith("<Contrast ")


def test_sides_are_runs_files_names_and_results(tmp_path: Path) -> None:
    base, new = evaluated(add), evaluated(double)
    expected = jurat.compare(base, new).headline
    entries = {it.id: it for it in jurat.runs()}
    for one, other in [
        (base.path, new.path),
        (str(base.path), "latest"),
        (base.id, new.id),
        (entries[base.id], entries[new.id]),
        (base.id[-4:], new.id[-4:]),
    ]:
        assert jurat.compare(one, other).headline == expected
    assert jurat.compare(base, new, directory=tmp_path / "elsewhere").headline == expected


def test_a_baseline_is_a_side(tmp_path: Path) -> None:
    base, new = evaluated(add), evaluated(double)
    base.export(tmp_path / "baseline.jsonl", format="baseline")
    for baseline in (tmp_path / "baseline.jsonl", str(tmp_path / "baseline.jsonl"), "baseline.jsonl"):
        found = jurat.compare(baseline, new)
        assert (found.word, len(found.fixes)) == ("better", 19)


def test_subjects_of_one_run_are_compared() -> None:
    run = evaluated({"add": add, "double": double, "zero": lambda n: 0})
    found = jurat.compare(run, by="subject")
    assert [it.selection for it in found.sides] == [{"subject": "add"}, {"subject": "double"}, {"subject": "zero"}]
    assert [it.word for it in found.comparisons] == ["better", "not_shown"]
    assert len(found.pairs) == 3 and found.pairs[0].p_adjusted is not None
    assert [len(it) for it in found.tiers] == [1, 2] and found.tiers[0][0].endswith("double")
    assert found.to_polars()["new_name"].n_unique() == 2
    turned = jurat.compare(run, by="subject", base="double")
    assert [it.word for it in turned.comparisons] == ["worse", "worse"]


def test_options_are_those_of_the_command(found: Comparison) -> None:
    base, new = (it.run_id for it in found.sides)
    wide = jurat.compare(base, new, confidence=0.99).headline
    assert wide is not None and wide.interval is not None and found.headline is not None and found.headline.interval is not None
    assert wide.interval.low is not None and found.headline.interval.low is not None
    assert wide.interval.low < found.headline.interval.low
    assert jurat.compare(base, new, cluster="kind").pairing.clusters == 2
    assert jurat.compare(base, new, unpaired=True).unpaired
    assert any(it.method.test.startswith("wilcoxon") for it in jurat.compare(base, new, test="wilcoxon").lines)
    assert [it.base.response for it in jurat.compare(base, new, described=1).fixes[:2]] == ["10", None]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["latest"], {}, "give the runs that are compared with the first, or `by`"),
        (["latest", "latest"], {"by": "subject"}, "give the runs that are compared with the first, or `by`"),
        (["latest", "latest"], {"base": "a"}, "`base` names a prompt or a subject, and needs `by`"),
        (["latest"], {"by": "model"}, "`by` is `prompt` or `subject`, not `model`"),
        (["latest", "latest"], {"confidence": 95}, "`confidence` lies between 0 and 1, such as 0.95, not 95"),
        (["latest", "latest"], {"test": "t"}, "`test` is `sign_flip` or `wilcoxon`, not `t`"),
        (["latest", "latest"], {"allow": ["rows"]}, "`allow` may have `suite`, not `rows`"),
        (["latest", 3], {}, "a int is no run; give a run, its file or its name"),
        (["latest", "latest@subject=nobody"], {}, "nobody"),
    ],
)
def test_what_cannot_be_compared_says_why(arguments: list[Any], options: Any, message: str) -> None:
    evaluated(add)
    with pytest.raises(UsageError) as raised:
        jurat.compare(*arguments, **options)
    assert message in str(raised.value)


def test_runs_that_share_no_case_or_are_not_there_are_errors(tmp_path: Path) -> None:
    run = evaluated(add)
    other = jurat.evaluate(add, [{"id": "x", "n": 1, "expected": 2}], [right, near], name="doubling")
    with pytest.raises(RunError, match="no case"):
        jurat.compare(run, other)
    with pytest.raises(ReadError):
        jurat.compare(run, "nothing")
    with pytest.raises(ReadError):
        jurat.compare(run, tmp_path / "nothing.jurat")


def test_lines_and_changed_cases_are_tables(found: Comparison) -> None:
    lines = found.to_polars()
    assert lines.height == len(found.lines)
    cases = lines.row(0, named=True)
    assert (cases["about"], cases["pairs"], cases["better"], cases["worse"], cases["word"]) == ("cases", 20, 19, 0, "better")
    assert lines.schema["p"] == polars.Float64 and lines.schema["marks"] == polars.List(polars.String)
    changed = found.to_polars("cases")
    assert changed["id"].to_list() == [it.id for it in found.cases] and not changed["regression"].any()
    for of in ("lines", "cases"):
        table, frame = found.to_arrow(of), found.to_pandas(of)
        assert isinstance(table, pyarrow.Table) and isinstance(frame, pandas.DataFrame)
        assert table.column_names == list(frame.columns) == found.to_polars(of).columns
        assert table.to_pylist() == found.to_polars(of).to_dicts()
    with pytest.raises(ValueError, match="tables of `lines` and of `cases`, not of `rows`"):
        found.to_polars("rows")  # type: ignore[arg-type]


def test_a_table_without_rows_has_its_columns() -> None:
    run = evaluated(add)
    same = jurat.compare(run, run)
    assert same.cases == () and same.to_polars("cases").schema["p"] == polars.Float64
    assert same.to_arrow("cases").schema.field("tasks").type == pyarrow.list_(pyarrow.string())
    assert len(same.to_pandas("cases")) == 0


class Tags(HTMLParser):
    """What a browser would make of it: tags that are closed in the order in which they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_shows_a_picture_of_the_intervals(found: Comparison) -> None:
    shown = found._repr_html_()
    tags = Tags()
    tags.feed(shown)
    assert tags.open == []
    assert tags.seen.count("svg") == len([it for it in found.lines if it.difference is not None or it.ratio is not None])
    assert "<circle" in shown and "better in NEW (19)" in shown and "and 9 more" in shown
    assert html.escape(found.sentence) in shown


def test_a_notebook_shows_text_of_runs_as_text() -> None:
    def blamed(output: str) -> bool:
        return "<script>" not in output

    rows = [{"id": f"<b>{n}</b>", "n": n} for n in range(3)]
    base = jurat.evaluate(lambda n: "fine", rows, [blamed], name="a & b")
    new = jurat.evaluate(lambda n: "<script>alert(1)</script>", rows, [blamed], name="a & b")
    shown = jurat.compare(base, new)._repr_html_()
    assert "<script>" not in shown and "<b>0</b>" not in shown and "&lt;b&gt;0&lt;/b&gt;" in shown


def test_a_comparison_is_pickled(found: Comparison) -> None:
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_evaluations_of_datasets_are_compared() -> None:
    def results(answer: str) -> Any:
        records = [GenAIEvalRecord({"answer": answer if n else "please"}, id=f"r{n}") for n in range(12)]
        polite = AssertionTask(id="polite", field_path="answer", operator=ComparisonOperator.Contains, expected_value="please")
        return GenAIEvalDataset(records, [polite]).evaluate(progress=False)

    found = jurat.compare(results("please wait"), results("wait"))
    assert (found.word, len(found.regressions)) == ("worse", 11)


POLICY = {"conditions": [{"id": "quality", "not_worse": 0.1}, {"id": "right", "task": "right", "at_least": 0.7}]}


def test_a_gate_passes_fails_or_is_undecided(tmp_path: Path) -> None:
    base, new = evaluated(add), evaluated(double)
    passed = jurat.gate(new, base=base, policy=POLICY)
    assert (passed.verdict, passed.passed, passed.exit_code, [it.verdict for it in passed.conditions]) == ("pass", True, 0, ["pass", "pass"])
    passed.raise_for_failures()
    failed = jurat.gate(base, base=new, policy=POLICY)
    assert (failed.verdict, failed.passed, failed.exit_code) == ("fail", False, 1)
    with pytest.raises(GateFailed, match="quality") as raised:
        failed.raise_for_failures()
    assert raised.value.report is failed and isinstance(raised.value, AssertionError)
    undecided = jurat.gate(new, policy={"conditions": [{"id": "all", "at_least": 0.99}]})
    assert (undecided.verdict, undecided.passed, undecided.exit_code) == ("undecided", None, 6)
    more = undecided.conditions[0].more
    assert more is not None and more.rows is not None and more.rows > 0
    undecided.raise_for_failures(allow_undecided=True)
    with pytest.raises(GateFailed):
        undecided.raise_for_failures()
    assert pickle.loads(pickle.dumps(undecided)) == undecided


def test_a_gate_is_what_the_command_says(tmp_path: Path) -> None:
    base, new = evaluated(add), evaluated(double)
    file = tmp_path / "policy.yaml"
    file.write_text("conditions: [{ id: quality, not_worse: 0.1 }]\n")
    report = jurat.gate(new, base=base, policy=file)
    command = [sys.executable, "-m", "jurat", "gate", new.id, "--base", base.id, "--policy", str(file)]
    written = subprocess.run([*command, "--json"], capture_output=True, text=True).stdout
    assert report.to_dict() == json.loads(written)
    assert report.text == subprocess.run(command, capture_output=True, text=True).stdout
    assert "quality" in report._repr_html_() and "quality pass" in repr(report)


def test_a_gate_without_a_policy_or_with_a_wrong_one_says_so() -> None:
    run = evaluated(double)
    with pytest.raises(UsageError, match="the suite of this run has no `gates`"):
        jurat.gate(run)
    with pytest.raises(SuiteError, match="at_lest"):
        jurat.gate(run, policy={"conditions": [{"id": "right", "at_lest": 0.7}]})


def test_a_gate_of_a_suite_needs_no_policy() -> None:
    suite = jurat.Suite(
        {
            "suite": "doubling",
            "tasks": [{"id": "even", "field_path": "kind", "operator": "is_not_empty"}],
            "gates": {"conditions": [{"id": "even", "task": "even", "at_least": 0.8}]},
        }
    )
    suite.run(ROWS)
    assert jurat.gate().verdict == "pass"
