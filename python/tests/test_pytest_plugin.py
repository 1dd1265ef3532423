"""The plugin for pytest, tried with pytest itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
import pytest

ROWS = [
    {"id": "peru", "question": "Capital of Peru?", "expected": "Lima"},
    {"id": "chile", "question": "Capital of Chile?", "expected": "Santiago"},
    {"id": "mars", "question": "Capital of Mars?", "expected": ""},
]
SAME = {"id": "same", "field_path": "output", "operator": "equals", "expected_value": "${expected}"}


@pytest.mark.jurat(ROWS, [SAME])
def test_answer(question):
    with open("called.txt", "a") as file:
        file.write(question + "\\n")
    if "Mars" in question:
        raise LookupError("no such country")
    return "Lima"
'''

SUITE = """
suite: greetings
records:
  - { id: polite, answer: "Hello, please sit." }
  - { id: rude, answer: "Sit." }
  - { id: broken }
tasks:
  - { id: please, field_path: answer, operator: contains, expected_value: please }
"""


def ran(directory: Path, *arguments: str) -> tuple[int, str]:
    """Runs pytest as a user does, with the plugin alone."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", "-p", "jurat.pytest_plugin", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def summary(shown: str) -> str:
    """The last line, without the time."""
    return re.sub(r" in .*", "", shown.strip().splitlines()[-1].strip("= "))


def test_rows_are_test_items_and_failures_say_what_was_expected_and_found(tmp_path: Path) -> None:
    (tmp_path / "test_capitals.py").write_text(PROGRAM)
    code, shown = ran(tmp_path, "-v")
    assert code == 1 and summary(shown) == "1 failed, 1 passed, 1 error"
    assert "test_capitals.py::test_answer[peru] PASSED" in shown
    assert "case chile: failed (run " in shown
    assert "same: failed: expected `Santiago`, found `Lima`" in shown
    assert "LookupError: no such country" in shown
    assert "TaskResult(" not in shown
    assert sorted((tmp_path / "called.txt").read_text().split("\n")[:-1]) == [f"Capital of {it}?" for it in ("Chile", "Mars", "Peru")]


def test_rows_are_selected_by_their_ids_and_only_those_are_evaluated(tmp_path: Path) -> None:
    (tmp_path / "test_capitals.py").write_text(PROGRAM)
    code, shown = ran(tmp_path, "-k", "peru")
    assert (code, summary(shown)) == (0, "1 passed, 2 deselected")
    assert (tmp_path / "called.txt").read_text() == "Capital of Peru?\n"


def test_collecting_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_capitals.py").write_text(PROGRAM)
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE)
    code, shown = ran(tmp_path, "--collect-only", "-q")
    assert code == 0 and "test_answer[mars]" in shown and "greetings.jurat.yaml::suite" in shown
    assert not (tmp_path / "called.txt").exists() and not (tmp_path / ".jurat").exists()


def test_repetitions_of_a_row_are_one_item_that_fails_with_the_worst(tmp_path: Path) -> None:
    (tmp_path / "test_capitals.py").write_text(PROGRAM)
    code, shown = ran(tmp_path, "--jurat-repeat", "2", "--jurat-concurrency", "1")
    assert code == 1 and summary(shown) == "1 failed, 1 passed, 1 error"
    assert len((tmp_path / "called.txt").read_text().split("\n")[:-1]) == 6


def test_each_case_of_a_suite_is_a_test(tmp_path: Path) -> None:
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE)
    code, shown = ran(tmp_path, "-v")
    # The suite itself is a test, too: it did not reach what it must.
    assert code == 1 and summary(shown) == "2 failed, 1 passed, 1 error"
    assert "greetings.jurat.yaml::polite PASSED" in shown and "greetings.jurat.yaml::rude FAILED" in shown
    assert "greetings.jurat.yaml::broken ERROR" in shown
    assert "please: failed: expected text with `please`, found `Sit.`" in shown or "please: failed: " in shown


def test_progress_ends_with_all_cases_of_a_suite(tmp_path: Path) -> None:
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE)
    _, shown = ran(tmp_path, "-v")
    assert re.findall(r"\[ *(\d+)%\]", shown) == ["25", "50", "75", "100"]


