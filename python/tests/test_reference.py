"""The reference page says what docstrings say, and docstrings say everything."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
import reference_source

import jurat

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"

NAMES = [(f"{module}.{name}", it) for module in reference_source.MODULES for name, it in reference_source.names(module)]
METHODS = [
    (f"{name}.{method}", it.__func__ if isinstance(it, classmethod) else it)
    for name, kind in NAMES
    if inspect.isclass(kind)
    for method, it in reference_source.members(kind)
    if not isinstance(it, property)
]


def test_the_page_is_what_docstrings_say() -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(reference_source.START)
    _, _, after = rest.partition(reference_source.END)
    made = f"{before}{reference_source.START}\n{reference_source.made()}{reference_source.END}{after}"
    if os.environ.get("JURAT_BLESS"):
        PAGE.write_text(made)
    assert PAGE.read_text() == made, "JURAT_BLESS=1 writes it"


@pytest.mark.parametrize(("name", "of"), NAMES + METHODS, ids=[name for name, _ in NAMES + METHODS])
def test_every_parameter_is_documented(name: str, of: Any) -> None:
    found = reference_source.sections(of)
    documented = found.get("Args", "") + found.get("Attributes", "")
    if inspect.isclass(of):
        # A class says what its base says; exceptions and results that only the package makes have no parameters of interest.
        documented += "".join(reference_source.sections(it).get("Args", "") for it in of.__mro__[1:])
        if of in (jurat.Case, jurat.TaskResult, jurat.Run, jurat.JuratError):
            return
    parameters = [it for it in inspect.signature(of).parameters.values() if it.name not in ("self", "cls")]
    missing = [it.name for it in parameters if f"    {it.name}: " not in documented]
    assert not missing, f"`{name}` does not say what {missing} mean"
    returned = inspect.signature(of).return_annotation
    if not inspect.isclass(of) and returned not in (None, "None") and ".compare." not in name and ".check." not in name:
        assert "Returns" in found or name.endswith(".definition"), f"`{name}` does not say what it returns"


@pytest.mark.parametrize(("name", "of"), NAMES + METHODS, ids=[name for name, _ in NAMES + METHODS])
def test_type_hints_can_be_read(name: str, of: Any) -> None:
    if inspect.isfunction(of):
        assert "return" in typing.get_type_hints(of)


@pytest.mark.parametrize("module", ["jurat", "jurat._calibrating", "jurat._comparing", "jurat._evaluation", "jurat._listing", "jurat.run", "jurat.suite", "jurat.subject", "jurat.spec", "jurat.spec.tasks", "jurat.spec.templates", "jurat.spec.comparison", "jurat.spec.joined", "jurat.agents", "jurat.batches", "jurat.calibration"])
def test_examples_of_docstrings_run(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0 and found.attempted > 0


def test_help_shows_the_options_of_a_run_as_keywords() -> None:
    for function in (jurat.Suite.run, jurat.Suite.run_async):
        assert {"limit", "concurrency", "budget_usd", "replay"} <= set(inspect.signature(function).parameters)
        assert "\n    limit: Run at most this number of rows.\n" in inspect.cleandoc(function.__doc__ or "")


def test_the_types_of_the_package_fit() -> None:
    command = [sys.executable, "-m", "mypy", "python/jurat"]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=PAGE.parents[2])
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_types_are_complete(tmp_path: Path) -> None:
    if "site-packages" not in jurat.__file__:
        pytest.skip("pyright looks at packages that are installed")
    home = Path(sys.executable).parents[1]
    environment = {**os.environ, "VIRTUAL_ENV": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pyright", "--verifytypes", "jurat", "--ignoreexternal"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    assert "Type completeness score: 100%" in shown, shown[-3000:]


def test_the_package_offers_few_names() -> None:
    assert len(jurat.__all__) <= 13
    assert jurat.Question is not None and jurat.SuiteError is not None
