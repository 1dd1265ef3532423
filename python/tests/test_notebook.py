"""Notebooks, which have an event loop that runs already."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = [
    """
import jurat
suite = jurat.Suite({"tasks": [{"id": "small", "field_path": "n", "operator": "less_than", "expected_value": 2}]}, name="small")
suite
""",
    """
suite.plan()
""",
    """
run = suite.run([{"id": "a", "n": 1}, {"id": "b", "n": 3}], directory=DIRECTORY)
run
""",
    """
again = await suite.run_async([{"n": 1}], directory=DIRECTORY)
assert again.pass_rate == 1
from jurat.scenario import END, Question, Scenario
scenario = Scenario("greeting")
scenario.add_node("hello", question=Question("Hello?", "Hello."))
scenario.add_edge("hello", END)
scenario.set_entry("hello")
scenario.validate()
""",
    """
assert scenario.validate().run(subject=lambda question: "Hello.", directory=DIRECTORY).status == "completed"
""",
]


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs_and_shows_results(tmp_path: Path) -> None:
    cells = [f"DIRECTORY = {str(tmp_path)!r}", *CELLS]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(it) for it in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell["outputs"]
        if output["output_type"] == "execute_result" and "text/html" in output["data"]
    ]
    assert "<svg" in shown[0] and "<svg" in shown[1]
    assert "1 of 2 counted task results failed, in 1 of 2 cases" in shown[2] and "pass rate 50.0% (95 % interval 9.5% – 90.5%)" in shown[2]
    assert "<title>small: 1 passed, 1 failed</title>" in shown[2] and "<title>small: 50.0%, 95 % interval 9.5% to 90.5%</title>" in shown[2]
    assert "starts at hello" in shown[3] and "<svg" in shown[3]
    bars = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell["outputs"]
        if output["output_type"] == "display_data" and "text/html" in output["data"]
    ]
    assert len(bars) == 3 and '<progress value="2" max="2">' in bars[0] and "100 %  2/2" in bars[0]


NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "python").glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=[it.stem for it in NOTEBOOKS])
def test_a_notebook_of_the_documentation_runs_and_is_stored_without_results(file: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    assert not any(it.get("outputs") for it in notebook.cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [it for it in notebook.cells if it["cell_type"] == "code"]
    shown = [it["data"]["text/html"] for cell in code for it in cell["outputs"] if it["output_type"] == "execute_result"]
    # Every cell but the one with definitions shows something.
    assert len(shown) == len(code) - 1
    assert any("<circle" in it for it in shown)
