"""Checks of an agent's run that need no model: what it said, what it called, which files it left.

>>> from jurat import checks
>>> artifact = {
...     "identity": {
...         "schema_version": 1, "run_id": "r1", "case_id": "hello", "suite_id": "greetings", "run_profile_id": "default",
...         "runner_type": "llm_probe",
...     },
...     "status": "success",
...     "request": {"requested_model": "openai/gpt-5-mini"},
...     "trace": [{"event_type": "final_output", "content": "Hello!", "sequence": 0}],
...     "output_artifacts": [],
... }
>>> ended = {"check_id": "ended", "dimensions": ["process"], "declarative": {"kind": "status_is", "expected": "success"}}
>>> quiet = {"check_id": "quiet", "declarative": {"kind": "tool_call_count", "expected": 1}}
>>> for result in checks.run(artifact, [ended, quiet], base_dir="."):
...     print(f"{result.check_id} {result.verdict}: {result.message or 'nothing to say'}")
ended passed: nothing to say
quiet failed: expected 1 tool call, found 0 tool calls
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from jurat import _jurat

__all__ = ["CheckResult", "run"]


@dataclass(frozen=True)
class CheckResult:
    """The result of a check."""

    check_id: str
    kind: str
    dimensions: tuple[str, ...]
    #: Whether it passed; `None` when that could not be decided.
    passed: bool | None
    #: Why it did not pass, in a sentence.
    message: str

    @property
    def verdict(self) -> str:
        """`passed`, `failed` or `error`."""
        return {True: "passed", False: "failed", None: "error"}[self.passed]


def run(
    artifact: Any,
    checks: Sequence[Mapping[str, Any]],
    *,
    base_dir: str | PathLike[str],
    policy: Mapping[str, Any] | None = None,
) -> list[CheckResult]:
    """Runs checks, as `deterministic_checks` of a suite has them, over a run artifact.

    Relative paths start at `base_dir`. Hooks, which are Python code, run in an interpreter of their own, and only when the policy says
    `allow_local_python_hooks`; otherwise they are errors.
    """
    allowed = bool((policy or {}).get("allow_local_python_hooks", False))
    results = _jurat.run_checks(artifact, list(checks), base_dir, allowed, sys.executable or "python3")
    return [CheckResult(**{**it, "dimensions": tuple(it["dimensions"])}) for it in results]
