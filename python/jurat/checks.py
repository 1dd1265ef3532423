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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from jurat import _jurat
from jurat._called import n_positional, settled
from jurat.errors import DataError

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
    """Runs checks, as `deterministic_checks` of a suite has them, over a run artifact: an object, or the path of its JSON file.

    Relative paths start at `base_dir`. Hooks that are named by a path, which are Python code, run in an interpreter of their own, and only when the policy says
    `allow_local_python_hooks`; otherwise they are errors. A hook may also be a function of this program, which is called here with the artifact, and with
    `{"check_id": …}` when it takes two arguments. It returns a bool, or `{"passed": …, "message": …}`; what it raises is an error of the check.
    """
    allowed = bool((policy or {}).get("allow_local_python_hooks", False))
    found = _read(artifact) if isinstance(artifact, (str, PathLike)) else artifact
    functions = {str(it.get("check_id", place)): it["hook"] for place, it in enumerate(checks) if callable(it.get("hook"))}
    written = [{**it, "hook": _STANDS_FOR_A_FUNCTION} if callable(it.get("hook")) else it for it in checks]
    results = _jurat.run_checks(found, written, base_dir, allowed, sys.executable or "python3", list(functions))
    for result in results:
        if result["check_id"] in functions:
            result["passed"], result["message"] = _called(functions[result["check_id"]], found, result["check_id"])
    return [CheckResult(**{**it, "dimensions": _as_declared(it["dimensions"], check)}) for it, check in zip(results, checks, strict=True)]


def _as_declared(dimensions: list[str], check: Mapping[str, Any]) -> tuple[str, ...]:
    """The dimensions of a check in the order of its author; definitions have them sorted, each once."""
    declared = list(check.get("dimensions") or ())
    return tuple(sorted(dimensions, key=lambda it: declared.index(it) if it in declared else len(declared)))


#: What stands in a definition for a function of this program. It is not called: the compiled module leaves these checks to the caller.
_STANDS_FOR_A_FUNCTION = {"import_path": "jurat.checks", "callable_name": "run"}


def _read(path: str | PathLike[str]) -> Any:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        raise DataError(f"the run artifact `{fspath(path)}` is not JSON: {error}") from error


def _called(hook: Callable[..., Any], artifact: Any, check_id: str) -> tuple[bool | None, str]:
    """What a function of this program decides: whether the check passed, and why not."""
    try:
        arguments = (artifact, {"check_id": check_id})[: max(1, n_positional(hook))]
        returned = settled(hook(*arguments))
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    if isinstance(returned, bool):
        return returned, ""
    passed = returned.get("passed") if isinstance(returned, Mapping) else getattr(returned, "passed", None)
    message = returned.get("message") if isinstance(returned, Mapping) else getattr(returned, "message", None)
    if not isinstance(passed, bool):
        return None, f"the hook returned `{type(returned).__name__}`; it must return a bool, or a dict with `passed`"
    return passed, str(message or "")