def test_options_of_the_command_line_reach_the_run(tmp_path: Path) -> None:
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE)
    code, shown = ran(tmp_path, "--jurat-filter", "id == 'polite'")
    assert (code, summary(shown)) == (0, "2 passed")
    code, shown = ran(tmp_path, "--jurat-model", "judge")
    assert code != 0 and "--jurat-model is ROLE=MODEL, not `judge`" in shown


def test_a_suite_with_a_mistake_says_where(tmp_path: Path) -> None:
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE.replace("operator: contains", "operator: contians"))
    code, shown = ran(tmp_path)
    assert code == 1 and "did you mean" in shown and "Traceback" not in shown


def test_the_fixture_has_the_options(tmp_path: Path) -> None:
    program = 'def test_options(jurat_options):\n    assert jurat_options["limit"] == 3 and jurat_options["fresh"] is True and "directory" in jurat_options\n'
    (tmp_path / "test_fixture.py").write_text(program)
    assert ran(tmp_path, "--jurat-limit", "3", "--jurat-fresh")[0] == 0


def test_failures_are_in_a_report_for_ci(tmp_path: Path) -> None:
    (tmp_path / "greetings.jurat.yaml").write_text(SUITE)
    ran(tmp_path, "--junitxml", "report.xml")
    report = (tmp_path / "report.xml").read_text()
    assert 'name="rude"' in report and "found" in report


def test_the_page_about_pytest_shows_what_happens(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python" / "pytest.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "test_capitals.py").write_text("\n\n".join(blocks))
    (tmp_path / "right.jsonl").write_text(json.dumps({"reply": {"reason": "It is.", "label": "correct"}, "times": "*"}) + "\n")
    code, shown = ran(tmp_path, "--jurat-model", "judge=script/right.jsonl")
    assert (code, summary(shown)) == (1, "1 failed, 3 passed")
    (excerpt,) = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for line in excerpt.splitlines()[2:]:
        assert line in shown


def test_the_wheel_says_that_it_has_a_plugin() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\njurat = "jurat.pytest_plugin"' in project


@pytest.mark.parametrize("mark", ["@pytest.mark.jurat()", "@pytest.mark.jurat(ROWS, [SAME], 3)"])
def test_a_mark_that_is_wrong_is_reported(tmp_path: Path, mark: str) -> None:
    (tmp_path / "test_capitals.py").write_text(PROGRAM.replace("@pytest.mark.jurat(ROWS, [SAME])", mark))
    code, shown = ran(tmp_path)
    assert code == 2 and "the mark of `test_answer` is `@pytest.mark.jurat(data, evaluators, **options)`" in shown


JUDGED = """
def test_right(jurat_judge):
    judged = jurat_judge("correctness", input="Capital of Peru?", output="It is Lima.", reference="Lima")
    assert (judged.passed, judged.label, judged.score) == (True, "correct", 1.0)


def test_wrong(jurat_judge):
    judged = jurat_judge({"use": "correctness"}, output="Cusco", reference="Lima", model="script/wrong.jsonl")
    assert judged.passed, judged.explanation


def test_unusable(jurat_judge):
    jurat_judge("correctness", output="Cusco")
"""


def test_a_test_asks_a_judge(tmp_path: Path) -> None:
    (tmp_path / "test_judged.py").write_text(JUDGED)
    for label in ("correct", "incorrect"):
        reply = {"reply": {"reason": f"because {label}", "label": label}, "times": "*"}
        (tmp_path / {"correct": "right.jsonl", "incorrect": "wrong.jsonl"}[label]).write_text(json.dumps(reply) + "\n")
    code, shown = ran(tmp_path, "--jurat-model", "judge=script/right.jsonl", "--jurat-filter", "false", "-v")
    assert code == 1 and summary(shown) == "2 failed, 1 passed"
    assert "test_judged.py::test_right PASSED" in shown
    assert "AssertionError: because incorrect" in shown
    assert "reference" in shown.rpartition("test_unusable")[0]
