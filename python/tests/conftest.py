"""What all tests have: a directory of their own, and a scripted model endpoint for those that want one."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sysconfig
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


# Polars and its types are not for interpreters without a global lock, and these tests need them.
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    collect_ignore = [f"test_{it}.py" for it in ("calibration", "comparison", "data", "examples", "guides", "notebook", "reference", "tables")]


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are kept in the directory where a test is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _own_logger() -> Iterator[None]:
    """A test that sets up the package's logger does so for itself: a handler on a closed stream, or messages that root no longer gets, would reach the next."""
    logger = logging.getLogger("jurat")
    level, handlers, propagate = logger.level, list(logger.handlers), logger.propagate
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers
    logger.propagate = propagate


@dataclass(frozen=True)
class Endpoint:
    """The scripted endpoint: it speaks every provider's wire format, and answers what a schema asks for."""

    url: str

    def stats(self) -> dict[str, Any]:
        """What it counted."""
        counted: dict[str, Any] = self._told("stats")
        return counted

    def paths(self) -> list[str]:
        """Where requests went, in the order in which they came."""
        return [it["path"] for it in self._told("requests")]

    def _told(self, what: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{what}") as reply:
            return json.load(reply)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint that all providers are."""
    program = os.environ.get("JURAT_ENDPOINT")
    if program is None:
        pytest.skip("`cargo xtask test` says where the endpoint is")
    process = subprocess.Popen([program, "--until-input-ends", "--keep"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, url if name != "OPENAI_BASE_URL" else f"{url}/v1")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "test")
    yield Endpoint(url)
    process.stdin.close()
    process.wait()
