"""Judges compared with people: the same members as the command writes, typed, as tables and in notebooks."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import jurat
from jurat import calibration
from jurat.calibration import Calibration, sheet
from jurat.errors import RunError, SuiteError, UsageError
from test_comparison import assert_has, members

GOLDEN = sorted((Path(__file__).parents[2] / "tests" / "calibrations").glob("*/calibrate.json"))
ROWS = [{"id": f"r{n:02}", "n": n} for n in range(40)]
SAID = [{"case": f"r{n:02}", "label": "pass" if n < 22 else "fail", "annotator": "ada"} for n in range(40)]


def small(output: int) -> bool:
    return output < 20


def same(n: int) -> int:
    return n


def evaluated() -> jurat.Run:
    return jurat.evaluate(same, ROWS, [small], name="small")


@pytest.fixture
def found() -> Calibration:
    return jurat.calibrate(evaluated(), SAID, random=True)


@pytest.mark.parametrize("file", GOLDEN, ids=[it.parent.name for it in GOLDEN])
def test_every_member_that_the_command_writes_has_a_typed_place(file: Path) -> None:
    document = json.loads(file.read_text())
    typed = members(calibration.read(json.dumps(document), "text", "markdown"))
    document.pop("version")
    documents = {"json": typed["json"], "text": "text", "markdown": "markdown"}
    assert_has({**document, **documents}, typed, "calibration")


def test_there_are_calibrations_of_every_kind_to_compare_with() -> None:
    kinds = {json.loads(it.read_text())["scale"]["kind"] for it in GOLDEN}
    assert kinds == {"pass_fail", "labels", "scores"}


def test_members_are_those_of_the_command(found: Calibration) -> None:
    Path("labels.jsonl").write_text("".join(json.dumps(it) + "\n" for it in SAID))
    command = [sys.executable, "-m", "jurat", "calibrate", str(found.run_id), "--labels", "labels.jsonl", "--random", "--no-store"]
    written = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    ours = found.to_dict()
    assert {**ours, "made_at": None} == {**written, "made_at": None}
    assert found.text == subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_calibration_says_how_far_the_judge_can_be_trusted(found: Calibration) -> None:
    assert found.agreement is not None and found.agreement.interval is not None and found.agreement.interval.low is not None
    assert (found.agreement.value, found.agreement.interval.low < 0.95) == (0.95, True)
    assert found.matrix == ((18.0, 0.0), (2.0, 20.0))
    assert [it.case for it in found.disagreements] == ["r20", "r21"]
    assert found.label("fail").recall.value == 1.0
    assert found.corrected is not None and (found.corrected.observed, found.corrected.method) == (0.5, "ppi_mean")
    assert repr(found) == "<Calibration small: 40 labelled cases, agreement 0.95, kappa 0.90>"
    with pytest.raises(KeyError, match="there is no label `maybe`; there are fail, pass"):
        found.label("maybe")


def test_labels_come_from_files_too_and_a_calibration_is_one(found: Calibration) -> None:
    Path("labels.csv").write_text("case,label,annotator\n" + "".join(f"{it['case']},{it['label']},ada\n" for it in SAID))
    for labels in ("labels.csv", Path("labels.csv"), [Path("labels.csv")]):
        again = jurat.calibrate("latest", labels, random=True, against=None, store=False)
        assert again.matrix == found.matrix
    found.save("small.json")
    drifted = jurat.calibrate("latest", "labels.csv", against="small.json", store=False)
    assert drifted.drift is not None and (drifted.drift.cases, drifted.drift.word) == (40, "not_shown")


def test_later_runs_are_corrected_only_by_what_is_stored() -> None:
    jurat.calibrate(evaluated(), SAID, random=True, store=False)
    assert not os.path.exists(".jurat/calibrations")
    jurat.calibrate("latest", SAID, random=True)
    assert os.listdir(".jurat/calibrations")
    found = jurat.compare(evaluated(), evaluated())
    assert found.task("small").corrected is not None


def test_a_comparison_takes_calibrations(found: Calibration) -> None:
    stored = jurat.calibrate("latest", SAID, random=True, store=False)
    stored.save("small.json")
    compared = jurat.compare("latest", evaluated(), calibrations=["small.json"])
    line = compared.task("small")
    assert line.corrected is not None and line.corrected.method in ("rogan_gladen", "ppi_mean")
    with pytest.raises(UsageError, match=r"none\.json"):
        jurat.compare("latest", evaluated(), calibrations=["none.json"])


def test_a_calibration_is_a_table(found: Calibration) -> None:
    columns = ["figure", "value", "low", "high", "n"]
    frames = (found.to_polars(), found.to_pandas(), found.to_arrow())
    assert [type(it) for it in frames] == [polars.DataFrame, pandas.DataFrame, pyarrow.Table]
    assert frames[0].columns == columns == list(frames[1].columns) == frames[2].column_names
    assert frames[0].filter(polars.col("figure") == "agreement")["value"].to_list() == [0.95]
    assert list(found.figures()) == frames[0]["figure"].to_list()
    cases = found.to_pandas("cases")
    assert cases[~cases["agreed"]]["case"].tolist() == ["r20", "r21"]
    with pytest.raises(ValueError, match="tables of `figures` and of `cases`, not of `rows`"):
        found.to_polars("rows")  # type: ignore[arg-type]


def test_a_calibration_is_shown_in_a_notebook(found: Calibration) -> None:
    shown = found._repr_html_()
    assert shown.count("<svg") == shown.count("</svg>") >= 8
    assert "people: fail" in shown and "r20" in shown
    hostile = calibration.read(json.dumps({**found.to_dict(), "task": "<script>"}), "", "", ["<b>"])
    assert "<script>" not in hostile._repr_html_() and "&lt;b&gt;" in hostile._repr_html_()


def test_a_calibration_is_pickled(found: Calibration) -> None:
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_sheet_is_filled_in_and_taken_back() -> None:
    run = evaluated()
    made = sheet(run, 10, seed=3)
    assert made == sheet(run, 10, seed=3) != sheet(run, 10, seed=4)
    header, *lines = made.splitlines()
    assert len(lines) == 10 and "small" not in header
    said = {str(it["case"]): it["label"] for it in SAID}
    Path("sheet.csv").write_text("\n".join([header, *(it.replace(",,,", f",{said[it.split(',')[0]]},ada,", 1) for it in lines)]) + "\n")
    found = jurat.calibrate(run, "sheet.csv", store=False)
    assert (found.design, found.n) == ("strata", 10)
    assert len(sheet(run, 40, labels=["sheet.csv"]).splitlines()) == 31


MISTAKES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"weights": "cubic"}, UsageError, "`weights` is `quadratic` or `linear`, not `cubic`"),
    ({"half_width": 2.0}, UsageError, "`half_width` lies between 0 and 1"),
    ({"confidence": 95}, UsageError, "`confidence` lies between 0 and 1"),
    ({"probe": ["self"]}, UsageError, "`probe` may have `order`, `verbosity` and `repeat`, not `self`"),
    ({"task": "large"}, UsageError, "large"),
    ({"labels": [{"case": "r01", "label": "perhaps"}]}, SuiteError, "perhaps"),
    ({"labels": [{"case": "nothing", "label": "pass"}]}, RunError, "1 about cases that it does not have"),
    ({"labels": ["labels.csv", {"case": "r01", "label": "pass"}]}, UsageError, "labels are files, or dicts, not both"),
]


@pytest.mark.parametrize(("options", "error", "says"), MISTAKES, ids=[it[2] for it in MISTAKES])
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says.replace("(", r"\(")):
        jurat.calibrate(evaluated(), **{"labels": SAID, **options})


def test_a_probe_that_is_not_possible_is_a_note() -> None:
    found = jurat.calibrate(evaluated(), SAID, probe=["order"], store=False)
    assert found.probes == () and len(found.notes) == 1 and "`order` is not possible" in found.notes[0]
