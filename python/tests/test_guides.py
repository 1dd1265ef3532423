"""The guides that show Python: their blocks run one after the other, and have types that fit."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "python"
EXAMPLES = sorted((GUIDES.parents[1] / "examples").glob("**/*.py"))
PAGES = ["index", "tutorial", "functions", "pytest", "tables", "compare", "calibrate", "notebook", "evaluate", "from-scouter", "from-karenina", "from-phoenix"]


def program(page: str) -> str:
    # The page for the package index stands with the package.
    path = GUIDES.parents[1] / "python" / "README.md" if page == "index" else GUIDES / f"{page}.md"
    text = path.read_text()
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    return "\n\n".join(textwrap.dedent(block) for _, block in blocks)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_guide_shows_runs(page: str, tmp_path: Path) -> None:
    file = tmp_path / f"page_{page.replace('-', '_')}.py"
    file.write_text(program(page))
    ran = subprocess.run([sys.executable, "-W", "error", file], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("checker", [["mypy", "--strict", "."], ["pyright", "--pythonpath", sys.executable]], ids=["mypy", "pyright"])
def test_the_types_of_guides_and_examples_fit(checker: list[str], tmp_path: Path) -> None:
    for page in PAGES:
        (tmp_path / f"page_{page.replace('-', '_')}.py").write_text(program(page))
    for example in EXAMPLES:
        (tmp_path / f"example_{example.parent.name}_{example.name}").write_text(example.read_text())
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    checked = subprocess.run([sys.executable, "-m", *checker], capture_output=True, text=True, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
