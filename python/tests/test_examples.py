"""The examples in the documentation of the package run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import jurat

#: What is started as a program, or is compiled.
_NOT_IMPORTED = {"jurat.__main__", "jurat._worker", "jurat._jurat"}

MODULES = sorted({"jurat", *(it.name for it in pkgutil.walk_packages(jurat.__path__, "jurat."))} - _NOT_IMPORTED)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert failed == 0
