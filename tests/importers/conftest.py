"""What the tests of importers share: the command, a folder to work in, and what is drawn at random."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

#: Answers with its prompt, as the provider `echo` of promptfoo does.
ECHO = Path(__file__).with_name("echo.py")


class Folder:
    """A folder in which the command runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, content: Any) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def jurat(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Runs the command, which must end with one of these codes; returns what it printed."""
        done = subprocess.run(
            [os.environ["JURAT_TEST_PROGRAM"], *arguments], cwd=self.path, capture_output=True, text=True, check=False
        )
        assert done.returncode in codes, f"jurat {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def imported(self, *sources: str) -> dict[str, Any]:
        """Imports files into `out`; returns the report."""
        self.jurat("import", *sources, "-o", "out", "--accept", "approximate,dropped")
        return json.loads((self.path / "out/import.json").read_text(encoding="utf-8"))

    def run(self, *arguments: str) -> None:
        """Runs the suite that was written. Failed cases are no error."""
        self.jurat("run", "out/suite.yaml", *arguments, "--results-only", codes=(0, 1, 3))

    def exported(self, kind: str, *arguments: str) -> Iterator[dict[str, Any]]:
        for line in self.jurat("export", "--to", kind, *arguments).splitlines():
            yield json.loads(line)

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(it) for it in (self.path / name).read_text(encoding="utf-8").splitlines()]

    @property
    def echo(self) -> tuple[str, str]:
        """The argument that lets the subject repeat what it is asked."""
        return "--model", f"subject=exec/{sys.executable} {ECHO}"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    # A project of its own, whatever lies in the folders above.
    (tmp_path / ".jurat").mkdir()
    return Folder(tmp_path)


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> random.Random:
    """A source of random values, another one for each test. `JURAT_TEST_SEED` gives other values."""
    seed = f"{os.environ.get('JURAT_TEST_SEED', '1')} {request.node.name}"
    print(f"seed: {seed}")
    return random.Random(seed)


def agree(differing: list[Any], n_compared: int, at_least: int) -> None:
    """Fails with the first cases that differ, or when too few were compared to say anything."""
    assert n_compared >= at_least, f"only {n_compared} were compared"
    shown = "\n".join(json.dumps(it, ensure_ascii=False) for it in differing[:20])
    assert not differing, f"{len(differing)} of {n_compared} differ:\n{shown}"
