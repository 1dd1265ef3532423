"""Modules that are imported when something of them is looked up."""

from __future__ import annotations

from typing import Any

__all__ = ["Later"]


class Later:
    """A module that only annotations name: importing it takes longer than most of the package, or it may not be installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        import importlib

        return getattr(importlib.import_module(self._name), name)
