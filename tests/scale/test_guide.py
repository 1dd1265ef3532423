"""The page about engines does what it shows: each engine's blocks run behind those of the first section, in a process of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python" / "scale-out.md"
FIRST = "In one process"


def sections() -> dict[str, str]:
    """The program of each section, by its title."""
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        found[title] = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    return found


@pytest.mark.parametrize("title", sections())
def test_a_section_runs(title: str, tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    shown = sections()
    file.write_text(shown[FIRST] if title == FIRST else f"{shown[FIRST]}\n\n{shown[title]}")
    environment = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    import os

    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **environment}, timeout=300)
    assert ran.returncode == 0, ran.stderr
