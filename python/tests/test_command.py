"""The command that the package brings, and code of evaluators run by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import jurat

SUITE = """
suite: lengths
records: [{ id: a, output: hello }, { id: b, output: "" }]
evaluators:
  short:
    source: |
      def evaluate(output):
          return "short" if len(output) < 3 else "long"
    outputs: [{ name: length, values: [{ label: short, score: 0 }, { label: long, score: 1 }] }]
tasks:
  - { id: is_long, evaluate: short, field_path: label, operator: equals, expected_value: long }
"""


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "jurat", *arguments], capture_output=True, text=True)


def test_the_command_has_its_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("suite: s\nrecords: [{a: 1}]\ntasks: [{id: one, field_path: a, operator: equals, expected_value: 1}]")
    assert ran("run", "suite.yaml").returncode == 0
    assert ran("run", "nothing.yaml").returncode == 2
    told = ran("--version")
    assert (told.returncode, told.stdout) == (0, f"jurat {jurat.__version__}\n")
    assert ran("--colour").returncode == 2


def test_code_of_evaluators_runs_apart(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    run = jurat.Suite.load("suite.yaml").run()
    assert [it.task("is_long").verdict for it in run] == ["passed", "failed"], run.table(tasks=True)
    assert ran("run", "suite.yaml").returncode == 1


def test_the_wheel_installs_the_command() -> None:
    script = Path(sys.executable).with_name("jurat")
    if not script.exists():
        pytest.skip("the package was not installed from its wheel")
    told = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, f"jurat {jurat.__version__}\n")
