"""Checks of an agent's run."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jurat import checks
from jurat.errors import SuiteError

ARTIFACT: dict[str, Any] = {
    "identity": {
        "schema_version": 1,
        "run_id": "r",
        "case_id": "c",
        "suite_id": "s",
        "run_profile_id": "p",
        "runner_type": "llm_probe",
    },
    "status": "success",
    "request": {"requested_model": "openai/m"},
    "trace": [{"event_type": "final_output", "content": "Hello!", "sequence": 0}],
    "output_artifacts": [],
}


def check(**declarative: Any) -> dict[str, Any]:
    return {"check_id": "c1", "declarative": declarative}


def passed(check: dict[str, Any], **options: Any) -> bool | None:
    (result,) = checks.run(ARTIFACT, [check], base_dir=options.pop("base_dir", "."), **options)
    return result.passed


def test_what_is_declared(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("marker")
    assert passed(check(kind="final_response_present"))
    assert passed(check(kind="status_is", expected="failed")) is False
    assert passed(check(kind="file_contains", path="out.txt", text="marker"), base_dir=tmp_path)
    assert passed(check(kind="file_exists", path=str(tmp_path)), base_dir=tmp_path) is False
    assert passed(check(kind="path_exists", path=str(tmp_path)), base_dir=tmp_path)


def test_dimensions_are_said_or_usual() -> None:
    said, usual = checks.run(
        ARTIFACT,
        [
            {"check_id": "a", "dimensions": ["task"], "declarative": {"kind": "final_response_present"}},
            {"check_id": "b", "declarative": {"kind": "tool_call_count", "expected": 0}},
        ],
        base_dir=".",
    )
    assert said.dimensions == ("task",) and usual.dimensions == ("process", "efficiency")
    assert (said.check_id, said.kind, said.verdict, usual.verdict) == ("a", "final_response_present", "passed", "passed")


def test_hooks_need_permission(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("def check(context):\n    return True\n")
    hook = {"check_id": "h", "dimensions": ["task"], "hook": {"path": "hook.py", "callable_name": "check"}}
    (refused,) = checks.run(ARTIFACT, [hook], base_dir=tmp_path)
    assert refused.verdict == "error" and "allow_local_python_hooks" in refused.message
    (allowed,) = checks.run(ARTIFACT, [hook], base_dir=tmp_path, policy={"allow_local_python_hooks": True})
    assert allowed.passed, allowed.message


def test_a_check_that_is_none_is_refused() -> None:
    with pytest.raises(SuiteError, match="kind"):
        passed(check(kind="weather"))
    with pytest.raises(ValueError, match="run artifact"):
        checks.run({}, [check(kind="final_response_present")], base_dir=".")


STUBBORN = """
import os, signal, time

def check(artifact):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
    with open(f"started.{os.getpid()}", "w"):
        pass
    while True:
        time.sleep(1)
"""

CHECKING = """
import json, sys
from jurat import checks
hook = {"check_id": "h", "dimensions": ["task"], "hook": {"path": "hook.py", "callable_name": "check"}}
checks.run(json.loads(sys.argv[1]), [hook], base_dir=sys.argv[2], policy={"allow_local_python_hooks": True})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="programs are supervised on Linux alone")
def test_a_hook_ends_with_the_process_that_called_it(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(STUBBORN)
    caller = subprocess.Popen([sys.executable, "-c", CHECKING, json.dumps(ARTIFACT), str(tmp_path)])
    started: list[Path] = []
    while len(started) < 2:
        assert caller.poll() is None
        started = list(tmp_path.glob("started.*"))
    handles = [os.pidfd_open(int(it.suffix[1:])) for it in started]
    caller.kill()
    caller.wait()
    for handle in handles:
        assert select.select([handle], [], [], 30)[0], "a hook is still running"
